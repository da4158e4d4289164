//! How programs of a build are run: under the server's account, with a fixed environment, and not outliving us.
//!
//! In: an account, a program and its arguments. Out: a command ready to run, or the output of one that ran to its
//! end. The user's own environment does not reach the programs, so that two starts cannot differ by it.

use crate::process::log::last_words_of;
use crate::{Account, Result, ServerError};
use rqps_model::facts::BuildFacts;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How many last lines of a program's output an error carries.
const LAST_LINES: usize = 20;

/// The signal that a program gets when the thread that started it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnParentDeath {
    /// A server: leave at once, without a checkpoint, but in order.
    Quit,
    /// A tool: be gone.
    Kill,
}

/// Whether `setpriv` is there to have the kernel take our servers down when we die.
pub fn has_parent_death_signal() -> bool {
    let mut probe = Command::new("setpriv");
    probe.args(["--pdeathsig", "KILL", "true"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
}

/// A program of the user's own, with the user's environment, that does not outlive the thread that starts it.
pub(crate) fn users_program(program: &Path) -> Command {
    if !has_parent_death_signal() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "--"]).arg(program);
    command
}

/// Looks for a program as a shell would.
pub(crate) fn find_in_path(name: &str, path: &OsStr) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let is_program = |file: &PathBuf| file.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0);
    std::env::split_paths(path).map(|folder| folder.join(name)).find(is_program)
}

/// A program under an account, in its own process group, so that Ctrl-C in a terminal reaches rqps alone.
///
/// The parent-death signal fires when the *thread* that spawns ends, not the process: spawn from a thread that lives
/// as long as the program shall.
pub fn program(account: Account, on_death: OnParentDeath, program: &Path) -> Command {
    let mut command = if has_parent_death_signal() {
        let mut wrapped = Command::new("setpriv");
        let signal = match on_death {
            OnParentDeath::Quit => "QUIT",
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

/// The server program of a build under an account, with the build's own libraries where it needs them.
pub fn server_program(build: &BuildFacts, account: Account, on_death: OnParentDeath) -> Result<Command> {
    let server = crate::program(build)?;
    let server = std::fs::canonicalize(&server).map_err(ServerError::at("find", &server))?;
    if build.library_folders.is_empty() {
        return Ok(program(account, on_death, &server));
    }
    // Only the server itself may see them: they can be of another C library than the tools that start it.
    let folders: Vec<String> =
        build.library_folders.iter().map(|folder| build.folder.join(folder).display().to_string()).collect();
    let mut command = program(account, on_death, Path::new("/usr/bin/env"));
    command.arg(format!("LD_LIBRARY_PATH={}", folders.join(":"))).arg(server);
    Ok(command)
}

/// Runs a program to its end and gives what it wrote to stdout; `input` goes to its stdin.
pub fn output(mut command: Command, name: &str, input: &str) -> Result<String> {
    let cannot_run = |e: io::Error| ServerError::Program {
        program: name.to_owned(),
        status: "it could not be run".to_owned(),
        output: e.to_string(),
    };
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(cannot_run)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that leaves before it read all says why by its status and output.
        let _ = stdin.write_all(input.as_bytes());
    }
    let output = child.wait_with_output().map_err(cannot_run)?;
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(stdout);
    }
    let said = [stdout.as_str(), &String::from_utf8_lossy(&output.stderr)].concat();
    let last = last_words_of(&said, LAST_LINES).join("\n    ");
    Err(ServerError::Program { program: name.to_owned(), status: output.status.to_string(), output: last })
}

#[cfg(test)]
mod tests {
    use super::*;

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
