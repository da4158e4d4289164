//! The next suite in small: two statements, the second of which uses a value that the first returned.
//!
//! Each client takes a number from a counter's row and notes it in a table of its own: what the tables hold shows that
//! the value came through, that an event is whole, and that what is counted is what the servers did.

use crate::servers::Product::{Mysql, Postgres};
use crate::{RUNNING, schedule};
use rqps_load::drive::{Exercise, Phase, Switch, run, run_equal, run_events};
use rqps_load::program::{Cue, Parameters, Program, StatementForm, Step, Workload};
use rqps_load::random::{Pcg64, one_to};
use rqps_testkit::LiveServer;
use rqps_wire::{Endpoint, ParameterType, Protocol};

/// The kinds of statements, which are also their numbers.
const READ: usize = 0;
const NOTE: usize = 1;

const COUNTERS: u64 = 10;

/// One client: reads a counter, notes its value.
struct Toy {
    statements: [StatementForm; 2],
    counter: i32,
}

impl Program for Toy {
    fn statements(&self) -> &[StatementForm] {
        &self.statements
    }

    fn next<S: Parameters>(&mut self, cue: Cue<'_>, random: &mut Pcg64, statements: &mut [S]) -> Step {
        match cue {
            Cue::Begin | Cue::Again => {
                self.counter = one_to(random, COUNTERS) as i32;
                statements[READ].set_i32(0, self.counter);
                Step::Send { statement: READ, kind: READ }
            }
            Cue::Answer(rows) => match rows.integer(0, 0) {
                Some(value) => {
                    statements[NOTE].set_i32(0, self.counter);
                    statements[NOTE].set_i64(1, value);
                    Step::Send { statement: NOTE, kind: NOTE }
                }
                // The note's own answer has no rows.
                None => Step::End,
            },
        }
    }
}

/// The toy suite, by arm.
struct Toys(Vec<Protocol>);

impl Workload for Toys {
    type Program<'w> = Toy;

    fn kinds(&self) -> Vec<String> {
        ["read", "note"].map(str::to_owned).to_vec()
    }

    fn program(&self, arm: usize, _: u32, _: usize) -> Toy {
        let (one, two) = match self.0[arm] {
            Protocol::Postgres => ("$1", "$2"),
            Protocol::Mysql => ("?", "?"),
        };
        let read = format!("SELECT value FROM counters WHERE id = {one}");
        let note = format!("INSERT INTO notes VALUES ({one}, {two})");
        let statements = [
            StatementForm::prepared(read, &[ParameterType::Int4]).keeping(1),
            StatementForm::prepared(note, &[ParameterType::Int4, ParameterType::Int8]),
        ];
        Toy { statements, counter: 0 }
    }
}

#[test]
fn a_suite_of_two_statements_uses_what_the_first_returned() {
    let servers = [Postgres.shared(), Mysql.shared()];
    for server in &servers {
        let mut session = server.session();
        session.execute("CREATE TABLE counters (id int PRIMARY KEY, value bigint NOT NULL)").unwrap();
        session.execute("CREATE TABLE notes (id int NOT NULL, value bigint NOT NULL)").unwrap();
        for id in 1..=COUNTERS {
            session.execute(&format!("INSERT INTO counters VALUES ({id}, {})", id << 33)).unwrap();
        }
    }
    let arms: Vec<Endpoint> = servers.iter().map(LiveServer::endpoint).collect();
    let toys = Toys(arms.iter().map(Endpoint::protocol).collect());
    let exercise = Exercise { threads: 2, ..Exercise::new(&arms, 3, schedule(0.1), 11) };
    let notes = |server: &LiveServer| server.number("SELECT count(*) FROM notes");
    let right = "SELECT count(*) FROM notes n JOIN counters c ON n.id = c.id AND n.value = c.value";
    for (arm, server) in run_events(&exercise, &toys, 40, &RUNNING).unwrap().iter().zip(&servers) {
        assert_eq!((arm.failure.as_deref(), arm.accounting.succeeded, arm.operations), (None, 120, 240));
        assert_eq!((notes(server), server.number(right)), (120, 120));
    }
    // The same seed, the same keys, on every engine.
    let drawn = "SELECT id, count(*) FROM notes GROUP BY id ORDER BY id";
    assert_eq!(servers[0].ask(drawn), servers[1].ask(drawn));
    // Side by side as many of each, 40 more, in five slices.
    let mut slices = 0;
    let mut count = |switch: Switch| {
        slices += usize::from(matches!(switch, Switch::Enter { phase: Phase::Counted, .. }));
        Ok(())
    };
    for (arm, server) in run_equal(&exercise, &toys, 40, &mut count, &RUNNING, &|_| ()).unwrap().iter().zip(&servers) {
        assert_eq!((arm.failure.as_deref(), arm.accounting.succeeded, arm.operations), (None, 120, 240));
        assert_eq!((notes(server), server.number(right), arm.operations_total), (240, 240, 240));
        assert!(arm.busy_ns > 0 && arm.seconds > 0.0);
    }
    assert_eq!(slices, 5 * servers.len());
    assert_eq!(servers[0].ask(drawn), servers[1].ask(drawn));
    // And side by side for a time.
    for (arm, server) in run(&exercise, &toys, &mut |_| Ok(()), &RUNNING, &|_| ()).unwrap().iter().zip(&servers) {
        assert_eq!((arm.failure.as_deref(), arm.operations), (None, 2 * arm.accounting.succeeded));
        assert_eq!((notes(server), arm.operations_total), (server.number(right), 2 * (notes(server) - 240)));
    }
}
