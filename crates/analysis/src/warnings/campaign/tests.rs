//! Every warning about a whole campaign, each from traces that call for it and from some that do not.

use super::*;
use crate::warnings::treatment::tests::plan as treatment;
use rqps_model::facts::HostChange;
use rqps_model::plan::{Alternate, Arrival, DataSet, DataShape, Stage, SuitePlan, TestPlan};
use rqps_model::{FORMAT, Group, Interleave, Placement, ProgramPages, Unit};
use rqps_store::{Start, State};

const DATA: DataShape = DataShape { tables: 1, rows: 1000 };

pub(crate) fn test(name: &str, writes: bool) -> TestPlan {
    TestPlan {
        name: name.to_owned(),
        label: format!("{name}_range=100"),
        group: Group::Point,
        unit: Unit::QueriesPerSecond,
        writes,
        rank: 1,
        interleave: Some(Interleave::Slices),
        seconds: 10.0,
        timed: true,
        before: Vec::new(),
    }
}

pub(crate) fn plan(rounds: u32) -> Plan {
    Plan {
        format: FORMAT,
        name: "c".to_owned(),
        suite: SuitePlan::Sysbench(DATA),
        seed: 1,
        treatments: vec![treatment("a"), treatment("b")],
        base: 0,
        why_one_by_one: None,
        why_continued: None,
        time: None,
        profiled: false,
        stages: vec![Stage::side_by_side(DATA, vec![1], vec![test("point-query", false)])],
        warmup_seconds: 1.0,
        slice_ms: 10.0,
        turn_seconds: None,
        arrival: Arrival::Closed,
        placement: Placement::Same,
        program_pages: ProgramPages::Small,
        kept_floors: Vec::new(),
        cpu_events: false,
        machine: None,
        margin: 0.02,
        rounds,
        forced: Vec::new(),
    }
}

/// Samples of all rounds, side by side, copies swapped.
fn traces(rounds: u32) -> Vec<Trace> {
    let trace = |round: u32, treatment: usize| Trace {
        round,
        treatment,
        test: 0,
        clients: 1,
        server_start: format!("{round}.1"),
        data_copy: ["pg#1", "pg#2"][(round as usize + treatment) % 2].to_owned(),
        started_at: format!("2026-11-21T0{round}:00:0{treatment}Z"),
    };
    (1..=rounds).flat_map(|round| [trace(round, 0), trace(round, 1)]).collect()
}

/// A campaign begun and continued by these versions of rqps.
fn starts(versions: &[&str]) -> Status {
    let start = |&version: &&str| Start {
        at: "2026-11-21T01:00:00Z".to_owned(),
        rqps_version: version.to_owned(),
        ..Start::default()
    };
    Status {
        format: FORMAT,
        host: String::new(),
        state: State::Complete,
        starts: versions.iter().map(start).collect(),
        finished_at: None,
        load_seconds: BTreeMap::new(),
        spent: None,
        extended: None,
        extended_after: None,
    }
}

fn kinds(warnings: &[Warning]) -> Vec<WarningKind> {
    warnings.iter().map(|warning| warning.kind).collect()
}

#[test]
fn a_campaign_in_order_has_none() {
    assert!(rounds(&plan(4), &traces(4), (4, &[2; 4]), &starts(&["0.1.0"])).is_empty());
}

#[test]
fn few_and_missing_rounds_are_told() {
    assert_eq!(kinds(&rounds(&plan(2), &traces(2), (2, &[2; 2]), &starts(&["0.1.0"]))), [WarningKind::FewRounds]);
    let mut status = starts(&["0.1.0"]);
    let check = |status: &Status, message: &str| {
        let found = rounds(&plan(5), &traces(3), (3, &[2; 5]), status);
        assert_eq!((kinds(&found), found[0].cause.as_str()), (vec![WarningKind::Incomplete], message));
    };
    check(&status, "4 of 10 samples are missing, though the campaign had finished; 3 of 5 rounds complete");
    status.state = State::Incomplete;
    check(&status, "3 of 5 rounds complete");
}

