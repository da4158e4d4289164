//! The columns of a statement's answer, as the server tells them when it prepares the statement: nothing is executed.
//!
//! In: a test, a server, statements. Out: names of columns. Preparing takes no longer than a statement may: it waits
//! for whoever has a table locked.

use super::{database, dialect};
use crate::drive::end_session;
use crate::error::LoadError;
use rqps_model::own::{Own, OwnTest};
use rqps_sql::{Dialect, Token, TokenKind, tokens};
use rqps_wire::{Session, Target, WireError};

/// Asks a server, over a session that it opens when it is first asked.
pub(crate) struct Columns<'a> {
    own: &'a Own,
    test: &'a OwnTest,
    target: &'a Target,
    session: Option<Session>,
}

impl<'a> Columns<'a> {
    pub(crate) fn new(own: &'a Own, test: &'a OwnTest, target: &'a Target) -> Columns<'a> {
        Columns { own, test, target, session: None }
    }

    /// The columns of a step's statement, which has so many markers.
    pub(crate) fn of(&mut self, step: &str, sql: &str, markers: usize) -> Result<Vec<String>, LoadError> {
        let session = match &mut self.session {
            Some(session) => session,
            none => none.insert(database::limited(self.own, self.test, self.target)?),
        };
        let mut told = session.columns(sql, markers);
        if let (Ok([]), Some((select, markers))) =
            (told.as_deref(), returned_by_select(sql, dialect(self.target.engine())))
        {
            told = session.columns(&select, markers);
        }
        if let Err(WireError::Deadline { .. }) = &told {
            end_session(session, self.target)?;
        }
        told.map_err(LoadError::wire(format!("asking for the columns of `{step}`")))
    }
}

/// Words that may stand before the table into which rows go, or from which they are deleted.
const BEFORE_TABLE: [&str; 10] =
    ["INSERT", "REPLACE", "DELETE", "LOW_PRIORITY", "HIGH_PRIORITY", "DELAYED", "QUICK", "IGNORE", "INTO", "FROM"];

/// A SELECT of what a statement returns, and its markers: of RETURNING itself MariaDB tells no columns before it runs.
fn returned_by_select(sql: &str, dialect: Dialect) -> Option<(String, usize)> {
    let tokens: Vec<Token> = tokens(sql, dialect).filter(|token| !token.is_blank()).collect();
    let is_word =
        |token: &Token, word: &str| token.kind == TokenKind::Word && token.text(sql).eq_ignore_ascii_case(word);
    let returning = tokens.iter().rposition(|token| is_word(token, "RETURNING"))?;
    let table = tokens.iter().find(|token| !BEFORE_TABLE.iter().any(|word| is_word(token, word)))?;
    let list = sql[tokens[returning].end..].trim().trim_end_matches(';');
    let markers = tokens[returning..].iter().filter(|token| token.kind == TokenKind::Parameter).count();
    Some((format!("SELECT {list} FROM {}", table.text(sql)), markers))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_returned_can_be_selected() {
        for (sql, select) in [
            ("INSERT INTO t (a) VALUES (?) RETURNING id, a + ? AS b;", Some(("SELECT id, a + ? AS b FROM t", 1))),
            ("delete ignore from `a b` where returning_at = ? returning *", Some(("SELECT * FROM `a b`", 0))),
            ("INSERT INTO t SELECT 'RETURNING id'", None),
        ] {
            let found = returned_by_select(sql, Dialect::Mariadb);
            assert_eq!(found.as_ref().map(|(select, markers)| (select.as_str(), *markers)), select, "{sql}");
        }
    }
}
