//! What a statement's words say about its tables, and about the columns that its values belong to.
//!
//! In: a statement with its slots. Out: tables with their aliases, a name for each slot, a name for the statement. They
//! are guesses that make a file readable; nothing depends on them.

mod tables;

use rqps_sql::{Dialect, Slot, TokenKind, fingerprint, tokens};
pub(crate) use tables::Table;
use tables::tables;

/// What a slot's value belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Belongs {
    /// The table, where it is known.
    pub(crate) table: Option<String>,
    /// The column, or `limit`, `offset`.
    pub(crate) column: String,
    /// Whether it chooses rows, and is not written to them.
    pub(crate) is_chosen_by: bool,
}

/// A token, or a whole slot.
#[derive(Debug)]
struct Part {
    kind: TokenKind,
    text: String,
    upper: String,
    is_slot: bool,
}

/// A statement in parts.
#[derive(Debug)]
pub(crate) struct Context {
    parts: Vec<Part>,
    tables: Vec<Table>,
}

/// Words between a value and the column that it is compared with.
const COMPARING: [&str; 13] =
    ["LIKE", "ILIKE", "NOT", "IN", "BETWEEN", "ANY", "ALL", "ARRAY", "SIMILAR", "TO", "REGEXP", "RLIKE", "SOME"];

/// Types that can stand in front of a value.
const TYPES: [&str; 4] = ["DATE", "TIME", "TIMESTAMP", "TIMESTAMPTZ"];

/// Words behind which no column can stand for a value.
const BORDERS: [&str; 21] = [
    "SELECT",
    "WHERE",
    "AND",
    "OR",
    "ON",
    "SET",
    "VALUES",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "HAVING",
    "BY",
    "FROM",
    "RETURNING",
    "DISTINCT",
    "AS",
    "INTERVAL",
    "USING",
    "END",
    "IF",
];

impl Context {
    pub(crate) fn of(sql: &str, dialect: Dialect) -> Context {
        Context::with_slots(sql, &fingerprint(sql, dialect).slots, dialect)
    }

    pub(crate) fn with_slots(sql: &str, slots: &[Slot], dialect: Dialect) -> Context {
        let mut parts: Vec<Part> = Vec::new();
        let mut slots = slots.iter().peekable();
        let mut slot_end = 0;
        for token in tokens(sql, dialect).filter(|token| !token.is_blank()) {
            if token.start < slot_end {
                continue;
            }
            let slot = slots.next_if(|slot| slot.start == token.start);
            let end = slot.map_or(token.end, |slot| slot.end);
            slot_end = end;
            let text = sql[token.start..end].to_owned();
            let upper = text.to_ascii_uppercase();
            parts.push(Part { kind: token.kind, text, upper, is_slot: slot.is_some() });
        }
        let tables = tables(&parts);
        Context { parts, tables }
    }

    pub(crate) fn tables(&self) -> &[Table] {
        &self.tables
    }

    /// Bare words and functions, in small letters.
    pub(crate) fn words(&self) -> Vec<String> {
        let words = self.parts.iter().filter(|part| part.kind == TokenKind::Word);
        words.map(|part| part.text.to_ascii_lowercase()).collect()
    }

    fn is(&self, at: usize, words: &[&str]) -> bool {
        self.parts.get(at).is_some_and(|part| !part.is_slot && words.contains(&part.upper.as_str()))
    }

    /// What each slot belongs to.
    pub(crate) fn slots(&self) -> Vec<Option<Belongs>> {
        let inserted = self.inserted_columns();
        let slots = self.parts.iter().enumerate().filter(|(_, part)| part.is_slot);
        slots.map(|(at, _)| self.belongs(at, &inserted)).collect()
    }

    fn belongs(&self, at: usize, inserted: &[(usize, String)]) -> Option<Belongs> {
        if let Some((_, column)) = inserted.iter().find(|(place, _)| *place == at) {
            let table = self.tables.first().map(|table| table.name.clone());
            return Some(Belongs { table, column: column.clone(), is_chosen_by: false });
        }
        if let Some(word) = self.limit(at) {
            return Some(Belongs { table: None, column: word.to_owned(), is_chosen_by: false });
        }
        let column = self.column_before(at).or_else(|| self.column_behind(at))?;
        let (table, column) = self.named(column)?;
        let clause = (0..at).rev().find(|at| self.is(*at, &["SELECT", "SET", "UPDATE", "WHERE", "ON", "HAVING"]));
        let is_chosen_by = clause.is_some_and(|at| self.is(at, &["WHERE", "ON", "HAVING"]));
        Some(Belongs { table, column, is_chosen_by })
    }

