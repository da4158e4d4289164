//! A run of one client without a server: what it would send, written as a server logs it.

use rqps_draw::Random;
use rqps_pgbench::{Choice, Names, Script, Sql, Step, Store, Streams, Variables, What};
use std::collections::VecDeque;

/// The seed of the recordings.
const SEED: u64 = 42;

/// How statements are sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Mode {
    Simple,
    Extended,
    Prepared,
}

/// A client and what it runs.
pub(crate) struct Replay {
    names: Names,
    scripts: Vec<Script>,
    choice: Choice,
    choose: Random,
    random: Random,
    variables: Variables,
    /// Answers that only the server knew.
    shown: VecDeque<String>,
    log: String,
}

impl Replay {
    /// Scripts with their weights, and what the recording shows of answers.
    pub(crate) fn new(scripts: &[(&str, u32)], shown: VecDeque<String>) -> Replay {
        let mut names = Names::new();
        let parse = |(text, _): &(&str, u32)| Script::parse("recorded", text, &mut names).expect("no faults");
        let parsed: Vec<Script> = scripts.iter().map(parse).collect();
        let weights: Vec<u32> = scripts.iter().map(|(_, weight)| *weight).collect();
        let mut streams = Streams::seeded(SEED, 1, 1, false);
        let mut variables = Variables::new(&names);
        variables.start(0, 1, SEED.cast_signed(), streams.default_seed.expect("drawn"));
        Replay {
            names,
            scripts: parsed,
            choice: Choice::new(&weights).expect("some run"),
            choose: streams.threads.remove(0).choose,
            random: streams.clients.remove(0),
            variables,
            shown,
            log: String::new(),
        }
    }

    /// What the server logs of as many runs of a script.
    pub(crate) fn run(mut self, mode: Mode, transactions: usize) -> String {
        for _ in 0..transactions {
            let script = self.choice.draw(&mut self.choose);
            let mut at = 0;
            loop {
                match self.scripts[script].advance(&mut at, &mut self.variables, &mut self.random) {
                    Ok(Step::Sql(sql)) => {
                        let sql = sql.clone();
                        let prepared = self.sql_before(script, at - 1);
                        self.send(&sql, mode, prepared);
                        if let Some(store) = &sql.store {
                            self.answer(store);
                        }
                    }
                    Ok(Step::Sleep(_) | Step::StartPipeline | Step::EndPipeline) => {}
                    Ok(Step::End) => break,
                    step => panic!("{step:?}"),
                }
            }
        }
        assert!(self.shown.is_empty(), "all answers are used");
        self.log
    }

    /// How many statements there are before one, by which pgbench numbers what it prepares.
    fn sql_before(&self, script: usize, command: usize) -> usize {
        let is_sql = |what: &What| matches!(what, What::Sql(_));
        let before: usize = self.scripts[..script].iter().map(|script| script.commands.len()).sum();
        let commands = self.scripts.iter().flat_map(|script| &script.commands).take(before + command);
        commands.filter(|command| is_sql(&command.what)).count()
    }

    fn send(&mut self, sql: &Sql, mode: Mode, prepared: usize) {
        let (kind, text) = match mode {
            Mode::Simple => {
                let mut text = Vec::new();
                sql.write(&self.variables, &mut text);
                ("statement".to_owned(), String::from_utf8(text).expect("text"))
            }
            Mode::Extended => ("execute <unnamed>".to_owned(), sql.numbered().to_owned()),
            Mode::Prepared => (format!("execute P_{prepared}"), sql.numbered().to_owned()),
        };
        self.log += &format!("LOG:  {kind}: {}\n", text.replace('\n', "\n\t"));
        if mode == Mode::Simple || sql.slots().is_empty() {
            return;
        }
        let parameter = |(number, slot): (usize, &usize)| {
            let mut text = Vec::new();
            match self.variables.write(*slot, &mut text) {
                true => format!("${number} = '{}'", String::from_utf8(text).expect("text")),
                false => format!("${number} = NULL"),
            }
        };
        let parameters: Vec<String> = (1..).zip(sql.slots()).map(parameter).collect();
        self.log += &format!("DETAIL:  parameters: {}\n", parameters.join(", "));
    }

    /// What the server answers to the statements of the scripts whose answers are kept.
    fn answer(&mut self, store: &Store) {
        let mut columns = match store.prefix.as_str() {
            "s_" => vec![
                ("twice", self.shown.pop_front().expect("recorded")),
                ("flag", "n".into()),
                ("part", "1.25".into()),
            ],
            "g_" => vec![("none", String::new()), ("words", "it is".into())],
            "r_" => vec![("one", "3".into())],
            prefix => panic!("{prefix}"),
        };
        let b = self.names.find("b").map(|slot| self.variables.value(slot));
        if store.all && b == Some(Ok(rqps_pgbench::Value::Boolean(true))) {
            columns.push(("two", "2".into()));
        }
        for (column, text) in columns {
            if let Some(slot) = store.slot(column, &self.names).expect("a name") {
                self.variables.set_text(slot, &text);
            }
        }
    }
}
