//! Sources by their content: git's trees and plain ones, patches, what is missing, recipes and flavours as files, and a
//! build that is broken off.
//!
//! Whole builds of PostgreSQL are live tests. What is run here by the machinery of recipes are commands of the system.

use super::compile::{Compilation, explaining_lines};
use super::content::Content;
use super::needs;
use super::pace::{Meter, rest, share_of_time};
use super::recipe::{Flavour, Need, Pace, Places, Recipe, Recipes};
use crate::{BuildError, Catalog};
use rqps_machine::{Account, Cache, Lease};
use rqps_model::Engine;
use rqps_model::build::{BuildSource, BuildSpec, SourceSpec};
use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

/// A folder that the account of steps may enter.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("opened");
    folder
}

fn run(program: &str, arguments: &[&str], folder: &Path) -> String {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null").env_remove("GIT_DIR");
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    run("git", &[&["-c", "user.name=n", "-c", "user.email=e"], arguments].concat(), folder)
}

/// A repository with one commit on `master`.
fn repository() -> tempfile::TempDir {
    let folder = folder();
    git(folder.path(), &["init", "--quiet", "--initial-branch=master"]);
    write(folder.path(), &[("configure", "one\n"), ("src/backend/Makefile", "two\n"), (".gitignore", "*.o\n")]);
    run("chmod", &["+x", "configure"], folder.path());
    git(folder.path(), &["add", "--all"]);
    git(folder.path(), &["commit", "--quiet", "-m", "first"]);
    folder
}

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let file = folder.join(name);
        fs::create_dir_all(file.parent().expect("below the folder")).expect("made");
        fs::write(file, text).expect("written");
    }
}

fn spec(text: &str) -> SourceSpec {
    match format!("postgres:{text}").parse::<BuildSpec>().expect("a build").source {
        BuildSource::Source(source) => source,
        other => panic!("{other:?} is no source"),
    }
}

fn recipe() -> Recipe {
    Recipes::built_in().recipe(Engine::Postgres).clone()
}

const PLACES: Places<'static> = Places { tree: "/t", stage: "/s", jobs: 2 };

fn content(place: &str) -> Result<Content, BuildError> {
    let own = folder();
    Content::of(&spec(&format!("src:{place}")), &Catalog::built_in(), &recipe(), own.path())
}

fn id(place: &str) -> String {
    content(place).expect("a source").id
}

/// Everything below a folder that git itself keeps: what it was before and must be after.
fn state(folder: &Path) -> String {
    run("sh", &["-c", "find . -type f -print0 | sort -z | xargs -0 sha256sum"], folder)
}

#[test]
fn uncommitted_changes_count_and_the_tree_is_not_written_to() {
    let tree = repository();
    let path = tree.path().display().to_string();
    let committed = id(&path);
    assert_eq!(committed, id(&format!("{path}@HEAD")), "a clean tree is its commit");
    assert!(content(&path).expect("a source").about.ends_with(&git(tree.path(), &["rev-parse", "HEAD"])[..10]));

    write(tree.path(), &[("src/backend/Makefile", "changed\n")]);
    let changed = id(&path);
    write(tree.path(), &[("src/new.c", "new\n")]);
    let with_new = id(&path);
    write(tree.path(), &[("src/new.o", "compiled\n")]);
    let before = state(tree.path());
    assert_eq!(id(&path), with_new, "what is ignored does not count");
    assert!(committed != changed && changed != with_new && committed != with_new);
    assert_eq!(id(&format!("{path}@master")), committed);
    let told = content(&path).expect("a source").about;
    assert!(told.ends_with("with changes that are not committed"), "{told}");

    let (own, to) = (folder(), folder());
    let (own_write, to) = (own.path().join("x"), to.path().join("copy"));
    fs::create_dir(&own_write).expect("made");
    let content =
        Content::of(&spec(&format!("src:{path}")), &Catalog::built_in(), &recipe(), &own_write).expect("read");
    content.write(&recipe(), &own_write, &to).expect("written");
    assert_eq!(fs::read_to_string(to.join("src/new.c")).expect("there"), "new\n");
    assert_eq!(fs::read_to_string(to.join("src/backend/Makefile")).expect("there"), "changed\n");
    assert!(!to.join("src/new.o").exists() && !to.join(".git").exists());
    assert_ne!(fs::metadata(to.join("configure")).expect("there").permissions().mode() & 0o111, 0);
    assert_eq!(state(tree.path()), before, "neither the tree nor what git keeps of it has changed");
}

