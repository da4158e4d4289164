//! Words, folders and disks that cannot be used: told clearly, exit code 2, and nothing begun or left.

use crate::builds::installed;
use crate::scene::{BUILD, READ, Scene, results};
use std::fs;
use std::process::Command;

#[test]
fn a_campaign_file_shows_all_its_faults_at_once() {
    let scene = Scene::new();
    let text =
        "build = [\"postgres:16.15\", \"postgre:17.11\"]\nrowz = 5\nrounds = 0\ntests = [\"hot-pionts\"]\nslice = ";
    let file = |text: &str| fs::write(scene.path("faulty.toml"), text).expect("written");
    file(&format!("{text}5000\n"));
    let ended = scene.end(scene.rqps(&["run", "faulty.toml", "--placement", "somewhere"]));
    ended.refused(&[
        "faulty.toml:1:28: error: ",
        "`postgre`",
        "`postgres`",
        "faulty.toml:2:1: error: ",
        "`rowz`",
        "`rows`",
        "faulty.toml:3:10: error: `rounds`",
        "faulty.toml:4:10: error: ",
        "`hot-points`",
        "faulty.toml:5:9: error: `slice`",
        "--placement somewhere: error: ",
    ]);
    // A file that is not text, besides a settings file that is none.
    fs::write(scene.path("latin.toml"), b"rounds = 0 # n\xe4mlich\n").expect("written");
    let ended = scene.end(scene.rqps(&["run", "latin.toml", "--set", "@/nix", "--placement", "somewhere"]));
    ended.refused(&[
        "latin.toml:1:15: error: ",
        "0xe4",
        "latin.toml:1:10: error: `rounds`",
        "--set @/nix: error: ",
        "--placement somewhere: error: ",
    ]);
    // A file that is not even TOML.
    file(text);
    scene.end(scene.rqps(&["plan", "faulty.toml"])).refused(&["faulty.toml:5:"]);
    scene.end(scene.rqps(&["run", "nowhere.toml"])).refused(&["nowhere.toml"]);
    assert!(!scene.path("results").exists());
    scene.assert_nothing_left();
}

