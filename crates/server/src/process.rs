//! A running server: started on a private socket, waited for, asked, pinned, frozen, stopped.
//!
//! In: a [`Launch`]. Out: a [`Server`] that answers. Whatever happens to us, the server goes: it stops when dropped, the
//! kernel takes it down when we die, and the lease tells the next start what may be left. It must not generate load.

use crate::command::{self, OnParentDeath};
use crate::lease::LeasedFolder;
use crate::proctree::{self, ProcessId};
use crate::readback::{self, Readback};
use crate::shared_memory::SharedMemory;
use crate::{Account, Configuration, Lease, Result, ServerError, cluster, placement};
use rqps_model::facts::BuildFacts;
use rqps_model::settings::CpuSet;
use rqps_wire::{Endpoint, Protocol, Session, Transport};
use rustix::process::{Pid, Signal};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

mod keeper;

use keeper::Keeper;

/// The port in a private socket's name; the folder tells servers apart.
const SOCKET_PORT: u16 = 5432;

/// The address of a server that is asked to listen on TCP.
const TCP_HOST: &str = "127.0.0.1";

/// Bytes of a socket's path that Linux takes, without the final zero.
const SOCKET_PATH_MAX: usize = 107;

/// The configuration file that a server is started with, beside the one that initdb wrote.
const CONFIG_FILE: &str = "rqps.conf";

/// Lines of the log that an error carries.
const LOG_LINES: usize = 20;

/// Time for processes to heed a signal that they cannot refuse.
const SIGNAL_TIMEOUT: Duration = Duration::from_secs(5);

/// A fast shutdown writes everything back, which may take as long as the disk needs.
const FAST_STOP_TIMEOUT: Duration = Duration::from_secs(120);

/// Time between two attempts to connect to a server that starts.
const READY_POLL: Duration = Duration::from_millis(5);

/// How a server is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listen {
    /// A Unix socket in a private folder, and nothing else.
    Socket,
    /// In addition TCP on this machine, without a password: anyone on the machine can log in.
    Tcp {
        /// The port.
        port: u16,
    },
}

/// Everything that a start needs.
#[derive(Debug, Clone, Copy)]
pub struct Launch<'a> {
    /// The installation.
    pub build: &'a BuildFacts,
    /// A data folder as made by [`cluster::initialise`] or copied from one.
    pub data_dir: &'a Path,
    /// What is written on top of initdb's settings.
    pub configuration: &'a Configuration,
    /// As whom it runs.
    pub account: Account,
    /// CPUs of all its processes; empty leaves them as ours are.
    pub cpus: &'a [usize],
    /// How it is reached.
    pub listen: Listen,
    /// The file that its log is added to.
    pub log: &'a Path,
    /// Time until it must answer.
    pub timeout: Duration,
}

/// How a server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped {
    /// Whether it wrote everything back and said goodbye: only then may its data folder be copied.
    pub clean: bool,
}

/// A running server; stopped when dropped.
#[derive(Debug)]
pub struct Server {
    build: String,
    program: PathBuf,
    data_dir: PathBuf,
    process: ProcessId,
    child: Child,
    ended: Option<ExitStatus>,
    frozen: bool,
    shared_memory: SharedMemory,
    endpoint: Endpoint,
    written: BTreeMap<String, String>,
    log: PathBuf,
    log_start: u64,
    lease: Lease,
    /// Both are let go when it has ended.
    socket_folder: Option<LeasedFolder>,
    keeper: Option<Keeper>,
}

