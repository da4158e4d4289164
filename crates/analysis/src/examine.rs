//! One test at one number of clients: its samples of all treatments and rounds → everything but verdicts.
//!
//! In: the campaign's folder and what all tests share. Out: [`Examined`]: findings without comparisons, the row that
//! the judge works on, and a trace of each sample. Tests are examined side by side on all CPUs; histograms and seconds
//! are dropped as soon as they are summarised, so that a campaign of any size fits in memory.

use crate::compare::measures::{MeasureRows, RoundMeasures};
use crate::compare::round::{RoundRatio, ratio_of_round};
use crate::compare::row::{Pairing, Row};
use crate::compare::statement_times::{StatementRow, Statements};
use crate::compare::{inside, measures, open_loop, planted, sla, statement_times};
use crate::evidence::cpu_events::{self, RefusedEvents};
use crate::evidence::{
    answers, cost, counters, latency, other_load, plan_structure, response, series, speeds, timeline, work,
};
use crate::findings::{
    AnswerFindings, CellFindings, ContinuedFindings, PlanFindings, TestFindings, TreatmentFindings, clients_per_unit,
    peer,
};
use crate::read::looks::LevelsOfTests;
use crate::read::measured::Measured;
use crate::read::treatment::label;
use crate::suite;
use crate::warnings::campaign::Trace;
use crate::warnings::cell::Cell;
use crate::warnings::observed::{idles_differently, observed};
use rayon::prelude::*;
use rqps_model::facts::StatementPlan;
use rqps_model::plan::{Arrival, DataSet, Round, Stage, TestPlan};
use rqps_model::sample::ErrorCount;
use rqps_model::{Engine, Plan};
use rqps_stats::{Kept, Margin};
use rqps_store::{Campaign, StoreError};
use std::collections::BTreeMap;

/// What all tests of a campaign share.
#[derive(Clone, Copy)]
pub(crate) struct Shared<'a> {
    pub(crate) campaign: &'a Campaign,
    pub(crate) plan: &'a Plan,
    /// The rounds that began.
    pub(crate) rounds: &'a [Round],
    /// The levels of their tests' intervals.
    pub(crate) levels: &'a LevelsOfTests,
    pub(crate) base: usize,
    pub(crate) treatments: &'a [TreatmentFindings],
    /// A/A pairs.
    pub(crate) pairs: &'a [(usize, usize)],
    /// Treatments in which a change was planted.
    pub(crate) planted: &'a [usize],
    /// Most points of a series.
    pub(crate) points: usize,
    pub(crate) margin: Margin,
}

/// One test, before it is judged.
pub(crate) struct Examined {
    pub(crate) findings: TestFindings,
    /// The statements as each treatment prepared them, without their plans; only where several engines are compared.
    pub(crate) statements: Vec<(Engine, Vec<StatementPlan>)>,
    pub(crate) row: Row,
    pub(crate) measure_rows: MeasureRows,
    pub(crate) statement_rows: Vec<StatementRow>,
    pub(crate) traces: Vec<Trace>,
    /// The share of the CPUs that other programs used, where it is known.
    pub(crate) other_load: Option<f64>,
    /// What the CPU was to count and did not.
    pub(crate) events_refused: RefusedEvents,
}

/// Examines tests, given as index into the plan and clients; the answer keeps their order.
pub(crate) fn examine_all(shared: Shared<'_>, keys: &[(usize, u32)]) -> Result<Vec<Examined>, StoreError> {
    keys.par_iter().map(|&(test, clients)| examine(shared, test, clients)).collect()
}

/// One treatment's samples by round, and what was computed from them while they were whole.
struct Arm {
    rounds: Vec<Option<Measured>>,
    /// What else each round tells, by round.
    measures: Vec<Option<RoundMeasures>>,
    /// How long its statements took, by round.
    took: Vec<Option<Statements>>,
    cell: CellFindings,
    /// Counters per thousand statements.
    counters: BTreeMap<String, f64>,
    /// The plans of its first round with a number.
    plans: Vec<StatementPlan>,
    /// Those kept for the test and treatment, from whichever sample was the first: their statements are those of all.
    kept: Vec<StatementPlan>,
}

