//! A plan in plain text, for `rqps plan`: what is compared, what runs in which order, how long it takes, what it needs.
//!
//! In: a plan. Out: text with lines below 100 characters where names allow; the caller prints it.

use crate::estimate::{Estimate, estimate, human_bytes, human_duration};
use rqps_model::plan::{Arrival, TestPlan};
use rqps_model::{Interleave, Plan};
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
    writeln!(out, "campaign   {} (suite {}, seed {})", plan.name, plan.suite, plan.seed)?;
    write_treatments(plan, out)?;
    let tables = count(u64::from(plan.data.tables), "table");
    let rows = count(plan.data.rows, "row");
    writeln!(out, "data       {tables} of {rows}")?;
    let clients: Vec<String> = plan.clients.iter().map(u32::to_string).collect();
    writeln!(out, "clients    {}", clients.join(", "))?;
    writeln!(out, "requests   {}", arrival(plan.arrival))?;
    let machine = plan.machine.map(|machine| format!(", profiles sized for {}", machine.suffix())).unwrap_or_default();
    writeln!(out, "placement  {}{machine}", plan.placement)?;
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
        writeln!(out)?;
    }
    writeln!(out)
}

fn write_tests(plan: &Plan, out: &mut String) -> std::fmt::Result {
    writeln!(out, "\n{} in order of execution", count(plan.tests.len() as u64, "test"))?;
    let width = plan.tests.iter().map(|test| test.name.len()).max().unwrap_or(0);
    for test in &plan.tests {
        let how = match test.interleave {
            Interleave::Slices => format!("slices of {} ms", plan.slice_ms),
            Interleave::Turns => "turns".to_owned(),
            Interleave::Passes => "passes, one build after the other".to_owned(),
        };
        let line = format!("  {:width$}  {:9}  {:>6} s  {how}{}", test.name, test.group, test.seconds, before(test));
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

fn before(test: &TestPlan) -> String {
    if test.before.is_empty() { String::new() } else { format!(", after {}", test.before.join(", ")) }
}

fn write_rounds(plan: &Plan, out: &mut String) -> std::fmt::Result {
    /// More orders than a reader wants to see.
    const SHOWN: usize = 12;
    writeln!(out, "\n{}, each with every server restarted; order of starts", count(plan.rounds.len() as u64, "round"))?;
    for round in plan.rounds.iter().take(SHOWN) {
        let order: Vec<String> = round.order.iter().map(|index| (index + 1).to_string()).collect();
        writeln!(out, "  {:>2}  {}", round.number, order.join(" "))?;
    }
    if plan.rounds.len() > SHOWN {
        writeln!(out, "  ... and {} more", plan.rounds.len() - SHOWN)?;
    }
    Ok(())
}

fn write_costs(plan: &Plan, costs: &Estimate, out: &mut String) -> std::fmt::Result {
    let said = |seconds: f64| human_duration(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
    writeln!(out, "\ntime       about {}", human_duration(costs.duration()))?;
    let work =
        if costs.work_seconds > 0.0 { format!(", work between {}", said(costs.work_seconds)) } else { String::new() };
    let (load, restart, test) = (said(costs.load_seconds), said(costs.restart_seconds), said(costs.test_seconds));
    writeln!(out, "           tests {test}, copies and restarts {restart}, load {load}{work}")?;
    let copies = count(plan.treatments.len() as u64, "server");
    writeln!(out, "disk       about {} while it runs: data and its copy for {copies}", human_bytes(costs.disk_bytes))
}

fn arrival(arrival: Arrival) -> String {
    match arrival {
        Arrival::Closed => "each follows the reply to the one before (closed loop)".to_owned(),
        Arrival::Poisson { rate_per_s } => format!("{rate_per_s} per second in exponential gaps (open loop)"),
        Arrival::Even { rate_per_s } => format!("{rate_per_s} per second in equal gaps (open loop)"),
    }
}

/// A number with its noun.
fn count(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// A fraction in percent, without the noise of binary fractions.
fn percent(fraction: f64) -> f64 {
    (fraction * 1e6).round() / 1e4
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::plan;
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
            requests   each follows the reply to the one before (closed loop)
            placement  same, profiles sized for c2r12
            margin     builds that differ by less than 2 % are equal

            10 tests in order of execution
              update-index         write         1.5 s  slices of 10 ms
              update-nonindex      write         1.5 s  slices of 10 ms
              scan                 range         1.5 s  slices of 10 ms, after postwrite
              read-only_range=100  range-agg     1.5 s  slices of 10 ms
              read-only-order      range-agg     1.5 s  slices of 10 ms
              read-only-count      range-agg     1.5 s  slices of 10 ms
              point-query          point         1.5 s  slices of 10 ms
              hot-points           point         1.5 s  slices of 10 ms
              range-covered-pk     range         1.5 s  slices of 10 ms
              range-notcovered-si  range         1.5 s  slices of 10 ms, after warm

            5 rounds, each with every server restarted; order of starts
               1  1 2
               2  2 1
               3  2 1
               4  1 2
               5  1 2

            time       about 4 min 19 s
                       tests 3 min 7 s, copies and restarts 53 s, load 7 s, work between 12 s
            disk       about 504 MB while it runs: data and its copy for 2 servers
        "#]]
        .assert_eq(&describe(&plan(&[], true)));
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

            time       about 1 h 59 min
                       tests 20 min 32 s, copies and restarts 1 h 17 min, load 21 min 32 s
            disk       about 186 GB while it runs: data and its copy for 4 servers
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
            requests   each follows the reply to the one before (closed loop)
            placement  same, profiles sized for c8r32
            margin     builds that differ by less than 2 % are equal

            1 test in order of execution
              hot-points  point          10 s  slices of 10 ms

            6 rounds, each with every server restarted; order of starts
               1  3 1 4 2
               2  2 4 1 3
               3  4 3 2 1
               4  1 2 3 4
               5  3 1 4 2
               6  2 4 1 3

            time       about 9 min 28 s
                       tests 4 min 51 s, copies and restarts 3 min 29 s, load 1 min 9 s
            disk       about 5.3 GB while it runs: data and its copy for 4 servers
        "#]]
        .assert_eq(&describe(&plan(&words, false)));
    }
}
