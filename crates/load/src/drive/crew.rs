//! The threads of the client: each holds the sessions of its clients to every arm, all do the same visit together.
//!
//! In: commands of the leader, which is the calling thread and drives sessions itself. Out: reports when a visit is
//! over. They meet between visits only; with one thread there is none to meet. Client i belongs to thread i mod
//! threads.

use super::arrival::Pace;
use super::batch::BatchScheduling;
use super::lane::{Around, Lane};
use super::pinning::{Pinned, thread_cpu_ns};
use super::placing::ClientCpus;
use super::port::{Lost, WirePort, clock_reading_ns, monotonic_ns};
use super::schedule::Visit;
use super::seconds::Senders;
use super::tally::{Counted, Tally};
use super::watchdog::Watchdog;
use crate::error::LoadError;
use crate::program::Workload;
use rqps_model::plan::Arrival;
use rqps_model::sample::SessionPlacement;
use rqps_wire::Endpoint;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Scope, ScopedJoinHandle};

/// What all threads share and none changes.
pub(crate) struct Shared<'a, 'w, W> {
    pub(crate) workload: &'w W,
    /// The names of the kinds of statements and of events.
    pub(crate) kinds: &'a [String],
    pub(crate) events: &'a [String],
    pub(crate) arms: &'a [Endpoint],
    pub(crate) clients: u32,
    pub(crate) threads: usize,
    pub(crate) cpus: ClientCpus<'a>,
    pub(crate) arrival: Arrival,
    /// Whether anything goes by a plan, so that timers must be exact.
    pub(crate) has_plan: bool,
    pub(crate) seed: u64,
    pub(crate) stop: &'a AtomicBool,
    pub(crate) watchdog: &'a Watchdog,
    /// Where rows of seconds go.
    pub(crate) rows: Senders,
}

/// What the leader commands.
#[derive(Debug, Clone, Copy)]
enum Command {
    /// To the CPUs of the client.
    Pin,
    /// New sessions to an arm.
    Connect { arm: usize },
    /// A visit to an arm.
    Visit { arm: usize, visit: Visit },
    /// Answers are long: wait for the whole of them.
    BatchScheduling,
    /// Counting starts: plans of arrivals start anew.
    Reset,
    /// Sessions to an arm burn so much before each statement.
    Plant { arm: usize, held_ns: [f64; 2] },
    /// The last due time that counts, in an arm's own time.
    Skip { arm: usize, own_ns: u64 },
}

/// What a thread did.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// Why the thread is not on the client's CPUs.
    pub(crate) unpinned: Option<LoadError>,
    /// Why the arm is lost.
    pub(crate) lost: Option<Lost>,
    /// When the last session was done, or paused.
    pub(crate) left_ns: u64,
    /// Whether no session has anything to do: the visit was not paused.
    pub(crate) is_idle: bool,
    /// What the visit counted.
    pub(crate) counted: Counted,
    /// CPU time used for it.
    pub(crate) cpu_ns: u64,
    /// Events that ended, and the time they took.
    pub(crate) events: u64,
    pub(crate) events_ns: u64,
    /// Statements that were answered, and the bytes of the answers.
    pub(crate) operations: u64,
    pub(crate) bytes: u64,
    /// Threads that are in the batch scheduling class.
    pub(crate) batch_scheduled: usize,
    /// Where new sessions are, if they were placed.
    pub(crate) placement: Option<SessionPlacement>,
}

impl Report {
    fn join(mut self, other: Report) -> Report {
        self.unpinned = self.unpinned.or(other.unpinned);
        self.lost = match (self.lost, other.lost) {
            (Some(own), Some(other)) => Some(own.and(&other)),
            (own, other) => own.or(other),
        };
        self.left_ns = self.left_ns.max(other.left_ns);
        self.is_idle &= other.is_idle;
        self.counted += other.counted;
        self.cpu_ns += other.cpu_ns;
        self.events += other.events;
        self.events_ns += other.events_ns;
        self.operations += other.operations;
        self.bytes += other.bytes;
        self.batch_scheduled += other.batch_scheduled;
        self.placement = SessionPlacement::join(self.placement, other.placement);
        self
    }
}