fn examine(shared: Shared<'_>, test: usize, clients: u32) -> Result<Examined, StoreError> {
    let planned = shared.plan.tests()[test];
    let indices = 0..shared.plan.treatments.len();
    let mut arms: Vec<Arm> = indices.map(|at| read_arm(shared, at, test, clients)).collect::<Result<_, _>>()?;
    let ratios: Vec<Vec<RoundRatio>> = (0..arms.len())
        .map(|at| if at == shared.base { Vec::new() } else { ratios_of(&arms[at].rounds, &arms[shared.base].rounds) })
        .collect();
    let misses: Vec<Option<String>> =
        arms.iter().enumerate().map(|(at, arm)| sla::missed(label(shared.treatments, at), &arm.rounds)).collect();
    let at_rate: Vec<bool> = arms
        .iter()
        .map(|arm| shared.plan.arrival != Arrival::Closed && open_loop::kept_up(&arm.rounds, shared.margin))
        .collect();
    let of_pair = |&(a, b): &(usize, usize)| {
        let is_like = misses[a].is_none() && misses[b].is_none() && !(at_rate[a] && at_rate[b]);
        ((a, b), if is_like { ratios_of(&arms[b].rounds, &arms[a].rounds) } else { Vec::new() })
    };
    let pairs = shared.pairs.iter().map(of_pair).collect();
    let measured: Vec<_> = arms.iter_mut().map(|arm| std::mem::take(&mut arm.measures)).collect();
    let looking = shared.levels.of_test(&planned.name);
    let kind = |at: usize| (shared.treatments[at].build.engine, shared.treatments[at].storage);
    let alike: Vec<bool> = (0..arms.len()).map(|at| kind(at) == kind(shared.base)).collect();
    let pairing = Pairing { base: shared.base, pairs: shared.pairs, planted: shared.planted, missed: &misses, looking };
    let measure_rows = measures::rows(&measured, &alike, pairing);
    let took: Vec<_> = arms.iter_mut().map(|arm| std::mem::take(&mut arm.took)).collect();
    let statement_rows = statement_times::rows(&took, pairing);
    let held_back = open_loop::held_back(sla::held_back(&misses, shared.base), &at_rate, shared.base);
    let held_back = compare_answers(shared, &mut arms, held_back);
    fill_inside(&mut arms, shared.base, &ratios, &held_back);
    fill_planted(shared, &mut arms);
    let interleave = arms.iter().flat_map(|arm| arm.rounds.iter().flatten()).next().map(|m| m.sample.interleave);
    let other_load = other_load::share(arms.iter().flat_map(|arm| arm.rounds.iter().flatten()));
    let events_refused = cpu_events::refused(arms.iter().flat_map(|arm| arm.rounds.iter().flatten()));
    let statements = statements(&arms, shared.base);
    let traces = arms.iter().enumerate().flat_map(|(at, arm)| traces(arm, at, test)).collect();
    relate_to_base(shared, &planned.name, &mut arms, &ratios);
    let engine = |at: usize| shared.treatments[at].build.engine;
    let several = (0..arms.len()).any(|at| engine(at) != engine(0));
    let of_engine = |(at, arm): (usize, &mut Arm)| {
        let plans = std::mem::take(&mut arm.kept);
        (engine(at), plans.into_iter().map(|plan| StatementPlan { plan: String::new(), ..plan }).collect())
    };
    let prepared = arms.iter_mut().enumerate().filter(|_| several).map(of_engine).collect();
    let findings = TestFindings {
        name: planned.name.clone(),
        label: planned.label.clone(),
        group: planned.group,
        unit: planned.unit,
        clients,
        interleave: interleave.unwrap_or(planned.interleave),
        statements,
        cells: arms.into_iter().map(|arm| arm.cell).collect(),
    };
    let kept = kept_of(shared.plan, &planned.name, clients);
    let row = Row { cells: ratios, pairs, held_back, looking, planted: shared.planted.to_vec(), kept };
    Ok(Examined {
        findings,
        statements: prepared,
        row,
        measure_rows,
        statement_rows,
        traces,
        other_load,
        events_refused,
    })
}

