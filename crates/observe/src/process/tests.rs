//! The meter against real processes that work, sleep, end and vanish.

use super::*;
use rqps_machine::proc_stat::number;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const DEADLINE: Duration = Duration::from_secs(60);

/// A process that is ended with the test.
struct Running(Child);

impl Running {
    fn shell(script: &str) -> Running {
        let child = Command::new("sh").args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
        Running(child.expect("a shell"))
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        for pid in tree(self.pid()).into_iter().rev() {
            // Descendants first; one that has ended already is no fault.
            let pid = rustix::process::Pid::from_raw(pid as i32).expect("not 0");
            _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
        drop(self.0.wait());
    }
}

fn until<T>(mut probe: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = probe() {
            return found;
        }
        assert!(begun.elapsed() < DEADLINE, "not seen within {DEADLINE:?}");
        std::thread::yield_now();
    }
}

#[test]
fn sees_the_cpu_of_a_working_process() {
    let busy = Running::shell("while :; do :; done");
    let mut meter = ProcessMeter::new();
    let start = meter.read(&[busy.pid()]);
    let used = until(|| Some(meter.read(&[busy.pid()]).since(&start)).filter(|used| used.cpu_user_s > 0.2));
    assert!(used.cpu_system_s < used.cpu_user_s + 0.2, "{used:?}");
    assert_eq!(used.processes, 1);
    assert!(meter.read_full(&[busy.pid()]).since(&start).memory_bytes > 10_000);
}

#[test]
fn ended_children_count_through_their_parent() {
    // Each child burns CPU of its own and ends; the parent waits for it. None is ever in the list.
    let parent = Running::shell("while :; do (i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done); done");
    let mut meter = ProcessMeter::new();
    let start = meter.read(&[parent.pid()]);
    let used = until(|| Some(meter.read(&[parent.pid()]).since(&start)).filter(|used| used.cpu_user_s > 0.3));
    assert_eq!(used.processes, 1);
    assert!(used.minor_faults > 0, "{used:?}");
}

#[test]
fn a_child_that_moves_from_the_list_to_its_parent_counts_once() {
    let script = "sh -c 'i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done; read x' <&0; read y";
    let mut parent = Running::shell(script);
    let child = until(|| tree(parent.pid()).get(1).copied());
    let mut meter = ProcessMeter::new();
    let start = ProcessReading::default();
    // The child has done its work when it sleeps in its read.
    let sleeps = || fs::read_to_string(format!("/proc/{child}/stat")).is_ok_and(|text| text.contains(") S "));
    let seen = until(|| {
        let used = meter.read(&[parent.pid(), child]).since(&start);
        (used.cpu_user_s > 0.02 && sleeps()).then(|| meter.read(&[parent.pid(), child]).since(&start))
    });
    use std::io::Write;
    parent.0.stdin.as_mut().expect("piped").write_all(b"go\n").expect("told");
    let after = until(|| Some(meter.read(&[parent.pid()]).since(&start)).filter(|used| used.processes == 1));
    let (before_s, after_s) = (seen.cpu_user_s + seen.cpu_system_s, after.cpu_user_s + after.cpu_system_s);
    assert!((after_s - before_s).abs() < 0.05, "{before_s} s with the child alive, {after_s} s after it ended");
}

#[test]
fn totals_survive_the_end_of_all() {
    let busy = Running::shell("while :; do :; done");
    let pid = busy.pid();
    let mut meter = ProcessMeter::new();
    let start = meter.read(&[pid]);
    let last = until(|| Some(meter.read(&[pid])).filter(|now| now.since(&start).cpu_user_s > 0.05));
    drop(busy);
    let after = meter.read(&[pid]);
    assert_eq!((after.cpu_ns, after.processes), (last.cpu_ns, 0));
    assert_eq!(meter.read_full(&[pid]).memory_bytes, Some(0));
}

#[test]
fn processes_that_never_were_are_nothing() {
    let mut meter = ProcessMeter::new();
    assert_eq!(meter.read(&[0, u32::MAX, 4_194_305]), ProcessReading::default());
    assert_eq!(meter.read(&[]).since(&ProcessReading::default()), ProcessUse::default());
}

