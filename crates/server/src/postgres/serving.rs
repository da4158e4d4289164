//! What serves a session of PostgreSQL: a process of its own, whose id the server names when it is connected.
//!
//! In: a session. Out: the process. One that is no child of the server is refused.

use crate::{Result, ServerError};
use rqps_machine::proctree::ProcessId;
use rqps_wire::Session;

/// The process that serves a session.
pub(crate) fn thread(server: ProcessId, session: &mut Session) -> Result<u32> {
    let process = session.backend_pid();
    match ProcessId::of(process).and_then(ProcessId::parent) {
        Some(parent) if parent == server.pid => Ok(process),
        _ => Err(ServerError::NoServingThread(format!("process {process} is not a child of the server"))),
    }
}
