//! The meter against what really happens on this machine.

use super::*;
use crate::tally::Tally;
use std::io::Write;
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

const DEADLINE: Duration = Duration::from_secs(60);

fn here() -> HostMeter {
    HostMeter::open(Path::new(env!("CARGO_MANIFEST_DIR"))).expect("a meter")
}

/// Works until the condition on what was used since the start holds.
fn until(meter: &mut HostMeter, mut work: impl FnMut(), done: impl Fn(&HostUse) -> bool) -> HostUse {
    let start = meter.read_full();
    let begun = Instant::now();
    loop {
        work();
        let used = meter.read_full().since(&start);
        if done(&used) {
            return used;
        }
        assert!(begun.elapsed() < DEADLINE, "not seen within {DEADLINE:?}: {used:?}");
    }
}

fn spin(time: Duration) {
    let begun = Instant::now();
    while begun.elapsed() < time {
        std::hint::black_box(begun);
    }
}

#[test]
fn sees_burned_cpu_and_accounts_for_all_of_the_machine() {
    let used = until(&mut here(), || spin(Duration::from_millis(100)), |used| used.seconds > 0.5);
    assert!(used.cpus >= 1);
    assert!(used.cpu_user_s + used.cpu_system_s > 0.3, "{used:?}");
    let total = used.cpu_user_s + used.cpu_system_s + used.cpu_idle_s + used.cpu_iowait_s + used.cpu_steal_s;
    let expected = used.seconds * f64::from(used.cpus);
    assert!((total / expected - 1.0).abs() < 0.3, "{total} CPU seconds of {expected}");
    assert!(used.memory_available_bytes > 0);
}

#[test]
fn sees_context_switches_and_page_faults() {
    const SWITCHES: u64 = 2000;
    let (to, from_here) = mpsc::sync_channel::<()>(0);
    let (back, answers) = mpsc::sync_channel::<()>(0);
    let echo = std::thread::spawn(move || from_here.iter().for_each(|()| _ = back.send(())));
    let mut meter = here();
    let start = meter.read_full();
    for _ in 0..SWITCHES {
        to.send(()).expect("the other thread is there");
        answers.recv().expect("an answer");
    }
    let touched = std::hint::black_box(vec![1u8; 64 << 20]);
    let used = meter.read_full().since(&start);
    drop((to, touched));
    echo.join().expect("ended");
    assert!(used.context_switches > SWITCHES / 2, "{used:?}");
    assert!(used.page_faults > 10, "{used:?}");
}

#[test]
fn sees_bytes_and_flushes_of_the_data_device() {
    let mut meter = here();
    if meter.data_device().stat.is_none() {
        return;
    }
    // Linux counts flushes from 5.5 on, in the last two of 17 fields.
    let is_told =
        |disk: &PathBuf| std::fs::read_to_string(disk).is_ok_and(|text| text.split_whitespace().count() >= 17);
    let flushes_told = meter.data_device().disk_stats.iter().all(is_told);
    let mut file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).expect("a file");
    let block = vec![0x5a; 1 << 20];
    let write = || {
        file.write_all(&block).expect("written");
        file.sync_all().expect("synced");
    };
    // Without a volatile write cache the kernel drops flushes: then writes are all there is to see.
    let cached = meter.data_device().disk_stats.iter().any(|disk| {
        let cache = disk.with_file_name("queue").join("write_cache");
        std::fs::read_to_string(cache).is_ok_and(|text| text.contains("write back"))
    });
    let done = |used: &HostUse| {
        used.disk_write_bytes >= 3 << 20
            && used.disk_writes >= 3
            && used.disk_write_wait_s > 0.0
            && (!flushes_told || !cached || used.disk_flushes >= 3)
    };
    let used = until(&mut meter, write, done);
    assert!(used.disk_write_bytes / used.disk_writes >= 512, "{used:?}");
}

#[test]
fn pieces_add_up_to_the_whole() {
    let mut meter = here();
    let start = meter.read();
    let (mut sum, mut last) = (HostUse::default(), start);
    while last.since(&start).seconds < 0.1 {
        let next = meter.read();
        sum.add(&next.since(&last));
        last = next;
    }
    let whole = last.since(&start);
    assert_eq!((sum.context_switches, sum.disk_write_bytes), (whole.context_switches, whole.disk_write_bytes));
    assert!((sum.seconds - whole.seconds).abs() < 1e-6 && (sum.cpu_user_s - whole.cpu_user_s).abs() < 1e-6);
}

#[test]
fn without_a_device_disk_figures_are_zero() {
    let mut meter = HostMeter::open(Path::new("/proc")).expect("a meter");
    let start = meter.read();
    let used = meter.read().since(&start);
    assert_eq!((used.disk_writes, used.disk_reads, used.disk_flushes), (0, 0, 0));
}
