//! The data that servers begin with, whichever they are: loading them, and the work on them between tests.
//!
//! In: a target, a data set. Out: what loading took, what work left undone. What the tables are, `prepare_data` and
//! `warehouses` know.

use crate::error::LoadError;
use crate::load_report::LoadReport;
use crate::own;
use crate::prepare_data::prepare_data;
use crate::warehouses;
use crate::work::{Worked, warm_all, work};
use rqps_model::own::InputFile;
use rqps_model::plan::DataSet;
use rqps_suites::Work;
use rqps_wire::Target;
use std::io::{self, Read};

/// What makes SQL of an archive: whoever may start programs. The last read fails if the program did.
pub type Restore<'r> = dyn Fn(&InputFile) -> io::Result<Box<dyn Read>> + Sync + 'r;

/// Loads it, and brings the server to rest; `threads` tables or warehouses at once at most. Where that may take hours,
/// each thread tells `progress` which share of the rows has been sent.
pub fn load(
    target: &Target,
    data: &DataSet,
    seed: u64,
    threads: usize,
    restore: &Restore<'_>,
    progress: &(dyn Fn(f64) + Sync),
) -> Result<LoadReport, LoadError> {
    match data {
        DataSet::Empty => Ok(LoadReport::default()),
        DataSet::Loaded(shape) => prepare_data(target, *shape, seed, threads),
        DataSet::Warehouses(data) => warehouses::load_with_progress(target, data, seed, threads, progress),
        DataSet::Own(data) => own::load(target, data, seed, restore, progress),
    }
}

/// Loads what one treatment gets besides; what was left out on the way.
pub fn load_only_for(
    target: &Target,
    data: &DataSet,
    treatment: &str,
    restore: &Restore<'_>,
) -> Result<Option<String>, LoadError> {
    match data {
        DataSet::Own(data) => own::load_only_for(target, data, treatment, restore),
        DataSet::Empty | DataSet::Loaded(_) | DataSet::Warehouses(_) => Ok(None),
    }
}

/// Does work on all of its tables. Those of TPROC-C are only ever warmed: each test begins with a fresh copy.
pub fn work_on(name: Work, target: &Target, data: &DataSet) -> Result<Worked, LoadError> {
    match (data, name) {
        (DataSet::Loaded(shape), _) => work(name, target, *shape),
        (DataSet::Warehouses(_), Work::Warm) => warm_all(target),
        (DataSet::Own(data), _) => own::work_on(name, target, data),
        _ => Ok(Worked::default()),
    }
}
