//! Warnings as footnotes: one per kind, however many cells they stand beside, so that a table stays readable.
//!
//! In: the warnings of cells, treatments and campaign. Out: sentences. What failed is shown treatment by treatment,
//! since one may have failed of something else than the other; of a server's log only what matters is repeated here,
//! the page has it all.

use crate::{latency, order, rounds, suite};
use rqps_analysis::findings::{CellFindings, Findings, TestFindings, Warning};
use rqps_model::{Unit, WarningKind};

/// Kinds of which each message counts, not only the first.
const EACH: [WarningKind; 1] = [WarningKind::Failed];

/// Kinds that are shown step by step of tests over time, and not as footnotes.
const OF_TIMELINES: [WarningKind; 3] = [WarningKind::Failed, WarningKind::SlaMissed, WarningKind::WriteStalls];

/// Most messages of such a kind; more are left to the report.
const MESSAGES: usize = 6;

/// What marks a line of a server's log that matters.
const GRAVE: [&str; 3] = ["PANIC", "FATAL", "ERROR"];

/// Warnings of one kind.
pub(crate) struct Footnote {
    /// What they have in common.
    pub(crate) kind: WarningKind,
    /// Distinct warnings with the treatment of the first cell that has them; of most kinds only the first.
    shown: Vec<(usize, Warning)>,
    /// How many cells have one.
    pub(crate) cells: usize,
    /// Whether each says the same.
    are_alike: bool,
}

/// What a reader must know to read a table of comparisons, a paragraph each.
pub(crate) fn legend(findings: &Findings) -> Vec<String> {
    let cells = || findings.tests.iter().flat_map(|test| &test.cells);
    let is_any_missed = cells().any(CellFindings::is_sla_missed);
    let has_mde = cells().filter_map(|cell| cell.comparison.as_ref()).any(|comparison| comparison.mde.is_some());
    let has_scan = findings.tests.iter().any(|test| test.unit == Unit::KiloRowsPerSecond);
    let is_open_loop = findings.is_open_loop();
    let known = |is_so: bool, text: &str| is_so.then(|| text.to_owned());
    let all = [
        known(has_mde && !is_open_loop, "MDE: the smallest change found in 4 of 5 cases"),
        known(has_scan, "scan: thousands of rows per second and client"),
        known(is_any_missed, "* Background inserts below 95 % of the target: the number does not compare."),
        known(rounds::has_one_round(findings), rounds::ONE_ROUND),
        known(is_open_loop, latency::OPEN_LOOP),
        latency::quotient_note(findings).filter(|_| !is_open_loop),
        suite::legend(findings).map(str::to_owned),
        findings.campaign.aged.as_ref().map(|aged| format!("Data of tests that read: after {aged}")),
    ];
    all.into_iter().flatten().collect()
}

/// One footnote per kind of warning that stands beside a cell, in order of appearance; without those that stand with
/// their test where the caller shows them there.
pub(crate) fn footnotes(findings: &Findings, without_timelines: bool) -> Vec<Footnote> {
    let cells = findings.tests.iter().flat_map(|test| test.cells.iter().enumerate());
    let of_cell = |(treatment, cell): (usize, &'_ CellFindings)| {
        let warnings = cell.warnings.iter().filter(move |warning| !without_timelines || !is_of_timeline(cell, warning));
        warnings.map(move |warning| (warning.kind, (treatment, warning.clone()))).collect::<Vec<_>>()
    };
    let footnote = |(kind, all): (WarningKind, Vec<(usize, Warning)>)| {
        let (cells, are_alike) = (all.len(), all.iter().all(|(_, warning)| *warning == all[0].1));
        let mut shown: Vec<(usize, Warning)> = Vec::new();
        for (at, warning) in all {
            let is_known = shown.iter().any(|(other, first)| *other == at && cause(first) == cause(&warning));
            if shown.is_empty() || EACH.contains(&kind) && !is_known {
                shown.push((at, warning));
            }
        }
        Footnote { kind, shown, cells, are_alike }
    };
    order::grouped(cells.flat_map(of_cell)).into_iter().map(footnote).collect()
}

/// Whether a warning of a cell over time stands with its test: a missed target, a stall, a failure.
pub(crate) fn is_of_timeline(cell: &CellFindings, warning: &Warning) -> bool {
    !cell.timelines.is_empty() && OF_TIMELINES.contains(&warning.kind)
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
    let sentence = |(at, shown): &(usize, Warning)| {
        if !is_each {
            return warning(shown);
        }
        let treatment = &findings.treatments[*at].name;
        match shortened(&shown.cause) {
            Some(short) => {
                format!("{}: {} The rest is in treatments/{treatment}/server.log.", names[*at], ended(&short))
            }
            None => format!("{}: {}", names[*at], warning(shown)),
        }
    };
    let mut shown: Vec<String> = note.shown.iter().take(MESSAGES).map(sentence).collect();
    if let Some(first) = shown.first_mut() {
        *first = format!("{}{more}: {first}", note.kind);
    }
    if note.shown.len() > MESSAGES {
        shown.push(format!("… and {} more in the report", note.shown.len() - MESSAGES));
    }
    shown
}

/// A warning's message with its advice, as sentences.
pub(crate) fn warning(warning: &Warning) -> String {
    let message = ended(&warning.cause);
    warning.advice.as_ref().map_or_else(|| message.clone(), |advice| format!("{message} {}", begun(&ended(advice))))
}

/// Warnings of the whole campaign by which all others, and the verdicts, are to be read: they come first.
pub(crate) fn first(findings: &Findings) -> impl Iterator<Item = &Warning> {
    findings.warnings.iter().filter(|warning| is_first(warning))
}

/// The other warnings of the whole campaign.
pub(crate) fn others(findings: &Findings) -> impl Iterator<Item = &Warning> {
    findings.warnings.iter().filter(|warning| !is_first(warning))
}

fn is_first(warning: &Warning) -> bool {
    warning.kind == WarningKind::FloorViolated
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

    fn shown(message: &str, advice: Option<&str>) -> String {
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
            shown("changes below 61 % could not be seen", Some("about 37 rounds would do")),
            "changes below 61 % could not be seen. About 37 rounds would do."
        );
        assert_eq!(shown("One moment!", Some("`rqps resume` does it")), "One moment! `rqps resume` does it.");
        assert_eq!(shown("alone", None), "alone.");
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
