//! A disk that fills up: a clear error, whole samples, nothing half-written.
//!
//! Needs a file system of its own, so it runs where this process may mount one (as root) and says so where not. The
//! mount is made in a mount namespace of a child process and ends with it.

use crate::made;
use rqps_store::{Campaign, StoreError};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const FOLDER: &str = "RQPS_STORE_FULL_FOLDER";

#[test]
fn a_full_disk_is_told_and_leaves_nothing_half_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let may_mount = Command::new("unshare").args(["-m", "mount", "-t", "tmpfs", "tmpfs"]).arg(folder.path()).output();
    if !may_mount.is_ok_and(|output| output.status.success()) {
        println!("not tested: needs the right to mount; run as root with unshare and mount installed");
        return;
    }
    let script = "mount -t tmpfs -o size=300k tmpfs \"$1\" && exec \"$0\" --exact full_disk::fill_the_disk --ignored";
    let program = std::env::current_exe().expect("this program");
    let output = Command::new("unshare")
        .args(["-m", "sh", "-c", script])
        .arg(program)
        .arg(folder.path())
        .env(FOLDER, folder.path())
        .output()
        .expect("started");
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && told.contains("1 passed"), "{told}");
}

#[test]
#[ignore = "the part in the small file system; started by a_full_disk_is_told_and_leaves_nothing_half_written"]
fn fill_the_disk() {
    let Some(root) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let plan = made::plan(1, 1, 1000);
    let writer = made::create(&root, &plan);
    let mut published = 0;
    let error = (1..1000)
        .find_map(|round| {
            let result = writer.publish(&made::parts(&plan, round, 0, 0, 300));
            published += u32::from(result.is_ok());
            result.err()
        })
        .expect("300 KB are not enough for 1000 samples");
    assert!(matches!(error, StoreError::DiskFull { .. }), "{error}");
    assert!(published > 2);
    assert_eq!(half_written(&root), Vec::<PathBuf>::new());
    assert_eq!(writer.check().expect("whole"), published as usize);
    let report = writer.write_derived("report.html", &vec![b' '; 1 << 20]);
    assert!(matches!(report, Err(StoreError::DiskFull { .. })), "{report:?}");
    let other = Campaign::create(&root, "other", &made::plan(500, 500, 500), &made::host(), "", made::start());
    assert!(matches!(other, Err(StoreError::DiskFull { .. })), "{other:?}");
    assert_eq!(half_written(&root), Vec::<PathBuf>::new());
    // Rows that did not fit while a test ran are told with its sample, and take no space afterwards.
    let mut parts = made::parts(&plan, published + 1, 0, 0, 3);
    parts.rows.push(made::rows(&writer, "grown.jsonl", 100_000));
    let grown = writer.publish(&parts);
    assert!(matches!(grown, Err(StoreError::DiskFull { .. })), "{grown:?}");
    drop(parts);
    assert_eq!(half_written(&root), Vec::<PathBuf>::new());
    let space = fs::remove_dir_all(writer.folder().join("rounds/1"));
    space.expect("made room");
    writer.publish(&made::parts(&plan, 1, 0, 0, 300)).expect("goes on once there is room");
}

fn half_written(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("there").flatten() {
        if entry.file_name().to_string_lossy().starts_with(".part-") {
            found.push(entry.path());
        } else if entry.path().is_dir() {
            found.extend(half_written(&entry.path()));
        }
    }
    found
}
