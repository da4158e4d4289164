//! The report of the largest campaign we promise: 42 tests × 14 builds × 10 rounds, from its folder to its files.
//!
//! `cargo test --release -p rqps --test end_to_end largest -- --ignored --nocapture` prints time and size.

use rqps_madeup::{Effect, Recipe};
use std::fs;
use std::process::Command;
use std::time::Instant;

#[test]
#[ignore = "writes 40,000 files; run by name, in release"]
fn is_reported_from_its_folder() {
    let root = tempfile::tempdir_in("/dev/shm").expect("a folder in memory");
    let mut recipe = Recipe::new(42, 14, 10, 1);
    recipe.effects = (0..42).map(|test| Effect { treatment: 1 + test % 13, test, ratio: 0.95 }).collect();
    let folder = recipe.write(root.path()).expect("a campaign");
    for _ in 0..3 {
        let begun = Instant::now();
        let report = Command::new(env!("CARGO_BIN_EXE_rqps")).arg("report").arg(&folder).output().expect("rqps runs");
        let seconds = begun.elapsed().as_secs_f64();
        assert!(report.status.success(), "{}", String::from_utf8_lossy(&report.stderr));
        let html = fs::read_to_string(folder.join("report.html")).expect("a report");
        println!("rqps report: {seconds:.2} s, report.html {:.2} MB", html.len() as f64 / 1e6);
        assert!(html.len() < 8_000_000, "{} bytes", html.len());
        assert!(html.ends_with("</html>\n") || html.trim_end().ends_with("</html>"), "the page is whole");
    }
}
