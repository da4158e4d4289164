//! The result as Markdown, to paste into a mail, an issue or a blog.
//!
//! One sentence per build, then a table per group (of the Insert Benchmark one of all steps): full rows for two builds,
//! relative throughput and glyph for more. Under each table stands what is behind the changes in it. What
//! `rqps explain` tells is a list by build, with its tables as text in a fence.

use crate::columns;
use crate::number;
use crate::order::{self, Block};
use crate::rounds;
use crate::{footnote, latency, planted, suite, verdict_style, why};
use rqps_analysis::findings::{CellFindings, Findings, TestFindings};
use rqps_model::{Verdict, plural};

/// Columns of the tables in a fence.
const FENCED_WIDTH: usize = 100;

/// The whole campaign as Markdown.
pub fn markdown(findings: &Findings) -> String {
    let others = order::others(findings);
    let names = order::short_names(findings);
    let campaign = &findings.campaign;
    let mut out = format!("## {}\n\n", escaped(&campaign.name));
    for warning in footnote::first(findings) {
        out.push_str(&format!("**Too noisy**: {}\n\n", escaped(&footnote::warning(warning))));
    }
    for index in &others {
        let treatment = &findings.treatments[*index];
        if !treatment.sentence.is_empty() {
            out.push_str(&format!("- {}\n", escaped(&treatment.sentence)));
        }
        for change in latency::changes(findings, *index) {
            out.push_str(&format!("- {}: {}\n", escaped(&names[*index]), escaped(&change)));
        }
        if let Some(planted) = planted::of(findings, *index) {
            out.push_str(&format!("- {}\n", escaped(&planted)));
        }
    }
    let rounds = order::rounds(findings);
    out.push_str(&format!(
        "\nRelative to **{}**. {}, {rounds}, {}, {}.\n",
        escaped(&findings.treatments[findings.base].name),
        campaign.suite.name(),
        order::interleaving(findings),
        suite::work(findings, None, number::throughput)
    ));
    for level in order::levels(findings) {
        for block in &level.blocks {
            let clients = plural(level.clients, "client");
            out.push_str(&format!("\n### {}, {clients}\n\n", block.title));
            match others[..] {
                [only] => rows_of_one(&mut out, findings, block, only),
                _ => rows_of_many(&mut out, findings, block, &others, &names),
            }
            out.push_str(&changes(findings, block, &others, &names));
        }
    }
    out.push_str(&tail(findings));
    out
}

fn rows_of_one(out: &mut String, findings: &Findings, block: &Block<'_>, other: usize) {
    let columns = columns::all(findings);
    let heads: Vec<String> = columns.iter().map(|column| footnote::begun(&column.head(findings))).collect();
    out.push_str(&format!("| Test | {} |\n|---|{}---|\n", heads.join(" | "), "---:|".repeat(columns.len() - 1)));
    for (_, test) in &block.tests {
        let cells: Vec<String> =
            columns.iter().map(|column| escaped(&column.text(findings, test, other, true))).collect();
        out.push_str(&format!("| {} | {} |\n", escaped(&suite::row(findings, test)), cells.join(" | ")));
    }
}

fn rows_of_many(out: &mut String, findings: &Findings, block: &Block<'_>, others: &[usize], names: &[String]) {
    let heads: Vec<String> = others.iter().map(|index| escaped(&names[*index])).collect();
    out.push_str(&format!("| Test | Base | {} |\n|---|---:|{}\n", heads.join(" | "), "---:|".repeat(others.len())));
    let cell = |test: &TestFindings, index: usize| match &test.cells[index].comparison {
        Some(c) => {
            let sign = escaped(rounds::ratio_sign(findings, test, index));
            format!("{} {}{sign}", number::ratio(c.rqps), verdict_style::glyph(c.verdict))
        }
        None => none(),
    };
    // In an open loop p50 and p99 stand behind each number.
    let latency = |cell: &CellFindings| match findings.is_open_loop() {
        true => format!(", {}", latency::QUANTILES.map(|of| latency::shown_judged(cell, of)).join(" / ")),
        false => String::new(),
    };
    for (_, test) in &block.tests {
        let cells: Vec<String> =
            others.iter().map(|index| cell(test, *index) + &latency(&test.cells[*index])).collect();
        let base = throughput(&test.cells[findings.base]) + &latency(&test.cells[findings.base]);
        out.push_str(&format!("| {} | {base} | {} |\n", escaped(&suite::row(findings, test)), cells.join(" | ")));
    }
}

/// What stands behind each change of a table, a bullet for each; empty where nothing changed.
fn changes(findings: &Findings, block: &Block<'_>, others: &[usize], names: &[String]) -> String {
    let mut out = String::new();
    for (test, index) in block.tests.iter().flat_map(|(_, test)| others.iter().map(move |index| (test, *index))) {
        let Some(sentence) = why::sentence(findings, test, index) else { continue };
        let build = if others.len() > 1 { format!(" on {}", escaped(&names[index])) } else { String::new() };
        let title = if out.is_empty() { "\nWhat stands behind each change:\n\n" } else { "" };
        let (name, change) = (escaped(&suite::row(findings, test)), why::change(test, index));
        out.push_str(&format!("{title}- **{name}**{build}{change}: {}\n", escaped(&sentence)));
    }
    out
}

