//! What `conduct` tells whoever watches: a stream of events, from which `cli` makes progress lines.
//!
//! Watching never changes a run: events are values, and nobody answers them.

use rqps_model::insert::Sla;
use rqps_model::{Interleave, Unit};
use std::path::Path;
use std::time::Duration;

/// Something that happened, or is about to.
#[derive(Debug, Clone, PartialEq)]
pub enum Event<'a> {
    /// Leftovers of an earlier rqps that was killed were cleared.
    Cleared {
        /// What was stopped or removed, one line each.
        what: Vec<String>,
    },
    /// Making the data folder that a treatment's copies are taken from.
    Loading {
        /// Treatment whose build loads it.
        treatment: &'a str,
        /// Tables and rows a table.
        tables: u32,
        /// Rows of each table.
        rows: u64,
    },
    /// The data folder is ready.
    Loaded {
        /// Treatment whose build loaded it.
        treatment: &'a str,
        /// Rows in all tables.
        rows: u64,
        /// Seconds for rows and indexes.
        seconds: f64,
    },
    /// A round begins: copies are made and servers started.
    RoundBegins {
        /// From 1.
        round: u32,
        /// Planned.
        rounds: u32,
    },
    /// A test begins on all treatments.
    TestBegins {
        /// From 1.
        round: u32,
        /// Planned.
        rounds: u32,
        /// Published name.
        test: &'a str,
        /// Concurrency.
        clients: u32,
        /// How builds alternate.
        interleave: Option<Interleave>,
    },
    /// A test that writes and is measured already runs again, unrecorded: a resumed round begins with fresh data, and what
    /// follows is to find what it would have found in an unbroken round. It advances as a test does, and ends without an
    /// event.
    TestRepeats {
        /// From 1.
        round: u32,
        /// Planned.
        rounds: u32,
        /// Published name.
        test: &'a str,
        /// Concurrency.
        clients: u32,
    },
    /// A test or a step is under way.
    TestAdvances {
        /// Share of its own time or work that has passed, 0 to 1.
        fraction: f64,
        /// Share of the campaign that is done, 0 to 1.
        campaign: f64,
        /// Expected time to the end of the campaign, once it can be told.
        left: Option<Duration>,
    },
    /// A test ended; throughput by treatment, `None` where it failed.
    TestEnded {
        /// From 1.
        round: u32,
        /// Published name.
        test: &'a str,
        /// Concurrency.
        clients: u32,
        /// Unit of the numbers.
        unit: Unit,
        /// Treatment and throughput, base first.
        results: Vec<(&'a str, Option<f64>)>,
        /// Expected time to the end of the campaign.
        left: Option<Duration>,
    },
    /// A pass begins: an empty data folder is made and a server started.
    PassBegins {
        /// From 1.
        round: u32,
        /// Planned.
        rounds: u32,
        /// The treatment whose pass it is.
        treatment: &'a str,
        /// Concurrency.
        clients: u32,
        /// Steps to come.
        steps: u32,
    },
    /// A step of a pass begins.
    StepBegins {
        /// From 1.
        round: u32,
        /// Planned.
        rounds: u32,
        /// The treatment whose pass it is.
        treatment: &'a str,
        /// Published name, or `rest` for what follows l.i2.
        step: &'a str,
        /// Concurrency.
        clients: u32,
    },
    /// A step ended; it advances as a test does.
    StepEnded {
        /// From 1.
        round: u32,
        /// The treatment whose pass it is.
        treatment: &'a str,
        /// Published name.
        step: &'a str,
        /// Concurrency.
        clients: u32,
        /// Unit of the number.
        unit: Unit,
        /// Throughput; `None` where it failed.
        result: Option<f64>,
        /// Whether background writes kept up, where there are any.
        sla: Option<Sla>,
        /// Seconds in which next to nothing was inserted.
        stalled_seconds: u32,
        /// Expected time to the end of the campaign.
        left: Option<Duration>,
    },
    /// The user asked to stop: nothing is measured any more, all servers have ended, and what was measured before is safe. Data
    /// folders are still to be removed, which may take a while.
    Interrupted {
        /// The results folder.
        folder: &'a Path,
    },
    /// Something the user must know now; it also stands in the results.
    Warning {
        /// A sentence.
        message: String,
    },
}

/// Receives events in order.
pub type Watch<'a> = dyn FnMut(Event<'_>) + 'a;
