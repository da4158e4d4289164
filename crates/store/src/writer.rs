//! Adding to a campaign: by one process at a time, each sample complete or absent.
//!
//! In: plan, facts and samples as they come. Out: files. `Campaign::create` and `Campaign::open_to_resume` give a
//! `Writer`, which holds the folder's lock and reads like a `Campaign`. Every sample is written beside its place,
//! brought to the disk and renamed, so that a killed process or a full disk leaves nothing that a reader could take for
//! a result.

use crate::campaign::Campaign;
use crate::disk::{
    Durability, clear_parts, make_folders, parse_part_name, part_name, write_bytes, write_file, write_folder,
};
use crate::error::StoreError;
use crate::layout::TREATMENTS;
use crate::layout::{self, BUILD, CAMPAIGN, EVENTS, LOAD, PLAN, ROUND, ROUNDS, SERVER_LOG, SETTINGS, STATUS};
use crate::lock::Lock;
use crate::manifest::digest;
use crate::rows::RowsPart;
use crate::sample::{SampleParts, name_of};
use crate::status::{Start, State, Status};
use rqps_model::facts::{BuildFacts, HostFacts, LoadFacts, SettingsFacts, StatementPlan};
use rqps_model::plan::{Round, TimeLimit};
use rqps_model::{Event, Part, Plan, build::is_plain_name};
use serde::Serialize;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::ops::Deref;
use std::path::{Path, PathBuf};

/// Enough of a digest to tell machines apart.
const HOST_ID_DIGITS: usize = 12;

/// The right and the means to add to a campaign.
#[derive(Debug)]
pub struct Writer {
    campaign: Campaign,
    durability: Durability,
    cleared: Vec<PathBuf>,
    _lock: Lock,
}

impl Deref for Writer {
    type Target = Campaign;

    fn deref(&self) -> &Campaign {
        &self.campaign
    }
}

impl Campaign {
    /// Makes the folder `root/name` of a new campaign. A folder with anything in it is refused and left as it is.
    pub fn create(
        root: &Path,
        name: &str,
        plan: &Plan,
        host: &HostFacts,
        campaign_toml: &str,
        start: Start,
    ) -> Result<Writer, StoreError> {
        if !is_plain_name(name) {
            return Err(StoreError::Name { name: name.to_owned(), what: "a campaign" });
        }
        let folder = root.join(name);
        refuse_occupied(&folder)?;
        make_folders(root, Durability::Synced)?;
        clear_abandoned(root, name)?;
        // By content, so that the results of several machines can be put together.
        let facts = Part::json("", host).bytes;
        let status = Status::begun(start, digest(&facts)[..HOST_ID_DIGITS].to_owned());
        // Everything is made aside, so that a folder of this name is a whole campaign or nothing.
        let part = root.join(part_name(name.as_ref()));
        fs::create_dir(&part).map_err(StoreError::io("create", &part))?;
        let fill = || {
            let lock = Lock::acquire(&part)?;
            write_file(&part.join(CAMPAIGN), campaign_toml.as_bytes(), Durability::Synced)?;
            write_file(&layout::host_file(&part, &status.host)?, &facts, Durability::Synced)?;
            write_json(&part.join(PLAN), plan, Durability::Synced)?;
            write_json(&part.join(STATUS), &status, Durability::Synced)?;
            // An empty folder is replaced by this; one that was filled meanwhile is not.
            fs::rename(&part, &folder).map_err(|error| match error.kind() {
                std::io::ErrorKind::DirectoryNotEmpty | std::io::ErrorKind::AlreadyExists => {
                    StoreError::Exists { folder: folder.clone() }
                }
                _ => StoreError::io("create", &folder)(error),
            })?;
            Durability::Synced.sync_folder(root)?;
            Ok(lock)
        };
        let filled: Result<Lock, StoreError> = fill();
        let mut lock = filled.inspect_err(|_| _ = fs::remove_dir_all(&part))?;
        lock.moved_to(&folder);
        let campaign = Campaign { folder, plan: plan.clone(), host: host.clone(), status };
        Ok(Writer { campaign, durability: Durability::Synced, cleared: Vec::new(), _lock: lock })
    }

