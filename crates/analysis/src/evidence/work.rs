//! Server counters → work per operation: rows read, pages found in memory, bytes of the log, switches.
//!
//! In: the counters that samples keep (after minus before), what the kernel counted of what serves the sessions, what
//! the CPU counted in the server, and the statements of the same time. Out: one number for each kind of work and round,
//! and [`WorkFindings`] over all rounds. Counters span the whole test, from before the first session until after the
//! last one, so they are divided by all statements of the test, warm-up and lead-ins included. Of PostgreSQL only user
//! tables are counted: opening a session reads catalogs, and sessions are renewed by the clock, so that a build would
//! have fewer pages per statement the faster it is.

use super::counts::{COUNTS, Count, Source};
use super::cpu_events;
use crate::findings::WorkFindings;
use crate::read::measured::Measured;

impl Count {
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
            Source::Explained => return None,
            // Of a server that could not be asked there is no counter at all.
            Source::Counters(..) if sample.counters.is_empty() => return None,
            Source::Counters(..) => (self.in_counters(&sample.counters)?, sample.resources.operations),
        };
        let operations = statements as f64 * sample.score.factor;
        (measured.has_number() && operations > 0.0).then_some((amount, operations))
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

/// What a cell's rounds counted.
pub(crate) fn work(rounds: &[Option<Measured>], clients_per_unit: f64) -> Vec<WorkFindings> {
    COUNTS.iter().filter_map(|count| count.findings(rounds, clients_per_unit)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::measured::tests::measured;
    use rqps_model::cpu_events::{CpuEvents, EventCount, EventCounts};
    use rqps_model::sample::{SessionUse, Slices};

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
        assert_eq!(named(&unsteady, "innodb_rows_read"), None, "MariaDB 10.11 has no such counter");
        assert_eq!(named(&work(&[counted(1000, &[])], 1.0), "handler_reads"), None);
    }
}
