//! What a server's counters say of a change, and settings that may be behind it, in words and as lines of a terminal.
//!
//! In: causes and settings that analysis found. Out: text. What is counted, and what it is called, `analysis` knows.

use crate::{number, text};
use rqps_analysis::count_title;
use rqps_analysis::findings::{Cause, CellFindings, SettingFindings, Touch, WorkFindings};

/// Counts that a terminal shows.
const SHOWN: usize = 10;
/// Settings of each kind that are named.
const NAMED: usize = 4;
/// Columns that a setting's value may take.
const VALUE: usize = 24;

/// A count that moved.
struct Moved<'a> {
    measure: &'a str,
    from: f64,
    to: f64,
    interval: Option<(f64, f64)>,
}

impl Moved<'_> {
    fn title(&self) -> &str {
        count_title(self.measure)
    }

    /// `−90.0 %, exact`, or with its interval.
    fn change(&self) -> String {
        let ratio = self.to / self.from;
        match self.interval {
            _ if self.from == 0.0 => "only here".to_owned(),
            _ if self.to == 0.0 => "no longer".to_owned(),
            Some((low, high)) => number::change_within(ratio, low, high),
            None => format!("{}, exact", number::change(ratio)),
        }
    }

    /// `10.00 → 1.000`
    fn amounts(&self) -> String {
        // An exact count has more digits than a measured one.
        let digits = if self.interval.is_none() { 4 } else { 3 };
        let [from, to] = [self.from, self.to].map(|value| amount(self.measure, value, digits));
        format!("{from} → {to}")
    }
}

/// An amount of what is counted, in its unit; of numbers without a unit so many digits.
pub(crate) fn amount(measure: &str, value: f64, digits: i32) -> String {
    let is_bytes = measure.ends_with("bytes") || measure == "bytes_sent";
    match value {
        0.0 => "0".to_owned(),
        value if measure.ends_with("_us") => number::duration_us(value),
        value if is_bytes => number::bytes(value),
        value => number::significant(value, digits),
    }
}

/// For which part of the time the CPU counted what a build's causes are of, where that is not all of it: those amounts
/// are scaled.
pub(crate) fn scaled(cell: &CellFindings) -> Option<String> {
    let is_cause = |work: &&WorkFindings| {
        let is_of = |cause: &Cause| matches!(cause, Cause::Work { measure, .. } if *measure == work.name);
        work.is_scaled() && cell.causes.iter().any(is_of)
    };
    let least = cell.work.iter().filter(is_cause).filter_map(|work| work.counted).reduce(f64::min)?;
    Some(format!("what the CPU counted is scaled, from {} of the time on", number::percent(least)))
}

fn moved(causes: &[Cause]) -> Vec<Moved<'_>> {
    let of = |cause| match cause {
        &Cause::Count { ref measure, from, to, interval } => Some(Moved { measure, from, to, interval }),
        _ => None,
    };
    causes.iter().filter_map(of).collect()
}

/// The count that moved most, for a sentence, and how many others did; `None` where none moved.
pub(crate) fn first(causes: &[Cause], per: &str) -> Option<String> {
    let moved = moved(causes);
    let first = moved.first()?;
    let per = if first.measure == WorkFindings::PLANNING { String::new() } else { format!(" per {per}") };
    let words = match first.from == 0.0 || first.to == 0.0 {
        true => format!("{}{per} {}", first.title(), first.amounts()),
        false => format!("{}{per} {}, {}", first.title(), first.change(), first.amounts()),
    };
    Some(match moved.len() - 1 {
        0 => words,
        1 => format!("{words}, and another count"),
        more => format!("{words}, and {more} other counts"),
    })
}

/// All counts that moved, the most first; a single one is not repeated where a sentence `told` it.
pub(crate) fn lines(causes: &[Cause], per: &str, told: bool, width: usize) -> Vec<String> {
    let moved = moved(causes);
    if moved.len() < 1 + usize::from(told) {
        return Vec::new();
    }
    let words = |one: &Moved<'_>| (one.change(), format!("{}, {}", one.title(), one.amounts()));
    let mut rows: Vec<(String, String)> = moved.iter().take(SHOWN).map(words).collect();
    rows.extend(moved.len().checked_sub(SHOWN + 1).map(|more| (String::new(), format!("{} more", more + 1))));
    let mut lines = vec![format!("      counted per {per}:")];
    lines.extend(text::aligned(&rows, width));
    lines
}

