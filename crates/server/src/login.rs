//! The user and the database of every login to the servers that rqps makes.
//!
//! In: an engine and the way to its server. Out: an endpoint. It must not open anything.

use rqps_model::Engine;
use rqps_wire::{Endpoint, Transport};

/// The superuser of every data folder that rqps makes; logs in without a password over the private socket.
pub const USER: &str = "bench";

/// The database that the tests run in.
pub const DATABASE: &str = "sbtest";

/// The superuser in that database, without a password.
pub fn endpoint(engine: Engine, transport: Transport) -> Endpoint {
    let (user, database) = (USER.to_owned(), DATABASE.to_owned());
    Endpoint { engine, transport, user, password: None, database, options: Vec::new() }
}
