//! What must be tried: how even the CPUs' speed is, what a message between them costs, the clock, and the disk.
//!
//! In: the CPUs that may be used, the data folder. Out: [`Trials`]. Each takes a fraction of a second; the file that is
//! flushed has no name, and is gone with this process.

use rqps_server::placement::pin_current;
use rustix::fs::{Mode, OFlags};
use serde::Serialize;
use std::hint::black_box;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

/// More CPUs are not tried one by one.
const CPUS_MAX: usize = 8;

/// How long each CPU works alone, and all of them together.
const SPIN: Duration = Duration::from_millis(300);

/// Steps of the work whose time is taken: some 100 microseconds.
const STEPS: u64 = 100_000;

/// How long two threads send each other messages.
const PING_PONG: Duration = Duration::from_millis(150);

/// How often a file is flushed, and for how long at most.
const FLUSHES: usize = 300;
const FLUSHING: Duration = Duration::from_secs(1);

/// Bytes written before each flush, as a small transaction leaves them in a log.
const FLUSHED_BYTES: usize = 4096;

/// How often the clock is read.
const CLOCK_READS: u32 = 100_000;

/// What was tried.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Trials {
    /// Each CPU while only it works, and while all do.
    pub cpus: Vec<CpuSpeed>,
    /// Messages between two threads, the first pair on one CPU.
    pub ping_pong: Vec<PingPong>,
    /// Whether threads could be pinned.
    pub can_pin: bool,
    /// The clock.
    pub clock: ClockSpeed,
    /// The disk of the data folder; `None` where no file without a name can be made.
    pub flush: Option<FlushTime>,
}

/// How fast a CPU did the same small work again and again.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CpuSpeed {
    /// Its number.
    pub cpu: usize,
    /// Times a second, by the median.
    pub per_second: f64,
    /// The speed that was kept in 95 of 100 times, over the median.
    pub kept: f64,
    /// The longest time without any, in milliseconds.
    pub longest_gap_ms: f64,
    /// Speed while all CPUs work, over that alone.
    pub together: f64,
}

/// Messages there and back between two threads.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PingPong {
    /// The CPUs of the threads.
    pub cpus: [usize; 2],
    /// There and back, times a second.
    pub per_second: f64,
}

/// Reading the time.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ClockSpeed {
    /// Nanoseconds to read it.
    pub read_ns: f64,
}

/// Writing 4 KiB and flushing them to the disk.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FlushTime {
    /// Half took at most so many microseconds.
    pub median_us: f64,
    /// 99 of 100 took at most so many.
    pub p99_us: f64,
}

impl Trials {
    /// Tries all.
    pub fn make(cpus: &[usize], data: &Path) -> Trials {
        let tried = &cpus[..cpus.len().min(CPUS_MAX)];
        let can_pin = tried
            .first()
            .is_none_or(|&cpu| thread::scope(|s| s.spawn(|| pin_current(&[cpu]).is_ok()).join().unwrap_or(false)));
        Trials {
            cpus: if can_pin { cpu_speeds(tried) } else { Vec::new() },
            ping_pong: if can_pin { ping_pongs(tried) } else { Vec::new() },
            can_pin,
            clock: clock_speed(),
            flush: flush_time(data),
        }
    }
}

/// Seconds of each piece of work in `span`, on one CPU.
fn spin(cpu: usize, span: Duration) -> Vec<f64> {
    let _ = pin_current(&[cpu]);
    let begun = Instant::now();
    let (mut last, mut times) = (begun, Vec::with_capacity(1 << 14));
    while last.duration_since(begun) < span {
        (0..STEPS).for_each(|step| _ = black_box(step));
        let now = Instant::now();
        times.push(now.duration_since(last).as_secs_f64());
        last = now;
    }
    times.sort_by(f64::total_cmp);
    times
}

/// The value below which this share of sorted values lies.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let at = (sorted.len() as f64 * share) as usize;
    sorted.get(at.min(sorted.len().saturating_sub(1))).copied().unwrap_or(f64::NAN)
}

