//! Builds and their first data folders, made once in each process and copied for each server.
//!
//! In: the word of a build. Out: its facts, and copies of a data folder as rqps makes it. Making one takes seconds, a
//! copy much less. No server ever runs on a master.

use crate::data_parent;
use crate::guard::Guard;
use rqps_machine::{Account, Cache, CopyMethod, Lease, copy};
use rqps_model::facts::BuildFacts;
use rqps_server::cluster;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};

/// A build and the data folder that its servers begin with.
#[derive(Debug)]
pub(crate) struct Master {
    pub(crate) build: BuildFacts,
    guard: Guard,
    method: CopyMethod,
}

impl Master {
    /// That of a word of `--build`; installs the build if need be.
    pub(crate) fn of(word: &str, account: Account) -> Arc<OnceLock<Master>> {
        static MASTERS: Mutex<BTreeMap<String, Arc<OnceLock<Master>>>> = Mutex::new(BTreeMap::new());
        let master = Arc::clone(MASTERS.lock().unwrap().entry(word.to_owned()).or_default());
        // Whoever wants another build need not wait until this one is there.
        master.get_or_init(|| Master::make(word, account));
        master
    }

    fn make(word: &str, account: Account) -> Master {
        let build = crate::build(word);
        let guard = Guard::of_folder(account);
        let lease = Lease::open(&Cache::open().unwrap()).unwrap();
        cluster::initialise(&build, &guard.folder().join("data"), account, false, &lease).unwrap();
        let method = copy::detect(&data_parent()).unwrap();
        Master { build, guard, method }
    }

    /// Copies its data folder to a place that is not there yet.
    pub(crate) fn copy_to(&self, data: &Path) {
        cluster::snapshot(&self.guard.folder().join("data"), data, self.method).unwrap();
    }
}
