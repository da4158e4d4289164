//! Tests against a real PostgreSQL, MySQL and MariaDB, started here: sessions do what they say, on every way in.
//!
//! What is said of all engines runs over the list of servers, each in a thread of its name; what only one of them has
//! is in `postgres/` and `mysql/`. One server of each kind serves all tests of this binary; those that kill a server
//! start their own.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod control;
mod copy;
mod kept_rows;
mod loss;
mod memory;
mod mysql;
mod postgres;
mod server;
mod timed;

use std::sync::OnceLock;
use std::thread;

use server::Server;

/// A kind of server, with what starts one.
type Kind = (&'static str, fn() -> Server);

const KINDS: [Kind; 3] = [("postgres", Server::postgres), ("mysql", Server::mysql), ("mariadb", Server::mariadb)];

/// The servers that the tests share. They go away with this process.
static SHARED: [OnceLock<Server>; 3] = [const { OnceLock::new() }; 3];

/// The shared server of the kind with this number in [`KINDS`].
fn shared(kind: usize) -> &'static Server {
    SHARED[kind].get_or_init(KINDS[kind].1)
}

/// Runs a test on every shared server.
fn on_each(test: impl Fn(&'static Server) + Sync) {
    for_each_kind(|kind| test(shared(kind)));
}

/// Runs a test for every kind of server, all at once; a failure tells the kind as the name of its thread.
fn for_each_kind(test: impl Fn(usize) + Sync) {
    thread::scope(|scope| {
        for (kind, (name, _)) in KINDS.iter().enumerate() {
            let test = &test;
            thread::Builder::new().name((*name).to_owned()).spawn_scoped(scope, move || test(kind)).unwrap();
        }
    });
}
