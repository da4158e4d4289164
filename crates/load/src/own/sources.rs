//! What sources of values hold that are not drawn: rows of files, and of questions to the loaded base.
//!
//! In: the user's workload, a target with its data. Out: rows, the same for all builds.

use super::database;
use crate::error::LoadError;
use crate::program::own::Inputs;
use crate::session::{connect, execute};
use rqps_draw::Tuples;
use rqps_model::own::{Own, Values};
use rqps_wire::Target;

/// Asks every question of the sources, and reads the files.
pub(crate) fn inputs(own: &Own, target: &Target) -> Result<Inputs, LoadError> {
    let mut inputs = Inputs::of_files(own)?;
    let mut session = connect(&target.endpoint)?;
    for sql in database::session_statements(&own.data, target) {
        execute(&mut session, &sql)?;
    }
    for (name, values) in &own.values {
        let Values::Query { sql, limit, take } = values else { continue };
        let sql = sql.get(&target.engine()).ok_or_else(|| {
            LoadError::Shape(format!("the source `{name}` has no query for {}", target.engine().title()))
        })?;
        let answer = session.query(sql).map_err(LoadError::wire(format!("asking for the values of `{name}`")))?;
        let rows: Vec<Vec<Option<String>>> = answer.rows.into_iter().take(*limit).collect();
        if rows.is_empty() {
            return Err(LoadError::Shape(format!("the query of `{name}` found no rows, so there are no values")));
        }
        inputs.0.insert(name.clone(), Tuples::new(answer.columns, rows, *take));
    }
    Ok(inputs)
}
