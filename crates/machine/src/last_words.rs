//! A program's last output, and the part that explains its end.
//!
//! In: all that it wrote. Out: its last lines, and the errors before them. It must not read files.

/// How MySQL and MariaDB mark an error; after one they log their shutdown for more lines than are shown.
const ERROR_MARKS: [&str; 2] = ["[ERROR]", "InnoDB: Error"];

/// Errors that are shown before the last lines.
const ERRORS_SHOWN: usize = 5;

/// The last lines of a text, and before them the first errors that came earlier; empty lines are left out.
pub fn last_words_of(text: &str, lines: usize) -> Vec<String> {
    let all: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let (before, last) = all.split_at(all.len().saturating_sub(lines));
    let errors = before.iter().filter(|line| ERROR_MARKS.iter().any(|mark| line.contains(mark))).take(ERRORS_SHOWN);
    errors.chain(last).map(|line| (*line).to_owned()).collect()
}
