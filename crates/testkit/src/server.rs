//! A running server, asked and ill-treated by tests.
//!
//! In: a [`Wanted`]. Out: endpoints, answers, its log, its processes; it is killed, frozen and started again on the
//! same data as the test likes. It must not know what is tested.

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
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// A running server; gone when dropped, or when the process that started it ends.
#[derive(Debug)]
pub struct LiveServer {
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
            std::fs::write(&path, text).unwrap();
            account.own_path(&path).unwrap();
        }
        let process = guard.start();
        let shared_memory = SharedMemory::default();
        let mut server = LiveServer { build, port, process, shared_memory, killed: Mutex::default(), guard };
        server.wait_ready();
        server
    }

    /// The server of this process for all tests that want the same and end nothing: each takes a database of its own.
    pub fn shared(wanted: &Wanted) -> Arc<LiveServer> {
        type Servers = BTreeMap<String, Arc<OnceLock<Arc<LiveServer>>>>;
        // Never dropped, and gone all the same when the process ends.
        static SERVERS: Mutex<Servers> = Mutex::new(BTreeMap::new());
        let key = format!("{} {wanted:?}", wanted.word());
        let server = Arc::clone(SERVERS.lock().unwrap().entry(key).or_default());
        Arc::clone(server.get_or_init(|| Arc::new(LiveServer::start(wanted))))
    }

    /// The way to a new, empty database of this name.
    pub fn database(&self, name: &str) -> Endpoint {
        self.session().execute(&format!("create database {name}")).unwrap();
        Endpoint { database: name.into(), ..self.endpoint() }
    }

    /// Starts it again on the same data after it was killed, once nothing of it uses its shared memory any more.
    pub fn start_again(&mut self) {
        let killed = self.killed.get_mut().unwrap();
        assert_eq!(proctree::wait_gone(killed, PATIENCE), [], "killed, and not gone");
        self.process = self.guard.start();
        self.wait_ready();
    }

    fn wait_ready(&mut self) {
        let deadline = Instant::now() + PATIENCE;
        while let Err(error) = Session::connect(&self.endpoint(), PATIENCE) {
            // The killed one may have been connected to just before its socket closed.
            let is_not_yet = error.is_not_ready() || matches!(error, WireError::Lost { .. });
            assert!(
                is_not_yet && self.process.is_alive() && Instant::now() < deadline,
                "the server does not start: {error}\n{}",
                self.log()
            );
            std::thread::sleep(Duration::from_millis(10));
        }
        self.shared_memory.add(SharedMemory::of(&self.processes()));
    }

    /// What it runs.
    pub fn build(&self) -> &BuildFacts {
        &self.build
    }

    /// Its engine.
    pub fn engine(&self) -> Engine {
        self.build.engine
    }

    /// Its own folder, which holds its data folder and its socket.
    pub fn folder(&self) -> &Path {
        self.guard.folder()
    }

    /// Its data folder.
    pub fn data_dir(&self) -> PathBuf {
        self.folder().join("data")
    }

    /// The port that it listens on, if it was asked to.
    pub fn port(&self) -> Option<u16> {
        self.port
    }

    /// What the server has logged so far.
    pub fn log(&self) -> String {
        self.guard.log()
    }

    /// The Unix socket, as a user who may do everything and has no password.
    pub fn endpoint(&self) -> Endpoint {
        login::endpoint(self.engine(), command_line::socket(self.engine(), self.folder(), self.port))
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
        login::endpoint(self.engine(), command_line::loopback(self.port.expect("a server that was wanted on loopback")))
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
        proctree::tree(self.process)
    }

    /// The pids of [`LiveServer::processes`].
    pub fn pids(&self) -> Vec<u32> {
        self.processes().iter().map(|process| process.pid).collect()
    }

    /// Sends a signal to its main process.
    pub fn signal(&self, signal: Signal) {
        assert!(self.process.signal(signal), "the server has ended:\n{}", self.log());
    }

    /// Sends a signal to all its processes, the main process first.
    pub fn signal_all(&self, signal: Signal) {
        for process in self.processes() {
            // A session's process may have ended meanwhile.
            process.signal(signal);
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
        self.killed.lock().unwrap().extend(processes);
    }
}

impl Drop for LiveServer {
    fn drop(&mut self) {
        // Those that a test has left frozen would not heed their end.
        self.signal_all(Signal::CONT);
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
