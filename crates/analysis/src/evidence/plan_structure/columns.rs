//! A condition as PostgreSQL prints it → the columns in it.
//!
//! In: text such as `((t.id >= $1) AND (k = ANY ('{1,2}'::integer[])))`. Out: `id, k`. Versions print operators, casts,
//! parentheses and subplans in their own ways, and a generic plan has parameters where a custom one has values; which
//! columns a condition is of is common to all.

/// Words that are neither keywords in capitals nor columns.
const NO_COLUMNS: [&str; 10] =
    ["hashed", "true", "false", "null", "precision", "varying", "without", "with", "time", "zone"];

/// The columns in an expression, in their order.
pub(super) fn columns(expression: &str) -> Vec<String> {
    let mut rest = expression;
    let mut found: Vec<String> = Vec::new();
    let mut before = ' ';
    // What is extracted of a time: a word, in capitals or small letters.
    let mut is_unit = false;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            // From PostgreSQL 17 on a subplan stands with what it is compared with, before 17 alone.
            '(' if rest.starts_with("(ANY (") || rest.starts_with("(ALL (") => match group(rest) {
                whole if rest[..whole].contains("SubPlan ") => whole,
                _ => 1,
            },
            '\'' => quoted(rest, '\''),
            '"' => quoted(rest, '"'),
            ':' if rest.starts_with("::") => 2 + word(&rest[2..]),
            _ if c.is_alphabetic() || c == '_' => word(rest),
            '0'..='9' | '$' => 1 + word(&rest[1..]),
            _ => c.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        // A table's name stands before a dot, a column of a subplan after `).`, a function before a parenthesis.
        let is_name = c == '"' || (c.is_alphabetic() || c == '_') && !token.chars().any(char::is_uppercase);
        let is_other = after.starts_with(['.', '(', '\'']) || before == ')' || NO_COLUMNS.contains(&token);
        if is_name && !is_other && !is_unit && !found.iter().any(|name| name == token) {
            found.push(token.to_owned());
        }
        is_unit = token == "EXTRACT" || is_unit && token == "(";
        // What stands before a dot is remembered, so that `).col1` is known.
        if c != '.' {
            before = if c.is_whitespace() { ' ' } else { c };
        }
        rest = after;
    }
    found
}

/// The length of a quoted text, quotes included; doubled ones are part of it.
fn quoted(text: &str, quote: char) -> usize {
    let mut at = 1;
    while let Some(end) = text[at..].find(quote) {
        at += end + 1;
        match text[at..].starts_with(quote) {
            true => at += 1,
            false => return at,
        }
    }
    text.len()
}

/// The length of what stands in parentheses, these included.
fn group(text: &str) -> usize {
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(c) = text[at..].chars().next() {
        at += match c {
            '\'' | '"' => quoted(&text[at..], c),
            _ => c.len_utf8(),
        };
        match c {
            '(' => depth += 1,
            ')' if depth <= 1 => return at,
            ')' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

/// The length of a word.
fn word(text: &str) -> usize {
    text.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expression: &str, expected: &[&str]) {
        assert_eq!(columns(expression), expected, "{expression}");
    }

    #[test]
    fn columns_are_found_whatever_stands_around_them() {
        check("((id >= $1) AND (id <= $2))", &["id"]);
        check("((t.id >= 5) AND (sbtest1.k = 7))", &["id", "k"]);
        check("(k = ANY ('{1,2,3}'::integer[]))", &["k"]);
        check("((c)::text ~~ 'it''s ( %'::text)", &["c"]);
        check("(lower((name)::text) = 'x'::text)", &["name"]);
        check("(a.x = \"B\".\"Y z\")", &["x", "\"Y z\""]);
        check("c, d DESC NULLS LAST", &["c", "d"]);
        check("(NOT (hashed SubPlan 1))", &[]);
        check("(NOT (ANY (x = (hashed SubPlan 1).col1)))", &[]);
        check("((k = 1) AND (ANY (x = (SubPlan 1).col1)) AND (c = ')'::text))", &["k", "c"]);
        check("(ANY (x = y))", &["x", "y"]);
        check("(date_part('year'::text, d) = '2024'::double precision)", &["d"]);
        check("(EXTRACT(year FROM d) = '2024'::numeric)", &["d"]);
        check("(at > '2024-01-01'::timestamp without time zone)", &["at"]);
        check("(E'\\\\x' IS NOT NULL)", &[]);
    }

    #[test]
    fn odd_text_is_no_trouble() {
        for text in
            ["(ANY (", "(ALL (SubPlan '", "EXTRACT(", "", "'", "\"", "::", "é::ü 'é", "((((", "a.", ".a", "$", "'a''"]
        {
            columns(text);
        }
    }
}
