//! `bench-client` as a user runs it: all inserters do the same work, and a workload that fails costs only its own figures.

use crate::scene::{BUILD, Scene};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

#[test]
fn a_workload_that_fails_leaves_the_others() {
    let scene = Scene::new();
    let broken = scene.path("programs/pgbench");
    fs::create_dir(scene.path("programs")).expect("a folder");
    fs::write(&broken, "#!/bin/sh\necho out of order >&2\nexit 1\n").expect("written");
    fs::set_permissions(&broken, Permissions::from_mode(0o755)).expect("set");
    let path = std::env::var("PATH").expect("there is one");
    let words = ["bench-client", "--build", BUILD, "--workloads", "insert-sink,sessions-40,insert", "--json"];
    let mut command = scene.rqps(&words);
    command.args(["--rows=1000", "--insert-rows=2050", "--rounds=2", "--seconds=0.05", "--memory=0.2"]);
    command.env("PATH", format!("{}:{path}", scene.path("programs").display()));
    let ended = scene.end(command).with_code(3);
    let told = ended.json();
    let rows: Vec<[&str; 3]> = told["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| {
            let values = row["values"].as_array().expect("values");
            assert!(values.len() == 2 && values.iter().all(|value| value.as_f64() > Some(0.0)), "{row}");
            ["workload", "client", "unit"].map(|key| row[key].as_str().expect(key))
        })
        .collect();
    let expected = [
        ["insert-sink", "rqps", "rows/s"],
        ["insert-sink", "rqps", "us/row"],
        ["insert", "rqps", "us/row"],
        ["insert", "psycopg2", "us/row"],
    ];
    assert_eq!(rows, expected, "{}", ended.stderr);
    let failures = told["failures"].as_array().expect("failures");
    assert_eq!(failures.len(), 1, "{failures:?}");
    assert_eq!(failures[0]["workload"], "sessions-40");
    assert!(failures[0]["message"].as_str().is_some_and(|said| said.contains("out of order")), "{failures:?}");
    let peaks = told["peak_memory"].as_array().expect("memory");
    assert!(peaks.len() == 2 && peaks.iter().all(|peak| peak["end_kb"].as_u64() > Some(1000)), "{peaks:?}");
    scene.assert_nothing_left();
}