/// One thread's sessions.
struct Worker<'a, 'w, W: Workload + 'w> {
    shared: &'a Shared<'a, 'w, W>,
    thread: usize,
    ports: Vec<Option<WirePort>>,
    lanes: Vec<Lane<W::Program<'w>>>,
    pinned: Option<Pinned>,
    batch_scheduling: Option<BatchScheduling>,
}

impl<'a, 'w, W: Workload> Worker<'a, 'w, W> {
    fn new(shared: &'a Shared<'a, 'w, W>, thread: usize) -> Worker<'a, 'w, W> {
        let sessions = shared.workload.sessions();
        let lanes = (0..shared.arms.len()).map(|arm| {
            let clients = (0..shared.clients).filter(|client| *client as usize % shared.threads == thread);
            let places = clients.flat_map(|client| (0..sessions).map(move |session| (client, session)));
            let programs = places.map(|(client, session)| (client, shared.workload.program(arm, client, session)));
            let pace = Pace::new(shared.arrival, shared.seed, shared.clients, shared.threads, thread);
            let (kinds, events) = (shared.kinds.len(), shared.events.len());
            Lane::new(programs, sessions, kinds, events, pace, shared.rows.of(arm, thread))
        });
        let ports = shared.arms.iter().map(|_| None).collect();
        Worker { shared, thread, ports, lanes: lanes.collect(), pinned: None, batch_scheduling: None }
    }

    fn execute(&mut self, command: Command, tick: &dyn Fn(u64)) -> Report {
        let cpu_ns = thread_cpu_ns();
        let mut report = Report::default();
        match command {
            Command::Pin => self.pin(&mut report),
            Command::Connect { arm } => match self.connect(arm) {
                Ok(placement) => report.placement = placement,
                Err(lost) => report.lost = Some(lost),
            },
            Command::Visit { arm, visit } => self.visit(arm, &visit, &mut report, tick),
            // A thread that may not be in that class serves as well, only at a higher cost.
            Command::BatchScheduling => self.batch_scheduling = BatchScheduling::of_this_thread().ok(),
            Command::Reset => {
                let Shared { arrival, seed, clients, threads, .. } = *self.shared;
                for lane in &mut self.lanes {
                    lane.pace = Pace::new(arrival, seed, clients, threads, self.thread);
                }
            }
            // Each thread asks its own CPU what the clock takes.
            Command::Plant { arm, held_ns } => self.lanes[arm].plant(held_ns, clock_reading_ns()),
            Command::Skip { arm, own_ns } => self.lanes[arm].skip_until(own_ns),
        }
        report.cpu_ns = thread_cpu_ns() - cpu_ns;
        report.batch_scheduled = usize::from(self.batch_scheduling.is_some());
        report
    }

    fn pin(&mut self, report: &mut Report) {
        match Pinned::to(self.shared.cpus.of_thread(self.thread), self.shared.has_plan) {
            Ok(pinned) => self.pinned = Some(pinned),
            Err(error) => report.unpinned = Some(error),
        }
    }

    fn connect(&mut self, arm: usize) -> Result<Option<SessionPlacement>, Lost> {
        let Shared { watchdog, arms, clients, cpus, .. } = *self.shared;
        watchdog.release(arm, self.thread);
        if let Some(port) = self.ports[arm].take() {
            cpus.closing(arm, self.thread);
            port.close();
        }
        let mut port = WirePort::connect(&arms[arm], self.lanes[arm].programs(), clients)?;
        watchdog
            .watch(arm, self.thread, port.sessions())
            .map_err(|error| Lost::in_doubt(format!("cannot watch the sessions: {error}; allow more open files")))?;
        let purposes = match self.shared.workload.purposes() {
            [] => &[""],
            purposes => purposes,
        };
        let sessions = port.sessions_mut().zip(purposes.iter().copied().cycle());
        let placement = cpus.opened(arm, self.thread, sessions);
        self.ports[arm] = Some(port);
        Ok(placement)
    }

