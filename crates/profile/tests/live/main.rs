//! Real servers that work, and what sampling says of them.

#![expect(clippy::unwrap_used, reason = "a test may panic, and says where")]

use rqps_observe::{HostMeter, ProcessMeter};
use rqps_profile::{Profile, Profiler, Refused};
use rqps_testkit::{LiveServer, PATIENCE, Wanted};
use rqps_wire::Session;
use rustix::time::{ClockId, clock_gettime};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// All clocks of the machine's CPUs and switches are sampled: one test's would fall to the other's share.
static ALONE: Mutex<()> = Mutex::new(());

fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Whether this user may sample; if not, the reason must name what lifts it.
fn may_sample() -> bool {
    match rqps_profile::check() {
        Ok(()) => true,
        Err(refused) => {
            assert!(matches!(refused, Refused::NotAllowed), "{refused}");
            assert!(refused.to_string().contains("perf_event_paranoid"), "{refused}");
            false
        }
    }
}

/// What a server did that was sampled.
struct Worked {
    /// Its own, and that of another server, which did nothing.
    profiles: Vec<Profile>,
    /// Seconds of CPU time that the system counted for it.
    cpu_s: f64,
    /// Seconds for which the hypervisor had the CPUs meanwhile: a clock goes on in them, and the system counts them for
    /// nobody.
    stolen_s: f64,
    statements: u64,
}

/// Two servers of which only the first works, in one session that begins after sampling has begun.
fn worked(wanted: &Wanted, sql: &str, seconds: f64) -> Worked {
    let servers = [LiveServer::start(wanted), LiveServer::start(wanted)];
    let pids = || servers.iter().map(LiveServer::pids).collect::<Vec<_>>();
    let cpus: Vec<usize> = (0..std::thread::available_parallelism().unwrap().get()).collect();
    let mut meter = ProcessMeter::new();
    let mut host = HostMeter::open(&std::env::temp_dir()).unwrap();
    let (before, host_before) = (meter.read(&servers[0].pids()), host.read());
    let mut profiler = Profiler::start(&cpus, &pids(), &[]).unwrap();
    profiler.enter(0);
    let mut session = Session::connect(&servers[0].endpoint(), PATIENCE).unwrap();
    let (counted, statements) = work(&mut session, sql, seconds);
    profiler.leave(0);
    profiler.stop(&pids());
    let used = meter.read(&servers[0].pids()).since(&before);
    let profiles = profiler.end(&[vec![counted], Vec::new()], &[HashMap::new(), HashMap::new()]);
    let stolen_s = host.read().since(&host_before).cpu_steal_s;
    Worked { profiles, cpu_s: used.cpu_user_s + used.cpu_system_s, stolen_s, statements }
}

/// Other work on the machine has its part in what is sampled and what is lost, but not in each run: repeats one until
/// it says what it must.
fn until_undisturbed(mut run: impl FnMut() -> Result<(), String>) {
    let _alone = ALONE.lock();
    let begun = Instant::now();
    while let Err(why) = run() {
        assert!(begun.elapsed() < PATIENCE, "{why}");
    }
}

fn met(is_met: bool, told: impl FnOnce() -> String) -> Result<(), String> {
    if is_met { Ok(()) } else { Err(told()) }
}

fn work(session: &mut Session, sql: &str, seconds: f64) -> (Range<u64>, u64) {
    let (begun, from, mut statements) = (Instant::now(), monotonic_ns(), 0);
    while begun.elapsed() < Duration::from_secs_f64(seconds) {
        session.execute(sql).unwrap();
        statements += 1;
    }
    (from..monotonic_ns(), statements)
}

/// A session that sleeps most of the time is found off the CPU there for as long as it sleeps, and else waits for us.
fn check_blocked(wanted: &Wanted, sql: &str, sleeping: &str) {
    if !may_sample() {
        return;
    }
    until_undisturbed(|| {
        let Worked { profiles, .. } = worked(wanted, sql, 3.0);
        let [Profile { blocked, .. }, idle] = &profiles[..] else { panic!("{} profiles", profiles.len()) };
        let [Some(blocked), Some(of_idle)] = [blocked, &idle.blocked] else {
            return Err("there were too many switches to be recorded".to_owned());
        };
        assert_eq!(of_idle.stacks, [], "nothing was counted there");
        let of_sleep = blocked.stacks.iter().filter(|one| one.stack.contains(sleeping) && !one.is_ready);
        let slept = of_sleep.map(|one| one.ns).sum::<u64>() as f64 / blocked.counted_ns as f64;
        // One of several switches is sampled, the fewer the more other programs switch.
        let is_plain = (0.5..1.5).contains(&slept) && blocked.lost == 0 && blocked.samples > 20;
        met(is_plain && blocked.cut * 20 < blocked.samples, || {
            format!("{slept} of the time in {sleeping}: {blocked:#?}")
        })
    });
}

#[test]
fn a_sleeping_postgres_is_found_off_the_cpu() {
    check_blocked(&Wanted::postgres(), "select pg_sleep(0.003)", ";pg_sleep;");
}

