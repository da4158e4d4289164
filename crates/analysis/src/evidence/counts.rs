//! What is counted of a server's work: names, titles, and where each count comes from.
//!
//! The one list of counts: findings have them by name, `report` asks for titles. What a count amounts to in a sample,
//! `work` knows.

use super::cpu_events::At;
use crate::findings::WorkFindings;
use rqps_model::sample::SessionUse;
use std::collections::BTreeMap;

/// Where a count comes from.
pub(super) enum Source {
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
    /// Only what EXPLAIN tells of each kind of statement.
    Explained,
}

/// One kind of work.
pub(crate) struct Count {
    pub(crate) name: &'static str,
    /// What it is called in reports.
    title: &'static str,
    pub(super) source: Source,
    /// Per operation; less costs next to nothing.
    pub(crate) least: f64,
    /// Whether every version has the counters: where none moved it was 0. Where a version lacks them, nothing is known.
    is_everywhere: bool,
    /// What EXPLAIN of PostgreSQL calls it.
    explained: Option<&'static str>,
}

const fn of(name: &'static str, title: &'static str, source: Source, least: f64) -> Count {
    Count { name, title, source, least, is_everywhere: false, explained: None }
}

const fn count(name: &'static str, title: &'static str, counters: &'static [&'static str], least: f64) -> Count {
    Count { is_everywhere: true, ..in_some_versions(name, title, counters, least) }
}

const fn in_some_versions(
    name: &'static str,
    title: &'static str,
    counters: &'static [&'static str],
    least: f64,
) -> Count {
    of(name, title, Source::Counters(counters, 1.0), least)
}

const fn in_sessions(name: &'static str, title: &'static str, used: fn(&SessionUse) -> f64, least: f64) -> Count {
    of(name, title, Source::Sessions(used), least)
}

const fn of_cpu(name: &'static str, title: &'static str, event: &'static str, at: At, least: f64) -> Count {
    of(name, title, Source::Cpu(event, at), least)
}

const fn of_statements(name: &'static str, title: &'static str, explained: &'static str) -> Count {
    of(name, title, Source::Explained, 0.01).explained(explained)
}

