//! How long a plan takes and how much disk it needs, told before it starts. Rules of thumb, not promises.
//!
//! In: a plan. Out: seconds by what they are spent on, and bytes. Touches nothing; the true costs are known afterwards.

use crate::engine::{Costs, costs};
use rqps_model::plan::{Alternate, DataSet, Renew, Stage, TreatmentPlan};
use rqps_model::{Interleave, Plan};
use std::time::Duration;

/// Bytes copied a second where the file system must copy.
const COPY_BYTES_PER_S: f64 = 300e6;
/// A vacuum, analyze, checkpoint or warm-up of small tables, and the rows a second of large ones.
const WORK_SECONDS: f64 = 0.2;
const WORK_ROWS_PER_S: f64 = 1_000_000.0;
/// Rows a second that are read to warm caches after a start.
const WARM_ROWS_PER_S: f64 = 2_000_000.0;
/// Connecting, the first slices, and what is read before and after a test, for each build.
const AROUND_TEST_SECONDS: f64 = 0.14;
/// What of every slice is not counted, as the first millisecond is slower than the rest; of a short one a quarter.
const UNCOUNTED_MS: f64 = 1.0;
const UNCOUNTED_PART: f64 = 0.25;
/// Log that a test which writes produces a second, and what a server keeps of it at most.
const WAL_BYTES_PER_S: f64 = 20e6;
const WAL_BYTES_MAX: f64 = 4e9;

/// Row changes a second with which data are aged, and bytes of log and versions of rows that are left of each.
const AGED_ROWS_PER_S: f64 = 10_000.0;
const AGED_BYTES_PER_ROW: u64 = 400;

/// Rows and versions of rows that such a test adds a second.
const GROWTH_BYTES_PER_S: f64 = 2e6;

impl Costs {
    /// The data folder that copies are taken from: the tables, and what is kept of the log of loading them.
    fn master_bytes(&self, rows: u64) -> u64 {
        self.empty_bytes + rows * self.bytes_per_row + self.load_log_bytes(rows)
    }

    fn load_log_bytes(&self, rows: u64) -> u64 {
        (rows * self.log_bytes_per_row).min(WAL_BYTES_MAX as u64)
    }

    /// A copy after all tests that write, for so many seconds.
    fn copy_bytes(&self, rows: u64, written_seconds: f64) -> u64 {
        let log = (written_seconds * WAL_BYTES_PER_S).min(WAL_BYTES_MAX) as u64;
        let more_log = if self.reuses_log { log.saturating_sub(self.load_log_bytes(rows)) } else { log };
        self.master_bytes(rows) + more_log + (written_seconds * GROWTH_BYTES_PER_S) as u64
    }
}

/// Starts and ends of these servers once. Where they are up together they start at
/// once, which is work of a CPU each.
fn restart_seconds(each: &[&Costs], together: bool, cores: u32) -> f64 {
    let starts = || each.iter().map(|costs| costs.start_seconds);
    let around: f64 = each.iter().map(|costs| costs.around_seconds).sum();
    around
        + match together {
            true => starts().fold(starts().sum::<f64>() / f64::from(cores.max(1)), f64::max),
            false => starts().sum(),
        }
}

/// What a plan will cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Initialising and loading, once.
    pub load_seconds: f64,
    /// Copies, starts and ends of servers, in all rounds.
    pub restart_seconds: f64,
    /// Vacuum and such between tests, in all rounds.
    pub work_seconds: f64,
    /// Tests with their warm-up, in all rounds.
    pub test_seconds: f64,
    /// Disk needed at the same time.
    pub disk_bytes: u64,
}

impl Estimate {
    /// All of it.
    pub fn duration(&self) -> Duration {
        let seconds = self.load_seconds + self.restart_seconds + self.work_seconds + self.test_seconds;
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }
}

/// Estimates a plan.
pub fn estimate(plan: &Plan) -> Estimate {
    match plan.is_chain() {
        true => of_passes(plan),
        false => side_by_side(plan),
    }
}

