//! Stored results → Findings: compares treatments, reaches verdicts, and says what explains them.
//!
//! In: a campaign's folder as `store` reads it, and the base to compare with. Out: [`findings::Findings`], which holds
//! everything a report says, so that `report` never queries a store. Reads no clock and touches no server; the same
//! folder and options give the same findings to the last bit.

mod advice;
mod allot;
mod compare;
pub mod digits;
mod error;
mod evidence;
mod examine;
mod field_rules;
pub mod findings;
mod literals;
pub mod private;
mod profile;
mod read;
mod sentence;
mod suite;
mod warnings;
mod why;
mod words;

pub use allot::{NextRound, allot};
pub use compare::sla::is_held;
pub use error::AnalysisError;
pub use evidence::counts::title as count_title;
pub use profile::{SampledStack, SampledStacks, sampled_stacks};
pub use read::round_seconds::round_seconds;

use crate::advice::Kind;
use crate::compare::measures::MeasureRows;
use crate::compare::row::Row;
use crate::compare::statement_times::StatementRow;
use crate::compare::{aa_pairs, crossing, floor, groups, judge, measures, planted, statement_times};
use crate::evidence::{cpu_events, forced, semantic_settings, series, touching};
use crate::examine::{Examined, Shared, examine_all};
use crate::findings::{
    CampaignFacts, Findings, KeptNoise, SettingFindings, TestFindings, TreatmentFindings, Warning, peer,
};
use crate::read::looks::LevelsOfTests;
use crate::read::{base, looks, treatment};
use crate::warnings::campaign::{Took, Trace};
use rayon::prelude::*;
use rqps_model::Plan;
use rqps_model::plan::{Arrival, Round, TestPlan};
use rqps_stats::Margin;
use rqps_store::{Campaign, Status};

/// Judges a campaign: all that a report can say about it, relative to `base` or else to the plan's own.
pub fn analyse(campaign: &Campaign, base: Option<&str>) -> Result<Findings, AnalysisError> {
    analyse_looked_at(campaign, base, campaign.status())
}