#[test]
fn a_change_counts_whatever_the_index_says_of_its_file() {
    let tree = repository();
    let path = tree.path().display().to_string();
    let (makefile, index) = (tree.path().join("src/backend/Makefile"), tree.path().join(".git/index"));
    let date = |file: &Path| {
        let file = fs::File::options().write(true).open(file).expect("there");
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000)).expect("dated");
    };
    // All in the second in which the index was made: only this tells git that it must look into the file.
    git(tree.path(), &["config", "core.trustctime", "false"]);
    date(&makefile);
    git(tree.path(), &["update-index", "--refresh"]);
    let committed = id(&path);
    fs::write(&makefile, "TWO\n").expect("written");
    date(&makefile);
    date(&index);
    assert_ne!(id(&path), committed, "a file of the same size and time as before");

    git(tree.path(), &["reset", "--quiet", "--hard"]);
    assert_eq!(id(&path), committed);
    git(tree.path(), &["update-index", "--assume-unchanged", "src/backend/Makefile"]);
    write(tree.path(), &[("src/backend/Makefile", "changed\n")]);
    let before = state(tree.path());
    assert_ne!(id(&path), committed, "a file that git is to assume unchanged");
    assert_eq!(state(tree.path()), before);
}

#[test]
fn submodules_count_as_they_are_checked_out() {
    let (tree, other) = (repository(), repository());
    let path = tree.path().display().to_string();
    let from = other.path().display().to_string();
    git(tree.path(), &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &from, "lib/other"]);
    git(tree.path(), &["commit", "--quiet", "-m", "with"]);
    let committed = id(&path);
    assert_eq!(id(&format!("{path}@HEAD")), committed, "a clean tree is its commit");
    write(tree.path(), &[("lib/other/configure", "changed\n")]);
    let changed = content(&path).expect("a source");
    assert!(changed.id != committed && changed.about.ends_with("not committed"), "{}", changed.about);

    let before = state(tree.path());
    let (own, to) = (folder(), folder());
    for (place, text) in [(path.clone(), "changed\n"), (format!("{path}@HEAD"), "one\n")] {
        let (own, to) = (own.path().join(text.trim()), to.path().join(text.trim()));
        fs::create_dir(&own).expect("made");
        let content = Content::of(&spec(&format!("src:{place}")), &Catalog::built_in(), &recipe(), &own);
        content.expect("read").write(&recipe(), &own, &to).expect("written");
        assert_eq!(fs::read_to_string(to.join("lib/other/configure")).expect("there"), text);
    }
    assert_eq!(state(tree.path()), before, "neither the tree nor what git keeps of it has changed");

    let about = |place: &str| content(place).expect("a source").about;
    assert!(about(&format!("file://{path}")).ends_with("submodules that are not checked out: lib/other"));
    git(tree.path(), &["submodule", "--quiet", "deinit", "--force", "--all"]);
    let without = about(&format!("{path}@HEAD"));
    assert!(without.ends_with(", without submodules that are not checked out: lib/other"), "{without}");
    assert_eq!(about(&path), without);
}

