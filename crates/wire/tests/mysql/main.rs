//! Tests against a real MySQL and a real MariaDB, started here: sessions do what they say, on every way in.
//!
//! One server of each kind serves all tests of this binary; those that kill a server start their own.

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

use server::{MARIADB_BUILD, MYSQL_BUILD, Server};

/// The servers that the tests share. They go away with this process.
fn shared() -> [&'static Server; 2] {
    static MYSQL: OnceLock<Server> = OnceLock::new();
    static MARIADB: OnceLock<Server> = OnceLock::new();
    [MYSQL.get_or_init(|| Server::start(MYSQL_BUILD)), MARIADB.get_or_init(|| Server::start(MARIADB_BUILD))]
}