#[test]
fn a_sleeping_mariadb_is_found_off_the_cpu() {
    check_blocked(&Wanted::mariadb(), "do sleep(0.003)", ";Item_func_sleep::val_int");
}

/// A server sends one answer for each statement. Where system calls may not be recorded, the reason must name what
/// lifts it.
fn check_calls(wanted: &Wanted, sql: &str, sends: &str) {
    if !may_sample() {
        return;
    }
    until_undisturbed(|| {
        let Worked { profiles, statements, .. } = worked(wanted, sql, 3.0);
        let [calls, of_idle] = [0, 1].map(|server: usize| profiles[server].syscalls.as_ref());
        assert_eq!(of_idle, None, "nothing was counted there");
        if let Err(refused) = rqps_profile::check_syscalls() {
            let (text, lifts) = (refused.to_string(), ["mount -t tracefs", "mode=755", "perf_event_paranoid"]);
            assert!(lifts.iter().any(|command| text.contains(command)), "{text}");
            assert_eq!(calls, None);
            return Ok(());
        }
        let calls = calls.expect("the trace point was open several times");
        let share = calls.recorded_ns as f64 / calls.counted_ns as f64;
        let sent = calls.calls.get(sends).unwrap_or_else(|| panic!("no {sends} in {calls:#?}"));
        let sent_each = sent.calls as f64 / share / statements as f64;
        // It is open for a quarter of the time, in which others may do more than in the rest, or less.
        let is_plain = (0.1..0.4).contains(&share) && (0.6..1.4).contains(&sent_each) && calls.lost == 0;
        met(is_plain, || {
            format!("{share} of the time, {sent_each} {sends} for each of {statements} statements: {calls:#?}")
        })
    });
}

#[test]
fn a_postgres_sends_once_for_each_statement() {
    check_calls(&Wanted::postgres(), "select 1", "sendto");
}

#[test]
fn a_mariadb_sends_once_for_each_statement() {
    check_calls(&Wanted::mariadb(), "do 1", "sendto");
}

/// Samples by function, of all stacks in which it is.
fn inclusive(folded: &str) -> BTreeMap<&str, u64> {
    let mut functions = BTreeMap::new();
    for line in folded.lines() {
        let (stack, count) = line.rsplit_once(' ').unwrap();
        let mut names: Vec<&str> = stack.split(';').collect();
        names.sort_unstable();
        names.dedup();
        names.into_iter().for_each(|name| *functions.entry(name).or_default() += count.parse::<u64>().unwrap());
    }
    functions
}

fn check(wanted: &Wanted, sql: &str, outermost: &str, working: &str) {
    if !may_sample() {
        return;
    }
    until_undisturbed(|| check_once(wanted, sql, outermost, working));
}

fn check_once(wanted: &Wanted, sql: &str, outermost: &str, working: &str) -> Result<(), String> {
    let Worked { profiles, cpu_s, stolen_s, .. } = worked(wanted, sql, 3.0);
    let [Profile { facts, folded, .. }, idle] = &profiles[..] else { panic!("{} profiles", profiles.len()) };
    // The other server is told apart.
    assert_eq!((idle.facts.samples, idle.facts.uncounted, idle.folded.as_str()), (0, 0, ""));
    let sampled = facts.samples + facts.uncounted + facts.background;
    let sampled_s = sampled as f64 * facts.period_ns as f64 / 1e9;
    // Twice the Poisson error, and a tick of the clock by which several threads are counted.
    let error = 0.05 + 2.0 / (sampled as f64).sqrt() + 0.02 / cpu_s;
    let expected_s = cpu_s * (1.0 - error)..cpu_s * (1.0 + error) + stolen_s;
    let told = format!("{sampled_s} s sampled, {cpu_s} s counted, {stolen_s} s stolen");
    met(expected_s.contains(&sampled_s) && facts.lost == 0, || format!("{told}; {facts:?}"))?;
    met(facts.samples > 500 && facts.samples * 10 > sampled * 9, || format!("{facts:?}"))?;
    met(idle.facts.background * 20 < sampled, || format!("{:?}", idle.facts))?;
    assert!(facts.cut * 20 < facts.samples, "{} of {} stacks are cut", facts.cut, facts.samples);
    let functions = inclusive(folded);
    let share = |name: &str| functions.get(name).copied().unwrap_or(0) as f64 / facts.samples as f64;
    assert!(share(outermost) > 0.9, "{outermost} in {}\n{folded}", share(outermost));
    assert!(share(working) > 0.5, "{working} in {}\n{folded}", share(working));
    assert!(functions.keys().any(|name| name.ends_with("_[k]") && !name.starts_with('[')), "the kernel has names");
    Ok(())
}

#[test]
fn a_busy_postgres_is_seen_down_to_its_functions() {
    let sql = "select count(*) from generate_series(1, 2000) as i where md5(i::text) like 'a%'";
    check(&Wanted::postgres(), sql, "PostmasterMain", "PostgresMain");
}

#[test]
fn a_busy_mariadb_is_seen_down_to_its_functions() {
    check(&Wanted::mariadb(), "do benchmark(20000, md5('a'))", "handle_one_connection", "Item_func_benchmark::val_int");
}
