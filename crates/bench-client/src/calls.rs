//! The calls of TPROC-C written down before: the statements that the programs of rqps send, with the same inputs, for a
//! client that only sends them.
//!
//! In: what is run, a server, a seed. Out: a file, of which `library.c` says the form. No server is asked: its answers
//! change nothing in what routines are called with.

use anyhow::{Context, Result};
use rqps_load::program::tproc_c::Transactions;
use rqps_load::program::{Cue, Parameters, Program, Step, Workload};
use rqps_load::random::{Purpose, stream};
use rqps_model::tproc_c::TprocC;
use rqps_wire::{AnyValue, Endpoint, Rows};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Calls of a session; after the last it begins again with the first.
const CALLS: u32 = 10_000;

/// What was filled into a statement.
#[derive(Debug, Clone, Default)]
struct Filled {
    values: Vec<String>,
    sql: String,
}

impl Filled {
    fn set(&mut self, slot: usize, value: String) {
        if self.values.len() <= slot {
            self.values.resize(slot + 1, String::new());
        }
        self.values[slot] = value;
    }
}

impl Parameters for Filled {
    fn set_i32(&mut self, slot: usize, value: i32) {
        self.set(slot, value.to_string());
    }

    fn set_i64(&mut self, slot: usize, value: i64) {
        self.set(slot, value.to_string());
    }

    fn set_text(&mut self, slot: usize, value: &[u8]) {
        self.set(slot, String::from_utf8_lossy(value).into_owned());
    }

    fn set_sql(&mut self, sql: &[u8]) {
        self.sql = one_line(&String::from_utf8_lossy(sql));
    }

    // No transaction of TPROC-C has such parameters.
    fn set_any<'v>(&mut self, _: impl Fn(usize) -> AnyValue<'v>) {}
}

/// Writes down the calls of so many virtual users.
pub(crate) fn write(
    path: &Path,
    shape: &TprocC,
    (warehouses, users): (u32, u32),
    server: &Endpoint,
    seed: u64,
) -> Result<()> {
    let transactions = Transactions::compile(shape, warehouses, users, std::slice::from_ref(server))?;
    let doing = || format!("cannot write {}", path.display());
    let mut file = BufWriter::new(File::create(path).with_context(doing)?);
    for user in 0..users {
        let text = calls(&transactions, user, seed);
        file.write_all(text.as_bytes()).with_context(doing)?;
    }
    file.flush().with_context(doing)
}

/// The calls of one; the first user's also say what all prepare.
fn calls(transactions: &Transactions, user: u32, seed: u64) -> String {
    let mut program = transactions.program(0, user, 0);
    let mut text = String::new();
    let is_prepared: Vec<bool> = program.statements().iter().map(|form| form.capacity.is_none()).collect();
    let prepared = program.statements().iter().enumerate().filter(|(number, _)| is_prepared[*number]);
    if user == 0 {
        prepared.for_each(|(number, form)| text.push_str(&format!("P s{number}\t{}\n", one_line(&form.sql))));
    }
    text.push_str(&format!("B {user}\n"));
    // Where nothing is filled in, the text stays as it is.
    let as_is = program.statements().iter().map(|form| Filled { sql: one_line(&form.sql), ..Filled::default() });
    let mut statements: Vec<Filled> = as_is.collect();
    // As the timed loop has it, so that the inputs are the same.
    let mut random = stream(seed, Purpose::Keys, user.into(), 0);
    let nothing = Rows::default();
    for _ in 0..CALLS {
        text.push_str("E\n");
        let mut step = program.next(Cue::Begin, &mut random, &mut statements);
        while let Step::Send { statement, .. } = step {
            let Filled { values, sql } = &statements[statement];
            text.push_str(&match is_prepared[statement] {
                true => format!("X s{statement}\t{}\n", values.join("\t")),
                false => format!("Q {sql}\n"),
            });
            step = program.next(Cue::Answer(&nothing), &mut random, &mut statements);
        }
    }
    text
}

fn one_line(sql: &str) -> String {
    sql.replace(['\n', '\t'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transactions::shape;
    use rqps_model::Engine;
    use rqps_server::login;
    use rqps_wire::Transport;

    fn written(engine: Engine, user: u32, seed: u64) -> String {
        let server = login::endpoint(engine, Transport::Unix { path: "/nonexistent".into() });
        calls(&Transactions::compile(&shape(engine), 4, 2, &[server]).unwrap(), user, seed)
    }

    fn count(text: &str, begins: &str) -> usize {
        text.lines().filter(|line| line.starts_with(begins)).count()
    }

    #[test]
    fn calls_are_the_statements_of_the_form_with_their_inputs() {
        let postgres = written(Engine::Postgres, 0, 1);
        assert_eq!([count(&postgres, "P "), count(&postgres, "E"), count(&postgres, "X ")], [5, 10_000, 10_000]);
        let first = postgres.lines().find(|line| line.starts_with("X s0")).unwrap();
        let values: Vec<u32> = first.split('\t').skip(1).map(|value| value.parse().unwrap()).collect();
        assert!(matches!(values[..], [1..=4, 1..=10, 1..=3000, 5..=15, 4]), "{first}");

        let mysql = written(Engine::Mysql, 0, 1);
        let [calls, sets] = ["Q CALL ", "Q SET "].map(|begins| count(&mysql, begins));
        assert_eq!([count(&mysql, "P "), calls], [0, 10_000]);
        assert!(mysql.lines().all(|line| line == "E" || line.len() > 2));
        assert!(sets > 8000 && sets < 10_000, "deliveries and stock levels need none: {sets}");
    }

    #[test]
    fn another_user_or_seed_makes_other_calls() {
        let one = written(Engine::Postgres, 0, 1);
        assert_eq!(one, written(Engine::Postgres, 0, 1));
        for (user, seed) in [(0, 2), (1, 1)] {
            let other = written(Engine::Postgres, user, seed);
            assert_ne!(one.lines().skip(6).collect::<Vec<_>>(), other.lines().collect::<Vec<_>>());
        }
        assert!(written(Engine::Postgres, 1, 1).starts_with("B 1\n"));
    }
}
