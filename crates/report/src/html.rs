//! The page: one file without any request to the outside, readable without JavaScript.
//!
//! In: findings. Out: HTML. Each part of the page is a plain view (strings and numbers made ready), built by a module
//! of its own and set into `templates/*.html`, which escape all text. Only SVG that this crate drew is passed on raw.

mod compared;
mod cost;
mod lanes;
mod matrix;
mod noise;
mod plan;
mod response;
mod setting;
mod sheets;
mod summary;
mod test;
mod test_tables;
mod timeline;

use crate::footnote::{begun, ended};
use crate::interval::Interval;
use crate::rounds;
use crate::suite::Suite;
use crate::svg::series;
use crate::{latency, number, order, verdict_style};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment};
use rqps_analysis::findings::{CellFindings, Comparison, Findings, TestFindings, Warning};
use rqps_model::{Verdict, WarningKind, counted};
use serde::Serialize;

/// Why the page could not be made; cannot happen with the templates as built in.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A template does not fit its view.
    #[error("a template of the report failed: {0:#}; this is a fault of rqps, please report it")]
    Template(#[from] minijinja::Error),
}

const TEMPLATES: [(&str, &str); 9] = [
    ("report.html", include_str!("../templates/report.html")),
    ("summary.html", include_str!("../templates/summary.html")),
    ("sheets.html", include_str!("../templates/sheets.html")),
    ("timeline.html", include_str!("../templates/timeline.html")),
    ("results.html", include_str!("../templates/results.html")),
    ("test.html", include_str!("../templates/test.html")),
    ("settings.html", include_str!("../templates/settings.html")),
    ("noise.html", include_str!("../templates/noise.html")),
    ("repeat.html", include_str!("../templates/repeat.html")),
];
const STYLE: &str = include_str!("../templates/style.css");
const SCRIPT: &str = include_str!("../templates/report.js");

/// The whole page.
pub fn html(findings: &Findings) -> Result<String, ReportError> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?;
    environment.set_syntax(syntax);
    environment.add_filter("code", code);
    for (name, source) in TEMPLATES {
        environment.add_template(name, source)?;
    }
    Ok(environment.get_template("report.html")?.render(Serde(page(findings)))?)
}

/// Text in which what stands between backticks is code; all of it is escaped here.
fn code(text: &str) -> minijinja::Value {
    let escaped = |text: &str| minijinja::HtmlEscape(text).to_string();
    let mut parts = text.split('`').peekable();
    let (mut out, mut is_code) = (String::new(), false);
    while let Some(part) = parts.next() {
        // A backtick that nothing closes is a letter.
        match (is_code, parts.peek()) {
            (true, Some(_)) => out.push_str(&format!("<code>{}</code>", escaped(part))),
            (true, None) => out.push_str(&format!("`{}", escaped(part))),
            (false, _) => out.push_str(&escaped(part)),
        }
        is_code = !is_code;
    }
    minijinja::Value::from_safe_string(out)
}

/// What all parts of the page need.
struct Scene<'a> {
    findings: &'a Findings,
    /// Treatments' short names.
    names: Vec<String>,
    /// Treatments' colours in charts.
    colours: Vec<String>,
    /// Treatments other than the base.
    others: Vec<usize>,
}

impl Scene<'_> {
    fn margin(&self) -> f64 {
        self.findings.campaign.margin
    }

    /// Treatments in display order: the base first.
    fn base_first(&self) -> Vec<usize> {
        std::iter::once(self.findings.base).chain(self.others.iter().copied()).collect()
    }
}

#[derive(Serialize)]
struct Page {
    style: minijinja::Value,
    script: minijinja::Value,
    /// What a test of the suite is called: `test`, `step`.
    noun: &'static str,
    /// Whether each test begins with what the one before left.
    is_in_order: bool,
    /// Unit of columns of throughput.
    unit: &'static str,
    /// Whether one build after the other ran, each alone.
    is_one_by_one: bool,
    /// Whether any test has a write rate to hold.
    has_targets: bool,
    /// What an open loop compares; empty of a closed one.
    open_loop: &'static str,
    summary: summary::Summary,
    /// What an interval in parentheses says; empty where there is none.
    one_round: &'static str,
    sheets: Vec<sheets::Level>,
    levels: Vec<compared::Level>,
    tests: test::Tests,
    settings: setting::Settings,
    noise: noise::Noise,
    method: Method,
}

/// What the closing section needs.
#[derive(Serialize)]
struct Method {
    command: String,
    campaign_toml: String,
    margin: String,
    interleaving: String,
    /// How a sentence about every round begins.
    each_round: String,
    rqps_version: String,
    seed: u64,
}

