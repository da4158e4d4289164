//! What the end-to-end tests share: one test's own folders, runs of the binary that can be watched and signalled, and
//! the proof that nothing is left.

use rqps_machine::Cache;
use rqps_machine::proctree::{self, ProcessId};
use rqps_model::EventKind;
use rqps_store::Campaign;
use rqps_testkit::{Folder, data_parent};
use rustix::process::Signal;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

/// The build that most tests run, from a folder as Debian installs it.
pub(crate) const BUILD: &str = "postgres:/usr/lib/postgresql/15";

/// Whatever is waited for comes within this time, also on a machine with other work.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A whole campaign on real servers ends within this time there: dozens of things, one after the other.
const END_PATIENCE: Duration = Duration::from_secs(600);

/// How often a condition that is waited for is checked: looking at all processes takes CPU time that the test itself
/// needs, and what is waited for is there for tenths of a second.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How often a session that is measured has left its CPU: all the work before a test does so less often.
const MEASURED_SWITCHES: u64 = 200;

/// A folder that is on a disk everywhere.
const DISK: &str = "/var/tmp";

/// A test that reads before anything is written: those that come later begin with aged data, and aging takes seconds.
pub(crate) const READ: &str = "point-query.pre";

/// Two of them.
pub(crate) const READS: &str = "point-query.pre,points-covered-pk.pre";

/// Little data and little time, on a machine small enough for several campaigns at once.
pub(crate) const SMALL: [&str; 14] = [
    "--tables",
    "1",
    "--rows",
    "2000",
    "--read-seconds",
    "0.3",
    "--write-seconds",
    "0.3",
    "--warmup",
    "0.05",
    "--rounds",
    "2",
    "--machine",
    "c2r1",
];

/// One test's own place.
pub(crate) struct Scene {
    root: Folder,
    data: Folder,
}

impl Scene {
    pub(crate) fn new() -> Scene {
        Scene::with_data_in(&data_parent())
    }

    /// A scene with its data on a disk, where removing a file takes its time.
    pub(crate) fn on_disk() -> Scene {
        Scene::with_data_in(Path::new(DISK))
    }

    fn with_data_in(data_parent: &Path) -> Scene {
        let root = folder(&std::env::temp_dir());
        fs::create_dir(root.path().join("tmp")).expect("a folder");
        fs::set_permissions(root.path().join("tmp"), Permissions::from_mode(0o711)).expect("opened");
        let scene = Scene { root, data: folder(data_parent) };
        // Empty data folders are made once for all tests: each takes seconds.
        scene.share_of_cache("initialised");
        scene
    }

    /// What there is in the cache besides what this test shares with the user's.
    pub(crate) fn made_in_cache(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path("cache")).expect("a folder").map(|entry| entry.expect("read"));
        let made = entries.filter(|entry| !entry.file_type().expect("a type").is_symlink());
        made.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    /// Has what is in this folder of the user's own cache in the cache of this test too.
    pub(crate) fn share_of_cache(&self, name: &str) {
        let of_user = Cache::open().expect("a cache").root().join(name);
        fs::create_dir_all(&of_user).expect("a folder");
        fs::create_dir_all(self.path("cache")).expect("a folder");
        symlink(of_user, self.path("cache").join(name)).expect("a link");
    }

    /// Has a command use the user's own cache, with these builds in it, which are fetched once.
    pub(crate) fn with_users_cache(&self, command: &mut Command, builds: &[&str]) {
        builds.iter().for_each(|word| _ = rqps_testkit::build(word));
        command.env("RQPS_CACHE", Cache::open().expect("a cache").root());
    }

    /// A path in the test's folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Where campaigns make their data folders.
    pub(crate) fn data(&self) -> &Path {
        self.data.path()
    }

    /// The folder of a campaign.
    pub(crate) fn campaign(&self, name: &str) -> PathBuf {
        self.path("results").join(name)
    }

    /// The binary in this scene, as a terminal starts it: the tests may run where signals are ignored, and what is
    /// ignored is inherited.
    pub(crate) fn rqps(&self, args: &[&str]) -> Command {
        self.rqps_with("--default-signal=INT,HUP,TERM", args)
    }

    /// The binary in this scene as a script starts it in the background, under `nohup`.
    pub(crate) fn rqps_in_background(&self, args: &[&str]) -> Command {
        self.rqps_with("--ignore-signal=INT,HUP", args)
    }

    fn rqps_with(&self, signals: &str, args: &[&str]) -> Command {
        // By its path: some tests empty the list of folders in which programs are looked for.
        let mut command = Command::new("/usr/bin/env");
        command.args([signals, env!("CARGO_BIN_EXE_rqps")]).args(args);
        self.furnish(&mut command);
        command
    }

