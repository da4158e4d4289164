//! Leases of the living are left alone, those of the dead are cleared, and nothing else is.

use super::*;
use std::process::Command;

struct Scene {
    root: tempfile::TempDir,
    cache: Cache,
}

fn scene() -> Scene {
    let root = tempfile::tempdir().expect("a folder");
    let cache = Cache::at(&root.path().join("cache")).expect("a cache");
    Scene { root, cache }
}

/// Rewrites a lease as if its owner had been killed.
fn orphan(path: &Path, change: impl FnOnce(&mut Record)) {
    let mut record: Record = serde_json::from_str(&fs::read_to_string(path).expect("read")).expect("a record");
    record.owner.start_ticks += 1;
    change(&mut record);
    write(path, &record).expect("written");
}

fn lease_files(cache: &Cache) -> usize {
    let entries = fs::read_dir(cache.leases()).expect("listed").flatten();
    entries.filter(|e| e.file_name() != ".lock").count()
}

#[test]
fn a_lease_lives_as_long_as_what_it_holds() {
    let Scene { root, cache } = scene();
    let lease = Lease::open(&cache).expect("a lease");
    let other = Lease::open(&cache).expect("another");
    assert_ne!(lease.id(), other.id());
    drop(other);
    let folder = lease.folder(root.path(), "w", 0o700).expect("a folder");
    fs::write(folder.path().join("x"), "x").expect("written");
    drop(lease);
    assert_eq!(clear_stale(&cache).expect("cleared"), [], "the owner lives");
    assert!(folder.path().join("x").exists());
    let path = folder.path().to_owned();
    drop(folder);
    assert!(!path.exists());
    assert_eq!(lease_files(&cache), 0);
}

#[test]
fn folders_of_the_dead_go_if_they_are_marked() {
    let Scene { root, cache } = scene();
    let lease = Lease::open(&cache).expect("a lease");
    let file = lease.shared.path.clone();
    let marked = lease.folder(root.path(), "marked", 0o700).expect("a folder");
    let stranger = root.path().join("stranger");
    let empty = root.path().join("empty");
    let foreign = root.path().join("foreign");
    for folder in [&stranger, &empty, &foreign] {
        fs::create_dir(folder).expect("made");
    }
    fs::write(stranger.join("precious"), "x").expect("written");
    fs::write(foreign.join(MARKER), "another lease").expect("written");
    orphan(&file, |record| record.folders.extend([stranger.clone(), empty.clone(), foreign.clone()]));

    let cleared = clear_stale(&cache).expect("cleared");
    assert_eq!(cleared.len(), 1);
    assert_eq!(cleared[0].folders, [marked.path().to_owned(), empty.clone()]);
    assert!(stranger.join("precious").exists() && foreign.exists() && !empty.exists());
    // A lease is given back when its folders are gone, and not before.
    assert_eq!(cleared[0].faults.len(), 2, "{cleared:?}");
    assert_eq!(clear_stale(&cache).expect("again")[0].faults, cleared[0].faults);
    fs::remove_dir_all(&stranger).expect("removed");
    fs::remove_dir_all(&foreign).expect("removed");
    assert_eq!(clear_stale(&cache).expect("again")[0].faults, Vec::<String>::new());
    assert!(!file.exists());
    assert_eq!(clear_stale(&cache).expect("again"), [], "there is nothing left to clear");
}

/// As an initdb whose rqps was killed: it goes on, and its folders come again while they are removed.
#[test]
fn a_program_is_stopped_before_the_folder_that_it_writes_to_goes() {
    let Scene { root, cache } = scene();
    let lease = Lease::open(&cache).expect("a lease");
    let folder = lease.folder(root.path(), "data", 0o711).expect("a folder");
    let data = fs::canonicalize(folder.path()).expect("a path").join("master");
    fs::create_dir(&data).expect("made");
    let mut writer = Command::new("sh");
    writer.args(["-c", &format!("while :; do mkdir -p {0}/base; : >{0}/base/$$; done", data.display())]);
    let mut writer = writer.current_dir(&data).spawn().expect("it runs");
    let shell = fs::canonicalize("/bin/sh").expect("a shell");
    orphan(&lease.shared.path, |record| {
        record.programs.push(ProgramRecord { folder: data.clone(), program: shell, process: None });
    });
    let cleared = clear_stale(&cache).expect("cleared");
    assert!(writer.try_wait().expect("asked").is_some(), "stopped");
    assert_eq!((cleared.len(), &cleared[0].faults), (1, &Vec::new()), "{cleared:?}");
    assert!(cleared[0].processes >= 1 && !folder.path().exists() && lease_files(&cache) == 0);
}

