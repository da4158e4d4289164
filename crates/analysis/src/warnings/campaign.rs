//! Warnings of the campaign as a whole: too few rounds, resumed rounds, arms that were not measured side by side.
//!
//! In: one [`Trace`] per sample, the judged tests, the A/A gates and the host. Out: warnings. It sums up what the cells
//! say, so that a front page can show it in a line.

use super::{advised, summed, warning};
use crate::advice::{self, Advice, Kind};
use crate::compare::aa_pairs::Gate;
use crate::digits::{percent, significant};
use crate::evidence::cpu_events::RefusedEvents;
use crate::findings::{CellFindings, Comparison, TestFindings, TreatmentFindings, Warning};
use crate::read::seconds_of;
use crate::words::{examples, rounds_in_words};
use rqps_model::facts::{HostFacts, LoadFacts};
use rqps_model::plan::{Alternate, Stage, TreatmentPlan};
use rqps_model::{EventKind, Plan, WarningKind, plural};
use rqps_stats::median;
use rqps_store::{Campaign, State, Status};
use std::collections::{BTreeMap, BTreeSet};

/// Below this many rounds an interval says little.
const FEWEST_ROUNDS: u32 = 3;
/// Seconds by which the samples of a round may start apart, besides what turns take.
const APART_SECONDS: f64 = 600.0;
/// Turns, warm-up and restarts together take at most this many times the counted seconds.
const TURN_OVERHEAD: f64 = 4.0;

/// From this share of the CPUs on, others than the servers and the client decide how fast things go.
const OTHER_LOAD_SHARE: f64 = 0.1;

/// Where and when one sample was made.
#[derive(Debug, Clone)]
pub(crate) struct Trace {
    pub(crate) round: u32,
    pub(crate) treatment: usize,
    /// Index into the plan's tests.
    pub(crate) test: usize,
    pub(crate) clients: u32,
    pub(crate) server_start: String,
    pub(crate) data_copy: String,
    pub(crate) started_at: String,
}

/// What the data lack that treatments loaded, for themselves and for those that read their files. What several lack is
/// told once.
pub(crate) fn left_out<'a>(loads: impl IntoIterator<Item = (&'a str, LoadFacts)>) -> Vec<Warning> {
    let mut lacking: Vec<(String, Vec<&str>)> = Vec::new();
    for (treatment, load) in loads {
        let Some(left) = load.left else { continue };
        match lacking.iter_mut().find(|(known, _)| *known == left) {
            Some((_, treatments)) => treatments.push(treatment),
            None => lacking.push((left, vec![treatment])),
        }
    }
    let told =
        |(left, treatments): (String, Vec<&str>)| format!("after loading with {}: {left}", treatments.join(", "));
    lacking.into_iter().map(|found| warning(WarningKind::LeftOut, told(found))).collect()
}

/// Warnings from how rounds were run, so many of which are complete; `samples` has how many each is to have.
pub(crate) fn rounds(
    plan: &Plan,
    traces: &[Trace],
    (complete, samples): (u32, &[usize]),
    status: &Status,
) -> Vec<Warning> {
    let planned = samples.len() as u32;
    let mut found = Vec::new();
    let one_by_one = plan.stages.iter().any(|stage| stage.alternate == Alternate::OneByOne);
    if plan.is_chain() && planned == 1 {
        let message = "one round only: a single pass of each build allows no verdict, and the \
                       seconds inside a pass do not show how passes differ";
        found.push(warning(WarningKind::FewRounds, message.to_owned()));
    } else if planned < FEWEST_ROUNDS {
        let message =
            format!("only {} planned: intervals are wide and one odd round decides", plural(planned, "round"));
        found.push(warning(WarningKind::FewRounds, message));
    }
    found.extend(incomplete(traces, (complete, samples), status));
    found.extend(resumed(traces, status, plan));
    found.extend(several_runs(status));
    // What goes one by one is never side by side, and passes begin with folders in which there is nothing to swap.
    if !one_by_one {
        found.extend(apart(plan, traces));
        found.extend(copies_not_swapped(&plan.treatments, traces));
    }
    found
}

/// What is not there: still to be measured, or lost since.
fn incomplete(traces: &[Trace], (complete, samples): (u32, &[usize]), status: &Status) -> Option<Warning> {
    let planned = samples.len() as u32;
    let rounds = format!("{complete} of {} complete", plural(planned, "round"));
    if status.state == State::Complete {
        let samples: usize = samples.iter().sum();
        let lost = samples.saturating_sub(traces.len());
        let are = if lost == 1 { "is" } else { "are" };
        let message = format!(
            "{lost} of {} {are} missing, though the campaign had finished; {rounds}",
            plural(samples, "sample")
        );
        return (lost > 0)
            .then(|| advised(WarningKind::Incomplete, message, "measure what is missing again with `rqps resume`"));
    }
    (complete < planned).then(|| warning(WarningKind::Incomplete, rounds))
}

