//! What one treatment did in one test of one round: the content of `sample.json` and its companions.
//!
//! Only raw counts and times; rates and ratios are derived by `analysis`. Times are nanoseconds of the monotonic clock.

pub use crate::accounting::{Accounting, ErrorCount, FailureClass, Failures};
use crate::cpu_events::CpuEvents;
use crate::insert::StepRecord;
pub use crate::planted::Planted;
use crate::tproc_c::RunRecord;
use crate::{Format, Interleave, Unit};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The pieces in which builds alternated: index = cycle, the same cycle of all treatments ran side by side.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Lists")]
pub struct Slices {
    /// Statements completed in the counted part of the cycle's slice.
    pub operations: Vec<u64>,
    /// Time those took, summed over sessions.
    pub busy_ns: Vec<u64>,
    /// How much of that was burned, since a change is planted; empty where none is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub burned_ns: Vec<u64>,
}

/// Slices as read, before they are known to match.
#[derive(Deserialize)]
struct Lists {
    operations: Vec<u64>,
    busy_ns: Vec<u64>,
    #[serde(default)]
    burned_ns: Vec<u64>,
}

impl TryFrom<Lists> for Slices {
    type Error = String;

    fn try_from(Lists { operations, busy_ns, burned_ns }: Lists) -> Result<Slices, String> {
        let (counts, times, burns) = (operations.len(), busy_ns.len(), burned_ns.len());
        let slices = Slices { operations, busy_ns, burned_ns };
        match (counts == times, burns == 0 || burns == times) {
            (true, true) => Ok(slices),
            (false, _) => Err(format!("slices have {counts} counts of operations, but {times} times")),
            (true, false) => Err(format!("slices have {times} times, but {burns} of what was burned")),
        }
    }
}

impl Slices {
    /// The slices as they would have been had nothing been burned.
    pub fn without_burns(&self) -> Slices {
        let mut slices = Slices { burned_ns: Vec::new(), ..self.clone() };
        let times = slices.busy_ns.iter_mut().zip(&self.burned_ns);
        times.for_each(|(busy_ns, burned_ns)| *busy_ns = busy_ns.saturating_sub(*burned_ns));
        slices
    }
}

/// When server counters were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Moment {
    /// Before the test.
    Before,
    /// After the test.
    After,
}

/// All counters of a server at one moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CounterReading {
    /// When.
    pub moment: Moment,
    /// By name, `view.column`.
    pub values: BTreeMap<String, f64>,
}

/// What was done of one kind in one second of a sample.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SecondRow {
    /// Seconds of this treatment's own counted time at the end of the row: a whole number, but for the last one.
    pub second: f64,
    /// Seconds since the test began by the wall clock.
    pub wall_second: f64,
    /// The kind of events: `event`, or what a suite tells apart.
    pub kind: Cow<'static, str>,
    /// The client, counted from 0, where each has rows of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<u32>,
    /// Statements completed.
    pub operations: u64,
    /// Rows that the server sent or changed.
    pub rows: u64,
    /// Sum of the sessions' busy time.
    pub busy_ns: u64,
    /// Errors.
    pub errors: u64,
    /// Events tried again.
    pub retried: u64,
    /// Median latency of events; quantiles are not kept of each client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns_p50: Option<u64>,
    /// 95th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns_p95: Option<u64>,
    /// 99th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns_p99: Option<u64>,
    /// Largest.
    pub latency_ns_max: u64,
}

impl SecondRow {
    /// Which second it is, counted from 0.
    pub fn index(&self) -> usize {
        (self.second.ceil() as usize).saturating_sub(1)
    }
}

/// A number for each whole second of a test of `seconds`, summed over kinds and clients.
pub fn per_second(rows: &[SecondRow], seconds: f64, number: impl Fn(&SecondRow) -> u64) -> Vec<f64> {
    let mut sums = vec![0.0; seconds as usize];
    for row in rows {
        if let Some(sum) = sums.get_mut(row.index()) {
            *sum += number(row) as f64;
        }
    }
    sums
}

/// What the whole host did while this treatment's slices ran.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct HostUse {
    /// Wall seconds covered.
    pub seconds: f64,
    /// CPUs that the CPU times are summed over.
    pub cpus: u32,
    /// User CPU seconds (nice included).
    pub cpu_user_s: f64,
    /// System CPU seconds (interrupts included).
    pub cpu_system_s: f64,
    /// Idle CPU seconds.
    pub cpu_idle_s: f64,
    /// Idle CPU seconds with IO outstanding.
    pub cpu_iowait_s: f64,
    /// CPU seconds that the hypervisor took away.
    pub cpu_steal_s: f64,
    /// Context switches.
    pub context_switches: u64,
    /// Page faults.
    pub page_faults: u64,
    /// Page faults that needed IO.
    pub major_faults: u64,
    /// Reads completed by the data device.
    pub disk_reads: u64,
    /// How long these took from their queueing to their end, added up.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub disk_read_wait_s: f64,
    /// Bytes read.
    pub disk_read_bytes: u64,
    /// Writes completed by the data device.
    pub disk_writes: u64,
    /// How long these took, added up.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub disk_write_wait_s: f64,
    /// Bytes written.
    pub disk_write_bytes: u64,
    /// Flushes completed by the data device.
    pub disk_flushes: u64,
    /// How long these took, added up.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub disk_flush_wait_s: f64,
    /// Available memory at the end.
    pub memory_available_bytes: u64,
}

