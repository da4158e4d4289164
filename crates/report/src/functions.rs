//! The functions that gained or lost, in words and as lines of a terminal.
//!
//! In: the profile of a treatment in a test. Out: text. Only functions that differ by more than chance are named; what
//! is left is one line.

use crate::{number, text};
use rqps_analysis::findings::{Absence, Amount, FunctionFindings, ProfileFindings};
use rqps_model::plural;

/// Functions, and source files, that a terminal shows.
const SHOWN: usize = 10;

/// Functions that are named where another one was inlined into many.
const INLINED_INTO: usize = 3;

/// The lines below a test: what was sampled, the functions that moved, the rest, and what a reader must know.
pub(crate) fn lines(profile: &ProfileFindings, per: &str, width: usize) -> Vec<String> {
    let mut lines = text::wrap(&sampled(profile, per), width, "      ", "      ");
    let moved: Vec<&FunctionFindings> = profile.moved().collect();
    let named = |function: &&FunctionFindings| {
        let amount = function.amount;
        let absence: String = absence(function).map(|words| format!(", {words}")).into_iter().collect();
        (change(&amount), format!("{}, {}{absence}", text::plain(&function.name), from_to(&amount)))
    };
    let mut rows: Vec<(String, String)> = moved.iter().take(SHOWN).map(named).collect();
    if let Some(more) = moved.len().checked_sub(SHOWN + 1) {
        let all = moved[SHOWN..].iter().map(|function| function.amount.difference_us).sum::<f64>();
        let words = format!("{} more that moved, together {}", more + 1, difference(all));
        rows.push((String::new(), words));
    }
    if !moved.is_empty() {
        let rest = format!("everything else ({}), {}", functions(profile.rest_count), from_to(&profile.rest));
        rows.push((change(&profile.rest), rest));
    }
    lines.extend(listed(&rows, &rolled_up(profile), &profile.warnings, width));
    lines
}

/// That one of the builds has no code of its own for a function.
pub(crate) fn absence(function: &FunctionFindings) -> Option<String> {
    let Absence { in_base, inlined_into } = function.absent.as_ref()?;
    let build = if *in_base { "the base" } else { "this build" };
    let shown = |names: &Vec<String>| match names.len().checked_sub(INLINED_INTO + 1) {
        Some(more) => format!("{} and {} more", names[..INLINED_INTO].join(", "), more + 1),
        None => names.join(", "),
    };
    let words = match inlined_into {
        None => format!("inlined or gone in {build}"),
        Some(names) if names.is_empty() => format!("not there in {build}"),
        Some(names) => format!("in {build} inlined into {}", shown(names)),
    };
    Some(text::plain(&words))
}

/// Changes with what they are of, one below the other, then sentences and warnings.
pub(crate) fn listed(
    rows: &[(String, String)],
    sentences: &[String],
    warnings: &[String],
    width: usize,
) -> Vec<String> {
    let mut lines = text::aligned(rows, width);
    for words in sentences {
        lines.extend(text::wrap(words, width, "      ", "        "));
    }
    for warning in warnings {
        lines.extend(text::wrap(&format!("warning: {}", text::plain(warning)), width, "      ", "      "));
    }
    lines
}

/// What was sampled, and what it shows of all functions together.
pub(crate) fn sampled(profile: &ProfileFindings, per: &str) -> String {
    let ProfileFindings { rounds, base_samples, samples, total, .. } = profile;
    let mut words = format!(
        "functions, from {} with {base_samples} and {samples} samples: {} per {per} in all, {}",
        plural(*rounds, "round"),
        change(total),
        from_to(total)
    );
    if profile.moved().next().is_none() {
        words.push_str("; no function moved by more than chance");
        if let Some(mde) = profile.mde_us {
            words.push_str(&format!(", {} in any of them would have been found", number::duration_us(mde)));
        }
    }
    words
}

