//! Files cut, changed, missing, moved or newer: told with file, line and remedy; never a panic, never a wrong value.

use crate::made;
use rqps_model::Part;
use rqps_model::Plan;
use rqps_store::{Campaign, Damage, FoundFormat, SampleParts, StoreError};
use std::fs;
use std::path::{Path, PathBuf};

const FILES: [&str; 8] = [
    "sample.json",
    "slices.json",
    "latency.hdr",
    "counters.jsonl",
    "seconds.jsonl",
    "monitor.jsonl",
    "plans.json",
    "manifest.json",
];

struct Stored {
    _root: tempfile::TempDir,
    folder: PathBuf,
    sample: PathBuf,
    parts: SampleParts,
    plan: Plan,
}

fn stored() -> Stored {
    let root = tempfile::tempdir().expect("a folder");
    let plan = made::plan(2, 2, 1);
    let writer = made::create(root.path(), &plan);
    let parts = made::parts(&plan, 1, 0, 0, 4);
    writer.publish(&parts).expect("published");
    let folder = writer.folder().to_owned();
    let sample = folder.join("rounds/1").join(&parts.sample.treatment).join("sysbench/random-points_range=10.c1");
    Stored { _root: root, folder, sample, parts, plan }
}

fn read_all(folder: &Path) -> Result<Vec<SampleParts>, StoreError> {
    Campaign::open(folder)?.samples()?.iter().map(|sample| sample.parts()).collect()
}

/// What is damaged, where nothing else is wrong.
fn damages<T>(result: Result<T, StoreError>) -> Vec<Damage> {
    match result.err() {
        Some(StoreError::Damaged(damages)) => damages,
        other => panic!("{other:?}"),
    }
}

fn paths(damages: &[Damage]) -> Vec<&PathBuf> {
    damages.iter().map(|damage| &damage.path).collect()
}

#[test]
fn every_cut_of_every_file_is_seen() {
    let stored = stored();
    for name in FILES {
        let path = stored.sample.join(name);
        let whole = fs::read(&path).expect("there");
        // Every byte of small files, every line end and some bytes between of large ones.
        let step = 1 + whole.len() / 400;
        for cut in (0..whole.len()).filter(|&at| at % step == 0 || at == whole.len() - 1 || whole[at] == b'\n') {
            fs::write(&path, &whole[..cut]).expect("cut");
            match read_all(&stored.folder) {
                Ok(read) => {
                    assert_eq!(read, std::slice::from_ref(&stored.parts), "{name} cut at {cut} of {}", whole.len())
                }
                Err(StoreError::Damaged(damages)) => {
                    assert_eq!(damages.len(), 1, "{damages:?}");
                    assert_eq!(damages[0].path, path);
                    assert!(damages[0].remedy.contains("rqps resume"), "{damages:?}");
                }
                Err(other) => panic!("{name} cut at {cut}: {other}"),
            }
        }
        fs::write(&path, &whole).expect("restored");
    }
    assert_eq!(read_all(&stored.folder).expect("whole again"), [stored.parts]);
}

#[test]
fn every_changed_byte_is_seen() {
    let stored = stored();
    for name in FILES {
        let path = stored.sample.join(name);
        let whole = fs::read(&path).expect("there");
        for at in (0..whole.len()).step_by(1 + whole.len() / 150) {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            fs::write(&path, &changed).expect("changed");
            // A blank for a line end in the manifest changes nothing that is told.
            if let Ok(read) = read_all(&stored.folder) {
                assert_eq!((name, read), ("manifest.json", vec![stored.parts.clone()]), "byte {at}");
            }
        }
        fs::write(&path, &whole).expect("restored");
    }
}

#[test]
fn campaign_files_cut_anywhere_are_told() {
    let stored = stored();
    let host = format!("hosts/{}.json", made::host_id());
    for name in ["plan.json", &host, "status.json"] {
        let path = stored.folder.join(name);
        let whole = fs::read(&path).expect("there");
        for cut in 0..whole.len() - 1 {
            fs::write(&path, &whole[..cut]).expect("cut");
            assert_eq!(paths(&damages(Campaign::open(&stored.folder))), [&path]);
        }
        fs::write(&path, &whole).expect("restored");
    }
    let text = "{\"name\":\"x\"}";
    let build = stored.folder.join("treatments").join(&stored.plan.treatments[0].name).join("build.json");
    fs::create_dir_all(build.parent().expect("a folder")).expect("made");
    fs::write(&build, text).expect("written");
    let campaign = Campaign::open(&stored.folder).expect("whole");
    let damages = damages(campaign.build(&stored.plan.treatments[0].name));
    assert_eq!((paths(&damages), damages[0].line), (vec![&build], Some(1)));
}

