//! What a server's sessions wait for, asked again and again while a test runs.
//!
//! In: a session to the server that serves nothing else, when the server's slices begin and end, and in the end the
//! spans in which its work was counted. Out: [`WaitFacts`]. A thread of its own asks, at moments of its own clock that
//! keep no step with slices; a moment that falls into another server's slice is left out, so that a server that stands
//! still is never asked. Answers that were not asked for and given within one counted span are told apart.
//!
//! It costs the server some hundredths of a CPU, and is for rounds that give no verdict.

use crate::engine::WaitQueries;
use crate::seen::Seen;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use rqps_model::waits::{Found, WaitFacts};
use rqps_wire::{Protocol, Session, WireError};
use rustix::net::{Shutdown, shutdown};
use rustix::time::{ClockId, clock_gettime};
use std::collections::BTreeMap;
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::Thread;
use std::time::Duration;

/// At the end: how long a query under way may go on.
const LEAVE_PATIENCE: Duration = Duration::from_secs(1);

/// Times between moments are drawn from this seed, the same on all builds.
const SEED: u64 = 1;

/// Asks until its end; dropped, it ends without an answer.
#[derive(Debug)]
pub struct WaitSampler {
    shared: Arc<Shared>,
    thread: Thread,
    socket: Option<OwnedFd>,
    answers: Receiver<Answers>,
}

#[derive(Debug, Default)]
struct Shared {
    /// When the server's slice began; 0 while it is not at work.
    entered_ns: AtomicU64,
    is_over: AtomicBool,
    moments: AtomicU64,
}

/// All that a server answered.
#[derive(Debug, Default)]
struct Answers {
    /// What was seen, by number.
    known: BTreeMap<Seen, usize>,
    /// When it was asked until when it had answered, and what it saw.
    moments: Vec<(Range<u64>, Vec<usize>)>,
    /// Why it was not asked any more.
    failure: Option<String>,
}

impl WaitSampler {
    /// Prepares to ask through this session. It asks nothing before the server's first slice begins.
    pub fn start(mut session: Session, protocol: Protocol) -> Result<WaitSampler, WireError> {
        let queries = WaitQueries::of(protocol, &mut session)?;
        let socket = session.as_fd().try_clone_to_owned().ok();
        let shared = Arc::new(Shared::default());
        let (give, answers) = channel();
        let for_thread = Arc::clone(&shared);
        let thread = std::thread::spawn(move || keep_asking(session, queries, &for_thread, &give));
        Ok(WaitSampler { shared, thread: thread.thread().clone(), socket, answers })
    }

    /// The server's slice begins.
    pub fn enter(&self) {
        self.shared.entered_ns.store(monotonic_ns(), Ordering::Relaxed);
        self.thread.unpark();
    }

    /// And ends.
    pub fn leave(&self) {
        self.shared.entered_ns.store(0, Ordering::Relaxed);
    }

    /// At how many moments the server has answered so far.
    pub fn moments(&self) -> u64 {
        self.shared.moments.load(Ordering::Relaxed)
    }

    /// Ends. What was seen within the spans of counted time, and why it was not asked to the end, if so.
    pub fn end(self, counted: &[Range<u64>]) -> (WaitFacts, Option<String>) {
        match self.stop() {
            Some(answers) => (facts(&answers, counted), answers.failure),
            None => (WaitFacts::default(), Some("the server did not answer".to_owned())),
        }
    }

    /// A server that hangs keeps the thread in its query until the socket is shut.
    fn stop(&self) -> Option<Answers> {
        self.shared.is_over.store(true, Ordering::Relaxed);
        self.thread.unpark();
        match self.answers.recv_timeout(LEAVE_PATIENCE) {
            Ok(answers) => Some(answers),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => {
                // One that the server closed needs no shutting down.
                self.socket.iter().for_each(|socket| _ = shutdown(socket, Shutdown::Both));
                self.answers.recv_timeout(LEAVE_PATIENCE).ok()
            }
        }
    }
}

/// A test that ended before its time leaves no thread behind.
impl Drop for WaitSampler {
    fn drop(&mut self) {
        if !self.shared.is_over.load(Ordering::Relaxed) {
            self.stop();
        }
    }
}