#[test]
fn resumed_rounds_and_several_runs_are_told() {
    let mut traces = traces(4);
    let again = Trace { clients: 2, server_start: "3.2".to_owned(), ..traces[5].clone() };
    traces.push(again);
    let found = rounds(&plan(4), &traces, (4, &[2; 4]), &starts(&["0.1.0", "0.2.0"]));
    assert_eq!(kinds(&found), [WarningKind::Resumed, WarningKind::Epochs, WarningKind::Epochs]);
    assert!(found[0].cause.starts_with("in round 3 tests ran"), "{}", found[0].cause);

    let mut continued = starts(&["0.1.0", "0.1.0"]);
    continued.starts[1].at = "2026-11-21T02:00:01Z".to_owned();
    let found = rounds(&plan(4), &self::traces(4), (4, &[2; 4]), &continued);
    assert_eq!(kinds(&found), [WarningKind::Resumed, WarningKind::Epochs]);
    assert!(found[0].cause.starts_with("in round 2 tests ran"), "{}", found[0].cause);
}

#[test]
fn each_stage_has_a_start_of_its_own() {
    let mut two_stages = plan(4);
    two_stages.stages.push(Stage::side_by_side(DATA, vec![1], vec![test("scan", false)]));
    let mut all = traces(4);
    all.extend(traces(4).into_iter().map(|trace| Trace {
        test: 1,
        server_start: format!("{}.2", trace.round),
        ..trace
    }));
    assert!(rounds(&two_stages, &all, (4, &[4; 4]), &starts(&["0.1.0"])).is_empty());
    let again = Trace { clients: 2, server_start: "3.3".to_owned(), ..all[5].clone() };
    all.push(again);
    assert_eq!(kinds(&rounds(&two_stages, &all, (4, &[4; 4]), &starts(&["0.1.0"]))), [WarningKind::Resumed]);
}

#[test]
fn a_host_that_became_another_is_told() {
    let mut continued = starts(&["0.1.0", "0.1.0"]);
    let change = |what: &str, before: &str, now: &str| HostChange {
        what: what.to_owned(),
        before: before.to_owned(),
        now: now.to_owned(),
    };
    continued.starts[1].host_changes = vec![change("kernel", "6.1", "6.12"), change("CPUs", "4", "2")];
    let found = rounds(&plan(4), &traces(4), (4, &[2; 4]), &continued);
    assert_eq!(kinds(&found), [WarningKind::Epochs, WarningKind::Epochs]);
    let told = "the host of the run that started 2026-11-21T01:00:00Z is not as it was: kernel 6.12, before 6.1; CPUs \
                2, before 4";
    assert_eq!(found[1].cause, told);
}

#[test]
fn passes_follow_one_another_and_have_nothing_to_swap() {
    let in_passes = |rounds: u32| {
        let mut plan = plan(rounds);
        plan.stages[0].alternate = Alternate::OneByOne;
        plan.stages[0].data = DataSet::Empty;
        plan
    };
    let mut traces = traces(3);
    for trace in &mut traces {
        trace.data_copy = ["pg#1", "pg#2"][trace.treatment].to_owned();
        trace.started_at = format!("2026-11-2{}T{}2:00:00Z", trace.round, trace.treatment);
        trace.server_start = format!("{}.{}", trace.round, trace.treatment);
    }
    let other_clients = |trace: &Trace| Trace { clients: 8, server_start: "other".to_owned(), ..trace.clone() };
    let more: Vec<Trace> = traces.iter().map(other_clients).collect();
    traces.extend(more);
    assert!(rounds(&in_passes(3), &traces, (3, &[2; 3]), &starts(&["0.1.0"])).is_empty());
    let mut continued = starts(&["0.1.0", "0.1.0"]);
    continued.starts[1].at = "2026-11-22T08:00:00Z".to_owned();
    let found = rounds(&in_passes(3), &traces, (3, &[2; 3]), &continued);
    assert_eq!(kinds(&found), [WarningKind::Resumed, WarningKind::Epochs]);
    assert_eq!(found[0].cause, "in round 2 passes were made in more than one run");
    let found = rounds(&in_passes(1), &traces[..2], (1, &[2; 1]), &starts(&["0.1.0"]));
    assert_eq!(kinds(&found), [WarningKind::FewRounds]);
    assert!(found[0].cause.starts_with("one round only: "), "{}", found[0].cause);
}

#[test]
fn arms_measured_at_different_times_are_told() {
    let mut traces = traces(4);
    traces[3].started_at = "2026-11-24T02:00:00Z".to_owned();
    let found = rounds(&plan(4), &traces, (4, &[2; 4]), &starts(&["0.1.0"]));
    assert_eq!(kinds(&found), [WarningKind::Apart]);
    assert!(found[0].cause.contains("point-query in round 2 by 72.0 h"), "{}", found[0].cause);
}

