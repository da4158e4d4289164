//! What a start needs, and what an engine's own part makes of it.
//!
//! In: nothing. Out: types only, for callers that start a server and for the parts that prepare a start.

use crate::Configuration;
use rqps_machine::Account;
use rqps_machine::lease::LeasedFolder;
use rqps_model::StorageEngine;
use rqps_model::facts::BuildFacts;
use rqps_wire::Endpoint;
use rustix::process::Signal;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Everything that a start needs.
#[derive(Debug, Clone, Copy)]
pub struct Launch<'a> {
    /// The installation.
    pub build: &'a BuildFacts,
    /// A data folder as made by [`cluster::initialise`](crate::cluster::initialise) or copied from one.
    pub data_dir: &'a Path,
    /// What is written on top of the engine's own settings.
    pub configuration: &'a Configuration,
    /// What stores the tables, where the engine leaves a choice: a plugin is loaded for it if need be.
    pub storage: Option<StorageEngine>,
    /// The account that it runs under.
    pub account: Account,
    /// CPUs of all its processes; empty leaves them as ours are.
    pub cpus: &'a [usize],
    /// The file that its log is added to.
    pub log: &'a Path,
    /// Time until it must answer.
    pub timeout: Duration,
}

/// What an engine's own part makes of a launch.
pub(crate) struct Prepared {
    /// The server, but for where its log goes.
    pub(crate) command: Command,
    /// Where it will answer.
    pub(crate) endpoint: Endpoint,
    /// What it needs while it runs.
    pub(crate) folders: Vec<LeasedFolder>,
    /// Files that must go after it was stopped in order, before another configuration can start on its data folder.
    pub(crate) scrap: Vec<PathBuf>,
}

/// The signals that end a server, each with the time until the next.
pub(crate) struct Ending {
    /// The first makes it write everything back.
    pub(crate) in_order: &'static [(Signal, Duration)],
    /// For data that is thrown away.
    pub(crate) at_once: &'static [(Signal, Duration)],
}
