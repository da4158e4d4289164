//! Files that the user names in a campaign or a workload.
//!
//! In: paths, from where the user stands. Out: their content, or their size and digest, and what reads them where they
//! are archives of pg_dump.

use crate::pg_restore;
use rqps_campaign::Files;
use rqps_model::own::{Archive, InputFile};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Files of this machine.
#[derive(Debug, Clone, Default)]
pub struct InputFiles {
    /// The folder of builds, which may have a pg_restore.
    pub builds: Option<PathBuf>,
}

impl Files for InputFiles {
    fn read(&self, path: &Path) -> Result<Vec<u8>, String> {
        fs::read(path).map_err(|error| why(path, &error))
    }

    fn digest(&self, path: &Path) -> Result<InputFile, String> {
        digest(path).map_err(|error| match error.chain().find_map(|cause| cause.downcast_ref()) {
            Some(cause) => why(path, cause),
            None => error.to_string(),
        })
    }

    fn archive(&self, path: &Path, pg_restore: Option<&Path>) -> Result<Option<Archive>, String> {
        let head = pg_restore::head_of(path);
        head.map(|head| pg_restore::find(path, &head, pg_restore, self.builds.as_deref())).transpose()
    }
}

/// Why a file that the user named cannot be read, with the place where it was looked for.
pub(crate) fn why(path: &Path, error: &io::Error) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let path = path.display();
    match error.kind() {
        io::ErrorKind::NotFound => format!("no such file: {path}"),
        io::ErrorKind::IsADirectory => format!("{path} is a folder"),
        io::ErrorKind::PermissionDenied => format!("{path} may not be read by this user"),
        // The system's number says no more than its words.
        _ => {
            let words = error.to_string();
            format!("{path}: {}", words.split(" (os error").next().unwrap_or_default())
        }
    }
}

fn digest(path: &Path) -> anyhow::Result<InputFile> {
    let facts = fs::metadata(path)?;
    let (bytes, sha256) = match facts.is_dir() {
        false => (facts.len(), rqps_builds::verify::sha256_file(path)?),
        true => digest_of_folder(path)?,
    };
    Ok(InputFile { path: std::path::absolute(path)?, bytes, sha256, archive: None })
}

/// Of a directory archive: the bytes of its files, and a digest of their names and digests.
fn digest_of_folder(folder: &Path) -> anyhow::Result<(u64, String)> {
    anyhow::ensure!(
        pg_restore::head_of(folder).is_some(),
        "it is a folder without a toc.dat, and so not what pg_dump -Fd writes"
    );
    let mut files = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    files.sort_by_key(fs::DirEntry::file_name);
    let (mut bytes, mut all) = (0, Sha256::new());
    for file in files.iter().filter(|file| file.path().is_file()) {
        bytes += file.metadata()?.len();
        all.update(file.file_name().as_encoded_bytes());
        all.update(rqps_builds::verify::sha256_file(&file.path())?);
    }
    Ok((bytes, all.finalize().iter().map(|byte| format!("{byte:02x}")).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_read_is_named_with_the_reason() {
        let folder = tempfile::tempdir().expect("made");
        let (gone, files) = (folder.path().join("gone.sql"), InputFiles::default());
        let expected = format!("no such file: {}", gone.display());
        assert_eq!(files.read(&gone), Err(expected.clone()));
        assert_eq!(files.digest(&gone).map(|file| file.bytes), Err(expected));
        assert_eq!(files.read(folder.path()), Err(format!("{} is a folder", folder.path().display())));
        let told = why(&gone, &io::Error::from_raw_os_error(5));
        assert_eq!(told, format!("{}: Input/output error", gone.display()));
    }
}
