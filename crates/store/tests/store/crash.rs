//! A writer killed in the middle: what it published is whole, what it had begun is found and cleared.

use crate::made;
use rqps_store::Campaign;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const FOLDER: &str = "RQPS_STORE_CRASH_FOLDER";
/// A child has begun to write within this time.
const PATIENCE: Duration = Duration::from_secs(60);
/// What a child is hit at is chance, but not for so long.
const KILLS_MAX: usize = 300;

/// The child: publishes samples until it is killed.
#[test]
#[ignore = "the part of the killed process; started by a_killed_writer_leaves_whole_samples_only"]
fn publish_until_killed() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let writer = Campaign::open_to_resume(&folder, made::start()).expect("free");
    let plan = writer.plan().clone();
    for round in 1.. {
        for (treatment, planned) in plan.treatments.iter().enumerate() {
            if !writer.is_complete(round, &planned.name, &plan.tests()[0].name, 1) {
                let mut parts = made::parts(&plan, round, treatment, 0, 2000);
                parts.rows.push(made::rows(&writer, "grown.jsonl", 100));
                writer.publish(&parts).expect("published");
            }
        }
    }
}

struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to kill.
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

#[test]
fn a_killed_writer_leaves_whole_samples_only() {
    let root = tempfile::tempdir().expect("a folder");
    let plan = made::plan(3, 1, 5_000);
    let folder = made::create(root.path(), &plan).folder().to_owned();
    // Killed again and again, until it was hit at each depth of a half-written folder.
    let mut hit_depths = std::collections::BTreeSet::new();
    let mut kills = 0;
    while hit_depths.len() < 3 || kills < 6 {
        assert!(kills < KILLS_MAX, "hit only {hit_depths:?} in {kills} kills");
        let command = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "crash::publish_until_killed", "--ignored"])
            .env(FOLDER, &folder)
            .stdout(Stdio::null())
            .spawn();
        let child = Killed(command.expect("started"));
        let begun = Instant::now();
        // Some files in it, a different number each time.
        while part_files(&folder).is_none_or(|files| files < kills % 6) {
            assert!(begun.elapsed() < PATIENCE, "the child writes nothing");
            std::thread::yield_now();
        }
        drop(child);
        kills += 1;
        let left = part_files(&folder);
        hit_depths.extend(left);

        let campaign = Campaign::open(&folder).expect("readable with leftovers");
        let read = campaign.check().expect("every sample that is there is whole");
        let writer = Campaign::open_to_resume(&folder, made::start()).expect("the dead owner's lock is free");
        assert!(writer.cleared().len() >= usize::from(left.is_some()), "{:?}", writer.cleared());
        assert_eq!(part_files(&folder), None);
        assert_eq!(writer.check().expect("still whole"), read);
    }
    assert!(Campaign::open(&folder).expect("opened").status().starts.len() > 2 * kills);
}

/// How many files the half-written sample has, if there is one.
fn part_files(folder: &Path) -> Option<usize> {
    let part = |name: &Path| name.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".part-"));
    let inside = |folder: &Path| -> Vec<PathBuf> {
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
    };
    let rounds = inside(&folder.join("rounds"));
    let suites = rounds.iter().flat_map(|round| inside(round)).map(|treatment| treatment.join("sysbench"));
    let found = suites.flat_map(|suite| inside(&suite)).find(|path| part(path))?;
    Some(inside(&found).len())
}

#[test]
fn a_campaign_not_finished_creating_is_cleared_by_the_next() {
    let root = tempfile::tempdir().expect("a folder");
    // A process id that no process can have now: the largest is 4194304.
    let abandoned = root.path().join(".part-4194305-made");
    let others = [root.path().join(".part-4194305-other"), root.path().join(".part-1-made")];
    for folder in others.iter().chain([&abandoned]) {
        fs::create_dir(folder).expect("made");
        fs::write(folder.join("campaign.toml"), "").expect("written");
    }
    drop(made::create(root.path(), &made::plan(1, 1, 1)));
    assert!(!abandoned.exists());
    assert!(others.iter().all(|other| other.exists()), "only what is of this name and of a dead process is cleared");
}
