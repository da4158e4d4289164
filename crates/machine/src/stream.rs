//! The output of a program, read while it runs.
//!
//! In: a lease, a folder that the program stands in, its command. Out: what it writes, through a pipe and never kept.
//! A program that fails makes the last read fail with what it said. It must not outlive its reader: it is in the lease
//! before it starts, dies with the thread that started it, and is killed where the reader gives up.

use crate::last_words::last_words_of;
use crate::lease::Lease;
use crate::proctree::ProcessId;
use crate::{MachineError, Result};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::thread::JoinHandle;

/// How many last lines of what the program said an error carries.
const LAST_LINES: usize = 10;

/// More of what it said is read and dropped.
const SAID_BYTES: usize = 256 << 10;

/// A program under way.
#[derive(Debug)]
pub struct ProgramOutput {
    name: String,
    child: Child,
    stdout: ChildStdout,
    said: Option<JoinHandle<Vec<u8>>>,
    lease: Lease,
    folder: PathBuf,
    is_over: bool,
}

impl ProgramOutput {
    /// Starts a program that stands in `folder`, one for it alone.
    pub fn start(
        lease: &Lease,
        folder: &Path,
        program: &Path,
        mut command: Command,
        name: &str,
    ) -> Result<ProgramOutput> {
        let real = |path: &Path| std::fs::canonicalize(path).map_err(MachineError::at("find", path));
        let folder = real(folder)?;
        lease.add_program(&folder, &real(program)?)?;
        command.current_dir(&folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let started = command.spawn().map_err(|error| MachineError::Program {
            program: name.to_owned(),
            status: "it could not be run".to_owned(),
            output: error.to_string(),
        });
        let mut child = match started {
            Ok(child) => child,
            Err(error) => {
                lease.remove_program(&folder)?;
                return Err(error);
            }
        };
        let stdout = child.stdout.take().expect("it is piped");
        let stderr = child.stderr.take().expect("it is piped");
        let said = Some(std::thread::spawn(move || said(stderr)));
        let process = ProcessId::of(child.id());
        let output =
            ProgramOutput { name: name.to_owned(), child, stdout, said, lease: lease.clone(), folder, is_over: false };
        if let Some(process) = process {
            output.lease.set_process(&output.folder, process)?;
        }
        Ok(output)
    }

    /// How it ended, once there is nothing more to read.
    fn end(&mut self) -> io::Result<()> {
        self.is_over = true;
        let status = self.child.wait()?;
        let said = self.said.take().and_then(|said| said.join().ok()).unwrap_or_default();
        if status.success() {
            return Ok(());
        }
        let output = last_words_of(&String::from_utf8_lossy(&said), LAST_LINES).join("\n    ");
        Err(io::Error::other(MachineError::Program { program: self.name.clone(), status: status.to_string(), output }))
    }
}

impl Read for ProgramOutput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_over || buffer.is_empty() {
            return Ok(0);
        }
        let read = self.stdout.read(buffer)?;
        if read == 0 {
            self.end()?;
        }
        Ok(read)
    }
}

impl Drop for ProgramOutput {
    fn drop(&mut self) {
        if !self.is_over {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        // What cannot be taken out of the lease is a program that is gone, which the next start sees.
        let _ = self.lease.remove_program(&self.folder);
    }
}

/// What a program says, up to its end or more than anybody reads.
fn said(mut stderr: ChildStderr) -> Vec<u8> {
    let mut said = Vec::new();
    let mut part = [0; 8192];
    while let Ok(read @ 1..) = stderr.read(&mut part) {
        said.extend_from_slice(&part[..read]);
        let over = said.len().saturating_sub(SAID_BYTES);
        said.drain(..over);
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cache;
    use crate::command::users_program;

    fn start(folder: &Path, lease: &Lease, script: &str) -> ProgramOutput {
        let shell = Path::new("/bin/sh");
        let mut command = users_program(shell);
        command.args(["-c", script]);
        ProgramOutput::start(lease, folder, shell, command, "sh").expect("it starts")
    }

    #[test]
    fn what_a_program_writes_is_read_and_its_failure_told_with_its_words() {
        let root = tempfile::tempdir().expect("a folder");
        let lease = Lease::open(&Cache::at(root.path()).expect("a cache")).expect("a lease");
        let mut text = String::new();
        start(root.path(), &lease, "printf one; printf two").read_to_string(&mut text).expect("it ends well");
        assert_eq!(text, "onetwo");
        // More than a pipe holds on both sides.
        let script = "head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2; echo 'it broke' >&2; exit 3";
        let mut bytes = Vec::new();
        let error = start(root.path(), &lease, script).read_to_end(&mut bytes).expect_err("it fails").to_string();
        assert_eq!(bytes.len(), 300_000);
        assert!(error.contains("`sh` failed (exit status: 3)") && error.contains("it broke"), "{error}");
    }

    #[test]
    fn one_whose_reader_gives_up_is_gone() {
        let root = tempfile::tempdir().expect("a folder");
        let lease = Lease::open(&Cache::at(root.path()).expect("a cache")).expect("a lease");
        let mut output = start(root.path(), &lease, "echo begun; exec sleep 600");
        let process = ProcessId::of(output.child.id()).expect("it runs");
        let mut begun = [0; 6];
        output.read_exact(&mut begun).expect("it writes");
        let noted = std::fs::read_dir(root.path().join("leases")).expect("listed").flatten();
        let is_noted = noted.filter_map(|file| std::fs::read_to_string(file.path()).ok());
        assert!(is_noted.into_iter().any(|text| text.contains(&format!("\"pid\": {}", process.pid))));
        drop(output);
        assert!(!process.is_alive());
    }
}
