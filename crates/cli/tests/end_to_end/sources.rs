//! Sources as builds: compiled, refused, and killed in the middle, when nothing may be left.
//!
//! A whole PostgreSQL takes minutes and is a live test of `builds`. Here a user's own recipe decides what is run, since
//! it matters how steps end and not what they make.

use crate::builds::installed;
use crate::scene::{BUILD, Scene, processes_in, wait_for};
use crate::stopping::interrupt;
use rustix::process::Signal;
use std::fs;
use std::path::PathBuf;

/// A scene with a source tree, and a recipe whose only step is this script.
fn with_step(script: &str) -> (Scene, String) {
    let scene = Scene::new();
    let tree = scene.path("tree");
    for (name, text) in [("configure", "#"), ("src/backend/Makefile", "#")] {
        let file = tree.join(name);
        fs::create_dir_all(file.parent().expect("below the tree")).expect("made");
        fs::write(file, text).expect("written");
    }
    let recipe = format!(
        "engine = \"postgres\"\nabout = \"test\"\nmarks = [\"configure\"]\nconfigured = \"config.status\"\n\
         undo = \"make distclean\"\nprefix = \"install\"\ncompiler = {{ variable = \"CC\", program = \"gcc\" }}\n\
         [[need]]\nprogram = \"sh\"\npackage = \"dash\"\n\
         [[step]]\nname = \"compile\"\ncommand = [\"sh\", \"-c\", \"{script}\"]\n"
    );
    fs::create_dir_all(scene.path("config/rqps/recipes")).expect("made");
    fs::write(scene.path("config/rqps/recipes/own.toml"), recipe).expect("written");
    let word = format!("postgres:src:{}", tree.display());
    (scene, word)
}

fn compiling(scene: &Scene) -> Vec<PathBuf> {
    let entries = fs::read_dir(scene.path("cache/compiling")).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

#[test]
fn killed_or_interrupted_while_it_compiles_nothing_is_left() {
    for signal in [Signal::KILL, Signal::INT, Signal::TERM] {
        // As with `make`, what was started by what was started stands in a folder of its own.
        let (scene, word) = with_step("mkdir inner; cd inner; sleep 600 & wait");
        let mut running = scene.start(scene.rqps(&["builds", "make", &word]));
        let place = scene.path("cache/compiling");
        let sleeps = |process: &rqps_machine::proctree::ProcessId| {
            process.folder_and_program().is_some_and(|(folder, program)| {
                folder.ends_with("tree/inner") && program.file_name().is_some_and(|name| name == "sleep")
            })
        };
        running.wait_for("a compiler", |_| processes_in(&place).iter().any(sleeps));
        let all = processes_in(&place);
        assert!(all.len() >= 2 && compiling(&scene).len() == 1, "{all:?}");
        running.signal(signal);
        assert_eq!(running.end().code, None);
        wait_for("its processes to end", || all.iter().all(|process| !process.is_alive()));
        wait_for("its folder to go", || compiling(&scene).is_empty());
        // Should parts be left in the cache, the next to change it clears them; none looks like a build.
        let whole: Vec<String> = installed(&scene).into_iter().filter(|name| !name.starts_with('.')).collect();
        assert_eq!(whole, Vec::<String>::new());
        scene.wait_until_cleared();
    }
}

#[test]
fn what_cannot_be_compiled_is_told_and_its_log_kept() {
    let (scene, word) = with_step("echo 'x.c:1: error: this' >&2; exit 1");
    let log = scene.path("cache/logs").display().to_string();
    let refused = |word: &str, words: &[&str]| _ = scene.end(scene.rqps(&["builds", "make", word])).refused(words);
    refused(&word, &["could not be compiled", "step `compile` failed (exit status: 1): x.c:1: error: this", &log]);
    let logs: Vec<PathBuf> = fs::read_dir(&log).expect("there").flatten().map(|entry| entry.path()).collect();
    assert!(logs.len() == 1 && fs::read_to_string(&logs[0]).expect("a log").contains("error: this"), "{logs:?}");
    refused(&format!("{word}+o4"), &["PostgreSQL has no flavour `o4`; it has def, o0"]);
    refused(&format!("{word}@main"), &["git"]);
    refused("postgres:src:17.99", &["the catalog has no source of postgres 17.99; it has 13.16"]);
    refused("mysql:src:.", &["no recipe to compile MySQL"]);
    refused("postgres:17.11", &["is not compiled", "`rqps builds install`"]);
    let missing = scene.path("nowhere").display().to_string();
    refused(&format!("postgres:src:{missing}"), &["cannot find the source tree", &missing]);
    scene.end(scene.run("x", &["--build", BUILD, "--build", &word])).refused(&["error: this"]);
    assert!(compiling(&scene).is_empty() && !scene.path("results").exists());
    scene.assert_nothing_left();
}

/// The step takes real servers from where Debian has them: here it matters which build a campaign goes on with.
#[test]
fn a_campaign_goes_on_with_the_builds_that_it_began_with() {
    let (scene, word) = with_step("mkdir {stage}/install && cp -r /usr/lib/postgresql/15/. {stage}/install");
    let builds = [format!("base={word}"), format!("mine={word}+o3")];
    let run = scene.run("x", &["--build", &builds[0], "--build", &builds[1], "--tests", "point-query"]);
    let mut running = scene.start(run);
    running.wait_for("both servers", |_| scene.servers().len() == 2);
    interrupt(&scene, running);
    let compiled = installed(&scene);
    assert!(compiled.len() == 2 && compiled.iter().all(|name| name.starts_with("pg15")), "{compiled:?}");

    fs::write(scene.path("tree/configure"), "changed").expect("written");
    let resumed = scene.end(scene.rqps(&["resume", "results/x"])).with_code(0);
    assert!(!resumed.stderr.contains("step 1 of 1"), "{}", resumed.stderr);
    assert_eq!(installed(&scene), compiled, "what was changed since is no part of the campaign");
    for name in ["base", "mine"] {
        assert!(resumed.stdout.contains(&format!("{name}.x10a")), "{name} in {}", resumed.stdout);
    }
    assert!(compiling(&scene).is_empty());
    scene.assert_nothing_left();
}

#[test]
fn a_plan_compiles_nothing() {
    let (scene, word) = with_step("exit 1");
    let words = ["plan", "--build", &format!("base={word}+o3"), "--build", &word, "--build", "postgres:src:17.11"];
    let plan = scene.end(scene.rqps(&words)).with_code(0);
    for name in ["base", "pg_o2nofp", "pg1711_o2nofp"] {
        assert!(plan.stdout.contains(name), "{name} in {}", plan.stdout);
    }
    let list = scene.end(scene.rqps(&["builds", "list"])).with_code(0);
    assert!(list.stdout.contains("postgres:src:17.11 -"), "{}", list.stdout);
    let flavours = scene.end(scene.rqps(&["builds", "flavours"])).with_code(0);
    assert!(flavours.stdout.contains("CFLAGS=-O2 -fno-omit-frame-pointer"), "{}", flavours.stdout);
    assert_eq!(installed(&scene), Vec::<String>::new());
    scene.assert_nothing_left();
}