    /// Gives a command the environment of this scene.
    pub(crate) fn furnish(&self, command: &mut Command) {
        command.current_dir(self.root.path()).stdin(Stdio::null());
        command.env("RQPS_CACHE", self.path("cache")).env("RQPS_DATA", self.data()).env("TMPDIR", self.path("tmp"));
        command.env("XDG_CONFIG_HOME", self.path("config")).env_remove("NO_COLOR");
        command.env("RQPS_STATE", self.path("state"));
    }

    /// `rqps run` of a small campaign of this name; later words win.
    pub(crate) fn run(&self, name: &str, words: &[&str]) -> Command {
        let mut command = self.rqps(&["run", "--name", name]);
        command.args(SMALL).args(words);
        command
    }

    /// Two names of one build, which is all that most tests compare.
    pub(crate) fn run_twins(&self, name: &str, words: &[&str]) -> Command {
        let mut command = self.run(name, &["--build", &format!("a={BUILD}"), "--build", &format!("b={BUILD}")]);
        command.args(words);
        command
    }

    /// Starts a command whose output can be watched.
    pub(crate) fn start(&self, mut command: Command) -> Running {
        let file = |name: &str| {
            let path = tempfile::Builder::new().prefix(name).tempfile_in(self.root.path()).expect("a file");
            path.into_temp_path().keep().expect("kept")
        };
        let (stdout, stderr) = (file("stdout-"), file("stderr-"));
        command.stdout(File::create(&stdout).expect("a file")).stderr(File::create(&stderr).expect("a file"));
        Running { child: command.spawn().expect("it starts"), stdout, stderr }
    }

    /// Runs a command to its end.
    pub(crate) fn end(&self, command: Command) -> Ended {
        self.start(command).end()
    }

    /// Servers that run on this scene's data, the main processes only, with the name of their data folder.
    pub(crate) fn servers(&self) -> Vec<Postmaster> {
        let mut found = Vec::new();
        for process in processes_in(self.data()) {
            let Some((folder, _)) = process.folder_and_program() else { continue };
            let main = fs::read_to_string(folder.join("postmaster.pid"));
            if main.is_ok_and(|text| text.lines().next() == Some(&process.pid.to_string())) {
                let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                found.push(Postmaster { process, folder: name });
            }
        }
        found.sort_by(|a, b| a.folder.cmp(&b.folder));
        found
    }

    /// Ends the test: nothing runs, and nothing is left in the folders for data, sockets and leases.
    pub(crate) fn assert_nothing_left(&self) {
        wait_for("all processes of the test to end", || processes_in(self.data()).is_empty());
        assert_eq!(self.left(), Vec::<PathBuf>::new());
    }

    /// Waits until a guard has done its work.
    pub(crate) fn wait_until_cleared(&self) {
        wait_for("all to be cleared", || processes_in(self.data()).is_empty() && self.left().is_empty());
    }

    /// What is in the folders for data, sockets and leases.
    pub(crate) fn left(&self) -> Vec<PathBuf> {
        let mut left = Vec::new();
        for folder in [self.data().to_owned(), self.path("tmp"), self.path("cache/leases")] {
            let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
            left.extend(entries.map(|entry| entry.path()).filter(|path| !path.ends_with(".lock")));
        }
        left
    }
}

/// The main process of a server.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Postmaster {
    pub(crate) process: ProcessId,
    pub(crate) folder: String,
}

impl Postmaster {
    /// Itself and all that it started.
    pub(crate) fn family(&self) -> Vec<ProcessId> {
        proctree::tree(self.process)
    }

    /// How many of its sessions are measured: only those are sent so many statements.
    pub(crate) fn measured(&self) -> usize {
        // Who shares a CPU with the client is often taken off it before it waits.
        let switches = |process: &ProcessId| -> u64 {
            let text = fs::read_to_string(format!("/proc/{}/status", process.pid)).unwrap_or_default();
            let counts = text.lines().filter_map(|line| line.split_once("voluntary_ctxt_switches:"));
            counts.filter_map(|(_, count)| count.trim().parse::<u64>().ok()).sum()
        };
        self.backends().iter().filter(|process| switches(process) > MEASURED_SWITCHES).count()
    }

    /// Processes that serve a session of the test.
    pub(crate) fn backends(&self) -> Vec<ProcessId> {
        let serves = |process: &ProcessId| command_line(*process).contains("bench sbtest");
        self.family().into_iter().filter(serves).collect()
    }
}

/// The words that a process was started with.
pub(crate) fn command_line(process: ProcessId) -> String {
    let bytes = fs::read(format!("/proc/{}/cmdline", process.pid)).unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace('\0', " ")
}

