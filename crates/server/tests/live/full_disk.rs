//! A disk that is too small: a clear error, and nothing left on it.
//!
//! The test runs itself again in a mount name space of its own, where a small file system can be mounted that goes with
//! the process. Where the system does not allow that, the test fails rather than pass unseen.

use crate::scene::{Scene, build, folder};
use rqps_builds::{BuildError, Catalog, installation};
use rqps_machine::{Account, Cache, MachineError, Workspace, copy};
use rqps_server::{ServerError, cluster};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

const SMALL: &str = "RQPS_TEST_SMALL_DISK";

#[test]
#[ignore = "runs inside the name space that the other test here makes"]
fn on_a_small_disk() {
    let Some(small) = std::env::var_os(SMALL) else { return };
    let small = Path::new(&small);
    let build = build("postgres:16.15");
    let scene = Scene::new();
    let is_full_of = |remedy: &str, result: Result<(), ServerError>, what: &str| {
        let error = result.expect_err(what);
        let (ServerError::Machine(cause) | ServerError::Build(BuildError::Machine(cause))) = &error else {
            panic!("{what}: {error}")
        };
        assert!(matches!(cause, MachineError::DiskFull { .. }), "{what}: {error}");
        assert!(error.to_string().contains("is full") && error.to_string().contains(remedy), "{error}");
    };
    let is_full = |result, what: &str| is_full_of("--data DIR or RQPS_DATA", result, what);

    // A data folder has about a thousand files.
    let workspace = Workspace::create(&scene.lease, &scene.cache, Some(small)).expect("a workspace");
    let data = workspace.join("d");
    is_full(cluster::initialise(&build, &data, Account::choose(), true, &scene.lease), "initdb");
    drop(workspace);
    assert_eq!(fs::read_dir(small).expect("listed").count(), 0, "the workspace is gone");

    // A server of another kind fills it with a few large files.
    let other = crate::scene::build("mysql:5.7.22");
    let workspace = Workspace::create(&scene.lease, &scene.cache, Some(small)).expect("a workspace");
    is_full(
        cluster::initialise(&other, &workspace.join("d"), Account::choose(), true, &scene.lease),
        "mysqld --initialize",
    );
    drop(workspace);
    assert_eq!(fs::read_dir(small).expect("listed").count(), 0, "the workspace is gone");

    // A copy is refused before it starts, and taken back where it cannot be foreseen.
    let master = scene.data(&build, "master");
    let never = AtomicBool::new(false);
    let plain = copy::CopyMethod::Plain;
    is_full(cluster::restore(&master, &small.join("copy"), plain, &never).map(drop), "foreseen");
    assert_eq!(fs::read_dir(small).expect("listed").count(), 0, "no half copy");
    let many = scene.workspace.join("many");
    fs::create_dir(&many).expect("made");
    (0..600).for_each(|n| fs::write(many.join(n.to_string()), "x").expect("written"));
    is_full(
        copy::copy_tree(&many, &small.join("copy"), plain, &never).map(drop).map_err(ServerError::from),
        "unforeseen",
    );
    assert_eq!(fs::read_dir(small).expect("listed").count(), 0, "the half copy was taken back");

    // An archive has more files than there is room for.
    let archive = scene.workspace.join("pg.tar.gz");
    let tar = Command::new("tar").arg("-caf").arg(&archive).arg("-C").arg(&build.folder).arg(".").status();
    assert!(tar.expect("tar runs").success());
    let cache = Cache::at(&small.join("cache")).expect("a cache");
    let spec = format!("postgres:{}", archive.display()).parse().expect("a build");
    let installed = installation::install(&spec, &Catalog::default(), &cache, &mut |_| ());
    is_full_of("RQPS_CACHE", installed.map(drop).map_err(ServerError::from), "unpacking");
    assert_eq!(cache.build_names().expect("listed"), Vec::<String>::new());
    assert_eq!(fs::read_dir(small.join("cache/builds")).expect("listed").count(), 1, "only the lock file is left");
    scene.end(&[]);
    println!("all was seen");
}

#[test]
fn a_full_disk_is_reported_and_nothing_is_left() {
    let folder = folder();
    build("postgres:16.15");
    build("mysql:5.7.22");
    let mut command = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        command.args(["--user", "--map-current-user", "--keep-caps"]);
    }
    let script = "mount -t tmpfs -o size=100m,nr_inodes=500,mode=0755 tmpfs \"$0\" && exec \"$@\"";
    command.args(["--mount", "sh", "-c", script]).arg(folder.path()).arg(std::env::current_exe().expect("a path"));
    command.args(["--exact", "full_disk::on_a_small_disk", "--ignored", "--nocapture"]).env(SMALL, folder.path());
    let output = command.stdin(Stdio::null()).output().expect("unshare of util-linux is installed");
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success() && said.contains("all was seen"), "{said}");
}
