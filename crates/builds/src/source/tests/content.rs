//! Sources by their content: git's trees and plain ones, archives, submodules, links.

use super::{folder, git, recipe, repository, run, spec, write};
use crate::source::content::Content;
use crate::source::recipe::Recipe;
use crate::{BuildError, Catalog};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};

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
