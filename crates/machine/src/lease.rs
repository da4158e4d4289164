//! What is running and lying about on behalf of this rqps, written down before it is made.
//!
//! In: folders that are about to be made, and programs that are about to be started in them. Out:
//! `<cache>/leases/<id>.json`, and after a crash [`clear_stale`], which stops the programs of leases whose owner is
//! dead, then removes the folders, and gives the lease back when they are gone. A process is touched only if pid and
//! start time match, or if it stands in a recorded folder and is of the recorded process group, or runs the recorded
//! program as one of our users, started after the owner; or if one of these has started it. A folder is touched only if
//! it is of one of our users and carries our marker with the lease's id, which goes last. Nothing is ever found by
//! name.

use crate::proctree::{self, ProcessId};
use crate::shared_memory::SharedMemory;
use crate::user_files::{UNPUBLISHED, write_whole, write_whole_soon};
use crate::{Account, Cache, MachineError, Result, command};
use rustix::process::Signal;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

mod marked_folder;

pub use marked_folder::MARKER;

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
    /// The user that the owner runs as.
    #[serde(default = "own_user")]
    user: u32,
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
        let record = Record { id, owner, user: own_user(), place, folders: Vec::new(), programs: Vec::new() };
        write(&path, &record, write_whole)?;
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
        self.note(|record| record.folders.push(path.clone()))?;
        // From here on the drop of `folder` takes back what was done, up to an empty folder without a marker.
        if let Err(e) = marked_folder::make(&path) {
            self.strike(|record| record.folders.retain(|f| *f != path))?;
            return Err(e);
        }
        let folder = LeasedFolder { path, lease: self.clone() };
        marked_folder::mark(&folder.path, &self.id(), mode)?;
        Ok(folder)
    }

    /// Notes that a program is about to be started in the folder that it writes to; both without symbolic links.
    pub fn add_program(&self, folder: &Path, program: &Path) -> Result<()> {
        let program = ProgramRecord { folder: folder.to_owned(), program: program.to_owned(), process: None };
        self.note(|record| record.programs.push(program))
    }

    /// Notes the process that it became.
    pub fn set_process(&self, folder: &Path, process: ProcessId) -> Result<()> {
        self.note(|record| {
            record.programs.iter_mut().filter(|p| p.folder == folder).for_each(|p| p.process = Some(process));
        })
    }

    /// Notes that what was started in the folder is gone.
    pub fn remove_program(&self, folder: &Path) -> Result<()> {
        self.strike(|record| record.programs.retain(|p| p.folder != folder))
    }

    /// Runs a program that writes to a folder to its end, in that folder, and returns its stdout. It is in
    /// the lease before it starts, with all that it starts in turn.
    pub fn run(&self, folder: &Path, program: &Path, mut command: Command, name: &str, input: &str) -> Result<String> {
        let real = |path: &Path| fs::canonicalize(path).map_err(MachineError::at("find", path));
        let folder = real(folder)?;
        self.add_program(&folder, &real(program)?)?;
        command.current_dir(&folder);
        let mut noted = Ok(());
        let output = command::output_noting(command, name, input, &mut |process| {
            noted = self.set_process(&folder, process);
        });
        self.remove_program(&folder)?;
        noted.and(output)
    }

    /// Notes what is about to be.
    fn note(&self, change: impl FnOnce(&mut Record)) -> Result<()> {
        let mut record = self.record();
        change(&mut record);
        write(&self.shared.path, &record, write_whole)
    }

    /// Strikes out what is gone. It does not wait for the disk: an end in order has no time for that, and who reads of
    /// what is gone loses nothing.
    fn strike(&self, change: impl FnOnce(&mut Record)) -> Result<()> {
        let mut record = self.record();
        change(&mut record);
        write(&self.shared.path, &record, write_whole_soon)
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
        match marked_folder::remove(&self.path, &self.lease.id(), &users(own_user())) {
            Err(error) => {
                let not_removed = &self.lease.shared.not_removed;
                not_removed.lock().unwrap_or_else(PoisonError::into_inner).push(error.to_string());
            }
            Ok(()) => _ = self.lease.strike(|record| record.folders.retain(|f| *f != self.path)),
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

/// Who may own what rqps has made, and run what it has started: the user that it ran as, and the account of its
/// servers.
fn users(user: u32) -> [u32; 2] {
    [user, Account::choose().uid]
}

fn own_user() -> u32 {
    Account::own().uid
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
            cleared.extend(clear_if_stale(&path, &here)?);
        }
    }
    clear_unpublished(&folder);
    Ok(cleared)
}

