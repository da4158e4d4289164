//! The content of a source: what identifies it, and its files in a folder of ours.
//!
//! In: a source as asked for, the catalog, an empty folder. Out: [`Content`], known before anything is compiled, so
//! that what was compiled before is found. The user's own files are only read.

use super::git::{self, Git, Tree};
use super::recipe::Recipe;
use super::tree;
use crate::fetch;
use crate::unpack::{self, Contents, climbed_inside, make_open_folder};
use crate::{BuildError, Catalog, Result, verify};
use rqps_model::build::{SourcePlace, SourceSpec};
use std::fs;
use std::path::{Path, PathBuf};

/// What a source holds.
pub struct Content {
    /// Says what is in it: the same content has the same.
    pub id: String,
    /// The source as it can be named again: with its commit, and absolute.
    pub spec: SourceSpec,
    /// What its name does not say: its commit, and whether there are changes that are not committed.
    pub about: String,
    files: Files,
}

enum Files {
    Folder(PathBuf),
    Tree(PathBuf, Tree),
    Archive(PathBuf),
}

/// What identifies a source, where that is known without fetching or reading all of it.
pub fn known_id(spec: &SourceSpec, catalog: &Catalog, recipe: &Recipe) -> Result<Option<String>> {
    Ok(match &spec.place {
        SourcePlace::Release(version) => Some(of_archive(&catalog.find_source(recipe.engine, version)?.archive.sha256)),
        SourcePlace::ArchiveUrl { sha256, .. } => sha256.as_deref().map(of_archive),
        SourcePlace::Archive(_) | SourcePlace::Folder(_) | SourcePlace::Repository(_) => None,
    })
}

fn of_archive(sha256: &str) -> String {
    format!("archive {sha256}")
}

fn of_folder(folder: &Path) -> Result<String> {
    Ok(format!("tree {}", tree::digest(folder)?))
}

impl Content {
    /// Whether finding out what is in a source means to fetch it.
    pub fn is_fetched(spec: &SourceSpec) -> bool {
        match spec.place {
            SourcePlace::Release(_) | SourcePlace::ArchiveUrl { .. } | SourcePlace::Repository(_) => true,
            SourcePlace::Archive(_) | SourcePlace::Folder(_) => false,
        }
    }

    /// Finds out what is in a source; what has to be fetched is fetched into `own`, an empty folder of ours.
    pub fn of(spec: &SourceSpec, catalog: &Catalog, recipe: &Recipe, own: &Path) -> Result<Content> {
        let place = &spec.place;
        let content = |id: String, files: Files| Content { id, spec: absolute(spec), about: String::new(), files };
        Ok(match place {
            SourcePlace::Release(version) => {
                let package = catalog.find_source(recipe.engine, version)?;
                let file = package.fetch(own)?;
                verify::check_package(&file, &package.to_string(), &package.archive.sha256)?;
                content(of_archive(&package.archive.sha256), Files::Archive(file))
            }
            SourcePlace::Archive(file) => {
                content(of_archive(&verify::sha256_file(file)?), Files::Archive(file.clone()))
            }
            SourcePlace::ArchiveUrl { url, sha256 } => {
                let file = own.join("archive");
                fetch::fetch_url(url, &file)?;
                let computed = verify::sha256_file(&file)?;
                if let Some(expected) = sha256 {
                    verify::check_pinned(&computed, &place.to_string(), expected)?;
                }
                content(of_archive(&computed), Files::Archive(file))
            }
            SourcePlace::Repository(url) => {
                let git = Git::fetch(url, spec.revision.as_deref().unwrap_or(git::DEFAULT_REVISION), own)?;
                of_tree(spec, recipe, own.join("repository"), &git, git.fetched()?)?
            }
            SourcePlace::Folder(folder) => {
                let folder = fs::canonicalize(folder).map_err(BuildError::at("find the source tree", folder))?;
                match &spec.revision {
                    Some(revision) => {
                        let git = Git::at(&folder, own)?;
                        let tree = git.revision(revision)?;
                        of_tree(spec, recipe, folder, &git, tree)?
                    }
                    None if git::is_repository(&folder) => {
                        let git = Git::at(&folder, own)?;
                        let tree = git.work_tree()?;
                        of_tree(spec, recipe, folder, &git, tree)?
                    }
                    None => {
                        check_marks(&folder, recipe)?;
                        check_unconfigured(&folder, recipe)?;
                        check_links(spec, &tree::links(&folder)?)?;
                        content(of_folder(&folder)?, Files::Folder(folder))
                    }
                }
            }
        })
    }