#[test]
fn what_every_source_has_may_lie_in_a_submodule() {
    let (tree, other) = (repository(), repository());
    let from = other.path().display().to_string();
    git(tree.path(), &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &from, "lib/other"]);
    git(tree.path(), &["commit", "--quiet", "-m", "with"]);
    let path = tree.path().display().to_string();
    let lacking = |mark: &str, place: &str| {
        let recipe = Recipe { marks: vec!["configure".to_owned(), mark.to_owned()], ..recipe() };
        let own = folder();
        let content = Content::of(&spec(&format!("src:{place}")), &Catalog::built_in(), &recipe, own.path());
        content.err().map(|error| error.to_string().split_once(" lacks ").expect("what it lacks").1.to_owned())
    };
    for place in [path.clone(), format!("{path}@HEAD")] {
        assert_eq!(lacking("lib/other/src/backend/Makefile", &place), None);
        assert_eq!(lacking("lib/other/src/gone", &place).as_deref(), Some("lib/other/src/gone"));
        assert_eq!(lacking("lib/others", &place).as_deref(), Some("lib/others"));
    }
    git(tree.path(), &["submodule", "--quiet", "deinit", "--force", "--all"]);
    for place in [path.clone(), format!("{path}@HEAD"), format!("file://{path}")] {
        let told = "lib/other/configure (its submodule lib/other is not checked out)";
        assert_eq!(lacking("lib/other/configure", &place).as_deref(), Some(told));
    }
}

#[test]
fn the_merge_base_is_where_the_work_began() {
    let tree = repository();
    let path = tree.path().display().to_string();
    let base = format!("{path}@merge-base");
    let first = git(tree.path(), &["rev-parse", "HEAD"]);
    git(tree.path(), &["checkout", "--quiet", "-b", "work"]);
    write(tree.path(), &[("src/a.c", "a\n")]);
    git(tree.path(), &["add", "--all"]);
    git(tree.path(), &["commit", "--quiet", "-m", "work"]);
    assert_eq!(id(&base), id(&format!("{path}@{first}")));
    assert_ne!(id(&base), id(&path));
    let named = content(&base).expect("a source").spec.to_string();
    assert_eq!(named, format!("src:{path}@{first}"), "it can be made again from elsewhere");
    let place = folder();
    let link = place.path().join("link");
    symlink(tree.path(), &link).expect("linked");
    let named = content(&format!("{}@merge-base", link.display())).expect("a source").spec.to_string();
    assert_eq!(named, format!("src:{}@{first}", link.display()), "the path itself may have an `@`");

    let error = content(&format!("{path}@nowhere")).err().expect("refused").to_string();
    assert!(error.contains("it has no revision `nowhere`; its branches and tags"), "{error}");
    git(tree.path(), &["update-ref", "refs/remotes/origin/theirs", &first]);
    let error = content(&format!("{path}@theirs")).err().expect("refused").to_string();
    assert!(error.contains("it has no revision `theirs`; did you mean `origin/theirs`?"), "{error}");
    git(tree.path(), &["rm", "--quiet", "configure"]);
    let error = content(&path).err().expect("refused").to_string();
    assert!(error.contains("is no source of PostgreSQL: it lacks configure"), "{error}");
    git(tree.path(), &["reset", "--quiet", "--hard"]);
    git(tree.path(), &["checkout", "--quiet", "--orphan", "alone"]);
    git(tree.path(), &["commit", "--quiet", "-m", "alone"]);
    let error = content(&base).err().expect("refused").to_string();
    assert!(error.contains("HEAD and refs/heads/master have no commit in common here"), "{error}");
    git(tree.path(), &["branch", "--quiet", "-D", "master"]);
    let error = content(&base).err().expect("refused").to_string();
    assert!(error.contains("no branch main or master"), "{error}");
}

