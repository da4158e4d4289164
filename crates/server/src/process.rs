//! A running server: started on a private socket, waited for, queried, pinned, frozen, stopped.
//!
//! In: a [`Launch`]. Out: a [`Server`] that answers. Whatever happens to us, the server goes: it stops when dropped,
//! the kernel takes it down when we die, and the lease lists for the next start what may be left. It must not generate
//! load.

use crate::dbms::{self, ending};
use crate::keeper::Keeper;
use crate::launch::Launch;
use crate::readback::Readback;
use crate::{Configuration, Result, ServerError, cluster, log, placement, program_text};
use rqps_machine::Lease;
use rqps_machine::lease::LeasedFolder;
use rqps_machine::proctree::{self, ProcessId};
use rqps_machine::shared_memory::SharedMemory;
use rqps_model::sample::ProgramText;
use rqps_wire::{Endpoint, Session, Target};
use rustix::process::Signal;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

mod cpus;
mod placer;

pub use placer::SessionPlacer;

/// Lines of the log that an error carries.
const LOG_LINES: usize = 20;

/// Time for processes to heed a signal that they cannot refuse.
const SIGNAL_TIMEOUT: Duration = Duration::from_secs(5);

/// Time between two attempts to connect to a server that starts.
const READY_POLL: Duration = Duration::from_millis(5);

/// Time between two looks for shared memory, of a server that starts and of one that is frozen time and again: a look
/// takes milliseconds, and what a server has is made early, but for little.
const LOOK_WHILE_STARTING: Duration = Duration::from_millis(50);
const LOOK_WHILE_FROZEN: Duration = Duration::from_secs(10);

/// How a server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped {
    /// Whether it shut down cleanly: only then may its data folder be copied.
    pub clean: bool,
}

/// A running server; stopped when dropped.
#[derive(Debug)]
pub struct Server {
    build: String,
    target: Target,
    program: PathBuf,
    /// The folder of its build.
    home: PathBuf,
    data_dir: PathBuf,
    process: ProcessId,
    child: Child,
    ended: Option<ExitStatus>,
    frozen: bool,
    shared_memory: SharedMemory,
    /// When that was last looked for, in the present state of the server.
    looked_at: Option<Instant>,
    configuration: Configuration,
    log: PathBuf,
    log_start: u64,
    lease: Lease,
    scrap: Vec<PathBuf>,
    /// These are let go when it has ended.
    folders: Vec<LeasedFolder>,
    keeper: Option<Keeper>,
}

impl Server {
    /// Starts a server and waits until it answers.
    pub fn start(launch: &Launch<'_>, lease: &Lease) -> Result<Server> {
        let data_dir = fs::canonicalize(launch.data_dir).map_err(ServerError::at("find", launch.data_dir))?;
        let program = rqps_builds::program(launch.build)?;
        let program = fs::canonicalize(&program).map_err(ServerError::at("find", &program))?;
        cluster::refuse_running(&data_dir)?;
        launch.account.check_can_enter(&data_dir, "RQPS_DATA")?;
        launch.account.check_can_enter(program.parent().unwrap_or(Path::new("/")), "RQPS_CACHE")?;
        let prepared = dbms::prepare(launch, &data_dir, &program, lease)?;
        let (log, log_start) = log::open(launch.log)?;

        let mut command = prepared.command;
        command.current_dir(&data_dir);
        command.stderr(log.try_clone().map_err(ServerError::at("open", launch.log))?).stdout(log);
        lease.add_program(&data_dir, &program)?;
        let spawned = Keeper::spawn(command).map_err(ServerError::at("run", &program));
        let (child, keeper) = match spawned {
            Ok(spawned) => spawned,
            Err(e) => {
                lease.remove_program(&data_dir)?;
                return Err(e);
            }
        };
        // A child that has ended is still found until it is waited for.
        let process = ProcessId::of(child.id()).expect("a child is in /proc until it is waited for");
        let (version, storage) = (launch.build.version.clone(), launch.storage);
        let target = Target { endpoint: prepared.endpoint, version, storage };
        let mut server = Server {
            build: launch.build.name.clone(),
            target,
            process,
            child,
            ended: None,
            frozen: false,
            shared_memory: SharedMemory::default(),
            looked_at: None,
            configuration: launch.configuration.clone(),
            log: launch.log.to_owned(),
            log_start,
            lease: lease.clone(),
            folders: prepared.folders,
            scrap: prepared.scrap,
            keeper: Some(keeper),
            home: fs::canonicalize(&launch.build.folder).unwrap_or_else(|_| launch.build.folder.clone()),
            program,
            data_dir,
        };
        lease.set_process(&server.data_dir, process)?;
        if !launch.cpus.is_empty() {
            // Early, so that what it starts first is pinned too; all of it is checked once it is ready.
            let _ = placement::pin(placement::thread(process.pid), launch.cpus);
        }
        server.wait_ready(launch.timeout)?;
        server.shared_memory.add(SharedMemory::of(&server.processes()));
        server.looked_at = None;
        if !launch.cpus.is_empty() {
            server.set_cpus(launch.cpus)?;
        }
        Ok(server)
    }