#[test]
fn copies_that_stay_with_their_arm_are_told() {
    let mut traces = traces(4);
    traces.iter_mut().for_each(|trace| trace.data_copy = ["pg#1", "pg#2"][trace.treatment].to_owned());
    assert_eq!(kinds(&rounds(&plan(4), &traces, (4, &[2; 4]), &starts(&["0.1.0"]))), [WarningKind::CopiesNotSwapped]);
    traces.iter_mut().for_each(|trace| trace.data_copy = ["pg16#1", "pg17#1"][trace.treatment].to_owned());
    assert!(
        rounds(&plan(4), &traces, (4, &[2; 4]), &starts(&["0.1.0"])).is_empty(),
        "copies of unlike masters cannot be swapped"
    );
}

#[test]
fn why_the_cpu_counted_nothing_is_told_once() {
    let events = ["cycles", "instructions"].map(str::to_owned);
    let found = events_refused(&RefusedEvents::from([("there is no PMU".to_owned(), events.into())]));
    assert_eq!(kinds(&found), [WarningKind::CpuEvents]);
    assert_eq!(found[0].cause, "events of the CPU were not counted (cycles, instructions): there is no PMU");
    assert!(events_refused(&RefusedEvents::new()).is_empty());
}

#[test]
fn other_load_is_told_once_with_its_worst_share() {
    let test = |name: &str, clients: u32| TestFindings {
        name: name.to_owned(),
        label: name.to_owned(),
        group: Group::Point,
        unit: Unit::QueriesPerSecond,
        clients,
        interleave: Some(Interleave::Slices),
        statements: Vec::new(),
        cells: Vec::new(),
    };
    let tests = [test("point-query", 1), test("scan", 4), test("insert", 4), test("delete", 1)];
    let told = |shares: &[Option<f64>]| other_load("test", &tests, shares).map(|warning| warning.cause);
    let words =
        "other programs used up to 45 % of the CPUs, kernel threads included (scan c4; more than 10 % in 2 of 3 cells)";
    assert_eq!(told(&[Some(0.05), Some(0.45), Some(0.12), None]).as_deref(), Some(words));
    assert_eq!(told(&[Some(0.1), Some(0.02), None, None]), None);
    assert_eq!(told(&[None; 4]), None);
}

#[test]
fn a_governor_that_follows_the_load_is_told() {
    let with = |governor: Option<&str>| {
        host(&HostFacts { governor: governor.map(str::to_owned), ..HostFacts::default() }).len()
    };
    assert_eq!((with(None), with(Some("performance")), with(Some("powersave"))), (0, 0, 1));
}

#[test]
fn what_several_treatments_lack_is_told_once() {
    let load = |left: Option<&str>| LoadFacts { left: left.map(str::to_owned), ..LoadFacts::default() };
    let owners = "left out of a.sql: 6 × ALTER ... OWNER TO";
    let loads =
        [("a", load(Some(owners))), ("b", load(None)), ("c", load(Some("no index"))), ("d", load(Some(owners)))];
    let told: Vec<String> = left_out(loads).into_iter().map(|warning| warning.cause).collect();
    assert_eq!(told, [format!("after loading with a, d: {owners}"), "after loading with c: no index".to_owned()]);
}

#[test]
fn the_time_for_more_counts_the_rounds_that_wider_intervals_take() {
    let cell = |anew: u32, in_all: u32, kind: WarningKind| CellFindings {
        comparison: Some(Comparison {
            rounds_needed: Some(anew),
            rounds_needed_in_all: Some(in_all),
            ..Comparison::undecided(0.99, 8)
        }),
        warnings: vec![warning(kind, String::new())],
        ..CellFindings::default()
    };
    let time = |cells: &[CellFindings]| {
        let cells: Vec<(String, &CellFindings)> = cells.iter().map(|cell| (String::new(), cell)).collect();
        time_for_more(&cells, Took { loading: 100.0, round: 30.0 })
    };
    let noisy = cell(12, 23, WarningKind::Noisy);
    // 15 rounds of 30 s, and the data loaded anew.
    assert_eq!(time(&[noisy.clone(), cell(9, 12, WarningKind::Noisy)]).as_deref(), Some("10m"));
    // Nobody adds twice the rounds that there are, and chance is not noise.
    assert_eq!(time(&[noisy, cell(13, 25, WarningKind::Noisy)]).as_deref(), Some("10m"));
    assert_eq!(time(&[cell(13, 25, WarningKind::Noisy), cell(9, 12, WarningKind::Chance)]), None);
}