fn keep_asking(mut session: Session, mut queries: WaitQueries, shared: &Shared, give: &Sender<Answers>) {
    let mut answers = Answers::default();
    let mut gaps = Gaps::of(queries.gaps());
    let mut due_ns = 0;
    while !shared.is_over.load(Ordering::Relaxed) {
        let entered_ns = shared.entered_ns.load(Ordering::Relaxed);
        if entered_ns == 0 {
            std::thread::park();
            continue;
        }
        let now_ns = monotonic_ns();
        if due_ns < entered_ns {
            // It fell into a time in which the server was not at work.
            due_ns = due_ns.max(entered_ns - gaps.longest_ns()) + gaps.next_ns();
        } else if now_ns < due_ns {
            std::thread::park_timeout(Duration::from_nanos(due_ns - now_ns));
        } else {
            match queries.read(&mut session) {
                Ok(seen) => {
                    answers.add(now_ns..monotonic_ns(), seen);
                    shared.moments.fetch_add(1, Ordering::Relaxed);
                }
                Err(error) => {
                    answers.failure = Some(error.to_string());
                    break;
                }
            }
            due_ns = monotonic_ns() + gaps.next_ns();
        }
    }
    drop(session);
    // Nobody waits for them any more where the test was broken off.
    let _ = give.send(answers);
}

/// Times between moments.
struct Gaps {
    range: Range<Duration>,
    random: Pcg64,
}

impl Gaps {
    fn of(range: Range<Duration>) -> Gaps {
        Gaps { range, random: Pcg64::seed_from_u64(SEED) }
    }

    fn longest_ns(&self) -> u64 {
        self.range.end.as_nanos() as u64
    }

    fn next_ns(&mut self) -> u64 {
        let drawn = f64::from(self.random.next_u32()) / (f64::from(u32::MAX) + 1.0);
        let width = self.range.end - self.range.start;
        (self.range.start + width.mul_f64(drawn)).as_nanos() as u64
    }
}

impl Answers {
    fn add(&mut self, time: Range<u64>, seen: Vec<Seen>) {
        let number = |seen: Seen| {
            let next = self.known.len();
            *self.known.entry(seen).or_insert(next)
        };
        let numbers = seen.into_iter().map(number).collect();
        self.moments.push((time, numbers));
    }
}

fn facts(answers: &Answers, counted: &[Range<u64>]) -> WaitFacts {
    let mut counts = vec![0; answers.known.len()];
    let (mut moments, mut uncounted) = (0, 0);
    for (time, seen) in &answers.moments {
        match is_within_one(counted, time) {
            true => {
                moments += 1;
                seen.iter().for_each(|&number| counts[number] += 1);
            }
            false => uncounted += 1,
        }
    }
    let found = answers.known.iter().map(|((who, doing, what), &number)| Found {
        who: *who,
        doing: *doing,
        what: what.clone(),
        count: counts[number],
    });
    WaitFacts {
        moments,
        uncounted,
        counted_ns: counted.iter().map(|span| span.end - span.start).sum(),
        found: found.filter(|found| found.count > 0).collect(),
    }
}

/// Whether a time lies in a single one of the spans, which are in order.
fn is_within_one(spans: &[Range<u64>], time: &Range<u64>) -> bool {
    let after = spans.partition_point(|span| span.start <= time.start);
    after > 0 && time.end <= spans[after - 1].end
}

/// Nanoseconds of the clock by which slices are dated.
fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use rqps_model::waits::{Doing, Who};

    fn waiting(what: &str) -> Seen {
        (Who::Session, Doing::Waiting, what.to_owned())
    }

    #[test]
    fn only_what_was_asked_and_answered_within_one_counted_span_counts() {
        let mut answers = Answers::default();
        let moments =
            [(90..95, "before"), (100..110, "lock"), (150..190, "lock"), (190..310, "between"), (310..320, "io")];
        moments.into_iter().for_each(|(time, what)| answers.add(time, vec![waiting(what), waiting("lock")]));
        let facts = facts(&answers, &[100..200, 300..400]);
        let found: Vec<(&str, u64)> = facts.found.iter().map(|found| (found.what.as_str(), found.count)).collect();
        assert_eq!(found, [("io", 1), ("lock", 5)]);
        assert_eq!((facts.moments, facts.uncounted, facts.counted_ns), (3, 2, 200));
    }

    #[test]
    fn moments_keep_no_step_with_slices() {
        let mut gaps = Gaps::of(Duration::from_millis(5)..Duration::from_millis(15));
        // Of slices of 10 ms, in which place of the slice the moments fall.
        let mut time_ns = 0;
        let mut tenths = [0; 10];
        for _ in 0..1000 {
            let gap_ns = gaps.next_ns();
            assert!((5_000_000..15_000_000).contains(&gap_ns));
            time_ns += gap_ns;
            tenths[(time_ns % 10_000_000 / 1_000_000) as usize] += 1;
        }
        assert!(tenths.iter().all(|count| (50..200).contains(count)), "{tenths:?}");
    }
}
