//! Cancels a session's running statement from a connection of its own: KILL QUERY.
//!
//! In: the endpoint and the thread id of the session. Out: a request, and nothing about whether it came in time.

use std::time::Duration;

use crate::endpoint::Endpoint;
use crate::error::WireError;

use super::session::Session;

/// ER_NO_SUCH_THREAD: the session is gone, so that it runs nothing.
const NO_SUCH_THREAD: u16 = 1094;

/// The right to cancel what a session runs.
#[derive(Clone, Debug)]
pub(crate) struct CancelToken {
    endpoint: Endpoint,
    thread_id: u32,
}

impl CancelToken {
    pub(crate) fn of(session: &Session) -> CancelToken {
        CancelToken { endpoint: session.state.endpoint.clone(), thread_id: session.thread_id() }
    }

    pub(crate) fn cancel(&self, deadline: Duration) -> Result<(), WireError> {
        let mut session = Session::connect(&self.endpoint, deadline)?;
        session.state.deadline = Some(deadline);
        match session.execute(&format!("KILL QUERY {}", self.thread_id)) {
            Err(error) if error.code().is_none_or(|code| code.number != NO_SUCH_THREAD) => Err(error),
            _ => Ok(()),
        }
    }
}
