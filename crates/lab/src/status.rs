//! How far a campaign is: what is done, running, failed and left, and how long the rest takes.
//!
//! In: a results folder, perhaps of a campaign that another process measures. Out: [`CampaignStatus`]. It only reads:
//! it takes no lock, writes nothing and clears nothing, and what cannot be read is counted and named instead of being
//! an error.

pub mod text;

use rqps_campaign::{ROUNDS_MAX, estimate};
use rqps_model::plan::{Allotment, Alternate, Round, TestPlan, TreatmentPlan};
use rqps_model::{EventKind, Plan, RoundSeconds};
use rqps_store::{Campaign, State, StoreError};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// What a campaign is about at this moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Activity {
    /// A process measures it.
    Running,
    /// No process does, and samples are missing.
    Interrupted,
    /// All samples are there, as far as they can be measured.
    Complete,
}

/// One sample of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cell {
    /// From 1.
    pub round: u32,
    /// Its name.
    pub treatment: String,
    /// Its published name.
    pub test: String,
    /// Concurrency.
    pub clients: u32,
}

/// A sample without a number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// Which.
    #[serde(flatten)]
    pub cell: Cell,
    /// Why.
    pub why: String,
}

/// Numbers of samples; `done + failed + damaged + running + left` are those of the plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Measured.
    pub done: usize,
    /// Measured without a number; `rqps resume` tries them again.
    pub failed: usize,
    /// There, but not readable.
    pub damaged: usize,
    /// Being measured.
    pub running: usize,
    /// Not begun.
    pub left: usize,
}

impl Counts {
    /// Each with its name, in the order in which they add up.
    pub fn named(&self) -> [(&'static str, usize); 5] {
        let Counts { done, failed, damaged, running, left } = *self;
        [("done", done), ("failed", failed), ("damaged", damaged), ("running", running), ("left", left)]
    }

    /// All of the plan.
    pub fn planned(&self) -> usize {
        self.named().iter().map(|(_, count)| count).sum()
    }
}

/// How far a campaign is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CampaignStatus {
    /// Its name.
    pub name: String,
    /// Where it lies.
    pub folder: PathBuf,
    /// What it is about.
    pub state: Activity,
    /// The process that measures it.
    pub process: Option<u32>,
    /// When it was begun: UTC, RFC 3339.
    pub started_at: String,
    /// How often it was resumed.
    pub resumed: usize,
    /// When its end was reached.
    pub finished_at: Option<String>,
    /// Rounds of the plan, or that are expected to fit; none where results decide how many, until it is complete.
    pub rounds: Option<u32>,
    /// There are no more of them, where that was said and results decide.
    pub rounds_max: Option<u32>,
    /// Rounds of which every sample is there.
    pub rounds_done: u32,
    /// All samples.
    pub samples: Counts,
    /// Samples by treatment, in the order of the plan.
    pub treatments: Vec<(String, Counts)>,
    /// What is being measured; empty while servers start or data are loaded before the first sample is known to run.
    pub running: Vec<Cell>,
    /// Every sample without a number.
    pub failures: Vec<Failure>,
    /// Every sample that cannot be read.
    pub damages: Vec<Failure>,
    /// Tests of the plan.
    pub tests: usize,
    /// Those that the last round measures, where results decide which.
    pub tests_measured: Option<usize>,
    /// About how long the rest takes; none where nothing is left, or it is not known yet.
    pub seconds_left: Option<f64>,
    /// Whether it ends sooner if every test is decided.
    pub until_decided: bool,
    /// What the seconds of a round went to, in the mean; none before one was whole.
    pub round_seconds: Option<RoundSeconds>,
    /// Tests that the last round left out, since what was left of the time would hardly decide them.
    pub given_up: Vec<String>,
}

/// What the folder has of a cell.
enum Found {
    Absent,
    Done,
    Failed(String),
    Damaged(String),
}

/// A planned cell with what is known of it.
struct Known {
    cell: Cell,
    found: Found,
    /// Planned seconds, by which cells are weighed.
    planned_s: f64,
    published: Option<SystemTime>,
}