/// A campaign that was continued later: the machine, and rqps itself, may have changed in between.
fn several_runs(status: &Status) -> Vec<Warning> {
    let mut found = Vec::new();
    if status.starts.len() > 1 {
        let begun: Vec<String> = status.starts.iter().map(|start| start.at.clone()).collect();
        let message = format!("measured in {} runs, started {}", begun.len(), begun.join(", "));
        found.push(warning(WarningKind::Epochs, message));
    }
    for start in status.starts.iter().filter(|start| !start.host_changes.is_empty()) {
        let changes: Vec<String> = start.host_changes.iter().map(ToString::to_string).collect();
        let message = format!("the host of the run that started {} is not as it was: {}", start.at, changes.join("; "));
        found.push(advised(
            WarningKind::Epochs,
            message,
            "measure again on one host; `rqps resume --strict` refuses others",
        ));
    }
    let versions: BTreeSet<&str> = status.starts.iter().map(|start| start.rqps_version.as_str()).collect();
    if versions.len() > 1 {
        let versions: Vec<&str> = versions.into_iter().collect();
        let message = format!("measured by rqps {}", versions.join(" and "));
        found.push(advised(WarningKind::Epochs, message, "measure again with one version"));
    }
    found
}

/// A round that was interrupted and resumed, or in which a server was started more than once for a stage. Where tests
/// build on each other, each number of clients has a start of its own; where servers are started for each test, that
/// has one as well.
fn resumed(traces: &[Trace], status: &Status, plan: &Plan) -> Option<Warning> {
    let is_chain = plan.is_chain();
    let is_per_test = plan.stages.iter().any(Stage::has_servers_per_test);
    let tests = plan.tests();
    let stage_of = |test: usize| {
        let is_it = |stage: &Stage| stage.tests.iter().any(|one| Some(&one.name) == tests.get(test).map(|it| &it.name));
        plan.stages.iter().position(is_it).unwrap_or(0)
    };
    let mut starts: BTreeMap<(u32, usize, usize, u32), BTreeSet<&str>> = BTreeMap::new();
    for trace in traces {
        let test = if is_per_test { trace.test } else { stage_of(trace.test) };
        let clients = if is_chain || is_per_test { trace.clients } else { 0 };
        starts.entry((trace.round, trace.treatment, test, clients)).or_default().insert(&trace.server_start);
    }
    let spans = spans(traces, |trace| trace.round);
    let continued: Vec<f64> = status.starts.iter().skip(1).filter_map(|start| seconds_of(&start.at)).collect();
    let straddling = spans.iter().filter(|(_, (first, last))| continued.iter().any(|at| first < at && at <= last));
    let restarted = starts.iter().filter(|(_, starts)| starts.len() > 1).map(|((round, ..), _)| *round);
    let rounds: BTreeSet<u32> = straddling.map(|(round, _)| *round).chain(restarted).collect();
    if rounds.is_empty() {
        return None;
    }
    let rounds = rounds_in_words(rounds);
    let message = if is_chain {
        format!("in {rounds} passes were made in more than one run")
    } else {
        format!("in {rounds} tests ran on more than one start of a server")
    };
    Some(warning(WarningKind::Resumed, message))
}

/// When the first and the last of the samples with one key began.
fn spans<K: Ord>(traces: &[Trace], key: impl Fn(&Trace) -> K) -> BTreeMap<K, (f64, f64)> {
    let mut spans = BTreeMap::new();
    for trace in traces {
        let Some(at) = seconds_of(&trace.started_at) else { continue };
        let span: &mut (f64, f64) = spans.entry(key(trace)).or_insert((at, at));
        *span = (span.0.min(at), span.1.max(at));
    }
    spans
}

/// Samples of one cell and round that were not made at the same time are no pairs.
fn apart(plan: &Plan, traces: &[Trace]) -> Option<Warning> {
    let spans = spans(traces, |trace| (trace.round, trace.test, trace.clients));
    let limit = |test: usize| {
        let turns = plan.treatments.len() as f64 * (plan.tests()[test].seconds + plan.warmup_seconds);
        APART_SECONDS + TURN_OVERHEAD * turns
    };
    let far: Vec<String> = spans
        .iter()
        .filter(|((_, test, _), (first, last))| last - first > limit(*test))
        .map(|((round, test, _), (first, last))| {
            format!("{} in round {round} by {:.1} h", plan.tests()[*test].name, (last - first) / 3600.0)
        })
        .collect();
    let message = format!("builds were not measured side by side: {}", examples(&far));
    (!far.is_empty()).then(|| warning(WarningKind::Apart, message))
}

