//! Sources as builds, where a step is a script: what is compiled, and what is refused before it is.

use super::*;
use crate::installation::install;
use crate::source::recipe::Recipes;
use rqps_model::{BuildSource, BuildSpec};
use std::os::unix::fs::PermissionsExt;

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
}

/// A recipe whose only step is this script.
fn catalog(script: &str) -> Catalog {
    let mut recipes = Recipes::built_in();
    let text = format!(
        "engine = \"postgres\"\nabout = \"test\"\nmarks = [\"configure\"]\nconfigured = \"config.status\"\n\
         undo = \"make distclean\"\nprefix = \"install\"\ncompilers = [{{ variable = \"CC\", program = \"gcc\" }}]\n\
         [[need]]\nprogram = \"sh\"\npackage = \"dash\"\n\
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
    let BuildSource::Source(source) = &spec.source else { panic!("{spec} is a source") };
    check_source(spec.engine, source, &catalog, &scene.cache).expect("an open one is not");
    fs::set_permissions(scene.place.path(), fs::Permissions::from_mode(0o700)).expect("closed");
    let checked = check_source(spec.engine, source, &catalog, &scene.cache);
    if Account::choose().differs_from_us() {
        let error = checked.expect_err("refused").to_string();
        let place = fs::canonicalize(scene.place.path()).expect("there");
        let told = format!("cannot enter {}; choose a folder open to it (RQPS_CACHE)", place.display());
        assert!(error.ends_with(&told), "{error}");
        let mut steps = Vec::new();
        install(&spec, &catalog, &scene.cache, &mut |step| steps.push(step)).expect_err("refused");
        assert_eq!(steps, []);
    } else {
        checked.expect("servers run as we do");
    }
}
