//! A campaign's folder as it is read: by the analysis, the report, and a resumed run.
//!
//! In: the folder. Out: plan, host, status, treatments and samples, each checked when read. Samples are found by the
//! plan, so that whatever else lies in the folder is neither read nor touched.

use crate::disk::{Durability, write_file};
use crate::error::StoreError;
use crate::layout::{self, BUILD, CAMPAIGN, EVENTS, LOAD, PLAN, SERVER_LOG, SETTINGS, STATUS};
use crate::lock::{Lock, Owner};
use crate::sample::SampleFolder;
use crate::status::{State, Status};
use crate::stored_file::{Damages, StoredFile, read_json};
use rqps_model::facts::{BuildFacts, HostFacts, LoadFacts, SettingsFacts, StatementPlan};
use rqps_model::plan::Round;
use rqps_model::{Event, Plan, Sample};
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The results of one campaign.
#[derive(Debug)]
pub struct Campaign {
    pub(crate) folder: PathBuf,
    pub(crate) plan: Plan,
    pub(crate) host: HostFacts,
    pub(crate) status: Status,
}

impl Campaign {
    /// Opens a folder for reading.
    pub fn open(folder: &Path) -> Result<Campaign, StoreError> {
        if !folder.join(PLAN).exists() && !folder.join(STATUS).exists() {
            return Err(StoreError::NotResults { folder: folder.to_owned(), missing: PLAN });
        }
        let restore = "restore it from a copy of the folder, the results cannot be read without it";
        let mut damages = Damages::default();
        let read = |name: &str| folder.join(name);
        let status: Option<Status> = damages.note(read_json(&read(STATUS), "the state of the campaign", restore))?;
        let plan: Option<Plan> = damages.note(read_json(&read(PLAN), "the campaign's plan", restore))?;
        let host: Option<HostFacts> = match &status {
            Some(status) => {
                let file = layout::host_file(folder, &status.host)?;
                damages.note(read_json(&file, "the facts of the host", restore))?
            }
            None => None,
        };
        let formats = [(STATUS, status.as_ref().map(|s| s.format)), (PLAN, plan.as_ref().map(|p| p.format))];
        for (name, format) in formats.into_iter().filter_map(|(name, format)| Some((name, format?))) {
            let (path, expected) = (read(name), "a readable format");
            damages.note(StoredFile { path, expected, remedy: restore.to_owned() }.check_format(format))?;
        }
        damages.settle()?;
        let (Some(mut plan), Some(host), Some(status)) = (plan, host, status) else {
            unreachable!("what is missing was noted as damage")
        };
        plan.time = status.extended.or(plan.time);
        Ok(Campaign { folder: folder.to_owned(), plan, host, status })
    }

    /// Where it lies.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What was planned.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Where it ran.
    pub fn host(&self) -> &HostFacts {
        &self.host
    }

    /// The name of that machine in samples, and of its file in `hosts/`.
    pub fn host_id(&self) -> &str {
        &self.status.host
    }

    /// How far it came.
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// The living process that adds to it, if there is one. Reading this takes no lock.
    pub fn writer(&self) -> Option<Owner> {
        Lock::owner(&self.folder)
    }

    /// When a sample was published, as the file system says.
    pub fn published_at(&self, round: u32, treatment: &str, test: &str, clients: u32) -> Option<SystemTime> {
        let folder = self.place(round, treatment, test, clients).ok()?;
        std::fs::metadata(folder.join(layout::SAMPLE)).and_then(|file| file.modified()).ok()
    }

    /// The campaign file as given, or as made from flags.
    pub fn campaign_toml(&self) -> Result<String, StoreError> {
        let path = self.folder.join(CAMPAIGN);
        std::fs::read_to_string(&path).map_err(StoreError::io("read", &path))
    }

    /// The build of a treatment; `None` until it was first started.
    pub fn build(&self, treatment: &str) -> Result<Option<BuildFacts>, StoreError> {
        self.optional(layout::treatment_file(&self.folder, treatment, BUILD)?, "the facts of a build")
    }

    /// The settings of a treatment as read back; `None` until it was first started.
    pub fn settings(&self, treatment: &str) -> Result<Option<SettingsFacts>, StoreError> {
        self.optional(layout::treatment_file(&self.folder, treatment, SETTINGS)?, "the settings of a treatment")
    }

    /// What loading took on a treatment; `None` where another one loaded for it, or nothing was loaded.
    pub fn load(&self, treatment: &str) -> Result<Option<LoadFacts>, StoreError> {
        self.optional(layout::treatment_file(&self.folder, treatment, LOAD)?, "what loading the data took")
    }

    /// The plans of a test's statements on a treatment; `None` where they were not kept.
    pub fn plans(&self, treatment: &str, test: &str) -> Result<Option<Vec<StatementPlan>>, StoreError> {
        self.optional(layout::plans_file(&self.folder, treatment, test)?, "the plans of a test's statements")
    }

