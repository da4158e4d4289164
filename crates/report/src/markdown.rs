//! The result as Markdown, to paste into a mail, an issue or a blog.
//!
//! One sentence per build, then a table per group (of the Insert Benchmark one of all steps): full rows for two builds,
//! relative throughput and glyph for more.

use crate::columns;
use crate::number;
use crate::order::{self, Block};
use crate::rounds;
use crate::{footnote, latency, planted, suite, verdict_style};
use rqps_analysis::findings::{CellFindings, Findings, TestFindings};
use rqps_model::{Verdict, plural};

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
    out.push_str(&format!(
        "\nMeasured by rqps {} on {} ({}, {}), {}.\n",
        escaped(&findings.campaign.rqps_version),
        escaped(&findings.host.cpu_model),
        plural(findings.host.cpus, "CPU"),
        escaped(&findings.host.kernel),
        escaped(&findings.campaign.started_at),
    ));
    out
}

fn none() -> String {
    number::NONE.to_owned()
}

fn throughput(cell: &CellFindings) -> String {
    cell.throughput.map_or_else(none, number::throughput)
}

/// Text that must not become markup: angle brackets, pipes, emphasis, links.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in crate::text::plain(text).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '|' | '*' | '`' | '[' | ']' | '\\' | '#' => out.extend(['\\', c]),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn markup_in_names_stays_text() {
        assert_eq!(escaped("<b>a|b</b>\n*x* [l](u)"), "&lt;b&gt;a\\|b&lt;/b&gt; \\*x\\* \\[l\\](u)");
        assert_eq!(escaped("pg1711_zonky"), "pg1711_zonky");
    }
}
