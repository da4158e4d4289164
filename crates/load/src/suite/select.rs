//! Which tests a campaign runs: words and patterns to tests in order of execution.
//!
//! In: words such as `32`, `hot-points`, `read-only*`. Out: the tests with the work that is due before each, or every
//! unknown word with the nearest right one.

use super::{Suite, Test, Work};
use std::fmt;

/// The word for every test.
const ALL: &str = "all";

/// A test that was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Selected<'a> {
    /// The test.
    pub test: &'a Test,
    /// The work before it: its own, and that of tests left out since the last chosen one.
    pub before: Vec<Work>,
}

/// A word that chooses nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownWord {
    /// The word.
    pub word: String,
    /// The right word that looks most like it, if any does.
    pub nearest: Option<String>,
}

/// Why nothing was chosen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectError {
    /// No words were given.
    #[error("no test is chosen; give names, patterns such as `read-only*`, or one of the sets {0}")]
    Nothing(String),
    /// Some words choose nothing.
    #[error("{}", Unknown(.0))]
    Unknown(Vec<UnknownWord>),
}

struct Unknown<'a>(&'a [UnknownWord]);

impl fmt::Display for Unknown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, UnknownWord { word, nearest }) in self.0.iter().enumerate() {
            let separator = if index > 0 { "; " } else { "" };
            write!(f, "{separator}no test, set or pattern `{word}`")?;
            if let Some(nearest) = nearest {
                write!(f, ", did you mean `{nearest}`?")?;
            }
        }
        Ok(())
    }
}

impl Suite {
    /// The sets that the suite's tests belong to, `all` included.
    pub fn sets(&self) -> Vec<&str> {
        let mut sets: Vec<&str> = self.tests.iter().flat_map(|test| &test.sets).map(String::as_str).collect();
        sets.sort_unstable();
        sets.dedup();
        sets.push(ALL);
        sets
    }

    /// Every word that chooses something: sets, names and labels.
    pub fn words(&self) -> Vec<&str> {
        let names = self.tests.iter().flat_map(|test| [test.name.as_str(), test.label.as_str()]);
        let mut words: Vec<&str> = self.sets().into_iter().chain(names).collect();
        words.dedup();
        words
    }

    /// The tests that any of `words` chooses, each once, in order of execution.
    pub fn select<W: AsRef<str>>(&self, words: &[W]) -> Result<Vec<Selected<'_>>, SelectError> {
        if words.is_empty() {
            return Err(SelectError::Nothing(self.sets().join(", ")));
        }
        let unknown: Vec<UnknownWord> = words
            .iter()
            .map(AsRef::as_ref)
            .filter(|word| !self.tests.iter().any(|test| chooses(word, test)))
            .map(|word| UnknownWord { word: word.to_owned(), nearest: self.nearest(word) })
            .collect();
        if !unknown.is_empty() {
            return Err(SelectError::Unknown(unknown));
        }
        Ok(self.with_work(|test| words.iter().any(|word| chooses(word.as_ref(), test))))
    }

    /// Work of a test that is left out falls to the next one chosen, since it prepares the data for all that follow;
    /// what cleans up after writes is dropped where no write was chosen before it.
    fn with_work(&self, is_chosen: impl Fn(&Test) -> bool) -> Vec<Selected<'_>> {
        let mut chosen = Vec::new();
        let mut before: Vec<Work> = Vec::new();
        let mut written = false;
        for test in &self.tests {
            for &work in &test.before {
                let is_due = work == Work::Warm || written;
                if is_due && !before.contains(&work) {
                    before.push(work);
                }
                written &= work != Work::Postwrite;
            }
            if is_chosen(test) {
                written |= test.writes;
                chosen.push(Selected { test, before: std::mem::take(&mut before) });
            }
        }
        chosen
    }

    fn nearest(&self, word: &str) -> Option<String> {
        // As alike as a slip or two of the keyboard leaves a word.
        const ALIKE: f64 = 0.6;
        let scored = self.words().into_iter().map(|known| (strsim::normalized_damerau_levenshtein(word, known), known));
        let best = scored.max_by(|a, b| a.0.total_cmp(&b.0))?;
        (best.0 >= ALIKE).then(|| best.1.to_owned())
    }
}

fn chooses(word: &str, test: &Test) -> bool {
    word == ALL || test.sets.iter().any(|set| set == word) || matches(word, &test.name) || matches(word, &test.label)
}

/// Whether `text` is what `pattern` says, where `*` stands for anything and `?` for one character.
fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut p, mut t) = (0, 0);
    // Where the last star was, and how much of the text it has taken.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(&c) if c == b'?' || c == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match star {
                Some((at, taken)) => {
                    star = Some((at, taken + 1));
                    p = at + 1;
                    t = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&c| c == b'*')
}
