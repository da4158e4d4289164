//! A made-up campaign of the Insert Benchmark as a results folder, written pass by pass.
//!
//! In: an [`InsertRecipe`] with its seed. Out: a folder written through `store`, as a run in passes would leave it. The
//! same recipe writes the same bytes.

use super::insert::{InsertRecipe, rate_per_s};
use super::step::Trial;
use super::{Made, Noise, Place, host};
use rqps_model::Plan;
use rqps_store::{Campaign, Start, StoreError, Writer};
use std::path::{Path, PathBuf};

impl InsertRecipe {
    /// Writes the results folder under `root` and returns where it is.
    pub fn write(&self, root: &Path) -> Result<PathBuf, StoreError> {
        let plan = self.plan();
        let start = Start {
            at: "2026-11-21T01:00:00Z".to_owned(),
            rqps_version: "0.1.0".to_owned(),
            command_line: ["rqps", "run", "--suite", "insert"].map(str::to_owned).to_vec(),
            ..Start::default()
        };
        let toml = format!("name = \"{}\"\nsuite = \"insert\"\nseed = {}\n", plan.name, plan.seed);
        let mut writer = Campaign::create(root, &plan.name, &plan, &host(), &toml, start)?.without_sync();
        for (at, treatment) in plan.treatments.iter().enumerate() {
            let made = Made::of(&self.common.versions[at]);
            writer.write_build(&treatment.name, &made.build(&treatment.name))?;
            writer.write_settings(&treatment.name, &made.settings())?;
        }
        let mut noise = Noise::seeded(self.common.seed);
        for round in 1..=self.common.rounds {
            for &clients in &self.common.clients {
                for treatment in 0..plan.treatments.len() {
                    self.write_pass(&writer, &mut noise, &plan, (round, treatment, clients))?;
                }
            }
        }
        if self.common.absent.is_empty() {
            writer.finish("2026-11-21T09:00:00Z")?;
        }
        Ok(writer.folder().to_owned())
    }

    fn write_pass(
        &self,
        writer: &Writer,
        noise: &mut Noise,
        plan: &Plan,
        (round, treatment, clients): (u32, usize, u32),
    ) -> Result<(), StoreError> {
        let offset = self.common.start_noise * noise.normal();
        let mut failed_before: Option<String> = None;
        for (test, step) in self.steps(clients).iter().enumerate() {
            let place = Place { round, treatment, test };
            let trial = Trial {
                recipe: self,
                place,
                treatment: &plan.treatments[treatment].name,
                step,
                clients,
                rate_per_s: rate_per_s(step.kind) * self.common.truth(treatment, test) * offset.exp(),
            };
            let parts = match &failed_before {
                Some(name) => trial.not_begun(name),
                None => trial.parts(noise),
            };
            if self.common.failed.contains(&place) {
                failed_before.get_or_insert_with(|| step.name.clone());
            }
            if !self.common.absent.contains(&place) {
                writer.publish(&parts)?;
            }
        }
        Ok(())
    }
}
