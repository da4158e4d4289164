//! Each rule on a cell made for it, and silence where nothing moved.

use super::*;
use crate::findings::{MeasureComparison, PlanFindings};
use rqps_model::{Group, Unit, Verdict};

/// A measure that moved by `ratio`, give or take a percent.
fn measure(name: &str, ratio: f64) -> MeasureComparison {
    MeasureComparison {
        low: Some(ratio * 0.99),
        high: Some(ratio * 1.01),
        q: Some(if (ratio - 1.0).abs() < 0.01 { 0.6 } else { 0.001 }),
        ..MeasureComparison::undecided(name, ratio, 5)
    }
}

/// A test with one client and 100 µs an operation of the base, on two builds, the second of which has rQPS as given.
/// An operation costs the server 60 µs of CPU, half of it in the kernel, and the client 20 µs.
fn test(rqps: f64, own: Cost, measures: Vec<MeasureComparison>) -> TestFindings {
    let comparison = Comparison {
        low: Some(rqps - 0.01),
        high: Some(rqps + 0.01),
        verdict: if rqps < 1.0 { Verdict::Regressed } else { Verdict::Improved },
        beyond_margin: true,
        ..Comparison::undecided(rqps, 5)
    };
    let base = CellFindings { cost: Some(cost()), ..CellFindings::default() };
    let cell = CellFindings { cost: Some(own), comparison: Some(comparison), measures, ..CellFindings::default() };
    TestFindings {
        name: "point-query".to_owned(),
        label: "point-query".to_owned(),
        group: Group::Point,
        unit: Unit::QueriesPerSecond,
        clients: 1,
        interleave: None,
        statements: Vec::new(),
        cells: vec![base, cell],
    }
}

fn context(has_shares: bool) -> Context<'static> {
    Context {
        base: 0,
        dialect: Dialect::Postgres,
        has_shares,
        twins: &[],
        alike: &[true, true],
        has_plans_of_base: &[true, true],
    }
}

fn cost() -> Cost {
    Cost {
        ops_per_s: 10_000.0,
        server_cpu_us: 60.0,
        client_cpu_us: 20.0,
        server_user_share: 0.5,
        cs_per_op: 2.0,
        server_write_bytes_per_op: 100.0,
        ..Cost::default()
    }
}

/// A time in microseconds.
fn time(name: &str, per_op: f64) -> Vec<WorkFindings> {
    vec![WorkFindings { name: name.to_owned(), per_op, least: 0.0, most: 9.0, rounds: 5, counted: None }]
}

/// For how long sessions wait for a CPU, in microseconds an operation.
fn run_delay(per_op: f64) -> Vec<WorkFindings> {
    time(WorkFindings::RUN_DELAY, per_op)
}

#[test]
fn cpu_of_the_server_tells_its_share_and_where_it_was_spent() {
    // 25 µs more an operation, 24 of them CPU in the kernel.
    let own = Cost { server_cpu_us: 84.0, server_user_share: 30.0 / 84.0, ..cost() };
    let found = causes(&test(0.8, own, vec![measure("server_cpu_us", 1.4)]), 1, context(true));
    let [Cause::ServerCpu { moved, share: Some(share), kernel: Some(kernel) }] = &found[..] else {
        panic!("{found:?}")
    };
    assert!((moved.to - 84.0).abs() < 1e-9 && (share - 0.96).abs() < 1e-9 && (kernel - 1.0).abs() < 1e-9);
}

#[test]
fn waiting_is_what_no_cpu_accounts_for() {
    let measures = vec![measure("server_cpu_us", 1.05), measure("client_cpu_us", 1.0), measure("cs_per_op", 1.5)];
    let found = causes(&test(0.5, Cost { cs_per_op: 3.0, server_cpu_us: 63.0, ..cost() }, measures), 1, context(true));
    let [Cause::Waiting { share, for_cpu: None, .. }, Cause::ServerCpu { .. }, Cause::Work { measure, moved }] =
        &found[..]
    else {
        panic!("{found:?}")
    };
    assert!((share - 0.97).abs() < 1e-9);
    assert_eq!((measure.as_str(), moved.to), ("cs_per_op", 3.0));
}