/// One treatment of those that share a master, as those of one build do: data are made for each of these.
fn masters(plan: &Plan) -> Vec<&'static Costs> {
    let key = |one: &TreatmentPlan| (one.build.engine, one.build.source.clone(), one.storage);
    let treatments = &plan.treatments;
    let is_first = |at: &usize| treatments[..*at].iter().all(|earlier| key(earlier) != key(&treatments[*at]));
    let firsts = (0..treatments.len()).filter(is_first).map(|at| &treatments[at]);
    firsts.map(|one| costs((one.build.engine, one.storage))).collect()
}

/// CPUs on which servers start.
fn cores(plan: &Plan) -> u32 {
    plan.machine.map_or(1, |machine| machine.cores)
}

/// Passes from an empty data folder on: side by side, or each gone when the next begins.
fn of_passes(plan: &Plan) -> Estimate {
    let rounds = f64::from(plan.rounds);
    let cores = cores(plan);
    let each: Vec<&Costs> = plan.treatments.iter().map(|one| costs((one.build.engine, one.storage))).collect();
    let restart = restart_seconds(&each, plan.servers_together() > 1, cores);
    let mut restart_seconds = rounds * plan.clients().len() as f64 * restart;
    let (mut load_seconds, mut work_seconds, mut test_seconds) = (0.0, 0.0, 0.0);
    let (mut empty_bytes, mut largest_bytes, mut all_bytes) = (0, 0, 0);
    for costs in each {
        load_seconds += costs.init_seconds;
        empty_bytes += costs.empty_bytes;
        let mut own_bytes = 0;
        for clients in plan.clients() {
            let pass = rqps_suites::pass(&plan.suite, clients, &costs.insert, cores);
            own_bytes = own_bytes.max(costs.empty_bytes + pass.bytes);
            restart_seconds += rounds * costs.empty_bytes as f64 / COPY_BYTES_PER_S;
            test_seconds += rounds * pass.seconds;
            work_seconds += rounds * pass.rest_seconds;
        }
        largest_bytes = largest_bytes.max(own_bytes);
        all_bytes += own_bytes;
    }
    restart_seconds += rounds * head_starts(plan);
    // An empty folder of each treatment to copy, and those in use.
    let disk_bytes = empty_bytes + if plan.servers_together() > 1 { all_bytes } else { largest_bytes };
    Estimate { load_seconds, restart_seconds, work_seconds, test_seconds, disk_bytes }
}

/// Seconds of a round in which servers have their head starts: of those that are started together, the longest of as
/// many uniform draws.
fn head_starts(plan: &Plan) -> f64 {
    let together = plan.servers_together().max(1) as f64;
    let longest = |stage: &Stage| stage.head_start_seconds * together / (together + 1.0);
    plan.treatments.len() as f64 / together * plan.stages.iter().map(longest).sum::<f64>()
}

/// Builds that alternate in each test on copies of what was loaded once.
fn side_by_side(plan: &Plan) -> Estimate {
    let each: Vec<&Costs> = plan.treatments.iter().map(|one| costs((one.build.engine, one.storage))).collect();
    let init_seconds = masters(plan).iter().map(|costs| costs.init_seconds).sum();
    let none = Estimate {
        load_seconds: init_seconds,
        restart_seconds: 0.0,
        work_seconds: 0.0,
        test_seconds: 0.0,
        disk_bytes: 0,
    };
    let mut copies_bytes = 0;
    let mut all = plan.stages.iter().fold(none, |all, stage| {
        let stage = of_stage(plan, stage, &each);
        copies_bytes = copies_bytes.max(stage.1);
        Estimate {
            load_seconds: all.load_seconds + stage.0.load_seconds,
            restart_seconds: all.restart_seconds + stage.0.restart_seconds,
            work_seconds: all.work_seconds + stage.0.work_seconds,
            test_seconds: all.test_seconds + stage.0.test_seconds,
            disk_bytes: all.disk_bytes + stage.0.disk_bytes,
        }
    });
    // The masters of each treatment and the copy it runs on.
    all.disk_bytes += copies_bytes;
    all
}

