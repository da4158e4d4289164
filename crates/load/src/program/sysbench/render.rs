//! Statements apart from the timed part, for EXPLAIN and for counts by kind of statement.
//!
//! In: a test, one of its kinds, a random stream. Out: literals drawn as the timed part draws them.

use super::{Event, Script};
use crate::error::LoadError;
use crate::program::Literals;
use crate::random::one_to;
use rand_pcg::Pcg64;
use rqps_model::plan::DataShape;
use rqps_suites::Test;
use rqps_wire::Protocol;

/// Draws one event after the other: its statements in the order in which a client sends them, of each its kind and its
/// parameters. BEGIN and COMMIT are left out.
pub(super) fn render_events(
    test: &Test,
    data: DataShape,
    protocol: Protocol,
    mut random: Pcg64,
) -> Result<impl FnMut() -> Vec<(usize, Literals)>, LoadError> {
    let test = Test { transaction: false, ..test.clone() };
    let script = Script::compile(&test, data, protocol)?;
    let mut event = Event::new(0, &script);
    Ok(move || {
        script.begin(&mut event, &mut random);
        let statement = |&kind: &usize| {
            let mut literals = Literals::default();
            script.fill(&mut event, &mut random, &mut literals);
            event.advance();
            (kind, literals)
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
) -> Result<Literals, LoadError> {
    let mut script = Script::compile(test, data, protocol)?;
    script.steps = vec![kind];
    let mut event = Event::new(0, &script);
    let mut drawn = random.clone();
    // A statement may take up the id of one before it; any id is typical.
    event.last_id = one_to(random, data.rows) as i32;
    script.begin(&mut event, &mut drawn);
    let mut literals = Literals::default();
    script.fill(&mut event, &mut drawn, &mut literals);
    Ok(literals)
}
