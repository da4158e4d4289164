//! What only MySQL and MariaDB have: their ways to log in, TLS, LOAD DATA; and their own driver as an oracle.

mod control;
mod copy;
mod login;
mod memory;
mod oracle;
mod timed;

use crate::server::Server;

/// The MySQL and the MariaDB of [`crate::KINDS`].
fn shared() -> [&'static Server; 2] {
    [crate::shared(1), crate::shared(2)]
}