#[test]
fn waiting_for_a_cpu_is_told_apart_where_it_is_most_of_it() {
    // 100 µs more an operation, and 97 of them on no CPU.
    let waited = |run_delay_us: f64| {
        let measures = vec![
            measure("server_cpu_us", 1.05),
            measure("client_cpu_us", 1.0),
            measure(WorkFindings::RUN_DELAY, 1.0 + run_delay_us / 100.0),
        ];
        let mut test = test(0.5, Cost { server_cpu_us: 63.0, ..cost() }, measures);
        test.cells[0].work = run_delay(100.0);
        test.cells[1].work = run_delay(100.0 + run_delay_us);
        match causes(&test, 1, context(true)).first() {
            Some(Cause::Waiting { for_cpu, .. }) => *for_cpu,
            other => panic!("{other:?}"),
        }
    };
    assert!((waited(80.0).unwrap() - 0.8).abs() < 1e-9);
    assert_eq!((waited(30.0), waited(-30.0)), (None, None), "it waits for something else");
}

#[test]
fn waits_that_were_sampled_say_what_a_residue_cannot() {
    use crate::findings::{Amount, EventFindings, WaitFindings};
    // 100 µs more an operation: 40 of them are CPU of the server, and 56 a wait.
    let own = Cost { server_cpu_us: 100.0, ..cost() };
    let mut test = test(0.5, own, vec![measure("server_cpu_us", 100.0 / 60.0), measure("client_cpu_us", 1.0)]);
    assert!(matches!(causes(&test, 1, context(true))[..], [Cause::ServerCpu { .. }]));
    let event = |name: &str, difference_us: f64, is_sure: bool| {
        let amount = Amount { difference_us, is_sure, ..Amount::default() };
        EventFindings { name: name.to_owned(), is_wait: true, count: 100, amount }
    };
    let waits = |events: Vec<EventFindings>| WaitFindings { events, ..WaitFindings::default() };
    test.cells[1].waits = Some(waits(vec![event("IO/WalSync", 56.0, true), event("IO/WalWrite", 10.0, false)]));
    let found = causes(&test, 1, context(true));
    let [Cause::Waiting { share, flush_cpu: None, .. }, Cause::ServerCpu { .. }] = &found[..] else {
        panic!("{found:?}")
    };
    assert!((share - 0.56).abs() < 1e-9);
    test.cells[1].waits = Some(waits(vec![event("IO/WalSync", 45.0, true)]));
    assert!(matches!(causes(&test, 1, context(true))[..], [Cause::ServerCpu { .. }]), "less than half");
    test.cells[1].measures[0] = measure("server_cpu_us", 150.0 / 60.0);
    test.cells[1].waits = Some(waits(vec![event("IO/BuffileWrite", 70.0, true)]));
    assert!(matches!(causes(&test, 1, context(true))[..], [Cause::ServerCpu { .. }]), "on the CPU all the while");
}

#[test]
fn the_way_to_the_disk_is_waiting_for_it() {
    use crate::findings::{Amount, EventFindings, FunctionFindings, ProfileFindings, WaitFindings};
    // 100 µs more an operation: 55 of them are CPU of the server, 20 of which are in the flush that sessions wait in.
    let own = Cost { server_cpu_us: 115.0, ..cost() };
    let mut test = test(0.5, own, vec![measure("server_cpu_us", 115.0 / 60.0), measure("client_cpu_us", 1.0)]);
    let amount = |difference_us: f64| Amount { difference_us, is_sure: true, ..Amount::default() };
    let flush = |difference_us| FunctionFindings {
        name: "do_fsync_[k]".to_owned(),
        samples: 100,
        amount: amount(difference_us),
        absent: None,
    };
    let wait = EventFindings { name: "IO/WalSync".to_owned(), is_wait: true, count: 100, amount: amount(90.0) };
    let profile = |flush_us| ProfileFindings { inclusive: vec![flush(flush_us)], ..ProfileFindings::default() };
    test.cells[1].profile = Some(profile(20.0));
    assert!(matches!(causes(&test, 1, context(true))[..], [Cause::ServerCpu { .. }]), "no wait was seen");
    test.cells[1].waits = Some(WaitFindings { events: vec![wait], ..WaitFindings::default() });
    let found = causes(&test, 1, context(true));
    let [Cause::Waiting { share, flush_cpu: Some(flush_cpu), .. }, Cause::ServerCpu { .. }] = &found[..] else {
        panic!("{found:?}")
    };
    assert!((share - 0.65).abs() < 1e-9 && (flush_cpu - 0.2).abs() < 1e-9);
    test.cells[1].profile = Some(profile(2.0));
    assert!(matches!(causes(&test, 1, context(true))[..], [Cause::ServerCpu { .. }]), "its own work is more");
}

