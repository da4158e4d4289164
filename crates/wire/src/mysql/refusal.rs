//! Why a login came to nothing, as its steps pass it on.
//!
//! In: a fault of the stream, or an error that has its words already. Out: the same. The session makes an error of it.

use std::io;

use crate::channel::Fault;
use crate::error::WireError;

/// Why no session came of it.
pub(crate) enum Refusal {
    Fault(Fault),
    /// No TLS could be agreed on.
    Tls(io::Error),
    Wire(WireError),
}

impl<F: Into<Fault>> From<F> for Refusal {
    fn from(fault: F) -> Refusal {
        Refusal::Fault(fault.into())
    }
}
