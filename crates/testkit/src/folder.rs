//! A temporary folder that goes with the test, also when the test is killed.
//!
//! In: where, and who may enter. Out: a folder. A shell holds it and removes it when the pipe between us breaks,
//! however we end: a destructor does not run in a process that is killed. It must not be used where a folder shall
//! stay.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// What was started in the folder may outlive us for a moment, and still write.
const SCRIPT: &str = r#"
trap '' HUP INT
read -r word
for try in 1 2 3 4 5 6 7 8 9; do
    rm -rf "$FOLDER" && exit
    sleep 1
done
"#;

/// The least room in memory that is given away: several tests run at once.
const ROOM_BYTES: u64 = 2 << 30;

/// Where data of tests is: where `TMPDIR` says, else in memory where there is room, since a busy disk would be most of
/// the time of the tests.
pub fn data_parent() -> PathBuf {
    let memory = Path::new("/dev/shm");
    let room = rustix::fs::statvfs(memory).map_or(0, |fs| fs.f_bavail * fs.f_frsize);
    let is_memory = std::env::var_os("TMPDIR").is_none() && room >= ROOM_BYTES;
    if is_memory { memory.to_owned() } else { std::env::temp_dir() }
}

/// A folder that goes when dropped, or when the process that made it ends.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    shell: Child,
}

impl Folder {
    /// An empty folder below another.
    pub fn new_in(parent: &Path, mode: u32) -> Folder {
        let path = tempfile::Builder::new().prefix("rqps-test-").tempdir_in(parent).unwrap().keep();
        std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        let mut shell = Command::new("/bin/sh");
        // Not among its words: a test that looks who works in its folder would find the shell.
        shell.args(["-c", SCRIPT]).env("FOLDER", &path).process_group(0).stdin(Stdio::piped());
        // Whoever reads our output to its end does not wait for the shell.
        shell.stdout(Stdio::null()).stderr(Stdio::null());
        let shell = shell.spawn().unwrap();
        Folder { path, shell }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        let _ = self.shell.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Set in the process that is killed.
    const PARENT: &str = "RQPS_TEST_FOLDER_PARENT";

    #[test]
    fn goes_when_dropped() {
        let folder = Folder::new_in(&std::env::temp_dir(), 0o700);
        let path = folder.path().to_owned();
        std::fs::create_dir_all(path.join("a/b")).unwrap();
        drop(folder);
        assert!(!path.exists());
    }

    #[test]
    #[ignore = "the process that the other test here starts and kills"]
    fn child() {
        let Some(parent) = std::env::var_os(PARENT) else { return };
        let folder = Folder::new_in(Path::new(&parent), 0o700);
        std::fs::write(folder.path().join("x"), "x").unwrap();
        loop {
            std::thread::park();
        }
    }

    #[test]
    fn goes_when_the_process_is_killed() {
        let parent = Folder::new_in(&std::env::temp_dir(), 0o700);
        let count = || std::fs::read_dir(parent.path()).unwrap().flatten().count();
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "folder::tests::child", "--ignored"]).env(PARENT, parent.path());
        let mut child = child.stdout(Stdio::null()).spawn().unwrap();
        let is_there = || std::fs::read_dir(parent.path()).unwrap().flatten().any(|e| e.path().join("x").exists());
        while !is_there() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let deadline = std::time::Instant::now() + crate::PATIENCE;
        while count() > 0 {
            assert!(std::time::Instant::now() < deadline, "the folder stays");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
}
