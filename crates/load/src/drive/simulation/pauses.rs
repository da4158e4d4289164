//! Visits that pause with statements under way, of sessions that have a plan or wait between their events.

use super::*;
use crate::program::{Cue, Ended, EvenPlan, StatementForm, Step, Turn};
use rand_pcg::Pcg64;

/// A session that goes by its own plan, if it has one, and knows its end.
struct Planned {
    forms: Vec<StatementForm>,
    is_planned: bool,
    left: u32,
    ended: Vec<(u64, u64, Option<u64>)>,
}

impl Program for Planned {
    const HAS_TURNS: bool = true;

    fn statements(&self) -> &[StatementForm] {
        &self.forms
    }

    fn next<S: Parameters>(&mut self, cue: Cue<'_>, _: &mut Pcg64, _: &mut [S]) -> Step {
        match cue {
            Cue::Answer(_) => Step::End,
            Cue::Begin | Cue::Again => Step::Send { statement: 0, kind: 0 },
        }
    }

    fn plan(&self) -> Option<EvenPlan> {
        let gap_ns = 10.0 * MS as f64;
        let plan = EvenPlan { gap_ns, phase: 0.5, catch_up_ns: 30 * MS, give_up_ns: u64::MAX };
        self.is_planned.then_some(plan)
    }

    fn turn(&mut self, _: u64) -> Turn {
        if self.left == 0 { Turn::Over } else { Turn::Begin }
    }

    fn ended(&mut self, ended: &Ended<'_>) {
        self.left -= 1;
        self.ended.push((ended.at_ns, ended.took_ns, ended.from_plan_ns));
    }
}

/// A visit from the first second to that moment, all of it counted.
pub(super) fn whole_visit(end_ns: u64) -> Visit {
    Visit {
        continues: false,
        pause_ns: u64::MAX,
        behind_ns: 0,
        start_ns: SECOND,
        count_until_ns: u64::MAX,
        count_from_ns: Some(SECOND),
        end_ns,
        events: u32::MAX,
        is_paced: true,
        purpose: Purpose::Keys,
        moment: 0,
        own_base_ns: 0,
        counted_base_ns: 0,
        origin_ns: 0,
    }
}

/// What a planned session's events were, if the visit pauses each time after so long.
fn planned_events(pause: Option<u64>) -> Vec<(u64, u64, Option<u64>)> {
    let (tally, ended) = in_visits(Some(40), whole_visit(u64::MAX), pause);
    assert_eq!((tally.accounting().succeeded, tally.accounting().is_balanced()), (40, true));
    ended
}

/// What a session counts, and its events, with a plan and so many of them, or without. The visit pauses each time after
/// so long.
fn in_visits(planned: Option<u32>, whole: Visit, pause: Option<u64>) -> (Tally, Vec<(u64, u64, Option<u64>)>) {
    let program = Planned {
        forms: vec![StatementForm::prepared("", &[])],
        is_planned: planned.is_some(),
        left: planned.unwrap_or(u32::MAX),
        ended: Vec::new(),
    };
    let mut lane = Lane::new([(0, program)].into_iter(), 1, 1, 1, Pace::Closed, None);
    let script = Bench::new("point-query", 1, 0, Arrival::Closed).program;
    let mut port = Simulated::new(script, 1, 2 * MS);
    port.stall = (SECOND + 100 * MS, SECOND + 150 * MS);
    let visit = Visit { pause_ns: pause.map_or(u64::MAX, |pause| SECOND + pause), ..whole };
    let kinds = ["point".to_owned()];
    let around = Around { seed: 1, kinds: &kinds, stop: &AtomicBool::new(false), tick: &|_| () };
    let (mut next, mut visits) = (visit, 1);
    loop {
        let left = lane.visit(&mut port, &next, &around).unwrap();
        if left.is_idle {
            break;
        }
        assert_eq!(left.at_ns, next.pause_ns, "it pauses when it should, whatever is under way");
        visits += 1;
        next = Visit { continues: true, pause_ns: left.at_ns + pause.unwrap(), ..visit };
    }
    assert!(pause.is_none_or(|pause| visits >= 240 * MS / pause), "{visits}");
    let (tally, programs) = lane.into_parts();
    (tally, programs.into_iter().next().unwrap().ended)
}

/// A run with ramp-up and an end by its own clock: the stall in it counts, and pauses do not.
#[test]
fn a_span_counts_the_same_in_slices_of_any_length() {
    let whole = Visit { count_from_ns: Some(SECOND + 50 * MS), ..whole_visit(SECOND + 250 * MS) };
    for pause in [None, Some(MS), Some(7 * MS), Some(60 * MS)] {
        let (tally, ended) = in_visits(None, whole, pause);
        // Each takes 2 ms: 25 begin before the stall, which holds the last of them up, and 50 after it.
        let counts = tally.accounting();
        assert_eq!((counts.scheduled, counts.succeeded), (75, 75), "{pause:?}");
        assert_eq!((ended.len(), ended[ended.len() - 1].0), (100, SECOND + 250 * MS), "{pause:?}");
    }
}

