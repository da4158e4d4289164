//! Campaigns on MySQL and MariaDB, on RocksDB tables, and across engines.

use crate::scene::{BUILD, Ended, Scene, results};
use rqps_model::{Engine, Sample};
use std::path::Path;

const OLD_MYSQL: &str = "mysql:5.7.22";
const NEW_MYSQL: &str = "mysql:8.0.15";
const MARIADB: &str = "mariadb:10.2.11";

/// One of each kind: prepared and text, a transaction, a scan, and every kind of write.
const TESTS: &str = "point-query,scan,read-only_range=10,update-index,write-only,delete,insert";

/// A campaign of these builds.
fn run(scene: &Scene, name: &str, builds: &[&str], words: &[&str]) -> Ended {
    let words_of_builds: Vec<&str> = builds.iter().flat_map(|build| ["--build", build]).collect();
    let mut command = scene.run(name, &[&words_of_builds[..], &["--rounds", "1"], words].concat());
    scene.with_users_cache(&mut command, builds);
    scene.end(command)
}

/// All samples, each of which measured something and met no error.
fn samples(folder: &Path, expected: usize) -> Vec<Sample> {
    let samples: Vec<Sample> = results(folder).samples().expect("whole").into_iter().map(|each| each.sample).collect();
    assert_eq!(samples.len(), expected);
    for sample in &samples {
        let what = format!("{} of {}", sample.test, sample.treatment);
        assert_eq!((&sample.failure, &sample.errors[..]), (&None, &[][..]), "{what}");
        assert!(sample.throughput().is_some_and(|throughput| throughput > 0.0), "{what}");
        assert!(!sample.counters.is_empty(), "the server's own counters of {what}");
    }
    samples
}

#[test]
#[ignore = "long: scripts/nightly runs it"]
fn two_versions_of_mysql_are_compared() {
    let scene = Scene::new();
    let ended = run(&scene, "mysql", &[OLD_MYSQL, "my8015"], &["--tests", TESTS]).with_code(0);
    assert!(ended.stdout.contains("my5722") && ended.stdout.contains("my8015"), "{}", ended.stdout);
    scene.assert_nothing_left();

    let folder = scene.campaign("mysql");
    for sample in samples(&folder, 2 * 7) {
        if sample.test == "insert" {
            // What the server says that it did is what the client says that it sent, and a little from before counting.
            let inserted = sample.counters["status.Innodb_rows_inserted"];
            assert!(inserted >= sample.score.count as f64, "{inserted} inserted of {}", sample.score.count);
        }
    }
    let campaign = results(&folder);
    for treatment in &campaign.plan().treatments {
        let settings = campaign.settings(&treatment.name).expect("whole").expect("kept");
        assert_eq!(settings.encoding, "latin1", "{}", treatment.name);
        assert_eq!(settings.effective["character_set_server"], "latin1");
        assert_eq!(settings.storage_engine.to_ascii_lowercase(), "innodb");
        assert_eq!(settings.transport, "unix");
        let plans = campaign.plans(&treatment.name, "point-query").expect("whole").expect("kept");
        assert!(plans[0].sql.contains("id=?") && plans[0].plan.contains("PRIMARY"), "{:?}", plans[0]);
        let build = campaign.build(&treatment.name).expect("whole").expect("kept");
        assert!(build.compiler.contains("GCC"), "{}", build.compiler);
    }
}

#[test]
fn three_engines_stand_in_one_report() {
    let scene = Scene::new();
    let words = ["--tests", "point-query,insert", "--profile", "x10a,z12a"];
    let ended = run(&scene, "engines", &[BUILD, OLD_MYSQL, MARIADB], &words).with_code(0);
    assert!(ended.stdout.contains("pg15") && ended.stdout.contains("ma100211"), "{}", ended.stdout);
    scene.assert_nothing_left();

    let folder = scene.campaign("engines");
    let samples = samples(&folder, 3 * 2);
    // The same keys everywhere: as many rows are found for as many point queries.
    for sample in samples.iter().filter(|sample| sample.test == "point-query") {
        assert_eq!(sample.rows, sample.score.count, "{}", sample.treatment);
    }
    let engines: Vec<Engine> =
        results(&folder).plan().treatments.iter().map(|treatment| treatment.build.engine).collect();
    assert_eq!(engines, Engine::ALL);
    let html = std::fs::read_to_string(folder.join("report.html")).expect("made");
    for forced in ["AUTO_INCREMENT", "SERIAL", "MariaDB", "MySQL", "PostgreSQL"] {
        assert!(html.contains(forced), "the report does not say {forced}");
    }
}

