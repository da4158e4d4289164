//! Revisions and work trees of git, by the user's own `git`.
//!
//! In: a repository, as a folder or an address, and a revision. Out: the id of a tree, which says its content, and its
//! files in another folder. Nothing is written into the user's repository: what git must write (an index, objects of
//! changes that were not committed) goes into a folder of ours.

use crate::fetch::without_credentials;
use crate::{BuildError, Result};
use rqps_machine::command::{find_in_path, users_program};
use rqps_model::build::{MERGE_BASE, has_password};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where the work of a tree may have branched from, the likeliest first.
const TRUNKS: [&str; 8] = [
    "refs/remotes/upstream/HEAD",
    "refs/remotes/origin/HEAD",
    "refs/remotes/upstream/master",
    "refs/remotes/upstream/main",
    "refs/remotes/origin/master",
    "refs/remotes/origin/main",
    "refs/heads/master",
    "refs/heads/main",
];

/// What is compiled of a repository at an address where nothing else is said.
pub const DEFAULT_REVISION: &str = "HEAD";

/// What stands in a list of a tree before the id of another repository's commit, and of where a symbolic link leads.
const SUBMODULE: &str = "160000 commit";
const LINK: &str = "120000 blob";

/// How many lines of git's words an error carries.
const TOLD_LINES: usize = 4;

/// A repository, and a folder of ours for what git writes.
pub struct Git<'a> {
    program: PathBuf,
    repository: PathBuf,
    own: &'a Path,
    /// As its user names it.
    shown: String,
}

/// A tree of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    /// What git calls it: the same content has the same id, submodules apart.
    pub id: String,
    /// The commit that it is, or that it was changed from.
    pub commit: Option<String>,
    /// Whether the repository itself has changes that were not committed.
    has_changes: bool,
    /// Other repositories inside, of which the tree has only the commit.
    pub submodules: Vec<Submodule>,
}

/// A repository inside another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submodule {
    /// Where it is in the tree.
    pub path: String,
    /// What is in it, if it is checked out and has the commit.
    pub tree: Option<Tree>,
}

impl Tree {
    /// Says the content, that of the submodules included.
    pub fn content_id(&self) -> String {
        let inner =
            self.submodules.iter().filter_map(|one| Some(format!("{}={}", one.path, one.tree.as_ref()?.content_id())));
        std::iter::once(self.id.clone()).chain(inner).collect::<Vec<_>>().join(" ")
    }

    /// Whether there are changes that were not committed, in submodules too.
    pub fn is_changed(&self) -> bool {
        let mut inner = self.submodules.iter().filter_map(|one| one.tree.as_ref());
        self.has_changes || inner.any(Tree::is_changed)
    }

    /// The paths of submodules that are not here.
    pub fn missing(&self) -> Vec<String> {
        let of = |one: &Submodule| match &one.tree {
            Some(tree) => tree.missing().iter().map(|path| format!("{}/{path}", one.path)).collect(),
            None => vec![one.path.clone()],
        };
        self.submodules.iter().flat_map(of).collect()
    }
}

/// Whether a folder is a work tree of git, or a repository without one.
pub fn is_repository(folder: &Path) -> bool {
    folder.join(".git").exists() || folder.join("HEAD").is_file() && folder.join("objects").is_dir()
}

/// Refuses an address that does not answer, or has no such branch or tag. Nothing is fetched.
pub fn check_address(url: &str, revision: Option<&str>) -> Result<()> {
    Git::at_address(url, Path::new(""))?.check_name(url, revision.unwrap_or(DEFAULT_REVISION))
}

/// Whether a revision can only be a branch or a tag: it is neither the id of a commit, also as `git describe` has it,
/// nor reckoned from another revision.
fn is_name(revision: &str) -> bool {
    let id = revision.rsplit("-g").next().unwrap_or(revision);
    !id.chars().all(|c| c.is_ascii_hexdigit()) && !revision.contains(['~', '^', ':', '@'])
}

/// Lists a tree with all that is below it.
fn list(mut command: Command, tree: &str) -> Command {
    command.args(["ls-tree", "-r", "--full-tree", tree]);
    command
}

/// Ids and paths of what a list says to be of a kind: mode and type, then the id, a tab and the path.
fn listed_as<'a>(kind: &str, listed: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let rows = listed.lines().filter_map(|line| line.split_once('\t'));
    rows.filter_map(move |(about, path)| Some((about.strip_prefix(kind)?.trim_start(), path)))
}

