//! A running server for a test: its own, or one that it shares with the other tests of the program.
//!
//! In: a [`Wanted`]. Out: endpoints, rows, its log, its processes. A server of its own can be killed, frozen and
//! started again on the same data; on a shared one a test has a database of its own and leaves everything else as it
//! is. It must not know what is tested.

use crate::guard::{Duty, Guard, make_folder};
use crate::master::Master;
use crate::{PATIENCE, Wanted, command_line};
use rqps_machine::Account;
use rqps_machine::proctree::{self, ProcessId};
use rqps_machine::shared_memory::SharedMemory;
use rqps_model::Engine;
use rqps_model::facts::BuildFacts;
use rqps_server::login;
use rqps_wire::{Endpoint, Session, Target, WireError};
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// A database of a running server, which is gone when its last user is dropped, or when the process that started it
/// ends.
#[derive(Debug)]
pub struct LiveServer {
    running: Arc<Running>,
    database: String,
}

#[derive(Debug)]
struct Running {
    build: BuildFacts,
    port: Option<u16>,
    process: ProcessId,
    /// What a killed server leaves behind.
    shared_memory: SharedMemory,
    /// What was killed, and may still be ending.
    killed: Mutex<Vec<ProcessId>>,
    guard: Guard,
}

impl LiveServer {
    /// Makes a server with the empty database `sbtest`, and starts it.
    pub fn start(wanted: &Wanted) -> LiveServer {
        let account = Account::choose();
        let master = Master::of(&wanted.word(), account);
        let master = master.get().expect("just made");
        let build = master.build.clone();
        let folder = make_folder(account);
        let port = wanted.is_on_loopback.then(free_port);
        let command = command_line::command(&build, &folder, port, account, &wanted.options);
        let duty = Duty { command: Some(&command), end: command_line::end(build.engine) };
        let mut guard = Guard::over(folder, account, &duty);
        master.copy_to(&guard.folder().join("data"));
        for (path, text) in &wanted.files {
            let path = guard.folder().join(path);
            account.write_file(&path, text).unwrap();
        }
        let process = guard.start();
        let shared_memory = SharedMemory::default();
        let mut running = Running { build, port, process, shared_memory, killed: Mutex::default(), guard };
        running.wait_ready();
        let database = running.endpoint().database;
        LiveServer { running: Arc::new(running), database }
    }

    /// A new, empty database on the server of this process for all tests that want the same and change nothing outside
    /// of their database.
    pub fn shared(wanted: &Wanted) -> LiveServer {
        type Servers = BTreeMap<String, Arc<OnceLock<Arc<Running>>>>;
        // Never dropped, and gone all the same when the process ends.
        static SERVERS: Mutex<Servers> = Mutex::new(BTreeMap::new());
        static DATABASES: AtomicU32 = AtomicU32::new(1);
        let key = format!("{} {wanted:?}", wanted.word());
        let server = Arc::clone(SERVERS.lock().unwrap().entry(key).or_default());
        let running = Arc::clone(server.get_or_init(|| LiveServer::start(wanted).running));
        let database = format!("test{}", DATABASES.fetch_add(1, Ordering::Relaxed));
        let mut session = Session::connect(&running.endpoint(), PATIENCE).unwrap();
        session.execute(&format!("create database {database}")).unwrap();
        LiveServer { running, database }
    }

    /// Starts it again on the same data after it was killed, once nothing of it uses its shared memory any more.
    pub fn start_again(&mut self) {
        let running = Arc::get_mut(&mut self.running).expect("a server of its own");
        let killed = running.killed.get_mut().unwrap();
        assert_eq!(proctree::wait_gone(killed, PATIENCE), [], "killed, and not gone");
        running.process = running.guard.start();
        running.wait_ready();
    }

    /// What it runs.
    pub fn build(&self) -> &BuildFacts {
        &self.running.build
    }

    /// Its engine.
    pub fn engine(&self) -> Engine {
        self.running.build.engine
    }

    /// Its own folder, which holds its data folder and its socket.
    pub fn folder(&self) -> &Path {
        self.running.guard.folder()
    }

    /// Its data folder.
    pub fn data_dir(&self) -> PathBuf {
        self.folder().join("data")
    }

