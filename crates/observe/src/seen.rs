//! What a server says that one of its sessions or background processes does.

use rqps_model::waits::{Doing, Who};

/// Who does something, whether that is waiting, and the server's word for it.
pub(crate) type Seen = (Who, Doing, String);
