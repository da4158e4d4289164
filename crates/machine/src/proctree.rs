//! Processes as the kernel shows them: who lives, who descends from whom, and signals that cannot hit a stranger.
//!
//! In: process ids. Out: ids with their start time, since a bare pid is given out again after its process is gone.
//! Every signal first checks the start time, through a descriptor that stays with the one process. It must not pick
//! a process by its name.

use crate::proc_stat::PidStat;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often one looks for the end of a process where the kernel does not tell.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// A process that is never confused with a later one of the same pid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ProcessId {
    /// The pid.
    pub pid: u32,
    /// When it started, in clock ticks since boot.
    pub start_ticks: u64,
}

impl ProcessId {
    /// The process that has this pid now.
    pub fn of(pid: u32) -> Option<ProcessId> {
        stat(&entry(pid)).map(|s| ProcessId { pid, start_ticks: s.start })
    }

    /// Ourselves.
    pub fn own() -> ProcessId {
        ProcessId::of(std::process::id()).expect("a process finds itself in /proc")
    }

    /// The pid of its parent; `None` once it is gone.
    pub fn parent(self) -> Option<u32> {
        self.stat().map(|s| s.parent)
    }

    /// The user that it runs as; `None` once it is gone.
    pub fn user(self) -> Option<u32> {
        let status = fs::read_to_string(entry(self.pid).join("status")).ok()?;
        let users = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
        users.split_ascii_whitespace().next()?.parse().ok().filter(|_| self.stat().is_some())
    }

    /// Its threads by id, each with its folder in `/proc`; none once it is gone.
    pub fn threads(self) -> BTreeMap<u32, PathBuf> {
        let folder = self.stat().and_then(|_| fs::read_dir(entry(self.pid).join("task")).ok());
        let threads = folder.into_iter().flatten().flatten();
        threads.filter_map(|thread| Some((thread.file_name().to_str()?.parse().ok()?, thread.path()))).collect()
    }

    /// Whether this is one of its threads, without listing them all.
    pub fn has_thread(self, thread: u32) -> bool {
        self.stat().is_some() && entry(self.pid).join("task").join(thread.to_string()).exists()
    }

    /// Whether it still runs; a process that ended and was not yet waited for does not.
    pub fn is_alive(self) -> bool {
        self.stat().is_some_and(|s| !s.has_ended())
    }

    /// Whether it is stopped by a signal.
    pub fn is_stopped(self) -> bool {
        self.living_entry().and_then(|entry| stat(&entry)).is_some_and(|s| s.state == b'T')
    }

    /// Sends a signal if the process is still there; returns whether it was.
    pub fn signal(self, signal: Signal) -> bool {
        let Some(pid) = Pid::from_raw(self.pid.cast_signed()) else { return false };
        match pidfd_open(pid, PidfdFlags::empty()) {
            // The descriptor is of the process that had the pid when it was opened: check after, send through it.
            Ok(fd) => self.is_alive() && pidfd_send_signal(&fd, signal).is_ok(),
            Err(rustix::io::Errno::NOSYS) => self.is_alive() && rustix::process::kill_process(pid, signal).is_ok(),
            Err(_) => false,
        }
    }

    /// Waits until it has ended, however long that takes.
    pub fn wait_end(self) {
        while !self.ends_within(Duration::MAX) {}
    }

    /// Waits until it has ended, but no longer than this; whether it has.
    pub fn ends_within(self, limit: Duration) -> bool {
        let begun = Instant::now();
        let pid = Pid::from_raw(self.pid.cast_signed());
        let fd = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        // As with a signal: the descriptor is of the process that had the pid when it was opened.
        while self.is_alive() {
            let left = limit.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return false;
            }
            match &fd {
                // A limit that the kernel cannot express is none.
                Some(fd) => _ = poll(&mut [PollFd::new(fd, PollFlags::IN)], Timespec::try_from(left).ok().as_ref()),
                None => std::thread::sleep(LOOK_EVERY.min(left)),
            }
        }
        true
    }

    /// Current folder and program of the process, where we may see them.
    pub fn folder_and_program(self) -> Option<(PathBuf, PathBuf)> {
        let entry = self.living_entry()?;
        let link = |name: &str| fs::read_link(entry.join(name)).ok();
        let program = link("exe")?;
        let text = program.to_string_lossy();
        // An upgraded or removed file is marked so by the kernel.
        let program = text.strip_suffix(" (deleted)").map(PathBuf::from).unwrap_or_else(|| program.clone());
        Some((link("cwd")?, program)).filter(|_| self.is_alive())
    }

    fn stat(self) -> Option<PidStat> {
        stat(&entry(self.pid)).filter(|s| s.start == self.start_ticks)
    }

    /// Where the kernel shows what it is doing: its own entry, or that of a thread which outlives the main thread.
    fn living_entry(self) -> Option<PathBuf> {
        let own = entry(self.pid);
        if self.stat()?.state != b'Z' {
            return Some(own);
        }
        self.threads().into_values().find(|thread| stat(thread).is_some_and(|s| !matches!(s.state, b'Z' | b'X')))
    }
}