    /// The port that it listens on, if it was asked to.
    pub fn port(&self) -> Option<u16> {
        self.running.port
    }

    /// What the server has logged so far.
    pub fn log(&self) -> String {
        self.running.guard.log()
    }

    /// The Unix socket, as a user who may do everything and has no password.
    pub fn endpoint(&self) -> Endpoint {
        Endpoint { database: self.database.clone(), ..self.running.endpoint() }
    }

    /// The same with the server's version, and the engine's own choice of what stores tables.
    pub fn target(&self) -> Target {
        let storage = self.engine().storage_engines().first().copied();
        Target { endpoint: self.endpoint(), version: self.build().version.clone(), storage }
    }

    /// The same with an option for the session.
    pub fn endpoint_with(&self, name: &str, value: &str) -> Endpoint {
        Endpoint { options: vec![(name.into(), value.into())], ..self.endpoint() }
    }

    /// The same user on loopback, where the server was asked to listen.
    pub fn loopback(&self) -> Endpoint {
        let port = self.port().expect("a server that was wanted on loopback");
        let endpoint = login::endpoint(self.engine(), command_line::loopback(port));
        Endpoint { database: self.database.clone(), ..endpoint }
    }

    /// A session of that user.
    pub fn session(&self) -> Session {
        Session::connect(&self.endpoint(), PATIENCE).unwrap()
    }

    /// The rows of a query, as text with columns joined by a blank.
    pub fn ask(&self, sql: &str) -> Vec<String> {
        let table = self.session().query(sql).unwrap();
        let text = |row: &Vec<Option<String>>| {
            row.iter().map(|value| value.as_deref().unwrap_or("NULL")).collect::<Vec<_>>().join(" ")
        };
        table.rows.iter().map(text).collect()
    }

    /// The one number that a query asks for.
    pub fn number(&self, sql: &str) -> u64 {
        self.ask(sql)[0].parse().unwrap()
    }

    /// Its processes, the main process first; none when that has ended.
    pub fn processes(&self) -> Vec<ProcessId> {
        proctree::tree(self.running.process)
    }

    /// The pids of [`LiveServer::processes`].
    pub fn pids(&self) -> Vec<u32> {
        self.processes().iter().map(|process| process.pid).collect()
    }

    /// Sends a signal to its main process.
    pub fn signal(&self, signal: Signal) {
        assert!(self.running.process.signal(signal), "the server has ended:\n{}", self.log());
    }

    /// Sends a signal to all its processes, the main process first.
    pub fn signal_all(&self, signal: Signal) {
        let processes = self.processes();
        for process in &processes {
            // A session's process may have ended meanwhile.
            process.signal(signal);
        }
        if signal == Signal::KILL {
            self.running.killed.lock().unwrap().extend(processes);
        }
    }

    /// Kills its main process without mercy; the others notice when they next look.
    pub fn kill(&self) {
        self.kill_first(1);
    }

    /// Kills all its processes without mercy.
    pub fn kill_all(&self) {
        self.kill_first(usize::MAX);
    }

    fn kill_first(&self, count: usize) {
        // With a stop pending it gets no more children: none escapes us.
        self.signal(Signal::STOP);
        let processes = self.processes();
        for process in processes.iter().take(count) {
            process.signal(Signal::KILL);
        }
        self.running.killed.lock().unwrap().extend(processes);
    }
}

impl Running {
    fn wait_ready(&mut self) {
        let deadline = Instant::now() + PATIENCE;
        while let Err(error) = Session::connect(&self.endpoint(), PATIENCE) {
            // The killed one may have been connected to just before its socket closed.
            let is_not_yet = error.is_not_ready() || matches!(error, WireError::Lost { .. });
            assert!(
                is_not_yet && self.process.is_alive() && Instant::now() < deadline,
                "the server does not start: {error}\n{}",
                self.guard.log()
            );
            std::thread::sleep(Duration::from_millis(10));
        }
        self.shared_memory.add(SharedMemory::of(&proctree::tree(self.process)));
    }

    fn endpoint(&self) -> Endpoint {
        let engine = self.build.engine;
        login::endpoint(engine, command_line::socket(engine, self.guard.folder(), self.port))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.guard.end();
        if !self.killed.get_mut().unwrap().is_empty() {
            self.shared_memory.remove();
        }
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}
