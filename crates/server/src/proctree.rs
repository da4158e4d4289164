//! Processes as the kernel shows them: who lives, who descends from whom, and signals that cannot hit a stranger.
//!
//! In: process ids. Out: ids with their start time, since a bare pid is given out again after its process is gone.
//! Every signal first checks the start time, through a descriptor that stays with the one process. It must not pick
//! a process by its name.

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A process that is never confused with a later one of the same pid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ProcessId {
    /// The pid.
    pub pid: u32,
    /// When it started, in clock ticks since boot.
    pub start_ticks: u64,
}

/// What `/proc/<pid>/stat` says of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stat {
    state: char,
    parent: u32,
    start_ticks: u64,
}

impl ProcessId {
    /// The process that has this pid now.
    pub fn of(pid: u32) -> Option<ProcessId> {
        stat(pid).map(|s| ProcessId { pid, start_ticks: s.start_ticks })
    }

    /// Ourselves.
    pub fn own() -> ProcessId {
        ProcessId::of(std::process::id()).expect("a process finds itself in /proc")
    }

    /// Whether it still runs; a process that ended and was not yet waited for does not.
    pub fn is_alive(self) -> bool {
        self.state().is_some_and(|state| !matches!(state, 'Z' | 'X'))
    }

    /// Whether it is stopped by a signal.
    pub fn is_stopped(self) -> bool {
        self.state() == Some('T')
    }

    /// Sends a signal if the process is still there; says whether it was.
    pub fn signal(self, signal: Signal) -> bool {
        let Some(pid) = Pid::from_raw(self.pid.cast_signed()) else { return false };
        match pidfd_open(pid, PidfdFlags::empty()) {
            // The descriptor is of whoever had the pid when it was opened: check after, send through it.
            Ok(fd) => self.is_alive() && pidfd_send_signal(&fd, signal).is_ok(),
            Err(rustix::io::Errno::NOSYS) => self.is_alive() && rustix::process::kill_process(pid, signal).is_ok(),
            Err(_) => false,
        }
    }

    /// Current folder and program of the process, where we may see them.
    pub fn folder_and_program(self) -> Option<(PathBuf, PathBuf)> {
        let link = |name: &str| fs::read_link(format!("/proc/{}/{name}", self.pid)).ok();
        let program = link("exe")?;
        let text = program.to_string_lossy();
        // An upgraded or removed file is marked so by the kernel.
        let program = text.strip_suffix(" (deleted)").map(PathBuf::from).unwrap_or_else(|| program.clone());
        Some((link("cwd")?, program)).filter(|_| self.is_alive())
    }

    fn state(self) -> Option<char> {
        stat(self.pid).filter(|s| s.start_ticks == self.start_ticks).map(|s| s.state)
    }
}

/// Every process that there is.
pub fn all() -> Vec<ProcessId> {
    snapshot().iter().map(|(&pid, s)| ProcessId { pid, start_ticks: s.start_ticks }).collect()
}

/// A process and all its descendants that live, the process first; empty if it is gone.
pub fn tree(root: ProcessId) -> Vec<ProcessId> {
    let all = snapshot();
    if all.get(&root.pid).is_none_or(|s| s.start_ticks != root.start_ticks) {
        return Vec::new();
    }
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (&pid, s) in &all {
        children.entry(s.parent).or_default().push(pid);
    }
    let mut found = vec![root];
    let mut next = 0;
    while next < found.len() {
        for &pid in children.get(&found[next].pid).into_iter().flatten() {
            found.push(ProcessId { pid, start_ticks: all[&pid].start_ticks });
        }
        next += 1;
    }
    // One that has ended and was not waited for is not there for anybody any more.
    found.retain(|p| !matches!(all[&p.pid].state, 'Z' | 'X'));
    found
}

/// Waits until none of the processes is alive; gives those that still are when the time is over.
pub fn wait_gone(processes: &[ProcessId], timeout: Duration) -> Vec<ProcessId> {
    let deadline = Instant::now() + timeout;
    loop {
        let alive: Vec<ProcessId> = processes.iter().copied().filter(|p| p.is_alive()).collect();
        if alive.is_empty() || Instant::now() >= deadline {
            return alive;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn snapshot() -> BTreeMap<u32, Stat> {
    let Ok(entries) = fs::read_dir("/proc") else { return BTreeMap::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| Some((pid, stat(pid)?))).collect()
}

fn stat(pid: u32) -> Option<Stat> {
    parse_stat(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// Fields as in proc(5); the program's name stands in parentheses and may itself hold spaces and parentheses.
fn parse_stat(text: &str) -> Option<Stat> {
    let (_, rest) = text.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    Some(Stat {
        state: fields.first()?.chars().next()?,
        parent: fields.get(1)?.parse().ok()?,
        start_ticks: fields.get(19)?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn reads_a_stat_line_with_a_nasty_name() {
        let text = "77 (a) b (c) T 5 1 1 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 4711 1 1";
        assert_eq!(parse_stat(text), Some(Stat { state: 'T', parent: 5, start_ticks: 4711 }));
        assert_eq!(parse_stat("77 (a) T"), None);
    }

    #[test]
    fn finds_descendants_and_signals_only_the_right_one() {
        let mut shell =
            Command::new("sh").args(["-c", "sleep 60 & wait"]).stdin(Stdio::null()).spawn().expect("a shell");
        let root = ProcessId::of(shell.id()).expect("it runs");
        let deadline = Instant::now() + Duration::from_secs(10);
        while tree(root).len() < 2 {
            assert!(Instant::now() < deadline, "the shell starts its child");
            std::thread::sleep(Duration::from_millis(2));
        }
        let family = tree(root);
        assert_eq!(family[0], root);

        let stranger = ProcessId { pid: root.pid, start_ticks: root.start_ticks + 1 };
        assert!(!stranger.signal(Signal::KILL) && !stranger.is_alive() && root.is_alive());
        assert_eq!(tree(stranger), []);

        // The shell first: without its child it would leave by itself.
        for process in &family {
            assert!(process.signal(Signal::KILL));
        }
        assert_eq!(wait_gone(&family, Duration::from_secs(10)), []);
        shell.wait().expect("waited for");
        assert!(!root.signal(Signal::KILL), "gone");
    }
}
