//! What is read of a PostgreSQL server each second.
//!
//! In: a session in the database that is measured, as a superuser. Out: numbers by name, the same for all versions from
//! 12 on. Checkpoints are counted by us, from the position of the last one that was finished: servers count those that
//! began before 17, skipped ones too in 17, and finished ones from 18 on. Numbers of rows and vacuums come from
//! functions, since the views over them join the catalog anew each time.

use super::DATABASE_BYTES;
use crate::counters::{Counters, try_query};
use rqps_wire::{Session, WireError};

/// Read each second; columns have our names.
const EACH_SECOND: [&str; 4] = [
    "select pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_lsn(), '0/0') as log_bytes",
    "select count(*) as wal_files, coalesce(sum(size), 0) as wal_bytes_kept \
     from pg_catalog.pg_ls_waldir() where name ~ '^[0-9A-F]{24}$'",
    "select coalesce(sum(pg_catalog.pg_stat_get_dead_tuples(oid)), 0) as dead_rows, \
     coalesce(sum(pg_catalog.pg_stat_get_live_tuples(oid)), 0) as live_rows, \
     coalesce(sum(pg_catalog.pg_stat_get_vacuum_count(oid) + pg_catalog.pg_stat_get_autovacuum_count(oid)), 0) \
     as vacuums from pg_catalog.pg_class where relkind = 'r' and oid >= 16384",
    "select count(*) as vacuums_running from pg_catalog.pg_stat_progress_vacuum \
     where datname = current_database() and relid >= 16384",
];

/// The size of the database, for which every file is looked at, is read once in so many times.
const DATABASE_BYTES_EACH: u32 = 10;

/// Where the last finished checkpoint begins in the log; written to the control file when it is finished.
const LAST_CHECKPOINT: &str = "select checkpoint_lsn from pg_catalog.pg_control_checkpoint()";

/// What stands before the time in the server's words, and its unit.
const PLANNING_TIME: (&str, &str) = ("Planning Time: ", " ms");

/// What is kept from one second to the next.
#[derive(Debug, Default)]
pub(crate) struct Queries {
    /// Statements whose planning is timed: the name of the number, and what asks for it.
    timed: Vec<(String, String)>,
    reads: u32,
    last_checkpoint: Option<String>,
    checkpoints: u32,
}

impl Queries {
    /// With the planning of these statements, by name.
    pub(crate) fn with_planning_of(statements: &[(&'static str, String)]) -> Queries {
        let timed = |(name, sql): &(&str, String)| (format!("planning_us_{name}"), format!("EXPLAIN (SUMMARY) {sql}"));
        Queries { timed: statements.iter().map(timed).collect(), ..Queries::default() }
    }

    /// What the server knows now.
    pub(crate) fn read(&mut self, session: &mut Session) -> Result<Counters, WireError> {
        let mut numbers = Counters::new();
        if let Some(answer) = try_query(session, LAST_CHECKPOINT)? {
            let checkpoint = answer.single().map(str::to_owned);
            numbers.extend(self.count(checkpoint).map(|count| ("checkpoints".to_owned(), count)));
        }
        // The first reading, which belongs to no row, leaves it out.
        let is_due = self.reads % DATABASE_BYTES_EACH == 1;
        self.reads += 1;
        for sql in EACH_SECOND.into_iter().chain(is_due.then_some(DATABASE_BYTES)) {
            let Some(table) = try_query(session, sql)? else { continue };
            let cells = table.rows.first().map_or(&[][..], Vec::as_slice);
            let pairs = table.columns.iter().zip(cells);
            numbers.extend(pairs.filter_map(|(name, cell)| Some((name.clone(), cell.as_deref()?.parse().ok()?))));
        }
        for (name, sql) in &self.timed {
            let Some(plan) = try_query(session, sql)? else { continue };
            let mut lines = plan.rows.iter().filter_map(|row| row.first()?.as_deref());
            numbers.extend(lines.find_map(planning_us).map(|us| (name.clone(), us)));
        }
        Ok(numbers)
    }

    /// How many checkpoints were finished since the first reading.
    fn count(&mut self, checkpoint: Option<String>) -> Option<f64> {
        let checkpoint = checkpoint?;
        if self.last_checkpoint.as_ref().is_some_and(|last| *last != checkpoint) {
            self.checkpoints += 1;
        }
        self.last_checkpoint = Some(checkpoint);
        Some(f64::from(self.checkpoints))
    }
}

/// The time of planning that a line of a plan tells.
fn planning_us(line: &str) -> Option<f64> {
    let milliseconds = line.strip_prefix(PLANNING_TIME.0)?.strip_suffix(PLANNING_TIME.1)?;
    milliseconds.parse::<f64>().ok().map(|ms| ms * 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_tells_what_planning_took() {
        let told = ["Result  (cost=0.43..0.44 rows=1 width=8)", "Planning Time: 0.250 ms", "Planning Time: soon"];
        assert_eq!(told.map(planning_us), [None, Some(250.0), None]);
    }

    #[test]
    fn a_checkpoint_counts_once_and_the_first_not() {
        let mut queries = Queries::default();
        let counts: Vec<Option<f64>> = [Some("0/1"), Some("0/1"), Some("0/9"), None, Some("0/9"), Some("1/0")]
            .into_iter()
            .map(|lsn| queries.count(lsn.map(str::to_owned)))
            .collect();
        assert_eq!(counts, [Some(0.0), Some(0.0), Some(1.0), None, Some(1.0), Some(2.0)]);
    }
}
