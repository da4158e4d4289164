//! What is told of the user's events.
//!
//! In: by event, what was counted of its statements, or why a server refused it. Out: [`StatementWork`] that says
//! either.

use crate::error::LoadError;
use crate::statement_work::{none, told};
use rqps_model::statement_work::StatementWork;

/// Of each event, by its name, what was counted of its statements, or under that name why the server refused it.
pub(super) fn by_event<'a>(
    events: impl Iterator<Item = (&'a str, Vec<StatementWork>)>,
    refused: Vec<Option<String>>,
) -> Vec<StatementWork> {
    let of_event = |((name, work), refused): ((&str, Vec<StatementWork>), Option<String>)| match refused {
        Some(_) => vec![told(none(name), refused)],
        None => work.into_iter().filter(|one| one.executions > 0).collect(),
    };
    events.zip(refused).flat_map(of_event).collect()
}

/// Says which statement of an event a server refused.
pub(super) fn in_statement<T>(kind: &str, done: Result<T, LoadError>) -> Result<T, LoadError> {
    done.map_err(|error| match error {
        LoadError::Wire { error, .. } => LoadError::Wire { doing: format!("executing `{kind}`"), error },
        LoadError::Shape(why) => LoadError::Shape(format!("executing `{kind}`: {why}")),
        error => error,
    })
}
