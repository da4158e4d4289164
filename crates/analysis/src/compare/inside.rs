//! What the seconds of a single pass of each build say about their ratio, where there is no second round.
//!
//! In: the one round that both sides have. Out: an interval around its ratio, from pieces of the two runs' own time
//! (`stats::two_runs`). It knows nothing of how one pass differs from the next, so it stands beside a verdict that
//! stays undecided.

use crate::compare::round::RoundRatio;
use crate::findings::InsideFindings;
use crate::read::main_operation::Main;
use crate::read::measured::Measured;
use rqps_model::sample::per_second;
use rqps_stats::two_runs;

/// The interval inside the only round of a comparison; `None` where there are more, or it has too few seconds.
pub(crate) fn inside(
    own: &[Option<Measured>],
    base: &[Option<Measured>],
    ratios: &[RoundRatio],
) -> Option<InsideFindings> {
    let [ratio] = ratios else { return None };
    let of = |rounds: &[Option<Measured>]| -> Option<Vec<f64>> {
        let measured = rounds.iter().flatten().find(|measured| measured.sample.round == ratio.round)?;
        match measured.sample.step() {
            Some(record) => Some(per_second(&measured.seconds, record.seconds, Main::of(record).by_second()?)),
            // Whole runs are compared, as those of a step are.
            None if measured.sample.transactions().is_some() => {
                Some(per_second(&measured.seconds, measured.sample.seconds, |row| row.operations))
            }
            None => None,
        }
    };
    let found = two_runs(&of(own)?, &of(base)?).ok()?;
    // Around the ratio of the whole runs, the one that is shown: pieces leave out what is left of the last second.
    let end = |half: f64| (ratio.log_ratio + half).exp();
    Some(InsideFindings { low: end(-found.half95), high: end(found.half95), pieces: found.pieces as u32 })
}

#[cfg(test)]
mod tests;