/// Reads how far a campaign is.
pub fn status(folder: &Path, now: SystemTime) -> Result<CampaignStatus, StoreError> {
    let campaign = Campaign::open(folder)?;
    let plan = campaign.plan();
    let writer = campaign.writer();
    let measured_at = writer.as_ref().map(|_| now);
    let rounds = rqps_conduct::rounds_in_all(&campaign, measured_at);
    // Where results decide how many rounds there are, those to come are not counted.
    let counted = rounds.unwrap_or_else(|| campaign.rounds_begun().max(1));
    let cells = cells(plan, &rounds_of(&campaign, counted)?).into_iter();
    let known: Vec<Known> = cells.map(|(cell, planned_s)| know(&campaign, cell, planned_s)).collect();
    let is_absent = |known: &Known| matches!(known.found, Found::Absent);
    let state = match (&writer, campaign.status().state) {
        (Some(_), _) => Activity::Running,
        (None, State::Complete) if !known.iter().any(is_absent) => Activity::Complete,
        (None, _) => Activity::Interrupted,
    };
    let running = match state {
        Activity::Running => running(&campaign, &known)?,
        Activity::Interrupted | Activity::Complete => Vec::new(),
    };
    let count = |treatment: Option<&str>| {
        let mut counts = Counts::default();
        for known in known.iter().filter(|known| treatment.is_none_or(|name| name == known.cell.treatment)) {
            *match &known.found {
                Found::Done => &mut counts.done,
                Found::Failed(_) => &mut counts.failed,
                Found::Damaged(_) => &mut counts.damaged,
                Found::Absent if running.contains(&known.cell) => &mut counts.running,
                Found::Absent => &mut counts.left,
            } += 1;
        }
        counts
    };
    let with_reason = |reason: fn(&Found) -> Option<&String>| {
        let failure = |known: &Known| {
            let why = rqps_analysis::private::told_of(&plan.suite, reason(&known.found)?);
            Some(Failure { cell: known.cell.clone(), why })
        };
        known.iter().filter_map(failure).collect()
    };
    let is_done = |round: &u32| known.iter().all(|known| known.cell.round != *round || !is_absent(known));
    let samples = count(None);
    let treatments = plan.treatments.iter().map(|one| (one.name.clone(), count(Some(&one.name)))).collect();
    let failures = with_reason(|found| if let Found::Failed(why) = found { Some(why) } else { None });
    let damages = with_reason(|found| if let Found::Damaged(why) = found { Some(why) } else { None });
    let begun = writer.as_ref().and_then(|writer| writer.since);
    let seconds_left = match state {
        Activity::Complete => None,
        Activity::Running | Activity::Interrupted => {
            let by_rounds = || rounds.and_then(|_| seconds_left(plan, &known, begun, now));
            rqps_conduct::time_left(&campaign, measured_at).or_else(by_rounds)
        }
    };
    let allotment = last_allotment(&campaign)?;
    Ok(CampaignStatus {
        name: plan.name.clone(),
        folder: folder.to_owned(),
        state,
        process: writer.map(|writer| writer.process),
        started_at: campaign.status().started_at().to_owned(),
        resumed: campaign.status().starts.len().saturating_sub(1),
        finished_at: campaign.status().finished_at.clone(),
        rounds,
        rounds_max: Some(plan.rounds_max()).filter(|most| rounds.is_none() && *most < ROUNDS_MAX),
        rounds_done: (1..=counted).filter(is_done).count() as u32,
        tests: plan.tests().len(),
        tests_measured: allotment.as_ref().map(|allotment| allotment.seconds.len()),
        seconds_left,
        until_decided: plan.division().is_some_and(|division| division.until_decided),
        round_seconds: rqps_analysis::round_seconds(&campaign.events()?),
        given_up: allotment.map(|allotment| allotment.given_up).unwrap_or_default(),
        samples,
        treatments,
        running,
        failures,
        damages,
    })
}

/// What the round that began last was to measure, where results decide that.
fn last_allotment(campaign: &Campaign) -> Result<Option<Allotment>, StoreError> {
    Ok(campaign.round(campaign.rounds_begun())?.and_then(|last| last.allotment))
}

/// The rounds that began, and those to come, which are taken to measure what the last one does.
fn rounds_of(campaign: &Campaign, rounds: u32) -> Result<Vec<Round>, StoreError> {
    let mut found: Vec<Round> = Vec::new();
    for number in 1..=rounds {
        let allotment = found.last().and_then(|last| last.allotment.clone());
        let planned = || Round { allotment, ..campaign.plan().round(number) };
        found.push(campaign.round(number)?.unwrap_or_else(planned));
    }
    Ok(found)
}