/// What this host had shown of a test's noise before the campaign began.
fn kept_of(plan: &Plan, test: &str, clients: u32) -> Option<Kept> {
    let found = plan.kept_floors.iter().find(|floor| floor.test == test && floor.clients == clients)?;
    Some(Kept::of_rounds(found.sd, found.slice_se, found.rounds))
}

fn read_arm(shared: Shared<'_>, treatment: usize, test: usize, clients: u32) -> Result<Arm, StoreError> {
    let planned = shared.plan.tests()[test];
    let (unit, test, writes) = (planned.unit, &planned.name, planned.writes);
    let name = &shared.plan.treatments[treatment].name;
    let kept = shared.campaign.plans(name, test)?.unwrap_or_default();
    let read = |round: u32| Measured::read(shared.campaign, round, name, test, clients, &kept);
    let mut rounds: Vec<Option<Measured>> = (1..=shared.campaign.rounds()).map(read).collect::<Result<_, _>>()?;
    let throughput_by_round: Vec<Option<f64>> =
        rounds.iter().map(|measured| measured.as_ref()?.sample.throughput()).collect();
    let logs: Vec<f64> = throughput_by_round.iter().flatten().map(|throughput| throughput.ln()).collect();
    let throughput = (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp());
    let present = || rounds.iter().flatten();
    let transactions = suite::transactions(shared.plan, &rounds);
    let mut latency = latency::latency(present());
    if let Some(found) = &transactions {
        // Whole transactions come before their statements.
        let place = |kind: &str| found.types.iter().position(|one| one.name == kind).unwrap_or(usize::MAX);
        latency.sort_by_key(|found| place(&found.kind));
    }
    let cell = CellFindings {
        rounds: logs.len() as u32,
        throughput,
        throughput_by_round,
        comparison: None,
        planted: None,
        causes: Vec::new(),
        rules: Vec::new(),
        settings: Vec::new(),
        work: work::work(&rounds, clients_per_unit(unit, clients)),
        profile: None,
        waits: None,
        blocked: None,
        syscalls: None,
        statement_work: None,
        not_sampled: Vec::new(),
        cost: cost::cost(
            present(),
            throughput.map(|throughput| throughput / unit.seconds()),
            clients_per_unit(unit, clients),
        ),
        series: rounds
            .iter()
            .map(|m| m.as_ref().map_or_else(Vec::new, |measured| series::series(measured, shared.points)))
            .collect(),
        plans: Vec::new(),
        answers: Vec::new(),
        counters: Vec::new(),
        errors: errors(present()),
        sla: sla::sla(&rounds),
        responses: response::responses(&rounds, &latency),
        timelines: timeline::timelines(&rounds, shared.points),
        inside: None,
        columns: suite::columns(shared.plan, &rounds, throughput),
        transactions,
        continued: continued(shared.plan, test, present()),
        latency,
        statement_times: Vec::new(),
        measures: Vec::new(),
        warnings: Vec::new(),
    };
    let measures = measures::by_round(&rounds, writes);
    let took = statement_times::by_round(&rounds);
    let counters = counters::per_kilo_op(present());
    rounds.iter_mut().flatten().for_each(Measured::drop_bulk);
    let plans = rounds.iter().flatten().find(|m| m.has_number()).map_or_else(Vec::new, |first| first.plans.clone());
    Ok(Arm { rounds, measures, took, cell, counters, plans, kept })
}

