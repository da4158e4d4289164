//! Made-up stacks: the samples that a server would leave whose functions take a known time.

use rqps_model::profile::ProfileFacts;
use rqps_model::{Part, part};
use rqps_store::SampleParts;

/// Microseconds of CPU time between two samples.
const PERIOD_US: f64 = 1000.0;

/// A stack and the true time in its innermost function.
#[derive(Debug, Clone, PartialEq)]
pub struct StackTruth {
    /// Functions from the outermost on, with `;` between them.
    pub stack: String,
    /// Microseconds per operation, by treatment.
    pub us: Vec<f64>,
}

/// Adds what sampling a treatment would have left to what a sample holds.
/// `draw` gives the number of samples where their mean is known.
pub(super) fn add(parts: &mut SampleParts, truths: &[StackTruth], treatment: usize, draw: &mut dyn FnMut(f64) -> u64) {
    let operations = parts.sample.score.count as f64 * parts.sample.score.factor;
    let mut folded = String::new();
    let mut samples = 0;
    for truth in truths {
        let count = draw(truth.us[treatment] * operations / PERIOD_US);
        if count > 0 {
            folded.push_str(&format!("{} {count}\n", truth.stack));
        }
        samples += count;
    }
    let facts = ProfileFacts {
        period_ns: (PERIOD_US * 1e3) as u64,
        samples,
        counted_ns: parts.sample.busy_ns / u64::from(parts.sample.clients),
        ..ProfileFacts::default()
    };
    let cpu_s = samples as f64 * PERIOD_US / 1e6;
    (parts.sample.resources.server.cpu_user_s, parts.sample.resources.server.cpu_system_s) = (cpu_s, 0.0);
    parts.put(Part::json(part::PROFILE, &facts));
    parts.put(Part { name: part::STACKS.to_owned(), bytes: folded.into_bytes() });
}