/// Whether arms that run on copies of one master kept the same copy in all rounds. Copies are named `master#number`;
/// versions that cannot read one another's files have masters of their own, and nothing to swap.
fn copies_not_swapped(treatments: &[TreatmentPlan], traces: &[Trace]) -> Option<Warning> {
    let mut copies: BTreeMap<&str, BTreeMap<usize, BTreeSet<&str>>> = BTreeMap::new();
    let mut rounds: BTreeSet<u32> = BTreeSet::new();
    for trace in traces {
        let Some((master, number)) = trace.data_copy.rsplit_once('#') else { continue };
        copies.entry(master).or_default().entry(trace.treatment).or_default().insert(number);
        rounds.insert(trace.round);
    }
    let kept = copies.values().filter(|arms| arms.len() > 1).find(|arms| {
        let all: BTreeSet<&&str> = arms.values().flatten().collect();
        arms.values().all(|own| own.len() == 1) && all.len() == arms.len()
    })?;
    let names: Vec<String> = kept.keys().map(|&treatment| treatments[treatment].name.clone()).collect();
    let message = format!("each kept its own copy of the data in all rounds: {}", examples(&names));
    (rounds.len() > 1).then(|| warning(WarningKind::CopiesNotSwapped, message))
}

/// Builds that went on with their data: from and to what size these grew, by test and treatment.
pub(crate) fn continued(plan: &Plan, tests: &[TestFindings], labels: &[&str]) -> Option<Warning> {
    let why = plan.why_continued.as_ref()?;
    let mut sizes: BTreeMap<(&str, usize), (u64, u64)> = BTreeMap::new();
    for test in tests {
        for (at, cell) in test.cells.iter().enumerate() {
            for growth in cell.continued.iter().map(|one| one.growth) {
                let (before, after) = (growth.before.database_bytes, growth.after.database_bytes);
                let size = sizes.entry((&test.name, at)).or_insert((before, after));
                *size = (size.0.min(before), size.1.max(after));
            }
        }
    }
    let grown: Vec<String> = sizes
        .iter()
        .map(|((test, at), (from, to))| {
            let [from, to] = [from, to].map(|bytes| significant(*bytes as f64 / 1e6, 3));
            format!("{test} {} from {from} to {to} MB", labels[*at])
        })
        .collect();
    let message = format!("builds went on with their data from test to test: {why}; tables grew: {}", examples(&grown));
    Some(warning(WarningKind::Continued, message))
}

/// Warnings from A/A pairs that did not keep quiet.
pub(crate) fn gates(treatments: &[TreatmentFindings], pairs: &[(usize, usize)], gates: &[Gate]) -> Vec<Warning> {
    let violated = pairs.iter().zip(gates).filter(|(_, gate)| gate.is_violated());
    violated
        .map(|(&(a, b), gate)| {
            let message = format!(
                "{} and {} are the same and yet {} changed, and {} of {} intervals do not contain 1",
                treatments[a].name,
                treatments[b].name,
                plural(gate.changed, "test"),
                gate.excluding,
                gate.tests
            );
            warning(WarningKind::FloorViolated, message)
        })
        .collect()
}

/// Warnings from the host.
pub(crate) fn host(host: &HostFacts) -> Vec<Warning> {
    let governor = host.governor.as_deref().filter(|&governor| governor != "performance");
    let warn = |governor: &str| {
        let message = format!("the CPU frequency governor is {governor}");
        warning(WarningKind::Governor, message)
    };
    governor.map(warn).into_iter().collect()
}

/// What others used of the CPUs beside the servers and the client, by test.
pub(crate) fn other_load(noun: &str, tests: &[TestFindings], shares: &[Option<f64>]) -> Option<Warning> {
    let known: Vec<(&TestFindings, f64)> =
        tests.iter().zip(shares).filter_map(|(test, share)| Some((test, (*share)?))).collect();
    // At several numbers of clients a test was measured several times.
    let noun = if tests.iter().any(|test| test.clients != tests[0].clients) { "cell" } else { noun };
    let many = known.iter().filter(|(_, share)| *share > OTHER_LOAD_SHARE).count();
    let (test, worst) = known.iter().max_by(|a, b| a.1.total_cmp(&b.1)).filter(|_| many > 0)?;
    let message = format!(
        "other programs used up to {} of the CPUs, kernel threads included ({} c{}; more than {} in {many} of {})",
        percent(*worst),
        test.name,
        test.clients,
        percent(OTHER_LOAD_SHARE),
        plural(known.len(), noun)
    );
    Some(warning(WarningKind::ForeignLoad, message))
}

