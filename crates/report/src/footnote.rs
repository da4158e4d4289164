//! Warnings as footnotes: one per kind, however many cells they stand beside, so that a table stays readable.

use rqps_analysis::findings::{Findings, TestFindings, Warning};

/// Warnings of one kind.
pub(crate) struct Footnote {
    /// Short kind.
    pub(crate) kind: String,
    /// The first of them.
    pub(crate) first: Warning,
    /// How many cells have one.
    pub(crate) cells: usize,
}

/// One footnote per kind of warning that stands beside a cell, in order of appearance.
pub(crate) fn footnotes(findings: &Findings) -> Vec<Footnote> {
    let mut notes: Vec<Footnote> = Vec::new();
    for warning in findings.tests.iter().flat_map(|test| &test.cells).flat_map(|cell| &cell.warnings) {
        match notes.iter_mut().find(|note| note.kind == warning.kind) {
            Some(note) => note.cells += 1,
            None => notes.push(Footnote { kind: warning.kind.clone(), first: warning.clone(), cells: 1 }),
        }
    }
    notes
}

/// Numbers (from 1) of the footnotes that belong to a test, separated by commas.
pub(crate) fn marks(notes: &[Footnote], test: &TestFindings) -> String {
    let has = |note: &Footnote| test.cells.iter().flat_map(|cell| &cell.warnings).any(|w| w.kind == note.kind);
    let numbers = notes.iter().enumerate().filter(|(_, note)| has(note)).map(|(at, _)| (at + 1).to_string());
    numbers.collect::<Vec<_>>().join(",")
}

/// What a footnote says: how often, what, and what would help.
pub(crate) fn sentence(note: &Footnote) -> String {
    let more = if note.cells > 1 { format!(" ({} cells)", note.cells) } else { String::new() };
    format!("{}{more}: {}", note.kind, warning(&note.first))
}

/// A warning's message with its remedy.
pub(crate) fn warning(warning: &Warning) -> String {
    match &warning.remedy {
        Some(remedy) => format!("{} {remedy}", warning.message),
        None => warning.message.clone(),
    }
}
