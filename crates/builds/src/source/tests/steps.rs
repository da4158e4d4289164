//! The steps of a build: commands of the system, run by the machinery of recipes.

use super::{folder, recipe, write};
use crate::BuildError;
use crate::source::compile::{Compilation, explaining_lines};
use crate::source::recipe::{Recipes, Step};
use rqps_machine::{Account, Cache, Lease};
use rqps_model::Engine;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

/// A compilation whose steps are commands of the system.
fn work<T>(
    commands: &[&[&str]],
    patches: &[PathBuf],
    look: impl FnOnce(&Compilation<'_>, Result<PathBuf, BuildError>) -> T,
) -> T {
    let root = folder();
    // As where a disk has more room.
    let link = root.path().join("link");
    symlink(".", &link).expect("linked");
    let cache = Cache::at(&link).expect("a cache");
    let lease = Lease::open(&cache).expect("a lease");
    let folder = lease.folder(&link.join("compiling"), "test", 0o711).expect("a folder");
    let mut recipe = recipe();
    let step = |command: &&[&str]| Step {
        name: command[0].to_owned(),
        command: command.iter().map(|word| (*word).to_owned()).collect(),
        pace: None,
    };
    recipe.steps = commands.iter().map(step).collect();
    let flavour = Recipes::built_in().flavour(Engine::Postgres, None).expect("there").clone();
    let (path, log) = (folder.path().to_owned(), folder.path().join("log"));
    let compilation = Compilation { recipe: &recipe, flavour: &flavour, jobs: 2, lease: &lease, folder: path, log };
    fs::create_dir(compilation.tree()).expect("made");
    write(&compilation.tree(), &[("file", "one\ntwo\nthree\n")]);
    let result = compilation.run(patches, &mut |_| ());
    look(&compilation, result)
}

#[test]
fn steps_run_without_rights_in_a_fixed_environment_and_what_they_install_is_ours_and_open() {
    let script =
        "umask 077; id -u; echo $LD_RUN_PATH; mkdir -p $0/install/bin; cp file $0/install; chmod 2700 $0/install;
        cp /bin/true $0/install/bin; chmod 4700 $0/install/bin/true; ln -s gone $0/install/link; echo x >&2";
    work(&[&["sh", "-c", script, "{stage}"]], &[], |compilation, installed| {
        let installed = installed.expect("it works");
        let owner = std::os::unix::fs::MetadataExt::uid(&fs::metadata(installed.join("file")).expect("there"));
        assert_eq!(owner, Account::own().uid);
        let mode = |name: &str| fs::metadata(installed.join(name)).expect("there").permissions().mode() & 0o7777;
        assert_eq!(["", "file", "bin", "bin/true"].map(mode), [0o755, 0o644, 0o755, 0o755], "whatever the umask is");
        let log = fs::read_to_string(&compilation.log).expect("a log");
        let uid = Account::choose().uid;
        assert!(log.ends_with(&format!("{uid}\n$ORIGIN/../lib\nx\n")) && log.starts_with("# sh: sh -c"), "{log}");
    });
}

#[test]
fn a_step_is_told_its_tree_by_the_path_without_links() {
    let script = "mkdir $0/install; echo $1; pwd -P; [ $1 = \"$(pwd -P)\" ]";
    work(&[&["sh", "-c", script, "{stage}", "{tree}"]], &[], |_, installed| _ = installed.expect("the same path"));
}

#[test]
fn a_patch_is_applied_before_the_steps_or_refused() {
    let place = folder();
    let patch = place.path().join("x.diff");
    fs::write(&patch, "--- a/file\n+++ b/file\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n").expect("written");
    let steps: &[&[&str]] = &[&["sh", "-c", "mkdir $0/install; grep TWO file", "{stage}"]];
    work(steps, std::slice::from_ref(&patch), |_, installed| _ = installed.expect("patched"));
    fs::write(&patch, "--- a/file\n+++ b/file\n@@ -1,3 +1,3 @@\n one\n-2\n+TWO\n three\n").expect("written");
    work(steps, &[patch], |_, installed| {
        let error = installed.expect_err("refused").to_string();
        assert!(error.contains("x.diff does not apply to the source") && error.contains("FAILED"), "{error}");
    });
}

#[test]
fn a_step_that_fails_tells_its_errors_and_where_the_log_is() {
    work(&[&["sh", "-c", "echo 'a.c:1: error: x'; seq 20; exit 3"], &["true"]], &[], |compilation, installed| {
        let error = installed.expect_err("it fails").to_string();
        assert!(error.contains("step `sh` failed (exit status: 3): a.c:1: error: x\n    19"), "{error}");
        assert!(error.ends_with(&format!("all of it is in {}", compilation.log.display())), "{error}");
    });
    assert_eq!(explaining_lines("# a: x\nerror: old\n# b: y\nnew\n"), ["new"]);
    let log = "# a: x\n1\nerror: 2\n3\n4\nmake[1]: Leaving directory '/t'\nmake: *** 5\n";
    assert_eq!(explaining_lines(log), ["error: 2", "4", "make: *** 5"]);
}