/// What the data of each round took, where builds go on with them or each of the user's own grows as fast as it is.
fn continued<'m>(plan: &Plan, test: &str, rounds: impl Iterator<Item = &'m Measured>) -> Vec<ContinuedFindings> {
    let is_of = |stage: &&Stage| {
        let is_own = matches!(stage.data, DataSet::Own(_));
        let may_grow = |one: &&TestPlan| one.name == test && (stage.is_continued() || is_own && one.writes);
        stage.tests.iter().any(|one| may_grow(&one))
    };
    if !plan.stages.iter().any(|stage| is_of(&stage)) {
        return Vec::new();
    }
    let of =
        |Measured { sample, .. }: &Measured| Some(ContinuedFindings { round: sample.round, growth: sample.growth? });
    rounds.filter_map(of).collect()
}

fn ratios_of(arm: &[Option<Measured>], base: &[Option<Measured>]) -> Vec<RoundRatio> {
    arm.iter().zip(base).filter_map(|(arm, base)| ratio_of_round(arm.as_ref()?, base.as_ref()?)).collect()
}

/// Fills in the intervals from the insides of single passes, where they compare like with like.
fn fill_inside(arms: &mut [Arm], base: usize, ratios: &[Vec<RoundRatio>], held_back: &[Option<String>]) {
    for at in (0..arms.len()).filter(|&at| at != base && held_back[at].is_none()) {
        let inside = inside::inside(&arms[at].rounds, &arms[base].rounds, &ratios[at]);
        arms[at].cell.inside = inside.filter(|_| !is_uneven(&arms[at], &arms[base]));
    }
}

/// Fills in which statements answer otherwise than on the base, and holds verdicts back on those that do: a build that
/// does other work is neither faster nor slower.
fn compare_answers(shared: Shared<'_>, arms: &mut [Arm], mut held_back: Vec<Option<String>>) -> Vec<Option<String>> {
    let Some(base) = answers::of_rounds(&arms[shared.base].rounds).cloned() else { return held_back };
    let holds = suite::holds_back_other_answers(shared.plan);
    for (at, arm) in arms.iter_mut().enumerate().filter(|(at, _)| *at != shared.base) {
        let Some(own) = answers::of_rounds(&arm.rounds) else { continue };
        arm.cell.answers = answers::differences(own, &base);
        if holds && held_back[at].is_none() && arm.cell.answers.iter().any(AnswerFindings::is_difference) {
            held_back[at] = Some("other answers than the base's".to_owned());
        }
    }
    held_back
}

/// Fills in what is true of planted changes, as far as they are known: against the build that they were planted in.
fn fill_planted(shared: Shared<'_>, arms: &mut [Arm]) {
    let Shared { plan, base, pairs, .. } = shared;
    if base == plan.base || pairs.contains(&(base, plan.base)) || pairs.contains(&(plan.base, base)) {
        for &at in shared.planted.iter().filter(|&&at| at != base) {
            arms[at].cell.planted = planted::truth(&arms[at].rounds, &arms[base].rounds);
        }
    }
}

/// Whether a single round cannot compare the builds: one of them ran at two speeds, or the CPUs idled on only one.
fn is_uneven(arm: &Arm, base: &Arm) -> bool {
    let mut samples = [arm, base].into_iter().flat_map(|arm| arm.rounds.iter().flatten());
    let costs = arm.cell.cost.as_ref().zip(base.cell.cost.as_ref());
    samples.any(|measured| speeds::speeds(measured).is_some())
        || costs.is_some_and(|(own, base)| idles_differently(own, base))
}

/// Errors by statement and code over all rounds, the most frequent first.
fn errors<'a>(rounds: impl Iterator<Item = &'a Measured>) -> Vec<ErrorCount> {
    let mut sums: BTreeMap<(&str, &str), (u64, &str)> = BTreeMap::new();
    for error in rounds.flat_map(|measured| &measured.sample.errors) {
        let sum = sums.entry((&error.statement, &error.code)).or_insert((0, &error.message));
        sum.0 += error.count;
    }
    let mut errors: Vec<ErrorCount> = sums
        .into_iter()
        .map(|((statement, code), (count, message))| ErrorCount {
            statement: statement.to_owned(),
            code: code.to_owned(),
            count,
            message: message.to_owned(),
        })
        .collect();
    errors.sort_by_key(|error| std::cmp::Reverse(error.count));
    errors
}

