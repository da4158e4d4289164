//! What rqps, servers and their logs say, without the values in it.
//!
//! In: text. Out: the same with `?` for what may be a value: texts in quotes, numbers that a server told, statements,
//! the details of errors. Names in double quotes stay where a word such as `relation` says that they are names.

use rqps_sql::{Dialect, redact};

/// Behind this stand lines of a server's log.
const LOG: &str = "ends with:\n";

/// What follows is a statement, a row, or whatever somebody else's program said.
const FREE: [&str; 13] = [
    "(statement: ",
    "(last statement: ",
    "(text: ",
    "the command `",
    "; detail: ",
    "; context: ",
    "STATEMENT:",
    "DETAIL:",
    "CONTEXT:",
    "QUERY:",
    "LOG:  statement:",
    "LOG:  execute ",
    "LOG:  duration:",
];

/// In front of an error that was ignored while a dump was loaded, and behind its words. `load` sees to it that they are
/// in no such error's own words.
const IGNORED: &str = "× error ";
const IGNORED_AT: &str = " (first in line ";

/// Errors whose words are those of the user's own functions.
const RAISED: [&str; 2] = ["P0001", "1644"];

/// Words behind which a name stands in double quotes.
const NAMED: [&str; 25] = [
    "relation",
    "column",
    "constraint",
    "table",
    "role",
    "user",
    "database",
    "schema",
    "function",
    "procedure",
    "type",
    "index",
    "extension",
    "collation",
    "encoding",
    "parameter",
    "variable",
    "view",
    "sequence",
    "trigger",
    "language",
    "method",
    "cursor",
    "reference",
    "tablespace",
];

/// What rqps or a server said.
pub fn message(text: &str) -> String {
    match text.split_once(LOG) {
        Some((before, log)) => words(before) + LOG + &lines(log),
        None => words(text),
    }
}

/// The words of a server for an error of this code.
pub(crate) fn error(code: &str, text: &str) -> String {
    let number = code.split(' ').next().unwrap_or_default();
    if RAISED.contains(&number) { "?".to_owned() } else { said(without_free(text).as_str()) }
}

/// Lines of a log. What goes on in further lines is hidden with them.
fn lines(log: &str) -> String {
    let mut shown: Vec<String> = Vec::new();
    let mut is_hiding = false;
    for line in log.lines() {
        let text = line.trim_start_matches(' ');
        let begins = text.starts_with(|c: char| c.is_ascii_digit()) || text.starts_with("Connection ID");
        if text.starts_with('\t') || is_hiding && !begins {
            continue;
        }
        is_hiding = free(text).is_some() || text.starts_with("Query (");
        shown.push(match text.split_once("): ").filter(|_| text.starts_with("Query (")) {
            Some((query, _)) => format!("{query}): ?"),
            None => words(line),
        });
    }
    shown.join("\n")
}

/// Where free text begins, and where it ends.
fn free(text: &str) -> Option<(usize, usize)> {
    let (at, mark) = FREE.iter().filter_map(|mark| Some((text.find(mark)?, *mark))).min()?;
    let start = at + mark.len();
    // What stands in parentheses is a single line, and may hold further ones.
    let end = if mark.starts_with('(') { text.rfind(')').filter(|end| *end >= start) } else { None };
    Some((start, end.unwrap_or(text.len())))
}

fn without_free(text: &str) -> String {
    match free(text) {
        Some((start, end)) => {
            let space = if text[..start].ends_with(':') { " " } else { "" };
            let shown =
                if text[..start].ends_with("statement: ") { statement(&text[start..end]) } else { "?".to_owned() };
            format!("{}{space}{shown}{}", &text[..start], &text[end..])
        }
        None => text.to_owned(),
    }
}

/// A statement that an error repeats, which does not say of which engine: where one engine would read it as another
/// would not (in double quotes stand names or values), nothing of it is shown.
fn statement(sql: &str) -> String {
    let (one, other) = (redact(sql, Dialect::Postgres), redact(sql, Dialect::Mysql));
    if one == other { one } else { "?".to_owned() }
}

/// The words of rqps, and the errors that they list.
fn words(text: &str) -> String {
    let mut parts = text.split(IGNORED);
    let before = words_of_one(parts.next().unwrap_or_default());
    parts.fold(before, |shown, error| {
        let hidden = match error.rsplit_once(IGNORED_AT) {
            Some((error, behind)) => words_of_one(error) + IGNORED_AT + &quoted(behind),
            None => words_of_one(error),
        };
        shown + IGNORED + &hidden
    })
}

/// The words of rqps, with those of a server behind an error's code.
fn words_of_one(text: &str) -> String {
    let text = without_free(text);
    match code(&text) {
        Some(code) if RAISED.iter().any(|raised| text[code.clone()].contains(raised)) => {
            quoted(&text[..code.start]) + &text[code] + ": ?"
        }
        Some(code) => {
            let (before, server) = text.split_at(code.end);
            // Severity and code may stand one behind the other.
            match server
                .strip_prefix(": ")
                .map(|rest| rest.trim_start())
                .filter(|rest| self::code(rest).is_some_and(|c| c.start == 0))
            {
                Some(rest) => quoted(before) + ": " + &words_of_one(rest),
                None => quoted(before) + &said(server),
            }
        }
        None => quoted(&text),
    }
}