    /// `limit` or `offset`, where that is what stands there.
    fn limit(&self, at: usize) -> Option<&'static str> {
        let before = at.checked_sub(1)?;
        if self.is(before, &["OFFSET"]) {
            return Some("offset");
        }
        if self.is(before, &["LIMIT", "FIRST", "NEXT"]) {
            // MySQL's `LIMIT offset, count`.
            return Some(if self.is(at + 1, &[","]) { "offset" } else { "limit" });
        }
        (self.is(before, &[","]) && at >= 3 && self.parts[at - 2].is_slot && self.is(at - 3, &["LIMIT"]))
            .then_some("limit")
    }

    /// The place of the column that a value is compared with, in front of it.
    fn column_before(&self, at: usize) -> Option<usize> {
        let mut at = at.checked_sub(1)?;
        // The end of a range belongs to what its beginning does.
        if self.is(at, &["AND"]) && at >= 2 && self.parts[at - 1].is_slot && self.is(at - 2, &["BETWEEN"]) {
            at -= 2;
        }
        if self.is(at, &[","]) {
            at = self.list_start(at)?;
        }
        let mut has_operator = false;
        loop {
            let part = &self.parts[at];
            let is_operator =
                part.kind == TokenKind::Symbol && !matches!(part.text.as_str(), ")" | "]" | "," | "." | ";");
            match part.kind {
                _ if part.is_slot => return None,
                TokenKind::Word if COMPARING.contains(&part.upper.as_str()) => has_operator = true,
                TokenKind::Word if !has_operator && TYPES.contains(&part.upper.as_str()) => {}
                TokenKind::Word if BORDERS.contains(&part.upper.as_str()) => return None,
                TokenKind::Word | TokenKind::Name => {
                    let is_function = self.is(at + 1, &["("]);
                    return (has_operator && !is_function).then_some(at);
                }
                // A sum or a function of the column, at most.
                TokenKind::Symbol if is_operator => has_operator |= !matches!(part.text.as_str(), "(" | "["),
                _ => return None,
            }
            at = at.checked_sub(1)?;
        }
    }

    /// The parenthesis that begins a list of values, from a comma within.
    fn list_start(&self, comma: usize) -> Option<usize> {
        let inner = |at: &usize| self.parts[*at].is_slot || self.is(*at, &[","]);
        let open = (0..comma).rev().find(|at| !inner(at))?;
        let is_list = self.is(open, &["(", "["]) && open > 0 && self.is(open - 1, &["IN", "ANY", "ARRAY", "ALL"]);
        is_list.then_some(open)
    }

    /// The place of the column behind a value: `$1 = a`.
    fn column_behind(&self, at: usize) -> Option<usize> {
        let mut behind = at + 1;
        while self.is(behind, &["=", "<", ">", "!"]) {
            behind += 1;
        }
        let part = self.parts.get(behind).filter(|_| behind > at + 1)?;
        if !matches!(part.kind, TokenKind::Word | TokenKind::Name) || self.is(behind + 1, &["("]) {
            return None;
        }
        Some(if self.is(behind + 1, &["."]) { behind + 2 } else { behind })
    }

    /// Table and column of a column's last word.
    fn named(&self, at: usize) -> Option<(Option<String>, String)> {
        let column = plain(&self.parts.get(at)?.text);
        let qualifier = (at >= 2 && self.is(at - 1, &["."])).then(|| plain(&self.parts[at - 2].text));
        let table = match (&qualifier, &self.tables[..]) {
            (Some(name), tables) => tables.iter().find(|table| {
                table.alias.as_ref().is_some_and(|alias| alias.eq_ignore_ascii_case(name))
                    || table.name.eq_ignore_ascii_case(name)
            }),
            (None, [only]) => Some(only),
            (None, _) => None,
        };
        Some((table.map(|table| table.name.clone()), column))
    }

    /// The places of the values of an INSERT with their columns.
    fn inserted_columns(&self) -> Vec<(usize, String)> {
        let mut found = Vec::new();
        let Some(into) = (0..self.parts.len()).find(|at| self.is(*at, &["INTO"])) else { return found };
        let Some(open) = (into..self.parts.len()).find(|at| self.is(*at, &["(", "VALUES", "SELECT"])) else {
            return found;
        };
        if !self.is(open, &["("]) {
            return found;
        }
        let Some(close) = (open..self.parts.len()).find(|at| self.is(*at, &[")"])) else { return found };
        let columns: Vec<String> = self.parts[open + 1..close]
            .iter()
            .filter(|part| matches!(part.kind, TokenKind::Word | TokenKind::Name))
            .map(|part| plain(&part.text))
            .collect();
        if !self.is(close + 1, &["VALUES", "VALUE"]) {
            return found;
        }
        let (mut depth, mut column) = (0, 0);
        for at in close + 2..self.parts.len() {
            match self.parts[at].text.as_str() {
                "(" => {
                    depth += 1;
                    column = if depth == 1 { 0 } else { column };
                }
                ")" => depth -= 1,
                "," if depth == 1 => column += 1,
                _ if depth == 0 && self.parts[at].kind == TokenKind::Word => break,
                _ if self.parts[at].is_slot && depth == 1 => {
                    found.extend(columns.get(column).map(|name| (at, name.clone())));
                }
                _ => {}
            }
        }
        found
    }

    /// A name for the statement, such as `orders-by-id` or `update-orders-by-id`.
    pub(crate) fn name(&self) -> String {
        let first = self.parts.iter().find(|part| part.kind == TokenKind::Word).map_or("", |part| part.upper.as_str());
        let verb = match first {
            "INSERT" | "UPDATE" | "DELETE" | "MERGE" | "REPLACE" => first.to_ascii_lowercase(),
            "CALL" => {
                let routine = self.parts.iter().skip(1).take_while(|part| part.text != "(").last();
                return cleaned(&format!("call-{}", routine.map_or(String::new(), |part| plain(&part.text))));
            }
            _ if self.is(1, &["COUNT"]) => "count".to_owned(),
            _ => String::new(),
        };
        let mut words: Vec<String> = Vec::new();
        words.extend(Some(verb).filter(|verb| !verb.is_empty()));
        for table in &self.tables {
            if !words.contains(&table.name) && words.len() < 3 {
                words.push(table.name.clone());
            }
        }
        if words.is_empty() {
            words.push("select".to_owned());
        }
        let mut columns: Vec<String> = Vec::new();
        for belongs in self.slots().into_iter().flatten().filter(|belongs| belongs.is_chosen_by) {
            if !columns.contains(&belongs.column) && columns.len() < 2 {
                columns.push(belongs.column);
            }
        }
        if !columns.is_empty() {
            words.push("by".to_owned());
            words.extend(columns);
        }
        cleaned(&words.join("-"))
    }
}

