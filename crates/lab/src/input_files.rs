//! Files that the user names in a campaign or a workload.
//!
//! In: paths, from where the user stands. Out: their content, or their size and digest, and what reads them where they
//! are archives of pg_dump.

use crate::pg_restore;
use rqps_campaign::Files;
use rqps_model::own::{Archive, InputFile};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

/// Files of this machine.
#[derive(Debug, Clone, Default)]
pub struct InputFiles {
    /// The folder of builds, which may have a pg_restore.
    pub builds: Option<PathBuf>,
}

impl Files for InputFiles {
    fn read(&self, path: &Path) -> Result<Vec<u8>, String> {
        fs::read(path).map_err(|error| error.to_string())
    }

    fn digest(&self, path: &Path) -> Result<InputFile, String> {
        digest(path).map_err(|error| error.to_string())
    }

    fn archive(&self, path: &Path, pg_restore: Option<&Path>) -> Result<Option<Archive>, String> {
        let head = pg_restore::head_of(path);
        head.map(|head| pg_restore::find(path, &head, pg_restore, self.builds.as_deref())).transpose()
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