impl Server {
    /// Starts a server and waits until it answers.
    pub fn start(launch: &Launch<'_>, lease: &Lease) -> Result<Server> {
        let data_dir = fs::canonicalize(launch.data_dir).map_err(ServerError::at("find", launch.data_dir))?;
        let program = launch.build.folder.join("bin/postgres");
        let program = fs::canonicalize(&program).map_err(ServerError::at("find", &program))?;
        cluster::refuse_running(&data_dir)?;
        launch.account.check_can_enter(&data_dir, "RQPS_DATA")?;
        launch.account.check_can_enter(program.parent().unwrap_or(Path::new("/")), "RQPS_CACHE")?;
        check_port(launch.listen)?;
        let socket_folder = socket_folder(launch.account, lease)?;
        let config = write_config(launch, &data_dir, socket_folder.path())?;
        let (log, log_start) = open_log(launch.log)?;

        let mut command = command::program(launch.account, OnParentDeath::Quit, &program);
        command.arg("-D").arg(&data_dir).arg("-c").arg(format!("config_file={}", config.display()));
        command.stderr(log.try_clone().map_err(ServerError::at("open", launch.log))?).stdout(log);
        lease.add_server(&data_dir, &program)?;
        let spawned = Keeper::spawn(command).map_err(ServerError::at("run", &program));
        let (child, keeper) = match spawned {
            Ok(spawned) => spawned,
            Err(e) => {
                lease.remove_server(&data_dir)?;
                return Err(e);
            }
        };
        // A child that has ended is still found: nobody has waited for it yet.
        let process = ProcessId::of(child.id()).expect("a child is in /proc until it is waited for");
        let mut server = Server {
            build: launch.build.name.clone(),
            process,
            child,
            ended: None,
            frozen: false,
            shared_memory: SharedMemory::default(),
            endpoint: endpoint(launch.listen, socket_folder.path()),
            written: launch.configuration.written.clone(),
            log: launch.log.to_owned(),
            log_start,
            lease: lease.clone(),
            socket_folder: Some(socket_folder),
            keeper: Some(keeper),
            program,
            data_dir,
        };
        lease.set_server_process(&server.data_dir, process)?;
        if !launch.cpus.is_empty() {
            // Early, so that what it starts first is pinned too; all of it is checked once it is ready.
            let _ = placement::pin(raw(process.pid), launch.cpus);
        }
        server.wait_ready(launch.timeout)?;
        server.shared_memory = SharedMemory::of(&server.processes());
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
        self.endpoint.clone()
    }

    /// The file that its log is in.
    pub fn log_path(&self) -> &Path {
        &self.log
    }

