//! Warnings as footnotes: one per kind, however many cells they stand beside, so that a table stays readable.
//!
//! In: the warnings of cells, treatments and campaign. Out: sentences. What failed is told treatment by treatment,
//! since one may have failed of something else than the other; of a server's log only what matters is repeated here,
//! the page has it all.

use crate::order;
use rqps_analysis::findings::{Findings, TestFindings, Warning};
use rqps_model::WarningKind;

/// Kinds of which each message counts, not only the first.
const EACH: [WarningKind; 1] = [WarningKind::Failed];

/// Most messages of such a kind; more are left to the report.
const MESSAGES: usize = 6;

/// What marks a line of a server's log that matters.
const GRAVE: [&str; 3] = ["PANIC", "FATAL", "ERROR"];

/// Warnings of one kind.
pub(crate) struct Footnote {
    /// What they have in common.
    pub(crate) kind: WarningKind,
    /// Distinct warnings with the treatment of the first cell that has them; of most kinds only the first.
    told: Vec<(usize, Warning)>,
    /// How many cells have one.
    pub(crate) cells: usize,
    /// Whether each says the same.
    are_alike: bool,
}

/// One footnote per kind of warning that stands beside a cell, in order of appearance.
pub(crate) fn footnotes(findings: &Findings) -> Vec<Footnote> {
    let mut notes: Vec<Footnote> = Vec::new();
    let cells = findings.tests.iter().flat_map(|test| test.cells.iter().enumerate());
    for (treatment, warning) in cells.flat_map(|(at, cell)| cell.warnings.iter().map(move |warning| (at, warning))) {
        let known = notes.iter_mut().find(|note| note.kind == warning.kind);
        let Some(note) = known else {
            let told = vec![(treatment, warning.clone())];
            notes.push(Footnote { kind: warning.kind, told, cells: 1, are_alike: true });
            continue;
        };
        note.cells += 1;
        note.are_alike &= note.told.first().is_some_and(|(_, first)| first == warning);
        let is_told = note.told.iter().any(|(at, told)| *at == treatment && cause(told) == cause(warning));
        if EACH.contains(&note.kind) && !is_told {
            note.told.push((treatment, warning.clone()));
        }
    }
    notes
}

/// The message without the rounds in front, which differ from cell to cell; nor the folder of a socket, which is
/// another at each start.
fn cause(warning: &Warning) -> String {
    let text = warning.cause.split_once(": ").map_or(warning.cause.as_str(), |(_, cause)| cause);
    let is_path = |word: &&str| !word.starts_with('/');
    text.lines().next().unwrap_or_default().split_whitespace().filter(is_path).collect::<Vec<_>>().join(" ")
}

/// Numbers (from 1) of the footnotes that belong to a test, separated by commas.
pub(crate) fn marks(notes: &[Footnote], test: &TestFindings) -> String {
    let has = |note: &Footnote| test.cells.iter().flat_map(|cell| &cell.warnings).any(|w| w.kind == note.kind);
    let numbers = notes.iter().enumerate().filter(|(_, note)| has(note)).map(|(at, _)| (at + 1).to_string());
    numbers.collect::<Vec<_>>().join(",")
}

/// What a footnote says, a paragraph each: how often, what, and what would help.
pub(crate) fn sentences(findings: &Findings, note: &Footnote) -> Vec<String> {
    let names = order::short_names(findings);
    let is_each = EACH.contains(&note.kind);
    let more = match note.cells {
        1 => String::new(),
        cells if is_each || note.are_alike => format!(" ({cells} cells)"),
        cells => format!(" ({cells} cells), in the first"),
    };
    let tell = |(at, told): &(usize, Warning)| {
        if !is_each {
            return warning(told);
        }
        let treatment = &findings.treatments[*at].name;
        match shortened(&told.cause) {
            Some(short) => {
                format!("{}: {} The rest is in treatments/{treatment}/server.log.", names[*at], ended(&short))
            }
            None => format!("{}: {}", names[*at], warning(told)),
        }
    };
    let mut told: Vec<String> = note.told.iter().take(MESSAGES).map(tell).collect();
    if let Some(first) = told.first_mut() {
        *first = format!("{}{more}: {first}", note.kind);
    }
    if note.told.len() > MESSAGES {
        told.push(format!("… and {} more in the report", note.told.len() - MESSAGES));
    }
    told
}

/// A warning's message with its advice, as sentences.
pub(crate) fn warning(warning: &Warning) -> String {
    let message = ended(&warning.cause);
    warning.advice.as_ref().map_or_else(|| message.clone(), |advice| format!("{message} {}", begun(&ended(advice))))
}

/// The text with a point at its end, if it has no sign there.
pub(crate) fn ended(text: &str) -> String {
    let text = text.trim_end();
    if text.is_empty() || text.ends_with(['.', '!', '?', '…']) { text.to_owned() } else { format!("{text}.") }
}

/// The text with a capital letter at its beginning.
pub(crate) fn begun(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Of several lines, as a failure with the end of a server's log has them, the first and the last that tells of an
/// error; nothing of a single line.
pub(crate) fn shortened(message: &str) -> Option<String> {
    let (first, rest) = message.split_once('\n')?;
    let lines = || rest.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_grave = |line: &&str| GRAVE.iter().any(|word| line.contains(word));
    let grave = lines().rfind(is_grave).or_else(|| lines().next_back())?;
    Some(format!("{} … {grave}", first.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(message: &str, advice: Option<&str>) -> String {
        warning(&Warning {
            kind: WarningKind::Noisy,
            cause: message.to_owned(),
            advice: advice.map(str::to_owned),
            in_full: None,
        })
    }

    #[test]
    fn cause_and_advice_are_sentences() {
        assert_eq!(
            told("changes below 61 % could not be seen", Some("about 37 rounds would do")),
            "changes below 61 % could not be seen. About 37 rounds would do."
        );
        assert_eq!(told("One moment!", Some("`rqps resume` does it")), "One moment! `rqps resume` does it.");
        assert_eq!(told("alone", None), "alone.");
    }

    #[test]
    fn of_a_log_the_line_that_matters_stays() {
        let check = |text: &str, expected: Option<&str>| assert_eq!(shortened(text).as_deref(), expected);
        check("one line", None);
        check(
            "lost it; its log ends with:\n  2026 LOG:  vacuum\n2026 [8451] FATAL:  gone\n2026 PANIC: lost\n  usage: \
             0.00 s",
            Some("lost it; its log ends with: … 2026 PANIC: lost"),
        );
        check(
            "died:\nstarted\n2026 [ERROR] [MY-010119] Aborting\nbye\n",
            Some("died: … 2026 [ERROR] [MY-010119] Aborting"),
        );
        check("died:\nstarted\nbye\n\n", Some("died: … bye"));
    }

    #[test]
    fn rounds_and_sockets_do_not_make_a_cause_another() {
        let cause = |message: &str| {
            super::cause(&Warning { kind: WarningKind::Failed, cause: message.to_owned(), advice: None, in_full: None })
        };
        let first = cause("failed in round 1 of 2: /tmp/a-s1/.s.PGSQL.5432, database sbtest refused");
        assert_eq!(first, cause("failed in rounds 1, 2 of 2: /tmp/a-s7/.s.PGSQL.5432, database sbtest refused"));
        assert_ne!(first, cause("failed in round 1 of 2: too many connections"));
    }
}
