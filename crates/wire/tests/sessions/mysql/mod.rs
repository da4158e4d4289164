//! What only MySQL and MariaDB have: their ways to log in, TLS, LOAD DATA.

mod control;
mod copy;
mod login;
mod memory;
mod timed;

use crate::Kind;
use crate::server::Server;

/// The servers that the tests share.
fn shared() -> [&'static Server; 2] {
    [Kind::Mysql.shared(), Kind::Mariadb.shared()]
}
