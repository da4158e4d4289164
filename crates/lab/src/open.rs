//! Cache, catalog, profiles and suites of this machine, opened once by every command that needs them.
//!
//! In: the user's environment. Out: [`Lab`]. Opening it also removes what an earlier rqps that was killed left behind.

use crate::notice::{Notice, Notify};
use crate::vocabulary;
use anyhow::{Context, Result};
use rqps_builds::{Catalog, installation};
use rqps_campaign::Vocabulary;
use rqps_machine::{Cache, Workspace, lease};
use rqps_model::facts::BuildFacts;
use rqps_model::{BuildSpec, settings::MachineClass};
use rqps_server::Profiles;
use rqps_suites::Suite;
use std::path::{Path, PathBuf};

/// Everything a campaign is made from.
#[derive(Debug)]
pub struct Lab {
    pub(crate) cache: Cache,
    pub(crate) catalog: Catalog,
    pub(crate) profiles: Profiles,
    pub(crate) suites: Vec<Suite>,
}

impl Lab {
    /// Opens the cache and reads catalog, profiles and suites, the user's own files on top.
    pub fn open(notify: &mut Notify<'_>) -> Result<Lab> {
        let cache = Cache::open().context("opening the cache (RQPS_CACHE names another folder for it)")?;
        for cleared in lease::clear_stale(&cache).context("removing leftovers of a killed rqps")? {
            let (processes, folders) = (cleared.processes, cleared.folders.len());
            if processes > 0 || folders > 0 {
                notify(Notice::LeftoversRemoved { processes, folders });
            }
            cleared.faults.into_iter().for_each(|fault| notify(Notice::Warning(fault)));
        }
        Ok(Lab {
            cache,
            catalog: Catalog::load().context("reading the catalog")?,
            profiles: Profiles::load().context("reading the profiles")?,
            suites: Suite::built_in(),
        })
    }

    /// The words that a campaign may use.
    pub(crate) fn vocabulary(&self) -> Result<Vocabulary> {
        let installed = installation::list(&self.cache).context("listing the installed builds")?;
        Ok(vocabulary::vocabulary(&self.catalog, &self.profiles, &self.suites, &installed))
    }

    /// Makes sure that a build is on this machine.
    pub(crate) fn install(&self, spec: &BuildSpec, notify: &mut Notify<'_>) -> Result<BuildFacts> {
        let mut show = |step| notify(Notice::Build { build: spec.clone(), step });
        installation::install(spec, &self.catalog, &self.cache, &mut show).with_context(|| format!("build {spec}"))
    }

    /// The same, and that it is whole: a build that is damaged is made again.
    pub(crate) fn install_whole(&self, spec: &BuildSpec, notify: &mut Notify<'_>) -> Result<BuildFacts> {
        let mut show = |step| notify(Notice::Build { build: spec.clone(), step });
        installation::install_whole(spec, &self.catalog, &self.cache, &mut show)
            .with_context(|| format!("build {spec}"))
    }

    /// An existing folder on the device that the data of a campaign will be on.
    pub fn data_place(&self, data: Option<&Path>) -> PathBuf {
        let parent = Workspace::parent(&self.cache, data);
        parent.ancestors().find(|folder| folder.is_dir()).unwrap_or(Path::new("/")).to_owned()
    }
}

/// Cores and memory of this machine.
pub(crate) fn this_machine() -> Result<MachineClass> {
    let text = std::fs::read_to_string("/proc/meminfo").context("cannot read /proc/meminfo")?;
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kb: Option<u64> = total.and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse().ok());
    let memory_bytes = kb.context("/proc/meminfo has no MemTotal")? * 1024;
    let cores = std::thread::available_parallelism().context("cannot count the CPUs")?.get() as u32;
    Ok(MachineClass { cores, memory_bytes })
}
