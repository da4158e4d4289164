//! Where each file of a campaign lies: the one place that knows these names of docs/results-format.md, but for the
//! parts of a sample, which their makers name (`model::part`).
//!
//! In: a campaign's folder and the names of cells. Out: paths. A name that could leave its folder, or hide in it, is
//! refused here, whoever made it.

use crate::error::StoreError;
use std::path::{Path, PathBuf};

pub(crate) const CAMPAIGN: &str = "campaign.toml";
pub(crate) const PLAN: &str = "plan.json";
pub(crate) const HOSTS: &str = "hosts";
pub(crate) const STATUS: &str = "status.json";
pub(crate) const TREATMENTS: &str = "treatments";
pub(crate) const ROUNDS: &str = "rounds";
pub(crate) const ROUND: &str = "round.json";
pub(crate) const EVENTS: &str = "events.jsonl";
pub(crate) const PROFILES: &str = "profiles";

pub(crate) const BUILD: &str = "build.json";
pub(crate) const SETTINGS: &str = "settings.json";
pub(crate) const LOAD: &str = "load.json";
pub(crate) const PLANS: &str = "plans";
pub(crate) const SERVER_LOG: &str = "server.log";

pub(crate) const SAMPLE: &str = "sample.json";
pub(crate) const MANIFEST: &str = "manifest.json";

/// What the campaign itself is made of; nothing derived may take these places.
const RAW: [&str; 8] = [CAMPAIGN, PLAN, HOSTS, STATUS, EVENTS, PROFILES, TREATMENTS, ROUNDS];

/// Longer names do not leave room for the part prefix within the 255 bytes of a file name.
const NAME_BYTES_MAX: usize = 200;

/// Refuses a name that is not plain.
pub(crate) fn check_name(name: &str, what: &'static str) -> Result<(), StoreError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '=' | ',' | '+');
    let good = name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(plain);
    if good && name.len() <= NAME_BYTES_MAX {
        return Ok(());
    }
    Err(StoreError::Name { name: name.to_owned(), what })
}

/// The facts of a machine.
pub(crate) fn host_file(campaign: &Path, id: &str) -> Result<PathBuf, StoreError> {
    check_name(id, "a host")?;
    Ok(campaign.join(HOSTS).join(format!("{id}.json")))
}

/// One file of a treatment.
pub(crate) fn treatment_file(campaign: &Path, treatment: &str, file: &str) -> Result<PathBuf, StoreError> {
    check_name(treatment, "a treatment")?;
    Ok(campaign.join(TREATMENTS).join(treatment).join(file))
}

/// The plans of a test's statements on a treatment.
pub(crate) fn plans_file(campaign: &Path, treatment: &str, test: &str) -> Result<PathBuf, StoreError> {
    check_name(test, "a test")?;
    Ok(treatment_file(campaign, treatment, PLANS)?.join(format!("{test}.json")))
}

/// The folder that holds the rounds that explain a campaign, each time in a results folder of its own.
pub(crate) fn profiles_folder(campaign: &Path) -> PathBuf {
    campaign.join(PROFILES)
}

/// How a round went as a whole.
pub(crate) fn round_file(campaign: &Path, round: u32) -> PathBuf {
    campaign.join(ROUNDS).join(round.to_string()).join(ROUND)
}

/// The folder of one sample.
pub(crate) fn sample_folder(
    campaign: &Path,
    round: u32,
    treatment: &str,
    suite: &str,
    test: &str,
    clients: u32,
) -> Result<PathBuf, StoreError> {
    check_name(treatment, "a treatment")?;
    check_name(suite, "a suite")?;
    check_name(test, "a test")?;
    let round = campaign.join(ROUNDS).join(round.to_string());
    Ok(round.join(treatment).join(suite).join(format!("{test}.c{clients}")))
}

/// The place of something derived from the results, such as `report.html` or `tables/qps.rel.tsv`.
pub(crate) fn derived_file(campaign: &Path, name: &str) -> Result<PathBuf, StoreError> {
    let what = "a derived file";
    name.split('/').try_for_each(|part| check_name(part, what))?;
    if RAW.iter().any(|raw| name.split('/').next() == Some(raw)) {
        return Err(StoreError::Name { name: name.to_owned(), what });
    }
    Ok(campaign.join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_leave_their_folder_are_refused() {
        let campaign = Path::new("/r/c");
        for name in ["", ".", "..", "../x", "/etc/passwd", ".hidden", "a b", "a\0", "ü", &"x".repeat(201)] {
            assert!(sample_folder(campaign, 1, name, "sysbench", "scan", 1).is_err(), "{name:?}");
            assert!(sample_folder(campaign, 1, "t", "sysbench", name, 1).is_err(), "{name:?}");
            assert!(plans_file(campaign, "t", name).is_err(), "{name:?}");
        }
        for name in
            ["plan.json", "rounds/1/x", "treatments/t/build.json", "a//b", "tables/../plan.json", "/report.html"]
        {
            assert!(derived_file(campaign, name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn places_are_as_documented() {
        let campaign = Path::new("c");
        let sample = sample_folder(campaign, 3, "pg1711.x10a_c2r24", "sysbench", "random-points_range=100", 16);
        let expected = "c/rounds/3/pg1711.x10a_c2r24/sysbench/random-points_range=100.c16";
        assert_eq!(sample.expect("a place"), Path::new(expected));
        assert_eq!(plans_file(campaign, "t", "scan").expect("a place"), Path::new("c/treatments/t/plans/scan.json"));
        assert_eq!(derived_file(campaign, "tables/qps.tsv").expect("a place"), Path::new("c/tables/qps.tsv"));
    }
}
