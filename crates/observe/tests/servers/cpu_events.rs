//! Events of a real server's processes, counted as those of the CPU are: what the kernel counts itself needs no PMU,
//! and `/proc` tells the same. And what this machine refuses is told with what lifts it.

use crate::server::start;
use rqps_model::cpu_events::{CpuEvents, EventCount};
use rqps_observe::cpu_events::{CPU_EVENTS, EventCounters, KERNEL_EVENTS, refused_here};
use rqps_observe::{HostMeter, ProcessMeter};
use rqps_testkit::{LiveServer, PATIENCE};
use rqps_wire::Session;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Whether this user may count what happens in the kernel; if not, it is the only thing that is refused, and the reason
/// names what lifts it.
fn may_count_in_kernel() -> bool {
    let refused = refused_here(KERNEL_EVENTS);
    for (reason, events) in &refused {
        assert!(reason.contains("sysctl kernel.perf_event_paranoid="), "{refused:#?}");
        assert!(events.iter().all(|event| event.ends_with("(kernel)")), "{refused:#?}");
    }
    refused.is_empty()
}

/// How often the threads of a server that are there left the CPU, as the kernel tells of each.
fn switches(server: &LiveServer) -> u64 {
    let of_thread = |status: String| -> u64 {
        let counts = status.lines().filter_map(|line| line.split_once("ctxt_switches:"));
        counts.map(|(_, count)| count.trim().parse::<u64>().expect("a number")).sum()
    };
    threads(server).filter_map(|thread| fs::read_to_string(thread.join("status")).ok()).map(of_thread).sum()
}

/// The folders of a server's threads.
fn threads(server: &LiveServer) -> impl Iterator<Item = PathBuf> {
    let of_process = |pid: u32| fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    server.pids().into_iter().flat_map(of_process).map(|thread| thread.path())
}

fn both(events: &CpuEvents, name: &str) -> f64 {
    let counts = events.counted.get(name).unwrap_or_else(|| panic!("{name} in {events:#?}"));
    [counts.user, counts.kernel].map(|count| count.expect("both are allowed").count as f64).iter().sum()
}

fn assert_near(what: &str, counted: f64, told: f64, slack: f64) {
    let is_near = (counted - told).abs() <= 0.05 * told + slack;
    assert!(is_near, "{what}: {counted} were counted, and the system tells {told}");
}

fn wait_until(what: &str, has_come: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !has_come() {
        assert!(Instant::now() < deadline, "waiting until {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Sessions begin after counting has begun, each in what a server makes for it: nothing of that is lost, nor when they
/// end.
fn check(spec: &str, memory: &str, sleep: &str) {
    if !may_count_in_kernel() {
        return;
    }
    let server = start(spec, None);
    let connect = || Session::connect(&server.endpoint(), PATIENCE).expect("connected");
    // Threads that serve sessions may be kept for others: these do not begin now. What a process did counts for its
    // parent from the moment that this waits for it, and must not be taken for done later.
    let first = connect();
    let process = PathBuf::from(format!("/proc/{}", first.backend_pid()));
    first.close();
    if server.pids().len() > 1 {
        wait_until("the first session ends", || !process.exists());
    }
    let mut meter = ProcessMeter::new();
    let mut host = HostMeter::open(&std::env::temp_dir()).expect("a host");
    let (before, switched, host_before) = (meter.read(&server.pids()), switches(&server), host.read());
    let mut counters = EventCounters::start(KERNEL_EVENTS, &server.pids());
    let mut sessions: Vec<Session> = (0..4).map(|_| connect()).collect();
    for session in &mut sessions {
        for _ in 0..50 {
            session.execute(sleep).expect("slept");
        }
        session.execute(memory).expect("worked");
    }
    let (counted, told) = (counters.read(), meter.read(&server.pids()).since(&before));
    assert!(counted.refused.is_empty(), "{counted:#?}");
    assert_near("switches", both(&counted, "context_switches"), (switches(&server) - switched) as f64, 20.0);
    let faults = (told.minor_faults + told.major_faults) as f64;
    assert!(faults > 1000.0, "the statement asks for memory: {told:?}");
    assert_near("page faults", both(&counted, "page_faults"), faults, 100.0);
    let clock = counted.counted["task_clock_ns"].kernel.expect("allowed");
    // The event goes on while the hypervisor has the CPU, and the CPU time of a process does not.
    let slack = 0.05 + host.read().since(&host_before).cpu_steal_s;
    assert_near("seconds of CPU time", clock.count as f64 / 1e9, told.cpu_user_s + told.cpu_system_s, slack);
    let is_whole = |count: EventCount| count.share() == Some(1.0) && !count.is_scaled();
    assert!(is_whole(clock), "the kernel counts all the time: {clock:?}");

    // What a session's process or thread has counted stays when that ends.
    let processes = server.pids().len();
    let all = threads(&server).count();
    sessions.into_iter().for_each(Session::close);
    wait_until("a session ends", || processes == 1 || threads(&server).count() != all);
    let after = counters.read();
    for event in ["context_switches", "page_faults", "task_clock_ns"] {
        let (was, is) = (both(&counted, event), both(&after, event));
        assert!(is >= was, "{event}: {was}, and {is} when sessions had ended");
    }
}

#[test]
fn what_sessions_of_postgres_do_is_counted_in_processes_that_begin_later() {
    check(
        "postgres:17.11",
        "select count(*) from (select string_agg(i::text, ',') from generate_series(1, 300000) i) t",
        "select pg_sleep(0.001)",
    );
}

#[test]
fn what_sessions_of_mariadb_do_is_counted_in_threads_that_begin_later() {
    check(
        "mariadb:10.11.18",
        "select length(repeat('x', 8000000)) + length(reverse(repeat('y', 8000000)))",
        "do sleep(0.001)",
    );
}

#[test]
fn what_this_machine_refuses_is_told_with_what_lifts_it() {
    let lifts = ["passes the PMU on", "kernel.perf_event_paranoid=", "this CPU does not count it", "`ulimit -n"];
    let refused = refused_here(CPU_EVENTS);
    for (reason, events) in &refused {
        assert!(lifts.iter().any(|words| reason.contains(words)) && !events.is_empty(), "{refused:#?}");
    }
    // What is neither refused nor counted would be a hole.
    let counted = EventCounters::start(CPU_EVENTS, &[std::process::id()]).read();
    for event in CPU_EVENTS.iter().copied().flatten() {
        let is_refused = refused.values().flatten().any(|name| name.split(' ').next() == Some(event.name));
        assert!(is_refused || counted.counted.contains_key(event.name), "{}: {counted:#?}", event.name);
    }
}