    /// The last lines that this start has logged.
    pub fn log_tail(&self, lines: usize) -> Vec<String> {
        log_tail(&self.log, self.log_start, lines)
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

    /// Every setting as it has it, and what is not as written.
    pub fn settings(&self) -> Result<Readback> {
        let mut session = Session::connect(&self.endpoint, SIGNAL_TIMEOUT)?;
        readback::read(&mut session, &self.build, &self.written)
    }

    /// Pins every thread of every process, and so what they will start, and gives the CPUs as read back.
    pub fn set_cpus(&self, cpus: &[usize]) -> Result<CpuSet> {
        let refused = |who: String, reason: String| ServerError::Placement { who, cpus: cpus.to_vec(), reason };
        let deadline = Instant::now() + SIGNAL_TIMEOUT;
        loop {
            let threads = self.threads();
            for &thread in &threads {
                match placement::pin(raw(thread), cpus) {
                    // It ended meanwhile.
                    Ok(()) | Err(rustix::io::Errno::SRCH) => {}
                    Err(e) => return Err(refused(format!("thread {thread} of {}", self.build), e.to_string())),
                }
            }
            // One that was started meanwhile by one not yet pinned is found in the next pass.
            let elsewhere = self.cpu_sets()?.into_iter().find(|set| set != cpus);
            let Some(elsewhere) = elsewhere else { return Ok(cpus.to_vec()) };
            if Instant::now() >= deadline {
                return Err(refused(self.build.clone(), format!("the kernel says {elsewhere:?}")));
            }
        }
    }

    /// The CPUs that any of its threads may use, as the kernel says.
    pub fn cpus(&self) -> Result<CpuSet> {
        Ok(self.cpu_sets()?.into_iter().flatten().collect::<BTreeSet<usize>>().into_iter().collect())
    }

    fn cpu_sets(&self) -> Result<Vec<CpuSet>> {
        self.check_alive()?;
        Ok(self.threads().into_iter().filter_map(|thread| placement::read_back(raw(thread)).ok()).collect())
    }

    /// Stops all its processes where they are, so that it does nothing until [`Server::thaw`].
    pub fn freeze(&mut self) -> Result<()> {
        self.check_alive()?;
        self.frozen = true;
        let deadline = Instant::now() + SIGNAL_TIMEOUT;
        loop {
            // The main process first: then no new ones come.
            let moving: Vec<ProcessId> =
                self.processes().into_iter().filter(|p| p.is_alive() && !p.is_stopped()).collect();
            let Some(first) = moving.first() else { return Ok(()) };
            if Instant::now() >= deadline {
                return Err(ServerError::Unresponsive {
                    pid: first.pid,
                    what: "freeze",
                    seconds: SIGNAL_TIMEOUT.as_secs(),
                });
            }
            moving.iter().for_each(|p| {
                p.signal(Signal::STOP);
            });
            std::thread::yield_now();
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

    /// Whether it is frozen.
    pub fn is_frozen(&self) -> bool {
        self.frozen
    }

    /// Shuts it down in order: everything is written back. Falls back to [`Server::stop_now`] if that takes too long.
    pub fn stop(&mut self) -> Result<Stopped> {
        self.end(&[(Signal::INT, FAST_STOP_TIMEOUT), (Signal::QUIT, SIGNAL_TIMEOUT), (Signal::KILL, SIGNAL_TIMEOUT)])
    }

    /// Ends it within seconds, without writing back: for data that is thrown away.
    pub fn stop_now(&mut self) -> Result<Stopped> {
        self.end(&[(Signal::QUIT, Duration::from_secs(2)), (Signal::KILL, SIGNAL_TIMEOUT)])
    }

    fn end(&mut self, steps: &[(Signal, Duration)]) -> Result<Stopped> {
        if let Some(status) = self.ended {
            return Ok(Stopped { clean: status.success() });
        }
        let mut family = self.processes();
        family.extend(self.orphans());
        let mut clean = false;
        self.shared_memory.add(SharedMemory::of(&family));
        for &(signal, timeout) in steps {
            self.process.signal(signal);
            family.iter().rev().for_each(|p| {
                p.signal(Signal::CONT);
            });
            self.frozen = false;
            if proctree::wait_gone(&[self.process], timeout).is_empty() {
                clean = signal == Signal::INT;
                break;
            }
            family.extend(self.processes());
        }
        // Without their main process the others leave by themselves, unless they hang.
        let grace = if clean { SIGNAL_TIMEOUT } else { Duration::from_millis(500) };
        let left = proctree::wait_gone(&family, grace);
        left.iter().for_each(|p| {
            p.signal(Signal::KILL);
        });
        if let Some(hanging) = proctree::wait_gone(&family, SIGNAL_TIMEOUT).first() {
            // It stays in the lease.
            return Err(ServerError::Unresponsive { pid: hanging.pid, what: "end", seconds: SIGNAL_TIMEOUT.as_secs() });
        }
        let status = self.child.wait().map_err(ServerError::at("wait for the server of", &self.data_dir))?;
        self.ended = Some(status);
        if !status.success() {
            self.shared_memory.remove();
        }
        self.lease.remove_server(&self.data_dir)?;
        self.socket_folder = None;
        self.keeper = None;
        Ok(Stopped { clean: clean && status.success() })
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
                self.ended = Some(status);
                self.lease.remove_server(&self.data_dir)?;
                let log = self.log_tail(LOG_LINES);
                return Err(ServerError::DidNotStart { build: self.build.clone(), status: status.to_string(), log });
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match Session::connect(&self.endpoint, left.clamp(READY_POLL, SIGNAL_TIMEOUT)) {
                Ok(session) => {
                    session.close();
                    return Ok(());
                }
                Err(e) if left.is_zero() => {
                    let (build, log) = (self.build.clone(), self.log_tail(LOG_LINES));
                    return Err(ServerError::NotReady { build, seconds: timeout.as_secs(), cause: e.to_string(), log });
                }
                Err(e) if is_not_yet(&e) => std::thread::sleep(READY_POLL),
                Err(e) => return Err(e.into()),
            }
        }
    }

    fn threads(&self) -> Vec<u32> {
        let tasks = |pid: u32| fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        let pids = self.processes().into_iter().map(|p| p.pid);
        pids.flat_map(tasks).filter_map(|task| task.file_name().to_str()?.parse().ok()).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // What does not end stays in the lease, for the next start.
        let _ = self.stop_now();
    }
}

/// Whether an attempt to connect says that the server is still starting.
fn is_not_yet(error: &rqps_wire::WireError) -> bool {
    use rqps_wire::WireError;
    match error {
        WireError::Connect { .. } | WireError::Lost { .. } | WireError::Deadline { .. } => true,
        // cannot_connect_now
        _ => error.sql_state().is_some_and(|state| state.as_str() == "57P03"),
    }
}

fn raw(pid: u32) -> Option<Pid> {
    Pid::from_raw(pid.cast_signed())
}

fn check_port(listen: Listen) -> Result<()> {
    match listen {
        Listen::Tcp { port } if TcpListener::bind((TCP_HOST, port)).is_err() => {
            Err(ServerError::PortInUse { host: TCP_HOST.to_owned(), port })
        }
        _ => Ok(()),
    }
}

/// A folder that only the server's account can enter, short enough for a socket's path.
fn socket_folder(account: Account, lease: &Lease) -> Result<LeasedFolder> {
    let folder = lease.folder(&std::env::temp_dir(), "s", 0o700)?;
    account.own_path(folder.path())?;
    account.check_can_enter(folder.path(), "TMPDIR")?;
    let socket = folder.path().join(format!(".s.PGSQL.{SOCKET_PORT}"));
    if socket.as_os_str().len() > SOCKET_PATH_MAX {
        return Err(ServerError::SocketPathTooLong { path: socket, limit: SOCKET_PATH_MAX });
    }
    Ok(folder)
}

fn endpoint(listen: Listen, socket_folder: &Path) -> Endpoint {
    let transport = match listen {
        Listen::Socket => Transport::Unix { directory: socket_folder.to_owned(), port: SOCKET_PORT },
        Listen::Tcp { port } => Transport::Tcp { host: TCP_HOST.to_owned(), port },
    };
    Endpoint {
        engine: Protocol::Postgres,
        transport,
        user: cluster::USER.to_owned(),
        password: None,
        database: cluster::DATABASE.to_owned(),
        options: Vec::new(),
    }
}

/// Writes the configuration beside the one that initdb wrote, which is read first and never changed.
fn write_config(launch: &Launch<'_>, data_dir: &Path, socket_folder: &Path) -> Result<PathBuf> {
    let path = data_dir.join(CONFIG_FILE);
    let (addresses, port) = match launch.listen {
        Listen::Socket => ("", SOCKET_PORT),
        Listen::Tcp { port } => (TCP_HOST, port),
    };
    let own = format!(
        "include 'postgresql.conf'\n\
         listen_addresses = '{addresses}'\nport = {port}\n\
         unix_socket_directories = '{}'\nunix_socket_permissions = 0700\n\
         log_destination = 'stderr'\nlogging_collector = off\nlog_line_prefix = '%m [%p] '\n\
         log_timezone = 'UTC'\ntimezone = 'UTC'\n",
        socket_folder.display(),
    );
    fs::write(&path, own + &launch.configuration.text()).map_err(ServerError::at("write", &path))?;
    launch.account.own_path(&path)?;
    Ok(path)
}

fn open_log(path: &Path) -> Result<(File, u64)> {
    let file = File::options().create(true).append(true).open(path).map_err(ServerError::at("open", path))?;
    let start = file.metadata().map_err(ServerError::at("look at", path))?.len();
    Ok((file, start))
}

fn log_tail(path: &Path, start: u64, lines: usize) -> Vec<String> {
    const TAIL_BYTES: u64 = 64 << 10;
    let read = || {
        let mut file = File::open(path)?;
        let from = file.metadata()?.len().saturating_sub(TAIL_BYTES).max(start);
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok::<_, std::io::Error>(String::from_utf8_lossy(&bytes).into_owned())
    };
    let text = read().unwrap_or_default();
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].iter().map(|line| (*line).to_owned()).collect()
}
