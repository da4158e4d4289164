//! Sessions: with a real PostgreSQL, MySQL and MariaDB, started here, and with recordings of them and noise in their
//! place.
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
mod oracle;
mod postgres;
mod replay;
mod server;
mod timed;

use std::sync::OnceLock;

use rqps_wire::WireError;
use server::Server;

#[derive(Debug, Clone, Copy)]
enum Kind {
    Postgres,
    Mysql,
    Mariadb,
}

const KINDS: [Kind; 3] = [Kind::Postgres, Kind::Mysql, Kind::Mariadb];

impl Kind {
    fn start(self) -> Server {
        match self {
            Kind::Postgres => Server::postgres(),
            Kind::Mysql => Server::mysql(),
            Kind::Mariadb => Server::mariadb(),
        }
    }

    /// The server that the tests share. It goes away with this process.
    fn shared(self) -> &'static Server {
        static SHARED: [OnceLock<Server>; KINDS.len()] = [const { OnceLock::new() }; KINDS.len()];
        SHARED[self as usize].get_or_init(|| self.start())
    }
}

/// Whether a server's refusal comes with what to do about it.
fn has_remedy(error: &WireError) -> bool {
    matches!(error, WireError::Server { remedy, .. } | WireError::Login { remedy, .. } if !remedy.is_empty())
}

/// Runs a test on every shared server.
fn on_each(test: impl Fn(&'static Server) + Sync) {
    rqps_testkit::on_each(&KINDS, |kind| test(kind.shared()));
}
