//! What is written comes back the same; folders of others, and of oneself at work, are left as they are.

use crate::made;
use rqps_model::{Part, part};
use rqps_store::{Campaign, State, StoreError};
use std::fs;
use std::path::Path;

#[test]
fn a_campaign_comes_back_as_it_was_written() {
    let root = tempfile::tempdir().expect("a folder");
    let plan = made::plan(2, 3, 2);
    let mut writer = made::create(root.path(), &plan);
    assert_eq!(writer.folder(), root.path().join("made"));
    assert_eq!(writer.status().state, State::Incomplete);
    let treatment = &plan.treatments[1].name;
    writer.write_build(treatment, &made::build_facts()).expect("written");
    writer.write_settings(treatment, &made::settings_facts()).expect("written");
    let host = rqps_model::sample::HostUse { seconds: 12.25, cpus: 2, ..Default::default() };
    let load = rqps_model::facts::LoadFacts { rows: 1000, host, sets: Vec::new(), left: None };
    writer.write_load(treatment, &load).expect("written");
    writer.write_plans(treatment, &plan.tests()[0].name, &made::statement_plans()).expect("written");
    writer.append_server_log(treatment, "1.first", &mut &b"LOG: one\n"[..]).expect("written");
    writer.append_server_log(treatment, "2.second", &mut &b"LOG: two\n"[..]).expect("written");
    writer.set_load_seconds(treatment, 12.25).expect("written");
    let mut written = Vec::new();
    for (round, treatment, test) in [(1, 0, 0), (1, 1, 0), (2, 0, 2)] {
        let mut parts = made::parts(&plan, round, treatment, test, 50);
        if round == 1 {
            // Word for word those of the treatment.
            parts.put(Part::lines::<u8>(part::PLANS, &[]));
        }
        let name = &plan.tests()[test].name;
        let is_complete = || writer.is_complete(round, &plan.treatments[treatment].name, name, 1);
        assert!(!is_complete());
        writer.publish(&parts).expect("published");
        assert!(is_complete());
        written.push(parts);
    }
    writer.finish("2026-11-20T06:00:00.000Z").expect("finished");
    drop(writer);

    let campaign = Campaign::open(&root.path().join("made")).expect("opened");
    assert_eq!((campaign.plan(), campaign.host()), (&plan, &made::host()));
    let status = campaign.status();
    assert_eq!((status.state, status.started_at()), (State::Complete, "2026-11-20T05:14:00.000Z"));
    assert_eq!(
        (status.finished_at.as_deref(), status.load_seconds[treatment]),
        (Some("2026-11-20T06:00:00.000Z"), 12.25)
    );
    assert!(campaign.campaign_toml().expect("there").contains("[campaign]"));
    assert_eq!(campaign.build(treatment).expect("read"), Some(made::build_facts()));
    assert_eq!(campaign.build(&plan.treatments[0].name).expect("read"), None);
    assert_eq!(campaign.settings(treatment).expect("read"), Some(made::settings_facts()));
    assert_eq!(campaign.load(treatment).expect("read"), Some(load));
    assert_eq!(campaign.load(&plan.treatments[0].name).expect("read"), None);
    assert_eq!(campaign.plans(treatment, &plan.tests()[0].name).expect("read"), Some(made::statement_plans()));
    let log = fs::read_to_string(campaign.server_log(treatment).expect("a place")).expect("read");
    assert_eq!(log, "-- rqps: server start 1.first\nLOG: one\n-- rqps: server start 2.second\nLOG: two\n");

    let samples = campaign.samples().expect("read");
    written.iter_mut().for_each(|parts| parts.parts.retain(|part| !part.bytes.is_empty()));
    assert_eq!(samples.iter().map(|sample| sample.parts().expect("read")).collect::<Vec<_>>(), written);
    assert_eq!(campaign.check().expect("whole"), 3);
    let plans: Vec<_> = samples.iter().map(|sample| sample.json(part::PLANS).expect("read")).collect();
    assert_eq!(plans, [None, None, Some(made::statement_plans())]);
    assert!(!samples[0].folder().join("plans.json").exists());
    let one = campaign.sample(1, treatment, &plan.tests()[0].name, 1).expect("read").expect("there");
    assert_eq!(one.parts().expect("read"), written[1]);
    assert_eq!(campaign.sample(2, treatment, &plan.tests()[0].name, 1).expect("read"), None);
}