#[test]
fn what_is_written_beside_reads_goes_by_the_clock() {
    let found = |sql: &str, ratio: f64| {
        let own = Cost { server_write_bytes_per_op: 1e3 * ratio, ..cost() };
        let mut test = test(0.8, own, vec![measure("server_write_bytes_per_op", ratio)]);
        test.cells[0].cost.as_mut().unwrap().server_write_bytes_per_op = 1e3;
        test.statements = ["BEGIN", sql, "COMMIT"].map(|sql| ("statement".to_owned(), sql.to_owned())).to_vec();
        causes(&test, 1, context(false)).len()
    };
    assert_eq!(found("SELECT a FROM t WHERE id = 1", 1.25), 0);
    assert_eq!(found("SELECT a FROM t WHERE id = 1", 1.5), 1, "more a second");
    assert_eq!(found("UPDATE t SET a = 2 WHERE id = 1", 1.25), 1, "what it writes is its own");
}

#[test]
fn rare_work_that_goes_by_the_clock_is_no_cause() {
    let found = |per_op: f64, ratio: f64| {
        let own = Cost { cs_per_op: per_op * ratio, ..cost() };
        let mut test = test(0.8, own, vec![measure("cs_per_op", ratio)]);
        test.cells[0].cost.as_mut().unwrap().cs_per_op = per_op;
        causes(&test, 1, context(false)).len()
    };
    // A hundredth of a switch more per operation, and as many a second as before.
    assert_eq!(found(0.04, 1.25), 0);
    assert_eq!(found(0.04, 1.5), 1, "more a second");
    assert_eq!(found(2.0, 1.25), 1, "more than rare");
}

#[test]
fn planning_goes_by_no_clock_and_a_statement_has_its_part_of_it() {
    // 100 µs an operation on the base, 8 µs more.
    let found = |statements: usize| {
        let mut test = test(1.0 / 1.08, cost(), vec![measure("planning_us", 1.08)]);
        test.statements = vec![("q".to_owned(), "SELECT 1".to_owned()); statements];
        test.cells[0].work = time(WorkFindings::PLANNING, 100.0);
        test.cells[1].work = time(WorkFindings::PLANNING, 108.0);
        causes(&test, 1, context(true)).len()
    };
    assert_eq!(found(1), 1, "all of the change");
    assert_eq!(found(20), 0, "a twentieth of it");
}

#[test]
fn plans_that_are_compared_with_another_build_than_the_base_are_no_cause() {
    let mut test = test(0.8, cost(), Vec::new());
    let plan = PlanFindings { statement: "q".to_owned(), differs: true, ..PlanFindings::default() };
    test.cells[1].plans = vec![plan];
    assert_eq!(causes(&test, 1, context(false)).len(), 1);
    assert_eq!(causes(&test, 1, Context { has_plans_of_base: &[true, false], ..context(false) }), []);
}

