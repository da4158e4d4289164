//! How long the largest campaign takes: 42 tests, 14 builds, 10 rounds.
//!
//! Ignored in ordinary runs, since it writes some 40,000 files; run it by name and in release:
//! `cargo test --release -p rqps-analysis --test speed -- --ignored --nocapture`.

use rqps_analysis::synthetic::{Effect, Recipe};
use rqps_analysis::{Options, analyse};
use rqps_store::Campaign;
use std::time::Instant;

#[test]
#[ignore = "writes 40,000 files; run by name, in release"]
fn the_largest_campaign() {
    let root = tempfile::tempdir().unwrap();
    let mut recipe = Recipe::new(42, 14, 10, 1);
    recipe.effects = (0..42).map(|test| Effect { treatment: 1 + test % 13, test, ratio: 0.95 }).collect();
    let folder = recipe.write(root.path()).unwrap();
    let campaign = Campaign::open(&folder).unwrap();
    // The first time fills the file system's cache.
    for _ in 0..3 {
        let begun = Instant::now();
        let found = analyse(&campaign, Options::default()).unwrap();
        println!(
            "{:.2} s, {} KB of JSON",
            begun.elapsed().as_secs_f64(),
            serde_json::to_string(&found).unwrap().len() / 1024
        );
        assert_eq!((found.tests.len(), found.treatments.len()), (42, 14));
        assert_eq!(found.treatments.iter().map(|t| t.counts.iter().sum::<u32>()).sum::<u32>(), 42 * 13);
    }
}
