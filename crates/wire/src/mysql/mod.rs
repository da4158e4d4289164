//! MySQL client/server protocol, version 10, as MySQL 5.5 to 9 and MariaDB 10 to 12 speak it.
//!
//! `packet` cuts the byte stream into packets, `progress` knows what each packet of a reply is, `tally` counts them on
//! the timed path, `collect` keeps them on the control plane; `handshake` and `login` log in; `statement` encodes;
//! `session` and `control` join them to a socket. Names of packets and flags are the manual's. Nothing here knows of
//! another engine.

mod channel;
mod collect;
mod control;
mod copy;
mod fields;
mod flags;
mod handshake;
mod kept_row;
mod login;
mod notes;
mod options;
mod packet;
mod progress;
mod refusal;
mod remedy;
mod scramble;
mod session;
mod statement;
mod tally;
mod tls;

pub(crate) use copy::CopyWriter;
pub(crate) use session::Session;
pub(crate) use statement::Statement;