#[test]
fn less_work_in_more_time_comes_last_and_short_times_not_at_all() {
    // 25 µs more an operation.
    let own = Cost { cs_per_op: 1.0, server_write_bytes_per_op: 300.0, ..cost() };
    let measures = vec![measure("cs_per_op", 0.5), measure("server_write_bytes_per_op", 3.0)];
    let mut test = test(0.8, own, measures);
    let names = |test: &TestFindings| -> Vec<String> {
        let found = causes(test, 1, context(true));
        found.iter().filter_map(|cause| Some(amounts(cause)?.0.to_owned())).collect()
    };
    assert_eq!(names(&test), ["server_write_bytes_per_op", "cs_per_op"]);
    for (delay_us, is_told) in [(6.0, false), (9.0, true)] {
        test.cells[0].work = run_delay(5.0);
        test.cells[1].work = run_delay(delay_us);
        test.cells[1].measures.push(measure("run_delay_us", delay_us / 5.0));
        assert_eq!(names(&test).contains(&"run_delay_us".to_owned()), is_told, "{delay_us}");
        test.cells[1].measures.pop();
    }
    // 24 of the 25 µs are CPU.
    test.cells[1].measures.extend(
        [("run_delay_us", 1.8), ("server_cpu_us", 1.4), ("client_cpu_us", 1.0)]
            .map(|(name, ratio)| measure(name, ratio)),
    );
    assert!(!names(&test).contains(&"run_delay_us".to_owned()), "CPU accounts for all of it");
}

#[test]
fn a_slower_device_is_named_where_operations_wait_for_it() {
    let flushing = |flushes_per_op, flush_ms| Cost { flushes_per_op, flush_ms, ..cost() };
    let found = |flushes| {
        let mut test = test(0.5, flushing(flushes, 0.08), vec![measure("flush_ms", 2.0)]);
        test.cells[0].cost = Some(flushing(flushes, 0.04));
        causes(&test, 1, context(false))
    };
    let every = found(1.0);
    let [Cause::Work { measure, moved }] = &every[..] else { panic!("{every:?}") };
    assert_eq!((measure.as_str(), moved.from), ("flush_ms", 0.04));
    assert_eq!(found(0.001), [], "one in a thousand operations waits");
}

#[test]
fn a_slower_client_is_named() {
    let own = Cost { client_cpu_us: 40.0, ..cost() };
    let found = causes(&test(0.8, own, vec![measure("client_cpu_us", 2.0)]), 1, context(true));
    let [Cause::ClientCpu { share: Some(share), .. }] = &found[..] else { panic!("{found:?}") };
    assert!((share - 0.8).abs() < 1e-9);
    // Of what hardly matters nothing is said.
    let own = Cost { client_cpu_us: 21.0, server_cpu_us: 84.0, ..cost() };
    let measures = vec![measure("client_cpu_us", 1.05), measure("server_cpu_us", 1.4)];
    let found = causes(&test(0.8, own, measures), 1, context(true));
    assert!(matches!(found[..], [Cause::ServerCpu { .. }]), "{found:?}");
}

#[test]
fn a_changed_plan_comes_first() {
    let own = Cost { server_cpu_us: 84.0, ..cost() };
    let mut test = test(0.8, own, vec![measure("server_cpu_us", 1.4)]);
    let plan =
        |statement: &str, differs| PlanFindings { statement: statement.to_owned(), differs, ..PlanFindings::default() };
    test.cells[1].plans = vec![plan("select", true), plan("update", false)];
    let found = causes(&test, 1, context(true));
    assert_eq!(found[0], Cause::Plan { statements: vec!["select".to_owned()] });
}

#[test]
fn what_chance_may_explain_explains_nothing() {
    let measures = vec![measure("server_cpu_us", 1.005), measure("client_cpu_us", 1.0), measure("cs_per_op", 0.995)];
    assert_eq!(causes(&test(0.8, cost(), measures.clone()), 1, context(false)), [], "at a rate time is no cost");
    // Of a small change CPU whose interval is as wide may account for all.
    assert_eq!(causes(&test(0.985, cost(), measures.clone()), 1, context(true)), []);
    let found = causes(&test(0.8, cost(), measures), 1, context(true));
    assert!(matches!(found[..], [Cause::Waiting { .. }]), "of a large one it cannot: {found:?}");
    let mut unchanged = test(0.99, cost(), vec![measure("server_cpu_us", 1.4)]);
    unchanged.cells[1].comparison.as_mut().unwrap().verdict = Verdict::Equal;
    assert_eq!(causes(&unchanged, 1, context(true)), []);
}

