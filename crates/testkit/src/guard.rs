//! A shell that holds a folder and runs a server in it: both go when the pipe between us breaks, however we end.
//!
//! In: words on a pipe, `start` each time that the server shall run. Out: the server's pid in a file. Anything else,
//! the end of the pipe above all, makes the shell kill the server and remove the folder. As root only the server runs
//! as who owns the folder, the shell does not: we may be killed in the middle of a copy, when the owner cannot remove
//! it yet.

use crate::{PATIENCE, data_parent};
use rqps_machine::Account;
use rqps_machine::proctree::ProcessId;
use std::fs::File;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A server that a test has frozen is ended too, with its children: they would not shut down. Processes that outlive it
/// for a moment may still write.
///
/// When our death leaves the shell's process group without a parent and one in it is stopped, the kernel sends SIGHUP
/// to the group (setpgid(2)); the shell must survive it to tidy up. A handler, unlike an ignored signal, is not passed
/// on to the server.
const SCRIPT: &str = r#"
trap : HUP
while read -r word && [ "$word" = start ]; do
    wait
    "$@" &
    echo $! > pid.new && mv pid.new pid
done
trap '' HUP
kill -"$END" $!
kill -CONT $! $(cat /proc/$!/task/$!/children)
wait
for try in 1 2 3 4 5 6 7 8 9; do
    rm -rf "$FOLDER" && exit
    sleep 1
done
"#;

/// A folder and what runs in it.
#[derive(Debug)]
pub(crate) struct Guard {
    folder: PathBuf,
    shell: Child,
}

/// What a guard does with its folder.
pub(crate) struct Duty<'a> {
    /// The program to run with its arguments and environment, if any.
    pub(crate) command: Option<&'a Command>,
    /// The signal that ends it.
    pub(crate) end: &'a str,
}

impl Guard {
    /// An empty folder that goes with us.
    pub(crate) fn of_folder(account: Account) -> Guard {
        Guard::over(make_folder(account), account, &Duty { command: None, end: "KILL" })
    }

    /// Takes over a folder that [`make_folder`] has made.
    pub(crate) fn over(folder: PathBuf, account: Account, duty: &Duty<'_>) -> Guard {
        let log = File::create(folder.join("log")).unwrap();
        account.own_path(&folder.join("log")).unwrap();
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", SCRIPT, "guard"]).env_clear();
        if let Some(command) = duty.command {
            if account.differs_from_us() {
                let [user, group] = [account.uid, account.gid].map(|id| id.to_string());
                shell.args(["setpriv", "--reuid", &user, "--regid", &group, "--clear-groups", "--"]);
            }
            shell.arg(command.get_program()).args(command.get_args());
            shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        }
        // A MariaDB that starts removes what looks like temporary tables there.
        shell.env("TMPDIR", &folder).env("FOLDER", &folder).env("END", duty.end).current_dir(&folder);
        // In a process group of its own, so that Ctrl-C leaves it the time to clear up.
        shell.process_group(0).stdin(Stdio::piped()).stdout(log.try_clone().unwrap()).stderr(log);
        let shell = shell.spawn().unwrap();
        Guard { folder, shell }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// What it and its server have said so far.
    pub(crate) fn log(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(self.folder.join("log")).unwrap()).into_owned()
    }

    /// Runs the server, after the one before is gone.
    pub(crate) fn start(&mut self) -> ProcessId {
        let file = self.folder.join("pid");
        let _ = std::fs::remove_file(&file);
        self.shell.stdin.as_mut().unwrap().write_all(b"start\n").unwrap();
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Ok(pid) = std::fs::read_to_string(&file) {
                let process = ProcessId::of(pid.trim().parse().unwrap());
                return process.unwrap_or_else(|| panic!("the server has ended already:\n{}", self.log()));
            }
            assert!(Instant::now() < deadline, "the server that ran before does not end:\n{}", self.log());
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Ends the server and waits until its folder is gone.
    pub(crate) fn end(&mut self) {
        drop(self.shell.stdin.take());
        let _ = self.shell.wait();
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.end();
    }
}

/// A new folder that only the account may enter.
pub(crate) fn make_folder(account: Account) -> PathBuf {
    let folder = tempfile::Builder::new().prefix("rqps-testkit-").tempdir_in(data_parent()).unwrap().keep();
    account.own_path(&folder).unwrap();
    folder
}
