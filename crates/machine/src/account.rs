//! The account that servers run under: never root.
//!
//! In: who we are and, if the user wants another, a name from the system's account file. Out: uid and gid for every
//! process and data folder of a server, and whether that account can enter a folder. It must not create accounts.

use crate::{MachineError, Result};
use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::Path;

/// The account that the servers of this start run under.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Account {
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
}

/// Uid and gid of `nobody` where the account file does not list it.
const NOBODY: Account = Account { uid: 65534, gid: 65534 };

impl Account {
    /// Ourselves, or `nobody` when we are root.
    pub fn choose() -> Account {
        let own = Account::own();
        if own.uid == 0 { Account::named("nobody").unwrap_or(NOBODY) } else { own }
    }

    /// Who rqps itself runs as.
    pub fn own() -> Account {
        Account { uid: rustix::process::geteuid().as_raw(), gid: rustix::process::getegid().as_raw() }
    }

    /// The account of this name, if the system has it and it is not root's.
    pub fn named(name: &str) -> Option<Account> {
        parse_passwd(&fs::read_to_string("/etc/passwd").ok()?, name).filter(|account| account.uid != 0)
    }

    /// Whether processes under this account need a change of uid.
    pub fn differs_from_us(self) -> bool {
        self.uid != Account::own().uid
    }

    /// Gives a file or folder to this account; does nothing where we are that account.
    pub fn own_path(self, path: &Path) -> Result<()> {
        if self.differs_from_us() {
            std::os::unix::fs::chown(path, Some(self.uid), Some(self.gid))
                .map_err(MachineError::at("hand over", path))?;
        }
        Ok(())
    }

    /// Writes a file of this account into a folder that the account may write to, in the place of whatever has that
    /// name.
    ///
    /// A program of the account may have left a symbolic link or a pipe there. So nothing that has a name is opened,
    /// and nothing is given away by its name: a new file is made, handed over, and renamed.
    pub fn write_file(self, path: &Path, text: &str) -> Result<()> {
        let folder = path.parent().unwrap_or(Path::new("/"));
        let mut new = tempfile::NamedTempFile::new_in(folder).map_err(MachineError::at("write", path))?;
        new.write_all(text.as_bytes()).map_err(MachineError::at("write", path))?;
        if self.differs_from_us() {
            fchown(new.as_file(), Some(self.uid), Some(self.gid)).map_err(MachineError::at("hand over", path))?;
        }
        new.persist(path).map_err(|e| MachineError::io("write", path, e.error))?;
        Ok(())
    }

    /// A folder that only this account may enter, made if it is not there.
    pub fn private_folder(self, folder: &Path) -> Result<()> {
        if !folder.is_dir() {
            fs::create_dir(folder).map_err(MachineError::at("create", folder))?;
        }
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).map_err(MachineError::at("close", folder))?;
        self.own_path(folder)
    }

    /// Refuses a folder that this account cannot enter because of the modes on the way to it.
    pub fn check_can_enter(self, folder: &Path, remedy: &'static str) -> Result<()> {
        let folder = fs::canonicalize(folder).map_err(MachineError::at("find", folder))?;
        for step in folder.ancestors() {
            let meta = fs::metadata(step).map_err(MachineError::at("look at", step))?;
            let shift = match () {
                () if meta.uid() == self.uid => 6,
                () if meta.gid() == self.gid => 3,
                () => 0,
            };
            if meta.is_dir() && meta.mode() >> shift & 1 == 0 {
                return Err(MachineError::Unreachable { uid: self.uid, folder: step.to_owned(), remedy });
            }
        }
        Ok(())
    }
}

fn parse_passwd(text: &str, name: &str) -> Option<Account> {
    text.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        let [login, _, uid, gid, ..] = fields[..] else { return None };
        (login == name).then_some(Account { uid: uid.parse().ok()?, gid: gid.parse().ok()? })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    #[test]
    fn reads_the_account_file() {
        let text = "root:x:0:0:root:/root:/bin/bash\nbroken\nnobody:x:65534:65533:n:/nonexistent:/bin/false\n";
        assert_eq!(parse_passwd(text, "nobody"), Some(Account { uid: 65534, gid: 65533 }));
        assert_eq!(parse_passwd(text, "nobod"), None);
    }

    #[test]
    fn what_a_program_has_planted_is_replaced_and_never_followed() {
        let root = tempfile::tempdir().expect("a folder");
        let (folder, precious) = (root.path().join("data"), root.path().join("precious"));
        fs::create_dir(&folder).expect("made");
        fs::write(&precious, "x").expect("written");
        let owner = |path: &Path| fs::symlink_metadata(path).expect("it is there").uid();
        let owner_before = owner(&precious);
        let config = folder.join("rqps.conf");
        std::os::unix::fs::symlink(&precious, &config).expect("a link");
        Account::choose().write_file(&config, "one").expect("written");
        assert_eq!((fs::read_to_string(&precious).expect("read").as_str(), owner(&precious)), ("x", owner_before));
        assert!(fs::symlink_metadata(&config).expect("it is there").is_file());
        assert_eq!(owner(&config), Account::choose().uid);

        // Who opens a pipe to write waits for a reader.
        fs::remove_file(&config).expect("removed");
        mknodat(CWD, &config, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
        Account::choose().write_file(&config, "two").expect("written");
        assert_eq!(fs::read_to_string(&config).expect("read"), "two");
        assert_eq!(fs::read_dir(&folder).expect("listed").count(), 1, "nothing else is left");
    }

    #[test]
    fn never_chooses_root() {
        assert_ne!(Account::choose().uid, 0);
        assert_eq!(Account::named("root"), None);
    }

    #[test]
    fn names_the_folder_that_is_closed() {
        let outer = tempfile::tempdir().expect("a folder");
        let inner = outer.path().join("inner");
        fs::create_dir(&inner).expect("a folder");
        let stranger = Account { uid: 54321, gid: 54321 };
        fs::set_permissions(outer.path(), fs::Permissions::from_mode(0o755)).expect("opened");
        stranger.check_can_enter(&inner, "x").expect("open all the way");
        fs::set_permissions(outer.path(), fs::Permissions::from_mode(0o700)).expect("closed");
        match stranger.check_can_enter(&inner, "x") {
            Err(MachineError::Unreachable { uid: 54321, folder, .. }) => {
                assert_eq!(folder, outer.path().canonicalize().expect("a path"));
            }
            other => panic!("{other:?}"),
        }
    }
}
