//! How far made-up campaigns are, of which samples are taken away, broken or made to fail.

use super::*;
use rqps_madeup::Recipe;
use rqps_model::Event;
use rqps_model::event::TestPlace;
use std::fs;
use tempfile::TempDir;

/// Three tests of two treatments in two rounds.
fn complete() -> (TempDir, PathBuf) {
    let root = tempfile::tempdir().expect("a folder");
    let folder = Recipe::new(3, 2, 2, 1).write(root.path()).expect("a campaign");
    (root, folder)
}

fn read(folder: &Path) -> CampaignStatus {
    status(folder, SystemTime::now()).expect("a campaign")
}

/// Folders of samples of a round, sorted.
fn samples(folder: &Path, round: u32) -> Vec<PathBuf> {
    let entries = |folder: &Path| {
        let mut found: Vec<PathBuf> =
            fs::read_dir(folder).expect("there").flatten().map(|entry| entry.path()).collect();
        found.sort();
        found
    };
    let suites = entries(&folder.join("rounds").join(round.to_string())).into_iter().flat_map(|one| entries(&one));
    suites.flat_map(|suite| entries(&suite)).collect()
}

#[test]
fn a_complete_campaign_has_nothing_left() {
    let (_root, folder) = complete();
    let status = read(&folder);
    assert_eq!((status.state, status.process, status.seconds_left), (Activity::Complete, None, None));
    assert_eq!(status.samples, Counts { done: 12, ..Counts::default() });
    assert_eq!((status.rounds, status.rounds_done, status.tests), (Some(2), 2, 3));
}

#[test]
fn what_is_missing_damaged_or_failed_is_counted_where_it_belongs() {
    let (_root, folder) = complete();
    let last = samples(&folder, 2);
    for gone in &last[..2] {
        fs::remove_dir_all(gone).expect("removed");
    }
    let cut = last[2].join("sample.json");
    let text = fs::read_to_string(&cut).expect("readable");
    fs::write(&cut, &text[..text.len() / 2]).expect("written");
    let status = read(&folder);
    assert_eq!(status.state, Activity::Interrupted);
    assert_eq!(status.samples, Counts { done: 9, damaged: 1, left: 2, ..Counts::default() });
    assert_eq!((status.samples.planned(), status.rounds_done), (12, 1));
    assert_eq!((status.damages.len(), status.damages[0].cell.round), (1, 2));
    assert!(status.running.is_empty() && status.seconds_left > Some(0.0));
}

#[test]
fn a_campaign_that_is_written_runs_the_test_that_began_last() {
    let (_root, folder) = complete();
    for gone in &samples(&folder, 2) {
        fs::remove_dir_all(gone).expect("removed");
    }
    let campaign = Campaign::open(&folder).expect("a campaign");
    let plan = campaign.plan();
    let treatments: Vec<String> = plan.treatments.iter().map(|treatment| treatment.name.clone()).collect();
    let event = |at: &str, kind: EventKind| Event { at: at.to_owned(), kind };
    let begins = |at: &str, test: usize, is_recorded: bool| {
        let test = plan.tests()[test].name.clone();
        let (treatments, interleave) = (treatments.clone(), None);
        let place = TestPlace { round: 2, rounds: Some(2), test, clients: 1, treatments, interleave };
        event(at, EventKind::TestBegins { place, is_recorded })
    };
    let at = "2026-11-22T10:00:00.000Z".to_owned();
    let start = rqps_store::Start { at, ..rqps_store::Start::default() };
    let writer = Campaign::open_to_resume(&folder, start).expect("free");
    let after = |event: Event| {
        writer.append_event(&event).expect("written");
        let status = read(&folder);
        assert_eq!((status.state, status.process, status.resumed), (Activity::Running, Some(std::process::id()), 1));
        assert_eq!(status.samples.running + status.samples.left, 6);
        status.running.iter().map(|cell| (cell.round, cell.test.clone())).collect::<Vec<_>>()
    };
    let test = |at: usize| vec![(2, plan.tests()[at].name.clone()); 2];
    assert_eq!(after(begins("2026-11-22T09:00:00.000Z", 0, true)), [], "a run before this one was killed in it");
    assert_eq!(after(begins("2026-11-22T10:00:01.000Z", 1, true)), test(1));
    let warning = EventKind::Warning { message: "the clock was slow".to_owned() };
    assert_eq!(after(event("2026-11-22T10:00:02.000Z", warning)), test(1));
    assert_eq!(after(begins("2026-11-22T10:00:03.000Z", 0, false)), [], "nothing is kept of it");
    drop(writer);
    assert_eq!(read(&folder).state, Activity::Interrupted);
}

#[test]
fn the_rest_takes_as_long_as_what_was_measured() {
    let (_root, folder) = complete();
    let begun = SystemTime::now() - std::time::Duration::from_secs(100);
    let campaign = Campaign::open(&folder).expect("a campaign");
    let plan = campaign.plan();
    let rounds: Vec<Round> = (1..=plan.rounds).map(|number| plan.round(number)).collect();
    let mut known: Vec<Known> = cells(plan, &rounds).into_iter().map(|(cell, _)| know(&campaign, cell, 1.0)).collect();
    assert_eq!(seconds_left(plan, &known, Some(begun), SystemTime::now()), None);
    for cell in &mut known[6..] {
        (cell.found, cell.published) = (Found::Absent, None);
    }
    // Six took a hundred seconds.
    let left = seconds_left(plan, &known, Some(begun), SystemTime::now()).expect("half is left");
    assert!((90.0..=110.0).contains(&left), "{left}");
    let estimated = seconds_left(plan, &known, None, SystemTime::now()).expect("half is left");
    assert!((estimated - estimate(plan).duration().as_secs_f64() / 2.0).abs() < 1e-6);
}

#[test]
fn a_folder_that_is_none_is_an_error() {
    let root = tempfile::tempdir().expect("a folder");
    assert!(matches!(status(root.path(), SystemTime::now()), Err(StoreError::NotResults { .. })));
    assert!(status(&root.path().join("absent"), SystemTime::now()).is_err());
}
