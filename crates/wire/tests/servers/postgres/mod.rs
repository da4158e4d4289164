//! What only PostgreSQL has: its ways to log in, COPY, notices; and its own driver as an oracle.

mod control;
mod copy;
mod login;
mod oracle;

use crate::server::Server;

/// The PostgreSQL of [`crate::KINDS`].
fn shared() -> &'static Server {
    crate::shared(0)
}
