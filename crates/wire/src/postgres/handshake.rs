//! Startup and authentication: trust, cleartext password, MD5 and SCRAM-SHA-256, without TLS.
//!
//! In: a fresh channel and an endpoint. Out: the backend's process id, with the session
//! ready for its first query. The server must prove in SCRAM that it knows the password too.

use std::collections::VecDeque;

use bytes::BytesMut;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{self, ChannelBinding, ScramSha256};
use postgres_protocol::message::frontend;

use crate::channel::Fault;
use crate::endpoint::{Endpoint, Transport};
use crate::error::{ServerError, WireError, abridge};
use crate::reply::SqlState;
use crate::socket::Deadline;

use super::Channel;
use super::body::Body;
use super::frame::{FrameError, HEADER_BYTES, Sink};
use super::notes::{NOTE_BYTES_MAX, Notes};
use super::tag::backend;

/// Why no session came of it.
pub(crate) enum Refusal {
    Fault(Fault),
    Wire(WireError),
}

impl<F: Into<Fault>> From<F> for Refusal {
    fn from(fault: F) -> Refusal {
        Refusal::Fault(fault.into())
    }
}

/// Logs in.
pub(crate) fn log_in(
    channel: &mut Channel,
    notes: &mut Notes,
    endpoint: &Endpoint,
    deadline: Deadline,
) -> Result<u32, Refusal> {
    let mut login =
        Login { endpoint, notes, inbox: VecDeque::new(), scram: None, is_authenticated: false, process_id: 0 };
    let mut out = login.startup()?;
    loop {
        if !out.is_empty() {
            channel.write_all(&out.split(), &mut login, deadline)?;
        }
        channel.wait_and_read(&mut login, deadline)?;
        while let Some(frame) = login.inbox.pop_front() {
            if login.step(&frame, &mut out)? {
                return Ok(login.process_id);
            }
        }
    }
}

struct Login<'a> {
    endpoint: &'a Endpoint,
    notes: &'a mut Notes,
    inbox: VecDeque<Vec<u8>>,
    scram: Option<Scram>,
    is_authenticated: bool,
    process_id: u32,
}

/// How far a SCRAM exchange has come.
struct Scram {
    exchange: ScramSha256,
    is_finished: bool,
}

impl Sink for Login<'_> {
    fn keep(&mut self, tag: u8, frame_bytes: usize) -> Result<usize, FrameError> {
        match Notes::keep(tag, frame_bytes) {
            Some(keep) => keep,
            None if frame_bytes <= NOTE_BYTES_MAX => Ok(frame_bytes),
            None => Err(FrameError::TooLong { tag, length: frame_bytes, limit: NOTE_BYTES_MAX }),
        }
    }

    fn frame(&mut self, tag: u8, frame: &[u8]) -> Result<(), FrameError> {
        match tag {
            backend::PARAMETER_STATUS => self.notes.parameter_status(frame)?,
            backend::NOTICE_RESPONSE => self.notes.notice(frame),
            backend::NOTIFICATION_RESPONSE => {}
            _ => self.inbox.push_back(frame.to_vec()),
        }
        Ok(())
    }
}