    /// Opens a campaign to add what is absent. What an earlier process left half-written is cleared.
    pub fn open_to_resume(folder: &Path, start: Start) -> Result<Writer, StoreError> {
        // Before the lock, so that no lock file is put into a foreign folder.
        Campaign::open(folder)?;
        let lock = Lock::acquire(folder)?;
        // Under the lock, since the writer before may have changed the status.
        let mut campaign = Campaign::open(folder)?;
        // Whoever wrote samples is dead, for the lock was free; a report may be being written by a reader.
        let mut cleared = clear_parts(&folder.join(ROUNDS), &|_| false)?;
        cleared.extend(clear_parts(&folder.join(TREATMENTS), &|_| false)?);
        cleared.extend(clear_parts(folder, &|pid| pid != std::process::id() && is_alive(pid))?);
        campaign.status.starts.push(start);
        campaign.status.state = State::Incomplete;
        campaign.status.finished_at = None;
        let writer = Writer { campaign, durability: Durability::Synced, cleared, _lock: lock };
        writer.write_status()?;
        Ok(writer)
    }
}

/// Nothing is put where something is.
fn refuse_occupied(folder: &Path) -> Result<(), StoreError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
            return Err(StoreError::NotEmpty { folder: folder.to_owned() });
        }
        entries => entries.map_err(StoreError::io("list", folder))?,
    };
    if entries.count() == 0 {
        return Ok(());
    }
    let folder = folder.to_owned();
    if !folder.join(PLAN).exists() {
        return Err(StoreError::NotEmpty { folder });
    }
    if Lock::is_held(&folder) {
        // Trying the lock shows who has it; should it be free now, the answer is that of a folder at rest.
        Lock::acquire(&folder)?;
    }
    Err(StoreError::Exists { folder })
}

/// Removes what a killed process left of a campaign of this name that it had not finished creating.
fn clear_abandoned(root: &Path, name: &str) -> Result<(), StoreError> {
    for entry in fs::read_dir(root).map_err(StoreError::io("list", root))?.flatten() {
        let file_name = entry.file_name();
        let ours = parse_part_name(&file_name).filter(|(_, target)| *target == name);
        if let Some((pid, _)) = ours
            && (pid == std::process::id() || !is_alive(pid))
            && !Lock::is_held(&entry.path())
        {
            fs::remove_dir_all(entry.path()).map_err(StoreError::io("remove", &entry.path()))?;
        }
    }
    Ok(())
}

/// Removes a folder, by a name that no reader knows, so that half of it is never seen.
fn withdraw_folder(folder: &Path) -> Result<(), StoreError> {
    let Some(name) = folder.file_name() else { return Ok(()) };
    let part = folder.with_file_name(part_name(name));
    match fs::rename(folder, &part) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        renamed => renamed.and_then(|()| fs::remove_dir_all(&part)).map_err(StoreError::io("remove", folder)),
    }
}

