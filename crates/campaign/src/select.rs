//! The choice of tests from words: sets, names, labels, and patterns with `*` and `?`, in any mixture.
//!
//! The suite's data comes with the vocabulary; the result is in the suite's order of execution, whatever the order of
//! the words, each test with the work that is due before it. The one place where words become tests.

use crate::vocabulary::nearest;
use rqps_suites::{ALL_TESTS, Suite, Test, Work};
use wildmatch::WildMatch;

/// A word that chooses no test.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no test or set `{word}` in suite {suite}")]
pub struct NoSuchTest {
    /// The word.
    pub word: String,
    /// The suite searched.
    pub suite: String,
    /// The nearest right word.
    pub nearest: Option<String>,
}

/// Whether a word is a test's name or label, or a pattern that fits either.
pub fn fits(word: &str, name: &str, label: &str) -> bool {
    let pattern = word.contains(['*', '?']).then(|| WildMatch::new(word));
    [name, label].into_iter().any(|text| text == word || pattern.as_ref().is_some_and(|pattern| pattern.matches(text)))
}

/// The tests that a word chooses: a set's name, a test's name or label, or a pattern.
pub fn matching<'a>(suite: &'a Suite, word: &str) -> Result<Vec<&'a Test>, NoSuchTest> {
    let chosen = |test: &&Test| {
        let set = word == ALL_TESTS || test.sets.iter().any(|set| set == word);
        set || fits(word, &test.name, &test.label)
    };
    let tests: Vec<&Test> = suite.tests.iter().filter(chosen).collect();
    if tests.is_empty() {
        let words = suite.tests.iter().map(|test| test.name.as_str()).chain(suite.sets());
        let nearest = nearest(word, words).filter(|_| !word.contains(['*', '?'])).map(str::to_owned);
        return Err(NoSuchTest { word: word.to_owned(), suite: suite.name.clone(), nearest });
    }
    Ok(tests)
}

/// A test that was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Selected<'a> {
    /// The test.
    pub test: &'a Test,
    /// The work before it: its own, and what is due from tests that were left out.
    pub before: Vec<Work>,
}

/// The tests that some words choose together, in order of execution; all wrong words at once.
pub fn select<'a>(suite: &'a Suite, words: &[&str]) -> Result<Vec<Selected<'a>>, Vec<NoSuchTest>> {
    let (mut chosen, mut wrong) = (Vec::new(), Vec::new());
    for word in words {
        match matching(suite, word) {
            Ok(tests) => chosen.extend(tests.into_iter().map(|test| test.name.as_str())),
            Err(error) => wrong.push(error),
        }
    }
    if !wrong.is_empty() {
        return Err(wrong);
    }
    Ok(with_work(suite, |test| chosen.contains(&test.name.as_str())))
}

/// Work of a test that is left out falls to the next one chosen, since it prepares the data for all that follow; what
/// clears up after writes is dropped where nothing was written since.
fn with_work(suite: &Suite, is_chosen: impl Fn(&Test) -> bool) -> Vec<Selected<'_>> {
    let (mut selected, mut due, mut written) = (Vec::new(), Vec::new(), false);
    let first_on_aged_data = suite.first_on_aged_data();
    for (at, test) in suite.tests.iter().enumerate() {
        if Some(at) == first_on_aged_data {
            // It begins with data on which its work was done when they were aged, and with warm caches.
            (due, written) = (Vec::new(), false);
        }
        let before = test.before.iter().filter(|_| Some(at) != first_on_aged_data);
        for work in before {
            // Warming is due whether or not anything was written before it.
            if (*work == Work::Warm || written) && !due.contains(work) {
                due.push(*work);
            }
            written &= *work != Work::Postwrite;
        }
        if is_chosen(test) {
            written |= test.writes;
            selected.push(Selected { test, before: std::mem::take(&mut due) });
        }
    }
    selected
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::vocabulary;

    fn names(words: &[&str]) -> Vec<String> {
        let vocabulary = vocabulary();
        let tests = select(&vocabulary.suites[0], words).expect("known words");
        tests.into_iter().map(|selected| selected.test.name.clone()).collect()
    }

    #[test]
    fn work_of_a_test_left_out_falls_to_the_next() {
        let work = |words: &[&str]| -> String {
            let vocabulary = vocabulary();
            let selected = select(&vocabulary.suites[0], words).expect("known words");
            let told = selected.iter().map(|one| {
                let before: Vec<&str> = one.before.iter().map(|work| work.name()).collect();
                format!("{} {}", before.join("+"), one.test.name)
            });
            told.collect::<Vec<_>>().join(", ")
        };
        let first = "warm update-index";
        // What stands before the first test on aged data was done when they were aged.
        assert_eq!(work(&["update-index", "scan", "hot-points"]), format!("{first},  scan,  hot-points"));
        assert_eq!(work(&["hot-points", "points-notcovered-si"]), " hot-points, warm points-notcovered-si");
    }

    #[test]
    fn sets_have_their_sizes() {
        for (set, size) in [("27", 27), ("32", 32), ("42", 42), ("all", 47)] {
            assert_eq!(names(&[set]).len(), size, "{set}");
        }
    }

    #[test]
    fn words_mix_and_the_order_is_the_suites() {
        assert_eq!(
            names(&["hot-points", "update-*", "scan_range=100", "hot-points"]),
            ["update-inlist", "update-index", "update-nonindex", "update-one", "update-zipf", "scan", "hot-points"]
        );
        assert_eq!(names(&["read-only_range=1??"]), ["read-only_range=100"]);
    }

    #[test]
    fn all_wrong_words_are_told_at_once() {
        let vocabulary = vocabulary();
        let wrong = select(&vocabulary.suites[0], &["hot-point", "scan", "zz*", "33"]).expect_err("wrong words");
        let told: Vec<(&str, Option<&str>)> =
            wrong.iter().map(|error| (error.word.as_str(), error.nearest.as_deref())).collect();
        assert_eq!(told, [("hot-point", Some("hot-points")), ("zz*", None), ("33", Some("32"))]);
    }

    #[test]
    fn patterns() {
        for (pattern, text, yes) in [
            ("*", "", true),
            ("*", "scan", true),
            ("s*n", "scan", true),
            ("s*n", "scans", false),
            ("*points*", "hot-points", true),
            ("?can", "scan", true),
            ("?", "", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("***", "x", true),
        ] {
            assert_eq!(WildMatch::new(pattern).matches(text), yes, "{pattern} {text}");
        }
    }
}