/// The same as one sentence; empty where the test's own says it all.
pub(crate) fn sentence(causes: &[Cause], per: &str) -> Option<String> {
    let moved = moved(causes);
    let words = |one: &Moved<'_>| format!("{} {} ({})", one.title(), one.amounts(), one.change());
    let all: Vec<String> = moved.iter().map(words).collect();
    (all.len() > 1).then(|| format!("Counted per {per}: {}", all.join("; ")))
}

/// The settings that may touch a test, likeliest first.
pub(crate) fn settings(settings: &[SettingFindings]) -> Option<String> {
    let is_new = |setting: &&SettingFindings| setting.from.is_none() || setting.to.is_none();
    let changed: Vec<String> = Touch::ALL
        .into_iter()
        .filter_map(|touch| {
            let of_kind = |one: &&SettingFindings| one.touches == touch && !is_new(one);
            let words: Vec<String> = settings.iter().filter(of_kind).map(setting).collect();
            (!words.is_empty()).then(|| format!("{} {}", touched(touch), shortened(&words)))
        })
        .collect();
    let one_sided: Vec<String> = settings.iter().filter(is_new).map(setting).collect();
    let mut parts = changed;
    if !one_sided.is_empty() {
        parts.push(format!("of one side only {}", shortened(&one_sided)));
    }
    (!parts.is_empty()).then(|| format!("settings that differ and may touch it: {}", parts.join("; ")))
}

fn touched(touch: Touch) -> &'static str {
    match touch {
        Touch::Plans => "in planning",
        Touch::Writes => "in writing",
        Touch::Reads => "in reading from the device",
        Touch::Sorting => "in sorting",
        Touch::All => "in every statement",
    }
}

fn setting(setting: &SettingFindings) -> String {
    let value = |value: &Option<String>| match value.as_deref() {
        None => "none".to_owned(),
        Some("") => "empty".to_owned(),
        Some(value) => text::fit(&text::plain(value), VALUE),
    };
    format!("{} {} → {}", text::plain(&setting.name), value(&setting.from), value(&setting.to))
}

fn shortened(words: &[String]) -> String {
    let shown = words.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    match words.len().checked_sub(NAMED + 1) {
        Some(more) => format!("{shown} and {} more", more + 1),
        None => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(measure: &str, from: f64, to: f64, interval: Option<(f64, f64)>) -> Cause {
        Cause::Count { measure: measure.to_owned(), from, to, interval }
    }

    #[test]
    fn counts_are_exact_or_have_an_interval() {
        let causes = [
            count("temp_file_bytes", 0.0, 2048.0, None),
            count("index_scans", 10.0, 1.0, None),
            count("wal_bytes", 100.0, 210.0, Some((2.05, 2.15))),
        ];
        let first_words = "temporary files per statement 0 → 2.00 KiB, and 2 other counts";
        assert_eq!(first(&causes, "statement").unwrap(), first_words);
        assert_eq!(
            lines(&causes, "statement", true, 80),
            [
                "      counted per statement:",
                "        only here               temporary files, 0 → 2.00 KiB",
                "        −90.0 %, exact          index scans, 10.00 → 1.000",
                "        ×2.10 (2.050 to 2.150)  WAL, 100 B → 210 B",
            ]
        );
        let one = first(&causes[1..2], "statement").unwrap();
        assert_eq!(one, "index scans per statement −90.0 %, exact, 10.00 → 1.000");
        assert_eq!((lines(&causes[..1], "row", true, 80).len(), first(&[], "row")), (0, None));
    }

    #[test]
    fn settings_are_grouped_by_what_they_touch() {
        let one = |name: &str, from: Option<&str>, to: Option<&str>, touches| SettingFindings {
            name: name.to_owned(),
            from: from.map(str::to_owned),
            to: to.map(str::to_owned),
            touches,
        };
        let found = [
            one("random_page_cost", Some("4"), Some("1.1"), Touch::Plans),
            one("synchronous_commit", Some("off"), Some("on"), Touch::Writes),
            one("wal_compression", Some("off"), Some(""), Touch::Writes),
            one("io_method", None, Some("worker"), Touch::Reads),
        ];
        assert_eq!(
            settings(&found).unwrap(),
            "settings that differ and may touch it: in planning random_page_cost 4 → 1.1; in writing \
             synchronous_commit off → on, wal_compression off → empty; of one side only io_method none → worker"
        );
        assert_eq!(settings(&[]), None);
    }
}
