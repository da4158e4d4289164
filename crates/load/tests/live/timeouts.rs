//! Time-outs that the client keeps, on MySQL of three ages: what hangs is killed, what comes after it is not.

use crate::{RUNNING, schedule};
use rqps_load::drive::{ArmRun, Exercise, run, run_events};
use rqps_load::program::{Cue, Parameters, Program, StatementForm, Step, Workload};
use rqps_load::random::{Pcg64, one_to};
use rqps_model::sample::FailureClass;
use rqps_testkit::{LiveServer, PATIENCE, Wanted, on_each};
use rqps_wire::{Endpoint, Session};
use std::time::{Duration, Instant};

/// None has a time-out of its own for what is tested here; the first has none at all.
const BUILDS: [&str; 3] = ["mysql:5.6.14", "mysql:5.7.22", "mysql:8.0.15"];

const TIMEOUT: Duration = Duration::from_millis(200);

/// Sends statements; where the text of one has a `?`, it sleeps for about the time-out. So many time-outs in a row are
/// the end.
struct Limited<const IN_A_ROW: u32> {
    statements: Vec<StatementForm>,
    timeout: Duration,
    next: usize,
}

impl<const IN_A_ROW: u32> Program for Limited<IN_A_ROW> {
    const KEEPS_TIMEOUTS: bool = true;
    const TIMEOUTS_IN_A_ROW_MAX: u32 = IN_A_ROW;

    fn statements(&self) -> &[StatementForm] {
        &self.statements
    }

    fn next<S: Parameters>(&mut self, cue: Cue<'_>, random: &mut Pcg64, statements: &mut [S]) -> Step {
        match cue {
            Cue::Begin | Cue::Again => self.next = 0,
            Cue::Answer(_) => self.next += 1,
        }
        let Some(form) = self.statements.get(self.next) else { return Step::End };
        if form.sql.contains('?') {
            // Looks are a tenth of the time-out apart.
            let limit_ms = self.timeout.as_millis() as u64;
            let millis = limit_ms + one_to(random, limit_ms / 10);
            statements[self.next].set_sql(form.sql.replace('?', &format!("0.{millis:03}")).as_bytes());
        }
        Step::Send { statement: self.next, kind: self.next }
    }

    fn timeout(&self) -> Option<Duration> {
        Some(self.timeout)
    }
}

/// Sessions that each send these statements, which are also the names of their kinds, with this time-out.
struct Statements<'a, const IN_A_ROW: u32>(&'a [&'a str], Duration);

impl<const IN_A_ROW: u32> Workload for Statements<'_, IN_A_ROW> {
    type Program<'w>
        = Limited<IN_A_ROW>
    where
        Self: 'w;

    fn kinds(&self) -> Vec<String> {
        self.0.iter().map(|sql| (*sql).to_owned()).collect()
    }

    fn program(&self, _: usize, _: u32, _: usize) -> Limited<IN_A_ROW> {
        let statements = self.0.iter().map(|sql| StatementForm::text(*sql, sql.len() + 8)).collect();
        Limited { statements, timeout: self.1, next: 0 }
    }
}

/// A server with a table of a few rows, and another session to it.
fn start(build: &str) -> (LiveServer, Session) {
    let server = LiveServer::start(&Wanted::of(build).with("innodb-lock-wait-timeout=600"));
    let mut session = server.session();
    for sql in ["CREATE TABLE t (id int PRIMARY KEY, n int NOT NULL)", "INSERT INTO t VALUES (1, 0), (2, 0), (3, 0)"] {
        session.execute(sql).unwrap();
    }
    (server, session)
}

fn exercise(arms: &[Endpoint], clients: u32) -> Exercise<'_> {
    Exercise::new(arms, clients, schedule(60.0), 11)
}

/// By statement, the codes of its errors and how often they came.
fn errors(ran: &ArmRun) -> Vec<(&str, &str, u64)> {
    ran.errors.iter().map(|error| (error.statement.as_str(), error.code.as_str(), error.count)).collect()
}

