//! The rounds in which both builds were sampled, and what a sample there stands for.
//!
//! In: the rounds that explain a campaign, as stored. Out: pairs of what was sampled, and microseconds per operation.

use crate::findings::{TestFindings, clients_per_unit};
use rqps_model::Sample;
use rqps_model::plan::Arrival;
use rqps_store::{Campaign, SampleFolder, StoreError};

/// A round in which both builds were sampled.
pub(super) struct Pair<T> {
    /// Whether clients waited for each answer, and for nothing else.
    pub(super) is_closed: bool,
    pub(super) base: T,
    pub(super) own: T,
}

/// What `read` finds in the samples of two treatments in a test, in each round in which it finds both.
pub(super) fn pairs<T>(
    profiles: &[Campaign],
    test: &TestFindings,
    names: [&str; 2],
    read: impl Fn(SampleFolder) -> Result<Option<T>, StoreError>,
) -> Result<Vec<Pair<T>>, StoreError> {
    let mut pairs = Vec::new();
    for profile in profiles {
        let is_closed = profile.plan().arrival == Arrival::Closed;
        for round in 1..=profile.rounds() {
            let of = |name: &str| sample(profile, round, name, test)?.map_or(Ok(None), &read);
            let [base, own] = names;
            pairs.extend(of(base)?.zip(of(own)?).map(|(base, own)| Pair { is_closed, base, own }));
        }
    }
    Ok(pairs)
}

/// The sample of a treatment in a round, where one was planned and has a number.
pub(super) fn sample(
    profile: &Campaign,
    round: u32,
    treatment: &str,
    test: &TestFindings,
) -> Result<Option<SampleFolder>, StoreError> {
    if !profile.plan().treatments.iter().any(|planned| planned.name == treatment) {
        return Ok(None);
    }
    let found = profile.sample(round, treatment, &test.name, test.clients)?;
    Ok(found.filter(|found| found.sample.throughput().is_some()))
}

/// Microseconds per operation of what took so many nanoseconds of the counted time.
///
/// Samples are of all of the counted time, operations of those events that began and ended in it. In a closed loop the
/// busy time is that of these events, so that what ran in the rest of the time is taken off in proportion.
pub(super) fn per_operation(
    amount: f64,
    sample: &Sample,
    counted_ns: u64,
    test: &TestFindings,
    is_closed: bool,
) -> Option<f64> {
    let Sample { score, busy_ns, clients, .. } = sample;
    let operations = score.count as f64 * score.factor * clients_per_unit(test.unit, *clients);
    let busy = match is_closed {
        true => *busy_ns as f64 / f64::from(*clients) / counted_ns as f64,
        false => 1.0,
    };
    let each = amount / operations * busy;
    (each.is_finite() && each > 0.0).then_some(each)
}