    fn visit(&mut self, arm: usize, visit: &Visit, report: &mut Report, tick: &dyn Fn(u64)) {
        let Some(port) = &mut self.ports[arm] else { return };
        let Shared { kinds, seed, stop, .. } = *self.shared;
        let lane = &mut self.lanes[arm];
        port.set_clock(visit.behind_ns);
        let totals =
            |tally: &Tally| [tally.events_total, tally.events_total_ns, tally.operations_total, tally.bytes_total];
        let before = totals(&lane.tally);
        match lane.visit(port, visit, &Around { seed, kinds, stop, tick }) {
            Ok(left) => {
                (report.left_ns, report.is_idle, report.counted) = (left.at_ns, left.is_idle, left.counted);
            }
            Err(lost) => {
                report.lost = Some(lost);
                report.left_ns = monotonic_ns() - visit.behind_ns;
                self.shared.watchdog.release(arm, self.thread);
                self.ports[arm] = None;
            }
        }
        let after = totals(&lane.tally);
        [report.events, report.events_ns, report.operations, report.bytes] =
            std::array::from_fn(|index| after[index] - before[index]);
    }

    /// The sessions are dropped without waiting for the servers, which may be frozen by now.
    fn into_parts(self) -> Parts<'w, W> {
        for arm in 0..self.ports.len() {
            self.shared.watchdog.release(arm, self.thread);
        }
        self.lanes.into_iter().map(Lane::into_parts).collect()
    }
}

/// By arm: what a thread counted, and its programs.
type Parts<'w, W> = Vec<(Tally, Vec<<W as Workload>::Program<'w>>)>;

/// An arm's tallies by thread, and its programs.
pub(crate) type ArmParts<P> = (Vec<Tally>, Vec<P>);

/// The leader with its helpers.
pub(crate) struct Crew<'scope, 'a, 'w, W: Workload + 'w> {
    leader: Worker<'a, 'w, W>,
    helpers: Vec<Helper<'scope, 'w, W>>,
}

struct Helper<'scope, 'w, W: Workload + 'w> {
    commands: SyncSender<Command>,
    reports: Receiver<Report>,
    thread: ScopedJoinHandle<'scope, Parts<'w, W>>,
}

/// Why a send or receive between the threads cannot fail.
const ALIVE: &str = "a thread of the client lives until it is told to end, unless it has panicked";

impl<'scope, 'a: 'scope, 'w: 'scope, W: Workload> Crew<'scope, 'a, 'w, W> {
    /// Starts the threads; the caller's is the first.
    pub(crate) fn start<'env>(
        scope: &'scope Scope<'scope, 'env>,
        shared: &'a Shared<'a, 'w, W>,
    ) -> Result<Crew<'scope, 'a, 'w, W>, LoadError> {
        let mut helpers = Vec::new();
        for thread in 1..shared.threads {
            // Of each there is one at a time, and the room for it is there from the start. A channel without a bound
            // allocates as it goes, in pieces that the other thread gives back: memory grew by two pages a minute.
            let (commands, inbox) = sync_channel(1);
            let (outbox, reports) = sync_channel(1);
            let thread = std::thread::Builder::new()
                .name(format!("rqps-load-{thread}"))
                .spawn_scoped(scope, move || work(shared, thread, &inbox, &outbox))
                .map_err(|error| LoadError::System { doing: "starting a thread of the client", error })?;
            helpers.push(Helper { commands, reports, thread });
        }
        Ok(Crew { leader: Worker::new(shared, 0), helpers })
    }
}

impl<'w, W: Workload> Crew<'_, '_, 'w, W> {
    fn all(&mut self, command: Command, tick: &dyn Fn(u64)) -> Report {
        for helper in &self.helpers {
            helper.commands.send(command).expect(ALIVE);
        }
        let own = self.leader.execute(command, tick);
        self.helpers.iter().map(|helper| helper.reports.recv().expect(ALIVE)).fold(own, Report::join)
    }

