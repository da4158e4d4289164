//! Hands over what arms did second by second while they run, so that a long run takes no more memory than a short one.
//!
//! In: the rows of each thread, as `intervals` sends them. Out: an arm's rows in order of time, of all threads
//! together and with those of seconds in which nothing ended, given to the caller on a thread of their own: it may
//! write a file, which must hold up neither the timed loop nor what lies between slices.

use super::intervals::{ROOM, Row, SECOND_NS};
use crate::program::EVENT;
use rqps_model::sample::SecondRow;
use std::collections::VecDeque;
use std::fmt;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

/// How often rows are handed over.
const PERIOD: Duration = Duration::from_secs(1);

/// Takes a row of an arm, which is given by its index.
type Give<'a> = dyn Fn(usize, &SecondRow) + Sync + 'a;

/// Takes the row of each second of an arm, or none.
#[derive(Clone, Copy)]
pub struct RowSink<'a>(Option<&'a Give<'a>>);

impl<'a> RowSink<'a> {
    /// Takes none, so that none is made.
    pub const NONE: RowSink<'static> = RowSink(None);

    /// Calls `give` on a thread of its own.
    pub fn to(give: &'a Give<'a>) -> RowSink<'a> {
        RowSink(Some(give))
    }
}

impl fmt::Debug for RowSink<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "RowSink" } else { "no RowSink" })
    }
}

/// Where threads send their rows.
#[derive(Debug)]
pub(crate) struct Senders {
    /// By arm and thread; empty where nobody takes rows.
    rows: Vec<Vec<SyncSender<Row>>>,
}

impl Senders {
    /// Where a thread sends the rows of an arm.
    pub(crate) fn of(&self, arm: usize, thread: usize) -> Option<SyncSender<Row>> {
        self.rows.get(arm).map(|threads| threads[thread].clone())
    }
}

/// Takes rows of threads and hands over those of arms.
pub(crate) struct Seconds<'a> {
    arms: Vec<ArmSeconds>,
    give: &'a Give<'a>,
}

impl<'a> Seconds<'a> {
    /// For so many arms and threads, if anybody takes rows. With `always_busy` so many sessions of an arm count as busy
    /// all the time.
    pub(crate) fn new(
        arms: usize,
        threads: usize,
        always_busy: Option<u32>,
        sink: RowSink<'a>,
    ) -> (Senders, Option<Seconds<'a>>) {
        let Some(give) = sink.0 else { return (Senders { rows: Vec::new() }, None) };
        let of_arm = |_| {
            let (rows, threads) = (0..threads).map(|_| sync_channel(ROOM)).unzip();
            (rows, ArmSeconds::new(threads, always_busy))
        };
        let (rows, arms) = (0..arms).map(of_arm).unzip();
        (Senders { rows }, Some(Seconds { arms, give }))
    }

    /// Hands over rows as they come, until the other end of `over` is dropped; by then threads have sent their last.
    pub(crate) fn run(mut self, over: &Receiver<()>) {
        let mut is_over = false;
        while !is_over {
            is_over = over.recv_timeout(PERIOD) == Err(RecvTimeoutError::Disconnected);
            self.hand_over(is_over);
        }
    }

    /// Hands over the rows that are whole; at the end, all.
    pub(crate) fn hand_over(&mut self, is_over: bool) {
        for (index, arm) in self.arms.iter_mut().enumerate() {
            arm.threads.iter_mut().for_each(ThreadRows::take);
            while let Some(row) = arm.next(is_over) {
                (self.give)(index, &row);
            }
        }
    }
}

/// The rows of a thread.
struct ThreadRows {
    sent: Receiver<Row>,
    /// Those that wait for other threads to come as far.
    waiting: VecDeque<Row>,
}

impl ThreadRows {
    fn take(&mut self) {
        self.waiting.extend(self.sent.try_iter());
    }
}

/// The rows of an arm.
struct ArmSeconds {
    threads: Vec<ThreadRows>,
    always_busy: Option<u32>,
    /// The end of the last row.
    before_ns: u64,
}

impl ArmSeconds {
    fn new(threads: Vec<Receiver<Row>>, always_busy: Option<u32>) -> ArmSeconds {
        let threads = threads.into_iter().map(|sent| ThreadRows { sent, waiting: VecDeque::new() }).collect();
        ArmSeconds { threads, always_busy, before_ns: 0 }
    }

    /// The next row that is whole: every thread has a later one, or none comes any more.
    fn next(&mut self, is_over: bool) -> Option<SecondRow> {
        if !is_over && self.threads.iter().any(|thread| thread.waiting.is_empty()) {
            return None;
        }
        let first = self.threads.iter().filter_map(|thread| thread.waiting.front()).min_by_key(|row| row.counted_ns)?;
        let (end_ns, wall_ns) = (first.counted_ns.min(self.before_ns + SECOND_NS), first.wall_ns);
        let is_of_it = |row: &mut Row| row.counted_ns == end_ns;
        let rows: Vec<Option<Row>> =
            self.threads.iter_mut().map(|thread| thread.waiting.pop_front_if(is_of_it)).collect();
        let busy_ns = self.always_busy.map(|sessions| u64::from(sessions) * end_ns.saturating_sub(self.before_ns));
        self.before_ns = end_ns;
        Some(joined(&rows, end_ns, wall_ns, busy_ns))
    }
}

