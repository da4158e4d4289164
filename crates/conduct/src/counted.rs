//! The server's own counters before and after a test.
//!
//! In: an endpoint, what was read before. Out: both readings as they are stored, and what changed between them. A server that
//! cannot be asked has none; that fails no test.

use crate::arm::CONNECT_DEADLINE;
use rqps_model::sample::{CounterReading, Moment};
use rqps_observe::counters::{self, Counters};
use rqps_wire::{Endpoint, Session};
use std::collections::BTreeMap;

/// What stands in a sample whose counters could not be read.
pub(crate) const UNREADABLE: &str = "the server's own counters could not be read";

/// Counters of a server that became of a test.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    /// After minus before, where they differ.
    pub(crate) changes: BTreeMap<String, f64>,
    pub(crate) readings: Vec<CounterReading>,
}

/// All counters now.
pub(crate) fn read(endpoint: &Endpoint) -> Option<Counters> {
    let mut session = Session::connect(endpoint, CONNECT_DEADLINE).ok()?;
    let counters = counters::read(&mut session, endpoint.protocol()).ok();
    session.close();
    counters
}

/// Reads them again.
pub(crate) fn since(before: Option<Counters>, endpoint: &Endpoint) -> Option<Counted> {
    let (mut before, mut after) = (before?, read(endpoint)?);
    let changes = counters::changes(&before, &after);
    counters::drop_idle(endpoint.protocol(), &mut before, &mut after);
    let reading = |moment, values| CounterReading { moment, values };
    Some(Counted { changes, readings: vec![reading(Moment::Before, before), reading(Moment::After, after)] })
}
