//! Statements of which no test is made, and why.
//!
//! In: a statement. Out: the reason, by its words alone.

use crate::context::{Context, Table};
use rqps_sql::{Dialect, TokenKind, first_word, statements, tokens};

/// Why a statement becomes no test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeftOut {
    /// BEGIN, COMMIT, SET, SHOW and their like.
    Session,
    /// DDL, and what keeps tables in order.
    Schema,
    /// COPY, LOAD, cursors.
    Bulk,
    /// What a client asks of the server itself.
    Administrator,
    /// Questions about the server.
    Catalog,
    /// PostgreSQL did not show the text.
    Hidden,
    /// The end is missing, or it is no SQL.
    Cut,
    /// Several statements were sent as one.
    Several,
    /// Statements of functions and routines.
    Nested,
    /// Bytes that are no UTF-8.
    Encoding,
    /// What a replica applied.
    Replication,
    /// It takes less time than those that were chosen.
    Below,
}

impl LeftOut {
    /// In a few words.
    pub const fn name(self) -> &'static str {
        match self {
            LeftOut::Session => "transactions, settings, SHOW",
            LeftOut::Schema => "DDL and maintenance",
            LeftOut::Bulk => "COPY, LOAD and cursors",
            LeftOut::Administrator => "administrator commands",
            LeftOut::Catalog => "the server's own tables",
            LeftOut::Hidden => "texts hidden from the role that exported them",
            LeftOut::Cut => "cut, incomplete or no SQL",
            LeftOut::Several => "several statements in one",
            LeftOut::Nested => "within functions and routines, part of their callers",
            LeftOut::Encoding => "not UTF-8",
            LeftOut::Replication => "replication",
            LeftOut::Below => "below the top",
        }
    }
}

const WORK: [&str; 9] = ["SELECT", "WITH", "VALUES", "TABLE", "INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE"];

const SESSION: [&str; 28] = [
    "BEGIN",
    "START",
    "COMMIT",
    "END",
    "ROLLBACK",
    "ABORT",
    "SAVEPOINT",
    "RELEASE",
    "SET",
    "RESET",
    "SHOW",
    "USE",
    "DISCARD",
    "DEALLOCATE",
    "PREPARE",
    "EXECUTE",
    "LISTEN",
    "UNLISTEN",
    "NOTIFY",
    "LOCK",
    "UNLOCK",
    "DESCRIBE",
    "DESC",
    "EXPLAIN",
    "XA",
    "HELP",
    "KILL",
    "DO",
];

const SCHEMA: [&str; 28] = [
    "CREATE",
    "ALTER",
    "DROP",
    "TRUNCATE",
    "RENAME",
    "VACUUM",
    "ANALYZE",
    "REINDEX",
    "CLUSTER",
    "REFRESH",
    "GRANT",
    "REVOKE",
    "COMMENT",
    "SECURITY",
    "REASSIGN",
    "OPTIMIZE",
    "REPAIR",
    "CHECK",
    "CHECKSUM",
    "FLUSH",
    "PURGE",
    "CHECKPOINT",
    "INSTALL",
    "UNINSTALL",
    "IMPORT",
    "CHANGE",
    "STOP",
    "REPACK",
];

const BULK: [&str; 7] = ["COPY", "LOAD", "DECLARE", "FETCH", "CLOSE", "MOVE", "HANDLER"];

/// Schemas and databases that are the server's own.
const OWN_SCHEMAS: [&str; 6] = ["pg_catalog", "pg_toast", "information_schema", "performance_schema", "mysql", "sys"];

/// How PostgreSQL writes that a role may not see a text.
const HIDDEN: &str = "<insufficient privilege>";

/// Whether a schema or a database is the server's own.
pub(crate) fn is_own_schema(name: Option<&str>) -> bool {
    name.is_some_and(|name| OWN_SCHEMAS.iter().any(|own| own.eq_ignore_ascii_case(name)))
}

/// Why a statement becomes no test, if so.
pub(crate) fn reason(sql: &str, database: Option<&str>, dialect: Dialect) -> Option<LeftOut> {
    if sql.trim().is_empty() || sql == HIDDEN {
        return Some(LeftOut::Hidden);
    }
    let first = first_word(sql, dialect);
    let by_word = |words: &[&str]| words.contains(&first.as_str());
    if by_word(&SESSION) {
        return Some(LeftOut::Session);
    }
    if by_word(&SCHEMA) {
        return Some(LeftOut::Schema);
    }
    if by_word(&BULK) {
        return Some(LeftOut::Bulk);
    }
    if !(by_word(&WORK) || first == "CALL") || is_cut(sql, dialect) {
        return Some(LeftOut::Cut);
    }
    if statements(sql, dialect).len() > 1 {
        return Some(LeftOut::Several);
    }
    is_about_the_server(sql, database, dialect).then_some(LeftOut::Catalog)
}