/// A name without its quotes.
fn plain(text: &str) -> String {
    text.trim_matches(['"', '`']).to_owned()
}

/// What can be a file's name.
fn cleaned(name: &str) -> String {
    let plain: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')).take(48).collect();
    let plain = plain.trim_matches(['-', '_']);
    if plain.is_empty() { "statement".to_owned() } else { plain.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(sql: &str, dialect: Dialect) -> String {
        let context = Context::of(sql, dialect);
        let slot = |belongs: Option<Belongs>| match belongs {
            None => "?".to_owned(),
            Some(Belongs { table: None, column, .. }) => column,
            Some(Belongs { table: Some(table), column, .. }) => format!("{table}.{column}"),
        };
        let slots: Vec<String> = context.slots().into_iter().map(slot).collect();
        format!("{}: {}", context.name(), slots.join(" "))
    }

    #[test]
    fn statements_and_their_values_have_names_of_tables_and_columns() {
        use Dialect::{Mysql, Postgres};
        for (sql, dialect, expected) in [
            ("SELECT * FROM orders WHERE id = 1", Postgres, "orders-by-id: orders.id"),
            ("select * from shop.orders where $1 = id limit $2", Postgres, "orders-by-id: orders.id limit"),
            (
                "SELECT 1 FROM orders o JOIN customers AS c ON c.id = o.customer WHERE c.email LIKE 'a' AND o.placed BETWEEN 'b' AND 'c'",
                Postgres,
                "orders-customers-by-email-placed: customers.email orders.placed orders.placed",
            ),
            (
                "SELECT a FROM t WHERE b IN (1, 2) OR c = ANY(ARRAY[3, 4]) LIMIT 5, 6",
                Mysql,
                "t-by-b-c: t.b t.b t.c t.c offset limit",
            ),
            ("SELECT a FROM t, u WHERE left(b, 3) = 'x' AND c + 1 > 2", Postgres, "t-u-by-c: ? ? c ?"),
            ("UPDATE t SET a = a + 1, b = 'x' WHERE `id` = 2", Mysql, "update-t-by-id: t.a t.b t.id"),
            (
                "INSERT INTO t (a, b) VALUES (1, f(2)), (NULL, 'x') ON DUPLICATE KEY UPDATE a = 5",
                Mysql,
                "insert-t: t.a ? t.a t.b t.a",
            ),
            ("DELETE FROM \"T\" WHERE x < now() - interval '1 day'", Postgres, "delete-T: ?"),
            ("SELECT count(*) FROM t WHERE extract(year FROM d) = 2024", Postgres, "count-t: ?"),
            ("WITH x AS (SELECT * FROM t WHERE a = 1) SELECT * FROM x", Postgres, "t-by-a: t.a"),
            ("CALL shop.pay(1)", Mysql, "call-pay: ?"),
            ("SELECT f(1)", Mysql, "select: ?"),
        ] {
            assert_eq!(named(sql, dialect), expected, "{sql}");
        }
    }
}
