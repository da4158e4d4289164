//! An event that is executed apart from the timed part, and of which nothing stays.
//!
//! In: a session, what is done in it. Out: what came of it, or why the server refused it.

use crate::drive::end_session;
use crate::error::LoadError;
use crate::session::execute;
use rqps_wire::{Session, Target, WireError};

/// An event goes back to here to execute a statement again, for what it returns.
const SAVEPOINT: &str = "rqps_work";

/// Whether a server refused a statement; its session goes on.
fn is_refused(error: &LoadError) -> bool {
    matches!(error, LoadError::Wire { error: WireError::Server { .. }, .. } | LoadError::Shape(_))
}

/// Executes an event in a transaction that is rolled back: what came of it, or why the server refused it.
pub(super) fn rolled_back<T>(
    session: &mut Session,
    target: &Target,
    event: impl FnOnce(&mut Session) -> Result<T, LoadError>,
) -> Result<Result<T, String>, LoadError> {
    execute(session, "BEGIN")?;
    let done = match event(session) {
        Err(error) if is_refused(&error) => Err(error.to_string()),
        Err(error) => {
            // It still waits for an answer that nobody wants any more.
            if matches!(error, LoadError::Wire { error: WireError::Deadline { .. }, .. }) {
                end_session(session, target)?;
            }
            return Err(error);
        }
        Ok(done) => Ok(done),
    };
    execute(session, "ROLLBACK")?;
    Ok(done)
}

/// Does something within an event, and goes back to before it.
pub(crate) fn in_savepoint<T>(
    session: &mut Session,
    act: impl FnOnce(&mut Session) -> Result<T, LoadError>,
) -> Result<T, LoadError> {
    execute(session, &format!("SAVEPOINT {SAVEPOINT}"))?;
    let done = act(session)?;
    execute(session, &format!("ROLLBACK TO SAVEPOINT {SAVEPOINT}"))?;
    Ok(done)
}