#[test]
fn flags_that_mean_nothing_are_told_with_what_would() {
    let scene = Scene::new();
    let refused = |words: &[&str], expected: &[&str]| drop(scene.end(scene.run("x", words)).refused(expected));
    let two = |words: &[&'static str]| [&["--build", "postgres:16.15", "--build", "postgres:17.11"], words].concat();
    refused(&["--build", "postgres:16.99", "--build", "postgres:17.11"], &["16.99", "12.22, 13.23", "18.6"]);
    refused(&two(&["--tests", "no-such-test"]), &["no-such-test"]);
    refused(&two(&["--interleave", "slice"]), &["`slices`", "turns"]);
    refused(&two(&["--rate", "-5"]), &["--rate"]);
    refused(&two(&["--rounds", "three"]), &["--rounds", "`three`"]);
    refused(&two(&["--base", "pg15"]), &["pg15"]);
    refused(&two(&["--profile", "x10z"]), &["`x10z`", "x10a"]);
    refused(&two(&["--set", "work_mme=64MB"]), &["--set work_mme=64MB: error: ", "`work_mem`"]);
    refused(&[], &["build"]);
    refused(&two(&["--rownds", "3"]), &["--rownds", "--rounds"]);
    let mut command = scene.rqps(&["compare", "x", "--fail-on", "slower"]);
    scene.end(command).refused(&["slower", "regressed"]);
    command = scene.rqps(&["compere"]);
    scene.end(command).refused(&["compere", "compare"]);
    assert!(!scene.campaign("x").exists());
    scene.assert_nothing_left();
}

#[test]
fn words_of_the_wrong_suite_and_settings_of_our_own_are_refused_when_read() {
    let scene = Scene::new();
    let refused = |words: &[&str], expected: &[&str]| {
        let words = [&["--build", "postgres:16.15", "--build", "postgres:17.11"], words].concat();
        scene.end(scene.run("x", &words)).refused(expected);
        assert_eq!(installed(&scene), [""; 0], "nothing was fetched");
    };
    refused(&["--suite", "insert", "--tests", "scan"], &["--tests scan: error: ", "`write-rates`"]);
    refused(&["--scale", "small"], &["--scale small: error: `scale`", "insert"]);
    refused(&["--suite", "insert", "--scale", "tiny"], &["`tiny`", "cached-large, "]);
    refused(&["--suite", "insert", "--rows", "5"], &["--rows 5: error: ", "1000 rows"]);
    refused(&["--set", "port=5432"], &["--set port=5432: error: "]);
    refused(&["--set", "unix_socket_directories=/tmp"], &["--set unix_socket_directories=/tmp: error: "]);
    refused(&["--profile", "x10z"], &["x10a, x10b, x10c"]);
    scene.end(scene.rqps(&["demo", "--suite", "insert"])).refused(&["rqps run --suite insert"]);
    let mysql = ["--build", "mysql:8.0.33", "--build", "mariadb:11.4.5"];
    let away = [&mysql[..], &["--set", "log_bin=/elsewhere", "--storage-engine", "rocksdb"]].concat();
    let expected = ["--set log_bin=/elsewhere: error: ", "build = [\"mysql:8.0.33\", { from = \"mariadb:11.4.5\""];
    scene.end(scene.run("x", &away)).refused(&expected);
    for (word, meant) in
        [("pg1711_zonki", "`pg1711_zonky`?"), ("17.11", "`postgres:17.11`?"), ("mysql", "mysql:8.0.33")]
    {
        scene.end(scene.rqps(&["builds", "show", word])).refused(&[&format!("`{word}`"), meant]);
    }
    let nowhere = scene.end(scene.rqps(&["builds", "install", "mysql:/etc/none.tar.xz"])).refused(&["none.tar.xz"]);
    assert_eq!(nowhere.stderr.matches("No such file").count(), 1, "{}", nowhere.stderr);
    assert!(!scene.campaign("x").exists());
    scene.assert_nothing_left();
}

/// The first treatment to be started and a later one alike, before anything is loaded.
#[test]
fn a_setting_that_the_server_refuses_ends_the_campaign_before_it_begins() {
    let scene = Scene::new();
    for broken in ["a", "b"] {
        let other = if broken == "a" { "b" } else { "a" };
        let file = format!(
            "build = [{{ name = \"{broken}\", from = \"{BUILD}\", set = {{ shared_buffers = \"100TB\" }} }}, \
             \"{other}={BUILD}\"]\nbase = \"{other}\"\nname = \"refused\"\ntests = \"point-query\"\n"
        );
        fs::write(scene.path("refused.toml"), file).expect("written");
        let ended = scene.end(scene.rqps(&["run", "refused.toml", "--machine", "c2r1", "--rows", "1000"]));
        let ended = ended.refused(&[&format!("{broken}.x10a"), "shared_buffers", "100TB"]);
        assert!(!ended.stderr.contains("1000 rows"), "nothing was loaded: {}", ended.stderr);
        assert!(!scene.campaign("refused").exists(), "nothing was measured, so the name is free again");
        scene.assert_nothing_left();
    }
    // A value that is not of its kind.
    let set = scene.end(scene.run_twins("refused", &["--set", "work_mem=plenty"]));
    let set = set.refused(&["work_mem", "plenty"]);
    assert_eq!(set.stderr.matches("invalid value for parameter").count(), 2, "once for each: {}", set.stderr);
    assert!(!scene.campaign("refused").exists());
    scene.assert_nothing_left();
}

#[test]
fn results_that_cannot_be_read_are_told() {
    let scene = Scene::new();
    let words = ["--tests", READ, "--rounds", "1"];
    scene.end(scene.run_twins("read", &words)).with_code(0);
    let folder = scene.campaign("read");
    let commands = [["compare", "results/read"], ["report", "results/read"], ["resume", "results/read"]];
    let refused = |expected: &[&str]| {
        for command in commands {
            scene.end(scene.rqps(&command)).refused(expected);
        }
    };

    let names: Vec<String> =
        results(&folder).plan().treatments.iter().map(|treatment| treatment.name.clone()).collect();
    let place = |name: &String| folder.join(format!("rounds/1/{name}/sysbench/{READ}.c1/sample.json"));
    let samples: Vec<_> = names.iter().map(place).collect();
    let whole: Vec<Vec<u8>> = samples.iter().map(|sample| fs::read(sample).expect("there")).collect();
    for (sample, whole) in samples.iter().zip(&whole) {
        fs::write(sample, &whole[..whole.len() / 2]).expect("cut");
    }
    // All of them at once.
    refused(&[&names[0], &names[1], "sample.json", "rqps resume"]);
    for (sample, whole) in samples.iter().zip(&whole) {
        fs::write(sample, whole).expect("repaired");
    }

    let plan = folder.join("plan.json");
    let whole = fs::read_to_string(&plan).expect("there");
    assert!(whole.contains("\"major\":1"), "{whole}");
    fs::write(&plan, whole.replacen("\"major\":1", "\"major\":99", 1)).expect("written");
    refused(&["plan.json", "format 99"]);
    fs::write(&plan, "{").expect("broken");
    refused(&["plan.json"]);
    fs::write(&plan, whole).expect("repaired");
    scene.end(scene.rqps(&["compare", "results/read"])).with_code(0);

    // Names in use, folders of others, and places where nothing can be made.
    scene.end(scene.run_twins("read", &words)).refused(&["results/read", "rqps resume"]);
    fs::create_dir_all(scene.path("results/mine")).expect("made");
    fs::write(scene.path("results/mine/letter.txt"), "dear").expect("written");
    scene.end(scene.run_twins("mine", &words)).refused(&["results/mine"]);
    scene.end(scene.rqps(&["compare", "results/mine"])).refused(&["results/mine"]);
    scene.end(scene.rqps(&["resume", "nowhere"])).refused(&["nowhere"]);
    let file = [&words[..], &["--results", "results/mine/letter.txt"]].concat();
    scene.end(scene.run_twins("x", &file)).refused(&["results/mine/letter.txt", "--results"]);
    let nowhere = [&words[..], &["--results", "/dev/null/results"]].concat();
    scene.end(scene.run_twins("x", &nowhere)).refused(&["/dev/null"]);
    let nowhere = [&words[..], &["--data", "/dev/null/data"]].concat();
    scene.end(scene.run_twins("x", &nowhere)).refused(&["/dev/null"]);
    assert!(!scene.campaign("x").exists());
    assert_eq!(fs::read_to_string(scene.path("results/mine/letter.txt")).expect("there"), "dear");
    scene.assert_nothing_left();
}

/// A file system of its own for the data, which goes with the process that mounted it. It is of this size when the
/// command looks, and of another as soon as there is anything on it.
fn on_a_disk_of(scene: &Scene, size: &str, size_later: &str, command: &Command) -> Command {
    let mut inside = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        inside.args(["--user", "--map-current-user", "--keep-caps"]);
    }
    let script = format!(
        "mount -t tmpfs -o size={size},mode=0755 tmpfs \"$0\" || exit
        (until [ -n \"$(ls -A \"$0\")\" ]; do sleep 0.01; done; mount -o remount,size={size_later} tmpfs \"$0\") &
        \"$@\"; code=$?; kill $! 2>/dev/null; ls \"$0\"; exit $code"
    );
    inside.args(["--mount", "sh", "-c", &script]).arg(scene.data()).arg(command.get_program()).args(command.get_args());
    scene.furnish(&mut inside);
    inside
}

#[test]
fn a_full_disk_is_told_and_nothing_is_left() {
    let scene = Scene::new();
    let run = |rows: &str| scene.run_twins("full", &["--tests", "point-query", "--rows", rows]);
    // What can never fit is refused before anything is made.
    let never = scene.end(on_a_disk_of(&scene, "20m", "20m", &run("2000")));
    never.refused(&["21 MB", "--data"]);
    // Room for the bytes of a data folder and not for its files; room at first, and then too little for the loaded
    // tables, for the copies.
    const ROOM: &str = "2000m";
    const FEW_FILES: &str = "2000m,nr_inodes=300";
    for (size, later, rows) in [(FEW_FILES, ROOM, "2000"), (ROOM, "90m", "300000"), (ROOM, "110m", "100000")] {
        let ended = scene.end(on_a_disk_of(&scene, size, later, &run(rows))).refused(&[]);
        // As we, the server, or the system say it.
        let words = ["is full", "Check free disk space", "No space left on device"];
        assert!(words.iter().any(|words| ended.stderr.contains(words)), "{}", ended.stderr);
        assert!(!scene.campaign("full").exists(), "nothing was measured");
        scene.assert_nothing_left();
    }
}
