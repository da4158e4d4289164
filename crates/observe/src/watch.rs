//! Host and server while a test runs, one row about each second: what shows checkpoints, vacuums and stalls in time.
//!
//! In: the way to a server, what stores its tables, its data folder. Out: [`WatchRow`]s at whole seconds since the beginning.
//! One thread reads the host and makes the rows; another asks the server in a session of its own and fills in what it
//! answers within the second, so that a server that is slow, frozen or gone leaves rows without numbers, but no gap.
//! A few statements a second are all it asks; they read what the server knows of itself and never the tables.
//!
//! What this costs is part of what is measured, alike for all builds: 1 to 3 ms of CPU a second in a server, less than 1 ms
//! in the client. Counters in rows are totals as the server has them; `checkpoints` alone counts from the beginning.

mod mysql;
mod postgres;

use crate::counters::Counters;
use crate::host::HostMeter;
use rqps_model::StorageEngine;
use rqps_model::sample::WatchRow;
use rqps_wire::{Endpoint, Protocol, Session, WireError};
use rustix::net::{Shutdown, shutdown};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long a connection may take. After the end a thread that still connects is left to itself for so long.
const CONNECT_PATIENCE: Duration = Duration::from_secs(1);

/// At the end: how long a question under way may go on, and then how long its thread may take to leave.
const LEAVE_PATIENCE: Duration = Duration::from_millis(50);

/// Watches until its end; dropped, it ends without telling.
#[derive(Debug)]
pub struct Watcher {
    shared: Arc<Shared>,
    rows: Option<JoinHandle<()>>,
}

impl Watcher {
    /// Begins to watch a server and the host with the device of its data folder. A server that cannot be reached is tried
    /// again each second.
    pub fn begin(endpoint: &Endpoint, storage: Option<StorageEngine>, data_folder: &Path) -> Watcher {
        let begun = Instant::now();
        let shared = Arc::new(Shared::default());
        let host = HostMeter::open(data_folder).ok();
        let for_rows = Arc::clone(&shared);
        let rows = std::thread::spawn(move || keep_rows(&for_rows, host, begun));
        let (for_questions, endpoint) = (Arc::clone(&shared), endpoint.clone());
        // Never joined: it may hang in a connection. What it does last is to say that it leaves.
        std::thread::spawn(move || {
            keep_asking(&for_questions, &endpoint, Questions::of(endpoint.protocol(), storage));
            for_questions.lock().has_left = true;
            for_questions.changed.notify_all();
        });
        Watcher { shared, rows: Some(rows) }
    }

    /// The rows so far; what the server answers within the second may still come into the last one.
    pub fn rows(&self) -> Vec<WatchRow> {
        self.shared.lock().rows.clone()
    }

    /// Ends, within 100 ms whatever the server does, and tells all rows.
    pub fn end(mut self) -> Vec<WatchRow> {
        self.stop();
        std::mem::take(&mut self.shared.lock().rows)
    }

    fn stop(&mut self) {
        self.shared.lock().is_over = true;
        self.shared.changed.notify_all();
        if let Some(rows) = self.rows.take() {
            // A thread that panicked has told so already; its rows are there.
            let _ = rows.join();
        }
        if !self.shared.wait_until_left()
            && let Some(socket) = &self.shared.lock().socket
        {
            // One that the server closed needs no shutting down.
            let _ = shutdown(socket, Shutdown::Both);
        }
        self.shared.wait_until_left();
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        if self.rows.is_some() {
            self.stop();
        }
    }
}

/// What the two threads and the watcher share.
#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    is_over: bool,
    /// Whether the thread that asks has let go of its session.
    has_left: bool,
    rows: Vec<WatchRow>,
    /// That of the session in use.
    socket: Option<OwnedFd>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `is_met`, at most so long, and returns the state as it is then.
    fn wait(&self, limit: Duration, is_met: impl Fn(&State) -> bool) -> MutexGuard<'_, State> {
        let waited = self.changed.wait_timeout_while(self.lock(), limit, |state| !is_met(state));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn wait_until_left(&self) -> bool {
        self.wait(LEAVE_PATIENCE, |state| state.has_left).has_left
    }

    /// Waits for a row after the first `seen`, and tells how many there are; `None` at the end.
    fn next_row(&self, seen: usize) -> Option<usize> {
        let mut state = self.lock();
        while !state.is_over && state.rows.len() <= seen {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        (!state.is_over).then(|| state.rows.len())
    }
}

