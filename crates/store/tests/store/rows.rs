//! Parts that are written row by row while a test runs.

use crate::made;
use rqps_store::{RowsPart, StoreError};
use std::fs;
use std::path::Path;

/// How many rows; their bytes are more than any buffer.
const ROWS: u32 = 20_000;

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).expect("there").flatten().map(|entry| entry.file_name());
    names.map(|name| name.to_string_lossy().into_owned()).collect()
}

#[test]
fn rows_are_nowhere_to_be_seen_until_their_sample_is_published() {
    let root = tempfile::tempdir().expect("a folder");
    let plan = made::plan(1, 1, 1);
    let writer = made::create(root.path(), &plan);
    let before = names(writer.folder());
    let mut parts = made::parts(&plan, 1, 0, 0, 3);
    let grown = writer.rows("grown.jsonl").expect("begun");
    parts.rows = vec![grown.clone(), writer.rows("none.jsonl").expect("begun")];
    // Whoever adds rows need not know of the sample.
    (0..ROWS).for_each(|row| grown.add(&[row]));
    assert_eq!(names(writer.folder()), before);
    writer.publish(&parts).expect("published");
    assert_eq!(writer.check().expect("whole"), 1);
    let samples = writer.samples().expect("read");
    let read: Vec<[u32; 1]> = samples[0].lines("grown.jsonl").expect("whole");
    assert!(read.iter().map(|[row]| *row).eq(0..ROWS), "{} rows", read.len());
    assert!(samples[0].part_names().all(|name| name != "none.jsonl"), "a part without rows is not written");
}

#[test]
fn more_rows_take_no_more_memory() {
    let root = tempfile::tempdir().expect("a folder");
    let writer = made::create(root.path(), &made::plan(1, 1, 1));
    let rows = writer.rows("grown.jsonl").expect("begun");
    let most = |count: u32| allocation_counter::measure(|| (0..count).for_each(|row| rows.add(&[row]))).bytes_max;
    assert_eq!(most(ROWS), most(1));
}

#[test]
fn a_name_that_is_taken_or_leaves_its_folder_is_refused() {
    let root = tempfile::tempdir().expect("a folder");
    let plan = made::plan(1, 1, 1);
    let writer = made::create(root.path(), &plan);
    assert!(matches!(writer.rows("../x"), Err(StoreError::Name { name, .. }) if name == "../x"));
    let rows = |name| made::rows(&writer, name, 1);
    let taken = |rows: Vec<RowsPart>| {
        let mut parts = made::parts(&plan, 1, 0, 0, 3);
        parts.rows = rows;
        let error = writer.publish(&parts).expect_err("refused");
        assert!(matches!(&error, StoreError::Unwritable { why, .. } if why.contains("two of its files")), "{error}");
    };
    taken(vec![rows("seconds.jsonl")]);
    taken(vec![rows("manifest.json")]);
    taken(vec![rows("grown.jsonl"), rows("grown.jsonl")]);
    assert_eq!(writer.samples().expect("read").len(), 0);
}
