//! How long a large campaign takes to read: 42 tests x 14 builds x 10 rounds.
//!
//! `cargo test --release -p rqps-store --test store -- --ignored --nocapture speed`

use crate::made;
use rqps_model::part;
use rqps_model::sample::Slices;
use rqps_store::Campaign;
use std::path::Path;
use std::time::Instant;

/// Slices of 10 ms over 10 s.
const CYCLES: u64 = 1000;

#[test]
#[ignore = "states a speed: run by name, in release"]
fn large_campaign() {
    // In memory where there is such a file system: reading from the page cache is what is timed.
    let memory = Path::new("/dev/shm");
    let root = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.expect("a folder");
    let plan = made::plan(14, 42, 10);
    let begun = Instant::now();
    let writer = made::create(root.path(), &plan).without_sync();
    for round in 1..=10 {
        for (treatment, test) in (0..14).flat_map(|treatment| (0..42).map(move |test| (treatment, test))) {
            writer.publish(&made::parts(&plan, round, treatment, test, CYCLES)).expect("published");
        }
    }
    println!("write {} samples        {:6.2} s", 14 * 42 * 10, begun.elapsed().as_secs_f64());
    let folder = writer.folder().to_owned();
    drop(writer);

    let begun = Instant::now();
    let campaign = Campaign::open(&folder).expect("opened");
    let samples = campaign.samples().expect("read");
    let samples_s = begun.elapsed().as_secs_f64();
    println!("read sample.json          {samples_s:6.2} s");
    let cycles: usize = samples
        .iter()
        .map(|sample| sample.json::<Slices>(part::SLICES).expect("read").expect("there").operations.len())
        .sum();
    let with_slices_s = begun.elapsed().as_secs_f64();
    println!("with slices.json          {with_slices_s:6.2} s");
    assert_eq!((samples.len(), cycles), (5880, 5880 * CYCLES as usize));
    let begun = Instant::now();
    assert_eq!(campaign.check().expect("whole"), 5880);
    println!("check every file          {:6.2} s", begun.elapsed().as_secs_f64());
    let bytes: u64 = ["sample.json", "slices.json", "seconds.jsonl", "latency.hdr", "counters.jsonl", "manifest.json"]
        .iter()
        .map(|name| {
            let bytes = std::fs::metadata(samples[0].folder().join(name)).expect("there").len();
            println!("  {name:18} {bytes:7} bytes");
            bytes
        })
        .sum();
    println!("  a sample           {bytes:7} bytes");
}