/// Every sample of these rounds with its planned seconds, in the order in which they are measured.
fn cells(plan: &Plan, rounds: &[Round]) -> Vec<(Cell, f64)> {
    let mut cells = Vec::new();
    for round in rounds {
        let plan = &plan.allotted(round);
        let mut add = |treatment: &TreatmentPlan, test: &TestPlan, clients: u32| {
            if !round.measures(&test.name) {
                return;
            }
            let (treatment, test_name) = (treatment.name.clone(), test.name.clone());
            let cell = Cell { round: round.number, treatment, test: test_name, clients };
            cells.push((cell, test.seconds + plan.warmup_seconds));
        };
        for stage in &plan.stages {
            match stage.alternate {
                Alternate::SideBySide => {
                    for test in &stage.tests {
                        for &clients in &stage.clients {
                            plan.treatments.iter().for_each(|treatment| add(treatment, test, clients));
                        }
                    }
                }
                Alternate::OneByOne => {
                    for &clients in &stage.clients {
                        for treatment in round.order.iter().map(|index| &plan.treatments[*index]) {
                            stage.tests.iter().for_each(|test| add(treatment, test, clients));
                        }
                    }
                }
            }
        }
    }
    cells
}

/// The samples of the test that began last in this run and has not ended.
fn running(campaign: &Campaign, known: &[Known]) -> Result<Vec<Cell>, StoreError> {
    let begun = campaign.status().starts.last().map_or("", |start| &start.at);
    let events = campaign.events()?;
    let mut of_this_run = events.iter().rev().take_while(|event| event.at.as_str() >= begun);
    let last = of_this_run.find(|event| !matches!(event.kind, EventKind::Warning { .. }));
    let Some(EventKind::TestBegins { place, is_recorded: true }) = last.map(|event| &event.kind) else {
        return Ok(Vec::new());
    };
    let is_measured = |known: &&Known| {
        let cell = &known.cell;
        matches!(known.found, Found::Absent)
            && (cell.round, &cell.test, cell.clients) == (place.round, &place.test, place.clients)
            && place.treatments.contains(&cell.treatment)
    };
    Ok(known.iter().filter(is_measured).map(|known| known.cell.clone()).collect())
}

fn know(campaign: &Campaign, cell: Cell, planned_s: f64) -> Known {
    let (found, published) = match campaign.sample(cell.round, &cell.treatment, &cell.test, cell.clients) {
        Ok(None) => (Found::Absent, None),
        Ok(Some(sample)) => {
            let published = campaign.published_at(cell.round, &cell.treatment, &cell.test, cell.clients);
            (sample.sample.failure.clone().map_or(Found::Done, Found::Failed), published)
        }
        Err(error) => (Found::Damaged(error.to_string()), None),
    };
    Known { cell, found, planned_s, published }
}

/// What is left takes as long as what was measured since this start, or as estimated where nothing was.
fn seconds_left(plan: &Plan, known: &[Known], begun: Option<SystemTime>, now: SystemTime) -> Option<f64> {
    let planned_s = |wanted: &dyn Fn(&Known) -> bool| -> f64 {
        known.iter().filter(|known| wanted(known)).map(|known| known.planned_s).sum()
    };
    let left_s = planned_s(&|known| matches!(known.found, Found::Absent));
    if left_s == 0.0 {
        return None;
    }
    let since = |known: &Known| begun.filter(|begun| known.published > Some(*begun));
    let last = known.iter().filter(|known| since(known).is_some()).filter_map(|known| known.published).max();
    let took = last.zip(begun).and_then(|(last, begun)| last.duration_since(begun).ok());
    Some(match took {
        Some(took) if !took.is_zero() => {
            let pace = took.as_secs_f64() / planned_s(&|known| since(known).is_some()).max(f64::EPSILON);
            let idle = last.and_then(|last| now.duration_since(last).ok()).unwrap_or_default().as_secs_f64();
            (left_s * pace - idle).max(0.0)
        }
        _ => estimate(plan).duration().as_secs_f64() * left_s / planned_s(&|_| true).max(f64::EPSILON),
    })
}

#[cfg(test)]
mod tests;