impl<'a> Git<'a> {
    /// A repository on this machine; `own` is an empty folder.
    pub fn at(repository: &Path, own: &'a Path) -> Result<Git<'a>> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let shown = repository.display().to_string();
        let program = find_in_path("git", &path).ok_or_else(|| BuildError::NoPackageClient {
            client: "git",
            package: "git",
            coordinate: shown.clone(),
        })?;
        Ok(Git { program, repository: repository.to_owned(), own, shown })
    }

    /// A repository elsewhere; what is fetched from there goes into one of ours.
    fn at_address(url: &str, own: &'a Path) -> Result<Git<'a>> {
        let git = Git { shown: without_credentials(url), ..Git::at(&own.join("repository"), own)? };
        if has_password(url) {
            // Every user of the machine can read the arguments of git and of what it starts.
            return Err(git.failed("give the password to git (`git help credentials`), not in the address".to_owned()));
        }
        Ok(git)
    }

    /// Refuses a name that no branch or tag at an address has.
    fn check_name(&self, url: &str, revision: &str) -> Result<()> {
        if !is_name(revision) {
            return Ok(());
        }
        let mut list = self.plain();
        list.args(["ls-remote", "--", url, revision]);
        if self.run(list)?.is_empty() {
            let known = "its branches and tags are shown by `git ls-remote`";
            return Err(self.failed(format!("it has no revision `{revision}`; {known}")));
        }
        Ok(())
    }

    /// Fetches a revision from an address into a repository of ours; only that revision where the server can.
    pub fn fetch(url: &str, revision: &str, own: &'a Path) -> Result<Git<'a>> {
        let git = Git::at_address(url, own)?;
        let mut init = git.plain();
        init.args(["init", "--quiet", "--bare"]).arg(&git.repository);
        git.run(init)?;
        let fetch = |depth: &[&str], what: &[&str]| {
            let mut fetch = git.command();
            fetch.args(["fetch", "--quiet", "--no-write-fetch-head"]).args(depth).args(["--", url]).args(what);
            git.run(fetch)
        };
        let wanted = format!("+{revision}:refs/heads/rqps");
        if fetch(&["--depth=1"], &[&wanted]).is_err() {
            git.check_name(url, revision)?;
            // A server need not give a commit that no name points to.
            fetch(&[], &["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"])?;
            let commit = git.commit(revision)?;
            let mut name = git.command();
            name.args(["update-ref", "refs/heads/rqps", &commit]);
            git.run(name)?;
        }
        Ok(git)
    }

    /// The tree of what [`Git::fetch`] fetched.
    pub fn fetched(&self) -> Result<Tree> {
        self.of_commit(self.commit("refs/heads/rqps")?)
    }

    /// The tree of a revision.
    pub fn revision(&self, revision: &str) -> Result<Tree> {
        // What keeps git from reading the repository at all is told before what is not in it.
        self.path("objects")?;
        let commit = if revision == MERGE_BASE { self.merge_base()? } else { self.commit(revision)? };
        self.of_commit(commit)
    }

    /// The tree as it lies in the folder: what is tracked and what is new, but not what is ignored.
    pub fn work_tree(&self) -> Result<Tree> {
        let index = self.path("index")?;
        if index.is_file() {
            self.copy_index(&index)?;
        }
        let mut add = self.on_our_index()?;
        add.args(["add", "--all", "--", "."]);
        self.run(add)?;
        let mut write = self.on_our_index()?;
        write.arg("write-tree");
        let id = self.run(write)?;
        let commit = self.commit("HEAD").ok();
        let committed = commit.as_deref().map(|commit| self.tree_id(commit)).transpose()?;
        let has_changes = committed.is_none_or(|committed| committed != id);
        // The tree is in our own objects only.
        let listed = self.run(list(self.on_our_index()?, &id))?;
        let submodules =
            listed_as(SUBMODULE, &listed).map(|(_, path)| self.submodule(path, None)).collect::<Result<_>>()?;
        Ok(Tree { id, commit, has_changes, submodules })
    }

    /// Takes over the user's index, which knows the files that need not be read again.
    fn copy_index(&self, index: &Path) -> Result<()> {
        let own = self.index();
        let made =
            std::fs::metadata(index).and_then(|meta| meta.modified()).map_err(BuildError::at("look at", index))?;
        std::fs::copy(index, &own).map_err(BuildError::at("copy", index))?;
        // git reads a file of the same size again only if it was not changed before its index was made.
        let copy = File::options().write(true).open(&own).map_err(BuildError::at("open", &own))?;
        copy.set_modified(made).map_err(BuildError::at("date", &own))?;
        // A file that the user has told git to assume unchanged counts as it lies there, too.
        let mut refresh = self.on_our_index()?;
        refresh.args(["update-index", "-q", "--unmerged", "--really-refresh"]);
        self.run(refresh).map(drop)
    }

    /// Which of these files a tree does not have, those of its submodules included.
    pub fn lacks(&self, tree: &Tree, files: &[String]) -> Result<Vec<String>> {
        let mut list = self.on_our_index()?;
        list.args(["ls-tree", "-r", "--name-only", "--full-tree", &tree.id, "--"]).args(files);
        let listed = self.run(list)?;
        let mut lacking = Vec::new();
        for file in files.iter().filter(|file| !listed.lines().any(|line| line == *file)) {
            let below = |one: &Submodule| file.strip_prefix(&one.path)?.strip_prefix('/').map(str::to_owned);
            match tree.submodules.iter().find_map(|one| Some((one, below(one)?))) {
                None => lacking.push(file.clone()),
                Some((Submodule { path, tree: None }, _)) => {
                    lacking.push(format!("{file} (its submodule {path} is not checked out)"));
                }
                Some((Submodule { path, tree: Some(tree) }, inner_file)) => {
                    let inner_lacks = self.inner(path, |inner| inner.lacks(tree, &[inner_file]))?;
                    lacking.extend(inner_lacks.iter().map(|inner_file| format!("{path}/{inner_file}")));
                }
            }
        }
        Ok(lacking)
    }

    /// The symbolic links of a tree and where they lead, those of its submodules included.
    pub fn links(&self, tree: &Tree) -> Result<Vec<(PathBuf, PathBuf)>> {
        let listed = self.run(list(self.on_our_index()?, &tree.id))?;
        let mut links = Vec::new();
        for (id, path) in listed_as(LINK, &listed) {
            let mut show = self.on_our_index()?;
            show.args(["cat-file", "blob", id]);
            links.push((path.into(), self.run(show)?.into()));
        }
        for Submodule { path, tree } in &tree.submodules {
            let Some(tree) = tree else { continue };
            let inner = self.inner(path, |inner| inner.links(tree))?;
            links.extend(inner.into_iter().map(|(link, to)| (Path::new(path).join(link), to)));
        }
        Ok(links)
    }

    /// Writes the files of a tree into a folder, which exists.
    pub fn export(&self, tree: &Tree, to: &Path) -> Result<()> {
        let mut read = self.on_our_index()?;
        read.args(["read-tree", &tree.id]);
        self.run(read)?;
        let mut write = self.on_our_index()?;
        // The work tree is named so that a repository without one will do.
        write.arg("--work-tree").arg(to).args(["checkout-index", "--all", "--force", "--quiet"]);
        write.arg(format!("--prefix={}/", to.display()));
        self.run(write)?;
        for Submodule { path, tree } in &tree.submodules {
            let Some(tree) = tree else { continue };
            let to = to.join(path);
            std::fs::create_dir_all(&to).map_err(BuildError::at("create", &to))?;
            self.inner(path, |inner| inner.export(tree, &to))?;
        }
        Ok(())
    }

    /// What the work of the folder branched from.
    fn merge_base(&self) -> Result<String> {
        let trunk = TRUNKS.into_iter().find(|trunk| self.commit(trunk).is_ok());
        let trunk = trunk.ok_or_else(|| {
            self.failed(format!(
                "there is no branch main or master, here or at a remote, to find the {MERGE_BASE} with; name the \
                 revision after the `@`"
            ))
        })?;
        let mut base = self.command();
        base.args(["merge-base", "HEAD", trunk]);
        // git says nothing where there is none.
        self.run(base).map_err(|_| {
            self.failed(format!(
                "HEAD and {trunk} have no commit in common here, so there is no {MERGE_BASE}; in a shallow clone \
                 `git fetch --unshallow` gets it, or name the revision after the `@`"
            ))
        })
    }

    fn commit(&self, revision: &str) -> Result<String> {
        let mut parse = self.command();
        parse.args(["rev-parse", "--verify", "--quiet", "--end-of-options"]).arg(format!("{revision}^{{commit}}"));
        self.run(parse).map_err(|_| {
            let meant = match self.of_remotes(revision).as_slice() {
                [] => "its branches and tags are shown by `git branch --all` and `git tag`".to_owned(),
                known => format!("did you mean `{}`?", known.join("` or `")),
            };
            self.failed(format!("it has no revision `{revision}`; {meant}"))
        })
    }

    /// The branches of this name that remotes had when they were last fetched.
    fn of_remotes(&self, branch: &str) -> Vec<String> {
        let mut list = self.command();
        list.args(["for-each-ref", "--format=%(refname:short)"]).arg(format!("refs/remotes/*/{branch}"));
        self.run(list).map(|names| names.lines().map(str::to_owned).collect()).unwrap_or_default()
    }

    fn of_commit(&self, commit: String) -> Result<Tree> {
        let id = self.tree_id(&commit)?;
        let listed = self.run(list(self.command(), &id))?;
        let submodules = listed_as(SUBMODULE, &listed).map(|(commit, path)| self.submodule(path, Some(commit)));
        let submodules = submodules.collect::<Result<_>>()?;
        Ok(Tree { id, commit: Some(commit), has_changes: false, submodules })
    }

    fn tree_id(&self, commit: &str) -> Result<String> {
        let mut parse = self.command();
        parse.args(["rev-parse", "--verify", &format!("{commit}^{{tree}}")]);
        self.run(parse)
    }

    /// What is checked out at a path, as it lies there or at a commit that it has.
    fn submodule(&self, path: &str, commit: Option<&str>) -> Result<Submodule> {
        let is_here = self.repository.join(path).join(".git").exists();
        let tree = |inner: &Git<'_>| match commit {
            None => inner.work_tree().map(Some),
            Some(commit) => inner.commit(commit).ok().map(|commit| inner.of_commit(commit)).transpose(),
        };
        let tree = if is_here { self.inner(path, tree)? } else { None };
        Ok(Submodule { path: path.to_owned(), tree })
    }

    /// Does something with the repository of a submodule; what git writes for it has a folder of its own.
    fn inner<T>(&self, path: &str, what: impl FnOnce(&Git<'_>) -> Result<T>) -> Result<T> {
        let own = self.own.join("submodules").join(path);
        std::fs::create_dir_all(&own).map_err(BuildError::at("create", &own))?;
        what(&Git::at(&self.repository.join(path), &own)?)
    }

    fn path(&self, name: &str) -> Result<PathBuf> {
        let mut parse = self.command();
        parse.args(["rev-parse", "--git-path", name]);
        Ok(self.repository.join(self.run(parse)?))
    }

    fn index(&self) -> PathBuf {
        self.own.join("index")
    }

    /// A command that writes its index and its objects into our folder.
    fn on_our_index(&self) -> Result<Command> {
        let objects = std::path::absolute(self.path("objects")?).map_err(BuildError::at("find", &self.repository))?;
        let own = self.own.join("objects");
        std::fs::create_dir_all(&own).map_err(BuildError::at("create", &own))?;
        let mut command = self.command();
        command.env("GIT_INDEX_FILE", self.index()).env("GIT_OBJECT_DIRECTORY", own);
        command.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", objects);
        Ok(command)
    }

    fn command(&self) -> Command {
        let mut command = self.plain();
        command.arg("-C").arg(&self.repository);
        command
    }

    /// The user's own git, but for variables that name another repository, and for questions.
    fn plain(&self) -> Command {
        let mut command = users_program(&self.program);
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX"] {
            command.env_remove(name);
        }
        command.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
        command.stdin(Stdio::null());
        command
    }

    /// Runs it to its end and returns what it says, without the line's end.
    fn run(&self, mut command: Command) -> Result<String> {
        let output = command.output().map_err(BuildError::at("run", &self.program))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned());
        }
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).take(TOLD_LINES).collect();
        Err(self.failed(without_credentials(&lines.join("; "))))
    }

    fn failed(&self, said: String) -> BuildError {
        let output = if said.is_empty() { "git gave no reason".to_owned() } else { said };
        BuildError::Repository { place: self.shown.clone(), output }
    }
}
