//! Server counters → work per operation: rows read, pages found in memory, bytes of the log, switches.
//!
//! In: the counters that samples keep (after minus before), what the kernel counted of what serves the sessions, what
//! the CPU counted in the server, and the statements of the same time. Out: one number for each kind of work and round,
//! and [`WorkFindings`] over all rounds. Counters span the whole test, from before the first session until after the
//! last one, so they are divided by all statements of the test, warm-up and lead-ins included. Of PostgreSQL only user
//! tables are counted: opening a session reads catalogs, and sessions are renewed by the clock, so that a build would
//! have fewer pages per statement the faster it is.

use super::cpu_events::{self, At};
use crate::findings::WorkFindings;
use crate::read::measured::Measured;
use rqps_model::sample::SessionUse;
use std::collections::BTreeMap;

/// Where a count comes from.
enum Source {
    /// The client: rows of the answers in counted time.
    Client,
    /// The sum of these counters of the server, times a factor.
    Counters(&'static [&'static str], f64),
    /// What planning took, in microseconds: each of the test's statements once.
    Planning,
    /// What served the sessions, as the kernel counts it.
    Sessions(fn(&SessionUse) -> f64),
    /// An event of the CPU in the server's processes.
    Cpu(&'static str, At),
    /// Its cycles for each of its instructions.
    CyclesPerInstruction,
}

/// One kind of work.
pub(crate) struct Count {
    pub(crate) name: &'static str,
    source: Source,
    /// Per operation; less costs next to nothing.
    pub(crate) least: f64,
    /// Whether every version has the counters: where none moved it was 0.
    is_everywhere: bool,
}