#[test]
fn a_write_that_hangs_is_ended_and_its_server_given_up_after_three() {
    on_each(&BUILDS, |build| {
        let (server, mut other) = start(build);
        other.execute("BEGIN").unwrap();
        other.execute("UPDATE t SET n = n + 1 WHERE id = 1").unwrap();
        let arms = [server.endpoint()];
        // One client waits with a watch, several with a poller.
        for clients in [1, 2] {
            let begun = Instant::now();
            let update = "UPDATE t SET n = n + 1 WHERE id = 1";
            let workload = Statements::<3>(&[update], TIMEOUT);
            let ran = run(&exercise(&arms, clients), &workload, &mut |_| Ok(()), &RUNNING, &|_| ()).unwrap().remove(0);
            let why = ran.failure.clone().expect("it is given up");
            let told =
                format!("3 events took longer than they may in a row, the last in `{update}` with 1317 (57014): ");
            assert!(why.starts_with(&told), "{build}: {why}");
            let [(_, "1317 (57014)", count)] = errors(&ran)[..] else { panic!("{build}: {:?}", ran.errors) };
            assert!((3..=3 * u64::from(clients)).contains(&count), "{build}: {count}");
            assert_eq!(ran.errors[0].class(), FailureClass::Timeout);
            // A minute was to be counted.
            assert!(begun.elapsed() < PATIENCE, "{build}: {:?}", begun.elapsed());
        }
        // Nothing of it was done, and nothing waits any more.
        other.execute("ROLLBACK").unwrap();
        assert_eq!(server.number("SELECT SUM(n) FROM t"), 0, "{build}");
    });
}

/// A statement that ends at about the time of its KILL: whichever is first, what follows in the session is left alone.
#[test]
fn a_kill_that_comes_late_hits_nothing_else() {
    on_each(&BUILDS, |build| {
        let (server, _) = start(build);
        let arms = [server.endpoint()];
        let late = "SELECT COUNT(*) FROM t WHERE id = 1 AND SLEEP(?) = 0";
        // A KILL ends each of them, if it is meant.
        let after = "SELECT COUNT(*) FROM t WHERE SLEEP(0.002) = 0";
        let write = "UPDATE t SET n = n + 1 WHERE id = 2";
        let workload = Statements::<1000>(&[late, after, write], TIMEOUT);
        let (clients, events) = (8, 12);
        let ran = run_events(&exercise(&arms, clients), &workload, events, &RUNNING).unwrap().remove(0);
        let counts = ran.accounting;
        assert_eq!(counts.scheduled, counts.succeeded + counts.failed, "{build}");
        // On a busy machine any of the three may take too long, and is killed then. What a KILL hits that was not meant
        // has another code.
        assert!(errors(&ran).iter().all(|(_, code, _)| *code == "1317 (57014)"), "{:?}", ran.errors);
        assert_eq!(counts.succeeded, server.number("SELECT SUM(n) FROM t"), "{build}");
    });
}

#[test]
fn what_others_kill_is_an_error_like_others() {
    let (server, mut other) = start(BUILDS[1]);
    let arms = [server.endpoint()];
    let victim = "SELECT COUNT(*) FROM t WHERE SLEEP(0.02) = 0";
    let find = "SELECT id FROM information_schema.processlist WHERE info LIKE 'SELECT COUNT(*) FROM t%'";
    let statements = [victim];
    let workload = Statements::<3>(&statements, PATIENCE);
    let ran = std::thread::scope(|scope| {
        let run = || run_events(&exercise(&arms, 1), &workload, 30, &RUNNING).unwrap().remove(0);
        let running = scope.spawn(run);
        while !running.is_finished() {
            if let Some(id) = other.query(find).unwrap().single() {
                // It may have ended meanwhile.
                let _ = other.execute(&format!("KILL QUERY {id}"));
            }
        }
        running.join().unwrap()
    });
    assert!(ran.accounting.failed > 0);
    assert_eq!((ran.failures.timeout, ran.failures.other), (0, ran.accounting.failed));
    assert!(errors(&ran).iter().all(|(_, code, _)| *code == "1317 (70100)"), "{:?}", ran.errors);
}