/// All kinds, with the counters of PostgreSQL first. An engine has its own names, so that none is compared with
/// another's.
pub(crate) const COUNTS: [Count; 54] = [
    of("rows_returned", "rows returned", Source::Client, 0.01).explained("Actual Rows"),
    // Times are told in whole microseconds.
    of(WorkFindings::PLANNING, "planning each statement once", Source::Planning, 10.0),
    in_sessions(
        WorkFindings::VOLUNTARY_SWITCHES,
        "voluntary switches of sessions",
        |used| used.voluntary_switches as f64,
        0.01,
    ),
    in_sessions(
        WorkFindings::INVOLUNTARY_SWITCHES,
        "involuntary switches of sessions",
        |used| used.involuntary_switches as f64,
        0.01,
    ),
    in_sessions(
        WorkFindings::SESSION_FAULTS,
        "page faults of sessions",
        |used| (used.minor_faults + used.major_faults) as f64,
        0.01,
    ),
    in_sessions(WorkFindings::RUN_DELAY, "run delay of sessions", |used| used.run_delay_s * 1e6, 1.0),
    of_cpu("instructions", "instructions", "instructions", At::Anywhere, 100.0),
    of_cpu("instructions_user", "instructions in user mode", "instructions", At::User, 100.0),
    of_cpu("instructions_kernel", "instructions in the kernel", "instructions", At::Kernel, 100.0),
    of_cpu("cycles", "cycles of the CPU", "cycles", At::Anywhere, 100.0),
    of_cpu("cycles_user", "cycles in user mode", "cycles", At::User, 100.0),
    of_cpu("cycles_kernel", "cycles in the kernel", "cycles", At::Kernel, 100.0),
    of(WorkFindings::CYCLES_PER_INSTRUCTION, "cycles of an instruction", Source::CyclesPerInstruction, 0.0),
    of_cpu("branch_misses_user", "branch misses in user mode", "branch_misses", At::User, 1.0),
    of_cpu("branch_misses_kernel", "branch misses in the kernel", "branch_misses", At::Kernel, 1.0),
    of_cpu("cache_references_user", "cache references in user mode", "cache_references", At::User, 1.0),
    of_cpu("cache_references_kernel", "cache references in the kernel", "cache_references", At::Kernel, 1.0),
    of_cpu("cache_misses_user", "cache misses in user mode", "cache_misses", At::User, 1.0),
    of_cpu("cache_misses_kernel", "cache misses in the kernel", "cache_misses", At::Kernel, 1.0),
    of_cpu("dtlb_misses_user", "data TLB misses in user mode", "dtlb_misses", At::User, 1.0),
    of_cpu("dtlb_misses_kernel", "data TLB misses in the kernel", "dtlb_misses", At::Kernel, 1.0),
    of_cpu("itlb_misses_user", "instruction TLB misses in user mode", "itlb_misses", At::User, 1.0),
    of_cpu("itlb_misses_kernel", "instruction TLB misses in the kernel", "itlb_misses", At::Kernel, 1.0),
    count(
        "table_rows_read",
        "rows read from tables",
        &["pg_stat_user_tables.seq_tup_read", "pg_stat_user_tables.idx_tup_fetch"],
        0.01,
    )
    .explained("Rows Scanned"),
    of_statements("table_rows_written", "rows written to tables", "Rows Written"),
    count("index_entries_read", "index entries read", &["pg_stat_user_indexes.idx_tup_read"], 0.01),
    count("index_scans", "index scans", &["pg_stat_user_tables.idx_scan"], 0.01),
    count("table_scans", "table scans", &["pg_stat_user_tables.seq_scan"], 0.01),
    count(
        "buffer_hits",
        "pages found in shared buffers",
        &[
            "pg_statio_user_tables.heap_blks_hit",
            "pg_statio_user_tables.idx_blks_hit",
            "pg_statio_user_tables.toast_blks_hit",
            "pg_statio_user_tables.tidx_blks_hit",
        ],
        0.01,
    )
    .explained("Shared Hit Blocks"),
    count(
        "buffer_reads",
        "pages read into shared buffers",
        &[
            "pg_statio_user_tables.heap_blks_read",
            "pg_statio_user_tables.idx_blks_read",
            "pg_statio_user_tables.toast_blks_read",
            "pg_statio_user_tables.tidx_blks_read",
        ],
        0.01,
    )
    .explained("Shared Read Blocks"),
    count("hot_updates", "updates without index entries (HOT)", &["pg_stat_user_tables.n_tup_hot_upd"], 0.01),
    count("wal_bytes", "WAL", &["wal.lsn_bytes"], 10.0).explained("WAL Bytes"),
    in_some_versions("wal_records", "WAL records", &["pg_stat_wal.wal_records"], 0.01).explained("WAL Records"),
    in_some_versions("wal_full_pages", "full pages in the WAL", &["pg_stat_wal.wal_fpi"], 0.001).explained("WAL FPI"),
    count("temp_file_bytes", "temporary files", &["pg_stat_database.temp_bytes"], 10.0),
    of_statements("temp_file_blocks", "pages written to temporary files", "Temp Written Blocks"),
    count(
        "handler_reads",
        "handler calls that read",
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
    count(
        "handler_writes",
        "handler calls that write",
        &["status.Handler_write", "status.Handler_update", "status.Handler_delete"],
        0.01,
    ),
    // MariaDB 10.11 no longer has it.
    in_some_versions("innodb_rows_read", "rows read by InnoDB", &["status.Innodb_rows_read"], 0.01),
    count("innodb_page_requests", "pages asked of the buffer pool", &["status.Innodb_buffer_pool_read_requests"], 0.01),
    count("innodb_page_reads", "pages read into the buffer pool", &["status.Innodb_buffer_pool_reads"], 0.01),
    count("redo_bytes", "redo log", &["status.Innodb_os_log_written"], 10.0),
    count("binlog_bytes", "binary log", &["binlog.bytes"], 10.0),
    count("temp_tables", "temporary tables", &["status.Created_tmp_tables"], 0.01),
    count("temp_disk_tables", "temporary tables on disk", &["status.Created_tmp_disk_tables"], 0.001),
    count("rows_sorted", "rows sorted", &["status.Sort_rows"], 0.01),
    count("bytes_sent", "sent to the client", &["status.Bytes_sent"], 10.0),
    count("row_lock_waits", "row lock waits", &["status.Innodb_row_lock_waits"], 0.001),
    Count {
        is_everywhere: true,
        ..of("row_lock_us", "time waiting for row locks", Source::Counters(&["status.Innodb_row_lock_time"], 1e3), 1.0)
    },
    in_some_versions(
        "redo_file_us",
        "I/O time on redo log files",
        &["wait_micros.io/file/innodb/innodb_log_file"],
        1.0,
    ),
    in_some_versions(
        "data_file_us",
        "I/O time on table files",
        &["wait_micros.io/file/innodb/innodb_data_file", "wait_micros.io/file/innodb/innodb_dblwr_file"],
        1.0,
    ),
    in_some_versions("binlog_file_us", "I/O time on binary log files", &["wait_micros.io/file/sql/binlog"], 1.0),
    in_some_versions("table_lock_us", "time waiting for table locks", &["wait_micros.lock/table/sql/handler"], 1.0),
    in_some_versions(
        "metadata_lock_us",
        "time waiting for metadata locks",
        &["wait_micros.lock/metadata/sql/mdl"],
        1.0,
    ),
];

/// What a count is called; of other measures their names.
pub fn title(name: &str) -> &str {
    COUNTS.iter().find(|count| count.name == name).map_or(name, |count| count.title)
}

impl Count {
    const fn explained(self, name: &'static str) -> Count {
        Count { explained: Some(name), ..self }
    }

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

    /// The sum of its counters among those that were read.
    pub(super) fn in_counters(&self, counters: &BTreeMap<String, f64>) -> Option<f64> {
        let Source::Counters(names, factor) = self.source else { return None };
        let is_there = names.iter().any(|name| counters.contains_key(*name));
        let is_known = is_there || self.is_everywhere && has_views(counters, views_of(names));
        let sum = names.iter().filter_map(|name| counters.get(*name)).fold(0.0, |sum, one| sum + one);
        // A level that fell, or a counter that began again.
        (is_known && sum >= 0.0).then_some(factor * sum)
    }

    /// What a server told of it for a kind of statement: EXPLAIN or, on MySQL and MariaDB, status variables.
    pub(crate) fn of_statement(&self, counts: &BTreeMap<String, f64>) -> Option<f64> {
        let explained = self.explained.and_then(|name| counts.get(name).copied());
        explained.or_else(|| self.in_counters(counts))
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_count_has_a_name_and_a_title_of_its_own() {
        let all = |of: fn(&Count) -> &str| COUNTS.iter().map(of).collect::<BTreeSet<_>>().len();
        assert_eq!((all(|count| count.name), all(|count| count.title)), (COUNTS.len(), COUNTS.len()));
        assert_eq!((title("wal_bytes"), title("p99")), ("WAL", "p99"));
    }
}