/// The lease does not list the writer: then the folder keeps its marker and the lease its folder, until both can go.
#[test]
fn a_lease_and_its_marker_stay_as_long_as_the_folder() {
    let Scene { root, cache } = scene();
    let lease = Lease::open(&cache).expect("a lease");
    let folder = lease.folder(root.path(), "data", 0o711).expect("a folder");
    let (path, marker) = (folder.path().to_owned(), folder.path().join(MARKER));
    orphan(&lease.shared.path, |_| ());
    let is_over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // Not the folder itself: that is ours alone to make.
            while !is_over.load(Ordering::Relaxed) {
                let _ = fs::create_dir(path.join("master"));
                let _ = fs::create_dir(path.join("master/base"));
            }
        });
        for _ in 0..200 {
            clear_stale(&cache).expect("looked");
            assert!(!path.exists() || (marker.exists() && lease_files(&cache) == 1));
        }
        is_over.store(true, Ordering::Relaxed);
    });
    clear_stale(&cache).expect("cleared");
    assert!(!path.exists() && lease_files(&cache) == 0);
}

/// As where the disk gives an error: a folder that is a mount point, a file that is immutable.
#[test]
fn what_cannot_be_removed_stays_in_the_lease_and_is_reported() {
    let Scene { root, cache } = scene();
    let lease = Lease::open(&cache).expect("a lease");
    let folder = lease.folder(root.path(), "data", 0o711).expect("a folder");
    let path = folder.path().to_owned();
    assert_eq!(lease.holdings().folders(), std::slice::from_ref(&path));
    fs::create_dir(path.join("data")).expect("made");
    // Not a file any more, so that the marker cannot be removed either as root or as somebody else.
    fs::remove_file(path.join(MARKER)).expect("removed");
    fs::create_dir(path.join(MARKER)).expect("made");
    drop(folder);
    assert!(path.exists() && !path.join("data").exists(), "the rest goes");
    let told = lease.not_removed();
    assert!(told.len() == 1 && told[0].contains(&path.join(MARKER).display().to_string()), "{told:?}");
    assert_eq!(lease.holdings().folders(), [path]);
    let holdings = lease.holdings();
    drop(lease);
    assert_eq!(holdings.folders(), Vec::<PathBuf>::new(), "who looks keeps nothing");
}

#[test]
fn processes_of_the_dead_are_stopped_and_others_are_not() {
    let Scene { root, cache } = scene();
    let sleep = |folder: &Path| Command::new("sleep").arg("60").current_dir(folder).spawn().expect("it runs");
    let data = fs::canonicalize(root.path()).expect("a path").join("data");
    fs::create_dir(&data).expect("made");
    let (mut recorded, mut reused, mut by_folder) = (sleep(root.path()), sleep(root.path()), sleep(&data));
    let id = |child: &std::process::Child| ProcessId::of(child.id()).expect("it runs");
    let program = id(&by_folder).folder_and_program().expect("visible").1;
    // Frozen, as the idle server of a turn would be.
    assert!(id(&recorded).signal(Signal::STOP));

    let lease = Lease::open(&cache).expect("a lease");
    orphan(&lease.shared.path, |record| {
        let not_it = ProcessId { start_ticks: id(&reused).start_ticks + 1, ..id(&reused) };
        for (data_dir, process) in [("/nowhere", Some(id(&recorded))), ("/nowhere2", Some(not_it))] {
            record.programs.push(ProgramRecord { folder: data_dir.into(), program: program.clone(), process });
        }
        record.programs.push(ProgramRecord { folder: data.clone(), program: program.clone(), process: None });
    });
    let cleared = clear_stale(&cache).expect("cleared");
    assert_eq!((cleared.len(), cleared[0].processes), (1, 2), "{cleared:?}");
    assert!(recorded.try_wait().expect("asked").is_some(), "stopped by pid and start time");
    assert!(by_folder.try_wait().expect("asked").is_some(), "stopped by data folder and program");
    assert!(reused.try_wait().expect("asked").is_none(), "the pid was given out again");
    reused.kill().expect("killed");
    reused.wait().expect("waited for");
}

#[test]
fn other_hosts_and_containers_are_not_judged() {
    for what in ["host", "container", "boot"] {
        let Scene { cache, root: _root } = scene();
        let lease = Lease::open(&cache).expect("a lease");
        orphan(&lease.shared.path, |record| match what {
            "host" => record.place.host.push('x'),
            "container" => record.place.pid_namespace.push('x'),
            _ => record.place.boot_id.push('x'),
        });
        assert_eq!(clear_stale(&cache).expect("cleared").len(), usize::from(what == "boot"), "{what}");
    }
}
