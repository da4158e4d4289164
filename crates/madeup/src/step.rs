//! One made-up step of a pass with all that lies beside it.
//!
//! In: the step, its true rate and a source of noise. Out: the parts that `store` publishes, consistent with one
//! another: counts, buckets, histograms, use of the machine and the server's numbers all follow from what each client
//! did in each second.

use super::insert::{InsertRecipe, StallAt};
use super::{Made, Noise, Place};
use rqps_model::insert::{Buckets, IdProbes, IndexBuild, Kind, Operations, Sla, Step, StepRecord, TableIds};
use rqps_model::sample::{Accounting, DiskUse, Growth, HostUse, MonitorRow, ProcessUse, Resources, Score, SuiteRecord};
use rqps_model::sample::{SecondRow, per_second};
use rqps_model::{Engine, Part, Sample, StorageEngine, Unit, part};
use rqps_store::{Latencies, SampleParts, latency_part};
use std::collections::BTreeMap;

/// What background writes reach of their rate where they are behind.
const SHARE_BEHIND: f64 = 0.412;
/// What a failed step has done of its work.
const SHARE_BEFORE_FAILURE: f64 = 0.4;
/// Distinct response times.
const RESPONSES: u32 = 24;
const BYTES_A_ROW: u64 = 140;
const CPUS: u32 = 4;

/// What a client did in a second.
#[derive(Default)]
struct Second {
    second: u32,
    client: u32,
    inserted: u32,
    deleted: u32,
    queries: u32,
    longest_insert_ns: u64,
    longest_delete_ns: u64,
    longest_query_ns: u64,
}

impl Second {
    /// As it is stored, in a step of so many seconds.
    fn rows(&self, step: &Step, step_seconds: f64) -> Vec<SecondRow> {
        let second = step_seconds.min(f64::from(self.second) + 1.0);
        let row = |kind: &'static str, operations: u32, rows: u32, latency_ns_max| SecondRow {
            second,
            wall_second: second,
            kind: kind.into(),
            client: Some(self.client),
            operations: operations.into(),
            rows: rows.into(),
            latency_ns_max,
            ..SecondRow::default()
        };
        let batches = |rows: u32| rows.div_ceil(step.batch);
        let inserts = row("insert", batches(self.inserted), self.inserted, self.longest_insert_ns);
        let deletes = row("delete", batches(self.deleted), self.deleted, self.longest_delete_ns);
        let queries = row("query", self.queries, 10 * self.queries, self.longest_query_ns);
        let deletes = step.deletes().then_some(deletes);
        [inserts].into_iter().chain(deletes).chain(step.queries().then_some(queries)).collect()
    }
}

pub(super) struct Trial<'a> {
    pub(super) recipe: &'a InsertRecipe,
    pub(super) place: Place,
    pub(super) treatment: &'a str,
    pub(super) step: &'a Step,
    pub(super) clients: u32,
    /// Rows or queries per second and client in this pass.
    pub(super) rate_per_s: f64,
}

