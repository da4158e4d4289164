//! The last checkup of this machine, kept for the campaigns after it.
//!
//! In: a checkup. Out: a file in the user's state folder, and what a campaign takes along of it. The machine of another
//! boot may be another one, so that a checkup counts until the next boot only.

use super::checkup::Checkup;
use super::finding::Finding;
use anyhow::{Context, Result};
use rqps_machine::user_files::{state_folder, write_whole};
use rqps_model::checkup::{HostCheckup, HostFinding};
use rqps_observe::clock::rfc3339;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// What the file holds.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    boot_id: String,
    checkup: HostCheckup,
}

/// Keeps a checkup that was just made, in the place of the one before.
pub fn keep(checkup: &Checkup) -> Result<()> {
    let finding = |Finding { about, level, found, .. }: Finding| HostFinding { about: about.to_owned(), level, found };
    let findings = checkup.findings().into_iter().map(finding).collect();
    let told = HostCheckup { at: rfc3339(SystemTime::now()), findings };
    let kept = Kept { boot_id: checkup.host.boot_id.clone(), checkup: told };
    let file = file();
    write_whole(&file, &serde_json::to_vec_pretty(&kept)?)
        .with_context(|| format!("writing {} (RQPS_STATE names another folder)", file.display()))
}

/// The last checkup that was made in this boot.
pub fn in_boot(boot_id: &str) -> Option<HostCheckup> {
    read(&file(), boot_id)
}

fn file() -> PathBuf {
    state_folder().join("doctor.json")
}

/// A file that is absent or damaged tells nothing: the next checkup writes it anew.
fn read(file: &Path, boot_id: &str) -> Option<HostCheckup> {
    let kept: Kept = serde_json::from_slice(&std::fs::read(file).ok()?).ok()?;
    (kept.boot_id == boot_id).then_some(kept.checkup)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_was_found_counts_until_the_next_boot() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("doctor.json");
        assert_eq!(read(&file, "this"), None);
        let told = HostCheckup { at: "2026-11-28T09:10:00Z".to_owned(), findings: Vec::new() };
        let kept = Kept { boot_id: "this".to_owned(), checkup: told.clone() };
        fs::write(&file, serde_json::to_vec(&kept).expect("JSON")).expect("written");
        assert_eq!((read(&file, "this"), read(&file, "next")), (Some(told), None));
        fs::write(&file, "{").expect("written");
        assert_eq!(read(&file, "this"), None, "a damaged file");
    }
}
