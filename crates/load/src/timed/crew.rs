//! The threads of the client: each holds the sessions of its clients to every arm, all do the same visit together.
//!
//! In: orders of the leader, which is the calling thread and drives sessions itself. Out: reports when a visit is drained. They
//! meet between visits only; with one thread there is nobody to meet. Client i belongs to thread i mod threads.

use super::event::Program;
use super::lane::Lane;
use super::pacing::Pace;
use super::patience::Patience;
use super::pinning::{Pinned, thread_cpu_ns};
use super::port::{Lost, WirePort};
use super::schedule::Visit;
use super::tally::Tally;
use super::watchdog::Watchdog;
use crate::error::LoadError;
use rqps_model::plan::Arrival;
use rqps_wire::Endpoint;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Scope, ScopedJoinHandle};

/// What all threads share and none changes.
pub(crate) struct Shared<'a> {
    /// One for each arm.
    pub(crate) programs: &'a [Program],
    pub(crate) arms: &'a [Endpoint],
    pub(crate) clients: u32,
    pub(crate) threads: usize,
    pub(crate) cpus: &'a [usize],
    pub(crate) arrival: Arrival,
    pub(crate) seed: u64,
    pub(crate) stop: &'a AtomicBool,
    pub(crate) watchdog: &'a Watchdog,
}

/// What the leader asks for.
#[derive(Debug, Clone, Copy)]
enum Order {
    /// New sessions to an arm.
    Connect { arm: usize },
    /// A visit to an arm.
    Visit { arm: usize, visit: Visit },
    /// Answers are long: wait for the whole of them.
    BePatient,
    /// Counting starts: plans of arrivals start anew.
    Reset,
    /// The last due time that counts, in an arm's own time.
    Skip { arm: usize, own_ns: u64 },
}

/// What a thread did.
#[derive(Debug, Clone, Default)]
pub(crate) struct Report {
    /// Why the arm is lost.
    pub(crate) lost: Option<Lost>,
    /// When the last session was done.
    pub(crate) drained_ns: u64,
    /// CPU time used for it.
    pub(crate) cpu_ns: u64,
    /// Events that ended, and the time they took.
    pub(crate) events: u64,
    pub(crate) events_ns: u64,
    /// Statements that were answered, and the bytes of the answers.
    pub(crate) operations: u64,
    pub(crate) bytes: u64,
    /// Threads that are patient now.
    pub(crate) patient: usize,
}

impl Report {
    fn join(mut self, other: Report) -> Report {
        self.lost = self.lost.or(other.lost);
        self.drained_ns = self.drained_ns.max(other.drained_ns);
        self.cpu_ns += other.cpu_ns;
        self.events += other.events;
        self.events_ns += other.events_ns;
        self.operations += other.operations;
        self.bytes += other.bytes;
        self.patient += other.patient;
        self
    }
}

/// One thread's sessions.
struct Worker<'a> {
    shared: &'a Shared<'a>,
    thread: usize,
    ports: Vec<Option<WirePort>>,
    lanes: Vec<Lane>,
    patience: Option<Patience>,
}

impl<'a> Worker<'a> {
    fn new(shared: &'a Shared<'a>, thread: usize) -> Worker<'a> {
        let clients = || (0..shared.clients).filter(|client| *client as usize % shared.threads == thread);
        let lanes = shared.programs.iter().map(|program| {
            let pace = Pace::new(shared.arrival, shared.seed, shared.clients, shared.threads, thread);
            Lane::new(clients(), program, pace)
        });
        let ports = shared.arms.iter().map(|_| None).collect();
        Worker { shared, thread, ports, lanes: lanes.collect(), patience: None }
    }

    fn obey(&mut self, order: Order) -> Report {
        let cpu_ns = thread_cpu_ns();
        let mut report = Report::default();
        match order {
            Order::Connect { arm } => report.lost = self.connect(arm).err(),
            Order::Visit { arm, visit } => self.visit(arm, &visit, &mut report),
            // A thread that may not be patient serves as well, only dearer.
            Order::BePatient => self.patience = Patience::of_this_thread().ok(),
            Order::Reset => {
                let Shared { arrival, seed, clients, threads, .. } = *self.shared;
                for lane in &mut self.lanes {
                    lane.pace = Pace::new(arrival, seed, clients, threads, self.thread);
                }
            }
            Order::Skip { arm, own_ns } => self.lanes[arm].skip_until(own_ns),
        }
        report.cpu_ns = thread_cpu_ns() - cpu_ns;
        report.patient = usize::from(self.patience.is_some());
        report
    }

    fn connect(&mut self, arm: usize) -> Result<(), Lost> {
        let Shared { watchdog, arms, programs, clients, .. } = *self.shared;
        watchdog.release(arm, self.thread);
        if let Some(port) = self.ports[arm].take() {
            port.close();
        }
        let port = WirePort::connect(&arms[arm], &programs[arm], self.lanes[arm].sessions(), clients)?;
        watchdog
            .watch(arm, self.thread, port.sessions())
            .map_err(|error| Lost(format!("cannot watch the sessions: {error}; allow more open files")))?;
        self.ports[arm] = Some(port);
        Ok(())
    }

    fn visit(&mut self, arm: usize, visit: &Visit, report: &mut Report) {
        let Some(port) = &mut self.ports[arm] else { return };
        let Shared { programs, seed, stop, .. } = *self.shared;
        let lane = &mut self.lanes[arm];
        let totals =
            |tally: &Tally| [tally.events_total, tally.events_total_ns, tally.operations_total, tally.bytes_total];
        let before = totals(&lane.tally);
        match lane.visit(port, &programs[arm], seed, visit, stop) {
            Ok(drained_ns) => report.drained_ns = drained_ns,
            Err(lost) => {
                report.lost = Some(lost);
                self.shared.watchdog.release(arm, self.thread);
                self.ports[arm] = None;
            }
        }
        let after = totals(&lane.tally);
        [report.events, report.events_ns, report.operations, report.bytes] =
            std::array::from_fn(|index| after[index] - before[index]);
    }

    /// The sessions are dropped without waiting for the servers, which may be frozen by now.
    fn into_tallies(self) -> Vec<Tally> {
        for arm in 0..self.ports.len() {
            self.shared.watchdog.release(arm, self.thread);
        }
        self.lanes.into_iter().map(|lane| lane.tally).collect()
    }
}

