//! The command as a developer runs it: all inserters do the same work, a workload that fails costs only its own
//! figures, and clients of other builds of rqps alternate with this one.

use serde_json::Value;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// As Debian installs it.
const BUILD: &str = "postgres:/usr/lib/postgresql/15";

const PROGRAM: &str = env!("CARGO_BIN_EXE_rqps-bench-client");

/// One test's own folders.
struct Scene {
    root: TempDir,
}

impl Scene {
    fn new() -> Scene {
        let root = tempfile::Builder::new().prefix("rqps-bench-").tempdir().expect("a folder");
        for name in ["data", "tmp", "programs"] {
            fs::create_dir(root.path().join(name)).expect("a folder");
        }
        for folder in ["", "data", "tmp"] {
            fs::set_permissions(root.path().join(folder), Permissions::from_mode(0o711)).expect("opened");
        }
        Scene { root }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Makes a program of the test's own.
    fn program(&self, name: &str, script: &str) -> PathBuf {
        let path = self.path("programs").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("written");
        fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("set");
        path
    }

    /// Exit code, standard output and standard error.
    fn run(&self, args: &[&str]) -> (Option<i32>, String, String) {
        let path = std::env::var("PATH").expect("there is one");
        let mut command = Command::new(PROGRAM);
        command.args(args).current_dir(self.root.path());
        command.env("PATH", format!("{}:{path}", self.path("programs").display()));
        command.env("RQPS_CACHE", self.path("cache")).env("RQPS_DATA", self.path("data"));
        let output = command.env("TMPDIR", self.path("tmp")).output().expect("it starts");
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        (output.status.code(), text(output.stdout), text(output.stderr))
    }

    /// Figures of a run that ends with this code.
    #[track_caller]
    fn figures(&self, args: &[&str], code: i32) -> Value {
        let (ended, stdout, stderr) = self.run(args);
        assert_eq!(ended, Some(code), "{stdout}\n{stderr}");
        serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}:\n{stdout}\n{stderr}"))
    }

    fn assert_nothing_left(&self) {
        let entries = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let folders = ["data", "tmp", "cache/leases"].map(|name| self.path(name));
        let left = folders.iter().flat_map(|folder| entries(folder)).filter(|path| !path.ends_with(".lock"));
        assert_eq!(left.collect::<Vec<_>>(), Vec::<PathBuf>::new());
    }
}

/// Workload, client and unit of each row, each with two values above zero.
fn rows(figures: &Value) -> Vec<[&str; 3]> {
    let row = |row| {
        let row: &Value = row;
        let values = row["values"].as_array().expect("values");
        assert!(values.len() == 2 && values.iter().all(|value| value.as_f64() > Some(0.0)), "{row}");
        ["workload", "client", "unit"].map(|key| row[key].as_str().expect(key))
    };
    figures["rows"].as_array().expect("rows").iter().map(row).collect()
}

#[test]
fn a_workload_that_fails_leaves_the_others() {
    let scene = Scene::new();
    scene.program("pgbench", "echo out of order >&2; exit 1");
    let mut args = vec!["--build", BUILD, "--workloads", "insert-sink,sessions-40,insert", "--json"];
    args.extend(["--rows=1000", "--insert-rows=2050", "--rounds=2", "--seconds=0.05", "--memory=0.2"]);
    let figures = scene.figures(&args, 3);
    let expected = [
        ["insert-sink", "rqps", "rows/s"],
        ["insert-sink", "rqps", "us/row"],
        ["insert", "rqps", "us/row"],
        ["insert", "psycopg2", "us/row"],
    ];
    assert_eq!(rows(&figures), expected, "{figures}");
    let failures = figures["failures"].as_array().expect("failures");
    assert_eq!(failures.len(), 1, "{failures:?}");
    assert_eq!(failures[0]["workload"], "sessions-40");
    assert!(failures[0]["message"].as_str().is_some_and(|message| message.contains("out of order")), "{failures:?}");
    let peaks = figures["peak_memory"].as_array().expect("memory");
    assert!(peaks.len() == 2 && peaks.iter().all(|peak| peak["end_kb"].as_u64() > Some(1000)), "{peaks:?}");
    scene.assert_nothing_left();
}