fn is_alive(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

fn write_json<T: Serialize>(path: &Path, value: &T, durability: Durability) -> Result<(), StoreError> {
    write_file(path, &Part::json("", value).bytes, durability)
}

impl Writer {
    /// What an earlier process had left half-written; it is gone now.
    pub fn cleared(&self) -> &[PathBuf] {
        &self.cleared
    }

    /// Leaves it to the kernel when samples reach the disk. For results that can be made again, such as imports: a
    /// power cut may then lose published samples, though never leave half of one in the eyes of a reader.
    pub fn without_sync(mut self) -> Writer {
        self.durability = Durability::Buffered;
        self
    }

    /// Publishes one sample: all of it, or nothing and an error.
    pub fn publish(&self, parts: &SampleParts) -> Result<(), StoreError> {
        let sample = &parts.sample;
        let plan = self.plan();
        let planned = plan.suite.name() == sample.suite
            && (1..=plan.rounds_max()).contains(&sample.round)
            && plan.treatments.iter().any(|treatment| treatment.name == sample.treatment)
            && plan.tests().iter().any(|test| test.name == sample.test)
            && plan.clients().contains(&sample.clients);
        if !planned {
            return Err(StoreError::NotPlanned { what: name_of(sample) });
        }
        let folder = self.place(sample.round, &sample.treatment, &sample.test, sample.clients)?;
        if folder.exists() {
            return Err(StoreError::Published { folder });
        }
        let files = parts.render()?;
        write_folder(&folder, self.durability, |part| {
            parts.rows.iter().try_for_each(|rows| rows.write_into(part, self.durability))?;
            files.iter().try_for_each(|file| write_bytes(&part.join(&file.name), &file.bytes, self.durability))
        })
    }

    /// Begins a part that is written row by row while a test runs. It comes into a sample when that is published, and
    /// is gone if none is.
    pub fn rows(&self, name: &str) -> Result<RowsPart, StoreError> {
        layout::check_name(name, "a part of a sample")?;
        RowsPart::begin(self.folder(), name)
    }

    /// Takes a published sample back. Builds are only compared side by side: what a killed process published for some
    /// treatments of a test and not for all is measured again for all.
    pub fn withdraw(&self, round: u32, treatment: &str, test: &str, clients: u32) -> Result<(), StoreError> {
        withdraw_folder(&self.place(round, treatment, test, clients)?)
    }

    /// Gives up a campaign that has no sample: its folder goes.
    pub fn discard(self) -> Result<(), StoreError> {
        if self.samples()?.is_empty() { withdraw_folder(self.folder()) } else { Ok(()) }
    }

    /// Keeps the facts of a treatment's build.
    pub fn write_build(&self, treatment: &str, facts: &BuildFacts) -> Result<(), StoreError> {
        write_json(&self.treatment_file(treatment, BUILD)?, facts, self.durability)
    }

    /// Keeps the settings of a treatment as read back.
    pub fn write_settings(&self, treatment: &str, facts: &SettingsFacts) -> Result<(), StoreError> {
        write_json(&self.treatment_file(treatment, SETTINGS)?, facts, self.durability)
    }

    /// Keeps what loading took on the treatment that loaded.
    pub fn write_load(&self, treatment: &str, facts: &LoadFacts) -> Result<(), StoreError> {
        write_json(&self.treatment_file(treatment, LOAD)?, facts, self.durability)
    }

    /// Keeps the plans of a test's statements on a treatment.
    pub fn write_plans(&self, treatment: &str, test: &str, plans: &[StatementPlan]) -> Result<(), StoreError> {
        self.treatment_file(treatment, layout::PLANS)?;
        write_json(&layout::plans_file(self.folder(), treatment, test)?, &plans, self.durability)
    }

    /// Adds the log of one server start to the treatment's log, under a line that names the start.
    pub fn append_server_log(
        &self,
        treatment: &str,
        server_start: &str,
        log: &mut impl Read,
    ) -> Result<(), StoreError> {
        let path = self.treatment_file(treatment, SERVER_LOG)?;
        make_folders(path.parent().expect("a treatment's folder"), self.durability)?;
        let mut append = || {
            let mut file: File = OpenOptions::new().create(true).append(true).open(&path)?;
            writeln!(file, "-- rqps: server start {server_start}")?;
            std::io::copy(log, &mut file)
        };
        append().map(drop).map_err(StoreError::io("write", &path))
    }

    /// Adds an event to `events.jsonl`, as it happens: another process may read along.
    pub fn append_event(&self, event: &Event) -> Result<(), StoreError> {
        let path = self.folder().join(EVENTS);
        let line = Part::lines(EVENTS, std::slice::from_ref(event)).bytes;
        let append = || OpenOptions::new().create(true).append(true).open(&path)?.write_all(&line);
        append().map_err(StoreError::io("write", &path))
    }

    /// Keeps in which order a round goes, and its seed.
    pub fn write_round(&self, round: &Round) -> Result<(), StoreError> {
        let path = layout::round_file(self.folder(), round.number);
        write_file(&path, &Part::json(ROUND, round).bytes, self.durability)
    }

    /// Keeps how long loading took on a treatment.
    pub fn set_load_seconds(&mut self, treatment: &str, seconds: f64) -> Result<(), StoreError> {
        self.treatment_file(treatment, BUILD)?;
        self.campaign.status.load_seconds.insert(treatment.to_owned(), seconds);
        self.write_status()
    }

    /// Keeps how much of its time the campaign has spent.
    pub fn set_spent(&mut self, share: f64) -> Result<(), StoreError> {
        self.campaign.status.spent = Some(share);
        self.write_status()
    }

    /// Gives a campaign more time than it was planned with.
    pub fn extend(&mut self, limit: TimeLimit) -> Result<(), StoreError> {
        let begun = self.rounds_begun();
        let status = &mut self.campaign.status;
        // What was extended before keeps where its own plan ended.
        if status.extended.replace(limit).is_none() {
            status.extended_after = Some(begun);
        }
        self.campaign.plan.time = Some(limit);
        self.write_status()
    }

    /// Declares the campaign complete.
    pub fn finish(&mut self, finished_at: &str) -> Result<(), StoreError> {
        self.campaign.status.state = State::Complete;
        self.campaign.status.finished_at = Some(finished_at.to_owned());
        self.write_status()
    }

    fn write_status(&self) -> Result<(), StoreError> {
        write_json(&self.folder().join(STATUS), self.status(), Durability::Synced)
    }

    fn treatment_file(&self, treatment: &str, file: &str) -> Result<PathBuf, StoreError> {
        if !self.plan().treatments.iter().any(|planned| planned.name == treatment) {
            return Err(StoreError::NotPlanned { what: format!("treatment {treatment}") });
        }
        layout::treatment_file(self.folder(), treatment, file)
    }
}