/// For fields that came later: rows of results that lack them stay as they were written.
fn is_zero(seconds: &f64) -> bool {
    *seconds == 0.0
}

/// What a group of processes (a server, or the client) did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ProcessUse {
    /// User CPU seconds.
    pub cpu_user_s: f64,
    /// System CPU seconds.
    pub cpu_system_s: f64,
    /// Page faults without IO.
    pub minor_faults: u64,
    /// Page faults with IO.
    pub major_faults: u64,
    /// Bytes it caused to be read from storage.
    pub read_bytes: u64,
    /// Bytes it caused to be written to storage.
    pub write_bytes: u64,
    /// Resident memory at the end, shared pages counted once (proportional set size where readable).
    pub memory_bytes: u64,
    /// Processes at the end.
    pub processes: u32,
}

/// What served the clients' sessions did in them, from when each was open until just before it closed: processes of
/// PostgreSQL, threads of MySQL and MariaDB.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionUse {
    /// How many there were, one after the other and side by side.
    pub sessions: u32,
    /// Seconds in which it could have run and had no CPU.
    pub run_delay_s: f64,
    /// How often it left the CPU to wait.
    pub voluntary_switches: u64,
    /// How often it had to leave the CPU to another thread.
    pub involuntary_switches: u64,
    /// Page faults without IO.
    pub minor_faults: u64,
    /// Page faults with IO.
    pub major_faults: u64,
}

/// Everything observed about one sample's use of the machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Resources {
    /// The whole host, only while this treatment's slices ran.
    pub host: HostUse,
    /// The processes of this treatment's server.
    pub server: ProcessUse,
    /// Of the server what served the clients' sessions; `None` where one of them could not be followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<SessionUse>,
    /// The client, only while this treatment's slices ran.
    pub client: ProcessUse,
    /// All statements that ran in the time the resources were counted for, lead-ins and warm-up included.
    pub operations: u64,
}

/// Sessions whose two sides, a thread of the client and the process or thread of the server, share a CPU.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionPlacement {
    /// How many were on each CPU, as read back.
    pub sessions_by_cpu: BTreeMap<usize, u32>,
    /// What placing took, outside of counted time, summed over threads and over sessions made in turn.
    pub seconds: f64,
    /// Why others could not be placed, and were left to the scheduler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

impl SessionPlacement {
    /// Adds up those of two threads of a client.
    pub fn join(one: Option<SessionPlacement>, other: Option<SessionPlacement>) -> Option<SessionPlacement> {
        match (one, other) {
            (Some(mut one), Some(other)) => {
                for (cpu, sessions) in other.sessions_by_cpu {
                    *one.sessions_by_cpu.entry(cpu).or_default() += sessions;
                }
                one.seconds += other.seconds;
                one.refused = one.refused.or(other.refused);
                Some(one)
            }
            (one, other) => one.or(other),
        }
    }
}

/// The text of a server's program and of its own libraries in memory, as the kernel told when the server had started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramText {
    /// Bytes of it that were in memory.
    pub bytes: u64,
    /// Bytes of these that were mapped as huge pages.
    pub huge_bytes: u64,
}

impl ProgramText {
    /// The part of it in huge pages, 0 to 1.
    pub fn huge_share(self) -> f64 {
        self.huge_bytes as f64 / self.bytes.max(1) as f64
    }
}

/// What a server's data took on disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskUse {
    /// Tables and indexes of the benchmark's database, as far as the engine keeps them apart; of RocksDB all its files.
    pub database_bytes: u64,
    /// The whole data folder, logs included, as allocated on disk.
    pub folder_bytes: u64,
}

/// What a server's data took before and after a test.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Growth {
    /// Before.
    pub before: DiskUse,
    /// After.
    pub after: DiskUse,
}

/// What host and server were about, one row about each second of a test.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MonitorRow {
    /// Seconds since the test began.
    pub second: f64,
    /// What the host did since the row before.
    pub host: HostUse,
    /// The server's own numbers at this moment, by name (docs/results-format.md); empty while it did not answer.
    pub server: BTreeMap<String, f64>,
}

/// What a sample's throughput is made of: clients x count x factor / busy, in a unit that says what is counted, and per
/// how many seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// The unit of the throughput.
    pub unit: Unit,
    /// What was completed in counted time: statements, or what the unit counts.
    pub count: u64,
    /// Units in one of these: 1, or thousands of rows a statement for `scan`.
    pub factor: f64,
}

impl Default for Score {
    fn default() -> Score {
        Score { unit: Unit::QueriesPerSecond, count: 0, factor: 1.0 }
    }
}

