//! A plan in plain text, for `rqps plan`: what is compared, what runs in which order, how long it takes, what it needs.
//!
//! In: a plan. Out: text with lines below 100 characters where names allow; the caller prints it.

use crate::budget::half_width;
use crate::estimate::{Estimate, estimate, human_bytes};
use rqps_model::plan::{Arrival, Renew, Stage, TestPlan};
use rqps_model::{Interleave, Plan, human_duration, plural};
use rqps_suites::SuiteName;
use std::fmt::Write;
use std::time::Duration;

/// Describes a plan.
pub fn describe(plan: &Plan) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail; the results are passed up only to be dropped in one place.
    let written = write_all(plan, &mut text);
    debug_assert!(written.is_ok(), "writing to a string cannot fail");
    text
}

fn write_all(plan: &Plan, out: &mut String) -> std::fmt::Result {
    writeln!(out, "campaign   {} (suite {}, seed {})", plan.name, SuiteName::of(&plan.suite), plan.seed)?;
    write_treatments(plan, out)?;
    for (what, size) in rqps_suites::size(&plan.suite, &plan.clients()) {
        writeln!(out, "{what:<9}  {size}")?;
    }
    if let Some(aged) = plan.stages.iter().find_map(|stage| stage.aged.as_ref()) {
        writeln!(out, "aged data  for tests that read: after {aged}")?;
    }
    if !plan.is_chain() {
        writeln!(out, "requests   {}", arrival(plan.arrival))?;
    }
    if let Some(why) = &plan.why_one_by_one {
        writeln!(out, "builds     one after the other: {why}")?;
    } else if plan.is_chain() {
        writeln!(out, "builds     side by side, in slices of about {} ms", plan.slice_ms)?;
    }
    if let Some(why) = &plan.why_continued {
        writeln!(out, "copies     none: {why}")?;
    }
    let machine = plan.machine.map(|machine| format!(", profiles sized for {}", machine.suffix())).unwrap_or_default();
    writeln!(out, "placement  {}{machine}", plan.placement)?;
    if !plan.program_pages.is_small() {
        writeln!(out, "programs   in {} pages, copied anew in each round", plan.program_pages)?;
    }
    if plan.cpu_events {
        writeln!(out, "CPU events counted in every server")?;
    }
    writeln!(out, "margin     builds that differ by less than {} % are equal", percent(plan.margin))?;
    write_tests(plan, out)?;
    write_rounds(plan, out)?;
    write_costs(plan, &estimate(plan), out)
}

fn write_treatments(plan: &Plan, out: &mut String) -> std::fmt::Result {
    writeln!(out, "\ntreatments")?;
    let width = plan.treatments.iter().map(|treatment| treatment.name.len()).max().unwrap_or(0);
    for (index, treatment) in plan.treatments.iter().enumerate() {
        let base = if index == plan.base { "base  " } else { "      " };
        write!(out, "  {:>2}  {base}{:width$}  {}", index + 1, treatment.name, treatment.build)?;
        if let Some(storage) = treatment.storage {
            write!(out, ", {storage} tables")?;
        }
        for (name, value) in &treatment.set {
            write!(out, ", {name}={value}")?;
        }
        if let Some(share) = treatment.planted {
            write!(out, ", the client wastes {} % of a statement's time", percent(share))?;
        }
        writeln!(out)?;
    }
    writeln!(out)
}

