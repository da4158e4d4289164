//! Sources as builds, where a step is a script: what is compiled, and what is refused before it is.

use super::*;
use crate::installation::install;
use crate::installation::record::BuildRecord;
use crate::source::recipe::Recipes;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// A cache that the account of steps may enter, and a folder with a source tree and a patch.
struct Scene {
    cache: Cache,
    place: tempfile::TempDir,
}

impl Scene {
    fn new() -> Scene {
        let place = tempfile::tempdir().expect("a folder");
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).expect("opened");
        let cache = Cache::at(&place.path().join("cache")).expect("a cache");
        fs::create_dir(place.path().join("tree")).expect("made");
        let scene = Scene { cache, place };
        scene.write("tree/configure", "as it was\n");
        scene.write("tree/file", "one\n");
        scene.write("x.diff", "--- a/file\n+++ b/file\n@@ -1 +1 @@\n-one\n+patched\n");
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("written");
    }

    fn spec(&self, rest: &str) -> BuildSpec {
        format!("postgres:src:{}{rest}", self.path("tree").display()).parse().expect("a build")
    }

    /// Makes the tree a repository with one commit, and returns its address.
    fn address(&self) -> String {
        let git = |arguments: &[&str]| {
            let mut command = Command::new("git");
            command.args(["-c", "user.name=n", "-c", "user.email=e"]).args(arguments);
            command.current_dir(self.path("tree")).env("GIT_CONFIG_GLOBAL", "/dev/null").env_remove("GIT_DIR");
            assert!(command.status().expect("it runs").success(), "{arguments:?}");
        };
        git(&["init", "--quiet", "--initial-branch=master"]);
        git(&["add", "--all"]);
        git(&["commit", "--quiet", "-m", "first"]);
        format!("file://{}", self.path("tree").display())
    }

    /// What `check_source` and an installation say of a source that cannot be had, and that nothing was fetched for it.
    fn refused(&self, catalog: &Catalog, spec: &BuildSpec) -> [String; 2] {
        let mut steps = Vec::new();
        let installed = install(spec, catalog, &self.cache, &mut |step| steps.push(step));
        assert_eq!(steps, []);
        [check(catalog, spec, &self.cache), installed.map(drop)].map(|result| result.expect_err("refused").to_string())
    }
}

fn check(catalog: &Catalog, spec: &BuildSpec, cache: &Cache) -> Result<()> {
    let BuildSource::Source(source) = &spec.source else { panic!("{spec} is a source") };
    check_source(spec.engine, source, catalog, cache)
}

/// A recipe whose only step is this script.
fn catalog(script: &str) -> Catalog {
    catalog_with(script, "")
}

/// The same with more needs.
fn catalog_with(script: &str, needs: &str) -> Catalog {
    let mut recipes = Recipes::built_in();
    let text = format!(
        "engine = \"postgres\"\nabout = \"test\"\nmarks = [\"configure\"]\nconfigured = \"config.status\"\n\
         undo = \"make distclean\"\nprefix = \"install\"\ncompilers = [{{ variable = \"CC\", program = \"gcc\" }}]\n\
         [[need]]\nprogram = \"sh\"\npackage = \"dash\"\n{needs}\
         [[step]]\nname = \"compile\"\ncommand = [\"sh\", \"-c\", \"{script}\"]\n"
    );
    recipes.add_recipe("test", &text).expect("a recipe");
    Catalog::of_recipes(recipes)
}

#[test]
fn what_is_compiled_is_what_lay_there_before_another_rqps_was_waited_for() {
    let scene = Scene::new();
    let spec = scene.spec(&format!("+patch={}", scene.path("x.diff").display()));
    let mut lock = Some(scene.cache.lock_compiling(&mut || ()).expect("the lock"));
    let error = install(&spec, &catalog("cat configure file; exit 1"), &scene.cache, &mut |step| {
        if step == Progress::Waiting {
            scene.write("tree/configure", "changed\n");
            scene.write("x.diff", "no patch");
            lock = None;
        }
    });
    let error = error.expect_err("it fails").to_string();
    assert!(lock.is_none() && error.contains("as it was\n    patched"), "{error}");
}

