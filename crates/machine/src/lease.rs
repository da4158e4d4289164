//! What is running and lying about on behalf of this rqps, written down before it is made.
//!
//! In: folders and servers that are about to be made. Out: `<cache>/leases/<id>.json`, and after a crash
//! [`clear_stale`], which stops the servers and removes the folders of leases whose owner is dead. A process is
//! touched only if pid and start time match, or if it runs the recorded program in the recorded data folder; a folder
//! only if it carries our marker with the lease's id. Nothing is ever found by name.

use crate::proctree::{self, ProcessId};
use crate::shared_memory::SharedMemory;
use crate::{Cache, MachineError, Result, remove_tree};
use rustix::process::Signal;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, Permissions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// The file that marks a folder as ours; it holds the id of the lease.
pub const MARKER: &str = ".rqps";

/// Time that a server of a dead owner gets to leave by itself.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(5);

/// Everything that one run of rqps holds. Clones share it; the file goes when the last clone and folder is gone.
#[derive(Debug, Clone)]
pub struct Lease {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    path: PathBuf,
    record: Mutex<Record>,
    folders_made: AtomicU32,
    /// What could not be removed, and why.
    not_removed: Mutex<Vec<String>>,
}

/// A look at what a lease holds, which does not keep it.
#[derive(Debug, Clone)]
pub struct Holdings {
    shared: Weak<Shared>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Record {
    id: String,
    owner: ProcessId,
    place: Place,
    folders: Vec<PathBuf>,
    servers: Vec<ServerRecord>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct ServerRecord {
    data_dir: PathBuf,
    program: PathBuf,
    /// Absent from before the start until the pid is known.
    process: Option<ProcessId>,
}

/// Where pids and paths of a lease mean something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Place {
    host: String,
    boot_id: String,
    pid_namespace: String,
}

/// What was found of a dead owner and cleared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cleared {
    /// The lease.
    pub lease: String,
    /// Server processes that still ran.
    pub processes: usize,
    /// Folders that were removed.
    pub folders: Vec<PathBuf>,
    /// What could not be cleared, and why; the lease is kept for the next start then.
    pub faults: Vec<String>,
}

/// A temporary folder of ours; removed with all that is in it when dropped.
#[derive(Debug)]
pub struct LeasedFolder {
    path: PathBuf,
    lease: Lease,
}

impl Lease {
    /// A new lease of this process.
    pub fn open(cache: &Cache) -> Result<Lease> {
        let owner = ProcessId::own();
        let place = Place::here();
        // Several leases of one process, in whatever caches, must not have one name.
        let random = RandomState::new().build_hasher().finish() as u32;
        let id = format!("{:x}-{:x}-{random:x}", owner.pid, owner.start_ticks);
        let path = cache.leases().join(format!("{id}.json"));
        let record = Record { id, owner, place, folders: Vec::new(), servers: Vec::new() };
        write(&path, &record)?;
        let (record, not_removed) = (Mutex::new(record), Mutex::default());
        Ok(Lease { shared: Arc::new(Shared { path, record, folders_made: AtomicU32::new(0), not_removed }) })
    }

    /// What it holds, for whoever must not keep it.
    pub fn holdings(&self) -> Holdings {
        Holdings { shared: Arc::downgrade(&self.shared) }
    }

