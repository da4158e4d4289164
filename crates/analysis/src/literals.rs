//! Texts without the literals in them: statements, plans, and what servers say of errors.
//!
//! In: text. Out: the same with `?` for each literal.

use rqps_model::Engine;
use rqps_sql::{Dialect, redact};

/// Where a plan's node begins to say what it costs.
const COSTS: &str = "  (cost=";

/// Keys of MySQL's JSON plans whose texts hold no values.
const KEPT_KEYS: [&str; 9] = [
    "table_name",
    "access_type",
    "key",
    "select_id",
    "using_index",
    "query_cost",
    "data_read_per_join",
    "filtered",
    "message",
];

/// A statement.
pub(crate) fn statement(sql: &str, engine: Engine) -> String {
    redact(sql, dialect(engine))
}

fn dialect(engine: Engine) -> Dialect {
    Dialect::find(engine.name()).expect("every engine has a dialect of its name")
}

/// A plan: what its nodes cost stays, what they compare with does not.
pub(crate) fn plan(text: &str, engine: Engine) -> String {
    let mut is_json = false;
    let line = |line: &str| {
        is_json |= line == "json:";
        let is_table = line.contains(": type=") || line.starts_with("  select=");
        match line.find(COSTS) {
            _ if is_table => line.to_owned(),
            _ if is_json => json_line(line),
            Some(costs) => redact(&line[..costs], dialect(engine)) + &line[costs..],
            None => redact(line, dialect(engine)),
        }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// A line of a plan in JSON: texts are hidden but for those that name tables and indexes.
fn json_line(line: &str) -> String {
    let Some((key, value)) = line.split_once(": \"") else { return line.to_owned() };
    let name = key.trim().trim_matches('"');
    if KEPT_KEYS.contains(&name) || name.ends_with("cost") {
        return line.to_owned();
    }
    let end = if value.ends_with(',') { "," } else { "" };
    format!("{key}: \"?\"{end}")
}

/// What a server or rqps said: texts in quotes are hidden, and so is a statement that is quoted whole.
pub fn message(text: &str) -> String {
    const STATEMENT: &str = "STATEMENT:";
    let (text, has_statement) = match text.split_once(STATEMENT) {
        Some((before, _)) => (before, true),
        None => (text, false),
    };
    let text = hide_in_statement(text);
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find(['\'', '"']) {
        let quote = &rest[at..=at];
        let before = &rest[..at];
        let after = &rest[at + 1..];
        // An apostrophe within a word quotes nothing, and PostgreSQL quotes names in double quotes, values behind a
        // colon.
        let in_word = before.ends_with(char::is_alphanumeric) && quote == "'";
        let is_name = quote == "\"" && !before.ends_with(": ");
        let end = after.find(quote);
        match end {
            Some(end) if !in_word && !is_name => {
                out.push_str(before);
                out.push_str(&format!("{quote}?{quote}"));
                rest = &after[end + 1..];
            }
            _ => {
                out.push_str(&rest[..=at]);
                rest = after;
            }
        }
    }
    out.push_str(rest);
    if has_statement {
        out.push_str(STATEMENT);
        out.push_str(" ?");
    }
    out
}

/// The same, with `?` for the literals of the statement that is told with an error. It is hidden whole where engines
/// would read it differently, since a message does not say whose it is.
fn hide_in_statement(text: &str) -> String {
    const MARK: &str = "statement: ";
    let Some(at) = text.find(MARK) else { return text.to_owned() };
    let start = at + MARK.len();
    let is_in_brackets = ["(", "(last "].iter().any(|open| text[..at].ends_with(open));
    let end = text.rfind(')').filter(|end| is_in_brackets && *end >= start).unwrap_or(text.len());
    let sql = &text[start..end];
    let (one, other) = (redact(sql, Dialect::Postgres), redact(sql, Dialect::Mysql));
    let shown = if one == other { one.as_str() } else { "?" };
    format!("{}{shown}{}", &text[..start], &text[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_keep_their_costs_and_lose_their_values() {
        let text = "Index Scan using i on orders o  (cost=0.29..8.31 rows=1 width=52)\n  Index Cond: (id = 4711)\n  \
                    Filter: (state = 'secret'::text)";
        let hidden = "Index Scan using i on orders o  (cost=0.29..8.31 rows=1 width=52)\n  Index Cond: (id = ?)\n  \
                      Filter: (state = ?::text)";
        assert_eq!(plan(text, Engine::Postgres), hidden);
        let text = "orders: type=ref key=k key_len=4 ref=const\n  select=SIMPLE rows=101\ntree:\n-> Filter: (o.a = 'x')  \
                    (cost=1.5 rows=2)\njson:\n{\n  \"query_cost\": \"1.5\",\n  \"attached_condition\": \"(a = 'x')\"\n}";
        let hidden = "orders: type=ref key=k key_len=4 ref=const\n  select=SIMPLE rows=101\ntree:\n-> Filter: (o.a = ?)  \
                      (cost=1.5 rows=2)\njson:\n{\n  \"query_cost\": \"1.5\",\n  \"attached_condition\": \"?\"\n}";
        assert_eq!(plan(text, Engine::Mysql), hidden);
    }

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
                "42P01: no t (statement: SELECT f('x') WHERE a = 42); b",
                "42P01: no t (statement: SELECT f(?) WHERE a = ?); b",
            ),
            ("no t (last statement: SELECT 'what is cut…)", "no t (last statement: SELECT ?)"),
            ("no t (statement: SELECT \"a\" FROM t)", "no t (statement: ?)"),
            ("LOG:  statement: SELECT f(1), 2", "LOG:  statement: SELECT f(?), ?"),
        ] {
            assert_eq!(message(text), hidden);
        }
    }
}
