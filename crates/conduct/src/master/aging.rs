//! Aged masters: what a stage begins with whose tests read what other tests wrote.
//!
//! In: a loaded master, and what it is aged by. Out: a copy of it in which so many events of each test have run, with a
//! single client and the same statements whatever the build is, and the work after them was done. The server then
//! stops in order, as after a load.

use super::{Maker, copy_folder};
use crate::ConductError;
use crate::server_side::ServerSides;
use crate::supervise::{check, supervised};
use crate::treatment::ResolvedTreatment;
use rqps_load::data_set;
use rqps_load::drive::{ClientCpus, RowSink};
use rqps_load::suite::{self, Clients};
use rqps_machine::CopyMethod;
use rqps_model::EventKind;
use rqps_model::plan::{Aged, DataSet};
use rqps_server::placement;
use rqps_suites::Work;
use std::path::Path;
use std::time::Instant;

impl Maker<'_, '_, '_> {
    /// Ages a copy of a loaded master with the first treatment that can; others that cannot are no longer among them.
    pub(super) fn age(
        &mut self,
        sharers: &mut Vec<&ResolvedTreatment<'_>>,
        (loaded, folder): (&Path, &Path),
        (data, aged): (&DataSet, &Aged),
        method: CopyMethod,
    ) -> Result<(), ConductError> {
        while let Some(treatment) = sharers.first() {
            check(self.stop)?;
            copy_folder(loaded, folder, method, self.stop)?;
            match self.age_with(treatment, folder, data, aged) {
                Ok(()) => return Ok(()),
                Err(error) => self.exclude(treatment, error)?,
            }
            sharers.remove(0);
        }
        Ok(())
    }

    fn age_with(
        &mut self,
        treatment: &ResolvedTreatment<'_>,
        folder: &Path,
        data: &DataSet,
        aged: &Aged,
    ) -> Result<(), ConductError> {
        let (name, begun) = (&treatment.plan.name, Instant::now());
        self.output.emit(EventKind::Aging { treatment: name.clone(), by: aged.clone() });
        let mut server = self.start(treatment, folder, "to age data")?;
        let (job, stop) = (self.job, self.stop);
        let cpus = placement::available().map_err(ConductError::server("listing the CPUs"))?;
        // Both sides of the session on one CPU, which is several times as fast.
        let sides = ServerSides::of(std::iter::once(&server), false);
        let cpus = ClientCpus { set: &cpus, by_session: cpus.len() > 1, server_side: Some(&sides) };
        let clients = Clients { cpus, stop, rows: RowSink::NONE };
        let doing = format!("aging data with {name}");
        for by in &aged.by {
            supervised(&server, stop, || {
                suite::age(job.plan, job.suites, server.target(), by, clients).map_err(ConductError::load(&doing))
            })?;
        }
        for word in &aged.then {
            let work = Work::find(word).ok_or_else(|| ConductError::UnknownTest(word.to_owned()))?;
            let worked = supervised(&server, stop, || {
                data_set::work_on(work, server.target(), data).map_err(ConductError::load(&doing))
            })?;
            if let Some(left) = worked.left {
                self.output.warn(format!("after {doing}: {left}"));
            }
        }
        self.stop_in_order(treatment, &mut server)?;
        self.output.emit(EventKind::Aged { treatment: name.clone(), seconds: begun.elapsed().as_secs_f64() });
        Ok(())
    }
}
