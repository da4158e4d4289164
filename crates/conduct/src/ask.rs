//! What a server says of a test's statements before they are timed.
//!
//! In: a test on a server that is up. Out: [`Answered`], with its parts of a sample, and warnings. Plans are asked for
//! in each round: the planner may decide otherwise in another one.

use crate::ConductError;
use crate::piece::Piece;
use crate::supervise::supervised;
use rqps_model::answers::TestAnswers;
use rqps_model::facts::StatementPlan;
use rqps_model::statement_work::StatementWork;
use rqps_model::{Part, part};
use rqps_server::Server;
use rqps_store::{StoreError, Writer};

/// Answers are compared in this round: they do not change from round to round.
const FIRST_ROUND: u32 = 1;

/// What it said.
pub(crate) struct Answered {
    /// This round's plans where they differ from those kept for the treatment.
    plans: Vec<StatementPlan>,
    pub(crate) planning_us: Option<f64>,
    /// What each kind of statement makes the server do, in rounds that explain.
    statement_work: Vec<StatementWork>,
    /// What the test's statements answer, in the first round.
    answers: Option<TestAnswers>,
}

impl Answered {
    /// As parts of the sample, those in which there is something.
    pub(crate) fn parts(&self) -> Vec<Part> {
        let plans = (!self.plans.is_empty()).then(|| Part::json(part::PLANS, &self.plans));
        let work = (!self.statement_work.is_empty()).then(|| Part::json(part::STATEMENT_WORK, &self.statement_work));
        let answers = self.answers.as_ref().map(|answers| Part::json(part::ANSWERS, answers));
        [plans, work, answers].into_iter().flatten().collect()
    }
}

/// Asks the server of a treatment; warnings are of what it did not tell.
pub(crate) fn ask(
    piece: &Piece<'_>,
    server: &Server,
    name: &str,
    store: &Writer,
) -> Result<(Answered, Vec<String>), ConductError> {
    let about = |doing: &str| format!("{doing} {name}");
    let mut warnings = Vec::new();
    let plans = supervised(server, piece.bench.stop, || {
        piece.planned.plans(server.target()).map_err(ConductError::load(about("keeping the plans of")))
    });
    let mut plans = optional(plans, &mut warnings)?;
    let times = plans.iter_mut().filter_map(|plan| plan.planning_us.take());
    let planning_us = times.reduce(|sum, time| sum + time);
    let plans = kept_beside(store, name, &piece.test.name, plans)?;
    let statement_work = match piece.bench.job.plan.profiled {
        true => supervised(server, piece.bench.stop, || {
            let work = piece.planned.statement_work(server.target());
            work.map_err(ConductError::load(about("counting the work by kind of statement on")))
        }),
        false => Ok(Vec::new()),
    };
    let statement_work = optional(statement_work, &mut warnings)?;
    let answers = match piece.round.number {
        FIRST_ROUND => supervised(server, piece.bench.stop, || {
            piece.planned.answers(server.target()).map_err(ConductError::load(about("comparing the answers of")))
        })?,
        _ => None,
    };
    let answers = answers.map(|(answers, notes)| {
        warnings.extend(notes);
        answers
    });
    Ok((Answered { plans, planning_us, statement_work, answers }, warnings))
}

/// What a number is complete without, such as its plan: where it cannot be had, nothing, and a warning that says why.
fn optional<T: Default>(found: Result<T, ConductError>, warnings: &mut Vec<String>) -> Result<T, ConductError> {
    match found {
        Err(ConductError::Interrupted) => Err(ConductError::Interrupted),
        Err(error) => {
            warnings.push(error.to_string());
            Ok(T::default())
        }
        found => found,
    }
}

/// Keeps a test's plans for its treatment the first time; of later ones, those that differ in any word and so belong
/// beside the sample.
fn kept_beside(
    store: &Writer,
    treatment: &str,
    test: &str,
    plans: Vec<StatementPlan>,
) -> Result<Vec<StatementPlan>, StoreError> {
    if plans.is_empty() {
        return Ok(plans);
    }
    match store.plans(treatment, test)? {
        Some(kept) if kept == plans => Ok(Vec::new()),
        Some(_) => Ok(plans),
        None => store.write_plans(treatment, test, &plans).map(|()| Vec::new()),
    }
}