/// Processes that stand in a folder below this one or were told of it.
pub(crate) fn processes_in(folder: &Path) -> Vec<ProcessId> {
    let told = folder.to_string_lossy().into_owned();
    let in_it = |process: &ProcessId| {
        let stands = process.folder_and_program().is_some_and(|(place, _)| place.starts_with(folder));
        process.is_alive() && (stands || command_line(*process).contains(&told))
    };
    proctree::all().into_iter().filter(in_it).collect()
}

/// A run of the binary that has not ended yet; killed if the test gives up on it.
pub(crate) struct Running {
    child: Child,
    stdout: PathBuf,
    stderr: PathBuf,
}

impl Running {
    /// What it has said on standard error so far.
    pub(crate) fn stderr(&self) -> String {
        fs::read_to_string(&self.stderr).expect("readable")
    }

    /// Its process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// What would clear up after it.
    pub(crate) fn guard(&self) -> Option<ProcessId> {
        let family = proctree::tree(ProcessId::of(self.id()).expect("it runs"));
        family.into_iter().find(|process| command_line(*process).starts_with("rqps guard "))
    }

    /// Kills it with its guard.
    pub(crate) fn kill_with_guard(self) {
        assert!(self.guard().expect("it has a guard").signal(Signal::KILL));
        self.signal(Signal::KILL);
        assert_eq!(self.end().code, None);
    }

    /// Waits for something that must happen while it runs: loads and whole steps may come before it.
    pub(crate) fn wait_for(&mut self, what: &str, mut happened: impl FnMut(&Running) -> bool) {
        let deadline = Instant::now() + END_PATIENCE;
        while !happened(self) {
            let ended = self.child.try_wait().expect("asked");
            assert!(ended.is_none(), "it ended ({ended:?}) before {what}:\n{}", self.stderr());
            assert!(Instant::now() < deadline, "waited in vain for {what}:\n{}", self.stderr());
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).expect("it is there until it is waited for");
    }

    /// Waits for its end.
    pub(crate) fn end(mut self) -> Ended {
        let deadline = Instant::now() + END_PATIENCE;
        let status = loop {
            match self.child.try_wait().expect("asked") {
                Some(status) => break status,
                None if Instant::now() > deadline => panic!("it does not end:\n{}", self.stderr()),
                None => std::thread::sleep(LOOK_EVERY),
            }
        };
        let stdout = fs::read_to_string(&self.stdout).expect("readable");
        Ended { code: status.code(), stdout, stderr: self.stderr() }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to kill.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// What a run of the binary came to.
#[derive(Debug)]
pub(crate) struct Ended {
    /// `None` where it was killed.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    /// Asserts its exit code.
    #[track_caller]
    pub(crate) fn with_code(self, code: i32) -> Ended {
        assert_eq!(self.code, Some(code), "{}\n{}", self.stdout, self.stderr);
        self
    }

    /// Asserts that it failed with these names and values on standard error and nothing on standard output.
    #[track_caller]
    pub(crate) fn refused(self, words: &[&str]) -> Ended {
        let ended = self.with_code(2);
        for words in words {
            assert!(ended.stderr.contains(words), "no `{words}` in:\n{}", ended.stderr);
        }
        assert_eq!(ended.stdout, "");
        assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
        ended
    }

    /// Standard output as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}:\n{}\n{}", self.stdout, self.stderr))
    }
}

/// A campaign's results as they are on disk.
pub(crate) fn results(folder: &Path) -> Campaign {
    Campaign::open(folder).expect("a results folder")
}

/// Whether something has happened in a campaign so far.
pub(crate) fn has_happened(folder: &Path, is_it: impl Fn(&EventKind) -> bool) -> bool {
    let events = Campaign::open(folder).and_then(|campaign| campaign.events());
    events.is_ok_and(|events| events.iter().any(|event| is_it(&event.kind)))
}

/// How often rqps has begun to measure it.
pub(crate) fn starts(folder: &Path) -> usize {
    results(folder).status().starts.len()
}

/// Content and time of every published sample.
pub(crate) fn published(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.join("rounds")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let hidden = entry.file_name().to_string_lossy().starts_with('.');
            match path.is_dir() {
                true if !hidden => folders.push(path),
                false if path.ends_with("sample.json") => {
                    let time = entry.metadata().and_then(|meta| meta.modified()).expect("a time");
                    found.insert(path.clone(), (fs::read(path).expect("readable"), time));
                }
                _ => {}
            }
        }
    }
    found
}

/// Waits for a condition.
#[track_caller]
pub(crate) fn wait_for(what: &str, mut happened: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !happened() {
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::sleep(LOOK_EVERY);
    }
}

/// A folder that the servers' account can enter, with a name that leaves room for a socket's path.
fn folder(parent: &Path) -> Folder {
    Folder::new_in(parent, 0o711)
}
