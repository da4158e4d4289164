//! What is running and lying about on behalf of this rqps, written down before it is made.
//!
//! In: folders that are about to be made, and programs that are about to be started in them. Out:
//! `<cache>/leases/<id>.json`, and after a crash [`clear_stale`], which stops the programs of leases whose owner is
//! dead, then removes the folders, and gives the lease back when they are gone. A process is touched only if pid and
//! start time match, or if it stands in a recorded folder and is of the recorded process group, or runs the recorded
//! program or one next to it; a folder only if it carries our marker with the lease's id, which goes last. Nothing is
//! ever found by name.

use crate::proctree::{self, ProcessId};
use crate::shared_memory::SharedMemory;
use crate::{Cache, MachineError, Result, command, remove_tree};
use rustix::process::Signal;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::{self, File, Permissions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// The file that marks a folder as ours; it holds the id of the lease.
pub const MARKER: &str = ".rqps";

/// Time that a program of a dead owner gets to leave by itself.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(5);

/// Time for what stands in a recorded folder to become the program that it is to run: a shell, or what sets its
/// account.
const BECOME_TIMEOUT: Duration = Duration::from_secs(1);

/// Everything that one run of rqps holds. Clones share it; the file goes when the last clone and folder is gone.
#[derive(Debug, Clone)]
pub struct Lease {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    cache: Cache,
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
    programs: Vec<ProgramRecord>,
}

/// A server, or a tool that makes files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct ProgramRecord {
    /// What it is started in, and all that it starts in turn stands in: the folder that it writes to.
    folder: PathBuf,
    program: PathBuf,
    /// Absent until the pid is known, and for a program that is waited for where it is started.
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
    /// Processes that still ran.
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
        let record = Record { id, owner, place, folders: Vec::new(), programs: Vec::new() };
        write(&path, &record)?;
        let (record, not_removed) = (Mutex::new(record), Mutex::default());
        let (cache, folders_made) = (cache.clone(), AtomicU32::new(0));
        Ok(Lease { shared: Arc::new(Shared { cache, path, record, folders_made, not_removed }) })
    }

    /// What it holds, without keeping it alive.
    pub fn holdings(&self) -> Holdings {
        Holdings { shared: Arc::downgrade(&self.shared) }
    }

    /// What could not be removed so far, and why; the next start tries again.
    pub fn not_removed(&self) -> Vec<String> {
        self.shared.not_removed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The cache that it is noted in.
    pub fn cache(&self) -> &Cache {
        &self.shared.cache
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

    /// Notes that a program is about to be started in the folder that it writes to; both without symbolic links.
    pub fn add_program(&self, folder: &Path, program: &Path) -> Result<()> {
        let program = ProgramRecord { folder: folder.to_owned(), program: program.to_owned(), process: None };
        self.change(|record| record.programs.push(program))
    }

    /// Notes the process that it became.
    pub fn set_process(&self, folder: &Path, process: ProcessId) -> Result<()> {
        self.change(|record| {
            record.programs.iter_mut().filter(|p| p.folder == folder).for_each(|p| p.process = Some(process));
        })
    }

    /// Notes that what was started in the folder is gone.
    pub fn remove_program(&self, folder: &Path) -> Result<()> {
        self.change(|record| record.programs.retain(|p| p.folder != folder))
    }

    /// Runs a program that writes to a folder to its end, in that folder, and returns its stdout. It is in
    /// the lease before it starts, with all that it starts in turn.
    pub fn run(&self, folder: &Path, program: &Path, mut command: Command, name: &str, input: &str) -> Result<String> {
        let real = |path: &Path| fs::canonicalize(path).map_err(MachineError::at("find", path));
        let folder = real(folder)?;
        self.add_program(&folder, &real(program)?)?;
        command.current_dir(&folder);
        let output = command::output(command, name, input);
        self.remove_program(&folder)?;
        output
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
        if record.folders.is_empty() && record.programs.is_empty() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl Holdings {
    /// The folders that are there now; none where the lease is gone, or busy, since the caller may not be able to
    /// wait.
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
        match remove_marked(&self.path, &self.lease.id()) {
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
    /// Only the same host can judge; after a reboot no process lives; pids of another container mean nothing here.
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

/// Finds leases whose owner is dead, stops their programs, removes their folders. Called at every start.
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

/// Records of processes that were killed while writing them; the name itself shows whose they are.
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
        let mut stopped = BTreeSet::new();
        loop {
            let processes = stop(&|| processes_of(&record.programs));
            let left = processes.iter().filter(|p| p.is_alive());
            cleared.faults.extend(left.map(|p| format!("process {} does not end", p.pid)));
            let before = stopped.len();
            stopped.extend(processes);
            // Until there is nothing new: what was being started while we looked would write to what we remove.
            if stopped.len() == before {
                break;
            }
        }
        cleared.processes = stopped.len();
    }
    if !cleared.faults.is_empty() {
        return cleared;
    }
    for folder in record.folders.iter().filter(|folder| folder.exists()) {
        let marked = fs::read_to_string(folder.join(MARKER)).is_ok_and(|id| id == record.id);
        // Without a marker only an empty folder may go: we were killed between making and marking it.
        let removed = if marked {
            remove_marked(folder, &record.id)
        } else {
            fs::remove_dir(folder).map_err(MachineError::at("remove", folder))
        };
        match removed {
            Ok(()) => cleared.folders.push(folder.clone()),
            Err(e) => cleared.faults.push(e.to_string()),
        }
    }
    cleared
}

/// The recorded processes with their descendants, those of their groups that stand in the recorded folder or below it
/// (what `make` started and left behind), and what stands in a recorded folder and runs the recorded program or one
/// next to it: a server whose pid was not yet written down, what a tool has started, children that lost their parent.
/// Whatever else stands there may be on its way to run such a program, and is given the time.
fn processes_of(programs: &[ProgramRecord]) -> Vec<ProcessId> {
    let deadline = Instant::now() + BECOME_TIMEOUT;
    loop {
        let mut found: Vec<ProcessId> = programs.iter().filter_map(|p| p.process).flat_map(proctree::tree).collect();
        let mut others = 0;
        let in_groups = programs.iter().filter_map(|p| Some(proctree::group_in(p.process?, &p.folder)));
        for process in in_groups.flatten().collect::<Vec<_>>() {
            if !found.contains(&process) {
                found.push(process);
            }
        }
        for recorded in programs {
            for (process, program) in proctree::standing_in(&recorded.folder) {
                match program.parent() == recorded.program.parent() {
                    true if !found.contains(&process) => found.push(process),
                    true => {}
                    false if found.contains(&process) => {}
                    false => others += 1,
                }
            }
        }
        if others == 0 || !found.is_empty() || Instant::now() >= deadline {
            return found;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Asks all to end, then kills those that are left; returns all that were found.
///
/// At QUIT a process ends wherever it is, even when it has made shared memory and not yet recorded it, and one that is
/// killed clears nothing up. So all are frozen before each signal, and their shared memory is removed first: should we
/// be killed in between, the next start still finds it through those that are left.
fn stop(find: &dyn Fn() -> Vec<ProcessId>) -> BTreeSet<ProcessId> {
    let mut all = BTreeSet::new();
    for signal in [Signal::QUIT, Signal::KILL] {
        let _ = proctree::freeze(find, LEAVE_TIMEOUT);
        let processes = find();
        SharedMemory::of(&processes).remove();
        for signal in [signal, Signal::CONT] {
            processes.iter().for_each(|p| _ = p.signal(signal));
        }
        let left = proctree::wait_gone(&processes, LEAVE_TIMEOUT);
        all.extend(processes);
        if left.is_empty() {
            break;
        }
    }
    all
}

/// Removes a folder, its marker last: if we are killed meanwhile, the folder that is left is still known to be ours, or
/// it is empty.
fn remove_marked(folder: &Path, id: &str) -> Result<()> {
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
        // The rest goes all the same; the first error is returned.
        kept = kept.and(removed);
    }
    kept?;
    let marker = folder.join(MARKER);
    fs::remove_file(&marker).map_err(MachineError::at("remove", &marker))?;
    fs::remove_dir(folder).map_err(MachineError::at("remove", folder)).inspect_err(|_| {
        // Somebody has made a file since: the next start must still know the folder.
        let _ = fs::write(&marker, id);
    })
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