#[test]
fn a_cache_that_servers_cannot_enter_is_refused_before_anything_is_compiled() {
    let scene = Scene::new();
    let (catalog, spec) = (catalog("exit 1"), scene.spec(""));
    check(&catalog, &spec, &scene.cache).expect("an open one is not");
    fs::set_permissions(scene.place.path(), fs::Permissions::from_mode(0o700)).expect("closed");
    if !Account::choose().differs_from_us() {
        return check(&catalog, &spec, &scene.cache).expect("servers run as we do");
    }
    let place = fs::canonicalize(scene.place.path()).expect("there");
    let told = format!("cannot enter {}; choose a folder open to it (RQPS_CACHE)", place.display());
    for error in scene.refused(&catalog, &spec) {
        assert!(error.ends_with(&told), "{error}");
    }
}

#[test]
fn what_is_known_to_fail_is_told_before_a_repository_is_fetched() {
    let scene = Scene::new();
    let address = scene.address();
    let spec = |rest: &str| format!("postgres:src:{address}{rest}").parse::<BuildSpec>().expect("a build");
    let whole = catalog("exit 1");
    check(&whole, &spec("@master"), &scene.cache).expect("nothing is known to fail");
    check(&whole, &spec(&format!("@{}", "0".repeat(40))), &scene.cache).expect("a commit may be there");
    let error = check(&whole, &spec("@nowhere"), &scene.cache).expect_err("refused").to_string();
    assert!(error.contains(&address) && error.contains("it has no revision `nowhere`"), "{error}");
    for error in scene.refused(&whole, &spec("+patch=nowhere.diff")) {
        assert!(error.contains("cannot read the patch nowhere.diff"), "{error}");
    }
    let lacking = catalog_with("exit 1", "[[need]]\nheader = \"no/such.h\"\npackage = \"libno-dev\"\n");
    for error in scene.refused(&lacking, &spec("@master")) {
        assert!(error.contains("this machine lacks no/such.h"), "{error}");
    }

    // A build of an earlier commit: only fetching tells whether it is that which is wanted.
    let facts = BuildFacts::unknown(Engine::Postgres, "17.1".parse().expect("a version"));
    let facts = BuildFacts { origin: format!("src:{address}@0123456789+o2nofp"), ..facts };
    let record = BuildRecord { facts, package_sha256: String::new(), manifest_sha256: String::new(), bound_to: None };
    fs::create_dir(scene.cache.build("pg171_o2nofp")).expect("made");
    let text = serde_json::to_string(&record).expect("text");
    fs::write(scene.cache.build("pg171_o2nofp").join("build.json"), text).expect("written");
    check(&lacking, &spec("@master"), &scene.cache).expect("it may be there");
    for other in ["@master+o3", "@master+patch=/etc/passwd"] {
        check(&lacking, &spec(other), &scene.cache).expect_err("it is not there");
    }
}

#[test]
fn a_build_for_the_cpu_of_this_machine_is_not_that_of_another() {
    let scene = Scene::new();
    scene.write("cc", "#!/bin/sh\ncase \"$*\" in *-###*) cat \"$(dirname $0)/cpu\" >&2 ;; *) echo cc 1 ;; esac\n");
    fs::set_permissions(scene.path("cc"), fs::Permissions::from_mode(0o755)).expect("to be run");
    let mut recipes = catalog("exit 1").recipes().clone();
    let flavour = |name: &str, flags: &str| {
        let cc = scene.path("cc").display().to_string();
        format!("[flavour.{name}]\nabout = \"test\"\nvariables = {{ CC = \"{cc}\", CFLAGS = \"{flags}\" }}\n")
    };
    let both = [flavour("a", "-O2 -march=x86-64"), flavour("b", "-O2 -march=native -mtune=native")].concat();
    recipes.add_flavours("test", &format!("engine = \"postgres\"\n{both}")).expect("flavours");
    let catalog = Catalog::of_recipes(recipes);
    let digests = |cpu: &str| {
        scene.write("cpu", cpu);
        ["+a", "+b"].map(|flavour| {
            let BuildSource::Source(source) = scene.spec(flavour).source else { panic!("it is a source") };
            let digest = source_digest(Engine::Postgres, &source, &catalog, &scene.cache).expect("computed");
            digest.expect("known without fetching")
        })
    };
    let (one, other) = (digests("cc1 -march=skylake"), digests("cc1 -march=znver3"));
    assert!(one[0] == other[0] && one[1] != other[1], "{one:?} {other:?}");
    assert_eq!(digests("cc1 -march=skylake"), one);
}
