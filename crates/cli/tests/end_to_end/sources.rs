//! Sources as builds: compiled, refused, and killed in the middle, when nothing may be left.
//!
//! A whole PostgreSQL takes minutes and is a live test of `builds`. Here a user's own recipe decides what is run, since
//! it matters how steps end and not what they make.

use crate::builds::installed;
use crate::scene::{BUILD, Ended, READ, Scene, processes_in, results, wait_for};
use crate::stopping::interrupt;
use rqps_builds::Catalog;
use rqps_model::Engine;
use rqps_model::facts::BuildFacts;
use rustix::process::Signal;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

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
         undo = \"make distclean\"\nprefix = \"install\"\ncompilers = [{{ variable = \"CC\", program = \"gcc\" }}]\n\
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
        wait_for("half-made builds to go", || installed(&scene).is_empty());
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
    refused(&format!("{word}+o4"), &["PostgreSQL has no flavour `o4`; it has clang_o2nofp, def, o0"]);
    refused(&format!("{word}@main"), &["git"]);
    refused("postgres:src:17.99", &["the catalog has no source of postgres 17.99; it has 13.16"]);
    refused(
        &format!("mysql:src:{}", scene.path("tree").display()),
        &["is no source of MySQL: it lacks CMakeLists.txt and sql/"],
    );
    refused("postgres:17.11", &["is not compiled", "`rqps builds install`"]);
    let missing = scene.path("nowhere").display().to_string();
    refused(&format!("postgres:src:{missing}"), &["cannot find the source tree", &missing]);
    scene.end(scene.run("x", &["--build", BUILD, "--build", &word])).refused(&["error: this"]);
    assert!(compiling(&scene).is_empty() && !scene.path("results").exists());
    scene.assert_nothing_left();
}

#[test]
fn what_can_be_known_to_fail_is_told_before_anything_is_compiled() {
    let (scene, word) = with_step("echo compiled; exit 1");
    fs::create_dir_all(scene.path("config/rqps/flavours")).expect("made");
    let flavour = "engine = \"postgres\"\n[flavour.other]\nabout = \"test\"\nvariables = { CC = \"no-such-cc\" }\n\
        [flavour.lacking]\nabout = \"test\"\nvariables = {}\nneed = [{ header = \"no/such.h\", package = \"libno-dev\" }]\n";
    fs::write(scene.path("config/rqps/flavours/own.toml"), flavour).expect("written");
    let refused = |second: &str, words: &[&str]| {
        let run = scene.run("x", &["--build", &word, "--build", second]);
        for command in [run, scene.rqps(&["builds", "make", &word, second])] {
            let ended = scene.end(command).refused(words);
            assert!(!ended.stderr.contains("step 1 of"), "{}", ended.stderr);
        }
    };
    refused(&format!("{word}+other"), &["lacks the compiler no-such-cc", "`apt-get install no-such-cc`"]);
    refused(&format!("{word}@nowhere"), &["git"]);
    refused(&format!("{word}+o4"), &["PostgreSQL has no flavour `o4`"]);
    refused(&format!("{word}+patch=nowhere.diff"), &["cannot read the patch nowhere.diff"]);
    let ended = scene.end(scene.rqps(&["builds", "make", "postgres:src:15.18+lacking"])).refused(&["lacks no/such.h"]);
    assert!(!ended.stderr.contains("fetching"), "{}", ended.stderr);
    assert!(compiling(&scene).is_empty() && !scene.path("results").exists());
    scene.assert_nothing_left();
}

#[test]
fn as_many_commands_compile_as_were_asked_for() {
    let (scene, word) = with_step("echo 'error: {jobs} jobs'; exit 1");
    let cpus = std::thread::available_parallelism().expect("counted");
    for (words, jobs) in [(&["--jobs", "7"][..], 7), (&[], cpus.get())] {
        let make = [&["builds", "make", &word], words].concat();
        scene.end(scene.rqps(&make)).refused(&[&format!("error: {jobs} jobs")]);
        let run = [&["--build", BUILD, "--build", &word], words].concat();
        scene.end(scene.run("x", &run)).refused(&[&format!("error: {jobs} jobs")]);
    }
    scene.end(scene.rqps(&["builds", "make", &word, "--jobs", "0"])).refused(&["--jobs"]);
}

#[test]
fn a_full_disk_is_told_while_it_compiles_and_nothing_is_left() {
    let (scene, word) = with_step("head -c 100000000 /dev/zero > big");
    small(&scene, &word).refused(&["the file system of", "is full", "choose another folder with RQPS_CACHE"]);
    scene.assert_nothing_left();
    // What can never fit is refused at once.
    let recipe = scene.path("config/rqps/recipes/own.toml");
    let text = fs::read_to_string(&recipe).expect("there");
    fs::write(&recipe, text.replacen("prefix", "disk_mb = 100\nprefix", 1)).expect("written");
    let ended = small(&scene, &word).refused(&["is full (100 MB needed", "choose another folder with RQPS_CACHE"]);
    assert!(!ended.stderr.contains("step 1 of"), "{}", ended.stderr);
    scene.assert_nothing_left();
}