/// The same time by file and by process, each in a sentence; a single one is all of it. Then what samples stand for.
pub(crate) fn rolled_up(profile: &ProfileFindings) -> Vec<String> {
    let sentence = |what: &str, groups: &[FunctionFindings]| {
        let words = |group: &FunctionFindings| {
            let sure = if group.amount.is_sure {
                format!(" ({})", difference(group.amount.difference_us))
            } else {
                String::new()
            };
            format!("{} {}{sure}", text::plain(&group.name), from_to(&group.amount))
        };
        let words: Vec<String> = groups.iter().map(words).collect();
        (words.len() > 1).then(|| format!("{what}: {}", words.join("; ")))
    };
    let by_file = sentence("by file", &profile.files);
    let by_process = sentence("by process", &profile.roles);
    by_file.into_iter().chain(by_source(profile)).chain(by_process).chain(accounted(profile)).collect()
}

/// How much of the CPU time is in the samples, and how many of them are not in counted time.
fn accounted(profile: &ProfileFindings) -> Option<String> {
    let both = |parts: [f64; 2]| format!("{} and {}", number::percent(parts[0]), number::percent(parts[1]));
    let mut words = format!(
        "samples of server and client stand for {} of the CPU time that the system counted",
        both(profile.sampled_part?)
    );
    words.extend(
        profile.uncounted_part.map(|parts| format!("; {} of the server's are outside of counted time", both(parts))),
    );
    Some(words)
}

/// The source files that moved; there are too many to tell them all.
fn by_source(profile: &ProfileFindings) -> Option<String> {
    let moved: Vec<&FunctionFindings> = profile.sources.iter().filter(|file| file.amount.is_sure).collect();
    let words = |file: &&FunctionFindings| {
        let amount = &file.amount;
        format!("{} {} ({})", text::plain(&file.name), from_to(amount), difference(amount.difference_us))
    };
    let mut all: Vec<String> = moved.iter().take(SHOWN).map(words).collect();
    all.extend(moved.len().checked_sub(SHOWN + 1).map(|more| format!("{} more that moved", more + 1)));
    (!all.is_empty()).then(|| format!("by source file: {}", all.join("; ")))
}

/// A number of functions.
pub(crate) fn functions(count: u32) -> String {
    plural(count, "function")
}

/// `−30.1 µs (−31.0 to −29.2)`
pub(crate) fn change(amount: &Amount) -> String {
    with_interval([amount.difference_us, amount.low_us, amount.high_us].map(difference))
}

/// A difference and the ends of its interval; with units in parentheses where they are not all the same.
pub(crate) fn with_interval(all: [String; 3]) -> String {
    let unit = |text: &str| text.split_once(' ').map(|(_, unit)| unit.to_owned());
    let is_one_unit = all.iter().all(|text| unit(text) == unit(&all[0]));
    let [middle, low, high] = &all;
    let plain = |text: &String| match text.split_once(' ') {
        Some((number, _)) if is_one_unit => number.to_owned(),
        _ => text.clone(),
    };
    format!("{middle} ({} to {})", plain(low), plain(high))
}

/// `40.2 µs → 10.1 µs`
pub(crate) fn from_to(amount: &Amount) -> String {
    format!("{} → {}", number::duration_us(amount.base_us), number::duration_us(amount.us))
}

