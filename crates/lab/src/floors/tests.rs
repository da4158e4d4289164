//! Calibrations of made-up campaigns, kept in a folder of the test.

use super::*;
use rqps_analysis::analyse;
use rqps_madeup::Recipe;
use rqps_model::Interleave;

/// A campaign of one build, measured twice, with this noise from start to start.
fn made(start_noise: f64, arrival: Arrival) -> Result<Calibration> {
    let versions = vec!["17.11".to_owned(), "17.11".to_owned()];
    let recipe = Recipe { versions, start_noise, slice_noise: 0.02, arrival, ..Recipe::new(10, 2, 12, 5) };
    let root = tempfile::tempdir().expect("a folder");
    let campaign = Campaign::open(&recipe.write(root.path()).expect("written")).expect("opened");
    let findings = analyse(&campaign, None).expect("analysed");
    calibration(&campaign, &findings)
}

#[test]
fn what_an_a_a_shows_is_kept_and_found_again() {
    let (quiet, noisy) = (made(0.003, Arrival::Closed).expect("A/A"), made(0.02, Arrival::Closed).expect("A/A"));
    assert_eq!((quiet.floors.len(), quiet.floors[0].rounds, quiet.engine), (10, 12, Engine::Postgres));
    // Two servers with a start each: the sd is the root of two times that of one, and of the slices'.
    let middle = |one: &Calibration| one.floors.iter().map(|floor| floor.sd).sum::<f64>() / 10.0;
    assert!((0.003..0.007).contains(&middle(&quiet)) && (0.02..0.04).contains(&middle(&noisy)));

    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(list_in(&folder.path().join("none")).expect("nothing"), []);
    let later = Calibration { at: "2026-11-22T09:00:00Z".to_owned(), ..noisy };
    let written = keep_in(folder.path(), &quiet).expect("written");
    assert!(written.file_name().is_some_and(|name| name.to_string_lossy().ends_with(".pg1711_o2.json")), "{written:?}");
    keep_in(folder.path(), &later).expect("written");
    let kept = list_in(folder.path()).expect("read");
    assert_eq!(kept, [later.clone(), quiet.clone()], "the newest first");
    fs::write(folder.path().join("x.json"), "{").expect("written");
    let fault = format!("{:#}", list_in(folder.path()).expect_err("damaged"));
    assert!(fault.contains("x.json cannot be read; delete it"), "{fault}");
}

#[test]
fn a_plan_is_foretold_by_the_newest_of_the_same_host_and_profile() {
    let (quiet, noisy) = (made(0.003, Arrival::Closed).expect("A/A"), made(0.02, Arrival::Closed).expect("A/A"));
    let plan = Recipe::new(12, 2, 6, 1).plan();
    let host = quiet.host.clone();
    let mde = |kept: &[Calibration]| {
        let (foretold, sources) = of_plan(kept, &plan, &host);
        assert_eq!(foretold.len(), if sources.is_empty() { 0 } else { 10 });
        foretold.first().map(|cell| cell.mde)
    };
    let (of_quiet, of_noisy) = (mde(std::slice::from_ref(&quiet)), mde(std::slice::from_ref(&noisy)));
    assert!(of_noisy > of_quiet && of_quiet.is_some());
    assert_eq!(mde(&[noisy.clone(), quiet.clone()]), of_noisy, "the first is the newest");
    let elsewhere = Calibration { host: Host { kernel: "7.0".to_owned(), ..host.clone() }, ..noisy.clone() };
    assert_eq!(mde(&[elsewhere, quiet.clone()]), of_quiet);
    assert_eq!(mde(&[Calibration { profile: "x10z".to_owned(), ..quiet.clone() }]), None);

    let newest = newest(&[quiet.clone(), noisy], &host).expect("of this host");
    assert_eq!((newest.build.as_str(), newest.tests), ("pg1711_o2", 10));
    assert!(0.003 < newest.sd_middle && newest.sd_middle < newest.sd_most, "{newest:?}");
    let kept = [quiet];
    let (foretold, sources) = of_plan(&kept, &plan, &host);
    let told = text::describe(&plan, &foretold, &sources);
    assert!(told.contains("by an A/A of pg1711_o2 on 2026-11-21 on this host"), "{told}");
    assert!(told.contains("of 2 more nothing is known"), "{told}");
    assert!(text::list(&kept, &host).contains("10 tests, 12 rounds, sd of a round 0."), "{}", text::list(&kept, &host));
    assert!(text::list(&[], &host).starts_with("nothing is known"));
    // Where nothing is known, nothing is said; in turns as in slices.
    let mut turned = plan.clone();
    turned.stages[0].tests[0].interleave = Some(Interleave::Turns);
    assert_eq!(text::describe(&turned, &[], &[]), "");
}