/// Ten index scans and twenty pages an operation on the base; of the build as many as given.
fn counted(scans: [f64; 2], pages: [f64; 2], measures: Vec<MeasureComparison>) -> TestFindings {
    let work = |name: &str, [least, most]: [f64; 2]| {
        let per_op = (least + most) / 2.0;
        WorkFindings { name: name.to_owned(), per_op, least, most, rounds: 5, counted: None }
    };
    let mut test = test(0.8, cost(), measures);
    test.cells[0].work = vec![work("index_scans", [10.0, 10.001]), work("buffer_hits", [20.0, 20.001])];
    test.cells[0].work.push(work("temp_file_bytes", [0.0, 0.0]));
    test.cells[1].work = vec![work("index_scans", scans), work("buffer_hits", pages)];
    test
}

#[test]
fn an_exact_count_needs_no_interval_and_what_moved_most_comes_first() {
    let test = counted([9.8, 9.801], [30.0, 30.001], Vec::new());
    let found = causes(&test, 1, context(true));
    let [Cause::Count { measure, to, interval: None, .. }, Cause::Count { measure: second, .. }] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!((measure.as_str(), second.as_str()), ("buffer_hits", "index_scans"));
    assert!((to - 30.0005).abs() < 1e-9);
    let less = counted([9.95, 9.951], [20.0, 20.0], Vec::new());
    assert_eq!(causes(&less, 1, context(true)), [], "half a percent explains nothing");
}

#[test]
fn a_count_that_varies_needs_an_interval() {
    let unsteady = counted([9.5, 14.0], [20.0, 20.0], Vec::new());
    assert_eq!(causes(&unsteady, 1, context(true)), []);
    let sure = counted([9.5, 14.0], [20.0, 20.0], vec![measure("index_scans", 1.18)]);
    let found = causes(&sure, 1, context(true));
    assert!(matches!(found[..], [Cause::Count { interval: Some((low, _)), .. }] if low > 1.16), "{found:?}");
}

#[test]
fn an_a_a_pair_says_whether_a_count_is_exact() {
    let mut test = counted([9.0, 9.001], [20.0, 20.0], Vec::new());
    let mut twin = test.cells[0].clone();
    let mut by_round = |ratio: f64| {
        twin.measures = vec![MeasureComparison { by_round: vec![(1, 1.0), (2, ratio)], ..measure("index_scans", 1.0) }];
        test.cells.truncate(2);
        test.cells.push(twin.clone());
        causes(&test, 1, Context { twins: &[2], ..context(true) }).len()
    };
    assert_eq!((by_round(1.0001), by_round(1.002)), (1, 0));
}

#[test]
fn what_only_one_side_does_is_told() {
    let mut test = counted([10.0, 10.0], [20.0, 20.0], Vec::new());
    let spilled = WorkFindings {
        name: "temp_file_bytes".to_owned(),
        per_op: 9e3,
        least: 8e3,
        most: 1e4,
        rounds: 5,
        counted: None,
    };
    test.cells[1].work.push(spilled);
    let found = causes(&test, 1, context(true));
    assert!(
        matches!(&found[..], [Cause::Count { measure, from: 0.0, interval: None, .. }] if measure == "temp_file_bytes")
    );
    // It comes before what both do.
    test.cells[1].measures = vec![measure("cs_per_op", 1.5)];
    test.cells[1].cost.as_mut().unwrap().cs_per_op = 3.0;
    let found = causes(&test, 1, context(true));
    assert!(matches!(found[..], [Cause::Count { .. }, Cause::Work { .. }]), "{found:?}");
    test.cells[1].measures.clear();
    test.cells[1].work.last_mut().unwrap().least = 0.0;
    assert_eq!(causes(&test, 1, context(true)), [], "not in every round");
}

#[test]
fn counts_of_two_engines_are_not_compared() {
    let test = counted([1.0, 1.0], [20.0, 20.0], Vec::new());
    assert_eq!(causes(&test, 1, context(true)).len(), 1);
    assert_eq!(causes(&test, 1, Context { alike: &[true, false], ..context(true) }), []);
}