    /// Moves all threads to the CPUs of the client.
    pub(crate) fn pin(&mut self) -> Result<(), LoadError> {
        self.all(Command::Pin, &|_| ()).unpinned.map_or(Ok(()), Err)
    }

    /// New sessions to an arm on all threads.
    pub(crate) fn connect(&mut self, arm: usize) -> Report {
        self.all(Command::Connect { arm }, &|_| ())
    }

    /// One visit on all threads; `tick` is called on this one about once a second.
    pub(crate) fn visit(&mut self, arm: usize, visit: Visit, tick: &dyn Fn(u64)) -> Report {
        self.all(Command::Visit { arm, visit }, tick)
    }

    /// From now on every thread waits for whole answers; whether all of them may.
    pub(crate) fn schedule_in_batches(&mut self) -> bool {
        self.all(Command::BatchScheduling, &|_| ()).batch_scheduled > self.helpers.len()
    }

    /// Counting starts.
    pub(crate) fn reset(&mut self) {
        self.all(Command::Reset, &|_| ());
    }

    /// From now on each session to an arm is held up by that much for each of its statements, in cycles with short
    /// burns and with long ones.
    pub(crate) fn plant(&mut self, arm: usize, held_ns: [f64; 2]) {
        self.all(Command::Plant { arm, held_ns }, &|_| ());
    }

    /// What was due before that point of an arm's own time and not sent is skipped.
    pub(crate) fn skip(&mut self, arm: usize, own_ns: u64) {
        self.all(Command::Skip { arm, own_ns }, &|_| ());
    }

    /// Ends all sessions; for each arm, what each thread counted, and its programs.
    pub(crate) fn end(self) -> Vec<ArmParts<W::Program<'w>>> {
        let mut arms: Vec<ArmParts<W::Program<'w>>> =
            self.leader.into_parts().into_iter().map(|(tally, programs)| (vec![tally], programs)).collect();
        for helper in self.helpers {
            drop(helper.commands);
            let parts = helper.thread.join().expect(ALIVE);
            for (arm, (tally, programs)) in arms.iter_mut().zip(parts) {
                arm.0.push(tally);
                arm.1.extend(programs);
            }
        }
        arms
    }
}

fn work<'w, W: Workload>(
    shared: &Shared<'_, 'w, W>,
    thread: usize,
    inbox: &Receiver<Command>,
    outbox: &SyncSender<Report>,
) -> Parts<'w, W> {
    let mut worker = Worker::new(shared, thread);
    while let Ok(command) = inbox.recv() {
        if outbox.send(worker.execute(command, &|_| ())).is_err() {
            break;
        }
    }
    worker.into_parts()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::seconds::Seconds;
    use crate::drive::{ClientCpus, RowSink};
    use crate::program::sysbench::Statements;
    use rqps_model::plan::DataShape;
    use rqps_suites::Suite;

    #[test]
    fn commands_and_reports_take_no_memory() {
        let suite = Suite::sysbench();
        let data = DataShape { tables: 1, rows: 10 };
        let workload = Statements::compile(suite.test("scan").unwrap(), data, &[]).unwrap();
        let (watchdog, stop) = (Watchdog::default(), AtomicBool::new(false));
        let shared = Shared {
            workload: &workload,
            kinds: &[],
            events: &[],
            arms: &[],
            clients: 2,
            threads: 2,
            cpus: ClientCpus::default(),
            arrival: Arrival::Closed,
            has_plan: false,
            seed: 1,
            stop: &stop,
            watchdog: &watchdog,
            rows: Seconds::new(0, 2, None, RowSink::NONE).0,
        };
        std::thread::scope(|scope| {
            let mut crew = Crew::start(scope, &shared).unwrap();
            let mut allocations = |commands| {
                let commanded = || (0..commands).for_each(|_| crew.reset());
                allocation_counter::measure(commanded).count_total
            };
            // What a thread needs once to wait for another, it takes when it first has to wait.
            let fewest = (0..10).map(|_| allocations(1000)).min();
            assert_eq!(fewest, Some(0));
            crew.end();
        });
    }
}
