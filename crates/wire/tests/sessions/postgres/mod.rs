//! What only PostgreSQL has: its ways to log in, COPY, notices.

mod control;
mod copy;
mod login;
mod pipeline;

use crate::Kind;
use crate::server::Server;

/// The server that the tests share.
fn shared() -> &'static Server {
    Kind::Postgres.shared()
}