/// An error's code with a colon behind it: `22P02`, `1062`, `1213 (40001)`.
fn code(text: &str) -> Option<std::ops::Range<usize>> {
    let is_code = |word: &str| {
        let is_state = word.len() == 5 && word.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
        is_state || word == "pgb00" || word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit())
    };
    text.match_indices(": ").find_map(|(at, _)| {
        let head = &text[..at];
        let head = match head.strip_suffix(')').and_then(|head| head.rsplit_once(" (")) {
            Some((before, state)) if is_code(state) => before,
            _ => head,
        };
        let start = head.rfind([' ', '\n', '(']).map_or(0, |space| space + 1);
        is_code(&head[start..]).then_some(start..at)
    })
}

/// A server's words: what is quoted is hidden unless it is a name, and so are numbers.
fn said(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_in_word = out.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$');
        let length = match first {
            '\'' if is_in_word => 1,
            '\'' | '"' => {
                let length = quote(rest, first, &out);
                match first == '"' && NAMED.iter().any(|word| out.ends_with(&format!("{word} "))) {
                    true => out.push_str(&rest[..length]),
                    false => out.extend([first, '?', first]),
                }
                rest = &rest[length..];
                continue;
            }
            '0'..='9' if !is_in_word && !["line ", "row "].iter().any(|word| out.ends_with(word)) => {
                let length = rest.find(|c: char| !c.is_alphanumeric() && !matches!(c, '.' | '_')).unwrap_or(rest.len());
                // A full stop behind it is no part of it.
                out.push('?');
                rest = &rest[rest[..length].trim_end_matches('.').len()..];
                continue;
            }
            other => other.len_utf8(),
        };
        out.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    out
}

/// The length of what is quoted, which may hold quotes itself: servers do not double them.
fn quote(rest: &str, mark: char, before: &str) -> usize {
    let inner = &rest[1..];
    let end = match () {
        // A piece of the statement: to the last quote.
        () if before.ends_with("near ") => inner.rfind(mark),
        () if mark == '\'' && inner.contains("' for ") => inner.find("' for "),
        () if before.ends_with(": ") => inner.rfind(mark),
        () => inner.find(mark),
    };
    end.map_or(rest.len(), |end| end + 2)
}

