//! Statements with `:name` where values go.
//!
//! In: a statement of the user's file. Out: its text in pieces, and with the markers of a prepared statement. Names in
//! strings, comments and quoted names are left alone, and so are `::`, `:=`, and the bounds of a slice: in brackets
//! behind a name a colon is the slice's (`a[1:n]`), in those of `ARRAY[:a, :b]` it is not. `\:` is a plain colon.
//! pgbench's scripts have another rule.

use crate::Dialect;
use crate::token::{Token, TokenKind, tokens};

/// A piece of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text as it stands.
    Text(String),
    /// The name of a value.
    Name(String),
}

/// A statement in pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<Piece>,
}

impl Template {
    /// Takes a statement apart.
    pub fn parse(text: &str, dialect: Dialect) -> Template {
        let mut template = Template { pieces: Vec::new() };
        let all: Vec<_> = tokens(text, dialect).collect();
        let mut at = 0;
        // Of each bracket that is open, whether it is a slice's; and the last token that is no blank.
        let (mut brackets, mut last): (Vec<bool>, Option<Token>) = (Vec::new(), None);
        while let Some(token) = all.get(at) {
            let word = token.text(text);
            let next = all.get(at + 1).filter(|next| next.kind == TokenKind::Word);
            match (token.kind, word) {
                (TokenKind::Symbol, "[") => brackets.push(last.is_some_and(|last| has_slices(&last, text))),
                (TokenKind::Symbol, "]") => _ = brackets.pop(),
                _ => {}
            }
            if !token.is_blank() {
                last = Some(*token);
            }
            let is_colon = token.kind == TokenKind::Symbol && word == ":";
            let is_escape = token.kind == TokenKind::Symbol && word == "\\";
            if is_escape && all.get(at + 1).is_some_and(|next| next.text(text) == ":") {
                template.push_text(":");
                at += 2;
                continue;
            }
            match next.filter(|_| is_colon && !brackets.contains(&true)) {
                Some(next) if !next.text(text).starts_with('@') => {
                    let mut name = next.text(text).to_owned();
                    at += 2;
                    // `:source.column`, without spaces.
                    let dot = all.get(at).is_some_and(|dot| dot.kind == TokenKind::Symbol && dot.text(text) == ".");
                    let column = all.get(at + 1).filter(|column| dot && column.kind == TokenKind::Word);
                    if let Some(column) = column {
                        name = format!("{name}.{}", column.text(text));
                        at += 2;
                    }
                    template.pieces.push(Piece::Name(name));
                }
                _ => {
                    template.push_text(word);
                    at += 1;
                }
            }
        }
        template
    }

    fn push_text(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Text(last)) => last.push_str(text),
            _ => self.pieces.push(Piece::Text(text.to_owned())),
        }
    }

    /// Text and names in their order.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The names, each once, in the order in which they come first.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for piece in &self.pieces {
            if let Piece::Name(name) = piece
                && !names.contains(&name.as_str())
            {
                names.push(name);
            }
        }
        names
    }

    /// The statement as it is prepared, and for each of its markers which of the names it takes: `$1`, one for each
    /// name, on PostgreSQL; a `?` wherever a name stands on MySQL and MariaDB.
    pub fn with_markers(&self, dialect: Dialect) -> (String, Vec<usize>) {
        let names = self.names();
        let (mut sql, mut slots) = (String::new(), Vec::new());
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => sql.push_str(text),
                Piece::Name(name) => {
                    let number = names.iter().position(|known| known == name).unwrap_or(0);
                    if dialect.is_postgres() {
                        sql.push_str(&format!("${}", number + 1));
                    } else {
                        sql.push('?');
                        slots.push(number);
                    }
                }
            }
        }
        if dialect.is_postgres() {
            slots = (0..names.len()).collect();
        }
        (sql, slots)
    }
}

/// Whether a bracket behind this token is that of a subscript or a slice.
fn has_slices(token: &Token, text: &str) -> bool {
    match token.kind {
        TokenKind::Word => !token.text(text).eq_ignore_ascii_case("array"),
        TokenKind::Name => true,
        _ => matches!(token.text(text), ")" | "]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_where_they_are_meant() {
        for (text, names) in [
            ("SELECT * FROM t WHERE a = :a AND b = :b OR c = :a", &["a", "b"][..]),
            ("SELECT a::int, ':x', \":y\" /* :z */ -- :w\n FROM t", &[]),
            ("SELECT a[1:n], a[:n], a[b[1]:n], f(a)[1:n], :c", &["c"]),
            ("SELECT ARRAY[:a, :b], ARRAY[[:c]], (ARRAY[:d])[1:n]", &["a", "b", "c", "d"]),
            ("SELECT :basket.customer, :basket.product, :a .b", &["basket.customer", "basket.product", "a"]),
            ("SELECT '{\"a\":true}'::json, \\:x, :ü", &["ü"]),
            ("SELECT $$ :no $$, :yes", &["yes"]),
            ("a := 1", &[]),
        ] {
            assert_eq!(Template::parse(text, Dialect::Postgres).names(), names, "{text}");
        }
        assert_eq!(Template::parse("SET @a := :b, c = `:d` # :e", Dialect::Mysql).names(), ["b"]);
    }

    #[test]
    fn markers_are_those_of_the_dialect() {
        let text = "SELECT :a, :b, :a, '\\:x' \\:y";
        let with = |dialect| Template::parse(text, dialect).with_markers(dialect);
        assert_eq!(with(Dialect::Postgres), ("SELECT $1, $2, $1, '\\:x' :y".to_owned(), vec![0, 1]));
        assert_eq!(with(Dialect::Mysql), ("SELECT ?, ?, ?, '\\:x' :y".to_owned(), vec![0, 1, 0]));
    }
}
