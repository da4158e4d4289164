//! The PostgreSQL of these tests: accounts that log in by trust, password, md5 and SCRAM, on a Unix socket and on loopback.
//!
//! In: which server. Out: endpoints for its accounts.

use std::ops::Deref;

use rqps_live::{LiveServer, Wanted};
use rqps_wire::Endpoint;

pub(crate) const PASSWORD: &str = "open sesame";

const PG_HBA: &str = "
local all clear_user password
local all md5_user md5
local all scram_user scram-sha-256
local all bench trust
host all clear_user 127.0.0.1/32 password
host all md5_user 127.0.0.1/32 md5
host all scram_user 127.0.0.1/32 scram-sha-256
host all bench 127.0.0.1/32 trust
";

const ACCOUNTS: &str = "
create role clear_user login password 'open sesame';
create role scram_user login password 'open sesame';
set password_encryption = 'md5';
create role md5_user login password 'open sesame';
";

/// A running server with its accounts.
pub(crate) struct Server(LiveServer);

impl Server {
    pub(crate) fn start(wanted: Wanted) -> Server {
        let wanted = wanted.with("password_encryption=scram-sha-256").with_file("data/pg_hba.conf", PG_HBA);
        let server = LiveServer::start(&wanted.on_loopback());
        server.session().execute(ACCOUNTS).unwrap();
        Server(server)
    }

    /// An endpoint on the Unix socket, with a password that all accounts share.
    pub(crate) fn unix(&self, user: &str) -> Endpoint {
        with_account(self.endpoint(), user)
    }

    /// An endpoint on the loopback interface.
    pub(crate) fn tcp(&self, user: &str) -> Endpoint {
        with_account(self.loopback(), user)
    }
}

fn with_account(endpoint: Endpoint, user: &str) -> Endpoint {
    Endpoint {
        user: user.into(),
        password: Some(PASSWORD.into()),
        options: vec![("application_name".into(), "rqps-wire test".into())],
        ..endpoint
    }
}

impl Deref for Server {
    type Target = LiveServer;

    fn deref(&self) -> &LiveServer {
        &self.0
    }
}