/// Where sessions were followed, what the rest of the server and of the machine did is not told in their place.
#[test]
fn switches_and_faults_are_those_of_sessions_where_these_were_followed() {
    let work = |name: &str, per_op| WorkFindings {
        name: name.to_owned(),
        per_op,
        least: per_op * 0.9,
        most: per_op * 1.1,
        rounds: 5,
        counted: None,
    };
    let of_all = vec![measure("cs_per_op", 1.5), measure("server_faults_per_op", 1.5)];
    let own = Cost { cs_per_op: 3.0, server_faults_per_op: 0.3, ..cost() };
    let mut test = test(0.8, own, of_all);
    test.cells[0].cost.as_mut().unwrap().server_faults_per_op = 0.2;
    let told = |test: &TestFindings| -> Vec<String> {
        let found = causes(test, 1, context(false));
        let name = |cause: Cause| match cause {
            Cause::Work { measure, .. } => measure,
            other => panic!("{other:?}"),
        };
        found.into_iter().map(name).collect()
    };
    assert_eq!(told(&test), ["cs_per_op", "server_faults_per_op"]);
    // Sessions had as many faults as before, and went to sleep twice as often.
    test.cells[0].work = vec![work("voluntary_switches", 1.0), work("session_faults", 0.027)];
    test.cells[1].work = vec![work("voluntary_switches", 2.0), work("session_faults", 0.027)];
    test.cells[1].measures.extend([measure("voluntary_switches", 2.0), measure("session_faults", 1.0)]);
    assert_eq!(told(&test), ["voluntary_switches"]);
    test.cells[0].work.clear();
    assert_eq!(told(&test), ["cs_per_op", "server_faults_per_op"], "known of one build only");
}

#[test]
fn what_the_cpu_counted_says_whether_more_code_ran_or_slower() {
    let names = |instructions: f64, cycles: f64| -> Vec<String> {
        let ratios = [
            ("instructions", instructions),
            ("cycles", instructions * cycles),
            ("cycles_per_instruction", cycles),
            ("branch_misses_user", 0.5),
            ("cache_misses_user", 1.5),
            ("itlb_misses_user", 3.0),
        ];
        let work = |ratio: fn(f64) -> f64| {
            let found = ratios.iter().map(|(name, moved)| WorkFindings {
                name: (*name).to_owned(),
                per_op: 40_000.0 * ratio(*moved),
                least: 1.0,
                most: 9e3,
                rounds: 5,
                counted: Some(0.5),
            });
            found.collect()
        };
        let measures = ratios.iter().map(|(name, ratio)| measure(name, *ratio)).collect();
        let mut test = test(0.8, cost(), measures);
        (test.cells[0].work, test.cells[1].work) = (work(|_| 1.0), work(|ratio| ratio));
        causes(&test, 1, context(true)).iter().filter_map(|cause| Some(amounts(cause)?.0.to_owned())).collect()
    };
    assert_eq!(names(1.3, 1.0), ["instructions"]);
    let waits = ["cycles_per_instruction", "itlb_misses_user", "cache_misses_user"];
    assert_eq!(names(1.0, 1.3), waits, "those that moved along, the most first");
    assert_eq!(names(0.9, 1.3), [&waits[..], &["instructions"]].concat(), "less work that took longer comes last");
    assert!(names(1.0, 1.0).is_empty(), "misses that cost nothing");
}

#[test]
fn statements_have_shares_of_a_change_alone() {
    use crate::findings::StatementTime;
    // 25 µs more an operation, 20 of them in the commits.
    let share = |rqps: f64, verdict: Verdict, has_shares: bool| {
        let mut test = test(rqps, cost(), Vec::new());
        let cell = &mut test.cells[1];
        cell.comparison.as_mut().unwrap().verdict = verdict;
        cell.statement_times = vec![StatementTime {
            statement: "commit".to_owned(),
            base_us: 300.0,
            us: 500.0,
            base_us_per_op: 30.0,
            us_per_op: 50.0,
            low: Some(1.6),
            high: Some(1.7),
            q: Some(0.001),
            share: None,
        }];
        add_shares(&mut test, 1, context(has_shares));
        test.cells[1].statement_times[0].share
    };
    assert!((share(0.8, Verdict::Regressed, true).unwrap() - 0.8).abs() < 1e-9);
    assert_eq!(share(0.999, Verdict::Equal, true), None);
    assert_eq!(share(0.8, Verdict::Regressed, false), None, "time is no cost");
}
