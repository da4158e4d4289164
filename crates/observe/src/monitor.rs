//! Host and server while a test runs, one row about each second: what shows checkpoints, vacuums and stalls in time.
//!
//! In: the way to a server, what stores its tables, its data folder, and when its slices begin and end. Out:
//! [`MonitorRow`]s at whole seconds of the server's own time, with what the host did in it: where servers take turns,
//! the time of the others is left out.
//! One thread reads the host and makes the rows; another reads the server in a session of its own and fills in what it
//! answers within the second, so that a server that is slow, frozen or gone leaves rows without numbers, but no gap.
//! A few statements a second are all it takes; they read what the server knows of itself and never the tables.
//!
//! What this costs is part of what is measured, alike for all builds: 1 to 3 ms of CPU a second in a server, less than
//! 1 ms in the client. Counters in rows are totals as the server has them; `checkpoints` alone counts from the
//! beginning.

use crate::engine::MonitorQueries;
use crate::host::{HostMeter, HostReading};
use crate::probe::{Probe, Subject};
use crate::tally::Tally;
use rqps_model::sample::{HostUse, MonitorRow};
use rqps_model::{Part, Sample, StorageEngine, part};
use rqps_wire::{Endpoint, Session};
use rustix::net::{Shutdown, shutdown};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

mod rows;

use rows::Rows;

/// How long a connection may take. After the end a thread that still connects is left to itself for so long.
const CONNECT_PATIENCE: Duration = Duration::from_secs(1);

/// While another server has its turn: when to look again.
const IDLE_LOOK: Duration = Duration::from_millis(100);

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
    /// tried again each second. `planned` are statements, by name, whose planning is timed where the server tells that.
    pub fn begin(
        endpoint: &Endpoint,
        storage: Option<StorageEngine>,
        data_folder: &Path,
        planned: &[(&'static str, String)],
    ) -> Monitor {
        let shared = Arc::new(Shared::default());
        shared.lock().own.host = HostMeter::open(data_folder).ok();
        shared.lock().own.go_on();
        let for_rows = Arc::clone(&shared);
        let rows = std::thread::spawn(move || keep_rows(&for_rows));
        let (for_queries, endpoint) = (Arc::clone(&shared), endpoint.clone());
        let queries = MonitorQueries::of(endpoint.protocol(), storage, planned);
        // Never joined: it may hang in a connection. What it does last is to say that it leaves.
        std::thread::spawn(move || {
            keep_reading(&for_queries, &endpoint, queries);
            for_queries.lock().has_left = true;
            for_queries.changed.notify_all();
        });
        Monitor { shared, rows: Some(rows) }
    }

    /// The server's slice begins.
    fn enter(&self) {
        self.shared.lock().own.go_on();
    }

    /// And ends.
    fn leave(&self) {
        self.shared.lock().own.stand_still();
    }

    /// The rows so far; what the server answers within the second may still come into the last one.
    pub fn rows(&self) -> Vec<MonitorRow> {
        self.shared.lock().rows.whole()
    }

    /// Ends, within 100 ms whatever the server does, with all rows.
    pub fn end(mut self) -> Vec<MonitorRow> {
        self.stop();
        std::mem::take(&mut self.shared.lock().rows).whole()
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

/// Rows of the time in which clients work.
#[derive(Debug, Default)]
pub struct MonitorProbe {
    planned: Vec<(&'static str, String)>,
    monitor: Option<Monitor>,
    rows: Vec<MonitorRow>,
}

impl MonitorProbe {
    /// With the planning of these statements, by name, where the server tells that.
    pub fn with_planning_of(planned: Vec<(&'static str, String)>) -> MonitorProbe {
        MonitorProbe { planned, ..MonitorProbe::default() }
    }
}

impl Probe for MonitorProbe {
    fn start(&mut self, server: &Subject<'_>) {
        let monitor = Monitor::begin(server.endpoint, server.storage, server.data_folder, &self.planned);
        monitor.leave();
        self.monitor = Some(monitor);
    }

    fn enter(&mut self) {
        self.monitor.iter().for_each(Monitor::enter);
    }

    fn leave(&mut self) {
        self.monitor.iter().for_each(Monitor::leave);
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
    rows: Rows,
    own: OwnTime,
    /// That of the session in use.
    socket: Option<OwnedFd>,
}

/// The server's own time, and what the host did in it.
#[derive(Debug, Default)]
struct OwnTime {
    host: Option<HostMeter>,
    /// While it goes: since when, and where the host stood then.
    since: Option<(Instant, Option<HostReading>)>,
    before: Duration,
    /// Since the last row.
    used: HostUse,
}

impl OwnTime {
    fn go_on(&mut self) {
        if self.since.is_none() {
            let reading = self.host.as_mut().map(HostMeter::read);
            self.since = Some((reading.map_or_else(Instant::now, |reading| reading.at()), reading));
        }
    }

    fn stand_still(&mut self) {
        let reading = self.host.as_mut().map(HostMeter::read);
        self.pass(reading);
        self.since = None;
    }

    /// Adds what has passed until a reading.
    fn pass(&mut self, reading: Option<HostReading>) {
        let Some((since, from)) = self.since else { return };
        if let Some((reading, from)) = reading.zip(from) {
            self.used.add(&reading.since(&from));
        }
        let now = reading.map_or_else(Instant::now, |reading| reading.at());
        self.before += now.saturating_duration_since(since);
        self.since = Some((now, reading));
    }

    fn elapsed(&self) -> Duration {
        self.before + self.since.map_or(Duration::ZERO, |(since, _)| since.elapsed())
    }

    /// What has passed since the last row, for the next: its second, and what the host did.
    fn row(&mut self) -> (f64, HostUse) {
        let reading = self.host.as_mut().map(HostMeter::read_full);
        match self.since {
            Some(_) => self.pass(reading),
            None => self.used.memory_available_bytes = reading.map_or(0, |now| now.memory_available_bytes()),
        }
        (self.before.as_secs_f64(), std::mem::take(&mut self.used))
    }
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

/// Makes a row at each whole second of the server's own time.
fn keep_rows(shared: &Shared) {
    let mut due = Duration::from_secs(1);
    loop {
        let wait = match &shared.lock().own {
            own if own.since.is_some() => due.saturating_sub(own.elapsed()),
            _ => IDLE_LOOK,
        };
        let mut state = shared.wait(wait, |state| state.is_over);
        // A second that is over has its row even if the end came first.
        if state.own.elapsed() >= due {
            // The moment of the row is that of the reading: a busy machine may have taken the CPU from us just before
            // it. Seconds that were slept through, as by a machine that stood still, are in this row.
            let (second, host) = state.own.row();
            due = Duration::from_secs(second as u64 + 1);
            state.rows.push(second, host);
            shared.changed.notify_all();
        } else if state.is_over {
            return;
        }
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
                    true => state.rows.answer(&numbers),
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
