//! Files that the user names in a campaign or a workload.
//!
//! In: paths, from where the user stands. Out: their content, or their size and digest.

use rqps_campaign::Files;
use rqps_model::own::InputFile;
use std::fs;
use std::path::Path;

/// Files of this machine.
#[derive(Debug, Clone, Copy)]
pub struct InputFiles;

impl Files for InputFiles {
    fn read(&self, path: &Path) -> Result<Vec<u8>, String> {
        fs::read(path).map_err(|error| error.to_string())
    }

    fn digest(&self, path: &Path) -> Result<InputFile, String> {
        digest(path).map_err(|error| error.to_string())
    }
}

fn digest(path: &Path) -> anyhow::Result<InputFile> {
    let facts = fs::metadata(path)?;
    if facts.is_dir() {
        anyhow::bail!("it is a folder; of what pg_dump -Fd wrote make SQL first: pg_restore -f shop.sql FOLDER");
    }
    let sha256 = rqps_builds::verify::sha256_file(path)?;
    Ok(InputFile { path: std::path::absolute(path)?, bytes: facts.len(), sha256 })
}