#[test]
fn a_sample_is_withdrawn_alone_and_a_campaign_only_without_samples() {
    let root = tempfile::tempdir().expect("a folder");
    let plan = made::plan(2, 1, 1);
    let writer = made::create(root.path(), &plan);
    let [first, second] = [0, 1].map(|treatment| made::parts(&plan, 1, treatment, 0, 5));
    let is_there = |treatment: usize| writer.is_complete(1, &plan.treatments[treatment].name, &plan.tests()[0].name, 1);
    let withdraw = |treatment: usize| writer.withdraw(1, &plan.treatments[treatment].name, &plan.tests()[0].name, 1);
    writer.publish(&first).expect("published");
    writer.publish(&second).expect("published");
    withdraw(0).expect("withdrawn");
    withdraw(0).expect("what is not there need not be withdrawn");
    assert_eq!((is_there(0), is_there(1)), (false, true));
    writer.publish(&first).expect("published again");
    assert_eq!(writer.check().expect("whole"), 2);

    let folder = writer.folder().to_owned();
    writer.discard().expect("left as it is");
    assert!(folder.exists(), "what was measured is never thrown away");
    fs::remove_dir_all(&folder).expect("removed");
    made::create(root.path(), &plan).discard().expect("discarded");
    assert_eq!(fs::read_dir(root.path()).expect("listed").count(), 0);
    drop(made::create(root.path(), &plan));
}

#[test]
fn a_sample_is_published_once_and_only_as_planned() {
    let root = tempfile::tempdir().expect("a folder");
    let plan = made::plan(1, 1, 1);
    let writer = made::create(root.path(), &plan);
    let parts = made::parts(&plan, 1, 0, 0, 5);
    writer.publish(&parts).expect("published");
    assert!(matches!(writer.publish(&parts), Err(StoreError::Published { .. })));
    let refused = |change: &dyn Fn(&mut rqps_store::SampleParts)| {
        let mut wrong = parts.clone();
        change(&mut wrong);
        writer.publish(&wrong).expect_err("refused")
    };
    let unplanned = |change: &dyn Fn(&mut rqps_store::SampleParts)| match refused(change) {
        StoreError::NotPlanned { what } => what,
        other => panic!("{other}"),
    };
    let second = unplanned(&|p| p.sample.round = 2);
    assert_eq!(second, "round 2, pg1200.x10a_c2r24, random-points_range=10, clients=1");
    unplanned(&|p| p.sample.test = "../../x".into());
    unplanned(&|p| p.sample.clients = 2);
    fs::remove_dir_all(writer.folder().join("rounds/1")).expect("removed");
    let unbalanced = refused(&|p| p.sample.accounting.skipped += 1);
    assert!(matches!(unbalanced, StoreError::Unbalanced { failed: 2, skipped: 2, .. }), "{unbalanced}");
    let unwritable = |change: &dyn Fn(&mut rqps_store::SampleParts), value: &str| {
        let error = refused(change);
        assert!(matches!(&error, StoreError::Unwritable { why, .. } if why.contains(value)), "{error}");
    };
    unwritable(&|p| p.sample.seconds = f64::NAN, "");
    unwritable(&|p| p.sample.format.minor = 7, "1.7");
    let named = |name: &str| Part { name: name.into(), bytes: vec![1] };
    for name in ["slices.json", "sample.json", "manifest.json"] {
        unwritable(&|p| p.parts.push(named(name)), name);
    }
    let outside = refused(&|p| p.parts.push(named("../x")));
    assert!(matches!(&outside, StoreError::Name { name, .. } if name == "../x"), "{outside}");
    assert!(writer.write_build("unknown", &made::build_facts()).is_err());
    assert_eq!(writer.samples().expect("read").len(), 0);
    writer.publish(&parts).expect("published again");
}

