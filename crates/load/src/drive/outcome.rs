//! What an arm did in an exercise, joined from what each thread counted.
//!
//! In: tallies, and what the leader knows. Out: [`ArmRun`], from which a sample is made without any arithmetic but
//! adding. The accounting identity is asserted here, where it is written.

use super::port::Lost;
use super::recorder::joined;
use super::tally::{Counted, EventCounts, Tally};
use crate::program::EVENT;
use hdrhistogram::Histogram;
use rqps_model::sample::{Accounting, ErrorCount, Failures, SessionPlacement, Slices};
use std::collections::BTreeMap;
use std::ops::Range;

/// The events of one kind.
#[derive(Debug, Clone)]
pub struct EventRun {
    /// The kind.
    pub name: String,
    /// What became of them.
    pub accounting: Accounting,
    /// Rows of those that succeeded.
    pub rows: u64,
    /// From the first sending to the last answer, of those that succeeded.
    pub response: Histogram<u64>,
    /// From the planned moment to the last answer; empty where there was no plan.
    pub from_plan: Histogram<u64>,
}

/// What one arm did.
#[derive(Debug, Clone)]
pub struct ArmRun {
    /// Operations and busy time by cycle; the same cycle of all arms ran side by side. None where arms have clocks of
    /// their own.
    pub slices: Slices,
    /// Statements of counted events, or what its programs rate.
    pub operations: u64,
    /// All statements: warm-up, settling of sessions and lead-ins included.
    pub operations_total: u64,
    /// Rows that the server sent or changed in counted events.
    pub rows: u64,
    /// Time of counted events summed over sessions: throughput = clients x operations / busy. In an open loop, the
    /// time that the sessions were there.
    pub busy_ns: u64,
    /// Wall seconds of the counted part of the slices.
    pub seconds: f64,
    /// When those were, in nanoseconds of the machine's monotonic clock, if that was to be kept.
    pub counted: Vec<Range<u64>>,
    /// How many connections each client made in turn, the first included.
    pub sessions: u32,
    /// What became of the events.
    pub accounting: Accounting,
    /// What became of the events of each kind.
    pub events: Vec<EventRun>,
    /// By how much the plan of the session was deferred that was furthest behind, where sessions have plans of their
    /// own.
    pub deferred_ns: u64,
    /// Errors by statement and code.
    pub errors: Vec<ErrorCount>,
    /// Events given up, by class.
    pub failures: Failures,
    /// By statement kind, and `event` for whole events from their planned start, and `event-failed` if any failed.
    pub latency: Vec<(String, Histogram<u64>)>,
    /// In an open loop: how long after its planned moment each event was sent.
    pub lateness: Histogram<u64>,
    /// Length of a slice as used.
    pub slice_ns: u64,
    /// Uncounted beginning of each slice as used.
    pub lead_in_ns: u64,
    /// CPU time of the client's threads in the counted slices, lead-ins included.
    pub client_cpu_ns: u64,
    /// Whether the client's threads were in the batch scheduling class: they waited for whole answers, since these came
    /// in parts.
    pub batch_scheduling: bool,
    /// Where its last sessions were, if they were placed.
    pub placement: Option<SessionPlacement>,
    /// Why this arm ended before its time; the others went on.
    pub failure: Option<String>,
    /// Whether that is because the server refused a statement: it and its sessions are in no doubt.
    pub is_refusal: bool,
}

/// What the leader knows about an arm.
#[derive(Debug, Clone, Default)]
pub(crate) struct ArmState {
    pub(crate) lost: Option<Lost>,
    pub(crate) sessions: u32,
    /// Counted time so far, and when it was on the machine's clock.
    pub(crate) counted_ns: u64,
    pub(crate) spans: Vec<Range<u64>>,
    /// What was counted in visits that no thread lost, and in each of them.
    pub(crate) counted: Counted,
    pub(crate) slices: Slices,
    /// Own time so far: counted time with lead-ins and drains.
    pub(crate) own_ns: u64,
    /// Own time at which the last visit was to end.
    pub(crate) planned_end_ns: u64,
    pub(crate) slice_ns: u64,
    pub(crate) lead_in_ns: u64,
    pub(crate) cpu_ns: u64,
    pub(crate) batch_scheduling: bool,
    pub(crate) placement: Option<SessionPlacement>,
}

