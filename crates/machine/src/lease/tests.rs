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
    record.owner.start_ticks -= 1;
    change(&mut record);
    write(path, &record, write_whole_soon).expect("written");
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

/// Who may write to the parent can put one there, once the folder is gone: after a restart of the machine, or since it
/// is the server's own.
#[test]
fn a_link_in_the_place_of_a_folder_is_not_followed() {
    let Scene { root, cache } = scene();
    let lease = Lease::open(&cache).expect("a lease");
    let others = root.path().join("others");
    fs::create_dir(&others).expect("made");
    for (name, text) in [("precious", "x"), (MARKER, &lease.id())] {
        fs::write(others.join(name), text).expect("written");
    }
    let plant = |folder: &LeasedFolder| {
        fs::remove_dir_all(folder.path()).expect("removed");
        std::os::unix::fs::symlink(&others, folder.path()).expect("a link");
    };
    let (dropped, left) = (lease.folder(root.path(), "d", 0o700), lease.folder(root.path(), "l", 0o700));
    let (dropped, left) = (dropped.expect("a folder"), left.expect("a folder"));
    plant(&dropped);
    plant(&left);
    drop(dropped);
    assert_eq!(lease.not_removed().len(), 1);
    orphan(&lease.shared.path, |_| ());
    let cleared = clear_stale(&cache).expect("cleared");
    assert!(cleared[0].folders.is_empty() && cleared[0].faults.len() == 2, "{cleared:?}");
    assert!(others.join("precious").exists() && others.join(MARKER).exists());
    for link in fs::read_dir(root.path()).expect("listed").flatten().filter(|entry| entry.path().is_symlink()) {
        fs::remove_file(link.path()).expect("removed");
    }
    assert_eq!(clear_stale(&cache).expect("again")[0].faults, Vec::<String>::new());
}

#[test]
fn a_folder_of_another_user_is_not_touched() {
    let Scene { root, cache } = scene();
    let lease = Lease::open(&cache).expect("a lease");
    let folder = lease.folder(root.path(), "s", 0o700).expect("a folder");
    // Nobody else can give a folder away.
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(folder.path(), Some(54321), None).expect("given away");
        orphan(&lease.shared.path, |_| ());
        let cleared = clear_stale(&cache).expect("cleared");
        assert!(cleared[0].faults[0].contains("uid 54321"), "{cleared:?}");
        assert!(folder.path().join(MARKER).exists());
        std::os::unix::fs::chown(folder.path(), Some(Account::choose().uid), None).expect("given back");
    }
    orphan(&lease.shared.path, |_| ());
    assert_eq!(clear_stale(&cache).expect("cleared")[0].folders, [folder.path()]);
}

/// Others may make something in the place of what is gone.
#[test]
fn what_is_gone_is_no_longer_in_the_lease() {
    let Scene { root, cache } = scene();
    let lease = Lease::open(&cache).expect("a lease");
    let folder = lease.folder(root.path(), "s", 0o700).expect("a folder");
    let stranger = root.path().join("stranger");
    fs::create_dir_all(stranger.join("inner")).expect("made");
    orphan(&lease.shared.path, |record| {
        record.folders.push(stranger.clone());
        let program = ProgramRecord { folder: stranger.clone(), program: "/nowhere/server".into(), process: None };
        record.programs.push(program);
    });
    assert_eq!(clear_stale(&cache).expect("cleared")[0].folders, [folder.path()]);
    fs::create_dir(folder.path()).expect("made by another");
    assert_eq!(clear_stale(&cache).expect("again")[0].folders, Vec::<PathBuf>::new());
    let left: Record = serde_json::from_str(&fs::read_to_string(&lease.shared.path).expect("read")).expect("a record");
    assert_eq!((left.folders, left.programs), (vec![stranger], Vec::new()));
    assert!(folder.path().exists());
}

/// As a kill in the middle of writing it leaves it, or a power cut.
#[test]
fn a_folder_with_a_part_of_its_marker_goes() {
    let Scene { root, cache } = scene();
    for length in [0, 3] {
        let lease = Lease::open(&cache).expect("a lease");
        let folder = lease.folder(root.path(), "s", 0o700).expect("a folder");
        fs::write(folder.path().join(MARKER), &lease.id()[..length]).expect("written");
        let stranger = root.path().join("stranger");
        fs::create_dir(&stranger).expect("made");
        fs::write(stranger.join(MARKER), "").expect("written");
        orphan(&lease.shared.path, |record| record.folders.push(stranger.clone()));
        let cleared = clear_stale(&cache).expect("cleared");
        assert_eq!((&cleared[0].folders[..], cleared[0].faults.len()), (&[folder.path().to_owned()][..], 1));
        fs::remove_dir_all(&stranger).expect("removed");
        assert_eq!(clear_stale(&cache).expect("again")[0].faults, Vec::<String>::new());
    }
}

#[test]
fn a_lease_that_cannot_be_read_is_reported_unless_its_owner_lives() {
    let Scene { cache, root: _root } = scene();
    let own = ProcessId::own();
    let path = |start_ticks: u64| cache.leases().join(format!("{:x}-{start_ticks:x}-1.json", own.pid));
    let (dead, living) = (path(own.start_ticks + 1), path(own.start_ticks));
    for path in [&dead, &living] {
        fs::write(path, "").expect("written");
    }
    let cleared = clear_stale(&cache).expect("looked");
    assert_eq!(cleared.len(), 1, "{cleared:?}");
    assert!(cleared[0].faults[0].contains(&dead.display().to_string()), "{cleared:?}");
    assert!(dead.exists() && living.exists());
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

/// What stands in a recorded folder is not ours by that alone: a developer may look at what is compiled there.
#[test]
fn who_stands_in_a_recorded_folder_is_not_touched() {
    let Scene { root, cache } = scene();
    let here = fs::canonicalize(root.path()).expect("a path");
    let mut visitor = Command::new("sleep").arg("60").current_dir(&here).spawn().expect("it runs");
    let process = ProcessId::of(visitor.id()).expect("it runs");
    let program = process.folder_and_program().expect("visible").1;
    let beside = program.with_file_name("make");
    for (program, started_before) in [(beside, false), (program, true)] {
        let lease = Lease::open(&cache).expect("a lease");
        orphan(&lease.shared.path, |record| {
            record.owner.start_ticks += if started_before { u64::from(u32::MAX) } else { 0 };
            record.programs.push(ProgramRecord { folder: here.clone(), program, process: None });
        });
        assert_eq!(clear_stale(&cache).expect("cleared")[0].processes, 0);
        assert!(process.is_alive(), "started before the lease: {started_before}");
    }
    visitor.kill().expect("killed");
    visitor.wait().expect("waited for");
}

/// So that what it starts is found by its group, whatever that is called.
#[test]
fn a_program_that_is_waited_for_is_in_the_lease_with_its_process() {
    let Scene { root, cache } = scene();
    let lease = Lease::open(&cache).expect("a lease");
    let shell = Path::new("/bin/sh");
    let mut command = command::program(Account::own(), command::OnParentDeath::Kill, shell);
    let script = "for n in $(seq 3000); do grep -q '\"pid\": '$$, \"$0\" && exec echo found; sleep 0.01; done";
    command.args(["-c", script]).arg(&lease.shared.path);
    assert_eq!(lease.run(root.path(), shell, command, "sh", "").expect("it ends"), "found\n");
    assert_eq!(lease.record().programs, []);
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
