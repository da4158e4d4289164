//! A checkup in words: a line or two a finding, and a last line that counts them.
//!
//! In: findings. Out: text and JSON for whoever prints them.

use super::apply::Outcome;
use super::checkup::Checkup;
use super::finding::Finding;
use rqps_campaign::human_bytes;
use rqps_model::checkup::Level;
use rqps_model::facts::HostFacts;
use rqps_model::plural;

/// The column in which what was found begins.
const INDENT: usize = 20;

/// All findings, problems first, wrapped to so many columns.
pub fn describe(checkup: &Checkup, width: usize, coloured: bool) -> String {
    let HostFacts { hostname, distribution, kernel, cpus, cpu_model, memory_bytes, .. } = &checkup.host;
    let head = format!(
        "{hostname}: {distribution}, Linux {kernel}\n{} ({cpu_model}), {} of memory",
        plural(*cpus, "CPU"),
        human_bytes(*memory_bytes)
    );
    let mut text = format!("{}\n\n", textwrap::fill(&head, width));
    let mut findings = checkup.findings();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.level));
    for finding in &findings {
        text.push_str(&line(finding, width, coloured));
    }
    text.push_str(&format!("\n{}\n", summary(&findings)));
    text
}

/// The same as JSON.
pub fn json(checkup: &Checkup) -> serde_json::Value {
    serde_json::json!({ "findings": checkup.findings(), "checkup": checkup })
}

/// What was changed: a line a file.
pub fn changes(outcome: &Outcome) -> String {
    let Outcome { changed, refused, not_ours } = outcome;
    if changed.is_empty() && refused.is_empty() && not_ours.is_empty() {
        return "nothing to change".to_owned();
    }
    let lines = changed.iter().map(|one| {
        format!("{:<INDENT$}{}\n{:INDENT$}{} → {}", one.about, one.file.display(), "", one.before, one.after)
    });
    lines.chain(not_ours.iter().cloned()).collect::<Vec<_>>().join("\n")
}

fn line(finding: &Finding, width: usize, coloured: bool) -> String {
    let (mark, code) = match finding.level {
        Level::Good => ('✓', 32),
        Level::Note => ('·', 33),
        Level::Problem => ('✗', 31),
    };
    let mark = if coloured { format!("\x1b[{code}m{mark}\x1b[0m") } else { mark.to_string() };
    let mut text = format!("{mark} {:<width$}", finding.about, width = INDENT - 2);
    for (at, part) in
        [&finding.found, finding.why, &finding.remedy].into_iter().filter(|part| !part.is_empty()).enumerate()
    {
        let before = " ".repeat(if at == 0 { 0 } else { INDENT });
        text.push_str(&format!("{before}{}\n", wrap(part, width.saturating_sub(INDENT))));
    }
    text
}

fn wrap(text: &str, width: usize) -> String {
    textwrap::wrap(text, width.max(20)).join(&format!("\n{}", " ".repeat(INDENT)))
}

/// Such as `2 problems, 5 notes, 11 good`.
fn summary(findings: &[Finding]) -> String {
    let count = |level| findings.iter().filter(|finding| finding.level == level).count();
    let (problems, notes) = (count(Level::Problem), count(Level::Note));
    let verdict = match problems {
        0 => "fit to measure",
        _ => "small changes will not be seen, or wrongly",
    };
    format!("{}, {}, {} good: {verdict}", plural(problems, "problem"), plural(notes, "note"), count(Level::Good))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_wrapped_beside_its_name() {
        let why = "A buffer that was swapped out is slow on one build and not on the next.";
        let finding = Finding::note("swap", "1 GB, not used", why, "`sudo swapoff -a`");
        let expected = "\
· swap              1 GB, not used
                    A buffer that was swapped out is slow on
                    one build and not on the next.
                    `sudo swapoff -a`
";
        assert_eq!(line(&finding, 60, false), expected);
        assert!(line(&finding, 60, true).starts_with("\x1b[33m·\x1b[0m swap"));
        let good = Finding::good("swap", "none");
        assert_eq!(line(&good, 60, false), "✓ swap              none\n");
        assert_eq!(summary(&[finding.clone(), good]), "0 problems, 1 note, 1 good: fit to measure");
        let problem = Finding { level: Level::Problem, ..finding };
        assert!(summary(&[problem]).starts_with("1 problem, 0 notes, 0 good: small changes"));
    }
}