/// Makes a row at each whole second.
fn keep_rows(shared: &Shared, mut host: Option<HostMeter>, begun: Instant) {
    let mut before = host.as_mut().map(HostMeter::read_full);
    let mut due = Duration::from_secs(1);
    loop {
        // A second that is over has its row even if the end came first.
        if shared.wait(due.saturating_sub(begun.elapsed()), |state| state.is_over).is_over && begun.elapsed() < due {
            return;
        }
        let elapsed = begun.elapsed();
        if elapsed < due {
            continue;
        }
        let now = host.as_mut().map(HostMeter::read_full);
        // The moment of the reading: a busy machine may have taken the CPU from us just before it.
        let elapsed = now.map_or(elapsed, |now| now.at().saturating_duration_since(begun));
        let used = now.zip(before).map(|(now, before)| now.since(&before)).unwrap_or_default();
        before = now;
        let row = WatchRow { second: elapsed.as_secs_f64(), host: used, server: Counters::new() };
        shared.lock().rows.push(row);
        shared.changed.notify_all();
        // Seconds that were slept through, as by a machine that stood still, are in the host's use of this row.
        due = Duration::from_secs(elapsed.as_secs() + 1);
    }
}

/// Asks the server once for each row, until the end.
fn keep_asking(shared: &Shared, endpoint: &Endpoint, mut questions: Questions) {
    let mut session = connect(shared, endpoint);
    // What the first question costs more, and what later answers are compared with, belongs to no row.
    if session.as_mut().is_some_and(|session| questions.ask(session).is_err()) {
        forget(shared, &mut session);
    }
    let mut seen = 0;
    while let Some(rows) = shared.next_row(seen) {
        seen = rows;
        if session.is_none() {
            session = connect(shared, endpoint);
        }
        match session.as_mut().map(|session| questions.ask(session)) {
            Some(Ok(numbers)) => {
                let mut state = shared.lock();
                // Rows that came while it kept us waiting were not answered, nor was the one that asked.
                match state.rows.len() == seen {
                    true => state.rows[seen - 1].server = numbers,
                    false => seen = state.rows.len(),
                }
            }
            Some(Err(_)) => forget(shared, &mut session),
            None => {}
        }
    }
    forget(shared, &mut session);
}

/// A session whose waits the watcher's end can end; it has no deadline, since a stalled server is what we want to see.
fn connect(shared: &Shared, endpoint: &Endpoint) -> Option<Session> {
    let session = Session::connect(endpoint, CONNECT_PATIENCE).ok()?;
    let socket = session.as_fd().try_clone_to_owned().ok()?;
    let mut state = shared.lock();
    state.socket = Some(socket);
    (!state.is_over).then_some(session)
}

fn forget(shared: &Shared, session: &mut Option<Session>) {
    *session = None;
    shared.lock().socket = None;
}

/// What is asked, by what stores the tables.
#[derive(Debug)]
enum Questions {
    Postgres(postgres::Questions),
    Innodb,
    Rocksdb,
}

impl Questions {
    fn of(protocol: Protocol, storage: Option<StorageEngine>) -> Questions {
        match (protocol, storage) {
            (Protocol::Postgres, _) => Questions::Postgres(postgres::Questions::default()),
            (Protocol::Mysql, Some(StorageEngine::Rocksdb)) => Questions::Rocksdb,
            (Protocol::Mysql, _) => Questions::Innodb,
        }
    }

    /// What this server can tell now; what it refuses is not there.
    fn ask(&mut self, session: &mut Session) -> Result<Counters, WireError> {
        match self {
            Questions::Postgres(questions) => questions.ask(session),
            Questions::Innodb => mysql::innodb(session),
            Questions::Rocksdb => mysql::rocksdb(session),
        }
    }
}

#[cfg(test)]
mod tests;
