//! What is MySQL's and MariaDB's own: how their data folder is made, how their server is started and ended, how its
//! settings are read, which thread serves a session.
//!
//! In and out: as `cluster`, `process` and `readback`, which call it for these engines. It must not know another
//! engine.

pub(crate) mod data_folder;
pub(crate) mod flavour;
pub(crate) mod launch;
pub(crate) mod readback;
pub(crate) mod serving;
mod value;