    /// What could not be removed so far, and why; the next start tries again.
    pub fn not_removed(&self) -> Vec<String> {
        self.shared.not_removed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The id, which is part of the name of every folder of this lease.
    pub fn id(&self) -> String {
        self.record().id.clone()
    }

    /// A new folder `<parent>/rqps-<id>-<name><n>`, in the lease before it is on disk.
    pub fn folder(&self, parent: &Path, name: &str, mode: u32) -> Result<LeasedFolder> {
        let n = self.shared.folders_made.fetch_add(1, Ordering::Relaxed);
        let path = parent.join(format!("rqps-{}-{name}{n}", self.id()));
        fs::create_dir_all(parent).map_err(MachineError::at("create", parent))?;
        self.change(|record| record.folders.push(path.clone()))?;
        // From here on the drop of `folder` takes back what was done, up to an empty folder without a marker.
        let made = fs::create_dir(&path);
        if let Err(e) = made {
            self.change(|record| record.folders.retain(|f| *f != path))?;
            return Err(MachineError::io("create", path, e));
        }
        let folder = LeasedFolder { path, lease: self.clone() };
        let marker = folder.path.join(MARKER);
        fs::write(&marker, self.id()).map_err(MachineError::at("write", &marker))?;
        fs::set_permissions(&folder.path, Permissions::from_mode(mode))
            .map_err(MachineError::at("open up", &folder.path))?;
        Ok(folder)
    }

    /// Notes that a server is about to be started on a data folder.
    pub fn add_server(&self, data_dir: &Path, program: &Path) -> Result<()> {
        let server = ServerRecord { data_dir: data_dir.to_owned(), program: program.to_owned(), process: None };
        self.change(|record| record.servers.push(server))
    }

    /// Notes the process that the server became.
    pub fn set_server_process(&self, data_dir: &Path, process: ProcessId) -> Result<()> {
        self.change(|record| {
            record.servers.iter_mut().filter(|s| s.data_dir == data_dir).for_each(|s| s.process = Some(process));
        })
    }

    /// Notes that the server is gone.
    pub fn remove_server(&self, data_dir: &Path) -> Result<()> {
        self.change(|record| record.servers.retain(|s| s.data_dir != data_dir))
    }

    fn change(&self, change: impl FnOnce(&mut Record)) -> Result<()> {
        let mut record = self.record();
        change(&mut record);
        write(&self.shared.path, &record)
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        // A record is changed in one step; a thread that panicked meanwhile left it whole.
        self.shared.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        if record.folders.is_empty() && record.servers.is_empty() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl Holdings {
    /// The folders that are there now; none where the lease is gone, or busy, since whoever asks may not be able to wait.
    pub fn folders(&self) -> Vec<PathBuf> {
        let Some(shared) = self.shared.upgrade() else { return Vec::new() };
        let record = shared.record.try_lock();
        record.map_or_else(|_| Vec::new(), |record| record.folders.clone())
    }
}

impl LeasedFolder {
    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for LeasedFolder {
    fn drop(&mut self) {
        // What cannot be removed stays in the lease and is cleared at the next start.
        match remove_marked(&self.path) {
            Err(error) if self.path.exists() => {
                let not_removed = &self.lease.shared.not_removed;
                not_removed.lock().unwrap_or_else(PoisonError::into_inner).push(error.to_string());
            }
            _ => _ = self.lease.change(|record| record.folders.retain(|f| *f != self.path)),
        }
    }
}

impl Place {
    fn here() -> Place {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default().trim().to_owned();
        let namespace = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        Place {
            host: read("/proc/sys/kernel/hostname"),
            boot_id: read("/proc/sys/kernel/random/boot_id"),
            pid_namespace: namespace.to_string_lossy().into_owned(),
        }
    }
}

impl Record {
    /// Only the same host can judge; after a reboot nobody lives; pids of another container say nothing here.
    fn owner_is_dead(&self, here: &Place) -> bool {
        if self.place.host != here.host {
            return false;
        }
        if self.place.boot_id != here.boot_id {
            return true;
        }
        self.place.pid_namespace == here.pid_namespace && !self.owner.is_alive()
    }
}

/// Finds leases whose owner is dead, stops their servers, removes their folders. Called at every start.
pub fn clear_stale(cache: &Cache) -> Result<Vec<Cleared>> {
    let folder = cache.leases();
    let lock_path = folder.join(".lock");
    let lock = File::options().create(true).truncate(false).write(true).open(&lock_path);
    let lock = lock.map_err(MachineError::at("open", &lock_path))?;
    lock.lock().map_err(MachineError::at("lock", &lock_path))?;

    let here = Place::here();
    let mut cleared = Vec::new();
    for entry in fs::read_dir(&folder).map_err(MachineError::at("list", &folder))? {
        let path = entry.map_err(MachineError::at("list", &folder))?.path();
        if path.extension().is_some_and(|e| e == "json") {
            // A lease that vanishes meanwhile was given back by its living owner.
            let Ok(text) = fs::read_to_string(&path) else { continue };
            // Leases are published by rename: one that cannot be read is not ours to judge.
            let Ok(record) = serde_json::from_str::<Record>(&text) else { continue };
            if record.owner_is_dead(&here) {
                let done = clear(&record, record.place.boot_id == here.boot_id);
                if done.faults.is_empty() {
                    fs::remove_file(&path).map_err(MachineError::at("remove", &path))?;
                }
                cleared.push(done);
            }
        }
    }
    clear_unpublished(&folder);
    Ok(cleared)
}

/// Records of processes that were killed at writing them; the name itself says whose they are.
fn clear_unpublished(folder: &Path) {
    let owner = |path: &Path| {
        let (pid, rest) = path.file_stem()?.to_str()?.split_once('-')?;
        let ticks = rest.split_once('-')?.0;
        Some(ProcessId { pid: u32::from_str_radix(pid, 16).ok()?, start_ticks: u64::from_str_radix(ticks, 16).ok()? })
    };
    for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.extension().is_some_and(|e| e == "new") && owner(&path).is_some_and(|owner| !owner.is_alive()) {
            let _ = fs::remove_file(path);
        }
    }
}

fn clear(record: &Record, same_boot: bool) -> Cleared {
    let mut cleared = Cleared { lease: record.id.clone(), processes: 0, folders: Vec::new(), faults: Vec::new() };
    if same_boot {
        let processes = processes_of(&record.servers);
        cleared.processes = processes.len();
        let shared = SharedMemory::of(&processes);
        let left = stop(&processes);
        shared.remove();
        cleared.faults.extend(left.iter().map(|p| format!("process {} does not end", p.pid)));
    }
    for folder in &record.folders {
        if !folder.exists() {
            continue;
        }
        let marked = fs::read_to_string(folder.join(MARKER)).is_ok_and(|id| id == record.id);
        // Without a marker only an empty folder may go: we were killed between making and marking it.
        let removed = if marked {
            remove_marked(folder)
        } else {
            fs::remove_dir(folder).map_err(MachineError::at("remove", folder))
        };
        match removed {
            Ok(()) => cleared.folders.push(folder.clone()),
            Err(_) if !marked => {}
            Err(e) => cleared.faults.push(e.to_string()),
        }
    }
    cleared
}

/// The recorded processes with their descendants, and what runs a recorded program in a recorded data folder: a
/// server whose pid was not yet written down, or children that lost their parent while they were frozen.
fn processes_of(servers: &[ServerRecord]) -> Vec<ProcessId> {
    let mut found: Vec<ProcessId> = servers.iter().filter_map(|s| s.process).flat_map(proctree::tree).collect();
    for process in proctree::all() {
        let Some((folder, program)) = process.folder_and_program() else { continue };
        let recorded = servers.iter().any(|s| s.data_dir == folder && s.program == program);
        if recorded && !found.contains(&process) {
            found.push(process);
        }
    }
    found
}

/// Asks all to leave at once, then makes them; gives those that are still there.
fn stop(processes: &[ProcessId]) -> Vec<ProcessId> {
    for signal in [Signal::QUIT, Signal::CONT] {
        processes.iter().for_each(|p| {
            p.signal(signal);
        });
    }
    let left = proctree::wait_gone(processes, LEAVE_TIMEOUT);
    left.iter().for_each(|p| {
        p.signal(Signal::KILL);
    });
    proctree::wait_gone(&left, LEAVE_TIMEOUT)
}

/// Removes a folder, its marker last: who is killed at it leaves a folder that is still known to be ours.
fn remove_marked(folder: &Path) -> Result<()> {
    let mut kept = Ok(());
    for entry in fs::read_dir(folder).map_err(MachineError::at("list", folder))? {
        let entry = entry.map_err(MachineError::at("list", folder))?;
        let path = entry.path();
        let removed = match entry.file_type() {
            _ if entry.file_name() == MARKER => Ok(()),
            Ok(kind) if kind.is_dir() => remove_tree(&path),
            Ok(_) => fs::remove_file(&path).map_err(MachineError::at("remove", &path)),
            Err(e) => Err(MachineError::io("look at", path, e)),
        };
        // The rest goes all the same; the first is told.
        kept = kept.and(removed);
    }
    kept?;
    let marker = folder.join(MARKER);
    fs::remove_file(&marker).map_err(MachineError::at("remove", &marker))?;
    fs::remove_dir(folder).map_err(MachineError::at("remove", folder))
}

fn write(path: &Path, record: &Record) -> Result<()> {
    let new = path.with_extension("new");
    let text = serde_json::to_string_pretty(record).expect("a record has only text keys");
    let written = fs::write(&new, text).map_err(MachineError::at("write", &new));
    written
        .and_then(|()| fs::rename(&new, path).map_err(MachineError::at("publish", path)))
        .map_err(MachineError::in_cache)
}

#[cfg(test)]
mod tests;
