//! What a reader must know beside the numbers: like-for-like faults, failed trials, noise, a client that was the limit.
//!
//! In: what was read and judged. Out: [`Warning`]s of a cell, a treatment and the campaign. Each is one that would have
//! caught a wrong or unlike published comparison. A warning changes no verdict.

pub(crate) mod campaign;
pub(crate) mod cell;
mod plan_changes;
mod step;
pub(crate) mod treatment;
mod unlike_builds;

use crate::findings::Warning;

/// Most examples named in one sentence.
const MOST_EXAMPLES: usize = 3;

fn warning(kind: &str, message: String, remedy: &str) -> Warning {
    let remedy = (!remedy.is_empty()).then(|| remedy.to_owned());
    Warning { kind: kind.to_owned(), message, remedy, in_full: None }
}

/// The first few of a list, and how many more there are.
fn examples(names: &[String]) -> String {
    let shown = names.iter().take(MOST_EXAMPLES).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST_EXAMPLES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// A fraction in percent, with as many digits as a reader needs; beyond tenfold they say nothing.
fn percent(fraction: f64) -> String {
    let percent = fraction * 100.0;
    if percent > 1000.0 {
        return ">1000 %".to_owned();
    }
    if percent.abs() < 9.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// Numbers of rounds in words: `round 3`, `rounds 1, 2, 5`.
pub(crate) fn rounds_in_words(rounds: &[u32]) -> String {
    let noun = if rounds.len() == 1 { "round" } else { "rounds" };
    let numbers: Vec<String> = rounds.iter().map(u32::to_string).collect();
    format!("{noun} {}", numbers.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_count_right() {
        assert_eq!(rounds_in_words(&[3]), "round 3");
        assert_eq!(rounds_in_words(&[1, 4]), "rounds 1, 4");
        assert_eq!(percent(0.0312), "3.1 %");
        assert_eq!(percent(0.62), "62 %");
        let names: Vec<String> = (1..=5).map(|n| format!("t{n}")).collect();
        assert_eq!(examples(&names), "t1, t2, t3 and 2 more");
        assert_eq!(examples(&names[..2]), "t1, t2");
    }
}
