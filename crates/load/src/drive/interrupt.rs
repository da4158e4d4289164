//! Ends statements that take too long, where their server does not do so itself.
//!
//! In: sessions whose statement is overdue. Out: `KILL QUERY` on a connection of its own, after which the statement
//! ends with an error. When a statement is overdue, `lane` decides.
//!
//! A KILL names a session and not a statement, so that one that comes late would end the session's next statement.
//! Two things rule that out. The thread that drives a session kills its statement and waits for the KILL's answer, so
//! that nothing is sent in that session meanwhile; with the answer the server has marked the session as killed. If the
//! statement had ended by itself just before, it did not take that mark away, and the next one might. So once the
//! statement is answered, and before anything else is sent, the session runs a statement that does nothing, again and
//! again until it succeeds: from then on no mark is left.

use crate::error::LoadError;
use crate::session::CONNECT_DEADLINE;
use rqps_wire::{Endpoint, ErrorCode, Session, Target, WireError};
use std::time::Duration;

/// How long a KILL, or the statement that does nothing, may take.
const ANSWER_DEADLINE: Duration = Duration::from_secs(10);

/// Does nothing, but takes the mark of a KILL away.
const NOTHING: &str = "DO 0";

/// How often that may be hit by the KILL. A mark is taken away by the first statement that it hits.
const HITS_MAX: u32 = 3;

/// There is no such session: it has ended by itself.
const NO_SUCH_THREAD: u16 = 1094;

/// How often to look for statements that take longer than this: they are ended within a tenth more, a second at most.
pub(crate) fn look_every(timeout: Duration) -> Duration {
    (timeout / 10).clamp(Duration::from_millis(10), Duration::from_secs(1))
}

/// Kills statements of sessions to one server.
pub(crate) struct Interrupter {
    endpoint: Endpoint,
    /// How often to look whether one is overdue.
    pub(crate) look_every: Duration,
}

impl Interrupter {
    pub(crate) fn new(endpoint: &Endpoint, timeout: Duration) -> Interrupter {
        Interrupter { endpoint: endpoint.clone(), look_every: look_every(timeout) }
    }

    /// Kills the statement of a session, and nothing that is sent in it after [`absorb_kill`].
    #[cold]
    pub(crate) fn interrupt(&self, session: &Session) -> Result<(), WireError> {
        kill(&self.endpoint, &format!("KILL QUERY {}", session.backend_pid()))
    }
}

/// Ends a session on MySQL that missed its deadline, with what it waits for.
pub(crate) fn end_session(session: &Session, target: &Target) -> Result<(), LoadError> {
    let kill_it = format!("KILL {}", session.backend_pid());
    kill(&target.endpoint, &kill_it).map_err(LoadError::wire("killing a statement"))
}

/// Sends a KILL and waits for its answer.
fn kill(endpoint: &Endpoint, sql: &str) -> Result<(), WireError> {
    let mut session = Session::connect(endpoint, CONNECT_DEADLINE)?;
    session.set_deadline(Some(ANSWER_DEADLINE));
    match session.execute(sql) {
        Err(WireError::Server { error, .. }) if error.number() == NO_SUCH_THREAD => Ok(()),
        other => other.map(drop),
    }
}

/// Takes the mark of a KILL away from a session that waits for nothing.
#[cold]
pub(crate) fn absorb_kill(session: &mut Session) -> Result<(), WireError> {
    session.set_deadline(Some(ANSWER_DEADLINE));
    let mut hits = 0;
    loop {
        match session.execute(NOTHING) {
            Ok(_) => break,
            Err(WireError::Server { error, .. })
                if error.number() == ErrorCode::INTERRUPTED_NUMBER && hits < HITS_MAX =>
            {
                hits += 1;
            }
            Err(error) => return Err(error),
        }
    }
    session.set_deadline(None);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rqps_testkit::{LiveServer, Wanted, on_each};

    /// A KILL that reaches a session when its statement has ended, which may then hit the next one.
    #[test]
    fn a_kill_that_comes_late_does_not_hit_the_next_statement() {
        on_each(&["mysql:5.6.14", "mysql:5.7.22", "mysql:8.0.15", "mariadb:10.2.11"], |build| {
            let server = LiveServer::shared(&Wanted::of(build));
            let interrupter = Interrupter::new(&server.endpoint(), Duration::from_secs(1));
            let mut session = server.session();
            session.execute("CREATE TABLE t (id int PRIMARY KEY)").expect("made");
            session.execute("INSERT INTO t VALUES (1), (2)").expect("filled");
            for _ in 0..50 {
                session.execute("DO 0").expect("answered");
                interrupter.interrupt(&session).expect("killed");
                absorb_kill(&mut session).expect("taken in");
                // It fails where a KILL hits it.
                let asked = "SELECT COUNT(*) FROM t WHERE SLEEP(0.001) = 0";
                let counted = session.query(asked).unwrap_or_else(|error| panic!("{build}: {error}"));
                assert_eq!(counted.single(), Some("2"), "{build}");
            }
        });
    }

    #[test]
    fn a_session_that_is_gone_needs_no_kill() {
        let server = LiveServer::shared(&Wanted::mysql());
        kill(&server.endpoint(), "KILL QUERY 4000000").expect("nothing to do");
    }

    #[test]
    fn short_timeouts_are_looked_after_more_often() {
        for (timeout_ms, every_ms) in [(20, 10), (500, 50), (30_000, 1000), (600_000, 1000)] {
            assert_eq!(look_every(Duration::from_millis(timeout_ms)), Duration::from_millis(every_ms));
        }
    }
}