#[test]
fn two_names_of_one_content_are_one_build_and_told() {
    let (scene, word) = with_step("mkdir {stage}/install && cp -r /usr/lib/postgresql/15/. {stage}/install");
    let copied = Command::new("cp").arg("-r").arg(scene.path("tree")).arg(scene.path("other")).status();
    assert!(copied.expect("it runs").success());
    let other = format!("mine=postgres:src:{}", scene.path("other").display());
    let run = |second: &str| {
        let words = ["--build", &word, "--build", second, "--tests", READ, "--read-seconds", "0.1"];
        let ended = scene.end(scene.run("x", &words)).with_code(0);
        fs::remove_dir_all(scene.campaign("x")).expect("removed");
        ended.stderr.contains("are one build: their sources do not differ")
    };
    assert!(run(&other));
    assert_eq!(installed(&scene).len(), 1);
    assert!(!run(&format!("mine={word}")), "a build against itself is meant");
    fs::write(scene.path("other/configure"), "changed").expect("written");
    assert!(!run(&other));
    scene.assert_nothing_left();
}

#[test]
fn servers_can_read_what_was_compiled_whatever_the_umask_is() {
    let (scene, word) = with_step("mkdir {stage}/install && cp -r /usr/lib/postgresql/15/. {stage}/install");
    let rqps = scene.rqps(&["builds", "make", &word]);
    let mut inside = Command::new("sh");
    inside.args(["-c", "umask 077; exec \"$0\" \"$@\""]).arg(rqps.get_program()).args(rqps.get_args());
    scene.furnish(&mut inside);
    scene.end(inside).with_code(0);
    assert_eq!(installed(&scene).len(), 1);
    scene.assert_nothing_left();
}

#[test]
fn a_damaged_build_is_made_again_only_from_what_it_was_made_of() {
    let (scene, word) = with_step("mkdir {stage}/install && cp -r /usr/lib/postgresql/15/. {stage}/install");
    // A path with an `@` can only be named by a link.
    fs::rename(scene.path("tree"), scene.path("tree@work")).expect("renamed");
    symlink("tree@work", scene.path("tree")).expect("linked");
    scene.end(scene.rqps(&["builds", "make", &word])).with_code(0);
    let names = installed(&scene);
    let [name] = &names[..] else { panic!("{names:?}") };
    let install = || scene.end(scene.rqps(&["builds", "install", name]));
    let configure = scene.path("tree/configure");
    let text = fs::read_to_string(&configure).expect("there");
    fs::write(&configure, "changed").expect("written");
    let ended = install().with_code(0);
    assert!(!ended.stderr.contains("step 1 of"), "it is whole: {}", ended.stderr);

    let extra = scene.path("cache/builds").join(name).join("install/bin/extra");
    fs::write(&extra, "x").expect("written");
    let remedy = format!("makes another build by now; `rqps builds remove {name}`");
    let ended = install().refused(&[&format!("build {name} cannot be made again"), &remedy]);
    assert!(!ended.stderr.contains("step 1 of") && extra.exists(), "{}", ended.stderr);
    fs::write(&configure, text).expect("written");
    install().with_code(0);
    assert!(!extra.exists() && installed(&scene) == names);
    scene.assert_nothing_left();
}

/// Has a source compiled in a cache of 30 MB, on which nothing may be left.
fn small(scene: &Scene, word: &str) -> Ended {
    let rqps = scene.rqps(&["builds", "make", word]);
    let mut inside = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        inside.args(["--user", "--map-current-user", "--keep-caps"]);
    }
    // The file system goes with the process that mounted it, so that what is left on it is looked for in there.
    let script = "mount -t tmpfs -o size=30m,mode=0755 tmpfs \"$0\" || exit 8
        \"$@\"; code=$?; [ -z \"$(ls \"$0/compiling\" \"$0/builds\" | grep -v :)\" ] || exit 9; exit $code";
    inside.args(["--mount", "sh", "-c", script]).arg(scene.path("cache"));
    inside.arg(rqps.get_program()).args(rqps.get_args());
    scene.furnish(&mut inside);
    scene.end(inside)
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