/// One row of those of all threads. Quantiles are those of the first, which leads.
fn joined(threads: &[Option<Row>], end_ns: u64, wall_ns: u64, always_busy_ns: Option<u64>) -> SecondRow {
    let rows = || threads.iter().flatten();
    let sum = |number: fn(&Row) -> u64| rows().map(number).sum::<u64>();
    let leading = threads.first().copied().flatten();
    let [latency_ns_p50, latency_ns_p95, latency_ns_p99] = leading.unwrap_or_default().quantiles_ns.map(Some);
    SecondRow {
        second: end_ns as f64 / 1e9,
        wall_second: leading.map_or(wall_ns, |row| row.wall_ns) as f64 / 1e9,
        kind: EVENT.into(),
        client: None,
        operations: sum(|row| row.operations),
        rows: sum(|row| row.rows),
        busy_ns: always_busy_ns.unwrap_or_else(|| sum(|row| row.busy_ns)),
        errors: sum(|row| row.errors),
        retried: sum(|row| row.retried),
        latency_ns_p50,
        latency_ns_p95,
        latency_ns_p99,
        latency_ns_max: rows().map(|row| row.max_ns).max().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::super::intervals::Intervals;
    use super::*;
    use std::sync::Mutex;

    /// What two threads do: each event by its thread and second; and what was handed over before the end and after it.
    fn handed_over(events: &[(usize, f64)], end_s: f64, always_busy: Option<u32>) -> [Vec<SecondRow>; 2] {
        let given = Mutex::new(Vec::new());
        let give = |arm: usize, row: &SecondRow| given.lock().expect("whole").push((arm, row.clone()));
        let (senders, seconds) = Seconds::new(2, 2, always_busy, RowSink::to(&give));
        let mut seconds = seconds.expect("somebody takes rows");
        let mut threads = [0, 1].map(|thread| Intervals::new(senders.of(1, thread)));
        let ns = |seconds: f64| (seconds * 1e9) as u64;
        for (thread, at_s) in events {
            let row = threads[*thread].at(ns(*at_s), ns(2.0 * at_s));
            row.operations += 1;
            row.busy_ns += 5;
            threads[*thread].latency(1000 * (1 + *thread as u64));
        }
        seconds.hand_over(false);
        let before = std::mem::take(&mut *given.lock().expect("whole"));
        threads.into_iter().for_each(|thread| thread.finish(ns(end_s), ns(2.0 * end_s)));
        seconds.hand_over(true);
        let after = std::mem::take(&mut *given.lock().expect("whole"));
        [before, after].map(|rows| {
            let of_arm = |(arm, row): (usize, SecondRow)| {
                assert_eq!(arm, 1);
                row
            };
            rows.into_iter().map(of_arm).collect()
        })
    }

    fn operations(rows: &[SecondRow]) -> Vec<(f64, u64)> {
        rows.iter().map(|row| (row.second, row.operations)).collect()
    }

    #[test]
    fn rows_of_threads_are_joined_and_seconds_without_events_have_one() {
        let events = [(0, 0.5), (1, 0.7), (0, 1.5), (0, 2.5), (1, 5.5), (0, 6.1), (1, 6.2), (0, 6.3)];
        let [before, after] = handed_over(&events, 7.25, None);
        // Thread 0 may still send one of the fourth.
        assert_eq!(operations(&before), [(1.0, 2), (2.0, 1), (3.0, 1)]);
        assert_eq!(operations(&after), [(4.0, 0), (5.0, 0), (6.0, 1), (7.0, 3)]);
        assert_eq!(before[0].busy_ns, 10);
        assert_eq!((before[0].latency_ns_max, before[0].latency_ns_p50), (2000, Some(1000)));
        assert_eq!((after[2].latency_ns_max, after[2].latency_ns_p50), (2000, Some(0)), "quantiles are the leader's");
        // By the clock they end when that was seen.
        assert_eq!([&before[0], &before[2], &after[0]].map(|row| row.wall_second), [3.0, 12.2, 12.4]);
    }

    #[test]
    fn sessions_that_are_always_busy_are_so_for_the_length_of_a_row() {
        let [_, after] = handed_over(&[(0, 1.5), (1, 2.2)], 2.25, Some(10));
        assert_eq!(operations(&after), [(1.0, 0), (2.0, 1), (2.25, 1)]);
        assert_eq!(
            after.iter().map(|row| row.busy_ns).collect::<Vec<_>>(),
            [10_000_000_000, 10_000_000_000, 2_500_000_000]
        );
    }

    #[test]
    fn a_thousand_seconds_take_no_more_memory_than_ten() {
        let most = |second_count: u64| {
            let given = Mutex::new(0);
            let give = |_: usize, row: &SecondRow| *given.lock().expect("whole") += row.operations;
            let measured = allocation_counter::measure(|| {
                let (senders, seconds) = Seconds::new(1, 2, None, RowSink::to(&give));
                let mut seconds = seconds.expect("somebody takes rows");
                let mut threads = [0, 1].map(|thread| Intervals::new(senders.of(0, thread)));
                for second in 0..second_count {
                    threads.iter_mut().for_each(|thread| thread.at(second * SECOND_NS, 0).operations += 1);
                    seconds.hand_over(false);
                }
                threads.into_iter().for_each(|thread| thread.finish(second_count * SECOND_NS, 0));
                seconds.hand_over(true);
            });
            assert_eq!(*given.lock().expect("whole"), 2 * second_count);
            measured.bytes_max
        };
        assert_eq!(most(1000), most(10));
    }
}