/// Statements as the base prepared them, else as the first treatment did that kept them.
fn statements(arms: &[Arm], base: usize) -> Vec<(String, String)> {
    let first = std::iter::once(&arms[base]).chain(arms).find(|arm| !arm.kept.is_empty());
    let plans = first.map_or(&[][..], |arm| arm.kept.as_slice());
    plans.iter().map(|plan| (plan.statement.clone(), plan.sql.clone())).collect()
}

fn traces(arm: &Arm, treatment: usize, test: usize) -> impl Iterator<Item = Trace> {
    arm.rounds.iter().flatten().map(move |measured| {
        let sample = &measured.sample;
        Trace {
            round: sample.round,
            treatment,
            test,
            clients: sample.clients,
            server_start: sample.server_start.clone(),
            data_copy: sample.data_copy.clone(),
            started_at: sample.started_at.clone(),
        }
    })
}

/// Fills in what a cell has only beside the base: relative costs and warnings; and beside its peer, since engines have
/// no names in common: ranked counters, plans that differ.
fn relate_to_base(shared: Shared<'_>, test: &str, arms: &mut [Arm], ratios: &[Vec<RoundRatio>]) {
    let left_out = shared.rounds.iter().filter(|round| !round.measures(test)).map(|round| round.number);
    let left_out: Vec<u32> = left_out.collect();
    let base_cost = arms[shared.base].cell.cost.clone();
    let rounds: Vec<Vec<Option<Measured>>> = arms.iter_mut().map(|arm| std::mem::take(&mut arm.rounds)).collect();
    let another = (0..arms.len()).find(|&at| at != shared.base);
    let peers: Vec<usize> = (0..arms.len()).map(|at| peer(shared.treatments, shared.base, at)).collect();
    let counters: Vec<BTreeMap<String, f64>> = arms.iter_mut().map(|arm| std::mem::take(&mut arm.counters)).collect();
    let as_read: Vec<Vec<StatementPlan>> = arms.iter().map(|arm| arm.plans.clone()).collect();
    for ((at, arm), counters) in arms.iter_mut().enumerate().zip(counters::ranked(&counters, &peers)) {
        let peer_plans = &as_read[peers[at]];
        arm.cell.plans = plans(&arm.plans, peer_plans);
        arm.cell.counters = counters;
        if let (Some(own), Some(base)) = (&mut arm.cell.cost, &base_cost) {
            own.relative = cost::relative(own, base);
        }
        let cell = Cell {
            rounds: &rounds[at],
            base_rounds: &rounds[shared.base],
            other_rounds: if at == shared.base { another.map_or(&[], |at| &rounds[at]) } else { &rounds[shared.base] },
            left_out: &left_out,
            ratios: &ratios[at],
            is_closed: shared.plan.arrival == Arrival::Closed,
            timeout_seconds: suite::timeout_seconds(shared.plan, test),
            cost: arm.cell.cost.as_ref(),
            base_cost: base_cost.as_ref(),
            settings: &shared.treatments[at].settings,
            plans: &arm.cell.plans,
            answers: &arm.cell.answers,
        };
        arm.cell.warnings = observed(&cell);
    }
}

/// A test's plans, beside those of the peer.
fn plans(own: &[StatementPlan], peer: &[StatementPlan]) -> Vec<PlanFindings> {
    let of = |plan: &StatementPlan| {
        let peer = peer.iter().find(|peer| peer.statement == plan.statement);
        let difference = peer.and_then(|peer| plan_structure::difference(&peer.plan, &plan.plan));
        PlanFindings {
            statement: plan.statement.clone(),
            plan: plan.plan.clone(),
            differs: difference.is_some(),
            is_not_compared: !peer
                .is_some_and(|peer| [peer, plan].iter().all(|one| plan_structure::is_told(&one.plan))),
            difference,
            estimates: peer.and_then(|peer| plan_structure::estimates(&peer.plan, &plan.plan)),
            structure: plan_structure::lines(&plan.plan),
            is_generic: plan.is_generic,
        }
    };
    own.iter().map(of).collect()
}
