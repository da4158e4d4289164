//! Tests against a real PostgreSQL, started here: sessions do what they say, on every way in.
//!
//! One server serves all tests of this binary; those that kill a server start their own.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod control;
mod copy;
mod login;
mod loss;
mod memory;
mod oracle;
mod server;
mod timed;

use std::sync::OnceLock;

use rqps_live::Wanted;
use server::Server;

/// The server that the tests share. It goes away with this process.
fn shared() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| Server::start(Wanted::postgres()))
}
