//! `rqps-wire`: client/server protocols of databases, as a benchmark client needs them.
//!
//! In comes an [`Endpoint`] and SQL text; out go a [`Session`], results as text (control plane)
//! and bare counts (timed path). A session has two faces: a blocking one for set-up and
//! questions, and a non-blocking one that sends a pre-encoded [`Statement`] with one write and
//! counts the reply with one read, without allocating.
//!
//! It must not know a workload, read a clock for measurement, print, or keep a whole result in memory
//! on the timed path. Protocols meet this surface in `session.rs`, `statement.rs` and `copy.rs`, one enum arm each.

mod channel;
mod copy;
mod endpoint;
mod error;
mod last_statement;
mod mysql;
mod null_server;
mod pingpong;
mod poll;
mod postgres;
mod prepared;
mod reply;
mod rows;
mod session;
mod session_state;
mod socket;
mod statement;

pub use copy::CopyWriter;
pub use endpoint::{Endpoint, Protocol, Target, Transport};
pub use error::{ServerError, WireError};
pub use null_server::acknowledge;
pub use pingpong::{PingPong, ask, echo, ping_pong};
pub use poll::{ALARM, Poller, Watch, wait_readable};
pub use prepared::{AnyValue, ParameterType};
pub use reply::{ErrorCode, Reply, SqlState, Table, TransactionStatus};
pub use rows::{LastRow, Rows};
pub use session::Session;
pub use statement::Statement;
