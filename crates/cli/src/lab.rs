//! The house's inventory on this machine: cache, catalog, profiles, suites; opened once by every command that needs it.
//!
//! Opening it also clears what an earlier rqps that was killed left behind.

use crate::screen::Screen;
use crate::words;
use anyhow::{Context, Result};
use rqps_builds::{Catalog, Progress, installation};
use rqps_campaign::Vocabulary;
use rqps_machine::{Cache, lease};
use rqps_model::facts::BuildFacts;
use rqps_model::{BuildSpec, settings::MachineClass};
use rqps_server::Profiles;
use rqps_suites::Suite;

/// Everything a campaign is made from.
pub(crate) struct Lab {
    pub(crate) cache: Cache,
    pub(crate) catalog: Catalog,
    pub(crate) profiles: Profiles,
    pub(crate) suites: Vec<Suite>,
}

impl Lab {
    /// Opens the cache and reads catalog, profiles and suites, the user's own files on top.
    pub(crate) fn open(screen: Screen) -> Result<Lab> {
        let cache = Cache::open().context("opening the cache (RQPS_CACHE names another folder for it)")?;
        for cleared in lease::clear_stale(&cache).context("clearing what an earlier rqps left behind")? {
            if cleared.processes > 0 || !cleared.folders.is_empty() {
                screen.say(&format!(
                    "cleared what an rqps that was killed left behind: {} processes, {} folders",
                    cleared.processes,
                    cleared.folders.len()
                ));
            }
            cleared.faults.iter().for_each(|fault| screen.warn(fault));
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
        Ok(words::vocabulary(&self.catalog, &self.profiles, &self.suites, &installed))
    }

    /// Makes sure that a build is on this machine, telling each step.
    pub(crate) fn install(&self, spec: &BuildSpec, screen: Screen) -> Result<BuildFacts> {
        let mut tell = |progress| screen.say(&format!("{spec}: {}", step(progress)));
        installation::install(spec, &self.catalog, &self.cache, &mut tell).with_context(|| format!("build {spec}"))
    }

    /// The same, and that it is whole: a build that is damaged is made again.
    pub(crate) fn install_whole(&self, spec: &BuildSpec, screen: Screen) -> Result<BuildFacts> {
        let mut tell = |progress| screen.say(&format!("{spec}: {}", step(progress)));
        installation::install_whole(spec, &self.catalog, &self.cache, &mut tell)
            .with_context(|| format!("build {spec}"))
    }
}

/// A step of an installation in words.
fn step(progress: Progress) -> String {
    match progress {
        Progress::Waiting => "another rqps is installing; waiting for it".to_owned(),
        Progress::Fetching { coordinate } => format!("fetching {coordinate}"),
        Progress::Damaged { fault } => format!("made again, since {fault}"),
        Progress::Verifying => "checking its SHA-256".to_owned(),
        Progress::Unpacking => "unpacking".to_owned(),
        Progress::Inspecting => "asking its binaries what they are".to_owned(),
        Progress::Unpinned { url, sha256 } => format!(
            "nothing says what it should hash to; to make sure of the same file everywhere, write {url}#sha256={sha256}"
        ),
        Progress::Kept { name, sha256 } => {
            format!("taking {name} as fetched before (SHA-256 {sha256}); `rqps builds remove {name}` to fetch it again")
        }
        Progress::Installed { name } => format!("installed {name}"),
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
