//! What the sessions of a MySQL or MariaDB server do at a moment.
//!
//! In: a session that may see all others. Out: one entry for each connection and thread of SHOW PROCESSLIST, which all
//! versions have. The state of a session is the step of a statement that it is in; for some steps that is a wait by
//! name, of others the server does not say whether they run. Who waits for a row is known to InnoDB alone.

use super::place;
use crate::counters::try_query;
use crate::seen::Seen;
use rqps_model::waits::{Doing, Who};
use rqps_wire::{Session, Table, WireError};
use std::ops::Range;
use std::time::Duration;

/// InnoDB shows its transactions as they were when somebody last asked, unless that is a tenth of a second ago.
pub(crate) const GAPS: Range<Duration> = Duration::from_millis(105)..Duration::from_millis(125);

/// Connections that wait for a row.
const WAIT_FOR_ROW: &str =
    "select trx_mysql_thread_id from information_schema.innodb_trx where trx_state = 'LOCK WAIT'";

/// Waiting for a row, in the form of the other waits.
const ROW_LOCK: &str = "Lock/row";

/// Commands of threads that serve no client.
const BACKGROUND: [&str; 4] = ["Daemon", "Binlog Dump", "Binlog Dump GTID", "Slave_worker"];

/// Users that are none.
const SYSTEM_USERS: [&str; 2] = ["system user", "event_scheduler"];

/// States in which a session waits for its client.
const READS: [&str; 2] = ["Receiving from client", "Reading from net"];

#[derive(Debug)]
pub(crate) struct Queries {
    /// The number of the session that asks.
    own: String,
    /// Whether the server has InnoDB's transactions.
    has_transactions: bool,
}

impl Queries {
    pub(crate) fn of(session: &Session) -> Queries {
        Queries { own: session.backend_pid().to_string(), has_transactions: true }
    }

    pub(crate) fn read(&mut self, session: &mut Session) -> Result<Vec<Seen>, WireError> {
        let waiting = match self.has_transactions {
            true => try_query(session, WAIT_FOR_ROW)?,
            false => None,
        };
        self.has_transactions = waiting.is_some();
        let processes = session.query("show processlist")?;
        Ok(seen(&processes, waiting.as_ref(), &self.own))
    }
}

fn seen(processes: &Table, waiting: Option<&Table>, own: &str) -> Vec<Seen> {
    let places = ["Id", "User", "Command", "State"].map(|column| place(processes, column));
    let waits_for_row = |id: &str| {
        waiting.is_some_and(|waiting| waiting.rows.iter().any(|row| row.first().and_then(Option::as_deref) == Some(id)))
    };
    let of = |row: &Vec<Option<String>>| {
        let [id, user, command, state] = places.map(|at| row.get(at?)?.as_deref()).map(Option::unwrap_or_default);
        (id != own).then(|| match command {
            _ if SYSTEM_USERS.contains(&user) || BACKGROUND.contains(&command) => {
                (Who::Background, doing(state), format!("{command}: {state}"))
            }
            "Sleep" => (Who::Session, Doing::Idle, String::new()),
            _ if waits_for_row(id) => (Who::Session, Doing::Waiting, ROW_LOCK.to_owned()),
            _ if state.is_empty() => (Who::Session, Doing::Working, String::new()),
            _ => (Who::Session, doing(state), format!("State/{state}")),
        })
    };
    processes.rows.iter().filter_map(of).collect()
}

fn doing(state: &str) -> Doing {
    match state {
        _ if READS.contains(&state) => Doing::Idle,
        // `Waiting for table metadata lock`, `waiting for handler commit`
        _ if state.get(..7).is_some_and(|begin| begin.eq_ignore_ascii_case("waiting")) => Doing::Waiting,
        _ => Doing::Working,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(columns: &[&str], rows: &[&[&str]]) -> Table {
        let owned = |cell: &&str| Some((*cell).to_owned()).filter(|cell| cell != "NULL");
        Table {
            columns: columns.iter().map(|name| (*name).to_owned()).collect(),
            rows: rows.iter().map(|row| row.iter().map(owned).collect()).collect(),
        }
    }

    #[test]
    fn waits_are_told_from_states_and_from_idle_sessions() {
        let columns = ["Id", "User", "Host", "db", "Command", "Time", "State", "Info"];
        let process = |id, user, command, state| [id, user, "localhost", "bench", command, "0", state, "NULL"];
        let rows = [
            process("1", "system user", "Daemon", "InnoDB purge worker"),
            process("5", "event_scheduler", "Daemon", "Waiting on empty queue"),
            process("7", "bench", "Query", "starting"),
            process("8", "bench", "Sleep", ""),
            process("9", "bench", "Execute", "updating"),
            process("10", "bench", "Execute", "updating"),
            process("11", "bench", "Query", "Waiting for table metadata lock"),
            process("12", "bench", "Query", "NULL"),
        ];
        let processes = table(&columns, &rows.each_ref().map(|row| &row[..]));
        let found = seen(&processes, Some(&table(&["trx_mysql_thread_id"], &[&["9"]])), "7");
        let of_session = |doing, what: &str| (Who::Session, doing, what.to_owned());
        let expected = [
            (Who::Background, Doing::Working, "Daemon: InnoDB purge worker".to_owned()),
            (Who::Background, Doing::Waiting, "Daemon: Waiting on empty queue".to_owned()),
            of_session(Doing::Idle, ""),
            of_session(Doing::Waiting, "Lock/row"),
            of_session(Doing::Working, "State/updating"),
            of_session(Doing::Waiting, "State/Waiting for table metadata lock"),
            of_session(Doing::Working, ""),
        ];
        assert_eq!(found, expected);
        // A server without InnoDB does not tell who waits for a row.
        assert_eq!(seen(&processes, None, "7")[3], of_session(Doing::Working, "State/updating"));
    }
}
