//! PostgreSQL frontend/backend protocol, version 3.0 (manual chapter "Frontend/Backend Protocol").
//!
//! `frame` cuts the byte stream into frames, `tally` counts them on the timed path, `collect` keeps them
//! on the control plane; `handshake` logs in; `statement` encodes; `session` joins them to a socket.
//! Names of messages are the manual's. Nothing here knows of another engine.

mod body;
mod collect;
mod copy;
mod frame;
mod handshake;
mod notes;
mod session;
mod statement;
mod tag;
mod tally;

pub(crate) use copy::CopyWriter;
pub(crate) use session::Session;
pub(crate) use statement::Statement;

/// A channel of frames.
type Channel = crate::channel::Channel<std::os::fd::OwnedFd, frame::Framer>;