/// A repository of PostgreSQL with its base on `master` and a branch that is a commit ahead, made from its source
/// package.
fn repository(scene: &Scene) -> PathBuf {
    let catalog = Catalog::built_in();
    let package = catalog.find_source(Engine::Postgres, &"17.11".parse().expect("a version")).expect("there");
    let fetched = scene.path("fetched");
    fs::create_dir(&fetched).expect("made");
    let archive = package.fetch(&fetched).expect("fetched");
    let tree = scene.path("tree");
    fs::create_dir(&tree).expect("made");
    let run = |program: &str, words: &[&str]| {
        let mut command = Command::new(program);
        command.args(words).current_dir(&tree).env("GIT_CONFIG_GLOBAL", "/dev/null");
        assert!(command.status().expect("it runs").success(), "{program} {words:?}");
    };
    let git = |words: &[&str]| run("git", &[&["-c", "user.name=n", "-c", "user.email=e"], words].concat());
    run("tar", &["--strip-components=1", "-xf", &archive.display().to_string()]);
    git(&["init", "--quiet", "--initial-branch=master"]);
    git(&["add", "--all", "--force"]);
    git(&["commit", "--quiet", "-m", "base"]);
    git(&["checkout", "--quiet", "-b", "work"]);
    fs::write(tree.join("src/backend/README.mine"), "what I do").expect("written");
    git(&["add", "--all"]);
    git(&["commit", "--quiet", "-m", "work"]);
    tree
}

#[test]
#[ignore = "long: scripts/nightly runs it"]
fn my_tree_is_compared_with_its_base() {
    let scene = Scene::new();
    let tree = repository(&scene);
    // Every execution of a statement waits: whatever the machine does meanwhile, that is seen.
    let file = tree.join("src/backend/tcop/pquery.c");
    let text = fs::read_to_string(&file).expect("there");
    let slow = text.replacen(
        "\tAssert(PortalIsValid(portal));\n\n\tTRACE_POSTGRESQL_QUERY_EXECUTE_START",
        "\tpg_usleep(200);\n\n\tTRACE_POSTGRESQL_QUERY_EXECUTE_START",
        1,
    );
    assert_ne!(slow, text, "the place of the change is there");
    fs::write(&file, slow).expect("written");

    let there = |mut command: Command| {
        command.current_dir(&tree);
        command
    };
    // In two steps, since each may take its minutes.
    let base = "base=postgres:src:.@merge-base";
    let made = scene.end(there(scene.rqps(&["builds", "make", base]))).with_code(0);
    assert!(made.stderr.contains("step 2 of 7: compile, ") && made.stderr.contains(" left"), "{}", made.stderr);
    let place = scene.path("results").display().to_string();
    let words = ["--build", base, "--build", "mine=postgres:src:.", "--tests", "point-query", "--results", &place];
    let ended = scene.end(there(scene.run("x", &words))).with_code(0);
    assert!(ended.stderr.contains("with changes that are not committed"), "{}", ended.stderr);
    assert!(ended.stdout.contains("regressed"), "{}", ended.stdout);

    let campaign = results(&scene.campaign("x"));
    let facts = |name: &str| campaign.build(&format!("{name}.x10a_c2r1")).expect("read").expect("there");
    let (base, mine) = (facts("base"), facts("mine"));
    assert_eq!((&base.compiler, &base.flags, &base.configure), (&mine.compiler, &mine.flags, &mine.configure));
    assert_eq!(base.folder.as_os_str().len(), mine.folder.as_os_str().len(), "paths of one length");
    assert!(mine.source.ends_with("with changes that are not committed"), "{}", mine.source);
    assert!(base.origin.contains("tree@") && !base.source.contains("changes"), "{base:?}");
    assert!(!code_names(&base, &scene.path("cache")) && !code_names(&mine, &scene.path("cache")));
    scene.assert_nothing_left();
}

/// Whether a path is in a server program, in what is left of it without debug information.
fn code_names(build: &BuildFacts, path: &Path) -> bool {
    let code = tempfile::NamedTempFile::new().expect("a file");
    let mut strip = Command::new("strip");
    strip.arg("--strip-debug").arg("-o").arg(code.path()).arg(build.folder.join("bin/postgres"));
    assert!(strip.status().expect("it runs").success());
    let bytes = fs::read(code.path()).expect("there");
    assert!(bytes.windows(8).any(|window| window == b"postgres"), "it is a program");
    let path = path.display().to_string();
    bytes.windows(path.len()).any(|window| window == path.as_bytes())
}

#[test]
fn a_plan_compiles_nothing() {
    let (scene, word) = with_step("exit 1");
    let words = ["plan", "--build", &format!("base={word}+o3"), "--build", &word, "--build", "postgres:src:17.12"];
    let plan = scene.end(scene.rqps(&words)).with_code(0);
    for name in ["base", "pg_o2nofp", "pg1712_o2nofp"] {
        assert!(plan.stdout.contains(name), "{name} in {}", plan.stdout);
    }
    let list = scene.end(scene.rqps(&["builds", "list"])).with_code(0);
    assert!(list.stdout.contains("postgres:src:17.12   -"), "{}", list.stdout);
    let flavours = scene.end(scene.rqps(&["builds", "flavours"])).with_code(0);
    assert!(flavours.stdout.contains("CFLAGS=-O2 -fno-omit-frame-pointer"), "{}", flavours.stdout);
    assert_eq!(installed(&scene), Vec::<String>::new());
    scene.assert_nothing_left();
}
