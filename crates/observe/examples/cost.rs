//! What a reading costs: `cargo run --release -p rqps-observe --example cost [FOLDER]`.
//!
//! Prints microseconds for each kind of reading: the median and the 99th percentile of many. The readings at slice
//! boundaries (`host read`, `client read`) must stay small beside a slice of 5 ms.

use rqps_observe::{ClientMeter, HostMeter, ObserveError, ProcessMeter};
use std::path::PathBuf;
use std::time::Instant;

const READINGS: usize = 5000;

fn main() -> Result<(), ObserveError> {
    let folder = std::env::args().nth(1).map_or_else(|| PathBuf::from("."), PathBuf::from);
    let mut host = HostMeter::open(&folder)?;
    let mut client = ClientMeter::open()?;
    let own = [std::process::id()];
    let mut process = ProcessMeter::new();
    tell("host read", || _ = std::hint::black_box(host.read()));
    tell("host read_full", || _ = std::hint::black_box(host.read_full()));
    tell("client read (1 thread)", || _ = std::hint::black_box(client.read()));
    tell("client read_full", || _ = std::hint::black_box(client.read_full()));
    tell("process read (1 process)", || _ = std::hint::black_box(process.read(&own)));
    tell("process read_full (1 process)", || _ = std::hint::black_box(process.read_full(&own)));
    Ok(())
}

#[expect(clippy::print_stdout, reason = "an example's purpose is its output")]
fn tell(name: &str, mut read: impl FnMut()) {
    let mut costs_us: Vec<f64> = (0..READINGS)
        .map(|_| {
            let begun = Instant::now();
            read();
            begun.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    costs_us.sort_by(f64::total_cmp);
    println!("{name:32} median {:7.1} us   p99 {:7.1} us", costs_us[READINGS / 2], costs_us[READINGS * 99 / 100]);
}
