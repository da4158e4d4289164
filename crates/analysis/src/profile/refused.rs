//! What could not be sampled, and why.
//!
//! In: the rounds that explain a campaign. Out: [`NotSampled`].

use super::pairs::sample;
use crate::findings::{NotSampled, TestFindings};
use rqps_model::Sampling;
use rqps_store::{Campaign, StoreError};
use std::collections::BTreeMap;

/// What some of the rounds could not sample of two treatments in a test, as the last of them says why.
pub(super) fn refused(
    profiles: &[Campaign],
    test: &TestFindings,
    names: [&str; 2],
) -> Result<Vec<NotSampled>, StoreError> {
    let mut refused: BTreeMap<String, String> = BTreeMap::new();
    for profile in profiles {
        for (round, name) in (1..=profile.rounds()).flat_map(|round| names.map(|name| (round, name))) {
            refused.extend(sample(profile, round, name, test)?.map(|it| it.sample.not_sampled).unwrap_or_default());
        }
    }
    let of = |what: Sampling| Some(NotSampled { what, why: refused.remove(what.name())? });
    Ok(Sampling::ALL.into_iter().filter_map(of).collect())
}