/// What the CPU was to count in servers and did not, each reason once.
pub(crate) fn events_refused(refused: &RefusedEvents) -> Vec<Warning> {
    let of = |(reason, events): (&String, &BTreeSet<String>)| {
        let events: Vec<&str> = events.iter().map(String::as_str).collect();
        warning(WarningKind::CpuEvents, format!("events of the CPU were not counted ({}): {reason}", events.join(", ")))
    };
    refused.iter().map(of).collect()
}

/// One line for each kind of warning that cells have.
pub(crate) fn summary(tests: &[TestFindings], labels: &[&str], took: Option<Took>) -> Vec<Warning> {
    let is_several = tests.iter().any(|test| test.clients != tests[0].clients);
    let cells: Vec<(String, &CellFindings)> = tests
        .iter()
        .flat_map(|test| {
            let clients = if is_several { format!(" c{}", test.clients) } else { String::new() };
            let name = move |at: usize| format!("{}{clients} {}", test.name, labels[at]);
            test.cells.iter().enumerate().map(move |(at, cell)| (name(at), cell))
        })
        .collect();
    let of_kind = |kind: WarningKind| -> Vec<String> {
        let with = cells.iter().filter(|(_, cell)| cell.warnings.iter().any(|warning| warning.kind == kind));
        with.map(|(name, _)| name.clone()).collect()
    };
    let mut found = Vec::new();
    for (kind, words) in WarningKind::ALL.iter().filter_map(|&kind| Some((kind, summed(kind)?))) {
        let names = of_kind(kind);
        if !names.is_empty() {
            let message = format!("{words} in {}: {}", plural(names.len(), "cell"), examples(&names));
            found.push(advised(kind, message, ""));
        }
    }
    let mdes: Vec<f64> = cells.iter().filter_map(|(_, cell)| cell.comparison.as_ref()?.mde).collect();
    let noisy = of_kind(WarningKind::Noisy).len();
    if let (Ok(middle), true) = (median(&mdes), noisy > 0) {
        let message = format!(
            "{noisy} of {} undecided because changes as large as the margin could not be seen (median of all: {})",
            plural(mdes.len(), "comparison"),
            percent(middle)
        );
        let of_test = |test: &TestFindings| {
            let kind = Kind::of(test);
            let noisy =
                test.cells.iter().filter(|cell| cell.warnings.iter().any(|warning| warning.kind == WarningKind::Noisy));
            noisy.filter_map(|cell| Some(Advice::of(cell.comparison.as_ref()?, kind))).collect::<Vec<_>>()
        };
        let all: Vec<Advice> = tests.iter().flat_map(of_test).collect();
        let more = took.and_then(|took| time_for_more(&cells, took));
        let more = more.map_or_else(String::new, |time| {
            format!("; added by `rqps more`, whose intervals are wider, it takes `--time {time}`")
        });
        found.push(advised(WarningKind::Noisy, message, &(advice::for_all(&all) + &more)));
    }
    found
}

/// What a campaign took that was measured in one go, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Took {
    /// From its start to its first round.
    loading: f64,
    /// A round in the mean.
    round: f64,
}

impl Took {
    pub(crate) fn of(campaign: &Campaign, rounds: usize) -> Option<Took> {
        let status = campaign.status();
        let ([start], Some(finished_at)) = (&status.starts[..], &status.finished_at) else { return None };
        let (start, end) = (seconds_of(&start.at)?, seconds_of(finished_at)?);
        let events = campaign.events().unwrap_or_default();
        let first = events.iter().find(|event| matches!(event.kind, EventKind::ServersStart { .. }));
        let first = first.map_or(Some(start), |first| seconds_of(&first.at))?;
        (rounds > 0 && end > first).then(|| Took { loading: first - start, round: (end - first) / rounds as f64 })
    }
}

/// The time that `rqps more` would take, as `--time` takes it, to load the data anew and to add the rounds that decide
/// tests which are too noisy.
fn time_for_more(cells: &[(String, &CellFindings)], Took { loading, round }: Took) -> Option<String> {
    let noisy = cells.iter().filter(|(_, cell)| cell.warnings.iter().any(|it| it.kind == WarningKind::Noisy));
    let compared = noisy.filter_map(|(_, cell)| cell.comparison.as_ref());
    let more = compared.filter_map(Comparison::more_within_reach).max()?;
    Some(format!("{:.0}m", ((loading + f64::from(more) * round) / 60.0).ceil()))
}

#[cfg(test)]
pub(crate) mod tests;