#[test]
fn a_repository_is_fetched_from_its_address() {
    let tree = repository();
    git(tree.path(), &["tag", "v1"]);
    write(tree.path(), &[("src/a.c", "a\n")]);
    git(tree.path(), &["add", "--all"]);
    git(tree.path(), &["commit", "--quiet", "-m", "second"]);
    let (path, address) = (tree.path().display().to_string(), format!("file://{}", tree.path().display()));
    let first = git(tree.path(), &["rev-parse", "v1"]);
    assert_eq!(id(&address), id(&path));
    for revision in ["v1", &first, "master"] {
        assert_eq!(id(&format!("{address}@{revision}")), id(&format!("{path}@{revision}")), "{revision}");
    }
    let error = content(&format!("{address}@nowhere")).err().expect("refused").to_string();
    assert!(error.contains(&address) && error.contains("nowhere"), "{error}");
    let error = content("https://u:secret@localhost:1/pg").err().expect("refused").to_string();
    assert!(error.contains("give the password to git") && !error.contains("secret"), "{error}");
    // Nothing listens there.
    let error = content("https://localhost:1/pg").err().expect("refused").to_string();
    assert!(error.contains("https://localhost:1/pg"), "{error}");
}

#[test]
fn a_tree_without_git_is_known_by_its_files() {
    let tree = folder();
    let path = tree.path().display().to_string();
    write(tree.path(), &[("configure", "one\n")]);
    let error = content(&path).err().expect("refused").to_string();
    assert!(error.contains("is no source of PostgreSQL: it lacks src/backend/Makefile"), "{error}");
    write(tree.path(), &[("src/backend/Makefile", "two\n")]);
    let first = id(&path);
    assert_eq!(id(&path), first);
    run("chmod", &["+x", "configure"], tree.path());
    let runs = id(&path);
    run("mv", &["configure", "other"], tree.path());
    run("cp", &["other", "configure"], tree.path());
    let more = id(&path);
    assert!(first != runs && runs != more && first != more);
    write(tree.path(), &[("config.status", "")]);
    let error = content(&path).err().expect("refused").to_string();
    assert!(error.contains("was configured in place") && error.contains("make distclean"), "{error}");
    assert!(content(&format!("{path}@main")).is_err(), "only a repository has revisions");
}

#[test]
fn a_link_that_leads_out_of_a_source_is_refused() {
    let (plain, tree, other) = (folder(), repository(), repository());
    write(plain.path(), &[("configure", "one\n"), ("src/backend/Makefile", "two\n")]);
    let from = other.path().display().to_string();
    git(tree.path(), &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &from, "lib/other"]);
    for (folder, inner) in [(plain.path(), "src/backend"), (tree.path(), "src/backend"), (tree.path(), "lib/other/src")]
    {
        let (place, link) = (folder.display().to_string(), format!("{inner}/link"));
        for to in ["Makefile", "../backend", "../../configure", "gone"] {
            symlink(to, folder.join(&link)).expect("linked");
            content(&place).expect("it stays inside");
            fs::remove_file(folder.join(&link)).expect("removed");
        }
        for to in ["/etc/passwd", "../../../shared/x", "../../../../x"] {
            symlink(to, folder.join(&link)).expect("linked");
            let error = content(&place).err().map(|error| error.to_string());
            fs::remove_file(folder.join(&link)).expect("removed");
            if inner == "lib/other/src" && to == "../../../shared/x" {
                assert_eq!(error, None, "inside of what the submodule is in");
                continue;
            }
            let told = format!("{place} has a link that leads out of it, {link} to {to}; only");
            assert!(error.as_ref().is_some_and(|error| error.starts_with(&told)), "{error:?}");
        }
    }
    symlink("/etc", tree.path().join("link")).expect("linked");
    git(tree.path(), &["add", "link"]);
    git(tree.path(), &["commit", "--quiet", "-m", "with"]);
    for place in [format!("{}@HEAD", tree.path().display()), format!("file://{}", tree.path().display())] {
        let error = content(&place).err().expect("refused").to_string();
        assert!(error.contains("a link that leads out of it, link to /etc; only"), "{error}");
    }
}

