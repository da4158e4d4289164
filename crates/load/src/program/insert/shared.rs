//! What all sessions of a step share: its plan, how far each client has come, and why it ended.
//!
//! In: a bench, a step, where each table begins and ends. Out: [`StepWork`], which is read and written
//! without a lock; only a failure takes one, once.

use super::clock::OwnClock;
use super::probes::TableCell;
use crate::drive::ClientCpus;
use crate::program::EvenPlan;
use rqps_model::StorageEngine;
use rqps_model::insert::{Shape, Step};
use rqps_wire::{Endpoint, Protocol};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A writer that is not done after so many times the planned seconds gives up.
const OVERRUN: f64 = 2.0;

/// What a benchmark runs against, and with what.
#[derive(Debug, Clone, Copy)]
pub struct Bench<'a> {
    /// The server.
    pub endpoint: &'a Endpoint,
    /// What stores the tables of MySQL and MariaDB; InnoDB if it is not said.
    pub storage: Option<StorageEngine>,
    /// How large it is.
    pub shape: &'a Shape,
    /// Everything random follows from it.
    pub seed: u64,
    /// Threads of the client that send and receive.
    pub threads: usize,
    /// Where these run.
    pub cpus: ClientCpus<'a>,
    /// How long a server has the machine before the next one's turn, where several take turns.
    pub slice: Duration,
    /// Whether to keep when servers worked, slice by slice.
    pub keeps_spans: bool,
}

impl Bench<'_> {
    pub(crate) fn storage(&self) -> StorageEngine {
        self.storage.unwrap_or(StorageEngine::Innodb)
    }
}

/// How far a client's writers have come: rows inserted or given up, deleted or given up.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    pub(crate) inserted: AtomicU64,
    pub(crate) deleted: AtomicU64,
}

/// What all sessions of a step share.
#[derive(Debug)]
pub(crate) struct StepWork<'a> {
    pub(crate) bench: &'a Bench<'a>,
    pub(crate) protocol: Protocol,
    pub(crate) step: &'a Step,
    pub(crate) tables: &'a [TableCell],
    pub(crate) stop: &'a AtomicBool,
    /// Of a step with a rate, its planned length.
    pub(crate) planned_ns: Option<u64>,
    /// Writers that have still to write.
    pub(crate) writers: AtomicUsize,
    /// By client.
    pub(crate) progress: Vec<Progress>,
    /// Where it takes turns with others: rows of all clients whose insert has begun, and how many may until the slice
    /// is over.
    begun: AtomicU64,
    share: AtomicU64,
    pub(crate) clock: OwnClock,
    has_failed: AtomicBool,
    failure: Mutex<Option<String>>,
}

impl<'a> StepWork<'a> {
    pub(crate) fn new(
        bench: &'a Bench<'a>,
        step: &'a Step,
        tables: &'a [TableCell],
        stop: &'a AtomicBool,
    ) -> StepWork<'a> {
        let writers = if step.deletes() { 2 } else { 1 };
        StepWork {
            bench,
            protocol: bench.endpoint.protocol(),
            step,
            tables,
            stop,
            planned_ns: step.rate_per_s.map(|rate| (step.rows as f64 * 1e9 / f64::from(rate)) as u64),
            writers: AtomicUsize::new(writers * bench.shape.clients as usize),
            progress: (0..bench.shape.clients).map(|_| Progress::default()).collect(),
            begun: AtomicU64::new(0),
            share: AtomicU64::new(u64::MAX),
            clock: OwnClock::default(),
            has_failed: AtomicBool::new(false),
            failure: Mutex::new(None),
        }
    }

    /// Whether nothing new is to be begun.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.has_failed.load(Ordering::Relaxed)
    }

    /// An insert of so many rows begins.
    #[inline]
    pub(crate) fn begin(&self, rows: u64) {
        self.begun.fetch_add(rows, Ordering::Relaxed);
    }

    /// Whether its share of rows is written, so that it waits for the next.
    #[inline]
    pub(crate) fn has_its_share(&self) -> bool {
        self.begun.load(Ordering::Relaxed) >= self.share.load(Ordering::Relaxed)
    }

    /// So many rows in all may be begun.
    pub(crate) fn allow(&self, rows: u64) {
        self.share.store(rows, Ordering::Relaxed);
    }

    /// Something went wrong for good: ends the step, on all threads. The first reason is kept.
    #[cold]
    pub(crate) fn fail(&self, reason: &str) {
        self.has_failed.store(true, Ordering::Relaxed);
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| reason.to_owned());
    }

    /// Why it ended before its time.
    pub(crate) fn take_failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(crate) fn give_up_ns(&self, planned_ns: u64) -> u64 {
        (planned_ns as f64 * OVERRUN) as u64
    }

    /// When a writer of a client is to write, where the step has a rate.
    pub(crate) fn plan(&self, client: u32) -> Option<EvenPlan> {
        let (shape, step) = (self.bench.shape, self.step);
        let rate = step.rate_per_s?;
        Some(EvenPlan {
            gap_ns: f64::from(step.batch) * 1e9 / f64::from(rate),
            phase: (f64::from(client) + 0.5) / f64::from(shape.clients),
            catch_up_ns: (shape.catch_up_seconds * 1e9) as u64,
            give_up_ns: self.give_up_ns(self.planned_ns.unwrap_or(u64::MAX)),
        })
    }

    /// The part that is done after so many seconds.
    pub(crate) fn done(&self, seconds: f64) -> f64 {
        let clients = self.bench.shape.clients;
        let rows = self.step.rows_of(0, clients).max(1) * u64::from(clients);
        let resolved: u64 = self.progress.iter().map(|client| client.inserted.load(Ordering::Relaxed)).sum();
        let written = resolved as f64 / rows as f64;
        let planned = self.planned_ns.map_or(1.0, |planned_ns| seconds * 1e9 / planned_ns as f64);
        written.min(planned).clamp(0.0, 1.0)
    }
}
