//! What the sessions of a PostgreSQL server do at a moment.
//!
//! In: a session, as a superuser. Out: one entry for each process of `pg_stat_activity`, which has the same columns in
//! all versions from 12 on. The statement is prepared: planning the view anew takes longer than reading it.

use crate::seen::Seen;
use rqps_model::waits::{Doing, Who};
use rqps_wire::{Rows, Session, Statement, WireError};
use std::ops::Range;
use std::time::Duration;

/// About a hundred moments a second, at uneven distances, so that they do not keep step with slices.
pub(crate) const GAPS: Range<Duration> = Duration::from_millis(5)..Duration::from_millis(15);

const ACTIVITY: &str = "select backend_type, state, wait_event_type, wait_event from pg_catalog.pg_stat_activity \
    where pid <> pg_catalog.pg_backend_pid()";

/// Sessions beyond this number are not looked at.
const ROWS_MAX: usize = 10_000;

#[derive(Debug)]
pub(crate) struct Queries(Statement);

impl Queries {
    pub(crate) fn prepare(session: &mut Session) -> Result<Queries, WireError> {
        let mut activity = session.prepare(ACTIVITY, &[])?;
        activity.keep_rows(ROWS_MAX);
        Ok(Queries(activity))
    }

    pub(crate) fn read(&mut self, session: &mut Session) -> Result<Vec<Seen>, WireError> {
        session.run(&self.0)?;
        let rows = session.kept_rows();
        Ok((0..rows.count()).map(|row| process(rows, row)).collect())
    }
}

fn process(rows: &Rows, row: usize) -> Seen {
    let cell = |column: usize| rows.text(row, column).map(String::from_utf8_lossy);
    let event = cell(2).zip(cell(3));
    let event = event.as_ref().map(|(kind, event)| (kind.as_ref(), event.as_ref()));
    seen(cell(0).as_deref().unwrap_or_default(), cell(1).as_deref().unwrap_or_default(), event)
}

/// State and event are read one after the other, and the state is older: a session that is idle may begin to work in
/// between.
fn seen(kind: &str, state: &str, event: Option<(&str, &str)>) -> Seen {
    let in_words =
        |event: Option<(&str, &str)>| event.map_or_else(String::new, |(kind, event)| format!("{kind}/{event}"));
    if kind != "client backend" {
        let doing = match event {
            Some(("Activity", _)) => Doing::Idle,
            Some(_) => Doing::Waiting,
            None => Doing::Working,
        };
        return (Who::Background, doing, format!("{kind}: {}", in_words(event)));
    }
    match event {
        _ if state.starts_with("idle") => (Who::Session, Doing::Idle, state.to_owned()),
        Some(("Client", "ClientRead")) => (Who::Session, Doing::Idle, in_words(event)),
        Some(_) => (Who::Session, Doing::Waiting, in_words(event)),
        None => (Who::Session, Doing::Working, String::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_for_the_client_is_told_from_other_waits() {
        let of_session = |state: &str, event: Option<(&str, &str)>| {
            let (who, doing, what) = seen("client backend", state, event);
            assert_eq!(who, Who::Session);
            (doing, what)
        };
        assert_eq!(of_session("active", None), (Doing::Working, String::new()));
        assert_eq!(of_session("active", Some(("IO", "WALSync"))), (Doing::Waiting, "IO/WALSync".to_owned()));
        assert_eq!(of_session("active", Some(("Client", "ClientWrite"))).0, Doing::Waiting);
        assert_eq!(of_session("active", Some(("Client", "ClientRead"))).0, Doing::Idle);
        assert_eq!(of_session("idle", None).0, Doing::Idle);
        assert_eq!(of_session("idle in transaction", Some(("Client", "ClientRead"))).1, "idle in transaction");
        // A server without track_activities tells events all the same.
        assert_eq!(of_session("disabled", Some(("Client", "ClientRead"))).0, Doing::Idle);
        let background = seen("walwriter", "", Some(("Activity", "WalWriterMain")));
        assert_eq!(background, (Who::Background, Doing::Idle, "walwriter: Activity/WalWriterMain".to_owned()));
    }
}
