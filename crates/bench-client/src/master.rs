//! The tables of TPROC-C loaded once, and servers on copies of them: one for each client, all alike.
//!
//! In: an installed build, warehouses. Out: servers with warm caches, whose copies go with the build's folder or make
//! room for the next ones.

use crate::installed::Installed;
use crate::output::say;
use crate::place::Place;
use anyhow::{Context, Result, ensure};
use rqps_load::data_set;
use rqps_load::program::tproc_c::provide_routines;
use rqps_load::warehouses;
use rqps_machine::copy::{self, CopyMethod};
use rqps_model::plan::DataSet;
use rqps_model::tproc_c::TprocC;
use rqps_server::{Server, cluster};
use rqps_suites::Work;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// The seed of the tables.
pub(crate) const SEED: u64 = 1;

/// The folder of the loaded tables, and what it is called before they are.
const LOADED: &str = "warehouses";
const LOADING: &str = "warehouses-loading";

/// Loaded tables whose server is stopped.
pub(crate) struct Master<'a> {
    installed: &'a Installed,
    folder: PathBuf,
    tables: DataSet,
    method: CopyMethod,
}

impl Master<'_> {
    /// Loads the tables, unless an earlier workload has; `provide` adds what clients need of routines.
    pub(crate) fn load<'a>(
        installed: &'a Installed,
        shape: &TprocC,
        warehouses: u32,
        provide: impl FnOnce(&Place) -> Result<()>,
    ) -> Result<Master<'a>> {
        let folder = installed.folder().join(LOADED);
        if !folder.exists() {
            say(&format!("loading {warehouses} warehouses"));
            let loading = load(installed, shape, warehouses, provide)?;
            std::fs::rename(&loading, &folder).with_context(|| format!("cannot rename {}", loading.display()))?;
        }
        let tables = DataSet::Warehouses(shape.data(warehouses));
        let method = copy::detect(installed.folder())?;
        Ok(Master { installed, folder, tables, method })
    }

    /// Servers on fresh copies, the ones before being stopped.
    pub(crate) fn copies(&self, count: usize) -> Result<Vec<Server>> {
        let folders: Vec<PathBuf> = (0..count).map(|number| self.folder.with_extension(number.to_string())).collect();
        for folder in &folders {
            cluster::restore(&self.folder, folder, self.method, &AtomicBool::new(false))?;
        }
        // What was copied must not reach the disk while clients are measured.
        copy::flush(self.installed.folder())?;
        folders.iter().map(|folder| self.start(folder)).collect()
    }

    fn start(&self, folder: &Path) -> Result<Server> {
        let server = self.installed.start(folder)?;
        self.installed
            .on_all_cpus(&server, || Ok(data_set::work_on(Work::Warm, server.target(), &self.tables)?))
            .context("warming the caches of a server")?;
        Ok(server)
    }
}

/// The data folder with the tables and all routines.
fn load(
    installed: &Installed,
    shape: &TprocC,
    warehouses: u32,
    provide: impl FnOnce(&Place) -> Result<()>,
) -> Result<PathBuf> {
    let folder = installed.initialise(LOADING)?;
    let mut server = installed.start(&folder)?;
    installed.on_all_cpus(&server, || {
        let target = server.target();
        warehouses::load(target, &shape.data(warehouses), SEED, installed.cpus.len())?;
        Ok(provide_routines(target, shape)?)
    })?;
    provide(&installed.place(&server, 0)?)?;
    ensure!(server.stop()?.clean, "the server of the loaded tables did not stop in order");
    Ok(folder)
}