#[test]
fn an_archive_of_each_kind_is_a_source() {
    let tree = repository();
    let place = folder();
    for (ending, option) in [(".tar.gz", "-z"), (".tar.bz2", "-j"), (".tar.xz", "-J")] {
        let archive = place.path().join(format!("pg{ending}"));
        let name = archive.display().to_string();
        run("tar", &[option, "-cf", &name, "--exclude=.git", "--transform=s,^\\.,pg-1,", "."], tree.path());
        let (own, to) = (folder(), place.path().join(ending));
        let source = Content::of(&spec(&format!("src:{name}")), &Catalog::built_in(), &recipe(), own.path());
        source.expect("a source").write(&recipe(), own.path(), &to).expect("written");
        assert_eq!(fs::read_to_string(to.join("configure")).expect("there"), "one\n", "{ending}");
    }
    let other = place.path().join("other.tar.gz").display().to_string();
    run("tar", &["-z", "-cf", &other, "--transform=s,^,x/,", "configure"], tree.path());
    let (own, to) = (folder(), place.path().join("other"));
    let source = Content::of(&spec(&format!("src:{other}")), &Catalog::built_in(), &recipe(), own.path());
    let error = source.expect("read").write(&recipe(), own.path(), &to).expect_err("refused").to_string();
    assert!(error.starts_with(&format!("src:{other} is no source")), "{error}");
}

#[test]
fn what_changes_while_it_is_copied_is_refused() {
    let place = folder();
    write(&place.path().join("tree"), &[("configure", "one\n"), ("src/backend/Makefile", "two\n")]);
    let archive = place.path().join("pg.tar.gz").display().to_string();
    let pack = || run("tar", &["-z", "-cf", &archive, "tree"], place.path());
    pack();
    for (number, name) in [&place.path().join("tree").display().to_string(), &archive].into_iter().enumerate() {
        let own = folder();
        let source = Content::of(&spec(&format!("src:{name}")), &Catalog::built_in(), &recipe(), own.path());
        let source = source.expect("a source");
        let write_to = |name: &str| source.write(&recipe(), own.path(), &place.path().join(format!("{name}{number}")));
        write_to("same").expect("as it was");
        write(&place.path().join("tree"), &[("configure", &format!("changed {number}\n"))]);
        pack();
        let error = write_to("other").expect_err("changed").to_string();
        assert_eq!(error, format!("{name} was changed while it was copied; run the command again"));
    }
}

#[test]
fn all_that_is_missing_is_told_at_once_with_its_packages() {
    let need = |program: Option<&str>, header: Option<&str>, package: &str| Need {
        program: program.map(str::to_owned),
        header: header.map(str::to_owned),
        package: package.to_owned(),
    };
    let mut recipe = recipe();
    recipe.needs = vec![
        need(Some("sh"), None, "dash"),
        need(Some("no-such-bison"), None, "bison"),
        need(None, Some("stdio.h"), "libc6-dev"),
        need(None, Some("no/such.h"), "libno-dev"),
        need(None, Some("no/other.h"), "libno-dev"),
    ];
    let usual = Recipes::built_in().flavour(Engine::Postgres, None).expect("there").clone();
    let error = needs::check(&recipe, &usual, &[]).expect_err("lacking").to_string();
    assert_eq!(
        error,
        "to compile PostgreSQL this machine lacks no-such-bison, no/such.h, no/other.h; install the packages bison, \
         libno-dev (`apt-get install bison libno-dev`)"
    );
    let clang = Flavour { variables: [("CC".to_owned(), "no-such-cc-9".to_owned())].into(), ..usual };
    recipe.needs.truncate(2);
    let clang = Flavour { needs: vec![need(None, Some("no/uring.h"), "libno-uring-dev")], ..clang };
    let error = needs::check(&recipe, &clang, &[]).expect_err("lacking").to_string();
    assert!(error.contains("lacks the compiler no-such-cc-9, no-such-bison, no/uring.h; install"), "{error}");
}