    /// The build that it runs.
    pub fn build(&self) -> &str {
        &self.build
    }

    /// Its data folder.
    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// The way to it.
    pub fn endpoint(&self) -> Endpoint {
        self.target.endpoint.clone()
    }

    /// The way to it, with its version and what stores its tables.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The last lines that this start has logged.
    pub fn log_tail(&self, lines: usize) -> Vec<String> {
        log::tail(&self.log, self.log_start, lines)
    }

    /// Whether its main process runs.
    pub fn is_alive(&self) -> bool {
        self.ended.is_none() && self.process.is_alive()
    }

    /// An error with the end of the log if it does not run any more.
    pub fn check_alive(&self) -> Result<()> {
        if self.is_alive() {
            return Ok(());
        }
        Err(ServerError::Died { build: self.build.clone(), log: self.log_tail(LOG_LINES) })
    }

    /// Its main process and all descendants, the main process first.
    pub fn processes(&self) -> Vec<ProcessId> {
        proctree::tree(self.process)
    }

    /// The pids of [`Server::processes`].
    pub fn pids(&self) -> Vec<u32> {
        self.processes().iter().map(|p| p.pid).collect()
    }

    /// The same with those that ended and were not waited for: what the server used of the machine is the sum of all
    /// these.
    pub fn pids_with_ended(&self) -> Vec<u32> {
        proctree::tree_with_ended(self.process).iter().map(|p| p.pid).collect()
    }

    /// In what pages of memory its text lies; `None` where the kernel does not tell.
    pub fn program_text(&self) -> Option<ProgramText> {
        program_text::read(self.process, &self.home)
    }

    /// Every setting as it has it, and what is not as written.
    pub fn settings(&self) -> Result<Readback> {
        let mut session = Session::connect(&self.target.endpoint, SIGNAL_TIMEOUT)?;
        dbms::settings(&mut session, self.target.engine(), &self.build, &self.configuration)
    }

    /// Stops all its processes where they are, so that it does nothing until [`Server::thaw`].
    pub fn freeze(&mut self) -> Result<()> {
        self.check_alive()?;
        self.frozen = true;
        match proctree::freeze(|| self.processes(), SIGNAL_TIMEOUT).first() {
            None => {
                self.note_shared_memory(LOOK_WHILE_FROZEN);
                Ok(())
            }
            Some(first) => {
                Err(ServerError::Unresponsive { pid: first.pid, what: "freeze", seconds: SIGNAL_TIMEOUT.as_secs() })
            }
        }
    }

    /// Notes what shared memory it has by now, unless that was done shortly before. It makes more while it works, and
    /// once its main process is killed, the others may be gone before they can be asked.
    fn note_shared_memory(&mut self, every: Duration) {
        if self.looked_at.is_none_or(|at| at.elapsed() >= every) {
            self.shared_memory.add(SharedMemory::of(&self.processes()));
            self.looked_at = Some(Instant::now());
        }
    }

    /// Lets a frozen server go on.
    pub fn thaw(&mut self) -> Result<()> {
        // The main process last: the others are there when it looks after them. Without one, they are to notice that.
        for process in self.processes().iter().rev().chain(&self.orphans()) {
            process.signal(Signal::CONT);
        }
        self.frozen = false;
        self.check_alive()
    }

    /// Shuts it down in order: everything is written back. Falls back to [`Server::stop_now`] if that takes too long.
    pub fn stop(&mut self) -> Result<Stopped> {
        self.end(ending(self.target.engine()).in_order)
    }