    /// The results folders of rounds that explain this campaign, the oldest first.
    pub fn profiles(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.profiles_folder()).into_iter().flatten().flatten();
        let number = |name: &std::ffi::OsStr| name.to_str()?.parse::<u32>().ok();
        let mut folders: Vec<(u32, PathBuf)> =
            entries.filter_map(|entry| Some((number(&entry.file_name())?, entry.path()))).collect();
        folders.sort();
        folders.into_iter().map(|(_, folder)| folder).collect()
    }

    /// Where those lie, by number.
    pub fn profiles_folder(&self) -> PathBuf {
        layout::profiles_folder(&self.folder)
    }

    /// Where the log of a treatment's servers is.
    pub fn server_log(&self, treatment: &str) -> Result<PathBuf, StoreError> {
        layout::treatment_file(&self.folder, treatment, SERVER_LOG)
    }

    fn optional<T: DeserializeOwned>(&self, path: PathBuf, expected: &'static str) -> Result<Option<T>, StoreError> {
        if !path.exists() {
            return Ok(None);
        }
        let results = self.folder.display();
        let remedy = format!("delete it; `rqps resume {results}` writes it again if a sample is absent");
        Ok(Some(read_json(&path, expected, &remedy)?))
    }

    /// What happened so far, in order, over all runs of the campaign. A line that is being written is left out.
    pub fn events(&self) -> Result<Vec<Event>, StoreError> {
        let path = self.folder.join(EVENTS);
        match std::fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(StoreError::io("read", &path)(error)),
            Ok(text) => Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()),
        }
    }

    /// Order and seed of a round as it was run; `None` before it begins.
    pub fn round(&self, number: u32) -> Result<Option<Round>, StoreError> {
        self.optional(layout::round_file(&self.folder, number), "order and seed of a round")
    }

    /// The rounds that a campaign has, or is to have: where it ends with a time, those that began in it, and before its
    /// end at least those that were expected.
    pub fn rounds(&self) -> u32 {
        if self.plan.time.is_none() {
            return self.plan.rounds;
        }
        match self.status.state {
            State::Complete => self.rounds_begun(),
            State::Incomplete => self.rounds_begun().max(self.plan.rounds),
        }
    }

    /// The rounds that began.
    pub fn rounds_begun(&self) -> u32 {
        let has_begun = |number: &u32| layout::round_file(&self.folder, *number).exists();
        (1..=self.plan.rounds_max()).take_while(has_begun).last().unwrap_or(0)
    }

    /// Whether a sample is published.
    pub fn is_complete(&self, round: u32, treatment: &str, test: &str, clients: u32) -> bool {
        self.place(round, treatment, test, clients).is_ok_and(|folder| folder.is_dir())
    }

    /// One sample, `None` while it is absent.
    pub fn sample(
        &self,
        round: u32,
        treatment: &str,
        test: &str,
        clients: u32,
    ) -> Result<Option<SampleFolder>, StoreError> {
        let folder = self.place(round, treatment, test, clients)?;
        let Some(found) = SampleFolder::read(folder, &self.folder)? else { return Ok(None) };
        let Sample { round, treatment, test, clients, .. } = &found.sample;
        found.check_place(&self.place(*round, treatment, test, *clients)?)?;
        Ok(Some(found))
    }

    /// Every published sample of the plan, ordered by test, clients, round and treatment. If files are damaged, the
    /// error names all of them.
    pub fn samples(&self) -> Result<Vec<SampleFolder>, StoreError> {
        let mut damages = Damages::default();
        let mut samples = Vec::new();
        for test in self.plan.tests() {
            for clients in self.plan.clients() {
                for round in 1..=self.rounds() {
                    for treatment in &self.plan.treatments {
                        let read = self.sample(round, &treatment.name, &test.name, clients);
                        samples.extend(damages.note(read)?.flatten());
                    }
                }
            }
        }
        damages.settle()?;
        Ok(samples)
    }

    /// Reads every file of every sample and names all damages; returns how many samples there are.
    pub fn check(&self) -> Result<usize, StoreError> {
        let samples = self.samples()?;
        let mut damages = Damages::default();
        for sample in &samples {
            for name in sample.part_names() {
                damages.note(sample.bytes(name))?;
            }
        }
        damages.settle().map(|()| samples.len())
    }

    /// Writes something that was made from these results, such as `report.html` or `tables/qps.rel.tsv`. An older one
    /// is replaced, completely or not at all.
    pub fn write_derived(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, StoreError> {
        let path = layout::derived_file(&self.folder, name)?;
        write_file(&path, bytes, Durability::Synced)?;
        Ok(path)
    }

    pub(crate) fn place(&self, round: u32, treatment: &str, test: &str, clients: u32) -> Result<PathBuf, StoreError> {
        layout::sample_folder(&self.folder, round, treatment, self.plan.suite.name(), test, clients)
    }
}