#[test]
fn a_compiler_tells_what_native_is_here() {
    let recipes = Recipes::built_in();
    let facts = |engine: Engine, flavour: Option<&str>| {
        let flavour = recipes.flavour(engine, flavour).expect("there");
        needs::native_facts(recipes.recipe(engine), flavour).expect("told")
    };
    for engine in Engine::ALL {
        assert_eq!(facts(engine, None), None);
    }
    for (engine, flavour) in [(Engine::Postgres, "o3_native_lto"), (Engine::Mysql, "rel_native")] {
        let told = facts(engine, Some(flavour)).expect("it is for this CPU");
        assert!(told.contains("cc1") && told.contains("-mtune="), "{told}");
        assert_eq!(facts(engine, Some(flavour)), Some(told));
    }
}

#[test]
fn flavours_and_recipes_are_files() {
    let mut recipes = Recipes::built_in();
    let names: Vec<&str> = recipes.flavours(Engine::Postgres).map(|flavour| flavour.name.as_str()).collect();
    assert_eq!(
        names.join(" "),
        "clang_o2nofp def o0 o2nofp o2nofp_lz4 o2nofp_lz4_uring o3 o3_native o3_native_lto o3_native_lto_nofp \
         o3_nofp os"
    );
    let usual = recipes.flavour(Engine::Postgres, None).expect("there");
    assert_eq!(usual.variables["CFLAGS"], "-O2 -fno-omit-frame-pointer");
    let configure = recipe().steps[0].command(&recipe(), usual, PLACES);
    assert_eq!(configure[configure.len() - 2..], ["CC=gcc", "CFLAGS=-O2 -fno-omit-frame-pointer"]);
    let with_lz4 = recipes.flavour(Engine::Postgres, Some("o2nofp_lz4")).expect("there");
    let configure = recipe().steps[0].command(&recipe(), with_lz4, PLACES);
    assert_eq!(configure[configure.len() - 3..][..2], ["--with-lz4", "CC=gcc"]);
    assert_eq!(recipe().steps[2].command(&recipe(), usual, PLACES), ["make", "DESTDIR=/s", "install"]);
    // The slip of a published set: what is called -O3 must be.
    for flavour in recipes.flavours(Engine::Postgres).filter(|flavour| flavour.name.starts_with("o3")) {
        assert!(flavour.variables["CFLAGS"].starts_with("-O3"), "{}", flavour.name);
    }
    let error = recipes.flavour(Engine::Postgres, Some("o4")).expect_err("unknown").to_string();
    assert!(error.contains("PostgreSQL has no flavour `o4`; it has clang_o2nofp, def, o0"), "{error}");

    let own = |name: &str| {
        format!("engine = \"postgres\"\n[flavour.{name}]\nabout = \"a\"\nvariables = {{ CC = \"clang\" }}\n")
    };
    recipes.add_flavours("own.toml", &own("clang")).expect("read");
    assert_eq!(recipe().compilers(recipes.flavour(Engine::Postgres, Some("clang")).expect("there")), ["clang"]);
    for (text, reason) in [
        (own("\"a-b\""), "`a-b` cannot name a flavour"),
        (own("x").replace("about", "abuot"), "unknown field `abuot`"),
        (format!("default = \"y\"\n{}", own("x")), "no flavour `y`"),
        (own("x") + "need = [{ package = \"p\" }]", "the need of `p` must be one of program and header"),
    ] {
        let error = recipes.add_flavours("own.toml", &text).expect_err("refused").to_string();
        assert!(error.starts_with("own.toml: ") && error.contains(reason), "{error}");
    }
}

