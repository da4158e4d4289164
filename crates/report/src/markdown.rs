//! The result as Markdown, to paste into a mail, an issue or a blog.
//!
//! One sentence per build, then a table per group: full rows for two builds, relative throughput and glyph for more.

use crate::number;
use crate::order::{self, Block};
use crate::{footnote, look};
use rqps_analysis::findings::{Comparison, Findings, TestFindings};
use rqps_model::Verdict;

/// The whole campaign as Markdown.
pub fn markdown(findings: &Findings) -> String {
    let others = order::others(findings);
    let names = order::short_names(findings);
    let campaign = &findings.campaign;
    let mut out = format!("## {}\n\n", escaped(&campaign.name));
    for index in &others {
        let treatment = &findings.treatments[*index];
        if !treatment.sentence.is_empty() {
            out.push_str(&format!("- {}\n", escaped(&treatment.sentence)));
        }
    }
    let rounds = order::plural(u64::from(campaign.rounds_complete), "round");
    out.push_str(&format!(
        "\nRelative to **{}**. {}, {rounds}, {}.\n",
        escaped(&findings.treatments[findings.base].name),
        escaped(&campaign.suite),
        order::interleaving(findings)
    ));
    for level in order::levels(findings) {
        for block in &level.blocks {
            let clients = order::plural(u64::from(level.clients), "client");
            out.push_str(&format!("\n### {}, {clients}\n\n", block.group.title()));
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
    out.push_str("| Test | Base | New | rQPS | 95 % interval | MDE | Verdict |\n|---|---:|---:|---:|---:|---:|---|\n");
    for (_, test) in &block.tests {
        let throughput = |index: usize| test.cells[index].throughput.map_or_else(none, number::throughput);
        let comparison = test.cells[other].comparison.as_ref();
        out.push_str(&format!(
            "| {} | {} | {} | {} | {} | {} | {} |\n",
            escaped(&test.name),
            throughput(findings.base),
            throughput(other),
            comparison.map_or_else(none, |c| number::ratio(c.rqps)),
            comparison.map_or_else(none, look::interval),
            comparison.and_then(|c| c.mde).map_or_else(none, number::percent),
            comparison.map_or_else(none, verdict),
        ));
    }
}

fn rows_of_many(out: &mut String, findings: &Findings, block: &Block<'_>, others: &[usize], names: &[String]) {
    let heads: Vec<String> = others.iter().map(|index| escaped(&names[*index])).collect();
    out.push_str(&format!("| Test | Base | {} |\n|---|---:|{}\n", heads.join(" | "), "---:|".repeat(others.len())));
    let cell = |test: &TestFindings, index: usize| match &test.cells[index].comparison {
        Some(c) => format!("{} {}", number::ratio(c.rqps), look::glyph(c.verdict)),
        None => none(),
    };
    for (_, test) in &block.tests {
        let cells: Vec<String> = others.iter().map(|index| cell(test, *index)).collect();
        let base = test.cells[findings.base].throughput.map_or_else(none, number::throughput);
        out.push_str(&format!("| {} | {base} | {} |\n", escaped(&test.name), cells.join(" | ")));
    }
}

fn tail(findings: &Findings) -> String {
    let glyphs: Vec<String> =
        Verdict::ALL.into_iter().map(|verdict| format!("{} {verdict}", look::glyph(verdict))).collect();
    let margin = number::percent(findings.campaign.margin);
    let mut out = format!("\n{}. Equal: shown to differ by less than {margin}.\n", glyphs.join(", "));
    let notes = footnote::footnotes(findings);
    let all = findings.warnings.iter().map(footnote::warning).chain(notes.iter().map(footnote::sentence));
    for (at, note) in all.enumerate() {
        out.push_str(&format!("{}- {}\n", if at == 0 { "\n" } else { "" }, escaped(&note)));
    }
    for (at, form) in findings.forced.iter().enumerate() {
        let title = if at == 0 { "\nEngines force these to differ:\n\n" } else { "" };
        out.push_str(&format!("{title}- {}\n", escaped(&order::forced(form))));
    }
    out.push_str(&format!(
        "\nMeasured by rqps {} on {} ({}, {}), {}.\n",
        escaped(&findings.campaign.rqps_version),
        escaped(&findings.host.cpu_model),
        order::plural(u64::from(findings.host.cpus), "CPU"),
        escaped(&findings.host.kernel),
        escaped(&findings.campaign.started_at),
    ));
    out
}

fn none() -> String {
    number::NONE.to_owned()
}

fn verdict(comparison: &Comparison) -> String {
    let word = format!("{} {}", look::glyph(comparison.verdict), comparison.verdict);
    comparison.remark.as_ref().map_or(word.clone(), |remark| format!("{word}: {}", escaped(remark)))
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
