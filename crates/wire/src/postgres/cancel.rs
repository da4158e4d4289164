//! Cancels a session's running statement from a connection of its own (manual, "Canceling Requests in Progress").
//!
//! In: the key that the backend gave at login. Out: a request, and nothing about whether it came in time.

use std::time::Duration;

use bytes::BytesMut;
use postgres_protocol::message::frontend;

use crate::channel::Fault;
use crate::endpoint::Endpoint;
use crate::error::WireError;
use crate::socket::{self, Deadline};

use super::Channel;
use super::frame::{FrameError, HEADER_BYTES, Sink};
use super::handshake::BackendKey;

/// The right to cancel what a session runs.
#[derive(Clone, Debug)]
pub(crate) struct CancelToken {
    endpoint: Endpoint,
    key: BackendKey,
}

/// Ignores whatever comes; the server answers a CancelRequest by hanging up.
struct Deaf;

impl Sink for Deaf {
    fn keep(&mut self, _: u8, _: usize) -> Result<usize, FrameError> {
        Ok(HEADER_BYTES)
    }
    fn frame(&mut self, _: u8, _: &[u8]) -> Result<(), FrameError> {
        Ok(())
    }
}

impl CancelToken {
    pub(crate) fn new(endpoint: Endpoint, key: BackendKey) -> CancelToken {
        CancelToken { endpoint, key }
    }

    pub(crate) fn cancel(&self, deadline: Duration) -> Result<(), WireError> {
        let deadline = Deadline::start(Some(deadline));
        let mut channel = Channel::over(socket::open(&self.endpoint, deadline)?);
        let mut out = BytesMut::new();
        frontend::cancel_request(self.key.process_id, self.key.secret_key, &mut out);
        let end = match channel.write_all(&out, &mut Deaf, deadline) {
            // The server hangs up when it has passed the request on.
            Ok(()) => channel.read_to_end(&mut Deaf, deadline),
            Err(fault) => fault,
        };
        match end {
            Fault::Closed => Ok(()),
            fault => Err(WireError::Lost {
                endpoint: self.endpoint.to_string(),
                statement: "a cancel request".to_owned(),
                cause: fault.to_string(),
            }),
        }
    }
}