    /// Ends it within seconds, without writing back: for data that is thrown away.
    pub fn stop_now(&mut self) -> Result<Stopped> {
        self.end(ending(self.target.engine()).at_once)
    }

    fn end(&mut self, steps: &[(Signal, Duration)]) -> Result<Stopped> {
        let in_order = ending(self.target.engine()).in_order[0].0;
        if let Some(status) = self.ended {
            return Ok(Stopped { clean: status.success() });
        }
        if steps.first().is_some_and(|(signal, _)| *signal != in_order) {
            // So that none makes shared memory after it was looked for and before the signal.
            let _ = self.freeze();
        }
        let mut family = self.processes();
        family.extend(self.orphans());
        let mut clean = false;
        self.shared_memory.add(SharedMemory::of(&family));
        for &(signal, timeout) in steps {
            self.process.signal(signal);
            if signal != in_order {
                family.iter().for_each(|p| _ = p.signal(signal));
            }
            family.iter().rev().for_each(|p| _ = p.signal(Signal::CONT));
            self.frozen = false;
            if proctree::wait_gone(&[self.process], timeout).is_empty() {
                clean = signal == in_order;
                break;
            }
            family.extend(self.processes());
        }
        // Without their main process the others leave by themselves, unless they hang.
        let grace = if clean { SIGNAL_TIMEOUT } else { Duration::from_millis(500) };
        let left = proctree::wait_gone(&family, grace);
        left.iter().for_each(|p| _ = p.signal(Signal::KILL));
        if let Some(hanging) = proctree::wait_gone(&family, SIGNAL_TIMEOUT).first() {
            // It stays in the lease.
            return Err(ServerError::Unresponsive { pid: hanging.pid, what: "end", seconds: SIGNAL_TIMEOUT.as_secs() });
        }
        let status = self.child.wait().map_err(ServerError::at("wait for the server of", &self.data_dir))?;
        self.ended = Some(status);
        if !status.success() {
            self.shared_memory.remove();
        }
        self.lease.remove_program(&self.data_dir)?;
        self.folders.clear();
        self.keeper = None;
        let clean = clean && status.success();
        // Looked for only now: the server itself has made them.
        for file in self.scrap.iter().filter(|file| clean && file.exists()) {
            fs::remove_file(file).map_err(ServerError::at("remove", file))?;
        }
        Ok(Stopped { clean })
    }

    /// Processes whose main process was killed. Those that were frozen then do not notice, and would keep a new server
    /// from starting on their data folder.
    fn orphans(&self) -> Vec<ProcessId> {
        if self.process.is_alive() {
            return Vec::new();
        }
        let here = (self.data_dir.clone(), self.program.clone());
        let mut found = proctree::all();
        found.retain(|process| process.folder_and_program().as_ref() == Some(&here));
        found
    }

    fn wait_ready(&mut self, timeout: Duration) -> Result<()> {
        let deadline = Instant::now() + timeout;
        loop {
            if let Ok(Some(status)) = self.child.try_wait() {
                // What it has started may live on, and its shared memory stay.
                self.end(&[])?;
                let log = log::last_words(&self.log, self.log_start, LOG_LINES);
                return Err(ServerError::DidNotStart { build: self.build.clone(), status: status.to_string(), log });
            }
            self.note_shared_memory(LOOK_WHILE_STARTING);
            let left = deadline.saturating_duration_since(Instant::now());
            match Session::connect(&self.target.endpoint, left.clamp(READY_POLL, SIGNAL_TIMEOUT)) {
                Ok(session) => {
                    session.close();
                    return Ok(());
                }
                Err(e) if left.is_zero() => {
                    let (build, log) = (self.build.clone(), log::last_words(&self.log, self.log_start, LOG_LINES));
                    return Err(ServerError::NotReady { build, seconds: timeout.as_secs(), cause: e.to_string(), log });
                }
                Err(e) if is_not_yet(&e) => std::thread::sleep(READY_POLL),
                Err(e) => return Err(e.into()),
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // What does not end stays in the lease, for the next start.
        let _ = self.stop_now();
    }
}

/// Whether a failed connection means that the server is still starting.
fn is_not_yet(error: &rqps_wire::WireError) -> bool {
    use rqps_wire::WireError;
    error.is_not_ready() || matches!(error, WireError::Lost { .. } | WireError::Deadline { .. })
}