/// `rqps explain` as Markdown, for a bug report: by build each test that changed, or those named, the largest change
/// first.
pub fn explain_markdown(findings: &Findings, tests: &[String]) -> String {
    // Whoever reads a bug report does not know how builds are named here.
    let name = |index: usize| {
        let treatment = &findings.treatments[index];
        let build = format!("{} {}", treatment.build.engine.title(), treatment.build.version);
        (escaped(&treatment.name), escaped(&build))
    };
    let mut out = format!("## What stands behind the changes of {}\n\n", escaped(&findings.campaign.name));
    let (base, build) = name(findings.base);
    out.push_str(&format!("Relative to **{base}** ({build}).\n"));
    for index in order::others(findings) {
        let changed = why::changed(findings, index, tests);
        let (name, build) = name(index);
        out.push_str(&format!("\n### {name} ({build}): {}\n", why::count(findings, &changed)));
        for test in changed {
            let (of, clients) = (escaped(&suite::row(findings, test)), why::clients(findings, test));
            let why = escaped(&why::explained(findings, test, index));
            out.push_str(&format!("\n- **{of}**{clients}{}: {why}\n", why::change(test, index)));
            out.push_str(&fenced(&why::below(findings, test, index, FENCED_WIDTH)));
        }
    }
    for note in why::not_sampled(findings, tests) {
        out.push_str(&format!("\nNote: {}.\n", escaped(&note)));
    }
    out.push_str(&measured_by(findings));
    out
}

/// Lines of a terminal as text in a bullet, out of which no line of it can lead.
fn fenced(lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let indent = |line: &String| format!("  {}\n", line.strip_prefix("      ").unwrap_or(line));
    let text: String = lines.iter().map(indent).collect();
    let mut fence = "```".to_owned();
    while text.contains(&fence) {
        fence.push('`');
    }
    format!("\n  {fence}text\n{text}  {fence}\n")
}

fn tail(findings: &Findings) -> String {
    let glyphs: Vec<String> =
        Verdict::ALL.into_iter().map(|verdict| format!("{} {verdict}", verdict_style::glyph(verdict))).collect();
    let margin = number::percent(findings.campaign.margin);
    let mut out = format!("\n{}. Equal: shown to differ by less than {margin}.\n", glyphs.join(", "));
    for paragraph in footnote::legend(findings) {
        out.push_str(&format!("\n{}\n", escaped(&paragraph)));
    }
    if findings.is_open_loop() && findings.treatments.len() > 2 {
        out.push_str("\nBehind each number: p50 / p99 of events.\n");
    }
    let notes = footnote::footnotes(findings, false);
    let names = order::short_names(findings);
    let treatments = findings.treatments.iter().zip(&names);
    let of_treatments = treatments.flat_map(|(treatment, name)| {
        treatment.warnings.iter().map(move |w| format!("{name}: {}", footnote::warning(w)))
    });
    let of_cells = notes.iter().flat_map(|note| footnote::sentences(findings, note));
    let all = footnote::others(findings).map(footnote::warning).chain(of_treatments).chain(of_cells);
    for (at, note) in all.enumerate() {
        out.push_str(&format!("{}- {}\n", if at == 0 { "\n" } else { "" }, escaped(&note)));
    }
    for (at, form) in findings.forced.iter().enumerate() {
        let title = if at == 0 { "\nDifferences that the engines force:\n\n" } else { "" };
        out.push_str(&format!("{title}- {}\n", escaped(&order::forced(form))));
    }
    out.push_str(&measured_by(findings));
    out
}

fn measured_by(findings: &Findings) -> String {
    format!(
        "\nMeasured by rqps {} on {} ({}, {}), {}.\n",
        escaped(&findings.campaign.rqps_version),
        escaped(&findings.host.cpu_model),
        plural(findings.host.cpus, "CPU"),
        escaped(&findings.host.kernel),
        escaped(&findings.campaign.started_at),
    )
}

fn none() -> String {
    number::NONE.to_owned()
}

fn throughput(cell: &CellFindings) -> String {
    cell.throughput.map_or_else(none, number::throughput)
}

/// Text that must not become markup: angle brackets, pipes, emphasis, headings, links, also to an issue by its number.
/// An underscore within a word is none.
fn escaped(text: &str) -> String {
    let letters: Vec<char> = crate::text::plain(text).chars().collect();
    let is_in_word = |at: usize| {
        let is_of_word = |at: usize| letters.get(at).is_some_and(|c| c.is_alphanumeric() || *c == '_');
        at > 0 && is_of_word(at - 1) && is_of_word(at + 1)
    };
    let is_within = |at: usize| at > 0 && !letters.get(at + 1).is_some_and(char::is_ascii_digit);
    let mut out = String::new();
    for (at, &c) in letters.iter().enumerate() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '_' if is_in_word(at) => out.push(c),
            '#' if is_within(at) => out.push(c),
            '|' | '*' | '_' | '~' | '$' | '`' | '[' | ']' | '\\' | '#' => out.extend(['\\', c]),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{escaped, fenced};

    #[test]
    fn markup_in_names_stays_text() {
        assert_eq!(escaped("<b>a|b</b>\n*x* [l](u)"), "&lt;b&gt;a\\|b&lt;/b&gt; \\*x\\* \\[l\\](u)");
        assert_eq!(escaped("pg1711_zonky"), "pg1711_zonky");
        assert_eq!(escaped("# a #12 sbtest#"), "\\# a \\#12 sbtest#");
        assert_eq!(
            escaped("_bt_read, do_it_[k] __x ~~a~~ $1$"),
            "\\_bt_read, do_it\\_\\[k\\] \\__x \\~\\~a\\~\\~ \\$1\\$"
        );
    }

    #[test]
    fn nothing_ends_a_fence_before_its_time() {
        let fenced = |text: &str| fenced(&[format!("      {text}")]);
        assert_eq!(fenced("std::vec<T>, 0 → 1"), "\n  ```text\n  std::vec<T>, 0 → 1\n  ```\n");
        assert_eq!(fenced("```` <b>"), "\n  `````text\n  ```` <b>\n  `````\n");
    }
}