#[test]
fn a_campaign_takes_along_what_was_measured_alike() {
    let quiet = made(0.003, Arrival::Closed).expect("A/A");
    let plan = Recipe::new(12, 2, 6, 1).plan();
    let taken = |one: &Calibration, plan: &Plan| taken_along(std::slice::from_ref(one), plan, &quiet.host);
    let along = taken(&quiet, &plan);
    let TestFloor { test, clients, sd, .. } = &quiet.floors[0];
    assert_eq!((along.len(), &along[0].test, along[0].clients, along[0].sd), (10, test, *clients, *sd));
    let mut other = plan.clone();
    other.treatments[1].profile = "x10b".to_owned();
    assert_eq!(taken(&quiet, &other), [], "its noise may be another");
    let set = [("work_mem".to_owned(), "64MB".to_owned())].into_iter().collect();
    assert_eq!(taken(&Calibration { set, ..quiet.clone() }, &plan), [], "other settings");
    let storage = Some(rqps_model::StorageEngine::Rocksdb);
    assert_eq!(taken(&Calibration { storage, ..quiet.clone() }, &plan), [], "another storage engine");
    let larger = Calibration { data: DataShape { rows: quiet.data.rows * 10, ..quiet.data }, ..quiet.clone() };
    assert_eq!(taken(&larger, &plan), []);
    let elsewhere = Calibration { host: Host { kernel: "7.0".to_owned(), ..quiet.host.clone() }, ..quiet.clone() };
    assert_eq!(taken(&elsewhere, &plan), []);
}

#[test]
fn rounds_of_different_seconds_count_as_those_with_the_same_slices() {
    let (versions, root) = (vec!["17.11".to_owned(); 2], tempfile::tempdir().expect("a folder"));
    let folder = Recipe { versions, ..Recipe::new(2, 2, 4, 5) }.write(root.path()).expect("written");
    let start = rqps_store::Start { at: "2026-11-22T09:00:00Z".to_owned(), ..rqps_store::Start::default() };
    let mut writer = Campaign::open_to_resume(&folder, start).expect("free");
    for (number, seconds) in [(1, 1.0), (2, 1.0), (3, 2.0), (4, 4.0)] {
        let seconds = writer.plan().tests().iter().map(|test| (test.name.clone(), seconds)).collect();
        let allotment = Some(rqps_model::plan::Allotment { spent: 0.1, seconds, given_up: Vec::new() });
        let round = rqps_model::plan::Round { allotment, ..writer.plan().round(number) };
        writer.write_round(&round).expect("written");
    }
    writer.finish("2026-11-22T09:10:00Z").expect("written");
    let found = calibration(&writer, &analyse(&writer, None).expect("analysed")).expect("A/A");
    assert!(found.floors.iter().all(|floor| (floor.seconds - 4.0 / 2.75).abs() < 1e-9), "{found:?}");
}

#[test]
fn what_has_no_noise_is_not_kept() {
    let open = made(0.003, Arrival::Even { rate_per_s: 1000.0 }).expect_err("refused");
    assert!(open.to_string().contains("leave out --rate"), "{open}");
}