/// A difference with its sign.
pub(crate) fn difference(us: f64) -> String {
    match us {
        us if us < 0.0 => format!("−{}", number::duration_us(-us)),
        us if us > 0.0 => format!("+{}", number::duration_us(us)),
        _ => "0".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(base_us: f64, us: f64, half: f64, is_sure: bool) -> Amount {
        let difference_us = us - base_us;
        let (low_us, high_us) = (difference_us - half, difference_us + half);
        Amount { base_us, us, difference_us, low_us, high_us, q: Some(0.01), is_sure }
    }

    fn named(name: &str, amount: Amount) -> FunctionFindings {
        FunctionFindings { name: name.to_owned(), samples: 500, amount, absent: None }
    }

    fn profile(functions: Vec<FunctionFindings>) -> ProfileFindings {
        ProfileFindings {
            rounds: 6,
            base_samples: 1200,
            samples: 800,
            total: amount(107.0, 57.5, 1.5, true),
            functions,
            rest: amount(50.0, 48.5, 2.0, false),
            rest_count: 231,
            inclusive: Vec::new(),
            files: vec![
                named("server", amount(90.0, 40.0, 1.0, true)),
                named("kernel", amount(17.0, 17.5, 1.0, false)),
            ],
            sources: vec![
                named("nbtree/nbtsearch.c", amount(60.0, 12.0, 1.0, true)),
                named("server", amount(30.0, 28.0, 3.0, false)),
            ],
            roles: Vec::new(),
            sampled_part: Some([0.988, 0.991]),
            uncounted_part: Some([0.12, 0.11]),
            mde_us: Some(2.1),
            graph: Vec::new(),
            warnings: vec!["the kernel lost 3 samples".to_owned()],
        }
    }

    #[test]
    fn functions_that_moved_are_listed_with_the_rest() {
        let profile = profile(vec![
            named("_bt_readpage", amount(40.2, 10.1, 0.9, true)),
            named("hash_search\x1b[31m", amount(0.0, 1.5, 0.2, true)),
            named("not_sure", amount(5.0, 5.1, 0.2, false)),
        ]);
        let text = lines(&profile, "statement", 78).join("\n");
        let begin = "      functions, from 6 rounds with 1200 and 800 samples: −49.5 µs (−51.0 to";
        assert!(text.starts_with(begin), "{text}");
        assert!(text.contains("−30.1 µs (−31.0 to −29.2)       _bt_readpage, 40.2 µs → 10.1 µs"), "{text}");
        assert!(text.contains("hash_search [31m, 0 → 1.50 µs") && !text.contains("not_sure"), "{text}");
        assert!(text.contains("−1.50 µs (−3.50 µs to +500 ns)  everything else (231 functions), 50.0\n"), "{text}");
        assert!(text.contains("by file: server 90.0 µs → 40.0 µs (−50.0 µs); kernel 17.0 µs → 17.5 µs"), "{text}");
        assert!(text.contains("by source file: nbtree/nbtsearch.c 60.0 µs → 12.0 µs (−48.0 µs)\n"), "{text}");
        assert!(text.contains("stand for 99 % and 99 % of the CPU time"), "{text}");
        assert!(text.contains("warning: the kernel lost 3 samples"), "{text}");
    }

    #[test]
    fn what_a_build_has_no_code_for_is_said() {
        let of = |in_base, into: Option<&[&str]>| {
            let inlined_into = into.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
            let function = named("deep", amount(3.0, 0.0, 0.1, true));
            absence(&FunctionFindings { absent: Some(Absence { in_base, inlined_into }), ..function })
        };
        let check = |words: Option<String>, expected: &str| assert_eq!(words.as_deref(), Some(expected));
        check(of(false, Some(&["insert", "search"])), "in this build inlined into insert, search");
        check(of(true, Some(&["a", "b", "c", "d", "e"])), "in the base inlined into a, b, c and 2 more");
        check(of(false, Some(&[])), "not there in this build");
        check(of(true, None), "inlined or gone in the base");
        assert_eq!(absence(&named("there", amount(3.0, 0.0, 0.1, true))), None);
    }

    #[test]
    fn where_none_moved_what_would_have_been_found_is_said() {
        let profile = profile(Vec::new());
        let words = sampled(&profile, "statement");
        assert!(words.ends_with("no function moved by more than chance, 2.10 µs in any of them would have been found"));
        assert!(!lines(&profile, "statement", 78).join("\n").contains("everything else"));
    }
}
