//! What is known of a cell while its samples are in memory: what every warning about it is made from.
//!
//! In: a cell's samples, costs and plans, and the base's. Out: views of them. It warns of nothing itself.

use crate::compare::round::RoundRatio;
use crate::findings::{AnswerFindings, Cost, PlanFindings};
use crate::read::measured::Measured;
use crate::words::rounds_in_words;
use rqps_model::facts::SettingsFacts;
use rqps_model::insert::StepRecord;

/// What is known of a cell while its samples are in memory.
pub(crate) struct Cell<'a> {
    /// By round, from 1.
    pub(crate) rounds: &'a [Option<Measured>],
    /// The base's, likewise.
    pub(crate) base_rounds: &'a [Option<Measured>],
    /// Those of the treatment that it is seen beside: the base, or beside the base the first of the others.
    pub(crate) other_rounds: &'a [Option<Measured>],
    /// The rounds, from 1, that were not to measure it.
    pub(crate) left_out: &'a [u32],
    pub(crate) ratios: &'a [RoundRatio],
    /// Whether each session sends when its last answer has come.
    pub(crate) is_closed: bool,
    /// After so many seconds a statement is cancelled, where the suite says so.
    pub(crate) timeout_seconds: Option<f64>,
    pub(crate) cost: Option<&'a Cost>,
    pub(crate) base_cost: Option<&'a Cost>,
    pub(crate) settings: &'a SettingsFacts,
    pub(crate) plans: &'a [PlanFindings],
    pub(crate) answers: &'a [AnswerFindings],
}

impl Cell<'_> {
    pub(super) fn samples(&self) -> impl Iterator<Item = &Measured> {
        self.rounds.iter().flatten()
    }

    /// The rounds whose sample is so, in words; `None` where there is no such round.
    pub(super) fn rounds_where(&self, is_so: impl Fn(&Measured) -> bool) -> Option<String> {
        let mut rounds = self.samples().filter(|measured| is_so(measured)).map(|m| m.sample.round).peekable();
        rounds.peek().is_some().then(|| rounds_in_words(rounds))
    }

    /// The samples that kept a record by the second, with or without success.
    pub(super) fn recorded(&self) -> impl Iterator<Item = (&Measured, &StepRecord)> {
        self.samples().filter_map(|measured| Some((measured, measured.sample.step()?)))
    }

    /// Those of them that have a number.
    pub(super) fn recorded_with_number(&self) -> impl Iterator<Item = (&Measured, &StepRecord)> {
        self.recorded().filter(|(measured, _)| measured.has_number())
    }
}