impl ArmState {
    /// Makes room for so many slices.
    pub(crate) fn make_room(&mut self, slices: usize, keeps_spans: bool) {
        let Slices { operations, busy_ns, burned_ns } = &mut self.slices;
        [operations, busy_ns, burned_ns].into_iter().for_each(|list| list.reserve(slices));
        self.spans.reserve(if keeps_spans { slices } else { 0 });
    }

    /// A slice is over on all threads.
    pub(crate) fn add_slice(&mut self, slice: Counted) {
        self.counted += slice;
        self.slices.operations.push(slice.operations);
        self.slices.busy_ns.push(slice.busy_ns);
        self.slices.burned_ns.push(slice.burned_ns);
    }
}

/// Joins what the threads counted, and has them send the last rows of seconds.
pub(crate) fn join(tallies: Vec<Tally>, state: ArmState, kinds: &[String], events: &[String], wall_ns: u64) -> ArmRun {
    let sum = |field: fn(&Tally) -> u64| tallies.iter().map(field).sum::<u64>();
    let accounting = tallies.iter().fold(Accounting::default(), |all, tally| all + tally.accounting());
    assert!(accounting.is_balanced(), "{accounting:?}");
    let mut latency = Vec::new();
    for (kind, name) in kinds.iter().enumerate() {
        let all = joined(tallies.iter().map(|tally| &tally.statements[kind]));
        if !all.is_empty() {
            latency.push((name.clone(), all));
        }
    }
    let events: Vec<EventRun> =
        events.iter().enumerate().map(|(event, name)| join_events(&tallies, event, name)).collect();
    if let [event] = &events[..] {
        // From their planned start, where there is a plan.
        let is_planned = !event.from_plan.is_empty();
        latency.push((event.name.clone(), if is_planned { &event.from_plan } else { &event.response }.clone()));
    }
    let failed = joined(tallies.iter().map(|tally| &tally.failed_events));
    if !failed.is_empty() {
        latency.push((format!("{EVENT}-failed"), failed));
    }
    let ArmState { counted, mut slices, .. } = state;
    if counted.burned_ns == 0 {
        slices.burned_ns = Vec::new();
    }
    let run = ArmRun {
        operations: counted.operations,
        busy_ns: counted.busy_ns,
        slices,
        operations_total: sum(|tally| tally.operations_total),
        rows: sum(|tally| tally.rows),
        seconds: state.counted_ns as f64 / 1e9,
        counted: state.spans,
        sessions: state.sessions,
        accounting,
        events,
        deferred_ns: tallies.iter().map(|tally| tally.deferred_ns).max().unwrap_or(0),
        errors: join_errors(&tallies, kinds),
        failures: tallies.iter().fold(Failures::default(), |all, tally| all + tally.failures),
        latency,
        lateness: joined(tallies.iter().map(|tally| &tally.lateness)),
        slice_ns: state.slice_ns,
        lead_in_ns: state.lead_in_ns,
        client_cpu_ns: state.cpu_ns,
        batch_scheduling: state.batch_scheduling,
        placement: state.placement,
        is_refusal: state.lost.as_ref().is_some_and(|lost| lost.is_refusal),
        failure: state.lost.map(|lost| lost.why),
    };
    tallies.into_iter().for_each(|tally| tally.intervals.finish(state.counted_ns, wall_ns));
    run
}

fn join_events(tallies: &[Tally], event: usize, name: &str) -> EventRun {
    let of = || tallies.iter().map(|tally| &tally.events[event]);
    EventRun {
        name: name.to_owned(),
        accounting: of().fold(Accounting::default(), |all, counts| all + counts.accounting),
        rows: of().map(|counts| counts.rows).sum(),
        response: joined(of().map(|counts: &EventCounts| &counts.response)),
        from_plan: joined(of().map(|counts| &counts.from_plan)),
    }
}

fn join_errors(tallies: &[Tally], kinds: &[String]) -> Vec<ErrorCount> {
    let mut joined: BTreeMap<(usize, String), (u64, String)> = BTreeMap::new();
    for error in tallies.iter().flat_map(|tally| &tally.errors) {
        let entry = joined.entry((error.kind, error.code.to_string()));
        entry.or_insert_with(|| (0, error.message.clone())).0 += error.count;
    }
    let errors = joined.into_iter().map(|((kind, code), (count, message))| ErrorCount {
        statement: kinds[kind].clone(),
        code,
        count,
        message,
    });
    errors.collect()
}
