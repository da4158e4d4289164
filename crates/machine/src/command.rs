//! How programs of a build are run: under the server's account, with a fixed environment, and not outliving us.
//!
//! In: an account, a program and its arguments. Out: a command ready to run, or the output of one that ran to its
//! end. The user's own environment does not reach the programs, so that two starts cannot differ by it.

use crate::last_words::last_words_of;
use crate::proctree::{self, ProcessId};
use crate::{Account, MachineError, Result};
use rustix::process::Signal;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How many last lines of a program's output an error carries.
const LAST_LINES: usize = 20;

/// How long a family that is killed may take to stand still; one that waits for a disk does not.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// The signal that a program gets when the thread that started it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnParentDeath {
    /// A server of PostgreSQL: a fast shutdown. At QUIT its processes end wherever they are, even between making shared
    /// memory and recording it, and then it stays for good.
    Interrupt,
    /// PostgreSQL in single-user mode, where INT only cancels a statement.
    Quit,
    /// A program that starts others, such as `make`, which passes this on to them before it ends.
    Terminate,
    /// Any other program: end at once.
    Kill,
}

/// Whether `setpriv` is there to have the kernel take our servers down when we die.
pub fn has_parent_death_signal() -> bool {
    let mut probe = Command::new("setpriv");
    probe.args(["--pdeathsig", "KILL", "true"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
}

/// A program of the user's own, with the user's environment, that does not outlive the thread that starts it.
pub fn users_program(program: &Path) -> Command {
    if !has_parent_death_signal() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "--"]).arg(program);
    command
}

/// Looks for a program as a shell would.
pub fn find_in_path(name: &str, path: &OsStr) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let is_program = |file: &PathBuf| file.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0);
    std::env::split_paths(path).map(|folder| folder.join(name)).find(is_program)
}

/// A program under an account, in its own process group, so that Ctrl-C in a terminal reaches rqps alone.
///
/// The parent-death signal fires when the *thread* that spawns ends, not the process: spawn from a thread that lives
/// as long as the program is to.
pub fn program(account: Account, on_death: OnParentDeath, program: &Path) -> Command {
    let mut command = if has_parent_death_signal() {
        let mut wrapped = Command::new("setpriv");
        let signal = match on_death {
            OnParentDeath::Interrupt => "INT",
            OnParentDeath::Quit => "QUIT",
            OnParentDeath::Terminate => "TERM",
            OnParentDeath::Kill => "KILL",
        };
        wrapped.args([OsStr::new("--pdeathsig"), OsStr::new(signal), OsStr::new("--"), program.as_os_str()]);
        wrapped
    } else {
        Command::new(program)
    };
    if account.differs_from_us() {
        command.uid(account.uid).gid(account.gid);
    }
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", "/tmp").env("LC_ALL", "C.UTF-8");
    command.env("TZ", "UTC").current_dir("/").process_group(0).stdin(Stdio::null());
    command
}

/// A program of an installation under an account, with the installation's own libraries where it needs them.
pub fn program_with(
    account: Account,
    on_death: OnParentDeath,
    path: &Path,
    root: &Path,
    library_folders: &[PathBuf],
) -> Command {
    if library_folders.is_empty() {
        return program(account, on_death, path);
    }
    // Only the program itself may see them: they can be of another C library than the tools that start it.
    let folders: Vec<String> = library_folders.iter().map(|folder| root.join(folder).display().to_string()).collect();
    let mut command = program(account, on_death, Path::new("/usr/bin/env"));
    command.arg(format!("LD_LIBRARY_PATH={}", folders.join(":"))).arg(path);
    command
}

/// Runs a program to its end and returns its stdout; `input` goes to its stdin.
pub fn output(command: Command, name: &str, input: &str) -> Result<String> {
    run(command, name, input, None, &mut |_| ())
}

/// The same, and has its process noted as soon as there is one.
pub(crate) fn output_noting(
    command: Command,
    name: &str,
    input: &str,
    note: &mut dyn FnMut(ProcessId),
) -> Result<String> {
    run(command, name, input, None, note)
}

/// The same for a program that has nothing to read and little to do: one that takes longer than `limit` is killed, with
/// all that it has started.
pub fn output_within(command: Command, name: &str, limit: Duration) -> Result<String> {
    run(command, name, "", Some(limit), &mut |_| ())
}

fn run(
    mut command: Command,
    name: &str,
    input: &str,
    limit: Option<Duration>,
    note: &mut dyn FnMut(ProcessId),
) -> Result<String> {
    let cannot_run = |e: io::Error| MachineError::Program {
        program: name.to_owned(),
        status: "it could not be run".to_owned(),
        output: e.to_string(),
    };
    // Spawned from here, since the parent-death signal comes when the thread that spawned ends.
    let child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(cannot_run)?;
    ProcessId::of(child.id()).into_iter().for_each(note);
    let (output, is_overdue) = finish(child, input, limit);
    let output = output.map_err(cannot_run)?;
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() && !is_overdue {
        return Ok(stdout);
    }
    let said = [stdout.as_str(), &String::from_utf8_lossy(&output.stderr)].concat();
    let last = last_words_of(&said, LAST_LINES).join("\n    ");
    let status = match limit {
        Some(limit) if is_overdue => format!("it did not end within {} s", limit.as_secs()),
        _ => output.status.to_string(),
    };
    Err(MachineError::Program { program: name.to_owned(), status, output: last })
}

