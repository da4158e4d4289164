//! The mathematics of comparing two treatments, on plain slices of numbers.
//!
//! In: log ratios per round, p-values, per-second series. Out: estimates with intervals,
//! decisions, minimal detectable effects, q-values, quality checks. Nothing here reads a
//! file or a clock, draws a random number, or knows what a database is; and no crate of
//! ours is imported. Every method, its assumption, its source and its simulated error
//! rates are described in `docs/statistics.md`.
//!
//! The main path is
//!
//! ```
//! use rqps_stats::{Decision, Floor, Margin, Paired, decide};
//!
//! // log(QPS(version) / QPS(base)), one number per round
//! let rounds = Paired::new(&[-0.031, -0.027, -0.035, -0.029])?;
//! let floor = Floor::new(0.004)?;
//! let estimate = rounds.moderated(&floor).expect("four rounds have an interval");
//! assert_eq!(decide(&estimate, Margin::default()).decision, Decision::Regressed);
//! # Ok::<(), rqps_stats::Error>(())
//! ```

mod correlation;
pub mod distribution;
mod error;
mod floor;
mod group;
mod kept;
mod looks;
mod mde;
mod multiplicity;
mod noncentral_t;
mod paired;
mod pooled;
mod prior;
mod random_effects;
mod stalls;
mod summary;
mod trimmed;
mod two_runs;
mod two_speeds;
mod verdict;

pub use correlation::correlation;
pub use error::Error;
pub use floor::{DEFAULT_FLOOR_DEGREES_OF_FREEDOM, Floor, FloorEstimate, pooled_floor};
pub use group::{group, group_log_ratios};
pub use kept::{KEPT_DEGREES_OF_FREEDOM, Kept, agree};
pub use looks::{Levels, Look, Looking};
pub use mde::{DEFAULT_POWER, Mde, mde80, minimal_detectable_effect, rounds_needed, rounds_needed_in_all};
pub use multiplicity::q_values;
pub use paired::{Estimate, Paired};
pub use pooled::{Moderated, Pooled};
pub use prior::{PRIOR_DEGREES_OF_FREEDOM, Prior, Spread, USUAL_START_SPREAD};
pub use random_effects::{Effect, RandomEffects};
pub use stalls::stalls;
pub use summary::{mean, median, quantile, sample_variance};
pub use trimmed::{DEFAULT_TRIM, TrimmedMean, trimmed_mean};
pub use two_runs::{TwoRuns, two_runs};
pub use two_speeds::{TwoSpeeds, two_speeds};
pub use verdict::{DEFAULT_FALSE_DISCOVERY_RATE, Decision, Judgement, Margin, decide};