/// A stage, and the bytes of its copies; its disk is that of its masters.
fn of_stage(plan: &Plan, stage: &Stage, each: &[&Costs]) -> (Estimate, u64) {
    let (treatments, rounds, rows) = (each.len() as f64, f64::from(plan.rounds), stage.rows);
    let (tests, levels) = (&stage.tests, stage.clients.len() as f64);
    // How often servers start in a round, how often what was copied for it, and the tests that a copy sees.
    let per_test = tests.len() as f64 * levels;
    let (restarts, copies, copied_for) = match stage.renew {
        Renew::PerStage => (1.0, 1.0, levels),
        Renew::PerTest => (per_test, per_test, 1.0),
        Renew::Once => (per_test, 0.0, levels * rounds),
    };
    let warm_seconds = if stage.data == DataSet::Empty { 0.0 } else { treatments * rows as f64 / WARM_ROWS_PER_S };
    let restart =
        restarts * (warm_seconds + restart_seconds(each, stage.alternate == Alternate::SideBySide, cores(plan)));
    // Data folders are copied one after the other, each on all CPUs.
    let copy = |costs: &&Costs| copies * costs.master_bytes(rows) as f64 / COPY_BYTES_PER_S;
    let works: usize = tests.iter().map(|test| test.before.len()).sum();
    let written: f64 = tests.iter().filter(|test| test.writes).map(|test| test.seconds).sum::<f64>() * copied_for;
    let test_seconds: f64 = tests
        .iter()
        .map(|test| match test.interleave {
            Some(Interleave::Slices) if !stage.has_own_clocks() => {
                test.seconds / (1.0 - (UNCOUNTED_MS / plan.slice_ms).min(UNCOUNTED_PART))
            }
            _ => test.seconds,
        })
        .map(|seconds| (seconds + plan.warmup_seconds + AROUND_TEST_SECONDS) * levels)
        .sum();
    let changes = stage.aged.as_ref().map_or(0, |aged| aged.changes * aged.by.len() as u64);
    let aging_seconds = match changes {
        0 => 0.0,
        _ => changes as f64 / AGED_ROWS_PER_S + WORK_SECONDS + rows as f64 / WORK_ROWS_PER_S,
    };
    let aged_bytes = changes * AGED_BYTES_PER_ROW;
    // Data that are aged are loaded first, unless they are there for another stage.
    let is_loaded = stage.aged.is_some() && plan.stages.iter().any(|it| it.begins_with() == (&stage.data, None));
    let load = |costs: &&Costs| if is_loaded { 0.0 } else { rows as f64 / costs.load_rows_per_s } + aging_seconds;
    let estimate = Estimate {
        load_seconds: masters(plan).iter().map(load).sum(),
        restart_seconds: rounds * (restart + each.iter().map(copy).sum::<f64>()),
        work_seconds: rounds * treatments * works as f64 * (WORK_SECONDS + rows as f64 / WORK_ROWS_PER_S),
        test_seconds: rounds * treatments * test_seconds,
        disk_bytes: each.iter().map(|costs| costs.master_bytes(rows) + aged_bytes).sum(),
    };
    let of_each = || each.iter().map(|costs| costs.copy_bytes(rows, written) + aged_bytes);
    match stage.alternate {
        // The masters become the data of the builds, and stay.
        _ if stage.is_continued() => (Estimate { disk_bytes: of_each().sum(), ..estimate }, 0),
        Alternate::SideBySide => (estimate, of_each().sum()),
        Alternate::OneByOne => (estimate, of_each().max().unwrap_or(0)),
    }
}

