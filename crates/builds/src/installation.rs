//! Builds on this machine: installed from the catalog or an archive, compiled, listed, checked, removed; or taken from
//! a folder as they are.
//!
//! In: a [`BuildSpec`], the catalog and the cache. Out: [`BuildFacts`]. A build becomes visible by one rename after its
//! package was verified, unpacked, inspected and run once; what is interrupted before that leaves nothing that looks
//! whole. One whose server program was changed since is refused, since it would be unclear what was measured.

mod archive;
mod installed;
mod loader;
mod make;
mod progress;
mod record;
mod release;
mod source;

pub use archive::find_archive;
pub use installed::{Trust, list, remove, show, verify};
pub use progress::Progress;
pub use source::{check_source, find_compiled, find_source, source_digest};

use crate::inspect::{Subject, inspect};
use crate::{BuildError, Catalog, Result};
use installed::{Installer, check_program};
use rqps_machine::{Cache, Lease};
use rqps_model::facts::BuildFacts;
use rqps_model::{BuildSource, BuildSpec};

/// Makes sure that a build is on this machine and returns its facts. The name is the build's own (`pg1711_zonky`), not
/// the one that the user may have put in front; two builds may have the same.
pub fn install(
    spec: &BuildSpec,
    catalog: &Catalog,
    cache: &Cache,
    progress: &mut dyn FnMut(Progress),
) -> Result<BuildFacts> {
    install_as(spec, catalog, cache, Trust::Program, None, progress)
}

/// The same, with what must hold of a build that is installed already. A source is compiled by so many commands at a
/// time, as many as there are CPUs where `jobs` does not say.
pub fn install_as(
    spec: &BuildSpec,
    catalog: &Catalog,
    cache: &Cache,
    trust: Trust,
    jobs: Option<usize>,
    progress: &mut dyn FnMut(Progress),
) -> Result<BuildFacts> {
    let jobs = jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let installer = Installer { trust, jobs, cache, progress };
    let facts = match &spec.source {
        BuildSource::Folder(folder) => {
            let lease = Lease::open(cache)?;
            let origin = folder.display().to_string();
            let subject = Subject { folder, engine: spec.engine, origin: &origin, label: None, library_folders: &[] };
            return inspect(&subject, &lease);
        }
        BuildSource::Archive(path) => archive::install_archive(installer, spec.engine, path),
        BuildSource::Url { url, sha256 } => archive::install_url(installer, spec.engine, url, sha256.as_deref()),
        BuildSource::Source(source) => source::install(installer, spec.engine, source, catalog),
        BuildSource::Catalog(version) => release::install(installer, catalog.find(spec.engine, version)?),
    }
    .map_err(BuildError::in_cache)?;
    check_program(cache, &facts)?;
    Ok(facts)
}
