//! Cache, catalog, profiles and suites of this machine, opened once by every command that needs them.
//!
//! In: the user's environment. Out: [`Lab`]. Opening it also removes what an earlier rqps that was killed left behind.

use crate::guard;
use crate::notice::{Notice, Notify};
use crate::vocabulary;
use anyhow::{Context, Result, ensure};
use rqps_builds::Catalog;
use rqps_builds::installation::{self, Trust};
use rqps_builds::source::recipe::Recipes;
use rqps_campaign::Vocabulary;
use rqps_machine::user_files::user_files;
use rqps_machine::{Cache, Workspace, lease};
use rqps_model::facts::BuildFacts;
use rqps_model::{BuildSource, BuildSpec, settings::MachineClass};
use rqps_server::Profiles;
use rqps_suites::{Suite, SuiteName};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// Everything a campaign is made from.
#[derive(Debug)]
pub struct Lab {
    pub(crate) cache: Cache,
    pub(crate) catalog: Catalog,
    pub(crate) profiles: Profiles,
    pub(crate) suites: Vec<Suite>,
    /// How many commands compile at a time, if not as many as there are CPUs.
    jobs: Option<usize>,
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
            suites: own_suites(user_files("workloads").context("reading the workloads")?)?,
            jobs: None,
        })
    }

    /// Has sources compiled by so many commands at a time.
    pub fn with_jobs(self, jobs: Option<NonZeroUsize>) -> Lab {
        Lab { jobs: jobs.map(NonZeroUsize::get), ..self }
    }

    /// How sources are compiled.
    pub fn recipes(&self) -> &Recipes {
        self.catalog.recipes()
    }

    /// The words that a campaign may use.
    pub(crate) fn vocabulary(&self) -> Result<Vocabulary> {
        let installed = installation::list(&self.cache).context("listing the installed builds")?;
        Ok(vocabulary::vocabulary(&self.catalog, &self.profiles, &self.suites, &installed))
    }

    /// Makes sure that a build is on this machine.
    pub(crate) fn install(&self, spec: &BuildSpec, trust: Trust, notify: &mut Notify<'_>) -> Result<BuildFacts> {
        // What `mvn`, `apt-get` or `make` has started outlives a rqps that is killed, and so does what is half made.
        guard::start(&self.cache)?;
        let mut show = |step| notify(Notice::Build { build: Box::new(spec.clone()), step });
        installation::install_as(spec, &self.catalog, &self.cache, trust, self.jobs, &mut show)
            .with_context(|| format!("build {spec}"))
    }

    /// The build that a campaign began with, if it was compiled and is here: its source may be another by now.
    pub(crate) fn begun_with(&self, spec: &BuildSpec, facts: &BuildFacts) -> Result<Option<BuildFacts>> {
        if !matches!(spec.source, BuildSource::Source(_)) {
            return Ok(None);
        }
        installation::find_compiled(&self.cache, &facts.sha256).with_context(|| format!("build {spec}"))
    }

    /// An existing folder on the device that the data of a campaign will be on.
    pub fn data_place(&self, data: Option<&Path>) -> PathBuf {
        let parent = Workspace::parent(&self.cache, data);
        parent.ancestors().find(|folder| folder.is_dir()).unwrap_or(Path::new("/")).to_owned()
    }
}

/// The suites as built in, but for those that the user has a file of: `sysbench.toml` takes the place of `sysbench`.
fn own_suites(files: Vec<(PathBuf, String)>) -> Result<Vec<Suite>> {
    let mut suites = Suite::built_in();
    for (path, text) in files {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let known = SuiteName::find(&name).zip(suites.iter_mut().find(|suite| suite.name == name));
        let (suite, known) = known.with_context(|| format!("{}: there is no suite `{name}`", path.display()))?;
        *known = suite.read(&text).with_context(|| path.display().to_string())?;
        ensure!(known.name == name, "{}: its `name` is `{}`, not that of the file", path.display(), known.name);
    }
    Ok(suites)
}

/// Cores and memory of this machine.
pub(crate) fn this_machine() -> Result<MachineClass> {
    let system = rustix::system::sysinfo();
    let memory_bytes = system.totalram * u64::from(system.mem_unit);
    let cores = std::thread::available_parallelism().context("cannot count the CPUs")?.get() as u32;
    Ok(MachineClass { cores, memory_bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_the_users_own_takes_the_place_of_a_suite() {
        let built_in = include_str!("../../../workloads/sysbench.toml");
        let suites = |name: &str, text: String| own_suites(vec![(PathBuf::from(name), text)]);
        let renamed = built_in.replacen("name = \"hot-points\"", "name = \"warm-points\"", 1);
        let own = suites("/c/sysbench.toml", renamed).expect("a suite");
        assert!(own[0].test("warm-points").is_some() && own[0].test("hot-points").is_none());
        assert_eq!(own[1..], Suite::built_in()[1..]);
        let wrong = |name: &str, text: String| format!("{:#}", suites(name, text).expect_err("refused"));
        assert!(wrong("/c/mine.toml", built_in.to_owned()).contains("no suite `mine`"));
        assert!(wrong("/c/sysbench.toml", "format = 2".to_owned()).starts_with("/c/sysbench.toml: "));
        let other = built_in.replacen("name = \"sysbench\"", "name = \"other\"", 1);
        assert!(wrong("/c/sysbench.toml", other).contains("`other`"));
    }
}