/// The same, with intervals as if it had been looked at as this status says.
fn analyse_looked_at(campaign: &Campaign, base: Option<&str>, status: &Status) -> Result<Findings, AnalysisError> {
    let plan = campaign.plan();
    let margin = Margin::new(plan.margin)?;
    let mut treatments = treatment::treatments(campaign)?;
    let builds: Vec<_> = treatments.iter().map(|treatment| &treatment.build).collect();
    let base = base::choose(plan, &builds, base)?;
    treatment::relate_to_base(plan, &mut treatments, base);

    let pairs = aa_pairs::pairs(plan, &treatments);
    let planted = planted::treatments(plan);
    let keys = published_order(plan);
    let series = keys.len() * plan.treatments.len() * campaign.rounds() as usize;
    let points = series::points_allowed(series * if plan.is_chain() { series::SERIES_OF_A_TIMELINE } else { 1 });
    let begun = looks::rounds(campaign)?;
    let tests = plan.tests();
    let levels = LevelsOfTests::of(&begun, status, tests.iter().map(|test| test.name.as_str()));
    let shared = Shared {
        campaign,
        plan,
        rounds: &begun,
        levels: &levels,
        base,
        treatments: &treatments,
        pairs: &pairs,
        planted: &planted,
        points,
        margin,
    };
    let examined = examine_all(shared, &keys)?;
    let forced = forced::forced(
        plan,
        examined.iter().map(|examined| (examined.findings.name.as_str(), &examined.statements[..])),
    );
    let other_load: Vec<Option<f64>> = examined.iter().map(|examined| examined.other_load).collect();
    let events_refused = cpu_events::together(examined.iter().flat_map(|examined| &examined.events_refused));
    let All { mut tests, rows, measure_rows, statement_rows, traces } = All::of(examined);
    judge_tests(&mut tests, &rows, base, margin);
    // At a rate time is no cost; in a chain inserts and deletes run beside each other, and beside queries.
    let has_shares = plan.arrival == Arrival::Closed && !plan.is_chain();
    let is_twin = |at: usize| pairs.contains(&(base, at)) || pairs.contains(&(at, base));
    let twins: Vec<usize> = (0..treatments.len()).filter(|&at| is_twin(at)).collect();
    let kind = |at: usize| (treatments[at].build.engine, treatments[at].storage);
    let alike: Vec<bool> = (0..treatments.len()).map(|at| kind(at) == kind(base)).collect();
    let dialect = literals::dialect(treatments[base].build.engine);
    let has_plans_of_base: Vec<bool> = (0..treatments.len()).map(|at| peer(&treatments, base, at) == base).collect();
    let context =
        why::Context { base, dialect, has_shares, twins: &twins, alike: &alike, has_plans_of_base: &has_plans_of_base };
    let found = statement_times::judged(&statement_rows, treatments.len(), base, margin);
    for (test, cells) in tests.iter_mut().zip(found) {
        test.cells.iter_mut().zip(cells).for_each(|(cell, found)| cell.statement_times = found);
    }
    let found = measures::judged(&measure_rows, treatments.len(), base, margin);
    for (test, cells) in tests.iter_mut().zip(found) {
        test.cells.iter_mut().zip(cells).for_each(|(cell, found)| cell.measures = found);
    }
    explain(campaign, &mut tests, base)?;
    for test in &mut tests {
        for at in 0..treatments.len() {
            why::add_shares(test, at, context);
            test.cells[at].causes = why::causes(test, at, context);
            test.cells[at].settings = settings_that_touch(plan, &treatments[at], test, at, alike[at]);
        }
    }
    (0..treatments.len()).filter(|at| *at != base).for_each(|at| field_rules::add(&mut tests, at));
    let groups = groups::groups(&tests, &rows, &plan.clients(), base, margin);

    let crossings = crossing::crossings(&tests);
    planted.iter().filter(|at| **at != base).for_each(|at| planted::add_side_costs(&mut tests, *at));
    let planted_findings = planted::summary(plan, &tests, &pairs, base);

    let noun = plan.suite.noun();
    for at in 0..treatments.len() {
        treatments[at].counts = sentence::counts(&tests, at);
        if at != base {
            let is_pair = pairs.iter().any(|&pair| pair == (at, base) || pair == (base, at));
            let kind = match planted.contains(&at) {
                true => " (with a planted change)",
                false if is_pair => " (the same build)",
                false => "",
            };
            treatments[at].sentence =
                sentence::sentence(&treatments, at, base, &tests, margin.fraction(), (noun, kind));
        }
    }
    let side_by_side = semantic_settings::side_by_side(&treatments);
    let planned = samples_planned(campaign, &begun);
    let rounds_complete = rounds_complete(&planned, &traces);
    let gates: Vec<_> = (0..pairs.len()).map(|pair| aa_pairs::gate(pair, &rows, margin)).collect();
    let mut warnings: Vec<Warning> = warnings::campaign::gates(&treatments, &pairs, &gates);
    warnings.extend(warnings::campaign::rounds(plan, &traces, (rounds_complete, &planned), campaign.status()));
    warnings.extend(warnings::campaign::host(campaign.host()));
    warnings.extend(warnings::campaign::events_refused(&events_refused));
    warnings.extend(warnings::campaign::other_load(noun, &tests, &other_load));
    let labels: Vec<&str> = (0..treatments.len()).map(|at| treatment::label(&treatments, at)).collect();
    warnings.extend(warnings::campaign::continued(plan, &tests, &labels));
    let mut loads = Vec::new();
    for treatment in &treatments {
        loads.extend(campaign.load(&treatment.name)?.map(|load| (treatment.name.as_str(), load)));
    }
    warnings.extend(warnings::campaign::left_out(loads));
    warnings.extend(warnings::campaign::summary(&tests, &labels, Took::of(campaign, begun.len())));
    Ok(Findings {
        format: rqps_model::FORMAT,
        campaign: campaign_facts(campaign, margin, rounds_complete, floor::kept_noise(&rows))?,
        host: campaign.host().clone(),
        checkup: campaign.status().starts.iter().find_map(|start| start.checkup.clone()),
        base,
        treatments,
        tests,
        groups,
        planted: planted_findings,
        crossings,
        forced,
        side_by_side,
        warnings,
    })
}

/// Tests as published: by group, place in it, and number of clients. Where each begins with what the one before left,
/// they stay in the order in which they ran.
fn published_order(plan: &Plan) -> Vec<(usize, u32)> {
    let (tests, clients) = (plan.tests(), plan.clients());
    let mut order: Vec<usize> = (0..tests.len()).collect();
    if !plan.is_chain() {
        order.sort_by_key(|&at| (tests[at].group, tests[at].rank, at));
    }
    order.iter().flat_map(|&test| clients.iter().map(move |&clients| (test, clients))).collect()
}

/// What was examined of all tests.
#[derive(Default)]
struct All {
    tests: Vec<TestFindings>,
    rows: Vec<Row>,
    measure_rows: Vec<MeasureRows>,
    statement_rows: Vec<Vec<StatementRow>>,
    traces: Vec<Trace>,
}