#[test]
fn what_ended_and_was_not_waited_for_counts_but_is_no_process() {
    // The program that the shell becomes waits for nobody.
    let parent = Running::shell("sh -c 'i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done' & exec sleep 600");
    let child = until(|| tree(parent.pid()).get(1).copied());
    until(|| fs::read_to_string(format!("/proc/{child}/stat")).ok().filter(|text| text.contains(") Z ")));
    // What the parent does until it sleeps would count too.
    until(|| {
        fs::read_to_string(format!("/proc/{}/stat", parent.pid())).ok().filter(|text| text.contains("(sleep) S "))
    });
    let schedstat = fs::read(format!("/proc/{child}/schedstat")).expect("it can still be read");
    let took_ns = numbers(&schedstat).next().expect("a number");
    assert!(took_ns > 20_000_000, "{took_ns} ns");

    let alone = ProcessMeter::new().read(&[parent.pid()]);
    let whole = ProcessMeter::new().read_full(&[parent.pid(), child]);
    assert_eq!(whole.cpu_ns - alone.cpu_ns, took_ns);
    assert_eq!((alone.processes, whole.processes), (1, 1));
    // Shells of other tests share pages with it, so it is never quite the same.
    let (of_all, of_one) = (whole.memory_bytes.expect("read in full"), memory_bytes(std::iter::once(parent.pid())));
    assert!(of_all < 2 * of_one, "{of_all} bytes, and {of_one} of the only one that has any");
}

#[test]
fn no_time_is_lost_or_counted_twice_where_children_are_waited_for() {
    let burn = "sh -c 'i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done' & ";
    let mut parent = Running::shell(&format!("{}read x; wait; read y", burn.repeat(4)));
    let pid = parent.pid();
    let mut meter = ProcessMeter::new();
    let mut whole_ns = || meter.read(&tree(pid)).cpu_ns;
    // What is inherited is told in ticks, of user and of system time.
    let slack_ns = 2 * ns_per_tick();
    let has_ended = |pid: &u32| pid_stat(*pid).is_none_or(|stat| stat.has_ended());
    // A shell waits for them at once, or when it comes to `wait`.
    let before_ns = until(|| {
        let now_ns = whole_ns();
        (now_ns > 4 * slack_ns && tree(pid)[1..].iter().all(has_ended)).then(&mut whole_ns)
    });
    use std::io::Write;
    parent.0.stdin.as_mut().expect("piped").write_all(b"go\n").expect("told");
    let (mut least_ns, mut most_ns) = (before_ns, before_ns);
    let mut look = || {
        let now_ns = whole_ns();
        (least_ns, most_ns) = (least_ns.min(now_ns), most_ns.max(now_ns));
    };
    until(|| {
        look();
        (tree(pid).len() == 1).then_some(())
    });
    look();
    assert!(least_ns + slack_ns > before_ns && most_ns < before_ns + slack_ns, "{least_ns} {before_ns} {most_ns}");
}

#[test]
fn a_tree_lists_descendants() {
    let parent = Running::shell("sh -c 'sh -c \"read x\" <&0; read y' <&0; read z");
    let found = until(|| Some(tree(parent.pid())).filter(|found| found.len() == 3));
    assert_eq!(found[0], parent.pid());
}

#[test]
fn the_proportion_of_few_ticks_is_taken_from_all() {
    let earlier =
        ProcessReading { cpu_ns: 1_000_000_000, user_ticks: 75, system_ticks: 25, ..ProcessReading::default() };
    let later = ProcessReading { cpu_ns: 1_010_000_000, user_ticks: 75, system_ticks: 26, ..earlier };
    let used = later.since(&earlier);
    assert!((used.cpu_user_s - 0.01 * 75.0 / 101.0).abs() < 1e-12, "{used:?}");
    let much_later = ProcessReading { cpu_ns: 2_000_000_000, user_ticks: 95, system_ticks: 105, ..earlier };
    let used = much_later.since(&earlier);
    assert!((used.cpu_user_s - 0.2).abs() < 1e-12 && (used.cpu_system_s - 0.8).abs() < 1e-12, "{used:?}");
}

fn numeric_entries(folder: &str) -> Vec<u32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| u32::try_from(number(entry.file_name().as_encoded_bytes())?).ok()).collect()
}

/// A process and all its living descendants, itself first.
fn tree(root: u32) -> Vec<u32> {
    let parents: Vec<(u32, u32)> =
        numeric_entries("/proc").into_iter().filter_map(|pid| Some((pid, pid_stat(pid)?.parent))).collect();
    let mut found = vec![root];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        found.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
        next += 1;
    }
    found
}