#[test]
fn folders_of_others_are_refused_and_left_as_they_are() {
    let root = tempfile::tempdir().expect("a folder");
    let plan = made::plan(1, 1, 1);
    let create = |name: &str| Campaign::create(root.path(), name, &plan, &made::host(), "", made::start());
    let foreign = root.path().join("foreign");
    fs::create_dir(&foreign).expect("made");
    fs::write(foreign.join("thesis.txt"), "mine").expect("written");
    let names = |folder: &Path| -> Vec<_> {
        let mut names: Vec<_> = fs::read_dir(folder).expect("there").flatten().map(|entry| entry.file_name()).collect();
        names.sort();
        names
    };
    assert!(matches!(create("foreign"), Err(StoreError::NotEmpty { .. })));
    assert!(matches!(Campaign::open(&foreign), Err(StoreError::NotResults { .. })));
    assert!(matches!(Campaign::open_to_resume(&foreign, made::start()), Err(StoreError::NotResults { .. })));
    assert_eq!(names(&foreign), ["thesis.txt"]);
    fs::write(root.path().join("file"), "mine").expect("written");
    assert!(matches!(create("file"), Err(StoreError::NotEmpty { .. })));
    for name in ["../x", "", ".x", "a/b"] {
        assert!(matches!(create(name), Err(StoreError::Name { .. })), "{name:?}");
    }
    fs::create_dir(root.path().join("empty")).expect("made");
    drop(create("empty").expect("an empty folder is free"));
    assert!(matches!(create("empty"), Err(StoreError::Exists { folder }) if folder == root.path().join("empty")));
    assert_eq!(names(root.path()), ["empty", "file", "foreign"]);
}

#[test]
fn two_writers_are_kept_apart_and_readers_are_not() {
    let root = tempfile::tempdir().expect("a folder");
    let plan = made::plan(1, 1, 1);
    let writer = made::create(root.path(), &plan);
    let folder = writer.folder().to_owned();
    let resumed = Campaign::open_to_resume(&folder, made::start());
    let process = std::process::id().to_string();
    assert!(matches!(resumed, Err(StoreError::InUse { owner, .. }) if owner.contains(&process)));
    let again = Campaign::create(root.path(), "made", &plan, &made::host(), "", made::start());
    assert!(matches!(again, Err(StoreError::InUse { .. })));
    let reader = Campaign::open(&folder).expect("readers are free");
    writer.publish(&made::parts(&plan, 1, 0, 0, 3)).expect("published");
    assert_eq!(reader.samples().expect("read").len(), 1);
    drop(writer);
    let resumed = Campaign::open_to_resume(&folder, made::start()).expect("free");
    assert_eq!((resumed.status().starts.len(), resumed.status().state), (2, State::Incomplete));
    assert!(resumed.is_complete(1, &plan.treatments[0].name, &plan.tests()[0].name, 1));
}

#[test]
fn derived_files_are_replaced_and_raw_ones_are_not() {
    let root = tempfile::tempdir().expect("a folder");
    let writer = made::create(root.path(), &made::plan(1, 1, 1));
    let reader = Campaign::open(writer.folder()).expect("opened");
    for text in ["first", "second"] {
        let path = reader.write_derived("tables/qps.rel.tsv", text.as_bytes()).expect("written");
        assert_eq!(fs::read_to_string(path).expect("there"), text);
    }
    for name in ["plan.json", "rounds/1/x", "../x", "tables/.hidden"] {
        assert!(matches!(reader.write_derived(name, b""), Err(StoreError::Name { .. })), "{name}");
    }
}