/// Words of rqps: values are in single quotes, or in double ones behind a colon.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['\'', '"']) {
        let (before, behind) = rest.split_at(at);
        let mark = &behind[..1];
        out.push_str(before);
        // An apostrophe within a word quotes nothing, and names are in double quotes.
        let is_in_word = before.ends_with(char::is_alphanumeric) && mark == "'";
        let is_name = mark == "\"" && !before.ends_with(": ");
        if is_in_word || is_name {
            out.push_str(mark);
            rest = &behind[1..];
            continue;
        }
        out.push_str(&format!("{mark}?{mark}"));
        rest = behind[1..].split_once(mark).map_or("", |(_, rest)| rest);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_lose_what_is_quoted_and_keep_names() {
        for (text, hidden) in [
            (
                "22P02: invalid input syntax for type integer: \"846.29\"",
                "22P02: invalid input syntax for type integer: \"?\"",
            ),
            ("relation \"orders\" does not exist", "relation \"orders\" does not exist"),
            ("1062: Duplicate entry 'a@b' for key 'email'", "1062: Duplicate entry '?' for key '?'"),
            ("the base's plan isn't ours", "the base's plan isn't ours"),
            ("ERROR: x STATEMENT: SELECT 42", "ERROR: x STATEMENT: ?"),
            (
                "late: ERROR 42P01: relation \"t\" does not exist (statement: SELECT 4711 FROM t); more",
                "late: ERROR 42P01: relation \"t\" does not exist (statement: SELECT ? FROM t); more",
            ),
            (
                "ERROR 23505: duplicate key value violates unique constraint \"t_pkey\"; detail: Key (a)=(secret) exists.",
                "ERROR 23505: duplicate key value violates unique constraint \"t_pkey\"; detail: ?",
            ),
            (
                "ERROR 22003: value \"47110000000\" is out of range for type integer",
                "ERROR 22003: value \"?\" is out of range for type integer",
            ),
            ("ERROR 42601: syntax error at or near \"'secret\"", "ERROR 42601: syntax error at or near \"?\""),
            (
                "ERROR 42601: unterminated quoted string at or near \"'secret \" x\"",
                "ERROR 42601: unterminated quoted string at or near \"?\"",
            ),
            (
                "ERROR 1064 (42000): an error; use near 'FRM t\nWHERE a = 'secret' AND b = 4711' at line 1 (statement: x)",
                "ERROR 1064 (42000): an error; use near '?' at line 1 (statement: x)",
            ),
            ("1062: Duplicate entry 'it's secret' for key 't.a'", "1062: Duplicate entry '?' for key '?'"),
            (
                "1292 (22007): Truncated incorrect DOUBLE value: 'it's secret'",
                "1292 (22007): Truncated incorrect DOUBLE value: '?'",
            ),
            ("ERROR P0001: customer secret has no credit", "ERROR P0001: ?"),
            ("with 1644 (45000): customer secret has no credit", "with 1644 (45000): ?"),
            (
                "20 events failed in a row, the last in `x` with 22P02: invalid input: \"secret",
                "20 events failed in a row, the last in `x` with 22P02: invalid input: \"?\"",
            ),
            ("refused: 'secret that was cut", "refused: '?'"),
            (
                "what buy does could not be told apart on b: executing `again`: ERROR 1062 (23000): Duplicate entry '7' \
                 for key 'id' (statement: INSERT INTO t VALUES (7))",
                "what buy does could not be told apart on b: executing `again`: ERROR 1062 (23000): Duplicate entry '?' \
                 for key '?' (statement: INSERT INTO t VALUES (?))",
            ),
            ("no t (last statement: SELECT 'what is cut…)", "no t (last statement: SELECT ?)"),
            ("no t (statement: SELECT \"a\" FROM t)", "no t (statement: ?)"),
            (
                "with pgb00: line 3: exit status: 1 of the command `echo secret`: why",
                "with pgb00: line 3: exit status: ? of the command `?",
            ),
            (
                "3 events took longer than they may in a row, the last in `late` with 57014: canceling statement",
                "3 events took longer than they may in a row, the last in `late` with 57014: canceling statement",
            ),
            (
                "after loading with b: left out of w.sql: 2 × GRANT, 3 × error 1062 (23000): Duplicate entry 'secret; 7' \
                 for key 'a' (first in line 12), 1 × error P0001: secret (first in line 15), 2 × error 42P01: relation \
                 \"t\" does not exist (first in line 20); replaced in w.sql: 2 × a by b; x: 3 × 'y'",
                "after loading with b: left out of w.sql: 2 × GRANT, 3 × error 1062 (23000): Duplicate entry '?' for key \
                 '?' (first in line 12), 1 × error P0001: ? (first in line 15), 2 × error 42P01: relation \"t\" does not \
                 exist (first in line 20); replaced in w.sql: 2 × a by b; x: 3 × '?'",
            ),
            (
                "w.sql:3: ERROR 42601: syntax error at or near \"TABL\"",
                "w.sql:3: ERROR 42601: syntax error at or near \"?\"",
            ),
        ] {
            assert_eq!(message(text), hidden);
        }
    }

    #[test]
    fn a_log_keeps_its_lines_and_loses_statements_however_long() {
        let log = "the server of b died; its log ends with:\n    \tAND a = 'secret';\n    2026-01-01 [1] ERROR:  invalid input \
                   syntax for type integer: \"secret\"\n    2026-01-01 [1] STATEMENT:  SELECT a\n    \tFROM t WHERE a = \
                   'secret'\n    2026-01-01 [2] LOG:  server process (PID 7) was terminated by signal 11\n    2026-01-01 [2] \
                   DETAIL:  Failed process was running: SELECT secret\n    2026-01-01 [2] LOG:  terminating";
        let hidden = "the server of b died; its log ends with:\n    2026-01-01 [1] ERROR:  invalid input syntax for type \
                      integer: \"?\"\n    2026-01-01 [1] STATEMENT: ?\n    2026-01-01 [2] LOG:  server process (PID 7) was \
                      terminated by signal 11\n    2026-01-01 [2] DETAIL: ?\n    2026-01-01 [2] LOG:  terminating";
        assert_eq!(message(log), hidden);
        let log = "its log ends with:\nTrying to get some variables.\nQuery (7f3c04): SELECT a FROM t\nWHERE a = 'secret'\n\
                   Connection ID (thread ID): 8\nStatus: NOT_KILLED";
        let hidden = "its log ends with:\nTrying to get some variables.\nQuery (7f3c04): ?\nConnection ID (thread ID): 8\n\
                      Status: NOT_KILLED";
        assert_eq!(message(log), hidden);
    }

    #[test]
    fn the_words_of_an_error_are_a_servers() {
        for (code, text, hidden) in [
            (
                "22003",
                "value \"4711\" is out of range for type integer",
                "value \"?\" is out of range for type integer",
            ),
            ("22001", "value too long for type character varying(10)", "value too long for type character varying(?)"),
            ("42703", "column \"region\" does not exist", "column \"region\" does not exist"),
            ("P0001", "customer secret has no credit", "?"),
            ("1644 (45000)", "customer secret has no credit", "?"),
            (
                "1264 (22003)",
                "Out of range value for column 'a' at row 1",
                "Out of range value for column '?' at row 1",
            ),
            (
                "pgb00",
                "line 2: malformed variable \"x\" value: \"secret\"",
                "line 2: malformed variable \"x\" value: \"?\"",
            ),
        ] {
            assert_eq!(error(code, text), hidden);
        }
    }
}