/// Bytes as a person says them: `640 MB`, `1.2 GB`.
pub fn human_bytes(bytes: u64) -> String {
    const UNITS: [(&str, f64); 3] = [("TB", 1e12), ("GB", 1e9), ("MB", 1e6)];
    let bytes = bytes as f64;
    match UNITS.iter().find(|(_, unit)| bytes >= *unit) {
        Some((name, unit)) if bytes / unit < 10.0 => format!("{:.1} {name}", bytes / unit),
        Some((name, unit)) => format!("{:.0} {name}", bytes / unit),
        None => format!("{:.0} kB", bytes / 1e3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_size_as_people_do() {
        assert_eq!(
            [human_bytes(5_000), human_bytes(640_000_000), human_bytes(1_200_000_000)],
            ["5 kB", "640 MB", "1.2 GB"]
        );
    }

    #[test]
    fn the_demo_stays_below_five_minutes_and_its_quick_form_below_two() {
        let demo = |words: &[(&str, &str)]| {
            let plan = crate::testing::plan(words, true);
            estimate(&plan).duration().as_secs()
        };
        assert!((150..290).contains(&demo(&[])), "{}", demo(&[]));
        assert!((60..100).contains(&demo(&[("quick", "true")])), "{}", demo(&[("quick", "true")]));
    }

    #[test]
    fn servers_that_are_up_together_start_at_once() {
        let of = |store| costs(store);
        let (pg, my) = (of((rqps_model::Engine::Postgres, None)), of((rqps_model::Engine::Mysql, None)));
        let starts = |each: &[&Costs], together, cores| {
            restart_seconds(each, together, cores) - each.iter().map(|costs| costs.around_seconds).sum::<f64>()
        };
        let is = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
        is(starts(&[pg, my], true, 2), my.start_seconds);
        is(starts(&[my; 4], true, 2), 2.0 * my.start_seconds);
        is(starts(&[my; 4], true, 8), my.start_seconds);
        is(starts(&[pg, my], false, 2), pg.start_seconds + my.start_seconds);
        is(starts(&[my; 2], true, 1), 2.0 * my.start_seconds);
    }

    #[test]
    fn passes_take_what_their_scale_says_and_one_data_folder_at_a_time() {
        let plan = |words: &[(&str, &str)]| {
            let two = [("suite", "insert"), ("build", "postgres:16.15"), ("build", "my8033")];
            estimate(&crate::testing::plan(&[&two, words].concat(), false))
        };
        let a_pass = |estimate: Estimate, passes: u64| estimate.duration().as_secs() / passes;
        assert!((100..150).contains(&a_pass(plan(&[]), 6)), "{:?}", plan(&[]));
        let quick = plan(&[("quick", "true")]);
        assert!((45..75).contains(&a_pass(quick, 2)), "{quick:?}");
        let more = plan(&[("rounds", "1"), ("clients", "1,4")]);
        assert!(more.test_seconds > 2.0 * plan(&[("rounds", "1")]).test_seconds, "{more:?}");
        let large = plan(&[("scale", "cached-large:0.01")]);
        let tables = 8 * 2_500_000 * 240;
        assert!((tables..4 * tables).contains(&large.disk_bytes), "{large:?}");
    }

    /// Measured as the sum of all files at the peak: 15.18 and 17.11, one round; two write tests of 2 s in the first.
    #[test]
    fn the_disk_that_two_servers_need_is_not_told_too_small() {
        for (rows, tests, measured) in [("200k", "update-index,insert", 1054e6), ("1m", "point-query.pre", 2253e6)] {
            let words = [("build", "postgres:16.15"), ("build", "postgres:17.11"), ("write-seconds", "2")];
            let words = [&words[..], &[("rows", rows), ("tests", tests), ("rounds", "3")]].concat();
            let told = estimate(&crate::testing::plan(&words, false)).disk_bytes as f64;
            assert!((1.0..1.1).contains(&(told / measured)), "{rows}: {told} told, {measured} measured");
        }
    }

    #[test]
    fn quick_takes_five_minutes_and_everything_scales() {
        let plan = |words: &[(&str, &str)]| {
            let two = [("build", "postgres:16.15"), ("build", "postgres:17.11")];
            crate::testing::plan(&[&two, words].concat(), false)
        };
        let quick = estimate(&plan(&[("quick", "true")]));
        assert!((240..=300).contains(&quick.duration().as_secs()), "{:?}", quick.duration());
        let rounds = [("quick", "true"), ("rounds", "3")];
        let more = estimate(&plan(&[&rounds[..], &[("clients", "1,4")]].concat()));
        assert!((more.test_seconds / estimate(&plan(&rounds)).test_seconds - 2.0).abs() < 1e-9);
        let large = estimate(&plan(&[("rows", "50m")]));
        assert!(large.disk_bytes > 50_000_000 * 200 * 4 && large.load_seconds > 300.0, "{large:?}");
    }
}
