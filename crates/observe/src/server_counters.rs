//! The server's own counters before and after a test.
//!
//! In: a server. Out: what changed, in the sample, and both readings as a part of it. A server that does not answer
//! has none; that fails no test, and is a warning of the sample.

use crate::counters::{Counters, changes, drop_idle};
use crate::engine::{keeps_idle_counters, read_counters};
use crate::probe::{Probe, Subject};
use rqps_model::sample::{CounterReading, Moment};
use rqps_model::{Part, Sample, part};
use rqps_wire::{Endpoint, Session, WireError};
use std::time::Duration;

/// How long a connection may take.
const CONNECT_DEADLINE: Duration = Duration::from_secs(30);

/// Reads counters before the first session of a test and after its last: a backend hands them over when it ends.
#[derive(Debug, Default)]
pub struct CountersProbe {
    before: Option<Result<Counters, WireError>>,
}

impl Probe for CountersProbe {
    fn begin(&mut self, server: &Subject<'_>) {
        self.before = Some(read(server.endpoint));
    }

    fn end(&mut self, server: Option<&Subject<'_>>, sample: &mut Sample) -> Vec<Part> {
        let (Some(server), Some(before)) = (server, self.before.take()) else { return Vec::new() };
        let after = read(server.endpoint);
        let (mut before, mut after) = match before.and_then(|before| Ok((before, after?))) {
            Ok(readings) => readings,
            Err(why) => {
                sample.warnings.push(format!("the server's own counters are not known: {why}"));
                return Vec::new();
            }
        };
        sample.counters = changes(&before, &after);
        if !keeps_idle_counters(server.endpoint.protocol()) {
            drop_idle(&mut before, &mut after);
        }
        let reading = |moment, values| CounterReading { moment, values };
        vec![Part::lines(part::COUNTERS, &[reading(Moment::Before, before), reading(Moment::After, after)])]
    }
}

fn read(endpoint: &Endpoint) -> Result<Counters, WireError> {
    let mut session = Session::connect(endpoint, CONNECT_DEADLINE)?;
    let counters = read_counters(&mut session, endpoint.protocol());
    session.close();
    counters
}
