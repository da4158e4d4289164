//! What was looked at on this host.
//!
//! In: the data folder, and how long to watch. Out: a [`Checkup`].

use super::other_work::OtherWork;
use super::system::System;
use super::trials::Trials;
use crate::floors::{self, Shown};
use rqps_machine::{Cache, Result, Workspace};
use rqps_model::facts::HostFacts;
use serde::Serialize;
use std::path::Path;
use std::time::Duration;

/// All that was looked at.
#[derive(Debug, Clone, Serialize)]
pub struct Checkup {
    /// What every campaign keeps of its host.
    pub host: HostFacts,
    /// Its other settings and limits.
    pub system: System,
    /// What other programs did meanwhile.
    pub other_work: OtherWork,
    /// What was tried.
    pub trials: Trials,
    /// What the newest calibration of this host showed.
    pub own_history: Option<Shown>,
}

impl Checkup {
    /// Looks at this host: first at what else runs for `span`, then at its CPUs, clock and the disk of the data folder,
    /// the usual one if none is given, for a few seconds.
    pub fn make(data: Option<&Path>, span: Duration, tell: &mut dyn FnMut(&str)) -> Result<Checkup> {
        let data = &Workspace::parent(&Cache::open()?, data);
        let system = System::read(data);
        tell(&format!("watching for {:.0} s what else runs", span.as_secs_f64()));
        let other_work = OtherWork::watch(span);
        tell("trying the CPUs, the clock and the disk");
        let trials = Trials::make(&system.cpus_allowed, data);
        // A file of it that is damaged is for `rqps calibrate` and `rqps plan` to tell.
        let own_history = floors::list().ok().and_then(|kept| floors::newest(&kept, &floors::this_host()));
        Ok(Checkup { host: rqps_observe::host_facts(data), system, other_work, trials, own_history })
    }
}