/// Raw values that only one suite has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SuiteRecord {
    /// What a step of the Insert Benchmark did.
    Insert(Box<StepRecord>),
    /// What a run of TPROC-C did, and whether its tables are consistent.
    #[serde(rename = "tproc-c")]
    TprocC(RunRecord),
}

/// One cell in one round.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Results format.
    pub format: Format,
    /// Round, from 1.
    pub round: u32,
    /// Treatment's name.
    pub treatment: String,
    /// Suite's name.
    pub suite: String,
    /// Test's published name.
    pub test: String,
    /// Concurrency.
    pub clients: u32,
    /// UTC time at which the test began, RFC 3339.
    pub started_at: String,
    /// The machine: the name of its file in `hosts/`.
    pub host: String,
    /// How builds alternated; `None` where one followed the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interleave: Option<Interleave>,
    /// Server start that this sample belongs to: `round.start`, with `+n` after the n-th resume.
    pub server_start: String,
    /// Which copy of the data the server ran on.
    pub data_copy: String,
    /// What its throughput is made of.
    pub score: Score,
    /// Rows that the server sent or changed in counted time.
    pub rows: u64,
    /// Time in which that was done, summed over sessions.
    pub busy_ns: u64,
    /// Wall seconds of this treatment's counted slices.
    pub seconds: f64,
    /// How many connections were made in turn by each client.
    pub sessions: u32,
    /// Whether the client's threads were in the batch scheduling class, since answers came in parts: it waits for whole
    /// ones.
    pub batch_scheduling: bool,
    /// On which CPUs sessions ran, where both sides of each shared one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<SessionPlacement>,
    /// In what pages the program of its server lay; `None` where the kernel does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_text: Option<ProgramText>,
    /// The change that was planted in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planted: Option<Planted>,
    /// What became of the events.
    pub accounting: Accounting,
    /// Errors by statement and code.
    pub errors: Vec<ErrorCount>,
    /// Events given up, by class, where the suite tells.
    #[serde(default, skip_serializing_if = "Failures::is_none")]
    pub failures: Failures,
    /// Use of the machine.
    pub resources: Resources,
    /// What the CPU counted in the server's processes, from the start of its clients to the end of what is counted;
    /// `None` where that was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_events: Option<CpuEvents>,
    /// What planning each of the test's statements once took before the timed part, added up; `None` where the server
    /// does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planning_us: Option<f64>,
    /// Server counters that changed: after minus before, by name.
    pub counters: BTreeMap<String, f64>,
    /// Raw values that only its suite has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<SuiteRecord>,
    /// Bytes on disk before and after the test, where the suite makes its own data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub growth: Option<Growth>,
    /// What was to be sampled, in rounds that explain a campaign, and was not: by the word for it the reason, with what
    /// lifts it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub not_sampled: BTreeMap<String, String>,
    /// What a reader must know beside the number.
    pub warnings: Vec<String>,
    /// Why there is no number, if the trial failed.
    pub failure: Option<String>,
}

impl Sample {
    /// Throughput in the test's unit; `None` where nothing completed.
    pub fn throughput(&self) -> Option<f64> {
        let per_s = f64::from(self.clients) * self.score.count as f64 / (self.busy_ns as f64 / 1e9);
        let throughput = per_s * self.score.factor * self.score.unit.seconds();
        (self.failure.is_none() && self.score.count > 0 && self.busy_ns > 0).then_some(throughput)
    }

    /// What a step of the Insert Benchmark did.
    pub fn step(&self) -> Option<&StepRecord> {
        match &self.record {
            Some(SuiteRecord::Insert(step)) => Some(step.as_ref()),
            _ => None,
        }
    }

    /// What a run of TPROC-C did.
    pub fn transactions(&self) -> Option<&RunRecord> {
        match &self.record {
            Some(SuiteRecord::TprocC(run)) => Some(run),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_summed_over_clients_and_a_last_one_that_is_not_whole_is_left_out() {
        let row = |second, client, rows| SecondRow { second, client: Some(client), rows, ..SecondRow::default() };
        let rows = [row(1.0, 0, 1), row(2.0, 0, 2), row(2.9, 0, 4), row(1.0, 1, 10), row(2.0, 1, 20)];
        assert_eq!(per_second(&rows, 2.9, |row| row.rows), [11.0, 22.0]);
    }

    #[test]
    fn slices_without_what_was_burned_are_those_of_an_unchanged_build() {
        let slices = Slices { operations: vec![10, 20], busy_ns: vec![101, 202], burned_ns: vec![1, 2] };
        let unchanged = Slices { operations: vec![10, 20], busy_ns: vec![100, 200], burned_ns: Vec::new() };
        assert_eq!(slices.without_burns(), unchanged);
        assert_eq!(unchanged.without_burns(), unchanged);
        let read = |text: &str| serde_json::from_str::<Slices>(text);
        assert_eq!(read(r#"{"operations":[10,20],"busy_ns":[100,200]}"#).unwrap(), unchanged);
        assert!(read(r#"{"operations":[10,20],"busy_ns":[100,200],"burned_ns":[1]}"#).is_err());
    }
}
