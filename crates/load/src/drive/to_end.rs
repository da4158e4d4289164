//! The run of each arm from its first statement to its last, in slices, on a clock of its own.
//!
//! In: when a slice is over, and what part of the run counts. Out: visits, each of which goes on where the arm's last
//! was left. An arm has a clock of its own, which stands still while it is not visited; what its programs see and what
//! is counted is of that clock. The order of the arms is drawn anew for each cycle.

use super::exercise::{Hook, Phase, Switch};
use super::leader::Leader;
use super::port::monotonic_ns;
use super::schedule::{Visit, nanos};
use crate::error::LoadError;
use crate::program::Workload;
use crate::random::{Purpose, shuffle, stream};
use std::time::Duration;

/// When a slice of such a run is over.
#[derive(Clone, Copy)]
pub enum Slices<'a> {
    /// With the run: for a single arm.
    Whole,
    /// After so much of the arm's own time, whatever is under way.
    OwnTime(Duration),
    /// When its programs have done their share and wait. Called before each cycle, with how long the longest slice of
    /// the cycle before took, it hands out the next share, the same to every arm, and says whether that is the last.
    Shares(&'a dyn Fn(Option<Duration>) -> bool),
}

/// What part of a run counts, in the arm's own time.
#[derive(Debug, Clone, Copy)]
pub struct Span {
    /// Events that begin from here on count.
    pub from: Duration,
    /// From here on none begins; `None` where programs know their own end.
    pub until: Option<Duration>,
}

impl Span {
    /// All of it, as long as programs go on.
    pub const WHOLE: Span = Span { from: Duration::ZERO, until: None };
}

/// An arm's run under way.
struct Course {
    visit: Visit,
    /// When the last visit was left, on the arm's clock.
    left_ns: u64,
    is_over: bool,
}

impl<W: Workload> Leader<'_, '_, '_, '_, W> {
    /// Runs every arm to its end. What was done until a server was lost counts too.
    pub(super) fn run_to_end(
        &mut self,
        span: Span,
        slices: Slices<'_>,
        hook: &mut Hook<'_>,
        tick: &dyn Fn(usize, f64),
    ) -> Result<(), LoadError> {
        hook(Switch::Begin)?;
        self.crew.pin()?;
        let mut courses: Vec<Option<Course>> = self.states.iter().map(|_| None).collect();
        let mut longest = None;
        for number in 0.. {
            let is_last = matches!(slices, Slices::Shares(hand_out) if hand_out(longest));
            let mut order = self.live_arms();
            order.retain(|arm| courses[*arm].as_ref().is_none_or(|course| !course.is_over));
            if order.is_empty() {
                break;
            }
            shuffle(&mut stream(self.exercise.seed, Purpose::Order, 0, number), &mut order);
            let mut took = Vec::with_capacity(order.len());
            for arm in order {
                hook(Switch::Enter { arm, phase: Phase::Counted })?;
                took.push(self.go_on(arm, &mut courses[arm], (span, slices), is_last, tick));
                hook(Switch::Leave { arm, phase: Phase::Counted })?;
                self.stopped()?;
            }
            longest = took.into_iter().max();
        }
        hook(Switch::End)
    }

    /// A slice of an arm's run; how long it took.
    fn go_on(
        &mut self,
        arm: usize,
        course: &mut Option<Course>,
        (span, slices): (Span, Slices<'_>),
        is_last: bool,
        tick: &dyn Fn(usize, f64),
    ) -> Duration {
        let now = self.visit_now(arm, Purpose::Keys, 0);
        let count_from_ns = now.start_ns + nanos(span.from);
        let end_ns = span.until.map_or(u64::MAX, |until| now.start_ns + nanos(until));
        let course = course.get_or_insert(Course {
            visit: Visit { count_from_ns: Some(count_from_ns), count_until_ns: end_ns, end_ns, ..now },
            left_ns: now.start_ns,
            is_over: false,
        });
        let from_ns = course.left_ns;
        let pause_ns = match slices {
            Slices::OwnTime(length) => from_ns + nanos(length),
            Slices::Whole | Slices::Shares(_) => u64::MAX,
        };
        let Visit { start_ns, end_ns, count_from_ns, .. } = course.visit;
        let behind_ns = monotonic_ns() - from_ns;
        let visit = Visit { pause_ns, behind_ns, ..course.visit };
        let report = self.crew.visit(arm, visit, &|at_ns| tick(arm, seconds(start_ns, at_ns)));
        self.note(arm, &report);
        course.visit.continues = true;
        course.left_ns = report.left_ns;
        let has_more = matches!(slices, Slices::Shares(_)) && !is_last;
        course.is_over = report.is_idle && !has_more;
        let state = &mut self.states[arm];
        // What began before the end counts, so the time does to the end, and not until the last of it was answered.
        state.counted_ns = report.left_ns.min(end_ns).saturating_sub(count_from_ns.unwrap_or(start_ns));
        let counted = from_ns.max(count_from_ns.unwrap_or(start_ns))..report.left_ns.min(end_ns);
        if self.exercise.keeps_spans && !counted.is_empty() {
            state.spans.push(counted.start + behind_ns..counted.end + behind_ns);
        }
        // A run counts as a whole, so its slices are not kept.
        if report.lost.is_none() {
            state.counted += report.counted;
        }
        state.cpu_ns += report.cpu_ns;
        tick(arm, seconds(start_ns, report.left_ns));
        Duration::from_nanos(report.left_ns.saturating_sub(from_ns))
    }
}

fn seconds(from_ns: u64, to_ns: u64) -> f64 {
    to_ns.saturating_sub(from_ns) as f64 / 1e9
}