impl All {
    fn of(examined: Vec<Examined>) -> All {
        let mut all = All::default();
        for Examined { findings, row, measure_rows, statement_rows, traces, .. } in examined {
            all.tests.push(findings);
            all.rows.push(row);
            all.measure_rows.push(measure_rows);
            all.statement_rows.push(statement_rows);
            all.traces.extend(traces);
        }
        all
    }
}

fn judge_tests(tests: &mut [TestFindings], rows: &[Row], base: usize, margin: Margin) {
    for (test, comparisons) in tests.iter_mut().zip(judge::compare(rows, base, margin)) {
        let kind = Kind::of(test);
        for (cell, comparison) in test.cells.iter_mut().zip(comparisons) {
            if let Some(comparison) = &comparison {
                cell.warnings.extend(warnings::judged::judged(comparison, kind, margin.fraction()));
            }
            cell.comparison = comparison;
        }
    }
}

/// The settings that may be behind the change of a test, where it changed; others than the base's engine have others.
fn settings_that_touch(
    plan: &Plan,
    treatment: &TreatmentFindings,
    test: &TestFindings,
    at: usize,
    is_alike: bool,
) -> Vec<SettingFindings> {
    let comparison = test.cells[at].comparison.as_ref();
    let is_changed = comparison.is_some_and(|one| one.verdict.is_change());
    if !is_changed || !is_alike {
        return Vec::new();
    }
    let writes = plan.tests().iter().any(|planned| planned.name == test.name && planned.writes);
    touching::touching(test, at, writes, &treatment.settings_diff)
}

/// Fills in what rounds that explain the campaign say.
fn explain(campaign: &Campaign, tests: &mut [TestFindings], base: usize) -> Result<(), AnalysisError> {
    let profiles = profile::open(campaign)?;
    if profiles.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = campaign.plan().treatments.iter().map(|treatment| treatment.name.as_str()).collect();
    let found: Vec<_> =
        tests.par_iter().map(|test| profile::explained(&profiles, test, &names, base)).collect::<Result<_, _>>()?;
    for (test, found) in tests.iter_mut().zip(found) {
        for (cell, found) in test.cells.iter_mut().zip(found) {
            (cell.profile, cell.waits) = (found.profile, found.waits);
            (cell.blocked, cell.syscalls) = (found.blocked, found.syscalls);
            cell.statement_work = found.statement_work;
            cell.not_sampled = found.not_sampled;
        }
    }
    Ok(())
}

/// Rounds of which every cell was measured, with or without success.
fn rounds_complete(planned: &[usize], traces: &[Trace]) -> u32 {
    let measured = |round: u32| traces.iter().filter(|trace| trace.round == round).count();
    planned.iter().zip(1..).filter(|(planned, round)| measured(*round) == **planned).count() as u32
}

/// How many samples each round has, or is to have.
fn samples_planned(campaign: &Campaign, begun: &[Round]) -> Vec<usize> {
    let plan = campaign.plan();
    let of_tests = |tests: usize| tests * plan.treatments.len() * plan.clients().len();
    let of_round = |round: Option<&Round>| {
        let is_measured = |test: &&TestPlan| round.is_none_or(|round| round.measures(&test.name));
        of_tests(plan.tests().into_iter().filter(is_measured).count())
    };
    (0..campaign.rounds() as usize).map(|at| of_round(begun.get(at))).collect()
}

fn campaign_facts(
    campaign: &Campaign,
    margin: Margin,
    rounds_complete: u32,
    kept_noise: Option<KeptNoise>,
) -> Result<CampaignFacts, AnalysisError> {
    let (plan, status) = (campaign.plan(), campaign.status());
    let first = status.starts.first();
    Ok(CampaignFacts {
        name: plan.name.clone(),
        suite: plan.suite.clone(),
        started_at: status.started_at().to_owned(),
        finished_at: status.finished_at.clone(),
        command_line: first.map_or_else(Vec::new, |start| start.command_line.clone()),
        campaign_toml: campaign.campaign_toml()?,
        rqps_version: first.map_or_else(String::new, |start| start.rqps_version.clone()),
        seed: plan.seed,
        rounds_planned: campaign.rounds(),
        time_seconds: plan.time.map(|time| time.seconds),
        is_divided: plan.division().is_some(),
        rounds_complete,
        is_in_order: plan.is_chain(),
        clients: plan.clients(),
        slice_ms: plan.slice_ms,
        why_one_by_one: plan.why_one_by_one.clone(),
        why_continued: plan.why_continued.clone(),
        aged: plan.stages.iter().find_map(|stage| stage.aged.clone()),
        round_seconds: round_seconds(&campaign.events().unwrap_or_default()),
        kept_noise,
        margin: margin.fraction(),
        placement: plan.placement,
        arrival: plan.arrival,
    })
}
