//! The page: one file without any request to the outside, readable without JavaScript.
//!
//! In: findings. Out: HTML. Each part of the page is a plain view (strings and numbers made ready), built by a module
//! of its own and set into `templates/*.html`, which escape all text. Only SVG that this crate drew is passed on raw.

mod compared;
mod cost;
mod explained;
mod lanes;
mod matrix;
mod noise;
mod plan;
mod profile;
mod response;
mod scene;
mod setting;
mod sheets;
mod statement_times;
mod summary;
mod test;
mod test_tables;
mod timeline;
mod users;

use crate::{latency, number, order, rounds, suite};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment};
use rqps_analysis::findings::Findings;
use scene::Scene;
use serde::Serialize;

/// Why the page could not be made; cannot happen with the templates as built in.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A template does not fit its view.
    #[error("a template of the report failed: {0:#}; this is a fault of rqps, please report it")]
    Template(#[from] minijinja::Error),
}

const TEMPLATES: [(&str, &str); 13] = [
    ("report.html", include_str!("../templates/report.html")),
    ("summary.html", include_str!("../templates/summary.html")),
    ("sheets.html", include_str!("../templates/sheets.html")),
    ("users.html", include_str!("../templates/users.html")),
    ("timeline.html", include_str!("../templates/timeline.html")),
    ("results.html", include_str!("../templates/results.html")),
    ("test.html", include_str!("../templates/test.html")),
    ("profile.html", include_str!("../templates/profile.html")),
    ("statement_times.html", include_str!("../templates/statement_times.html")),
    ("explained.html", include_str!("../templates/explained.html")),
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
    environment.add_filter("grouped", number::grouped);
    for (name, source) in TEMPLATES {
        environment.add_template(name, source)?;
    }
    Ok(environment.get_template("report.html")?.render(Serde(page(findings)))?)
}

/// Text in which what stands between backticks is code; all of it is escaped here.
fn code(text: &str) -> minijinja::Value {
    let parts: Vec<String> = text.split('`').map(|part| minijinja::HtmlEscape(part).to_string()).collect();
    let mut out = String::new();
    for (at, part) in parts.iter().enumerate() {
        // A backtick that nothing closes is a letter.
        match (at % 2, at + 1 < parts.len()) {
            (1, true) => out.push_str(&format!("<code>{part}</code>")),
            (1, false) => out.push_str(&format!("`{part}")),
            _ => out.push_str(part),
        }
    }
    minijinja::Value::from_safe_string(out)
}

#[derive(Serialize)]
struct Page {
    style: minijinja::Value,
    script: minijinja::Value,
    /// What a test of the suite is called: `test`, `step`.
    noun: &'static str,
    /// Whether each test begins with what the one before left.
    is_in_order: bool,
    /// Whether any ratio is trimmed over cycles of slices.
    is_trimmed: bool,
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
    users: Option<users::Users>,
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
    /// Why builds went one by one, where they could have alternated.
    why_one_by_one: String,
    /// What a server is started on.
    data: String,
    /// How a sentence about every round begins.
    each_round: String,
    rqps_version: String,
    seed: u64,
}

fn page(findings: &Findings) -> Page {
    let scene = Scene::of(findings);
    let campaign = &findings.campaign;
    Page {
        style: minijinja::Value::from_safe_string(STYLE.to_owned()),
        script: minijinja::Value::from_safe_string(SCRIPT.to_owned()),
        noun: findings.campaign.suite.noun(),
        is_in_order: campaign.is_in_order,
        is_trimmed: latency::is_trimmed(findings),
        unit: suite::unit(findings),
        is_one_by_one: findings.tests.iter().any(|test| test.interleave.is_none()),
        has_targets: findings.tests.iter().flat_map(|test| &test.cells).any(|cell| cell.sla.is_some()),
        open_loop: if findings.is_open_loop() { latency::OPEN_LOOP } else { "" },
        summary: summary::summary(&scene),
        one_round: if rounds::has_one_round(findings) { rounds::ONE_ROUND } else { "" },
        sheets: sheets::levels(&scene),
        users: users::users(&scene),
        levels: compared::levels(&scene),
        tests: test::tests(&scene),
        settings: setting::settings(&scene),
        noise: noise::noise(&scene),
        method: Method {
            command: bare(&campaign.command_line),
            campaign_toml: campaign.campaign_toml.trim_end().to_owned(),
            margin: number::percent(campaign.margin),
            interleaving: order::interleaving(findings),
            why_one_by_one: campaign.why_one_by_one.clone().unwrap_or_default(),
            data: match &campaign.why_continued {
                Some(why) => format!("what the test before left of its build’s data ({why})"),
                None => "its own copy of the same data".to_owned(),
            },
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

/// The command as a shell takes it, without the folder of the rqps binary, which differs from machine to machine.
fn bare(command_line: &[String]) -> String {
    const PLAIN: &str = "-_./:=,@%+?*";
    let Some((program, words)) = command_line.split_first() else { return String::new() };
    let program = program.rsplit('/').next().unwrap_or_default();
    let is_plain = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || PLAIN.contains(c));
    let quoted = |word: &str| match is_plain(word) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    };
    std::iter::once(program).chain(words.iter().map(String::as_str)).map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{bare, code};

    #[test]
    fn a_command_can_be_repeated_by_a_shell() {
        let words = ["/opt/x y/rqps", "run", "--define", "a=it's one", "--tests", "point-*"].map(str::to_owned);
        assert_eq!(bare(&words), r"rqps run --define 'a=it'\''s one' --tests point-*");
        assert_eq!(bare(&[]), "");
    }

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