fn clear_if_stale(path: &Path, here: &Place) -> Result<Option<Cleared>> {
    let record = match fs::read_to_string(path).and_then(|text| Ok(serde_json::from_str::<Record>(&text)?)) {
        Ok(record) => record,
        // It was given back meanwhile by its living owner.
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        // A living owner may be of another version, and knows what it holds.
        Err(_) if owner_in_name(path).is_some_and(ProcessId::is_alive) => return Ok(None),
        Err(e) => return Ok(Some(unreadable(path, &e))),
    };
    if !record.owner_is_dead(here) {
        return Ok(None);
    }
    let (mut done, left) = clear(record, here);
    if done.faults.is_empty() {
        fs::remove_file(path).map_err(MachineError::at("remove", path))?;
    } else if let Err(e) = write(path, &left, write_whole_soon) {
        // It would keep what is gone, in whose place others may make something.
        done.faults.push(e.to_string());
    }
    Ok(Some(done))
}

/// What a disk fault may leave. Nobody knows what it held, but for the names of its folders.
fn unreadable(path: &Path, error: &io::Error) -> Cleared {
    let lease = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let fault = format!(
        "cannot read the lease {} ({error}); remove it, and folders rqps-{lease}-… where data and temporary files are",
        path.display()
    );
    Cleared { lease, processes: 0, folders: Vec::new(), faults: vec![fault] }
}

/// The process that made a file of the leases.
fn owner_in_name(path: &Path) -> Option<ProcessId> {
    let (pid, rest) = path.file_stem()?.to_str()?.split_once('-')?;
    let ticks = rest.split_once('-')?.0;
    Some(ProcessId { pid: u32::from_str_radix(pid, 16).ok()?, start_ticks: u64::from_str_radix(ticks, 16).ok()? })
}

/// Records of processes that were killed while writing them.
fn clear_unpublished(folder: &Path) {
    for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.extension().is_some_and(|e| e == UNPUBLISHED)
            && owner_in_name(&path).is_some_and(|owner| !owner.is_alive())
        {
            let _ = fs::remove_file(path);
        }
    }
}

/// Clears what a lease holds; returns what was done, and the lease with what is left.
fn clear(mut record: Record, here: &Place) -> (Cleared, Record) {
    let users = users(record.user);
    let mut cleared = Cleared { lease: record.id.clone(), processes: 0, folders: Vec::new(), faults: Vec::new() };
    if record.place.boot_id == here.boot_id {
        let mut stopped = BTreeSet::new();
        loop {
            let processes = stop(&|| processes_of(&record, &users));
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
        return (cleared, record);
    }
    record.programs.clear();
    let id = record.id.clone();
    record.folders.retain(|folder| match marked_folder::clear(folder, &id, &users) {
        Ok(was_there) => {
            cleared.folders.extend(was_there.then(|| folder.clone()));
            false
        }
        Err(e) => {
            cleared.faults.push(e.to_string());
            true
        }
    });
    (cleared, record)
}

/// The recorded processes with their descendants; those of their groups that stand in the recorded folder or below it
/// (what `make` started and left behind); and what stands in a recorded folder and runs the recorded program: a server
/// whose pid was not yet written down, children that lost their parent. Whatever else stands there may be on its way to
/// run such a program, and is given the time.
fn processes_of(record: &Record, users: &[u32]) -> Vec<ProcessId> {
    // A stranger may have been standing there all along, or be a developer who looks at what is compiled.
    let may_be_ours = |process: &ProcessId| {
        process.start_ticks >= record.owner.start_ticks && process.user().is_some_and(|user| users.contains(&user))
    };
    let deadline = Instant::now() + BECOME_TIMEOUT;
    loop {
        let mut found = Vec::new();
        let mut others = 0;
        for recorded in &record.programs {
            if let Some(process) = recorded.process {
                found.extend(proctree::tree(process));
                found.extend(proctree::group_in(process, &recorded.folder));
            }
            for (process, program) in proctree::standing_in(&recorded.folder) {
                if program == recorded.program && may_be_ours(&process) {
                    found.extend(proctree::tree(process));
                } else {
                    others += usize::from(may_be_ours(&process));
                }
            }
        }
        if others == 0 || !found.is_empty() || Instant::now() >= deadline {
            // Each once, and parents before their children.
            let mut seen = BTreeSet::new();
            found.retain(|process| seen.insert(*process));
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

fn write(path: &Path, record: &Record, publish: impl FnOnce(&Path, &[u8]) -> io::Result<()>) -> Result<()> {
    let text = serde_json::to_string_pretty(record).expect("a record has only text keys");
    publish(path, text.as_bytes()).map_err(MachineError::at("write", path)).map_err(MachineError::in_cache)
}

#[cfg(test)]
mod tests;
