//! Lists and rounds as sentences have them.
//!
//! In: numbers and names. Out: parts of sentences, without what they are about.

use std::collections::BTreeSet;

/// Most examples named in one sentence.
const MOST_EXAMPLES: usize = 3;

/// The first few of a list, and how many more there are.
pub(crate) fn examples(names: &[String]) -> String {
    let shown = names.iter().take(MOST_EXAMPLES).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST_EXAMPLES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Numbers of rounds in words, each once: `round 3`, `rounds 1, 2, 5`.
pub(crate) fn rounds_in_words(rounds: impl IntoIterator<Item = u32>) -> String {
    let rounds: BTreeSet<u32> = rounds.into_iter().collect();
    let noun = if rounds.len() == 1 { "round" } else { "rounds" };
    let numbers: Vec<String> = rounds.iter().map(u32::to_string).collect();
    format!("{noun} {}", numbers.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_count_right() {
        assert_eq!(rounds_in_words([3]), "round 3");
        assert_eq!(rounds_in_words([1, 4, 1]), "rounds 1, 4");
        let names: Vec<String> = (1..=5).map(|n| format!("t{n}")).collect();
        assert_eq!(examples(&names), "t1, t2, t3 and 2 more");
        assert_eq!(examples(&names[..2]), "t1, t2");
    }
}
