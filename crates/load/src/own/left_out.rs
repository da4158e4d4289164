//! What of a file does not arrive as it stands there: statements that are not sent, errors that are ignored, words that
//! are replaced, and what it says of its database.
//!
//! In: each of them, as the file is sent. Out: all of it in words. Rows and statements are in none of them; the words
//! of a server may hold values, which `analysis` hides: it knows an error by the words in front of it and behind it.

use rqps_wire::ErrorCode;
use std::collections::BTreeMap;

/// So many different errors of a file are told; of others only how many they are.
const ERRORS_MAX: usize = 20;

/// Letters that are kept of an error's message.
const LETTERS_MAX: usize = 200;

/// What was left out of a file so far.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    /// Kinds of statements, and how many.
    kinds: BTreeMap<String, usize>,
    /// Errors in the order of their first lines.
    errors: Vec<Ignored>,
    other_errors: usize,
    /// By word what stands there instead, and how often.
    replaced: BTreeMap<String, (String, usize)>,
    /// What is to be said about its database.
    database: Vec<String>,
}

/// An error after which the rest was sent.
#[derive(Debug)]
struct Ignored {
    /// Its code and message.
    told: String,
    line: usize,
    count: usize,
}

impl LeftOut {
    /// Notes a statement, or a part of one, that is not sent.
    pub(super) fn add(&mut self, kind: String) {
        *self.kinds.entry(kind).or_default() += 1;
    }

    /// Notes what a server said to the statement in that line.
    pub(super) fn add_error(&mut self, code: ErrorCode, message: &str, line: usize) {
        // One line, in which nothing looks like the beginning of another error.
        let message = message.replace(|c: char| c.is_control(), " ").replace('×', "x");
        let mut told = format!("{code}: {message}");
        if let Some((end, _)) = told.char_indices().nth(LETTERS_MAX) {
            told.truncate(end);
            told.push('…');
        }
        match self.errors.iter().position(|known| known.told == told) {
            Some(at) => self.errors[at].count += 1,
            None if self.errors.len() < ERRORS_MAX => self.errors.push(Ignored { told, line, count: 1 }),
            None => self.other_errors += 1,
        }
    }

    /// Notes that a word was replaced.
    pub(super) fn add_replaced(&mut self, word: &str, by: &str) {
        match self.replaced.get_mut(word) {
            Some((_, count)) => *count += 1,
            None => _ = self.replaced.insert(word.to_owned(), (by.to_owned(), 1)),
        }
    }

    /// Notes something about the database.
    pub(super) fn add_about_database(&mut self, told: Vec<String>) {
        self.database.extend(told);
    }

    /// All of it, in words, of a file of that name.
    pub(super) fn told(&self, name: &str) -> Vec<String> {
        let kinds = self.kinds.iter().map(|(kind, count)| format!("{count} × {kind}"));
        let error = |Ignored { told, line, count }: &Ignored| format!("{count} × error {told} (first in line {line})");
        let others = (self.other_errors > 0).then(|| format!("{} × other errors", self.other_errors));
        let left_out: Vec<String> = kinds.chain(self.errors.iter().map(error)).chain(others).collect();
        let replaced = self.replaced.iter().map(|(word, (by, count))| format!("{count} × {word} by {by}"));
        let replaced: Vec<String> = replaced.collect();
        let all = [("left out of", left_out), ("replaced in", replaced)];
        let all = all.into_iter().filter(|(_, parts)| !parts.is_empty());
        let all = all.map(|(what, parts)| format!("{what} {name}: {}", parts.join(", ")));
        all.chain(self.database.iter().map(|told| format!("{name}: {told}"))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rqps_wire::SqlState;

    #[test]
    fn errors_are_told_with_count_and_first_line_up_to_a_limit() {
        let gone = ErrorCode { state: SqlState(*b"42P01"), number: 0 };
        let twice = ErrorCode { state: SqlState(*b"23000"), number: 1062 };
        let mut left_out = LeftOut::default();
        left_out.add("GRANT".to_owned());
        left_out.add_error(gone, "relation \"a\" does not exist", 5);
        left_out.add_error(gone, "relation \"a\" does not exist", 9);
        left_out.add_error(twice, "entry '1 \u{d7} error\n2'", 7);
        left_out.add_replaced("old", "new");
        left_out.add_replaced("old", "new");
        let told = left_out.told("d.sql");
        let errors = "2 × error 42P01: relation \"a\" does not exist (first in line 5), 1 × error 1062 (23000): entry '1 \
                      x error 2' (first in line 7)";
        assert_eq!(
            told,
            [format!("left out of d.sql: 1 × GRANT, {errors}"), "replaced in d.sql: 2 × old by new".into()]
        );

        for line in 0..ERRORS_MAX + 3 {
            left_out.add_error(twice, &format!("{line} {}", "y".repeat(1000)), line);
        }
        let told = left_out.told("d.sql").swap_remove(0);
        assert!(told.ends_with(", 5 × other errors"), "{told}");
        assert!(told.chars().count() < (ERRORS_MAX + 1) * (LETTERS_MAX + 50), "{told}");
    }
}