fn write_tests(plan: &Plan, out: &mut String) -> std::fmt::Result {
    // Stages of a chain differ in their clients only.
    let largest = plan.stages.iter().filter(|_| plan.is_chain()).max_by_key(|stage| stage.clients.iter().max());
    let tests = largest.map_or_else(|| plan.tests(), |stage| stage.tests.iter().collect());
    let level = match largest.map_or(&[][..], |stage| &stage.clients) {
        [clients] if plan.stages.len() > 1 => format!(", with {clients} clients"),
        _ => String::new(),
    };
    writeln!(out, "\n{} in order of execution{level}", plural(tests.len(), plan.suite.noun()))?;
    let width = tests.iter().map(|test| test.name.len()).max().unwrap_or(0);
    for test in tests {
        let work = rqps_suites::work_of(&plan.suite, &test.name);
        let how = match test.interleave {
            _ if plan.is_chain() => work.clone(),
            Some(Interleave::Turns) => match plan.turn_seconds {
                Some(turn) => format!("turns of {} s", turn.min(test.seconds)),
                None => "turns".to_owned(),
            },
            None => "one build after the other".to_owned(),
            _ => format!("slices of {} ms", plan.slice_ms),
        };
        let how = if plan.is_chain() || work.is_empty() { how } else { format!("{how}, {work}") };
        let seconds = format!("{}{}", if test.timed { "" } else { "~" }, test.seconds);
        let line = format!("  {:width$}  {:9}  {seconds:>6} s  {how}{}", test.name, test.group, before(test));
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

fn before(test: &TestPlan) -> String {
    if test.before.is_empty() { String::new() } else { format!(", after {}", test.before.join(", ")) }
}

/// How many rounds there are: `6 rounds`, or `about 6 rounds in 10 min`.
pub fn rounds(plan: &Plan) -> String {
    let rounds = plural(plan.rounds, "round");
    match plan.time {
        None => rounds,
        Some(time) => {
            let time = Duration::try_from_secs_f64(time.seconds).unwrap_or(Duration::MAX);
            format!("about {rounds} in {}", human_duration(time))
        }
    }
}

fn write_rounds(plan: &Plan, out: &mut String) -> std::fmt::Result {
    /// More orders than a reader wants to see.
    const SHOWN: u32 = 12;
    let how = match (plan.is_chain(), plan.servers_together()) {
        (true, 1) => "a pass of each treatment from an empty data folder; order of passes",
        (true, _) => "a pass of all treatments from empty data folders; order of starts",
        (false, 1) if plan.stages.iter().any(|stage| stage.renew == Renew::PerTest) => {
            "each with a fresh copy and server for each test and treatment; order of treatments"
        }
        (false, _) if plan.stages.iter().any(|stage| stage.renew == Renew::PerTest) => {
            "each with fresh copies and servers for each test; order of starts"
        }
        (false, _) if plan.stages.iter().any(Stage::is_continued) => {
            "each with servers for each test, on data that go on; order of starts"
        }
        (false, _) => "each with every server restarted; order of starts",
    };
    writeln!(out, "\n{}, {how}", rounds(plan))?;
    for round in (1..=plan.rounds.min(SHOWN)).map(|number| plan.round(number)) {
        let order: Vec<String> = round.order.iter().map(|index| (index + 1).to_string()).collect();
        writeln!(out, "  {:>2}  {}", round.number, order.join(" "))?;
    }
    match plan.time {
        Some(_) => writeln!(out, "  ... as many as fit")?,
        None if plan.rounds > SHOWN => writeln!(out, "  ... and {} more", plan.rounds - SHOWN)?,
        None => {}
    }
    Ok(())
}

/// Half of the 95 % interval of a usual test, where all tests run in slices and there are enough rounds for one.
fn expected_half_width(plan: &Plan) -> Option<f64> {
    let in_slices = |stage: &Stage| {
        !stage.has_own_clocks() && stage.tests.iter().all(|test| test.interleave == Some(Interleave::Slices))
    };
    (plan.rounds > 1 && plan.stages.iter().all(in_slices)).then(|| half_width(plan, plan.rounds))
}

fn write_costs(plan: &Plan, costs: &Estimate, out: &mut String) -> std::fmt::Result {
    let said = |seconds: f64| human_duration(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
    writeln!(out, "\ntime       about {}", human_duration(costs.duration()))?;
    let work =
        if costs.work_seconds > 0.0 { format!(", work between {}", said(costs.work_seconds)) } else { String::new() };
    let (load, restart, test) = (said(costs.load_seconds), said(costs.restart_seconds), said(costs.test_seconds));
    if let Some(half_width) = expected_half_width(plan) {
        let percent = (half_width * 1000.0).round() / 10.0;
        writeln!(out, "precision  about ±{percent} % for a usual test (docs/statistics.md)")?;
    }
    if plan.is_chain() {
        let rest = said(costs.work_seconds);
        writeln!(
            out,
            "           steps {test}, rest after l.i2 {rest}, data folders and starts {}",
            said(costs.load_seconds + costs.restart_seconds)
        )?;
        let passes = match plan.servers_together() {
            1 => "one pass at a time".to_owned(),
            servers => format!("{servers} passes at a time"),
        };
        return writeln!(out, "disk       about {} while it runs: {passes}", human_bytes(costs.disk_bytes));
    }
    writeln!(out, "           tests {test}, copies and restarts {restart}, load {load}{work}")?;
    let servers = plural(plan.treatments.len(), "server");
    let what = match plan.why_continued {
        Some(_) => format!("{servers} with their own data, which grow"),
        None if plan.servers_together() == 1 => format!("data for {servers}, and a copy for one"),
        None => format!("data and its copy for {servers}"),
    };
    writeln!(out, "disk       about {} while it runs: {what}", human_bytes(costs.disk_bytes))
}

fn arrival(arrival: Arrival) -> String {
    match arrival {
        Arrival::Closed => "each follows the reply to the one before (closed loop)".to_owned(),
        Arrival::Poisson { rate_per_s } => format!("{rate_per_s} per second in exponential gaps (open loop)"),
        Arrival::Even { rate_per_s } => format!("{rate_per_s} per second in equal gaps (open loop)"),
    }
}

/// A fraction in percent, without the noise of binary fractions.
fn percent(fraction: f64) -> f64 {
    (fraction * 1e6).round() / 1e4
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::plan;
    use expect_test::expect;

    #[test]
    fn tells_the_demo() {
        expect![[r#"
            campaign   demo (suite sysbench, seed 1)

            treatments
               1  base  pg1615_zonky.x10a_c2r12  postgres:16.15
               2        pg1711_zonky.x10a_c2r12  postgres:17.11

            data       1 table of 100000 rows
            clients    1
            aged data  for tests that read: after 8 tests that write, about 5000 row changes each, then postwrite
            requests   each follows the reply to the one before (closed loop)
            placement  same, profiles sized for c2r12
            margin     builds that differ by less than 2 % are equal

            10 tests in order of execution
              update-index         write         1.5 s  slices of 3 ms, after warm
              update-nonindex      write         1.5 s  slices of 3 ms
              scan                 range         1.5 s  slices of 3 ms
              read-only_range=100  range-agg     1.5 s  slices of 3 ms
              read-only-order      range-agg     1.5 s  slices of 3 ms
              read-only-count      range-agg     1.5 s  slices of 3 ms
              point-query          point         1.5 s  slices of 3 ms
              hot-points           point         1.5 s  slices of 3 ms
              range-covered-pk     range         1.5 s  slices of 3 ms
              range-notcovered-si  range         1.5 s  slices of 3 ms, after warm

            5 rounds, each with every server restarted; order of starts
               1  1 2
               2  2 1
               3  2 1
               4  1 2
               5  1 2

            time       about 4 min 30 s
            precision  about ±1.5 % for a usual test (docs/statistics.md)
                       tests 3 min 54 s, copies and restarts 15 s, load 15 s, work between 6 s
            disk       about 730 MB while it runs: data and its copy for 2 servers
        "#]]
        .assert_eq(&describe(&plan(&[], true)));
    }

    #[test]
    fn tells_passes_of_the_insert_benchmark() {
        let words = [
            ("suite", "insert"),
            ("build", "postgres:17.11"),
            ("build", "ma110405"),
            ("storage-engine", "rocksdb"),
            ("scale", "cached-large:0.01"),
            ("write-rates", "100,1000"),
            ("clients", "1,8"),
        ];
        expect![[r#"
            campaign   insert.pg1711_zonky-vs-ma110405_rel (suite insert, seed 1)

            treatments
               1  base  pg1711_zonky.x10a_c2r24          postgres:17.11
               2        ma110405_rel.z12a_rocksdb_c2r24  mariadb:11.4.5, rocksdb tables

            clients    1, 8; a table each
            of each    2500000 rows loaded, 50000 inserted and as many deleted in l.i1 and l.i2
                       100, 1000 rows/s inserted and deleted behind queries, up to 10 s late
            rest       at least 80 s after l.i2
            builds     one after the other: side by side they would need about 41 GB of memory, and there are 26 GB
            placement  same, profiles sized for c2r24
            margin     builds that differ by less than 2 % are equal

            8 steps in order of execution, with 8 clients
              l.i0    write        ~125 s  20000000 rows inserted, 100 a transaction
              l.x     write       ~79.2 s  100 rows inserted, then three indexes on each table
              l.i1    write       ~13.2 s  320000 rows inserted and as many deleted, 50 a transaction
              l.i2    write        ~8.7 s  80000 rows inserted and as many deleted, 5 a transaction
              qr100   range        1800 s  queries beside 100 rows/s inserted and deleted by each client
              qp100   point        1800 s  queries beside 100 rows/s inserted and deleted by each client
              qr1000  range        1800 s  queries beside 1000 rows/s inserted and deleted by each client
              qp1000  point        1800 s  queries beside 1000 rows/s inserted and deleted by each client

            3 rounds, a pass of each treatment from an empty data folder; order of passes
               1  1 2
               2  2 1
               3  2 1

            time       about 1 d
                       steps 1 d, rest after l.i2 16 min, data folders and starts 1 min 43 s
            disk       about 11 GB while it runs: one pass at a time
        "#]]
        .assert_eq(&describe(&plan(&words, false)));
    }

    #[test]
    fn tells_a_larger_one() {
        let words = [
            ("build", "postgres:16.15"),
            ("build", "new=postgres:/opt/pg"),
            ("base", "new.x10a_io"),
            ("profile", "x10a_io,x10a"),
            ("set", "work_mem=64MB"),
            ("tests", "hot-points"),
            ("tables", "8"),
            ("rows", "10m"),
            ("clients", "1,40"),
            ("rate", "even:500"),
            ("rounds", "14"),
            ("machine", "c48r128"),
            ("margin", "1.5%"),
        ];
        expect![[r#"
            campaign   sysbench.new-vs-2-others (suite sysbench, seed 1)

            treatments
               1        pg1615_zonky.x10a_io_c48r128  postgres:16.15, work_mem=64MB
               2        pg1615_zonky.x10a_c48r128     postgres:16.15, work_mem=64MB
               3  base  new.x10a_io_c48r128           new=postgres:/opt/pg, work_mem=64MB
               4        new.x10a_c48r128              new=postgres:/opt/pg, work_mem=64MB

            data       8 tables of 10000000 rows
            clients    1, 40
            aged data  for tests that read: after 8 tests that write, about 20000 row changes each, then postwrite
            requests   500 per second in equal gaps (open loop)
            placement  same, profiles sized for c48r128
            margin     builds that differ by less than 1.5 % are equal

            1 test in order of execution
              hot-points  point          10 s  turns

            14 rounds, each with every server restarted; order of starts
               1  3 1 4 2
               2  2 4 1 3
               3  4 3 2 1
               4  1 2 3 4
               5  3 1 4 2
               6  2 4 1 3
               7  4 3 2 1
               8  1 2 3 4
               9  1 4 3 2
              10  3 1 2 4
              11  2 3 4 1
              12  4 2 1 3
              ... and 2 more

            time       about 2 h 32 min
                       tests 20 min 48 s, copies and restarts 1 h 57 min, load 13 min 58 s
            disk       about 206 GB while it runs: data and its copy for 4 servers
        "#]]
        .assert_eq(&describe(&plan(&words, false)));
    }

    #[test]
    fn tells_several_engines() {
        let words = [
            ("build", "postgres:17.11"),
            ("build", "my8033"),
            ("build", "new=mysql:/opt/mysql-9.4.0.tar.xz"),
            ("build", "mariadb:11.4.5"),
            ("tests", "hot-points"),
            ("set", "sync_binlog=1"),
            ("machine", "c8r32"),
        ];
        expect![[r#"
            campaign   sysbench.pg1711_zonky-vs-3-others (suite sysbench, seed 1)

            treatments
               1  base  pg1711_zonky.x10a_c8r32  postgres:17.11
               2        my8033_rel.z12a_c8r32    mysql:8.0.33, innodb tables, sync_binlog=1
               3        new.z12a_c8r32           new=mysql:/opt/mysql-9.4.0.tar.xz, innodb tables, sync_binlog=1
               4        ma110405_rel.z12a_c8r32  mariadb:11.4.5, innodb tables, sync_binlog=1

            data       1 table of 1000000 rows
            clients    1
            aged data  for tests that read: after 8 tests that write, about 20000 row changes each, then postwrite
            requests   each follows the reply to the one before (closed loop)
            placement  same, profiles sized for c8r32
            margin     builds that differ by less than 2 % are equal

            1 test in order of execution
              hot-points  point         0.5 s  slices of 3 ms

            about 42 rounds in 15 min, each with every server restarted; order of starts
               1  3 1 4 2
               2  2 4 1 3
               3  4 3 2 1
               4  1 2 3 4
               5  3 1 4 2
               6  2 4 1 3
               7  4 3 2 1
               8  1 2 3 4
               9  1 4 3 2
              10  3 1 2 4
              11  2 3 4 1
              12  4 2 1 3
              ... as many as fit

            time       about 14 min 57 s
            precision  about ±0.4 % for a usual test (docs/statistics.md)
                       tests 2 min 32 s, copies and restarts 10 min 7 s, load 2 min 17 s
            disk       about 6.3 GB while it runs: data and its copy for 4 servers
        "#]]
        .assert_eq(&describe(&plan(&words, false)));
    }
}