#[test]
fn every_engine_is_compiled_by_the_flags_of_its_flavours() {
    let recipes = Recipes::built_in();
    for engine in Engine::ALL {
        let recipe = recipes.recipe(engine);
        for flavour in recipes.flavours(engine) {
            let words = recipe.steps[0].command(recipe, flavour, PLACES);
            for (name, value) in &flavour.variables {
                assert!(words.iter().any(|word| word.ends_with(&format!("{name}={value}"))), "{engine} {name}");
            }
            assert!(!words.iter().any(|word| word.contains('{')), "{engine} {}: {words:?}", flavour.name);
        }
    }
    let recipe = recipes.recipe(Engine::Mariadb);
    let usual = recipes.flavour(Engine::Mariadb, None).expect("there");
    let words = recipe.steps[0].command(recipe, usual, PLACES);
    let flags = "RELWITHDEBINFO=-O2 -g1 -DNDEBUG -fno-omit-frame-pointer";
    let expected = [
        "-DCMAKE_BUILD_TYPE=RelWithDebInfo".to_owned(),
        "-DCMAKE_CXX_COMPILER=g++".to_owned(),
        format!("-DCMAKE_CXX_FLAGS_{flags}"),
        "-DCMAKE_C_COMPILER=gcc".to_owned(),
        format!("-DCMAKE_C_FLAGS_{flags}"),
    ];
    assert_eq!(words[words.len() - expected.len()..], expected);
    assert!(words.contains(&"-DCMAKE_C_FLAGS=-ffile-prefix-map=/t/=".to_owned()), "{words:?}");
    let options = recipe.options(usual);
    assert!(options.starts_with("-DCMAKE_INSTALL_PREFIX=/install -DCMAKE_C_FLAGS=-ffile-prefix-map=./= "), "{options}");
    assert!(
        options.ends_with(" '-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O2 -g1 -DNDEBUG -fno-omit-frame-pointer'"),
        "{options}"
    );
}

#[test]
fn the_time_left_is_told_by_the_files_that_were_compiled() {
    let place = folder();
    let log = place.path().join("log");
    write(place.path(), &[("tree/src/a.c", ""), ("tree/src/b/c.c", ""), ("tree/src/b.h", ""), ("tree/d.c", "")]);
    write(place.path(), &[("log", "gcc -c before\n")]);
    let pace = recipe().steps[1].pace.clone().expect("the step that compiles has one");
    let meter = Meter::begin(&pace, &place.path().join("tree"), &log).expect("begun");
    assert_eq!((meter.done(), meter.left()), (Some(0.0), None));
    fs::write(&log, "gcc -c before\nmake all\ngcc -O2 -c -o a.o a.c\n").expect("written");
    assert_eq!(meter.done(), Some(0.5));
    assert!(meter.left().is_some(), "one of two");
    let pace = Pace::Percent { time_gone: Vec::new() };
    let meter = Meter::begin(&pace, &place.path().join("tree"), &log).expect("begun");
    let mut log = fs::File::options().append(true).open(&log).expect("there");
    log.write_all(b"[  7%] Building C object a.o\nIn file included from b.c\n[  5%] Built target b\n")
        .expect("written");
    assert_eq!(meter.done(), Some(0.07), "commands that run at a time are told out of order");
    let of_ten_seconds = |done: f64| rest(done, Duration::from_secs(10)).map(|rest| rest.as_secs());
    assert_eq!([0.01, 0.25, 0.5, 1.0, 1.1].map(of_ten_seconds), [None, Some(30), Some(10), Some(0), Some(0)]);
}

#[test]
fn small_files_take_less_of_the_time_than_of_the_percentage() {
    let share = |done: f64| share_of_time(done, &[0.1, 0.2, 0.6]);
    for (done, gone) in [(0.0, 0.0), (0.125, 0.05), (0.25, 0.1), (0.6, 0.36), (0.75, 0.6), (0.875, 0.8), (1.0, 1.0)] {
        assert!((share(done) - gone).abs() < 1e-12, "{done}: {}", share(done));
    }
    assert_eq!(share_of_time(0.3, &[]), 0.3);
    for engine in [Engine::Mysql, Engine::Mariadb] {
        let recipes = Recipes::built_in();
        let paces: Vec<_> = recipes.recipe(engine).steps.iter().filter_map(|step| step.pace.as_ref()).collect();
        let [Pace::Percent { time_gone }] = &paces[..] else { panic!("{paces:?}") };
        assert!(time_gone.len() == 9 && time_gone.is_sorted() && time_gone[8] < 1.0, "{time_gone:?}");
    }
}

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
    let step = |command: &&[&str]| super::recipe::Step {
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
