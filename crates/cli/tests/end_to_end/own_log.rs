//! A first workload from what a server saw: from a recorded export to a file that `rqps plan` accepts, up to what only
//! its user knows, and wholly once that is filled in.

use crate::scene::{BUILD, Scene};
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

fn recording(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../querylog/tests/recorded");
    folder.join(name).display().to_string()
}

/// A plan of a workload, on builds that are known without being fetched.
fn plan<'a>(file: &'a str, builds: [&'a str; 2]) -> Vec<&'a str> {
    vec!["plan", "--suite", "own", "--from", file, "--build", builds[0], "--build", builds[1]]
}

fn read(path: PathBuf) -> String {
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Puts a dump where the file asks for one.
fn fill_in_dump(scene: &Scene, file: &str) {
    let path = scene.path(file);
    let text = read(path.clone());
    assert!(text.contains("dump = \"todo.sql.gz\""), "{text}");
    fs::write(scene.path("dump.sql"), "CREATE TABLE orders (id int);\n").expect("written");
    fs::write(path, text.replace("todo.sql.gz", "dump.sql")).expect("written");
}

#[test]
fn a_log_with_values_needs_its_dump_alone() {
    let scene = Scene::new();
    let postgres = [BUILD, "postgres:17.11"];
    let mysql = ["mysql:5.7.22", "mysql:8.0.33"];
    let mariadb = ["mariadb:10.11.18", "mariadb:11.8.6"];
    for (command, recorded, builds) in [
        ("from-postgres-log", "pg12-log.csv", postgres),
        ("from-slow-log", "mysql56-slow.log", mysql),
        ("from-slow-log", "mariadb1011-slow.log", mariadb),
    ] {
        let (file, out) = (recording(recorded), format!("{recorded}.toml"));
        let ended = scene.end(scene.rqps(&["own", command, &file, "--out", &out, "--hours", "12"])).with_code(0);
        assert!(ended.stdout.lines().all(|line| line.chars().count() <= 80), "{}", ended.stdout);
        for told in
            ["left out", "transactions, settings, SHOW", "orders-by-id", "seen over 12 h", "To be filled in: the dump."]
        {
            assert!(ended.stdout.contains(told), "{told}: {}", ended.stdout);
        }
        let text = read(scene.path(&out));
        let line = text.lines().position(|line| line.starts_with("dump = ")).expect("a dump") + 1;
        let refused = scene.end(scene.rqps(&plan(&out, builds)));
        let refused = refused.refused(&[&format!("{out}:{line}:8: error: the data are still to be named")]);
        assert_eq!(refused.stderr.matches("error: ").count(), 1, "{}", refused.stderr);
        fill_in_dump(&scene, &out);
        let planned = scene.end(scene.rqps(&plan(&out, builds))).with_code(0);
        assert!(planned.stdout.contains("count-orders-customers-by-email-placed"), "{}", planned.stdout);
    }
    let values = scene.path("pg12-log.csv-values/orders-by-id.csv");
    assert_eq!(read(values.clone()), "id\n10\n11\n");
    assert_eq!(fs::metadata(values).expect("there").permissions().mode() & 0o777, 0o600, "nobody else reads values");
    scene.assert_nothing_left();
}

#[test]
fn statistics_without_values_need_each_source_named_with_its_line() {
    let scene = Scene::new();
    for recorded in ["pg12-statements.csv", "pg15-statements.csv", "pg18-statements.csv"] {
        let (file, out) = (recording(recorded), format!("{recorded}.toml"));
        let words = ["own", "from-pg-stat-statements", &file, "--out", &out, "--days", "7", "--top", "3", "--json"];
        let written = scene.end(scene.rqps(&words)).with_code(0).json();
        assert_eq!(written["statements"].as_array().map(Vec::len), Some(3), "{written:#}");
        let per_day = written["statements"][0]["calls_per_day"].as_f64().expect("a number");
        let calls = written["statements"][0]["calls"].as_f64().expect("a number");
        assert!((per_day * 7.0 - calls).abs() < 1e-9, "{written:#}");
        let text = read(scene.path(&out));
        let todo: Vec<(usize, &str)> =
            (1..).zip(text.lines()).filter(|(_, line)| line.contains("= { todo =")).collect();
        assert!(todo.len() >= 3, "{text}");
        let told: Vec<String> = todo
            .iter()
            .map(|(number, line)| {
                let name = line.split(' ').next().expect("a name");
                format!("{out}:{number}:{}: error: the values of `{name}` (", name.len() + 4)
            })
            .collect();
        let told: Vec<&str> = told.iter().map(String::as_str).collect();
        let ended = scene.end(scene.rqps(&plan(&out, [BUILD, "postgres:17.11"]))).refused(&told);
        assert_eq!(ended.stderr.matches("error: ").count(), todo.len() + 1, "and the dump: {}", ended.stderr);
        // With every source and the dump it is whole.
        let filled: Vec<String> = text
            .lines()
            .map(|line| match line.split_once(" = { todo =") {
                Some((name, _)) => format!("{name} = {{ query = \"SELECT id FROM orders\" }}"),
                None => line.to_owned(),
            })
            .collect();
        fs::write(scene.path(&out), filled.join("\n")).expect("written");
        fill_in_dump(&scene, &out);
        scene.end(scene.rqps(&plan(&out, [BUILD, "postgres:17.11"]))).with_code(0);
    }
    scene.assert_nothing_left();
}

#[test]
fn packed_files_and_standard_input_are_read_and_nothing_is_written_over() {
    let scene = Scene::new();
    let file = recording("pg18-log.json");
    let own = |words: &[&str]| scene.rqps(&[&["own", "from-postgres-log"], words].concat());
    scene.end(own(&[&file])).with_code(0);
    let plain = read(scene.path("shop.toml"));
    scene.end(own(&[&file])).refused(&["shop.toml exists already", "--force"]);
    // One of its CSVs is in the way.
    fs::create_dir(scene.path("other-values")).expect("made");
    fs::write(scene.path("other-values/orders-by-id.csv"), "mine").expect("written");
    scene.end(own(&[&file, "--out", "other.toml"])).refused(&["other-values/orders-by-id.csv exists already"]);
    assert!(!scene.path("other.toml").exists());
    assert_eq!(read(scene.path("other-values/orders-by-id.csv")), "mine");

    let packed = scene.path("log.gz");
    let gzip = std::process::Command::new("gzip").args(["-c", &file]).output().expect("gzip runs");
    fs::write(&packed, gzip.stdout).expect("written");
    scene.end(own(&["log.gz", "--force"])).with_code(0);
    assert_eq!(read(scene.path("shop.toml")).replace("log.gz", &file), plain);
    // With fewer statements only their CSVs are left of its own, and what is the user's.
    let csvs = || {
        let files = fs::read_dir(scene.path("shop-values")).expect("there");
        let mut names: Vec<_> = files.map(|file| file.expect("read").file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    let all = csvs();
    fs::write(scene.path("shop-values/mine.csv"), "id\n1\n").expect("written");
    scene.end(own(&["log.gz", "--force", "--top", "1"])).with_code(0);
    let left = csvs();
    assert!(left.contains(&"mine.csv".to_owned()) && left.len() < all.len(), "{all:?}: {left:?}");
    let toml = read(scene.path("shop.toml"));
    let is_named = |name: &&String| toml.contains(&format!("shop-values/{name}"));
    assert_eq!(left.iter().filter(is_named).count() + 2, left.len(), "{left:?}: {toml}");
    scene.end(own(&["log.gz", "--force"])).with_code(0);

    let mut command = own(&["-", "--force"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    child.stdin.take().expect("piped").write_all(&fs::read(&file).expect("there")).expect("taken");
    assert!(child.wait().expect("it ends").success());
    assert_eq!(read(scene.path("shop.toml")).replace("standard input", &file), plain);
    scene.assert_nothing_left();
}

#[test]
fn files_that_are_something_else_are_refused_with_their_lines() {
    let scene = Scene::new();
    let (statements, log, slow) =
        (recording("pg15-statements.csv"), recording("pg15-log.csv"), recording("mysql57-slow.log"));
    let refused = |command: &str, files: &[&str], told: &[&str]| {
        let words = [&["own", command], files].concat();
        scene.end(scene.rqps(&words)).refused(told);
        assert!(!scene.path("shop.toml").exists());
    };
    refused("from-pg-stat-statements", &[&log], &["pg15-log.csv:1: the header does not have query", "CSV HEADER"]);
    refused("from-postgres-log", &[&slow], &["mysql57-slow.log:1: ", "log_destination = 'csvlog'"]);
    let told = scene.rqps(&["own", "from-postgres-log", &statements]);
    let told = scene.end(told).refused(&["pg15-statements.csv:1: it is neither a csvlog nor a jsonlog"]);
    assert_eq!(told.stderr.matches("pg15-statements.csv:").count(), 1, "{}", told.stderr);
    refused("from-slow-log", &[&log], &["pg15-log.csv:1: no statement is logged here"]);
    // All files' faults at once.
    refused("from-slow-log", &[&log, &statements], &["pg15-log.csv:1: ", "pg15-statements.csv:1: "]);
    refused("from-slow-log", &["nowhere.log"], &["no such file: ", "/nowhere.log"]);
    refused("from-slow-log", &[&slow, "--out", "shop.csv"], &["--out shop.csv", "shop.toml"]);
    refused("from-slow-log", &[&slow, "--days", "0"], &["--days", "above 0"]);
    refused("from-slow-log", &[&slow, "--database", "none"], &["is of database none; they are of ", "sbtest"]);
    let hidden = recording("pg15-other-role.csv");
    refused("from-pg-stat-statements", &[&hidden], &["hidden from the role"]);
    fs::write(scene.path("s.csv"), "query,calls,total_exec_time\nSELECT a FROM b,many,1\nSELECT a FROM b,1\n")
        .expect("written");
    let told = ["s.csv:2: `calls` is `many`", "s.csv:3: the row has 2 fields, and the header 3"];
    refused("from-pg-stat-statements", &["s.csv"], &told);
    scene.assert_nothing_left();
}