/// Every process that there is.
pub fn all() -> Vec<ProcessId> {
    snapshot().iter().map(|(&pid, s)| ProcessId { pid, start_ticks: s.start }).collect()
}

/// Every process whose current folder is this one, which is given without symbolic links, with its program.
pub fn standing_in(folder: &Path) -> Vec<(ProcessId, PathBuf)> {
    let found = all().into_iter().filter_map(|process| Some((process, process.folder_and_program()?)));
    found.filter(|(_, (standing, _))| standing == folder).map(|(process, (_, program))| (process, program)).collect()
}

/// The processes of the group that a process leads or led which stand in a folder or below it. Children that lost their
/// parent are still of its group, and as long as there are any, no other process gets its pid.
pub fn group_in(leader: ProcessId, folder: &Path) -> Vec<ProcessId> {
    let all = snapshot();
    if all.get(&leader.pid).is_some_and(|s| s.start != leader.start_ticks) {
        return Vec::new();
    }
    let members = all.iter().filter(|(_, s)| s.group == leader.pid && !s.has_ended());
    let members = members.map(|(&pid, s)| ProcessId { pid, start_ticks: s.start });
    let stands_there = |process: &ProcessId| process.folder_and_program().is_some_and(|(at, _)| at.starts_with(folder));
    members.filter(stands_there).collect()
}

/// A process and all its descendants that live, the process first; empty if it is gone.
pub fn tree(root: ProcessId) -> Vec<ProcessId> {
    let all = snapshot();
    // One that has ended and was not waited for counts as gone.
    descendants(root, &all).into_iter().filter(|p| !all[&p.pid].has_ended()).collect()
}

/// [`tree`] with those that ended and were not waited for: until then their time is not added to their
/// parent's.
pub fn tree_with_ended(root: ProcessId) -> Vec<ProcessId> {
    descendants(root, &snapshot())
}

fn descendants(root: ProcessId, all: &BTreeMap<u32, PidStat>) -> Vec<ProcessId> {
    if all.get(&root.pid).is_none_or(|s| s.start != root.start_ticks) {
        return Vec::new();
    }
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (&pid, s) in all {
        children.entry(s.parent).or_default().push(pid);
    }
    let mut found = vec![root];
    let mut next = 0;
    while next < found.len() {
        for &pid in children.get(&found[next].pid).into_iter().flatten() {
            found.push(ProcessId { pid, start_ticks: all[&pid].start });
        }
        next += 1;
    }
    found
}

/// Stops processes where they are until `find` shows none that moves, parents before the children that they may start;
/// returns those that still move when the time is over.
pub fn freeze(find: impl Fn() -> Vec<ProcessId>, timeout: Duration) -> Vec<ProcessId> {
    let deadline = Instant::now() + timeout;
    loop {
        let moving: Vec<ProcessId> = find().into_iter().filter(|p| p.is_alive() && !p.is_stopped()).collect();
        if moving.is_empty() || Instant::now() >= deadline {
            return moving;
        }
        moving.iter().for_each(|p| _ = p.signal(Signal::STOP));
        std::thread::yield_now();
    }
}

/// Waits until none of the processes is alive; returns those that still are when the time is over.
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

fn snapshot() -> BTreeMap<u32, PidStat> {
    let Ok(entries) = fs::read_dir("/proc") else { return BTreeMap::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| Some((pid, stat(&entry(pid))?))).collect()
}

fn entry(pid: u32) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}"))
}

