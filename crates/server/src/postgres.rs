//! What is PostgreSQL's own: how its data folder is made, how its server is started and ended, how its settings
//! are read, which process serves a session.
//!
//! In and out: as `cluster`, `process` and `readback`, which call it for this engine. It must not know another engine.

pub(crate) mod data_folder;
pub(crate) mod launch;
pub(crate) mod readback;
pub(crate) mod serving;
