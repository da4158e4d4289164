//! The servers of these tests, by protocol.
//!
//! In: a protocol. Out: a server; MySQL is a small one of 8.0 where the environment names no other.

use rqps_testkit::{LiveServer, Wanted};
use rqps_wire::Protocol;

/// Makes a server and starts it.
pub(crate) fn start(protocol: Protocol) -> LiveServer {
    LiveServer::start(&match protocol {
        Protocol::Postgres => Wanted::postgres(),
        Protocol::Mysql => Wanted::mysql().build("mysql:8.0.15").with("character-set-server=latin1"),
    })
}

/// Makes a MariaDB server with InnoDB and starts it.
pub(crate) fn start_mariadb() -> LiveServer {
    LiveServer::start(&Wanted::mariadb().with("character-set-server=latin1"))
}

/// Makes a MariaDB server with RocksDB and starts it.
pub(crate) fn start_rocksdb() -> LiveServer {
    LiveServer::start(&Wanted::rocksdb().with("character-set-server=latin1"))
}
