//! What scripts do besides statements: pipelines, sleeping, commands of the shell.

use super::{own, play, server};
use rqps_model::own::Protocol;

const PIPELINE: &str = "\\startpipeline
SELECT 1;
SELECT 2;
\\syncpipeline
SELECT 3;
\\endpipeline
SELECT 4;
";

/// A statement of the second part fails, and those around its part take effect.
const FAILING: &str = "\\startpipeline
INSERT INTO pgbench_history (tid) VALUES (1);
\\syncpipeline
INSERT INTO pgbench_history (tid) VALUES (2);
SELECT 1 / 0;
\\syncpipeline
INSERT INTO pgbench_history (tid) VALUES (3);
\\endpipeline
";

#[test]
fn pipelines_are_sent_as_one_and_every_statement_counts() {
    let server = server();
    for protocol in [Protocol::Extended, Protocol::Prepared] {
        let ran = play(&server, &own(&[("p", 1, PIPELINE)], protocol), 3, 10);
        assert_eq!((ran.failure.as_deref(), ran.accounting.succeeded, ran.operations), (None, 30, 120));
        let latency: Vec<(&str, u64)> = ran.latency.iter().map(|(kind, all)| (kind.as_str(), all.len())).collect();
        // Its statements have no latency of their own.
        assert_eq!(latency, [("select.7", 30), ("pipeline", 30), ("p", 30)]);

        let ran = play(&server, &own(&[("f", 1, FAILING)], protocol), 1, 5);
        assert_eq!((ran.accounting.succeeded, ran.accounting.failed, ran.failures.other), (0, 5, 5));
        assert_eq!((ran.errors[0].statement.as_str(), ran.errors[0].code.as_str()), ("pipeline", "22012"));
        let seen = server.ask("SELECT tid, count(*) FROM pgbench_history GROUP BY tid ORDER BY tid");
        assert_eq!(seen.len(), 2, "{seen:?}");
        server.session().execute("TRUNCATE pgbench_history").unwrap();
    }
    // Once it has its size, a pipeline needs no memory, even if it fails.
    for script in [PIPELINE, FAILING] {
        let pipeline = own(&[("p", 1, script)], Protocol::Extended);
        let allocations = |events| allocation_counter::measure(|| _ = play(&server, &pipeline, 1, events)).count_total;
        allocations(20);
        let (few, many) = (allocations(20), allocations(220));
        assert_eq!(many, few, "{script}");
    }
}

#[test]
fn the_time_that_a_client_sleeps_or_works_is_not_the_servers() {
    let server = server();
    let nap = "SELECT 1;\n\\sleep 40 ms\nSELECT 2;\n\\sleep 40 ms\n";
    let shell = "\\setshell n sleep 0.04; echo 17\nSELECT :n::int;\n\\shell sleep 0.04\n";
    for (clients, script) in [(1, nap), (4, nap), (1, shell)] {
        let begun = std::time::Instant::now();
        let ran = play(&server, &own(&[("nap", 1, script)], Protocol::Prepared), clients, 5);
        let (took_ns, busy_ns) = (begun.elapsed().as_nanos() as u64, ran.busy_ns / u64::from(clients));
        assert_eq!(
            (ran.failure.as_deref(), ran.errors.len(), ran.accounting.succeeded),
            (None, 0, u64::from(5 * clients))
        );
        // It did sleep, and that is not counted, however much else the machine does.
        assert!(took_ns >= 400_000_000 && took_ns - busy_ns >= 400_000_000, "{clients}: {took_ns} {busy_ns}");
    }
    let log = server.log();
    assert!(log.contains("$1 = '17'"));
}

#[test]
fn what_the_client_cannot_do_fails_the_event_and_rolls_it_back() {
    let server = server();
    let update = "BEGIN;\nUPDATE pgbench_branches SET bbalance = bbalance + 1;\n";
    for (script, why) in [
        ("\\set x 1 / 0\nEND;\n", "division by zero"),
        ("\\shell exit 3\nEND;\n", "exit status: 3"),
        ("\\setshell x echo two\nEND;\n", "no whole number was printed by the command `echo two`: two"),
        ("SELECT bid FROM pgbench_branches WHERE bid < 0 \\gset\nEND;\n", "\\gset expected one row, got 0"),
        ("SELECT 1 AS \"?\" \\gset\nEND;\n", "?"),
        ("", "the script ends within a transaction"),
    ] {
        for protocol in Protocol::ALL {
            let script = format!("{update}{script}");
            let ran = play(&server, &own(&[("wrong", 1, &script)], protocol), 2, 3);
            assert_eq!((ran.accounting.succeeded, ran.accounting.failed, ran.failures.other), (0, 6, 6), "{script}");
            assert!(ran.errors.iter().any(|error| error.message.contains(why)), "{script}: {:?}", ran.errors);
        }
    }
    assert_eq!(server.number("SELECT sum(bbalance) FROM pgbench_branches"), 0);
}