fn cpu_speeds(cpus: &[usize]) -> Vec<CpuSpeed> {
    let run = |cpu| thread::scope(|scope| scope.spawn(move || spin(cpu, SPIN)).join().unwrap_or_default());
    let alone: Vec<Vec<f64>> = cpus.iter().map(|&cpu| run(cpu)).collect();
    let start = Barrier::new(cpus.len());
    let begin = |cpu: usize| {
        start.wait();
        spin(cpu, SPIN)
    };
    let together: Vec<Vec<f64>> = thread::scope(|scope| {
        let begin = &begin;
        let threads: Vec<_> = cpus.iter().map(|&cpu| scope.spawn(move || begin(cpu))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_default()).collect()
    });
    let speeds = cpus.iter().zip(alone.iter().zip(&together));
    speeds
        .map(|(&cpu, (alone, together))| {
            let median = quantile(alone, 0.5);
            CpuSpeed {
                cpu,
                per_second: 1.0 / median,
                kept: median / quantile(alone, 0.95),
                longest_gap_ms: quantile(alone, 1.0) * 1e3,
                // What all lose is time as well as speed, so it is the number of pieces that counts.
                together: together.len() as f64 / alone.len().max(1) as f64,
            }
        })
        .collect()
}

/// The first CPU with itself, then with each of the others.
fn ping_pongs(cpus: &[usize]) -> Vec<PingPong> {
    let Some(&first) = cpus.first() else { return Vec::new() };
    let pairs = cpus.iter().map(|&other| [first, other]);
    pairs.filter_map(|cpus| Some(PingPong { cpus, per_second: ping_pong(cpus).ok()? })).collect()
}

fn ping_pong([first, second]: [usize; 2]) -> std::io::Result<f64> {
    let (mut ours, mut theirs) = UnixStream::pair()?;
    thread::scope(|scope| {
        // It ends when the other side is closed.
        scope.spawn(move || {
            let _ = pin_current(&[second]);
            let mut byte = [0];
            while theirs.read_exact(&mut byte).is_ok() && theirs.write_all(&byte).is_ok() {}
        });
        let asking = scope.spawn(move || {
            let _ = pin_current(&[first]);
            let (begun, mut count, mut byte) = (Instant::now(), 0_u32, [1]);
            while begun.elapsed() < PING_PONG {
                ours.write_all(&byte)?;
                ours.read_exact(&mut byte)?;
                count += 1;
            }
            Ok(f64::from(count) / begun.elapsed().as_secs_f64())
        });
        asking.join().unwrap_or_else(|_| Err(std::io::Error::other("the thread ended early")))
    })
}

fn clock_speed() -> ClockSpeed {
    let begun = Instant::now();
    (0..CLOCK_READS).for_each(|_| _ = black_box(Instant::now()));
    ClockSpeed { read_ns: begun.elapsed().as_nanos() as f64 / f64::from(CLOCK_READS) }
}

fn flush_time(data: &Path) -> Option<FlushTime> {
    let folder = data.ancestors().find(|folder| folder.is_dir())?;
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = rustix::fs::open(folder, flags, Mode::RUSR | Mode::WUSR).ok()?;
    let bytes = [1; FLUSHED_BYTES];
    let begun = Instant::now();
    let mut times = Vec::with_capacity(FLUSHES);
    while times.len() < FLUSHES && begun.elapsed() < FLUSHING {
        let before = Instant::now();
        rustix::io::write(&file, &bytes).ok()?;
        rustix::fs::fdatasync(&file).ok()?;
        times.push(before.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    Some(FlushTime { median_us: quantile(&times, 0.5), p99_us: quantile(&times, 0.99) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_of_sorted_values() {
        let values = [1.0, 2.0, 3.0, 4.0];
        assert_eq!([0.0, 0.5, 0.99, 1.0].map(|share| quantile(&values, share)), [1.0, 3.0, 4.0, 4.0]);
        assert!(quantile(&[], 0.5).is_nan());
    }

    #[test]
    fn everything_is_tried_on_this_machine_and_no_file_is_left() {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("a folder");
        let cpus = super::super::System::read(folder.path()).cpus_allowed;
        let tried = Trials::make(&cpus[..cpus.len().min(2)], folder.path());
        assert!(tried.can_pin && tried.cpus.len() == cpus.len().min(2), "{tried:?}");
        // How fast a machine is that runs other tests as well, no test can say.
        assert!(tried.cpus.iter().all(|cpu| cpu.per_second > 0.0 && cpu.kept <= 1.0), "{tried:?}");
        assert!(tried.ping_pong.iter().all(|pair| pair.per_second > 0.0), "{tried:?}");
        assert!(tried.clock.read_ns > 0.0 && tried.flush.is_some_and(|flush| flush.median_us <= flush.p99_us));
        assert_eq!(std::fs::read_dir(folder.path()).expect("there").count(), 0);
    }
}
