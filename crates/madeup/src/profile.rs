//! Made-up stacks and waits: what a server would leave whose functions and waits take a known time.

use rqps_model::profile::ProfileFacts;
use rqps_model::waits::{Doing, Found, WaitFacts, Who};
use rqps_model::{Part, part};
use rqps_store::SampleParts;

/// Microseconds of CPU time between two samples.
const PERIOD_US: f64 = 1000.0;

/// Moments at which a server is asked in a sample.
const MOMENTS: u64 = 500;

/// A stack and the true time in its innermost function.
#[derive(Debug, Clone, PartialEq)]
pub struct StackTruth {
    /// Functions from the outermost on, with `;` between them.
    pub stack: String,
    /// Microseconds per operation, by treatment.
    pub us: Vec<f64>,
}

/// Something that sessions do, and the true time in it; in what is left of an operation's time they are idle.
#[derive(Debug, Clone, PartialEq)]
pub struct WaitTruth {
    /// The server's word for it.
    pub what: String,
    /// Whether that is waiting.
    pub doing: Doing,
    /// Microseconds per operation, by treatment.
    pub us: Vec<f64>,
}

/// Adds what asking a treatment at moments would have left. `draw` as in [`add`].
pub(super) fn add_waits(
    parts: &mut SampleParts,
    truths: &[WaitTruth],
    treatment: usize,
    draw: &mut dyn FnMut(f64) -> u64,
) {
    let sample = &parts.sample;
    let operations = sample.score.count as f64 * sample.score.factor;
    let sessions = MOMENTS * u64::from(sample.clients);
    let mut found: Vec<Found> = truths
        .iter()
        .map(|truth| {
            let share = truth.us[treatment] * 1e3 * operations / sample.busy_ns as f64;
            let count = draw(share * sessions as f64);
            Found { who: Who::Session, doing: truth.doing, what: truth.what.clone(), count }
        })
        .collect();
    let count = sessions.saturating_sub(found.iter().map(|found| found.count).sum());
    found.push(Found { who: Who::Session, doing: Doing::Idle, what: "idle".to_owned(), count });
    found.push(Found {
        who: Who::Background,
        doing: Doing::Waiting,
        what: "walwriter: IO/WALSync".to_owned(),
        count: MOMENTS,
    });
    let counted_ns = sample.busy_ns / u64::from(sample.clients);
    parts.put(Part::json(part::WAITS, &WaitFacts { moments: MOMENTS, uncounted: 100, counted_ns, found }));
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