const fn count(name: &'static str, counters: &'static [&'static str], least: f64) -> Count {
    Count { name, source: Source::Counters(counters, 1.0), least, is_everywhere: true }
}

const fn in_sessions(name: &'static str, of: fn(&SessionUse) -> f64, least: f64) -> Count {
    Count { name, source: Source::Sessions(of), least, is_everywhere: true }
}

const fn of_cpu(name: &'static str, event: &'static str, at: At, least: f64) -> Count {
    Count { name, source: Source::Cpu(event, at), least, is_everywhere: false }
}

const fn since_later(name: &'static str, counters: &'static [&'static str], least: f64) -> Count {
    Count { name, source: Source::Counters(counters, 1.0), least, is_everywhere: false }
}

/// All kinds, with the counters of PostgreSQL first. An engine has its own names, so that none is compared with
/// another's.
pub(crate) const COUNTS: [Count; 52] = [
    Count { name: "rows_returned", source: Source::Client, least: 0.01, is_everywhere: true },
    // Times are told in whole microseconds.
    Count { name: "planning_us", source: Source::Planning, least: 10.0, is_everywhere: false },
    in_sessions("voluntary_switches", |used| used.voluntary_switches as f64, 0.01),
    in_sessions("involuntary_switches", |used| used.involuntary_switches as f64, 0.01),
    in_sessions("session_faults", |used| (used.minor_faults + used.major_faults) as f64, 0.01),
    in_sessions("run_delay_us", |used| used.run_delay_s * 1e6, 1.0),
    of_cpu("instructions", "instructions", At::Anywhere, 100.0),
    of_cpu("instructions_user", "instructions", At::User, 100.0),
    of_cpu("instructions_kernel", "instructions", At::Kernel, 100.0),
    of_cpu("cycles", "cycles", At::Anywhere, 100.0),
    of_cpu("cycles_user", "cycles", At::User, 100.0),
    of_cpu("cycles_kernel", "cycles", At::Kernel, 100.0),
    Count {
        name: WorkFindings::CYCLES_PER_INSTRUCTION,
        source: Source::CyclesPerInstruction,
        least: 0.0,
        is_everywhere: false,
    },
    of_cpu("branch_misses_user", "branch_misses", At::User, 1.0),
    of_cpu("branch_misses_kernel", "branch_misses", At::Kernel, 1.0),
    of_cpu("cache_references_user", "cache_references", At::User, 1.0),
    of_cpu("cache_references_kernel", "cache_references", At::Kernel, 1.0),
    of_cpu("cache_misses_user", "cache_misses", At::User, 1.0),
    of_cpu("cache_misses_kernel", "cache_misses", At::Kernel, 1.0),
    of_cpu("dtlb_misses_user", "dtlb_misses", At::User, 1.0),
    of_cpu("dtlb_misses_kernel", "dtlb_misses", At::Kernel, 1.0),
    of_cpu("itlb_misses_user", "itlb_misses", At::User, 1.0),
    of_cpu("itlb_misses_kernel", "itlb_misses", At::Kernel, 1.0),
    count("table_rows_read", &["pg_stat_user_tables.seq_tup_read", "pg_stat_user_tables.idx_tup_fetch"], 0.01),
    count("index_entries_read", &["pg_stat_user_indexes.idx_tup_read"], 0.01),
    count("index_scans", &["pg_stat_user_tables.idx_scan"], 0.01),
    count("table_scans", &["pg_stat_user_tables.seq_scan"], 0.01),
    count(
        "buffer_hits",
        &[
            "pg_statio_user_tables.heap_blks_hit",
            "pg_statio_user_tables.idx_blks_hit",
            "pg_statio_user_tables.toast_blks_hit",
            "pg_statio_user_tables.tidx_blks_hit",
        ],
        0.01,
    ),
    count(
        "buffer_reads",
        &[
            "pg_statio_user_tables.heap_blks_read",
            "pg_statio_user_tables.idx_blks_read",
            "pg_statio_user_tables.toast_blks_read",
            "pg_statio_user_tables.tidx_blks_read",
        ],
        0.01,
    ),
    count("hot_updates", &["pg_stat_user_tables.n_tup_hot_upd"], 0.01),
    count("wal_bytes", &["wal.lsn_bytes"], 10.0),
    since_later("wal_records", &["pg_stat_wal.wal_records"], 0.01),
    since_later("wal_full_pages", &["pg_stat_wal.wal_fpi"], 0.001),
    count("temp_file_bytes", &["pg_stat_database.temp_bytes"], 10.0),
    count(
        "handler_reads",
        &[
            "status.Handler_read_first",
            "status.Handler_read_key",
            "status.Handler_read_last",
            "status.Handler_read_next",
            "status.Handler_read_prev",
            "status.Handler_read_rnd",
            "status.Handler_read_rnd_next",
        ],
        0.01,
    ),
    count("handler_writes", &["status.Handler_write", "status.Handler_update", "status.Handler_delete"], 0.01),
    count("innodb_rows_read", &["status.Innodb_rows_read"], 0.01),
    count("innodb_page_requests", &["status.Innodb_buffer_pool_read_requests"], 0.01),
    count("innodb_page_reads", &["status.Innodb_buffer_pool_reads"], 0.01),
    count("redo_bytes", &["status.Innodb_os_log_written"], 10.0),
    count("binlog_bytes", &["binlog.bytes"], 10.0),
    count("temp_tables", &["status.Created_tmp_tables"], 0.01),
    count("temp_disk_tables", &["status.Created_tmp_disk_tables"], 0.001),
    count("rows_sorted", &["status.Sort_rows"], 0.01),
    count("bytes_sent", &["status.Bytes_sent"], 10.0),
    count("row_lock_waits", &["status.Innodb_row_lock_waits"], 0.001),
    Count {
        name: "row_lock_us",
        source: Source::Counters(&["status.Innodb_row_lock_time"], 1e3),
        least: 1.0,
        is_everywhere: true,
    },
    since_later("redo_file_us", &["wait_micros.io/file/innodb/innodb_log_file"], 1.0),
    since_later(
        "data_file_us",
        &["wait_micros.io/file/innodb/innodb_data_file", "wait_micros.io/file/innodb/innodb_dblwr_file"],
        1.0,
    ),
    since_later("binlog_file_us", &["wait_micros.io/file/sql/binlog"], 1.0),
    since_later("table_lock_us", &["wait_micros.lock/table/sql/handler"], 1.0),
    since_later("metadata_lock_us", &["wait_micros.lock/metadata/sql/mdl"], 1.0),
];

impl Count {
    /// Of one engine: may be compared only with counts of the same.
    pub(crate) fn is_of_engine(&self) -> bool {
        !matches!(self.source, Source::Client | Source::Sessions(_)) && !self.is_of_cpu()
    }

    /// Whether the CPU counts it, and not the server.
    pub(crate) fn is_of_cpu(&self) -> bool {
        matches!(self.source, Source::Cpu(..) | Source::CyclesPerInstruction)
    }

    /// Whether it is what instructions wait for: a branch, a cache or the TLB that was missed.
    pub(crate) fn is_miss(&self) -> bool {
        matches!(self.source, Source::Cpu(event, _) if event.ends_with("_misses"))
    }

    /// For which part of the time the CPU counted it.
    fn counted(&self, measured: &Measured) -> Option<f64> {
        let events = measured.sample.cpu_events.as_ref()?;
        match self.source {
            Source::Cpu(event, at) => cpu_events::share(events, event, at),
            Source::CyclesPerInstruction => Some(cpu_events::cycles_and_instructions(events)?.2),
            _ => None,
        }
    }

    /// The amount in a sample with a number, and the operations that it belongs to; `None` where it was not counted.
    fn amount(&self, measured: &Measured) -> Option<(f64, f64)> {
        let sample = &measured.sample;
        let (amount, statements) = match self.source {
            Source::Client => (sample.rows as f64, sample.score.count),
            Source::Planning => {
                return sample.planning_us.filter(|_| measured.has_number()).map(|us| (us, 1.0));
            }
            Source::Cpu(event, at) => {
                (cpu_events::amount(sample.cpu_events.as_ref()?, event, at)?, sample.resources.operations)
            }
            Source::CyclesPerInstruction => {
                let (cycles, instructions, _) = cpu_events::cycles_and_instructions(sample.cpu_events.as_ref()?)?;
                return measured.has_number().then_some((cycles, instructions));
            }
            Source::Sessions(of) => (of(sample.resources.sessions.as_ref()?), sample.resources.operations),
            // Of a server that could not be asked there is no counter at all.
            Source::Counters(..) if sample.counters.is_empty() => return None,
            Source::Counters(..) => (self.in_counters(&sample.counters)?, sample.resources.operations),
        };
        let operations = statements as f64 * sample.score.factor;
        (measured.has_number() && operations > 0.0).then_some((amount, operations))
    }

    /// The sum of its counters among those that were read.
    pub(crate) fn in_counters(&self, counters: &BTreeMap<String, f64>) -> Option<f64> {
        let Source::Counters(names, factor) = self.source else { return None };
        let is_there = names.iter().any(|name| counters.contains_key(*name));
        let is_known = is_there || self.is_everywhere && has_views(counters, views_of(names));
        let sum = names.iter().filter_map(|name| counters.get(*name)).fold(0.0, |sum, one| sum + one);
        // A level that fell, or a counter that began again.
        (is_known && sum >= 0.0).then_some(factor * sum)
    }

    /// Per operation, in one sample.
    pub(crate) fn per_op(&self, measured: &Measured) -> Option<f64> {
        self.amount(measured).map(|(amount, operations)| amount / operations)
    }

    fn findings(&self, rounds: &[Option<Measured>], clients_per_unit: f64) -> Option<WorkFindings> {
        let found: Vec<(f64, f64)> = rounds.iter().flatten().filter_map(|round| self.amount(round)).collect();
        let is_of_itself = matches!(self.source, Source::Planning | Source::CyclesPerInstruction);
        let unit = if is_of_itself { 1.0 } else { clients_per_unit };
        let per_op = |(amount, operations): (f64, f64)| amount / operations / unit;
        let total = found.iter().copied().reduce(|sum, one| (sum.0 + one.0, sum.1 + one.1))?;
        let by_round = || found.iter().copied().map(per_op);
        Some(WorkFindings {
            name: self.name.to_owned(),
            per_op: per_op(total),
            least: by_round().fold(f64::INFINITY, f64::min),
            most: by_round().fold(0.0, f64::max),
            rounds: found.len() as u32,
            counted: rounds.iter().flatten().filter_map(|round| self.counted(round)).reduce(f64::min),
        })
    }
}

/// How names of an engine's counters begin.
fn views_of(names: &[&str]) -> &'static str {
    if names.iter().any(|name| name.starts_with("pg_") || name.starts_with("wal.")) { "pg_" } else { "status." }
}

/// Whether counters of that engine were read.
fn has_views(counters: &BTreeMap<String, f64>, views: &str) -> bool {
    counters.range(views.to_owned()..).next().is_some_and(|(name, _)| name.starts_with(views))
}

/// What a cell's rounds counted.
pub(crate) fn work(rounds: &[Option<Measured>], clients_per_unit: f64) -> Vec<WorkFindings> {
    COUNTS.iter().filter_map(|count| count.findings(rounds, clients_per_unit)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::measured::tests::measured;
    use rqps_model::cpu_events::{CpuEvents, EventCount, EventCounts};
    use rqps_model::sample::Slices;

    fn counted(operations: u64, counters: &[(&str, f64)]) -> Option<Measured> {
        let mut measured = measured(operations, 1_000_000, Slices::default());
        measured.sample.resources.operations = operations;
        measured.sample.counters = counters.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
        Some(measured)
    }

    fn named<'a>(found: &'a [WorkFindings], name: &str) -> Option<&'a WorkFindings> {
        found.iter().find(|one| one.name == name)
    }

    #[test]
    fn counters_of_one_kind_are_summed_and_divided_by_all_statements() {
        let hits = |heap: f64, index: f64| {
            [("pg_statio_user_tables.heap_blks_hit", heap), ("pg_statio_user_tables.idx_blks_hit", index)]
        };
        let found = work(&[counted(1000, &hits(1000.0, 3000.0)), None, counted(3000, &hits(3000.0, 9003.0))], 1.0);
        let hits = named(&found, "buffer_hits").unwrap();
        assert_eq!((hits.per_op, hits.least, hits.most, hits.rounds), (16_003.0 / 4000.0, 4.0, 4.001, 2));
        assert!(hits.is_steady());
        assert_eq!(named(&found, "temp_file_bytes").unwrap().most, 0.0, "counted, and 0");
        assert_eq!(named(&found, "wal_records"), None, "12 and 13 count none");
        let waited = work(&[counted(1000, &[("status.Innodb_row_lock_time", 3.0)])], 1.0);
        assert_eq!(named(&waited, "row_lock_us").unwrap().per_op, 3.0, "told in milliseconds");
        assert_eq!(named(&found, "rows_returned").unwrap().per_op, 1.0);
    }

    #[test]
    fn what_sessions_did_is_known_where_all_of_them_were_followed() {
        let followed = |sessions| {
            let mut round = counted(1000, &[]);
            round.as_mut().unwrap().sample.resources.sessions = sessions;
            work(&[round], 1.0)
        };
        let used = SessionUse { voluntary_switches: 1500, minor_faults: 20, major_faults: 5, ..SessionUse::default() };
        let found = followed(Some(SessionUse { run_delay_s: 0.002, ..used }));
        let per_op = |name: &str| named(&found, name).unwrap().per_op;
        assert_eq!([per_op("voluntary_switches"), per_op("involuntary_switches")], [1.5, 0.0]);
        assert_eq!([per_op("session_faults"), per_op("run_delay_us")], [0.025, 2.0]);
        assert_eq!(named(&followed(None), "voluntary_switches"), None);
    }

    #[test]
    fn what_the_cpu_counted_is_scaled_and_divided_by_all_statements() {
        let round = |running_ns: u64| {
            let mut round = counted(1000, &[]);
            let count = |count| Some(EventCount { count, enabled_ns: 100, running_ns });
            let counts = |user, kernel| EventCounts { user: count(user), kernel: count(kernel) };
            let counted = [("instructions", counts(30_000, 10_000)), ("cycles", counts(50_000, 30_000))];
            let counted = counted.map(|(event, counts)| (event.to_owned(), counts)).into();
            let events = CpuEvents { counted, ..CpuEvents::default() };
            round.as_mut().unwrap().sample.cpu_events = Some(events);
            round
        };
        let found = work(&[round(100), round(50)], 1.0);
        let of = |name: &str| named(&found, name).map(|one| (one.per_op, one.least, one.most, one.counted));
        assert_eq!(of("instructions"), Some((60.0, 40.0, 80.0, Some(0.5))), "1000 of each round");
        assert_eq!(of("instructions_kernel"), Some((15.0, 10.0, 20.0, Some(0.5))));
        assert_eq!(of("cycles_per_instruction"), Some((2.0, 2.0, 2.0, Some(0.5))));
        assert_eq!((of("branch_misses_user"), of("voluntary_switches")), (None, None));
        assert_eq!(named(&work(&[counted(1000, &[])], 1.0), "instructions"), None, "nobody asked");
        assert!(COUNTS.iter().all(|count| !(count.is_of_cpu() && count.is_of_engine())), "a CPU is of no engine");
    }

    #[test]
    fn a_single_round_is_not_exact_and_a_server_that_was_not_asked_has_no_counts() {
        let one = work(&[counted(1000, &[("status.Handler_read_key", 1000.0)])], 1.0);
        assert!(!named(&one, "handler_reads").unwrap().is_steady());
        let unsteady = work(&[counted(1000, &[("status.x", 1.0)]), counted(1000, &[("status.x", 1.0)])], 1.0);
        assert!(!named(&unsteady, "handler_reads").unwrap().is_steady(), "0 has no ratio");
        assert_eq!(named(&unsteady, "buffer_hits"), None, "another engine's");
        assert_eq!(named(&work(&[counted(1000, &[])], 1.0), "handler_reads"), None);
    }
}