    /// Puts the files into a folder, which is made; patches are applied later, as a step of compiling. Refuses files
    /// that are no longer those that the content was known by.
    pub fn write(&self, recipe: &Recipe, own: &Path, to: &Path) -> Result<()> {
        make_open_folder(to)?;
        let written = match &self.files {
            Files::Folder(folder) => {
                tree::copy(folder, to)?;
                of_folder(to)?
            }
            Files::Tree(repository, tree) => {
                Git::at(repository, own)?.export(tree, to)?;
                // Its files were taken when it was read.
                self.id.clone()
            }
            Files::Archive(file) => {
                let contents = Contents { lifts_top: true, ..Contents::default() };
                unpack::unpack(std::slice::from_ref(file), &contents, to)?;
                of_archive(&verify::sha256_file(file)?)
            }
        };
        if written != self.id {
            return Err(BuildError::Changed { place: self.spec.place.to_string() });
        }
        check_marks(to, recipe).map_err(|error| error.of_source(&self.spec.to_string()))
    }
}

fn of_tree(spec: &SourceSpec, recipe: &Recipe, repository: PathBuf, git: &Git<'_>, tree: Tree) -> Result<Content> {
    refuse_without(&spec.to_string(), recipe, git.lacks(&tree, &recipe.marks)?)?;
    check_links(spec, &git.links(&tree)?)?;
    let mut spec = absolute(spec);
    // A tree as it lies there has no revision: its changes have none.
    if spec.revision.is_some() || matches!(spec.place, SourcePlace::Repository(_)) {
        spec.revision.clone_from(&tree.commit);
    }
    let short = tree.commit.as_deref().map_or("no commit", |commit| &commit[..commit.len().min(10)]);
    let changes = if tree.is_changed() { " with changes that are not committed" } else { "" };
    let without = match tree.missing().as_slice() {
        [] => String::new(),
        missing => format!(", without submodules that are not checked out: {}", missing.join(", ")),
    };
    let about = format!("commit {short}{changes}{without}");
    Ok(Content { id: format!("git {}", tree.content_id()), spec, about, files: Files::Tree(repository, tree) })
}

/// The same source for somebody who stands elsewhere. Links stay: a path with an `@` can only be named through one.
pub fn absolute(spec: &SourceSpec) -> SourceSpec {
    let full = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut spec = spec.clone();
    match &mut spec.place {
        SourcePlace::Folder(path) | SourcePlace::Archive(path) => *path = full(path),
        SourcePlace::Release(_) | SourcePlace::ArchiveUrl { .. } | SourcePlace::Repository(_) => {}
    }
    spec.patches.iter_mut().for_each(|patch| *patch = full(patch));
    spec
}

fn check_marks(folder: &Path, recipe: &Recipe) -> Result<()> {
    let missing = recipe.marks.iter().filter(|mark| !folder.join(mark).is_file()).cloned().collect();
    refuse_without(&folder.display().to_string(), recipe, missing)
}

fn refuse_without(place: &str, recipe: &Recipe, missing: Vec<String>) -> Result<()> {
    if missing.is_empty() {
        return Ok(());
    }
    Err(BuildError::NotASource { place: place.to_owned(), engine: recipe.engine.title(), missing })
}

/// What links lead to elsewhere is not known by the content of a source, and must not be written to.
fn check_links(spec: &SourceSpec, links: &[(PathBuf, PathBuf)]) -> Result<()> {
    let leads_out = |(link, to): &&(PathBuf, PathBuf)| climbed_inside(link, to).is_none();
    let Some((link, to)) = links.iter().find(leads_out) else { return Ok(()) };
    Err(BuildError::LeadsOut { place: spec.place.to_string(), link: link.clone(), to: to.clone() })
}

/// A copy of a tree that was configured in place would hold what was compiled there.
fn check_unconfigured(folder: &Path, recipe: &Recipe) -> Result<()> {
    if !folder.join(&recipe.configured).exists() {
        return Ok(());
    }
    Err(BuildError::Configured {
        folder: folder.to_owned(),
        file: recipe.configured.clone(),
        undo: recipe.undo.clone(),
    })
}
