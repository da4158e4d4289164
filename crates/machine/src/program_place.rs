//! Where copies of programs can lie in huge pages: a file system in memory, mounted with `huge=always` in one place
//! that only root can make.
//!
//! In: the kernel's table of mounts. Out: the place, or why there is none and what makes it; the mount itself, for
//! those who may. It must not mount anything unless asked to.

use rustix::fs::{Access, access};
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use serde::Serialize;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The place. Below it nobody but root could make a folder that pretends to be it.
pub const PLACE: &str = "/run/rqps-programs";

/// What is mounted there, in the words of [`mounted`].
pub const HUGE: &str = "tmpfs, huge=always";

/// What [`mounted`] says where nothing is.
pub const NOTHING: &str = "nothing mounted";

/// Open to every user, who can remove only what is their own; programs in it run, but with no other's rights.
const OPTIONS: &str = "huge=always,mode=1777";

/// What the kernel does with files in memory, whatever their mounts say.
pub const SHMEM_ENABLED: &str = "/sys/kernel/mm/transparent_hugepage/shmem_enabled";

/// Why programs cannot lie in huge pages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum NoHugePages {
    /// The kernel was made without them.
    #[error("this kernel has no huge pages for files in memory; use one with CONFIG_TRANSPARENT_HUGEPAGE")]
    NotInKernel,
    /// The kernel was told not to.
    #[error("the kernel denies them to files in memory; {}", remedy())]
    Denied,
    /// Nothing is mounted, or something else.
    #[error("{} has {found}; {}", place.display(), remedy())]
    NotMounted {
        /// Where.
        place: PathBuf,
        /// What is there.
        found: String,
    },
    /// It is there, and closed to this user.
    #[error("{} may not be written: {why}; {}", place.display(), remedy())]
    Closed {
        /// Where.
        place: PathBuf,
        /// What the system said.
        why: String,
    },
}

/// The command that makes the place.
fn remedy() -> &'static str {
    "`sudo rqps doctor --apply` changes that until the next boot"
}

/// The place, if programs can lie in huge pages there.
pub fn find(place: &Path) -> Result<&Path, NoHugePages> {
    match kernel() {
        None => return Err(NoHugePages::NotInKernel),
        Some(told) if told == "deny" => return Err(NoHugePages::Denied),
        Some(_) => {}
    }
    let found = mounted(place);
    if found != HUGE {
        return Err(NoHugePages::NotMounted { place: place.to_owned(), found });
    }
    let closed = |error: rustix::io::Errno| NoHugePages::Closed { place: place.to_owned(), why: error.to_string() };
    access(place, Access::WRITE_OK | Access::EXEC_OK).map_err(closed)?;
    Ok(place)
}

/// What the kernel does with files in memory: `deny`, `never` (only where a mount asks for it), and others.
pub fn kernel() -> Option<String> {
    let modes = fs::read_to_string(SHMEM_ENABLED).ok()?;
    let (_, rest) = modes.split_once('[')?;
    rest.split_once(']').map(|(chosen, _)| chosen.to_owned())
}

/// What is mounted on a folder: its kind, and how it uses huge pages.
pub fn mounted(place: &Path) -> String {
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    mounted_in(&table, place)
}

/// What was mounted last hides what was before.
fn mounted_in(table: &str, place: &Path) -> String {
    let of_line = |line: &str| {
        let (mount, kind) = line.split_once(" - ")?;
        let on = mount.split(' ').nth(4)?;
        (unescaped(on) == place.to_string_lossy()).then_some(())?;
        let (kind, options) = (kind.split(' ').next()?, kind.split(' ').nth(2).unwrap_or_default());
        let huge = options.split(',').find(|option| option.starts_with("huge="));
        Some(huge.map_or_else(|| kind.to_owned(), |huge| format!("{kind}, {huge}")))
    };
    table.lines().filter_map(of_line).next_back().unwrap_or_else(|| NOTHING.to_owned())
}

/// The kernel writes blanks and such as octal numbers.
fn unescaped(text: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .into_iter()
        .fold(text.to_owned(), |text, (code, character)| text.replace(code, character))
}

/// Makes the place.
///
/// # Errors
/// Where this is not root, or the kernel refuses; a folder that was made for it is gone then.
pub fn make(place: &Path) -> io::Result<()> {
    let is_new = match fs::create_dir(place) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
        made => made.map(|()| true)?,
    };
    let options = std::ffi::CString::new(OPTIONS).expect("no zero in it");
    let mounted = mount("rqps", place, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, options.as_c_str());
    if mounted.is_err() && is_new {
        let _ = fs::remove_dir(place);
    }
    Ok(mounted?)
}

/// Takes it away, with the folder.
///
/// # Errors
/// Where a program still lies there, or this is not root.
pub fn remove(place: &Path) -> io::Result<()> {
    unmount(place, UnmountFlags::empty())?;
    match fs::remove_dir(place) {
        // What was mounted before is there again, and is not ours.
        Err(_) if mounted(place) != NOTHING => Ok(()),
        removed => removed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_mounts_is_read() {
        let table = "\
23 28 0:21 / /proc rw,relatime - proc proc rw
40 28 0:35 / /run/a\\040b rw,relatime shared:3 - tmpfs rqps rw,size=10k,huge=always
41 28 0:36 / /run/twice rw,relatime - tmpfs rqps rw,huge=always
42 28 0:37 / /run/twice rw,relatime - tmpfs tmpfs rw
";
        let told = ["/proc", "/run/a b", "/run/twice", "/run"].map(|place| mounted_in(table, Path::new(place)));
        assert_eq!(told, ["proc", HUGE, "tmpfs", NOTHING]);
    }

    #[test]
    fn where_nothing_is_mounted_the_command_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        match find(folder.path()) {
            Err(NoHugePages::NotMounted { found, .. }) => assert_eq!(found, NOTHING),
            Err(NoHugePages::NotInKernel | NoHugePages::Denied) => {}
            other => panic!("{other:?}"),
        }
        let told = NoHugePages::NotMounted { place: PathBuf::from(PLACE), found: NOTHING.to_owned() };
        assert_eq!(
            told.to_string(),
            "/run/rqps-programs has nothing mounted; `sudo rqps doctor --apply` changes that until the next boot"
        );
    }

    #[test]
    fn the_place_is_made_and_taken_away_by_those_who_may() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("programs");
        match make(&place) {
            Ok(()) => {
                let found = find(&place).map(Path::to_owned);
                remove(&place).expect("nothing lies there");
                assert!(!place.exists());
                match found {
                    Ok(found) => assert_eq!(found, place),
                    Err(refused) => assert_ne!(kernel().as_deref(), Some("never"), "{refused}"),
                }
            }
            Err(error) => assert!(!rustix::process::geteuid().is_root() && !place.exists(), "{error}"),
        }
    }
}