/// Whether something is open at its end, or it ends in dots.
pub(crate) fn is_cut(sql: &str, dialect: Dialect) -> bool {
    let mut depth = 0_i64;
    let mut is_open = false;
    for token in tokens(sql, dialect) {
        let text = token.text(sql);
        match token.kind {
            TokenKind::Symbol if text == "(" => depth += 1,
            TokenKind::Symbol if text == ")" => depth -= 1,
            TokenKind::String | TokenKind::Name => is_open = !is_closed(text),
            TokenKind::Comment | TokenKind::Executed => is_open = text.starts_with("/*") && !text.ends_with("*/"),
            _ => {}
        }
    }
    depth != 0 || is_open || sql.trim_end().ends_with("...")
}

/// Whether a string or a name ends with the quote that began it.
fn is_closed(text: &str) -> bool {
    let Some(start) = text.find(['\'', '"', '`', '$']) else { return true };
    let (mark, inner) = (&text[start..=start], &text[start + 1..]);
    if mark == "$" {
        return inner.find('$').is_some_and(|end| text.len() > 2 * (end + 2) - 1 && text.ends_with(&text[..end + 2]));
    }
    // The lexer ends a string at its quote or at the end of the text.
    inner.ends_with(mark) && !inner[..inner.len() - 1].ends_with('\\') || inner.ends_with(&format!("\\\\{mark}"))
}

/// Whether all that it reads is the server's own.
fn is_about_the_server(sql: &str, database: Option<&str>, dialect: Dialect) -> bool {
    let context = Context::of(sql, dialect);
    let is_own = |table: &Table| match table.schema.as_deref() {
        Some(schema) => is_own_schema(Some(schema)),
        None => is_own_schema(database) || dialect.is_postgres() && table.name.starts_with("pg_"),
    };
    let tables = context.tables();
    if tables.is_empty() {
        let words = context.words();
        return words.iter().any(|word| word.starts_with("pg_") || word.starts_with("@@"));
    }
    tables.iter().all(is_own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_becomes_no_test_has_a_reason() {
        use Dialect::{Mysql, Postgres};
        for (sql, dialect, expected) in [
            ("SELECT * FROM orders", Postgres, None),
            ("(SELECT 1 FROM a) UNION (SELECT 2 FROM b)", Postgres, None),
            ("WITH x AS (SELECT 1) SELECT * FROM x, orders", Postgres, None),
            ("CALL pay(1)", Mysql, None),
            ("begin", Postgres, Some(LeftOut::Session)),
            ("SET @a = 1", Mysql, Some(LeftOut::Session)),
            ("/* x */ create index a on b (c)", Postgres, Some(LeftOut::Schema)),
            ("FETCH 100 FROM c", Postgres, Some(LeftOut::Bulk)),
            ("<insufficient privilege>", Postgres, Some(LeftOut::Hidden)),
            ("", Postgres, Some(LeftOut::Hidden)),
            ("SELECT * FROM orders WHERE state = 'ne", Postgres, Some(LeftOut::Cut)),
            ("SELECT * FROM orders WHERE id IN (1, 2", Mysql, Some(LeftOut::Cut)),
            ("SELECT * FROM orders WHERE id IN (...", Mysql, Some(LeftOut::Cut)),
            ("throttle: 10 'index not used' warning(s) suppressed.", Mysql, Some(LeftOut::Cut)),
            ("SELECT 1 FROM a; SELECT 2 FROM b", Postgres, Some(LeftOut::Several)),
            ("SELECT * FROM pg_class c JOIN pg_catalog.pg_index i ON true", Postgres, Some(LeftOut::Catalog)),
            ("SELECT count(*) FROM information_schema.tables", Mysql, Some(LeftOut::Catalog)),
            ("SELECT pg_backend_pid()", Postgres, Some(LeftOut::Catalog)),
            ("SELECT @@version", Mysql, Some(LeftOut::Catalog)),
            ("SELECT o.* FROM orders o JOIN pg_class c ON true", Postgres, None),
            ("SELECT 'it''s', \"a\"\"\" FROM t", Postgres, None),
            (r"SELECT 'a\\' FROM t", Mysql, None),
            ("SELECT $$x$$ FROM t", Postgres, None),
            ("SELECT $$x FROM t", Postgres, Some(LeftOut::Cut)),
        ] {
            assert_eq!(reason(sql, Some("shop"), dialect), expected, "{sql}");
        }
        assert_eq!(reason("SELECT * FROM user", Some("mysql"), Mysql), Some(LeftOut::Catalog));
    }
}