fn stat(entry: &Path) -> Option<PidStat> {
    PidStat::parse(&fs::read(entry.join("stat")).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    /// Its main thread ends at once, the other a minute later.
    const HEADLESS: &str = "
        #include <pthread.h>
        #include <unistd.h>
        static void *stay(void *nothing) { sleep(60); return nothing; }
        int main(void) { pthread_t thread; pthread_create(&thread, 0, stay, 0); pthread_exit(0); }";

    fn wait_until(what: &str, is_so: impl Fn() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(10);
        while !is_so() {
            assert!(Instant::now() < deadline, "{what}");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    #[test]
    fn a_process_lives_as_long_as_its_last_thread() {
        let folder = tempfile::tempdir().expect("a folder");
        let (source, program) = (folder.path().join("headless.c"), folder.path().join("headless"));
        fs::write(&source, HEADLESS).expect("written");
        // The linker of Rust itself, so it is there.
        let mut compiler = Command::new("cc");
        assert!(compiler.args(["-pthread", "-o"]).arg(&program).arg(&source).status().expect("a compiler").success());
        let mut child = Command::new(&program).current_dir(folder.path()).spawn().expect("it runs");
        let process = ProcessId::of(child.id()).expect("it is there");
        wait_until("its main thread ends", || process.stat().is_some_and(|s| s.state == b'Z'));

        assert!(process.is_alive());
        assert_eq!(process.threads().len(), 2, "a main thread that has ended stays until the last one ends");
        assert_eq!(tree(process), [process]);
        assert_eq!(wait_gone(&[process], Duration::ZERO), [process]);
        let here = fs::canonicalize(folder.path()).expect("it is there");
        assert_eq!(process.folder_and_program(), Some((here.clone(), here.join("headless"))));
        assert!(process.signal(Signal::STOP));
        wait_until("it stops", || process.is_stopped());

        let waiter = std::thread::spawn(move || process.wait_end());
        assert!(!waiter.is_finished());
        assert!(process.signal(Signal::KILL));
        waiter.join().expect("it has seen the end");
        assert_eq!(wait_gone(&[process], Duration::ZERO), []);
        assert_eq!((tree(process), process.folder_and_program()), (Vec::new(), None));
        assert_eq!(process.stat().map(|s| s.state), Some(b'Z'), "nobody has waited for it yet");
        child.wait().expect("waited for");
    }

    #[test]
    fn orphans_are_of_their_group_as_far_as_they_stand_in_its_folder() {
        use std::os::unix::process::CommandExt;
        let folder = tempfile::tempdir().expect("a folder");
        let here = fs::canonicalize(folder.path()).expect("it is there");
        fs::create_dir(here.join("inner")).expect("a folder");
        // The first stands below the folder, the second elsewhere, and both lose their parent.
        let script = "(cd inner; exec sleep 60) & (cd /; exec sleep 60) & wait";
        let mut shell = Command::new("sh");
        let mut shell = shell.args(["-c", script]).current_dir(&here).process_group(0).spawn().expect("a shell");
        let leader = ProcessId::of(shell.id()).expect("it runs");
        let runs_sleep = |p: &ProcessId| p.folder_and_program().is_some_and(|(_, program)| program.ends_with("sleep"));
        let sleeping = || tree(leader).into_iter().filter(|p| *p != leader && runs_sleep(p)).collect::<Vec<_>>();
        wait_until("both sleep", || sleeping().len() == 2);
        let both = sleeping();
        assert!(leader.signal(Signal::KILL));
        shell.wait().expect("waited for");
        assert_eq!(tree(leader), [], "they have no parent that is known");
        let found = group_in(leader, &here);
        assert!(found.len() == 1 && both.contains(&found[0]), "{found:?} of {both:?}");
        assert_eq!(group_in(leader, Path::new("/")).len(), 2);
        let stranger = ProcessId { pid: std::process::id(), start_ticks: 1 };
        assert_eq!(group_in(stranger, Path::new("/")), [], "another has the pid now");
        both.iter().for_each(|p| _ = p.signal(Signal::KILL));
        assert_eq!(wait_gone(&both, Duration::from_secs(10)), []);
    }

    #[test]
    fn an_ended_child_is_in_the_tree_with_ended_until_it_is_waited_for() {
        // The program that the shell becomes waits for no child.
        let mut parent = Command::new("sh").args(["-c", "true & exec sleep 60"]).spawn().expect("a shell");
        let root = ProcessId::of(parent.id()).expect("it runs");
        let ended = || tree_with_ended(root).get(1).copied().filter(|child| !child.is_alive());
        wait_until("the child ends", || ended().is_some());
        assert_eq!(tree(root), [root]);
        parent.kill().expect("killed");
        parent.wait().expect("waited for");
        assert_eq!(tree_with_ended(root), []);
    }

    #[test]
    fn finds_descendants_and_signals_only_the_right_one() {
        let mut shell =
            Command::new("sh").args(["-c", "sleep 60 & wait"]).stdin(Stdio::null()).spawn().expect("a shell");
        let root = ProcessId::of(shell.id()).expect("it runs");
        wait_until("the shell starts its child", || tree(root).len() == 2);
        let family = tree(root);
        assert_eq!(family[0], root);

        let stranger = ProcessId { pid: root.pid, start_ticks: root.start_ticks + 1 };
        assert!(!stranger.signal(Signal::KILL) && !stranger.is_alive() && root.is_alive());
        assert_eq!(tree(stranger), []);
        assert!(stranger.threads().is_empty() && stranger.parent().is_none());
        assert_eq!(root.threads().into_keys().collect::<Vec<_>>(), [root.pid]);
        assert!(root.has_thread(root.pid) && !root.has_thread(family[1].pid) && !stranger.has_thread(root.pid));
        assert_eq!(root.parent(), Some(std::process::id()));
        assert_eq!((root.user(), stranger.user()), (Some(rustix::process::getuid().as_raw()), None));

        // The shell first: without its child it would leave by itself.
        for process in &family {
            assert!(process.signal(Signal::KILL));
        }
        assert_eq!(wait_gone(&family, Duration::from_secs(10)), []);
        shell.wait().expect("waited for");
        assert!(!root.signal(Signal::KILL), "gone");
    }
}
