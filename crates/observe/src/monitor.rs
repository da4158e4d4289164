//! Host and server while a test runs, one row about each second: what shows checkpoints, vacuums and stalls in time.
//!
//! In: the way to a server, what stores its tables, its data folder, and when its slices begin and end. Out:
//! [`MonitorRow`]s at whole seconds of the server's own time, with what the host did in it: where servers take turns,
//! the time of the others is left out. Each row is handed over once the next one begins, and none is kept: a test of
//! an hour has thousands.
//! One thread reads the host and makes the rows; another reads the server in a session of its own and fills in what it
//! answers within the second, so that a server that is slow, frozen or gone leaves rows without numbers, but no gap.
//! A few statements a second are all it takes; they read what the server knows of itself and never the tables.
//!
//! What this costs is part of what is measured, alike for all builds: 1 to 3 ms of CPU a second in a server, less than
//! 1 ms in the client. Counters in rows are totals as the server has them; `checkpoints` alone counts from the
//! beginning.

use crate::counters::Counters;
use crate::engine::MonitorQueries;
use crate::host::{HostMeter, HostReading};
use crate::probe::{Probe, Subject};
use crate::tally::Tally;
use rqps_model::sample::{HostUse, MonitorRow};
use rqps_model::{Part, Sample, StorageEngine};
use rqps_wire::{Endpoint, Session};
use rustix::net::{Shutdown, shutdown};
use std::fmt;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long a connection may take. After the end a thread that still connects is left to itself for so long.
const CONNECT_PATIENCE: Duration = Duration::from_secs(1);

/// While another server has its turn: when to look again.
const IDLE_LOOK: Duration = Duration::from_millis(100);

/// At the end: how long a query under way may go on, and then how long its thread may take to leave.
const LEAVE_PATIENCE: Duration = Duration::from_millis(50);

/// Takes each row once it is whole, on a thread of the monitor.
#[derive(Clone)]
pub struct MonitorSink(Arc<dyn Fn(&MonitorRow) + Send + Sync>);

impl MonitorSink {
    /// Calls `give`, which may write a file.
    pub fn to(give: impl Fn(&MonitorRow) + Send + Sync + 'static) -> MonitorSink {
        MonitorSink(Arc::new(give))
    }

    fn give(&self, row: Option<MonitorRow>) {
        row.iter().for_each(|row| (self.0)(row));
    }
}

impl fmt::Debug for MonitorSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MonitorSink")
    }
}

/// Runs until it is dropped.
#[derive(Debug)]
pub struct Monitor {
    shared: Arc<Shared>,
    rows: Option<JoinHandle<()>>,
    sink: MonitorSink,
}

impl Monitor {
    /// Begins to monitor a server and the host with the device of its data folder. A server that cannot be reached is
    /// tried again each second. `planned` are statements, by name, whose planning is timed where the server tells that.
    pub fn begin(
        endpoint: &Endpoint,
        storage: Option<StorageEngine>,
        data_folder: &Path,
        planned: &[(&'static str, String)],
        sink: MonitorSink,
    ) -> Monitor {
        let shared = Arc::new(Shared::default());
        shared.lock().own.host = HostMeter::open(data_folder).ok();
        shared.lock().own.go_on();
        let (for_rows, for_whole) = (Arc::clone(&shared), sink.clone());
        let rows = std::thread::spawn(move || make_rows(&for_rows, &for_whole));
        let (for_queries, endpoint) = (Arc::clone(&shared), endpoint.clone());
        let queries = MonitorQueries::of(endpoint.protocol(), storage, planned);
        // Never joined: it may hang in a connection. What it does last is to say that it leaves.
        std::thread::spawn(move || {
            keep_reading(&for_queries, &endpoint, queries);
            for_queries.lock().has_left = true;
            for_queries.changed.notify_all();
        });
        Monitor { shared, rows: Some(rows), sink }
    }

    /// The server's slice begins.
    fn enter(&self) {
        self.shared.lock().own.go_on();
    }

    /// And ends.
    fn leave(&self) {
        self.shared.lock().own.stand_still();
    }

    /// Ends, within 100 ms whatever the server does; all rows have been handed over then.
    pub fn end(self) {}
}

impl Drop for Monitor {
    fn drop(&mut self) {
        self.shared.lock().is_over = true;
        self.shared.changed.notify_all();
        if let Some(rows) = self.rows.take() {
            // A thread that panicked has said so already.
            let _ = rows.join();
        }
        if !self.shared.wait_until_left()
            && let Some(socket) = &self.shared.lock().socket
        {
            // One that the server closed needs no shutting down.
            let _ = shutdown(socket, Shutdown::Both);
        }
        self.shared.wait_until_left();
        let last = self.shared.lock().last.row.take();
        self.sink.give(last);
    }
}

/// Rows of the time in which clients work.
#[derive(Debug)]
pub struct MonitorProbe {
    planned: Vec<(&'static str, String)>,
    sink: MonitorSink,
    monitor: Option<Monitor>,
}

impl MonitorProbe {
    /// With the planning of these statements, by name, where the server tells that.
    pub fn new(planned: Vec<(&'static str, String)>, sink: MonitorSink) -> MonitorProbe {
        MonitorProbe { planned, sink, monitor: None }
    }
}

impl Probe for MonitorProbe {
    fn start(&mut self, server: &Subject<'_>) {
        let Subject { endpoint, storage, data_folder, .. } = *server;
        let monitor = Monitor::begin(endpoint, storage, data_folder, &self.planned, self.sink.clone());
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
        self.monitor = None;
    }

    fn end(&mut self, _server: Option<&Subject<'_>>, _sample: &mut Sample) -> Vec<Part> {
        self.monitor = None;
        Vec::new()
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
    last: Last,
    own: OwnTime,
    /// That of the session in use.
    socket: Option<OwnedFd>,
}

/// The last row, into which the server's numbers may still come, and how many there were with it.
#[derive(Debug, Default)]
struct Last {
    row: Option<MonitorRow>,
    count: usize,
}

impl Last {
    /// Begins a row without numbers; the one before is whole.
    fn next(&mut self, second: f64, host: HostUse) -> Option<MonitorRow> {
        self.count += 1;
        self.row.replace(MonitorRow { second, host, server: Counters::new() })
    }

    /// The server's numbers of the last row.
    fn answer(&mut self, server: Counters) {
        if let Some(row) = &mut self.row {
            row.server = server;
        }
    }
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
        while !state.is_over && state.last.count <= seen {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        (!state.is_over).then_some(state.last.count)
    }
}

/// Makes a row at each whole second of the server's own time, and hands over the one before.
fn make_rows(shared: &Shared, sink: &MonitorSink) {
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
            let whole = state.last.next(second, host);
            shared.changed.notify_all();
            // Nobody waits for what is done with it.
            drop(state);
            sink.give(whole);
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
                match state.last.count == seen {
                    true => state.last.answer(numbers),
                    false => seen = state.last.count,
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
