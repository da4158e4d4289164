//! Host and server while a test runs, one row about each second: what shows checkpoints, vacuums and stalls in time.
//!
//! In: the way to a server, what stores its tables, its data folder. Out: [`MonitorRow`]s at whole seconds since the
//! beginning.
//! One thread reads the host and makes the rows; another reads the server in a session of its own and fills in what it
//! answers within the second, so that a server that is slow, frozen or gone leaves rows without numbers, but no gap.
//! A few statements a second are all it takes; they read what the server knows of itself and never the tables.
//!
//! What this costs is part of what is measured, alike for all builds: 1 to 3 ms of CPU a second in a server, less than
//! 1 ms in the client. Counters in rows are totals as the server has them; `checkpoints` alone counts from the
//! beginning.

use crate::counters::Counters;
use crate::engine::MonitorQueries;
use crate::host::HostMeter;
use crate::probe::{Probe, Subject};
use rqps_model::sample::MonitorRow;
use rqps_model::{Part, Sample, StorageEngine, part};
use rqps_wire::{Endpoint, Session};
use rustix::net::{Shutdown, shutdown};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long a connection may take. After the end a thread that still connects is left to itself for so long.
const CONNECT_PATIENCE: Duration = Duration::from_secs(1);

/// At the end: how long a query under way may go on, and then how long its thread may take to leave.
const LEAVE_PATIENCE: Duration = Duration::from_millis(50);

/// Runs until its end; dropped, it ends without rows.
#[derive(Debug)]
pub struct Monitor {
    shared: Arc<Shared>,
    rows: Option<JoinHandle<()>>,
}

impl Monitor {
    /// Begins to monitor a server and the host with the device of its data folder. A server that cannot be reached is
    /// tried again each second.
    pub fn begin(endpoint: &Endpoint, storage: Option<StorageEngine>, data_folder: &Path) -> Monitor {
        let begun = Instant::now();
        let shared = Arc::new(Shared::default());
        let host = HostMeter::open(data_folder).ok();
        let for_rows = Arc::clone(&shared);
        let rows = std::thread::spawn(move || keep_rows(&for_rows, host, begun));
        let (for_queries, endpoint) = (Arc::clone(&shared), endpoint.clone());
        // Never joined: it may hang in a connection. What it does last is to say that it leaves.
        std::thread::spawn(move || {
            keep_reading(&for_queries, &endpoint, MonitorQueries::of(endpoint.protocol(), storage));
            for_queries.lock().has_left = true;
            for_queries.changed.notify_all();
        });
        Monitor { shared, rows: Some(rows) }
    }

    /// The rows so far; what the server answers within the second may still come into the last one.
    pub fn rows(&self) -> Vec<MonitorRow> {
        self.shared.lock().rows.clone()
    }

    /// Ends, within 100 ms whatever the server does, with all rows.
    pub fn end(mut self) -> Vec<MonitorRow> {
        self.stop();
        std::mem::take(&mut self.shared.lock().rows)
    }

    fn stop(&mut self) {
        self.shared.lock().is_over = true;
        self.shared.changed.notify_all();
        if let Some(rows) = self.rows.take() {
            // A thread that panicked has said so already; its rows are there.
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

impl Drop for Monitor {
    fn drop(&mut self) {
        if self.rows.is_some() {
            self.stop();
        }
    }
}

/// Rows of the time in which clients work. Meant for tests that one treatment runs alone: where builds alternate in
/// slices, what it costs would fall to whichever build runs.
#[derive(Debug, Default)]
pub struct MonitorProbe {
    monitor: Option<Monitor>,
    rows: Vec<MonitorRow>,
}

impl Probe for MonitorProbe {
    fn start(&mut self, server: &Subject<'_>) {
        self.monitor = Some(Monitor::begin(server.endpoint, server.storage, server.data_folder));
    }

    fn stop(&mut self, _server: &Subject<'_>) {
        self.rows.extend(self.monitor.take().map(Monitor::end).unwrap_or_default());
    }

    fn end(&mut self, _server: Option<&Subject<'_>>, _sample: &mut Sample) -> Vec<Part> {
        self.rows.extend(self.monitor.take().map(Monitor::end).unwrap_or_default());
        vec![Part::lines(part::MONITOR, &self.rows)]
    }
}

/// What the two threads and the monitor share.
#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    is_over: bool,
    /// Whether the thread with the session has let go of it.
    has_left: bool,
    rows: Vec<MonitorRow>,
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

    /// Waits for a row after the first `seen`, and returns how many there are; `None` at the end.
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
        let row = MonitorRow { second: elapsed.as_secs_f64(), host: used, server: Counters::new() };
        shared.lock().rows.push(row);
        shared.changed.notify_all();
        // Seconds that were slept through, as by a machine that stood still, are in the host's use of this row.
        due = Duration::from_secs(elapsed.as_secs() + 1);
    }
}

/// Reads the server's numbers once for each row, until the end.
fn keep_reading(shared: &Shared, endpoint: &Endpoint, mut queries: MonitorQueries) {
    let mut session = connect(shared, endpoint);
    // What the first reading costs more, and what later ones are compared with, belongs to no row.
    if session.as_mut().is_some_and(|session| queries.read(session).is_err()) {
        forget(shared, &mut session);
    }
    let mut seen = 0;
    while let Some(rows) = shared.next_row(seen) {
        seen = rows;
        if session.is_none() {
            session = connect(shared, endpoint);
        }
        match session.as_mut().map(|session| queries.read(session)) {
            Some(Ok(numbers)) => {
                let mut state = shared.lock();
                // Rows that came while it kept us waiting were not answered, nor was the one before.
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

/// A session whose waits the monitor's end can end; it has no deadline, since a stalled server is what we want to see.
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

#[cfg(test)]
mod tests;