#[test]
fn all_damages_are_told_at_once() {
    let stored = stored();
    let writer = Campaign::open_to_resume(&stored.folder, made::start()).expect("free");
    for (treatment, test) in [(1, 0), (0, 1)] {
        writer.publish(&made::parts(&stored.plan, 1, treatment, test, 4)).expect("published");
    }
    let samples = writer.samples().expect("read");
    let (missing, changed) = (samples[0].folder().join("sample.json"), samples[2].folder().join("sample.json"));
    fs::remove_file(&missing).expect("removed");
    fs::write(&changed, "{}").expect("changed");
    assert_eq!(paths(&damages(writer.samples())), [&missing, &changed]);
    fs::remove_dir_all(samples[0].folder()).expect("removed");
    fs::remove_dir_all(samples[2].folder()).expect("removed");
    let changed = ["latency.hdr", "seconds.jsonl"].map(|name| samples[1].folder().join(name));
    changed.iter().for_each(|path| fs::write(path, "x").expect("changed"));
    assert_eq!(writer.samples().expect("the small part is whole").len(), 1);
    assert_eq!(paths(&damages(writer.check())), changed.iter().collect::<Vec<_>>());
}

#[test]
fn a_sample_in_another_samples_place_is_told() {
    let stored = stored();
    let other = stored.folder.join("rounds/1").join(&stored.plan.treatments[1].name).join("sysbench");
    fs::create_dir_all(&other).expect("made");
    let other = other.join("random-points_range=11.c1");
    fs::rename(&stored.sample, &other).expect("moved");
    let damages = damages(Campaign::open(&stored.folder).expect("whole").samples());
    assert_eq!(paths(&damages), [&other.join("sample.json")]);
    assert!(damages[0].found.contains("round 1, pg1200.x10a_c2r24, random-points_range=10"), "{damages:?}");
}

/// A file of the campaign, changed.
fn edit(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).expect("there");
    assert!(text.contains(from), "{text}");
    fs::write(path, text.replacen(from, to, 1)).expect("edited");
}

const OWN: &str = "\"format\":{\"major\":1,\"minor\":0}";

#[test]
fn another_major_is_refused_whatever_else_it_says() {
    let stored = stored();
    let refused = |error: StoreError, newer: bool| {
        let StoreError::OtherFormat { found, .. } = &error else { panic!("{error}") };
        assert_eq!(matches!(found, FoundFormat::Newer(_)), newer, "{error}");
        assert_eq!(matches!(found, FoundFormat::Older(_)), !newer, "{error}");
    };
    for name in ["plan.json", "status.json"] {
        let path = stored.folder.join(name);
        let whole = fs::read_to_string(&path).expect("there");
        for (major, newer) in [(2, true), (0, false)] {
            let other = format!("\"format\":{{\"major\":{major},\"minor\":0}}");
            edit(&path, OWN, &other);
            refused(Campaign::open(&stored.folder).expect_err("another major"), newer);
            fs::write(&path, format!("{{{other},\"all\":\"different\"}}")).expect("written");
            refused(Campaign::open(&stored.folder).expect_err("another major"), newer);
            refused(Campaign::open_to_resume(&stored.folder, made::start()).expect_err("another major"), newer);
            fs::write(&path, &whole).expect("restored");
        }
    }
    edit(&stored.sample.join("manifest.json"), OWN, "\"format\":{\"major\":2,\"minor\":0}");
    refused(Campaign::open(&stored.folder).expect("not newer").samples().expect_err("newer"), true);
}

/// An old reader and new data: a newer minor may say more, in fields and in parts.
#[test]
fn a_newer_minor_is_read_without_what_is_more() {
    let mut stored = stored();
    let more = "{\"a_word_of_later\":[1],";
    for name in ["plan.json", "status.json"] {
        let path = stored.folder.join(name);
        edit(&path, "{", more);
        edit(&path, OWN, "\"format\":{\"major\":1,\"minor\":3}");
    }
    stored.parts.put(Part::json("a-part-of-later.json", &1));
    stored.parts.parts.sort_by(|a, b| a.name.cmp(&b.name));
    fs::remove_dir_all(&stored.sample).expect("removed");
    let writer = Campaign::open_to_resume(&stored.folder, made::start()).expect("read");
    writer.publish(&stored.parts).expect("published");
    assert_eq!(read_all(&stored.folder).expect("read"), [stored.parts]);
}
