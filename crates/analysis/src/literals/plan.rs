//! Plans without the values that they compare with.
//!
//! In: a plan as a server printed it, or what is kept in place of one. Out: the same with `?` for each literal; what
//! nodes cost stays.

use super::{dialect, message};
use rqps_model::Engine;
use rqps_sql::{Dialect, redact, tokens};

/// What stands in place of a plan that a server did not tell.
const UNTOLD: &str = "not told: ";

/// Where a plan's node begins to say what it costs.
const COSTS: &str = "  (cost=";

/// Keys of MySQL's JSON plans whose texts and lists hold no values.
const KEPT_KEYS: [&str; 13] = [
    "table_name",
    "access_type",
    "key",
    "select_id",
    "using_index",
    "query_cost",
    "data_read_per_join",
    "filtered",
    "message",
    "possible_keys",
    "used_key_parts",
    "used_columns",
    "ref",
];

/// The parts of what is kept of a plan of MySQL or MariaDB.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Tables,
    Tree,
    Json,
}

/// A plan: what its nodes cost stays, what they compare with does not.
pub(crate) fn plan(text: &str, engine: Engine) -> String {
    if text.starts_with(UNTOLD) {
        return message(text);
    }
    if dialect(engine).is_postgres() {
        return of_postgres(text);
    }
    let mut part = Part::Tables;
    let mut has_names = false;
    let line = |line: &str| {
        part = match line {
            "tree:" => Part::Tree,
            "json:" => Part::Json,
            _ => part,
        };
        match (part, line.rfind(COSTS)) {
            _ if line.starts_with(UNTOLD) => message(line),
            (Part::Tables, _) => line.to_owned(),
            (Part::Json, _) => json_line(line, &mut has_names),
            (Part::Tree, Some(costs)) => redact(&line[..costs], dialect(engine)) + &line[costs..],
            (Part::Tree, None) => redact(line, dialect(engine)),
        }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// A value may have line ends in it, so the plan is read as one text.
fn of_postgres(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    let mut end = 0;
    for token in tokens(text, Dialect::Postgres).filter(|token| token.text(text) == "(") {
        let Some(start) = token.start.checked_sub(2).filter(|start| *start >= end) else { continue };
        if text.get(start..).is_some_and(|rest| rest.starts_with(COSTS)) {
            end = text[start..].find(')').map_or(text.len(), |length| start + length + 1);
            out.push_str(&redact(&text[from..start], Dialect::Postgres));
            out.push_str(&text[start..end]);
            from = end;
        }
    }
    out + &redact(&text[from..], Dialect::Postgres)
}

/// A line of a plan in JSON: texts are hidden but for those that name tables, columns and indexes. `has_names` says so
/// of the list under way.
fn json_line(line: &str, has_names: &mut bool) -> String {
    let text = line.trim_start();
    let indent = &line[..line.len() - text.len()];
    let comma = if text.ends_with(',') { "," } else { "" };
    let hidden = |is_kept: bool, hidden: String| if is_kept { line.to_owned() } else { hidden };
    match text.strip_prefix('"').and_then(|text| text.split_once("\": ")) {
        Some((key, value)) => {
            let is_kept = KEPT_KEYS.contains(&key) || key.ends_with("cost");
            match value.as_bytes() {
                [b'"', ..] => hidden(is_kept, format!("{indent}\"{key}\": \"?\"{comma}")),
                [b'['] => {
                    *has_names = is_kept;
                    line.to_owned()
                }
                [b'0'..=b'9', ..] if key.contains("limit") || key.contains("offset") => {
                    format!("{indent}\"{key}\": \"?\"{comma}")
                }
                [b'[', ..] => hidden(is_kept, format!("{indent}\"{key}\": [\"?\"]{comma}")),
                _ => line.to_owned(),
            }
        }
        None => hidden(*has_names || !text.starts_with('"'), format!("{indent}\"?\"{comma}")),
    }
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
    fn a_value_of_several_lines_or_one_like_a_plan_is_hidden_whole() {
        for text in [
            "Seq Scan on t  (cost=0.00..1.00 rows=1 width=4)\n  Filter: (note = 'one\nsecret  (cost=secret)'::text)",
            "Seq Scan on t  (cost=0.00..1.00 rows=1 width=4)\n  Filter: (note = E'\\\\\n: type=secret'::text)",
        ] {
            let hidden = "Seq Scan on t  (cost=0.00..1.00 rows=1 width=4)\n  Filter: (note = ?::text)";
            assert_eq!(plan(text, Engine::Postgres), hidden);
        }
        for text in [
            "t: type=ALL\ntree:\n-> Filter: (a = 'x  (cost=secret) : type=secret')  (cost=1.5 rows=2)",
            "t: type=ALL\njson:\n{\n  \"attached_condition\": \"(a = ' : type=secret')\"\n}",
            "t: type=ALL\njson:\n{\n  \"ranges\": [\n    \"(secret <= a)\"\n  ],\n  \"key\": \"k\"\n}",
            "t: type=ALL\njson:\n{\n  \"ranges\": [\"(secret <= a)\"]\n}",
            "t: type=ALL\njson:\n{\n  \"limit\": 4711,\n  \"key\": \"k\"\n}",
            "t: type=ALL\njson:\nnot told: ERROR 1064 (42000): near 'secret' at line 1",
            "not told: ERROR 3999 (42000): no\ntree:\n-> Range over (4711 <= a)  (cost=1.5 rows=2)\njson:\n{\n  \
             \"ranges\": [\n    \"(4711 <= a)\"\n  ],\n  \"condition\": \"a = 4711\"\n}",
            "not told: ERROR 1064 (42000): near 'one\nsecret' at line 1\njson:\n{\n}",
        ] {
            let plan = plan(text, Engine::Mysql);
            assert!(!plan.contains("secret") && !plan.contains("4711"), "{plan}");
        }
        let names = "json:\n{\n  \"possible_keys\": [\n    \"PRIMARY\"\n  ],\n  \"used_columns\": [\"id\", \"a\"]\n}";
        assert_eq!(plan(names, Engine::Mysql), names);
    }

    #[test]
    fn what_is_kept_in_place_of_a_plan_is_hidden_as_a_message() {
        let text = "not told: asking for a plan: ERROR 22P02: invalid input syntax for type integer: \"secret\" \
                    (statement: EXPLAIN SELECT 4711)";
        let hidden = "not told: asking for a plan: ERROR 22P02: invalid input syntax for type integer: \"?\" \
                      (statement: EXPLAIN SELECT ?)";
        assert_eq!(plan(text, Engine::Postgres), hidden);
    }
}
