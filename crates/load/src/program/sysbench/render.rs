//! Parameters written out as SQL literals, for EXPLAIN, for counts by kind of statement, and for tests.
//!
//! In: a test, one of its kinds, a random stream. Out: literals drawn as the timed part draws them.

use super::{Event, Parameters, Script};
use crate::error::LoadError;
use crate::random::one_to;
use rand_pcg::Pcg64;
use rqps_model::plan::DataShape;
use rqps_suites::Test;
use rqps_wire::{AnyValue, Protocol};

/// The parameters of one statement, written out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Rendered {
    /// As SQL literals.
    pub(crate) list: Vec<String>,
    /// For a statement sent as text: its SQL.
    pub(crate) sql: String,
}

impl Rendered {
    /// The statement with its parameters in it, where `pieces` is its SQL cut at them.
    pub(crate) fn written_out(self, pieces: &[String]) -> String {
        if !self.sql.is_empty() {
            return self.sql;
        }
        let literals = self.list.iter().map(String::as_str).chain(std::iter::repeat(""));
        pieces.iter().map(String::as_str).zip(literals).flat_map(|(piece, literal)| [piece, literal]).collect()
    }
}

impl Parameters for Rendered {
    fn set_i32(&mut self, _: usize, value: i32) {
        self.list.push(value.to_string());
    }

    fn set_i64(&mut self, _: usize, value: i64) {
        self.list.push(value.to_string());
    }

    fn set_text(&mut self, _: usize, value: &[u8]) {
        self.list.push(format!("'{}'", String::from_utf8_lossy(value)));
    }

    fn set_sql(&mut self, sql: &[u8]) {
        self.sql = String::from_utf8_lossy(sql).into_owned();
    }

    // No test of sysbench has such parameters.
    fn set_any<'v>(&mut self, _: impl Fn(usize) -> AnyValue<'v>) {}
}

/// Draws one event after the other: its statements in the order in which a client sends them, of each its kind and its
/// parameters. BEGIN and COMMIT are left out.
pub(super) fn render_events(
    test: &Test,
    data: DataShape,
    protocol: Protocol,
    mut random: Pcg64,
) -> Result<impl FnMut() -> Vec<(usize, Rendered)>, LoadError> {
    let test = Test { transaction: false, ..test.clone() };
    let script = Script::compile(&test, data, protocol)?;
    let mut event = Event::new(0, &script);
    Ok(move || {
        script.begin(&mut event, &mut random);
        let statement = |&kind: &usize| {
            let mut rendered = Rendered::default();
            script.fill(&mut event, &mut random, &mut rendered);
            event.advance();
            (kind, rendered)
        };
        script.steps.iter().map(statement).collect()
    })
}

/// Draws the parameters of one kind of a test's statements, apart from any event.
pub(crate) fn render_parameters(
    test: &Test,
    data: DataShape,
    kind: usize,
    protocol: Protocol,
    random: &mut Pcg64,
) -> Result<Rendered, LoadError> {
    let mut script = Script::compile(test, data, protocol)?;
    script.steps = vec![kind];
    let mut event = Event::new(0, &script);
    let mut drawn = random.clone();
    // A statement may take up the id of one before it; any id is typical.
    event.last_id = one_to(random, data.rows) as i32;
    script.begin(&mut event, &mut drawn);
    let mut rendered = Rendered::default();
    script.fill(&mut event, &mut drawn, &mut rendered);
    Ok(rendered)
}