/// The leader with its companions.
pub(crate) struct Crew<'scope, 'a> {
    leader: Worker<'a>,
    companions: Vec<Companion<'scope>>,
    _pinned: Pinned,
}

struct Companion<'scope> {
    orders: Sender<Order>,
    reports: Receiver<Report>,
    thread: ScopedJoinHandle<'scope, Vec<Tally>>,
}

/// Why a send or receive between the threads cannot fail.
const ALIVE: &str = "a thread of the client lives until it is told to end, unless it has panicked";

impl<'scope, 'a: 'scope> Crew<'scope, 'a> {
    /// Starts the threads; the caller's is the first.
    pub(crate) fn start<'env>(
        scope: &'scope Scope<'scope, 'env>,
        shared: &'a Shared<'a>,
    ) -> Result<Crew<'scope, 'a>, LoadError> {
        let is_open = shared.arrival != Arrival::Closed;
        let pinned = Pinned::to(shared.cpus, is_open)?;
        let mut companions = Vec::new();
        for thread in 1..shared.threads {
            let (orders, inbox) = channel();
            let (outbox, reports) = channel();
            let thread = std::thread::Builder::new()
                .name(format!("rqps-load-{thread}"))
                .spawn_scoped(scope, move || accompany(shared, thread, is_open, &inbox, &outbox))
                .map_err(|error| LoadError::System { doing: "starting a thread of the client", error })?;
            companions.push(Companion { orders, reports, thread });
        }
        Ok(Crew { leader: Worker::new(shared, 0), companions, _pinned: pinned })
    }
}

impl Crew<'_, '_> {
    fn all(&mut self, order: Order) -> Report {
        for companion in &self.companions {
            companion.orders.send(order).expect(ALIVE);
        }
        let own = self.leader.obey(order);
        self.companions.iter().map(|companion| companion.reports.recv().expect(ALIVE)).fold(own, Report::join)
    }

    /// New sessions to an arm on all threads.
    pub(crate) fn connect(&mut self, arm: usize) -> Report {
        self.all(Order::Connect { arm })
    }

    /// One visit on all threads.
    pub(crate) fn visit(&mut self, arm: usize, visit: Visit) -> Report {
        self.all(Order::Visit { arm, visit })
    }

    /// From now on every thread waits for whole answers; whether all of them may.
    pub(crate) fn be_patient(&mut self) -> bool {
        self.all(Order::BePatient).patient > self.companions.len()
    }

    /// Counting starts.
    pub(crate) fn reset(&mut self) {
        self.all(Order::Reset);
    }

    /// What was due before that point of an arm's own time and not sent is skipped.
    pub(crate) fn skip(&mut self, arm: usize, own_ns: u64) {
        self.all(Order::Skip { arm, own_ns });
    }

    /// Ends all sessions; for each arm, what each thread counted.
    pub(crate) fn end(self) -> Vec<Vec<Tally>> {
        let mut arms: Vec<Vec<Tally>> = self.leader.into_tallies().into_iter().map(|tally| vec![tally]).collect();
        for companion in self.companions {
            drop(companion.orders);
            let tallies = companion.thread.join().expect(ALIVE);
            for (arm, tally) in arms.iter_mut().zip(tallies) {
                arm.push(tally);
            }
        }
        arms
    }
}

fn accompany(
    shared: &Shared<'_>,
    thread: usize,
    is_open: bool,
    inbox: &Receiver<Order>,
    outbox: &Sender<Report>,
) -> Vec<Tally> {
    // The leader was moved to the same CPUs before; should this fail for a companion, it still inherits them.
    let _pinned = Pinned::to(shared.cpus, is_open);
    let mut worker = Worker::new(shared, thread);
    while let Ok(order) = inbox.recv() {
        if outbox.send(worker.obey(order)).is_err() {
            break;
        }
    }
    worker.into_tallies()
}