/// Feeds a child while its output is read: otherwise one that writes much before it reads and we would wait for each
/// other. Returns its output, and whether it was killed for exceeding `limit`.
fn finish(mut child: Child, input: &str, limit: Option<Duration>) -> (io::Result<Output>, bool) {
    let process = ProcessId::of(child.id());
    let stdin = child.stdin.take();
    let (end, ended) = channel::<()>();
    std::thread::scope(|scope| {
        // A program that exits before reading everything explains itself by its status and output.
        scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input.as_bytes())));
        let watch = limit.map(|limit| {
            scope.spawn(move || {
                // Nothing is ever sent: the other side is dropped when the child has ended.
                let is_overdue = ended.recv_timeout(limit) == Err(RecvTimeoutError::Timeout);
                if let Some(process) = process.filter(|_| is_overdue) {
                    kill_family(process);
                }
                is_overdue
            })
        });
        let output = child.wait_with_output();
        drop(end);
        (output, watch.is_some_and(|watch| watch.join().expect("it only waits and sends signals")))
    })
}

/// Kills a process and all that it started. One that a child escapes would keep the output open.
fn kill_family(root: ProcessId) {
    let deadline = Instant::now() + STOP_TIMEOUT;
    let mut stood_still = false;
    let family = loop {
        let found = proctree::tree(root);
        let moving: Vec<ProcessId> = found.iter().copied().filter(|process| !process.is_stopped()).collect();
        // A fork under way is finished although a stop is pending. So all must stand still at one look, and the next
        // look finds all that there will ever be.
        if moving.is_empty() && stood_still || Instant::now() >= deadline {
            break found;
        }
        stood_still = moving.is_empty();
        moving.iter().for_each(|process| _ = process.signal(Signal::STOP));
        std::thread::yield_now();
    };
    family.iter().for_each(|process| _ = process.signal(Signal::KILL));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_escapes_that_is_started_meanwhile() {
        for _ in 0..5 {
            let mut command = program(Account::choose(), OnParentDeath::Kill, Path::new("/bin/sh"));
            // Each of them keeps the output open.
            command.args(["-c", "for n in $(seq 300); do sleep 600 & done; wait"]);
            output_within(command, "sh", Duration::from_millis(20)).expect_err("killed");
        }
    }

    #[test]
    fn runs_under_the_account_with_a_fixed_environment() {
        let mut command = program(Account::choose(), OnParentDeath::Kill, Path::new("/bin/sh"));
        command.args(["-c", "id -u; env | sort | grep -v -e ^PWD -e ^_ -e ^SHLVL; cat"]);
        let text = output(command, "sh", "given").expect("it runs");
        let expected = format!(
            "{}\nHOME=/tmp\nLC_ALL=C.UTF-8\nPATH=/usr/local/bin:/usr/bin:/bin\nTZ=UTC\ngiven",
            Account::choose().uid
        );
        assert_eq!(text, expected);
    }

    #[test]
    fn one_that_writes_before_it_reads_and_one_that_never_reads_both_end() {
        let shell = |script: &str| {
            let mut command = program(Account::choose(), OnParentDeath::Kill, Path::new("/bin/sh"));
            command.args(["-c", script]);
            command
        };
        let input = "line of input\n".repeat(100_000);
        let writes_first = shell("head -c 2000000 /dev/zero >&2; head -c 2000000 /dev/zero; wc -c");
        let text = output(writes_first, "sh", &input).expect("it ends");
        assert_eq!(text.trim_start_matches('\0').trim(), input.len().to_string());
        assert_eq!(output(shell("echo done"), "sh", &input).expect("it ends"), "done\n");
    }

    #[test]
    fn one_that_does_not_end_is_killed_with_what_it_started() {
        let mut command = program(Account::choose(), OnParentDeath::Kill, Path::new("/bin/sh"));
        command.args(["-c", "echo begun; sleep 600; echo over"]);
        let error = output_within(command, "sh", Duration::from_secs(1)).expect_err("killed").to_string();
        assert!(error.starts_with("`sh` failed (it did not end within 1 s): "), "{error}");
        let mut command = program(Account::choose(), OnParentDeath::Kill, Path::new("/bin/echo"));
        command.arg("x");
        assert_eq!(output_within(command, "echo", Duration::from_secs(600)).expect("at once"), "x\n");
    }

    #[test]
    fn finds_programs_and_nothing_else() {
        assert_eq!(find_in_path("sh", OsStr::new("/no/such:/bin")), Some(PathBuf::from("/bin/sh")));
        assert_eq!(find_in_path("passwd", OsStr::new("/etc")), None, "not executable");
        assert_eq!(find_in_path("no-such-program", OsStr::new("/bin")), None);
    }

    #[test]
    fn a_failure_carries_status_and_last_words() {
        let mut command = program(Account::choose(), OnParentDeath::Kill, Path::new("/bin/sh"));
        command.args(["-c", "echo one; echo two >&2; exit 3"]);
        let error = output(command, "sh", "").expect_err("it fails").to_string();
        assert_eq!(error, "`sh` failed (exit status: 3): one\n    two");
    }
}