impl Login<'_> {
    fn startup(&self) -> Result<BytesMut, Refusal> {
        let endpoint = self.endpoint;
        let named = [
            ("user", endpoint.user.as_str()),
            ("database", endpoint.database.as_str()),
            // Unless the caller wants another: results are read as UTF-8.
            ("client_encoding", "UTF8"),
        ];
        let chosen = endpoint.options.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let defaults = named.into_iter().filter(|(name, _)| !endpoint.options.iter().any(|(chosen, _)| chosen == name));
        let parameters: Vec<_> = defaults.chain(chosen).collect();
        for (name, value) in &parameters {
            for text in [name, value] {
                if text.contains('\0') {
                    return Err(Refusal::Wire(WireError::Nul { text: abridge(text) }));
                }
            }
        }
        let mut out = BytesMut::new();
        frontend::startup_message(parameters, &mut out).map_err(Fault::Io)?;
        Ok(out)
    }

    /// Takes one message and writes the answer to it, if it wants one; true when the session is ready.
    fn step(&mut self, frame: &[u8], out: &mut BytesMut) -> Result<bool, Refusal> {
        let tag = frame[0];
        let mut body = Body::of(frame);
        match tag {
            backend::AUTHENTICATION if !self.is_authenticated => self.authenticate(body, out)?,
            backend::ERROR_RESPONSE => return Err(Refusal::Wire(self.refused(frame))),
            backend::BACKEND_KEY_DATA if self.is_authenticated => {
                self.process_id = body.int32()?.cast_unsigned();
            }
            backend::READY_FOR_QUERY if self.is_authenticated && frame.len() == HEADER_BYTES + 1 => {
                return Ok(true);
            }
            // The server would speak an older minor version, which is the one we ask for anyway.
            backend::NEGOTIATE_PROTOCOL_VERSION => {}
            _ => return Err(FrameError::Unexpected { tag }.into()),
        }
        Ok(false)
    }

    /// Answers an Authentication message; the numbers are those of the manual's "Message Formats".
    fn authenticate(&mut self, mut body: Body<'_>, out: &mut BytesMut) -> Result<(), Refusal> {
        let unacceptable = |method: &str| {
            self.failed(format!(
                "the server demands {method} authentication; allow trust, password, md5 or scram-sha-256 in its pg_hba.conf"
            ))
        };
        let method = body.int32()?;
        match method {
            0 => {
                if self.scram.as_ref().is_some_and(|scram| !scram.is_finished) {
                    return Err(self.failed("the server did not prove that it knows the password"));
                }
                self.is_authenticated = true;
            }
            3 => frontend::password_message(self.password()?.as_bytes(), out).map_err(Fault::Io)?,
            5 => {
                let salt = body.four_bytes()?;
                let hash = md5_hash(self.endpoint.user.as_bytes(), self.password()?.as_bytes(), salt);
                frontend::password_message(hash.as_bytes(), out).map_err(Fault::Io)?;
            }
            10 => self.begin_scram(body, out)?,
            11 | 12 => self.continue_scram(method, body.remainder(), out)?,
            2 => return Err(unacceptable("Kerberos")),
            7 | 8 => return Err(unacceptable("GSSAPI")),
            9 => return Err(unacceptable("SSPI")),
            other => return Err(unacceptable(&format!("an unknown (number {other})"))),
        }
        Ok(())
    }

    fn begin_scram(&mut self, mut body: Body<'_>, out: &mut BytesMut) -> Result<(), Refusal> {
        let mut is_offered = false;
        loop {
            match body.string()? {
                [] => break,
                mechanism => is_offered |= mechanism == sasl::SCRAM_SHA_256.as_bytes(),
            }
        }
        if !is_offered {
            return Err(self.failed("the server does not offer SCRAM-SHA-256 without TLS"));
        }
        let exchange = ScramSha256::new(self.password()?.as_bytes(), ChannelBinding::unsupported());
        frontend::sasl_initial_response(sasl::SCRAM_SHA_256, exchange.message(), out).map_err(Fault::Io)?;
        self.scram = Some(Scram { exchange, is_finished: false });
        Ok(())
    }

    fn continue_scram(&mut self, method: i32, data: &[u8], out: &mut BytesMut) -> Result<(), Refusal> {
        const CONTINUE: i32 = 11;
        let outcome = match &mut self.scram {
            None => {
                return Err(FrameError::Unexpected { tag: backend::AUTHENTICATION }.into());
            }
            Some(scram) if method == CONTINUE => {
                scram.exchange.update(data).and_then(|()| frontend::sasl_response(scram.exchange.message(), out))
            }
            Some(scram) => {
                let outcome = scram.exchange.finish(data);
                scram.is_finished = outcome.is_ok();
                outcome
            }
        };
        outcome.map_err(|error| self.failed(format!("SCRAM-SHA-256 failed: {error}")))
    }

    fn password(&self) -> Result<&str, Refusal> {
        let given = self.endpoint.password.as_deref();
        given.ok_or_else(|| self.failed("the server asks for a password and none is given"))
    }

    fn failed(&self, detail: impl Into<String>) -> Refusal {
        Refusal::Wire(WireError::Authentication {
            endpoint: self.endpoint.to_string(),
            user: self.endpoint.user.clone(),
            detail: detail.into(),
        })
    }

    fn refused(&mut self, frame: &[u8]) -> WireError {
        let error = self.notes.error(frame).clone();
        WireError::Login {
            endpoint: self.endpoint.to_string(),
            user: self.endpoint.user.clone(),
            remedy: remedy(&error, &self.endpoint.transport),
            error: Box::new(error),
        }
    }
}

/// What to do about a refused login, by SQLSTATE.
fn remedy(error: &ServerError, transport: &Transport) -> &'static str {
    let code = error.code();
    match (&code.0, transport) {
        (b"28P01", _) => "; check user and password",
        // No pg_hba.conf entry: for TCP it may be that there is one for TLS only.
        (b"28000", Transport::Tcp { .. }) => {
            "; rqps speaks no TLS: the server's pg_hba.conf needs a `host` (not `hostssl`) line that admits this user"
        }
        (b"28000", Transport::Unix { .. }) => "; the server's pg_hba.conf needs a `local` line that admits this user",
        (b"3D000", _) => "; create the database first",
        (b"53300", _) => "; raise max_connections or use fewer clients",
        _ if code == SqlState::CANNOT_CONNECT_NOW => "; try again in a moment",
        _ => "",
    }
}
