//! The work of a statement on MySQL and MariaDB: the session's own status variables before and after it.
//!
//! In: a session in a transaction, a statement. Out: how much each variable rose, less what asking for them costs.
//! InnoDB's own counts are of the whole server and so not among them.

use super::counter::{Counter, Counts, Execution};
use crate::error::LoadError;
use crate::mysql;
use rqps_wire::Session;

/// Variables of a session that count what its statements did.
const ASKED: &str = "SHOW SESSION STATUS WHERE Variable_name LIKE 'Handler%' \
                     OR Variable_name IN ('Sort_rows', 'Created_tmp_tables', 'Created_tmp_disk_tables')";

/// Status variables of a session that executes statements with their values written out.
pub(super) struct Status {
    /// What reading them adds to them.
    cost: Counts,
}

impl Status {
    pub(super) fn new(session: &mut Session) -> Result<Status, LoadError> {
        // Whatever the first one opens, the others find open.
        read(session)?;
        let before = read(session)?;
        Ok(Status { cost: difference(&read(session)?, &before) })
    }
}

impl Counter for Status {
    fn count(&mut self, session: &mut Session, _: usize, execution: &Execution) -> Result<Counts, LoadError> {
        // The session may have executed others since they were read last.
        let before = read(session)?;
        session.execute(&execution.text).map_err(LoadError::wire("counting the work of a statement"))?;
        let with_cost = difference(&read(session)?, &before);
        let counts = difference(&with_cost, &self.cost);
        Ok(counts.into_iter().map(|(name, amount)| (format!("status.{name}"), amount)).collect())
    }
}

fn read(session: &mut Session) -> Result<Counts, LoadError> {
    let row = |row: Vec<Option<String>>| {
        let mut words = row.into_iter().flatten();
        Some((words.next()?, words.next()?.parse().ok()?))
    };
    Ok(mysql::rows(session, ASKED)?.into_iter().filter_map(row).collect())
}

fn difference(after: &Counts, before: &Counts) -> Counts {
    after.iter().map(|(name, value)| (name.clone(), value - before.get(name).copied().unwrap_or(0.0))).collect()
}
