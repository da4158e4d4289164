//! A test as whoever runs it sees it: where its clients run, the moments it passes, and what came of each server.
//!
//! In: nothing. Out: the types that `suite` shares with the ways in which a test is run.

use crate::drive::{ClientCpus, RowSink, Switch};
use hdrhistogram::Histogram;
use rqps_model::{Part, Sample};
use std::ops::Range;
use std::sync::atomic::AtomicBool;

/// The clients that run a test.
#[derive(Debug, Clone, Copy)]
pub struct Clients<'a> {
    /// Where their threads run.
    pub cpus: ClientCpus<'a>,
    /// Raised when the user wants the test to end.
    pub stop: &'a AtomicBool,
    /// Takes what they did in each second, while they do it; unused in a suite whose sessions keep rows of their own.
    pub rows: RowSink<'a>,
}

/// A moment of a run; arms by index.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Moment {
    /// Clients begin to work.
    Start,
    /// An arm's slice begins; once for a test that is not cut into slices.
    Enter(usize),
    /// And ends.
    Leave(usize),
    /// All is counted, and the sessions are still there: when they end, so do PostgreSQL's processes.
    Stop,
    /// This share is done.
    Advance(f64),
}

impl From<Switch> for Moment {
    fn from(switch: Switch) -> Moment {
        match switch {
            Switch::Begin => Moment::Start,
            Switch::Enter { arm, .. } => Moment::Enter(arm),
            Switch::Leave { arm, .. } => Moment::Leave(arm),
            Switch::End => Moment::Stop,
        }
    }
}

/// What came of an arm.
#[derive(Debug, Clone, Default)]
pub struct Ran {
    /// Its counts and times, and why it failed if it did. Who ran, where and when is for the caller to fill in.
    pub sample: Sample,
    /// Whether it failed because its server refused a statement: then the server is in no doubt.
    pub is_refusal: bool,
    /// Histograms by kind of statement or event.
    pub latency: Vec<(String, Histogram<u64>)>,
    /// What stands beside the sample.
    pub parts: Vec<Part>,
    /// Seconds in which sessions were connected, with their first uncounted events, and in which the test warmed up; 0
    /// where that is not told apart.
    pub connect_seconds: f64,
    /// See above.
    pub warmup_seconds: f64,
    /// When its work was counted, in nanoseconds of the machine's monotonic clock; empty but in rounds that explain.
    pub counted: Vec<Range<u64>>,
}