#[test]
fn pauses_change_nothing_on_the_clock_of_the_arm() {
    let whole = planned_events(None);
    // The events that the stall held up are made good; what is further behind is deferred.
    assert_eq!(whole[0], (SECOND + 7 * MS, 2 * MS, Some(2 * MS)));
    assert!(whole.iter().any(|(_, took_ns, _)| *took_ns > 40 * MS), "{whole:?}");
    for pause in [MS, 3 * MS, 7 * MS, 60 * MS] {
        assert_eq!(planned_events(Some(pause)), whole, "{pause}");
    }
}

/// A session on another thread may lose the server while a statement of this one is paused.
#[test]
fn what_is_paused_when_the_run_is_given_up_has_failed() {
    let forms = vec![StatementForm::prepared("", &[])];
    let program = Planned { forms, is_planned: false, left: u32::MAX, ended: Vec::new() };
    let mut lane = Lane::new([(0, program)].into_iter(), 1, 1, 1, Pace::Closed, None);
    let mut port = Simulated::new(Bench::new("point-query", 1, 0, Arrival::Closed).program, 1, 2 * MS);
    let visit = Visit { pause_ns: SECOND + 5 * MS, ..whole_visit(SECOND + 250 * MS) };
    let around = Around { seed: 1, kinds: &["point".to_owned()], stop: &AtomicBool::new(false), tick: &|_| () };
    assert!(!lane.visit(&mut port, &visit, &around).unwrap().is_idle);
    let (tally, programs) = lane.into_parts();
    let counts = tally.accounting();
    assert_eq!((counts.scheduled, counts.succeeded, counts.failed, counts.is_balanced()), (3, 2, 1, true));
    assert_eq!(programs[0].ended.len(), 3, "the program hears of each");
}

/// A session that waits 7 ms behind each event; every other event turns out to be of another kind.
struct Thinking {
    forms: Vec<StatementForm>,
    due_ns: u64,
    begun: usize,
    is_over: bool,
}

impl Program for Thinking {
    const HAS_TURNS: bool = true;

    fn statements(&self) -> &[StatementForm] {
        &self.forms
    }

    fn next<S: Parameters>(&mut self, cue: Cue<'_>, _: &mut Pcg64, _: &mut [S]) -> Step {
        self.is_over = matches!(cue, Cue::Answer(_));
        self.begun += usize::from(!self.is_over);
        if self.is_over { Step::End } else { Step::Send { statement: 0, kind: 0 } }
    }

    fn event(&self) -> usize {
        if self.is_over { self.begun % 2 } else { 0 }
    }

    fn turn(&mut self, _: u64) -> Turn {
        Turn::NotBefore(self.due_ns)
    }

    fn ended(&mut self, ended: &Ended<'_>) {
        self.due_ns = ended.at_ns + 7 * MS;
    }
}

#[test]
fn an_event_begins_when_its_pause_is_over_and_counts_as_what_it_became() {
    for pause in [None, Some(MS), Some(5 * MS)] {
        let forms = vec![StatementForm::prepared("", &[])];
        let program = Thinking { forms, due_ns: 0, begun: 0, is_over: false };
        let mut lane = Lane::new([(0, program)].into_iter(), 1, 1, 2, Pace::Closed, None);
        let script = Bench::new("point-query", 1, 0, Arrival::Closed).program;
        let mut port = Simulated::new(script, 1, 2 * MS);
        let kinds = ["point".to_owned()];
        let around = Around { seed: 1, kinds: &kinds, stop: &AtomicBool::new(false), tick: &|_| () };
        let visit = whole_visit(SECOND + 100 * MS);
        let pause_ns = |from_ns| pause.map_or(u64::MAX, |pause: u64| from_ns + pause);
        let mut next = Visit { pause_ns: pause_ns(SECOND), ..visit };
        let left = loop {
            let left = lane.visit(&mut port, &next, &around).unwrap();
            if left.is_idle {
                break left;
            }
            next = Visit { continues: true, pause_ns: pause_ns(left.at_ns), ..visit };
        };
        // One begins every 9 ms, the last at 99 ms; the pause behind it is not waited for.
        assert_eq!(left.at_ns, SECOND + 101 * MS, "{pause:?}");
        let (tally, programs) = lane.into_parts();
        let accounts = tally.events.iter().map(|events| events.accounting);
        let counted: Vec<(u64, u64)> = accounts.map(|account| (account.scheduled, account.succeeded)).collect();
        assert_eq!((counted, programs[0].begun), (vec![(6, 6), (6, 6)], 12), "{pause:?}");
    }
}
