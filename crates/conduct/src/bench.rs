//! What all rounds of a run are made with: the treatments with their configurations, and the masters.
//!
//! In: a job. Out: a [`Bench`], which does not change during a run.

use crate::ConductError;
use crate::job::{Job, Output};
use crate::master::Masters;
use crate::treatment::{ResolvedTreatment, resolve};
use rqps_machine::Workspace;
use std::sync::atomic::AtomicBool;

/// What rounds are made with.
pub(crate) struct Bench<'a> {
    pub(crate) job: Job<'a>,
    pub(crate) treatments: Vec<ResolvedTreatment<'a>>,
    pub(crate) masters: Masters,
    pub(crate) stop: &'a AtomicBool,
    /// Dropped last, and with it all data: thousands of files.
    pub(crate) workspace: Workspace,
}

impl<'a> Bench<'a> {
    /// Configures every treatment and loads the masters.
    pub(crate) fn prepare(
        job: Job<'a>,
        workspace: Workspace,
        output: &mut Output<'_, '_>,
        stop: &'a AtomicBool,
    ) -> Result<Bench<'a>, ConductError> {
        let treatments = resolve(&job, &workspace, output.store)?;
        for treatment in &treatments {
            output.store.write_build(&treatment.plan.name, treatment.build)?;
            for note in &treatment.configuration.notes {
                output.warn(format!("{}: {note}", treatment.plan.name));
            }
        }
        // Before the workspace goes with an error.
        let masters = Masters::load(&job, &workspace, &treatments, output, stop);
        let masters = output.pass(masters)?;
        Ok(Bench { job, treatments, masters, stop, workspace })
    }
}