impl Trial<'_> {
    pub(super) fn parts(&self, noise: &mut Noise) -> SampleParts {
        let (rows, seconds) = self.seconds(noise);
        let mut latencies = Latencies::new();
        let record = self.record(noise, &rows, seconds, &mut latencies);
        let main = if self.step.queries() {
            record.queries.accounting.succeeded
        } else {
            record.rows_indexed.unwrap_or(record.inserts.rows)
        };
        let rows: Vec<SecondRow> = rows.iter().flat_map(|second| second.rows(self.step, seconds)).collect();
        let watch = self.watch(&rows, seconds, main);
        let mut sample = self.sample(main, seconds);
        sample.rows = if self.step.queries() { record.queries.rows } else { main };
        sample.accounting = [record.inserts, record.deletes, record.queries]
            .iter()
            .fold(Accounting::default(), |sum, kind| sum + kind.accounting);
        sample.failure = record.failure.clone();
        sample.growth = Some(self.growth(record.inserts.rows));
        sample.record = Some(SuiteRecord::Insert(Box::new(record)));
        let latency = latency_part(&latencies, seconds).expect("kinds are plain words");
        let parts = vec![latency, Part::lines(part::SECONDS, &rows), Part::lines(part::MONITOR, &watch)];
        SampleParts { parts, ..SampleParts::of(sample) }
    }

    /// The sample of a step that an earlier one's failure has prevented.
    pub(super) fn not_begun(&self, failed: &str) -> SampleParts {
        let mut sample = self.sample(0, 0.0);
        sample.failure = Some(format!("{failed} failed before it in this pass: the server ended: signal 9"));
        sample.resources = Resources::default();
        sample.counters.clear();
        SampleParts::of(sample)
    }

    fn fails(&self) -> bool {
        self.recipe.common.failed.contains(&self.place)
    }

    fn is_behind(&self) -> bool {
        self.recipe.behind.contains(&self.place)
    }

    fn stall(&self) -> Option<&StallAt> {
        self.recipe.stalls.iter().find(|stall| stall.place == self.place)
    }

    /// What each client did in each second, and how long the step took.
    fn seconds(&self, noise: &mut Noise) -> (Vec<Second>, f64) {
        let (mut rows, mut longest) = (Vec::new(), 0.0f64);
        for client in 0..self.clients {
            let (own, seconds) = self.seconds_of(client, noise);
            rows.extend(own);
            longest = longest.max(seconds);
        }
        // A client that is done earlier has rows until the end, with nothing in them.
        for client in 0..self.clients {
            let from = rows.iter().filter(|row| row.client == client).count() as u32;
            rows.extend((from..longest.ceil() as u32).map(|second| Second { second, client, ..Second::default() }));
        }
        rows.sort_by_key(|row| (row.client, row.second));
        (rows, longest)
    }

    fn seconds_of(&self, client: u32, noise: &mut Noise) -> (Vec<Second>, f64) {
        let share = if self.fails() { SHARE_BEFORE_FAILURE } else { 1.0 };
        let (planned_s, step) = (self.recipe.shape.seconds, self.step);
        let mut left = (step.rows_of(client, self.clients) as f64 * share) as u64;
        let mut rows: Vec<Second> = Vec::new();
        let mut owed = 0.0;
        loop {
            let second = rows.len() as u32;
            let in_stall = self
                .stall()
                .is_some_and(|stall| (stall.from_second..stall.from_second + stall.seconds).contains(&second));
            let pace = self.rate_per_s * (self.recipe.second_noise * noise.normal()).exp();
            let mut row = Second { second, client, ..Second::default() };
            owed += match step.rate_per_s {
                Some(rate) if self.is_behind() => f64::from(rate) * SHARE_BEHIND,
                Some(rate) => f64::from(rate),
                None if in_stall => 0.0,
                None => pace,
            };
            let batches = (owed / f64::from(step.batch)).round();
            let inserted = if in_stall { 0 } else { left.min((batches * f64::from(step.batch)) as u64) };
            owed -= inserted as f64;
            left -= inserted;
            row.inserted = inserted as u32;
            row.deleted = if step.deletes() { row.inserted } else { 0 };
            row.queries = if step.queries() && !in_stall { pace.round() as u32 } else { 0 };
            self.longest(&mut row, noise);
            rows.push(row);
            let so_far = rows.len() as f64;
            match step.kind {
                Kind::Load | Kind::Churn if left == 0 => {
                    return (rows, so_far - 1.0 + (inserted as f64 / pace).min(1.0));
                }
                Kind::Load | Kind::Churn => {}
                Kind::Index => {
                    let rows_loaded = self.recipe.shape.rows_initial as f64;
                    let seconds = rows_loaded / self.rate_per_s * share;
                    if so_far >= seconds {
                        return (rows, seconds);
                    }
                }
                Kind::RangeQueries | Kind::PointQueries if so_far >= planned_s * share => return (rows, so_far),
                Kind::RangeQueries | Kind::PointQueries => {}
            }
        }
    }

    /// Largest response times of a second; what a stall held up is answered in the second after it.
    fn longest(&self, row: &mut Second, noise: &mut Noise) {
        let slow = |noise: &mut Noise| 3.0 + (0.5 * noise.normal()).exp();
        if let Some(stall) = self.stall().filter(|stall| row.second == stall.from_second + stall.seconds) {
            row.longest_insert_ns = u64::from(stall.seconds) * 1_000_000_000 + 40_000_000;
        } else if row.inserted > 0 {
            row.longest_insert_ns = (self.write_ns() * slow(noise)) as u64;
        }
        if row.deleted > 0 {
            row.longest_delete_ns = (self.write_ns() * slow(noise)) as u64;
        }
        if row.queries > 0 {
            row.longest_query_ns = (1e9 / self.rate_per_s * slow(noise)) as u64;
        }
    }

    /// How long a statement that writes takes.
    fn write_ns(&self) -> f64 {
        match self.step.kind {
            Kind::Load | Kind::Churn => f64::from(self.step.batch) / self.rate_per_s * 1e9,
            _ => 2e6,
        }
    }

    fn record(&self, noise: &mut Noise, rows: &[Second], seconds: f64, latencies: &mut Latencies) -> StepRecord {
        let sum = |number: fn(&Second) -> u32| rows.iter().map(|row| u64::from(number(row))).sum::<u64>();
        let largest = |time: fn(&Second) -> u64| rows.iter().map(time).max().unwrap_or(0);
        let (inserted, deleted, queries) = (sum(|r| r.inserted), sum(|r| r.deleted), sum(|r| r.queries));
        let (batch, step) = (u64::from(self.step.batch), self.step);
        let planned = (0..self.clients).map(|client| step.rows_of(client, self.clients)).sum::<u64>().div_ceil(batch);
        let write_ns = self.write_ns();
        let mut kind = |name: &str, rows: u64, done: u64, planned: u64, typical_ns: f64, longest_ns: u64| {
            let skipped = planned.saturating_sub(done);
            let accounting =
                Accounting { scheduled: done + skipped, succeeded: done, skipped, ..Accounting::default() };
            let mut operations = Operations { accounting, rows, ..Operations::default() };
            operations.response = responses(noise, latencies, name, done, typical_ns, longest_ns);
            if step.rate_per_s.is_some() && name != "query" {
                let name = format!("{name}-from-plan");
                operations.from_plan = responses(noise, latencies, &name, done, 1.2 * typical_ns, 2 * longest_ns);
            }
            operations
        };
        let inserts =
            kind("insert", inserted, inserted.div_ceil(batch), planned, write_ns, largest(|r| r.longest_insert_ns));
        let to_delete = if step.deletes() { planned } else { 0 };
        let deletes =
            kind("delete", deleted, deleted.div_ceil(batch), to_delete, write_ns, largest(|r| r.longest_delete_ns));
        let queries =
            kind("query", 10 * queries, queries, queries, 1e9 / self.rate_per_s, largest(|r| r.longest_query_ns));
        let target = step.rate_per_s.map(|rate| f64::from(rate) * f64::from(self.clients));
        let builds = ["marketsegment", "registersegment", "pdc"]
            .map(|name| IndexBuild { sql: format!("CREATE INDEX pi1_{name} ON pi1"), seconds: (seconds - 0.5) / 3.0 });
        let loaded = self.recipe.shape.rows_initial * u64::from(self.clients);
        let is_index = step.kind == Kind::Index;
        StepRecord {
            step: step.name.clone(),
            clients: self.clients,
            threads: 1,
            seconds,
            planned_seconds: step.rate_per_s.map(|_| self.recipe.shape.seconds),
            inserts,
            deletes,
            queries,
            rows_indexed: is_index.then(|| loaded + inserted),
            index_builds: if is_index { builds.to_vec() } else { Vec::new() },
            min_probes: IdProbes { count: deleted / 50_000, total_ns: deleted / 50 * 1000, longest_ns: 90_000 },
            max_probes: IdProbes::default(),
            sla: target.map(|target_per_s| Sla { target_per_s, reached_per_s: inserted as f64 / seconds }),
            deferred_seconds: if self.is_behind() { 0.5 * seconds } else { 0.0 },
            errors: Vec::new(),
            client_cpu_ns: (0.3 * seconds * 1e9) as u64,
            failure: self.fails().then(|| "the server ended: signal 9".to_owned()),
            tables: if self.fails() { Vec::new() } else { self.tables(inserted) },
        }
    }

    fn tables(&self, inserted: u64) -> Vec<TableIds> {
        let newest = self.step.first_row + inserted / u64::from(self.clients);
        let oldest = newest.saturating_sub(self.recipe.shape.rows_initial) + 1;
        vec![TableIds { oldest, newest }; self.clients as usize]
    }

    fn growth(&self, inserted: u64) -> Growth {
        let rows = (self.step.first_row * u64::from(self.clients)) as f64;
        let indexes = if matches!(self.step.kind, Kind::Load) { 1 } else { 2 };
        let before = DiskUse {
            database_bytes: rows as u64 * BYTES_A_ROW * indexes,
            folder_bytes: rows as u64 * BYTES_A_ROW * indexes + (700 << 20),
        };
        let more = inserted * BYTES_A_ROW / 2 + (1 << 20);
        let after = DiskUse {
            database_bytes: before.database_bytes + more,
            folder_bytes: before.folder_bytes + more + (16 << 20),
        };
        Growth { before, after }
    }

    /// What host and server were about, second by second.
    fn watch(&self, rows: &[SecondRow], seconds: f64, operations: u64) -> Vec<MonitorRow> {
        let whole = self.resources(operations, seconds).host;
        let inserted = per_second(rows, seconds, |row| if row.kind == "insert" { row.rows } else { 0 });
        let (mut written, mut watch) = (0, Vec::new());
        for (second, rows) in (1u64..).zip(inserted) {
            written += rows as u64;
            let part = |count: u64| (count as f64 / seconds) as u64;
            let host = HostUse {
                seconds: 1.0,
                cpu_user_s: whole.cpu_user_s / seconds,
                cpu_system_s: whole.cpu_system_s / seconds,
                cpu_idle_s: whole.cpu_idle_s / seconds,
                context_switches: part(whole.context_switches),
                disk_writes: part(whole.disk_writes),
                disk_write_bytes: part(whole.disk_write_bytes),
                ..whole
            };
            watch.push(MonitorRow { second: second as f64, host, server: self.server(second, written) });
        }
        watch
    }

    /// The server's own numbers after some rows of the step.
    fn server(&self, second: u64, written: u64) -> BTreeMap<String, f64> {
        let made = Made::of(&self.recipe.common.versions[self.place.treatment]);
        let log = 1e9 + (written * 3 * BYTES_A_ROW) as f64;
        // A checkpoint each 25 s, and a vacuum each 20 s where there is something to clean.
        let (checkpoints, vacuums) = (second / 25, if self.step.deletes() { second / 20 } else { 0 });
        let since = (second % 20) as f64;
        let mut numbers = match (made.engine, made.storage) {
            (Engine::Postgres, _) => vec![
                ("checkpoints", (3 + checkpoints) as f64),
                ("wal_files", 60.0 + (second % 25) as f64),
                ("wal_bytes_kept", (60.0 + (second % 25) as f64) * 16_777_216.0),
                ("dead_rows", if self.step.deletes() { 2000.0 * since } else { 0.0 }),
                ("live_rows", self.recipe.shape.rows_initial as f64),
                ("planning_us_delete", 150.0 + 40.0 * since),
                ("planning_us_min", 120.0),
                ("vacuums", (7 + vacuums) as f64),
                ("vacuums_running", f64::from(u8::from(since > 16.0 && self.step.deletes()))),
            ],
            (_, Some(StorageEngine::Rocksdb)) => vec![
                ("compactions_pending", (second % 3) as f64),
                ("memtable_bytes", 3e6 * (1.0 + since)),
                ("l0_files", (second % 5) as f64),
                ("stall_micros", (second / 30 * 20_000) as f64),
            ],
            _ => vec![
                ("history_list_length", 500.0 * since),
                ("checkpoint_age_bytes", 2e7 * (1.0 + since)),
                ("dirty_pages", 900.0 * (1.0 + since)),
                ("free_pages", 1024.0),
                ("pages_flushed", 4000.0 + 100.0 * second as f64),
            ],
        };
        numbers.push(("log_bytes", log));
        if made.engine == Engine::Postgres && second % 10 == 1 {
            numbers.push(("database_bytes", (self.step.first_row + written) as f64 * BYTES_A_ROW as f64));
        }
        numbers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    fn sample(&self, operations: u64, seconds: f64) -> Sample {
        let Place { round, treatment, test } = self.place;
        let pass = (round as usize - 1) * self.recipe.common.versions.len() + treatment;
        Sample {
            round,
            treatment: self.treatment.to_owned(),
            suite: "insert".to_owned(),
            test: self.step.name.clone(),
            clients: self.clients,
            started_at: format!("2026-11-{:02}T{:02}:{:02}:00Z", 21 + pass / 20, 1 + pass % 20, 3 * test),
            interleave: None,
            server_start: format!("{round}.{treatment}.c{}", self.clients),
            data_copy: format!("empty{treatment}#1"),
            rows: operations,
            busy_ns: (f64::from(self.clients) * seconds * 1e9).round() as u64,
            seconds,
            score: Score { unit: Unit::QueriesPerSecond, count: operations, factor: 1.0 },
            sessions: 1,
            resources: self.resources(operations, seconds),
            counters: [("pg_stat_database.xact_commit".to_owned(), (operations / 50) as f64)].into(),
            ..Sample::default()
        }
    }

    /// A machine of four CPUs.
    fn resources(&self, operations: u64, seconds: f64) -> Resources {
        let server = ProcessUse {
            cpu_user_s: 1.1 * seconds,
            cpu_system_s: 0.4 * seconds,
            write_bytes: operations * BYTES_A_ROW,
            memory_bytes: 900 << 20,
            processes: 9,
            ..ProcessUse::default()
        };
        let client = ProcessUse { cpu_user_s: 0.2 * seconds, cpu_system_s: 0.1 * seconds, ..ProcessUse::default() };
        let host = HostUse {
            seconds,
            cpus: CPUS,
            cpu_user_s: 1.3 * seconds,
            cpu_system_s: 0.5 * seconds,
            cpu_idle_s: 2.2 * seconds,
            context_switches: 2 * operations,
            disk_writes: (120.0 * seconds) as u64,
            disk_write_bytes: (6e7 * seconds) as u64,
            disk_flushes: (10.0 * seconds) as u64,
            memory_available_bytes: 4 << 30,
            ..HostUse::default()
        };
        Resources { host, server, client, operations, sessions: None }
    }
}

/// Response times of some statements, the longest as given; kept as a histogram too.
fn responses(
    noise: &mut Noise,
    latencies: &mut Latencies,
    name: &str,
    count: u64,
    typical_ns: f64,
    longest_ns: u64,
) -> Buckets {
    let mut buckets = Buckets::default();
    if count == 0 {
        return buckets;
    }
    let mut histogram = hdrhistogram::Histogram::new(3).expect("three digits are allowed");
    let mut add = |value: u64, times: u64| {
        let mut one = Buckets::default();
        one.record(value);
        one.counts.iter_mut().for_each(|count| *count *= times);
        buckets.add(&one);
        histogram.record_n(value.max(1), times).expect("the histogram resizes");
    };
    add(longest_ns, 1);
    let mut left = count - 1;
    for nth in (1..=RESPONSES).rev() {
        let value = (typical_ns * (0.3 * noise.normal()).exp()) as u64;
        let times = left / u64::from(nth);
        left -= times;
        if times > 0 {
            add(value.min(longest_ns), times);
        }
    }
    latencies.insert(name.to_owned(), histogram);
    buckets
}