fn page(findings: &Findings) -> Page {
    let scene = Scene {
        findings,
        names: order::short_names(findings),
        colours: series::colours(findings.treatments.len(), findings.base),
        others: order::others(findings),
    };
    let (campaign, suite) = (&findings.campaign, Suite::of(findings));
    Page {
        style: minijinja::Value::from_safe_string(STYLE.to_owned()),
        script: minijinja::Value::from_safe_string(SCRIPT.to_owned()),
        noun: suite.noun(),
        is_in_order: campaign.is_in_order,
        unit: suite.unit(),
        is_one_by_one: findings.tests.iter().any(|test| test.interleave.is_none()),
        has_targets: findings.tests.iter().flat_map(|test| &test.cells).any(|cell| cell.sla.is_some()),
        open_loop: if findings.is_open_loop() { latency::OPEN_LOOP } else { "" },
        summary: summary::summary(&scene),
        one_round: if rounds::has_one_round(findings) { rounds::ONE_ROUND } else { "" },
        sheets: sheets::levels(&scene),
        levels: compared::levels(&scene),
        tests: test::tests(&scene),
        settings: setting::settings(&scene),
        noise: noise::noise(&scene),
        method: Method {
            command: bare(&campaign.command).to_owned(),
            campaign_toml: campaign.campaign_toml.trim_end().to_owned(),
            margin: number::percent(campaign.margin),
            interleaving: order::interleaving(findings),
            each_round: match campaign.rounds_complete {
                0 => "In each round".to_owned(),
                1 => "In the one round".to_owned(),
                rounds => format!("In each of the {rounds} rounds"),
            },
            rqps_version: campaign.rqps_version.clone(),
            seed: campaign.seed,
        },
    }
}

/// The command without the folder in which rqps lay, which is nobody else's.
fn bare(command: &str) -> &str {
    let program = command.split_whitespace().next().unwrap_or_default();
    program.rfind('/').filter(|_| !program.contains(['\'', '"'])).map_or(command, |at| command[at + 1..].trim_start())
}

/// A comparison as the page writes it.
#[derive(Debug, Clone, Serialize)]
struct Shown {
    /// Class with hue and saturation.
    class: String,
    /// Class with hue only.
    hue: &'static str,
    glyph: &'static str,
    word: &'static str,
    ratio: String,
    interval: String,
    /// Whether the interval is one over rounds, or that of a single round's inside.
    is_inside: bool,
    mde: String,
    q: String,
    n: u32,
    remark: String,
    /// Size of the change in percent, for filtering.
    size: String,
}

/// Size of a change in percent, for the filter, which rounds nothing up to a border.
fn size(comparison: &Comparison) -> String {
    format!("{:.2}", ((comparison.rqps - 1.0).abs() * 1e4).floor() / 100.0)
}

fn shown(comparison: &Comparison) -> Shown {
    Shown {
        class: verdict_style::class(comparison),
        hue: verdict_style::hue(comparison.verdict),
        glyph: verdict_style::glyph(comparison.verdict),
        word: comparison.verdict.word(),
        ratio: number::ratio(comparison.rqps),
        interval: Interval::over_rounds(comparison).text(),
        is_inside: false,
        mde: comparison.mde.map_or_else(|| number::NONE.to_owned(), number::percent),
        q: comparison.q.map_or_else(|| number::NONE.to_owned(), number::probability),
        n: comparison.n,
        remark: remark(comparison),
        size: size(comparison),
    }
}

/// The comparison of a cell: signed where it does not compare, and with the interval of its inside if it is of one
/// round.
fn shown_cell(scene: &Scene<'_>, test: &TestFindings, index: usize) -> Option<Shown> {
    let cell = &test.cells[index];
    let mut shown = shown(cell.comparison.as_ref()?);
    shown.ratio.push_str(rounds::ratio_sign(scene.findings, test, index));
    let interval = Interval::of(cell);
    (shown.interval, shown.is_inside) = (interval.text(), matches!(interval, Interval::Inside(..)));
    Some(shown)
}

/// Anchor of a test.
fn test_id(index: usize) -> String {
    format!("t{index}")
}

/// Why a cell has no ratio.
fn absence(cell: &CellFindings) -> String {
    let warnings = cell.warnings.iter().map(|warning| warning.cause.clone());
    std::iter::once("no comparison".to_owned()).chain(warnings).collect::<Vec<_>>().join("\n")
}

/// Each quantile of the events' latency: `p50 104 µs → 110 µs`.
fn latency_change(test: &TestFindings, base: usize, index: usize) -> Vec<String> {
    let of = |index: usize, quantile| latency::shown(&test.cells[index], quantile);
    let quantiles = latency::QUANTILES.iter();
    quantiles.map(|(name, quantile)| format!("{name} {} → {}", of(base, *quantile), of(index, *quantile))).collect()
}

/// The remark, and how many rounds would settle it where anybody would run so many.
fn remark(comparison: &Comparison) -> String {
    let needed = match comparison.rounds_within_reach() {
        Some(rounds) if comparison.verdict == Verdict::Undecided => {
            Some(format!("about {} would settle it", counted(rounds, "round")))
        }
        _ => None,
    };
    comparison.remark.iter().cloned().chain(needed).collect::<Vec<_>>().join("; ")
}

/// A warning as the page writes it.
#[derive(Debug, Clone, Serialize)]
struct Notice {
    kind: WarningKind,
    cause: String,
    advice: String,
    /// The whole list where the cause has the first of it; else empty.
    in_full: String,
}

fn notice(warning: &Warning) -> Notice {
    Notice {
        kind: warning.kind,
        cause: ended(&warning.cause),
        advice: warning.advice.as_deref().map(|advice| begun(&ended(advice))).unwrap_or_default(),
        in_full: warning.in_full.clone().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::code;

    #[test]
    fn what_stands_between_backticks_is_code_and_all_is_escaped() {
        let check = |text: &str, expected: &str| assert_eq!(code(text).to_string(), expected);
        check("with `--set` or `--rows`.", "with <code>--set</code> or <code>--rows</code>.");
        check("a ` alone", "a ` alone");
        check("`a` and ` alone", "<code>a</code> and ` alone");
        check("<b>`<i>`", "&lt;b&gt;<code>&lt;i&gt;</code>");
        check("", "");
    }
}