/// A release whose package tells nothing until it is unpacked is refused as soon as it is here, and a folder when it is
/// looked at.
#[test]
fn a_build_without_rocksdb_is_refused_when_the_plan_is_made() {
    let scene = Scene::new();
    let command = |words: &[&str]| {
        let mut command = scene.rqps(words);
        scene.with_users_cache(&mut command, &[MARIADB]);
        scene.end(command)
    };
    let shown = command(&["builds", "show", MARIADB, "--json"]).with_code(0).json();
    let folder = format!("own=mariadb:{}", shown["folder"].as_str().expect("a folder"));
    let expected = ["rocksdb", "mariadb:10.5.23, mariadb:10.11.18, mariadb:11.8.6", "storage-engine"];
    for build in [MARIADB, &folder] {
        for what in ["plan", "run"] {
            let words = [what, "--build", build, "--storage-engine", "innodb,rocksdb", "--name", "lacking"];
            let place = format!("--build {build}: error: ");
            command(&words).refused(&[&expected[..], &[&place]].concat());
        }
    }
    assert!(!scene.path("results").exists());
    // A build that has it, in words and in the list, installed or not.
    command(&["plan", "--build", "mariadb:10.11.18", "--storage-engine", "innodb,rocksdb"]).with_code(0);
    let list = scene.end(scene.rqps(&["builds", "list"])).with_code(0).stdout;
    let told: Vec<&str> = list.lines().filter(|line| line.contains("RocksDB")).collect();
    assert!(told.len() == 3 && told.iter().all(|line| line.contains("_debian ")), "{list}");
    let shown = command(&["builds", "show", MARIADB]).stdout;
    assert!(shown.contains(" innodb\n") && !shown.contains("rocksdb"), "{shown}");
    scene.assert_nothing_left();
}

#[test]
#[ignore = "long: scripts/nightly runs it"]
fn storage_engines_of_one_build_are_compared() {
    let scene = Scene::new();
    let words = ["--tests", "point-query,write-only,insert", "--storage-engine", "innodb,rocksdb"];
    let ended = run(&scene, "storage", &["mariadb:10.11.18"], &words).with_code(0);
    assert!(ended.stdout.contains("rocksdb"), "{}", ended.stdout);
    scene.assert_nothing_left();
    let folder = scene.campaign("storage");
    samples(&folder, 2 * 3);
    let campaign = results(&folder);
    let told: Vec<String> = (campaign.plan().treatments.iter())
        .map(|treatment| campaign.settings(&treatment.name).expect("whole").expect("kept").storage_engine)
        .map(|storage| storage.to_ascii_lowercase())
        .collect();
    assert_eq!(told, ["innodb", "rocksdb"]);
}

#[test]
#[ignore = "long: scripts/nightly runs it"]
fn what_one_server_refuses_does_not_end_the_campaign() {
    let scene = Scene::new();
    let file = format!(
        "build = [\"{OLD_MYSQL}\", \"{MARIADB}\", {{ name = \"wrong\", from = \"{NEW_MYSQL}\", \
         set = {{ innodb_page_size = \"5k\" }} }}, {{ name = \"shares\", from = \"{OLD_MYSQL}\", \
         set = {{ innodb_page_size = \"5k\" }} }}]\ntests = [\"point-query\"]\n"
    );
    std::fs::write(scene.path("campaign.toml"), file).expect("written");
    let mut command = scene.run("refused", &["--rounds", "1"]);
    scene.with_users_cache(command.arg("campaign.toml"), &[OLD_MYSQL, MARIADB, NEW_MYSQL]);
    let ended = scene.end(command).with_code(3);
    assert!(ended.stderr.contains("wrong.") && ended.stderr.contains("Invalid page size"), "{}", ended.stderr);
    scene.assert_nothing_left();
    let samples: Vec<Sample> =
        results(&scene.campaign("refused")).samples().expect("whole").into_iter().map(|each| each.sample).collect();
    let failed: Vec<&str> =
        samples.iter().filter(|sample| sample.failure.is_some()).map(|sample| sample.treatment.as_str()).collect();
    // One with a data folder of its own, and one on the same as a treatment that goes on.
    let is_expected = |name: &&str| name.starts_with("wrong.") || name.starts_with("shares.");
    assert!(failed.len() == 2 && failed.iter().all(is_expected), "{failed:?}");
    assert_eq!(samples.len(), 4);
}