#[test]
fn clients_of_other_builds_alternate_with_this_one() {
    let scene = Scene::new();
    // Another build is any program that takes the same request.
    let old = scene.program("rqps-old", &format!("exec {PROGRAM} \"$@\""));
    let old = old.to_str().expect("plain text");
    let mut args = vec!["--build", BUILD, "--workloads", "point,insert,insert-sink", "--json", "--client", old];
    args.extend(["--rows=1000", "--insert-rows=2050", "--rounds=2", "--seconds=0.05"]);
    let figures = scene.figures(&args, 0);
    let expected = [
        ["point", "rqps", "us/statement"],
        ["point", "rqps-old", "us/statement"],
        ["insert", "rqps", "us/row"],
        ["insert", "rqps-old", "us/row"],
        ["insert-sink", "rqps", "rows/s"],
        ["insert-sink", "rqps-old", "rows/s"],
        ["insert-sink", "rqps", "us/row"],
        ["insert-sink", "rqps-old", "us/row"],
    ];
    assert_eq!(rows(&figures), expected, "{figures}");
    for row in figures["rows"].as_array().expect("rows") {
        let interval = &row["rqps_over_this"];
        let [low, ratio, high] = ["low", "ratio", "high"].map(|key| interval[key].as_f64());
        assert_eq!(interval.is_null(), row["client"] == "rqps", "{row}");
        assert!(low <= ratio && ratio <= high, "{row}");
    }
    scene.assert_nothing_left();
}

#[test]
#[ignore = "long: scripts/nightly runs it"]
fn a_client_on_the_engines_library_makes_the_same_calls() {
    let scene = Scene::new();
    let mut args = vec!["--build", BUILD, "--workloads", "tproc-c-1,tproc-c-4", "--warehouses=1", "--json"];
    // On a machine that writes much a new order may take half a second.
    args.extend(["--rows=1000", "--rounds=2", "--seconds=2", "--ramp-up=0.1"]);
    let figures = scene.figures(&args, 0);
    let units = ["NOPM", "us/order", "wait us/order", "sent/order", "rows/order"];
    let expected: Vec<[&str; 3]> = ["tproc-c-1", "tproc-c-4"]
        .into_iter()
        .flat_map(|workload| units.map(|unit| ["rqps", "libpq"].map(|client| [workload, client, unit])))
        .flatten()
        .collect();
    assert_eq!(rows(&figures), expected, "{figures}");
    // A call is one statement, and 10 of 23 calls are new orders, drawn by the same numbers for both clients.
    for row in figures["rows"].as_array().expect("rows").iter().filter(|row| row["unit"] == "sent/order") {
        let (median, ratio) = (row["median"].as_f64(), row["ratio"].as_f64());
        assert!(median > Some(1.9) && median < Some(2.8), "{row}");
        assert!(ratio > Some(0.85) && ratio < Some(1.18), "{row}");
    }
    scene.assert_nothing_left();
}

#[test]
#[ignore = "long: scripts/nightly runs it"]
fn the_server_fills_the_same_tables_from_files() {
    let scene = Scene::new();
    let mut args = vec!["--build", BUILD, "--workloads", "tproc-c-load", "--warehouses=1", "--json"];
    args.extend(["--rows=1000", "--rounds=2"]);
    let figures = scene.figures(&args, 0);
    assert_eq!(rows(&figures), ["rqps", "from files"].map(|client| ["tproc-c-load", client, "s"]), "{figures}");
    scene.assert_nothing_left();
}

#[test]
fn wrong_arguments_are_refused() {
    let scene = Scene::new();
    for (args, why) in [
        (&["--rounds", "0"][..], "0 is not in 1.."),
        (&["--client", "/nonexistent/rqps"], "/nonexistent/rqps is not a program"),
        (&["--workloads", "pint"], "`pint`"),
        (&["--hammerdb", "/nonexistent"], "/nonexistent is no checkout of HammerDB"),
    ] {
        let (code, stdout, stderr) = scene.run(args);
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{stderr}");
        assert!(stderr.contains(why), "no `{why}` in {stderr}");
    }
    assert!(!scene.path("cache").exists(), "refused before anything is made");
}
