//! The status of a campaign in words.
//!
//! In: a [`CampaignStatus`]. Out: lines of text for whoever prints them.

use super::{Activity, CampaignStatus, Cell, Failure};
use crate::line::cut;
use rqps_model::{human_duration, plural};
use std::time::Duration;

/// More failures than this are only counted; `--json` has them all.
const FAILURES_MAX: usize = 10;

/// The status in lines of at most `width` columns, but for names that are longer themselves.
pub fn text(status: &CampaignStatus, width: usize, is_coloured: bool) -> String {
    let mut lines = vec![headline(status, is_coloured)];
    lines.extend(status.running.first().map(|cell| match status.running.len() {
        1 => format!("now: {}", named(cell)),
        _ => format!("now: round {}, {}, {}", cell.round, cell.test, plural(cell.clients, "client")),
    }));
    if let Some(seconds) = status.seconds_left {
        let left = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        let remedy = match status.state {
            Activity::Running => String::new(),
            _ => format!("; go on with: rqps resume {}", status.folder.display()),
        };
        let about = if status.until_decided { "at most" } else { "about" };
        lines.push(format!("{about} {} left{remedy}", human_duration(left)));
    }
    let of_a_round = status.round_seconds.map(|seconds| seconds.to_string()).unwrap_or_default();
    lines.extend(textwrap::wrap(&of_a_round, width).into_iter().filter(|line| !line.is_empty()).map(Into::into));
    if !status.given_up.is_empty() {
        let tests = status.given_up.join(", ");
        let told = format!("left out, since the time that is left will hardly decide them: {tests}");
        lines.extend(textwrap::wrap(&told, width).into_iter().map(Into::into));
    }
    lines.push(String::new());
    let name_width = status.treatments.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).max(9);
    // What there is none of has no column.
    let columns: Vec<usize> = (0..5).filter(|at| *at == 0 || *at == 4 || status.samples.named()[*at].1 > 0).collect();
    let row = |name: &str, cells: &dyn Fn(usize) -> String, all: &str| {
        let cells: String = columns.iter().map(|at| format!("{:>9}", cells(*at))).collect();
        format!("{name:<name_width$}{cells}{all:>9}")
    };
    lines.push(row("samples", &|at| status.samples.named()[at].0.to_owned(), "of"));
    let all = ("all".to_owned(), status.samples.clone());
    for (name, counts) in status.treatments.iter().chain([&all]) {
        lines.push(row(name, &|at| counts.named()[at].1.to_string(), &counts.planned().to_string()));
    }
    for (what, failures) in [("failed", &status.failures), ("damaged", &status.damages)] {
        let shown = failures.iter().take(FAILURES_MAX);
        lines.extend(shown.map(|Failure { cell, why }| cut(&format!("{what}: {}: {why}", named(cell)), width)));
        if failures.len() > FAILURES_MAX {
            lines.push(format!("{what}: {} more; --json names them all", failures.len() - FAILURES_MAX));
        }
    }
    lines.join("\n")
}

fn headline(status: &CampaignStatus, is_coloured: bool) -> String {
    let (word, colour) = match status.state {
        Activity::Running => ("running", "36"),
        Activity::Interrupted => ("interrupted", "33"),
        Activity::Complete => ("complete", "32"),
    };
    let word = if is_coloured { format!("\x1b[{colour}m{word}\x1b[0m") } else { word.to_owned() };
    let process = status.process.map(|process| format!(" in process {process}")).unwrap_or_default();
    let resumed = match status.resumed {
        0 => String::new(),
        1 => ", resumed once".to_owned(),
        times => format!(", resumed {times} times"),
    };
    format!("{}: {word}{process}{resumed}; {}", status.name, rounds(status))
}

/// How many rounds are done, and of how many; where results decide that, what they still measure.
fn rounds(status: &CampaignStatus) -> String {
    let done = status.rounds_done;
    if let Some(rounds) = status.rounds {
        return format!("{done} of {}", plural(rounds, "round"));
    }
    let most = status.rounds_max.map(|most| format!(" of at most {most}")).unwrap_or_default();
    let left_out = status.tests_measured.filter(|measured| *measured < status.tests);
    let measured = left_out.map(|measured| format!(", {measured} of {} tests still measured", status.tests));
    format!("{}{most} done{}", plural(done, "round"), measured.unwrap_or_default())
}

fn named(cell: &Cell) -> String {
    format!("round {}, {}, {}, {}", cell.round, cell.treatment, cell.test, plural(cell.clients, "client"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::Counts;
    use expect_test::expect;
    use rqps_model::RoundSeconds;
    use std::path::PathBuf;

    fn running() -> CampaignStatus {
        let cell = |treatment: &str| Cell {
            round: 2,
            treatment: treatment.to_owned(),
            test: "point-query".to_owned(),
            clients: 1,
        };
        let of_one = Counts { done: 8, running: 1, left: 11, ..Counts::default() };
        CampaignStatus {
            name: "demo.2".to_owned(),
            folder: PathBuf::from("results/demo.2"),
            state: Activity::Running,
            process: Some(4711),
            started_at: "2026-11-22T05:12:33.250Z".to_owned(),
            resumed: 1,
            finished_at: None,
            rounds: Some(5),
            rounds_max: None,
            rounds_done: 1,
            tests: 2,
            tests_measured: None,
            samples: Counts { done: 16, running: 2, left: 22, ..Counts::default() },
            treatments: ["pg1615_zonky.x10a_c2r12", "pg1711_zonky.x10a_c2r12"]
                .map(|name| (name.to_owned(), of_one.clone()))
                .to_vec(),
            running: vec![cell("pg1615_zonky.x10a_c2r12"), cell("pg1711_zonky.x10a_c2r12")],
            failures: Vec::new(),
            damages: Vec::new(),
            seconds_left: Some(250.0),
            until_decided: false,
            round_seconds: None,
            given_up: Vec::new(),
        }
    }

    #[test]
    fn a_running_campaign() {
        let text = text(&running(), 80, false);
        expect![[r#"
            demo.2: running in process 4711, resumed once; 1 of 5 rounds
            now: round 2, point-query, 1 client
            about 4 min 10 s left

            samples                     done  running     left       of
            pg1615_zonky.x10a_c2r12        8        1       11       20
            pg1711_zonky.x10a_c2r12        8        1       11       20
            all                           16        2       22       40"#]]
        .assert_eq(&text);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        let given_up = ["update-one", "insert"].map(str::to_owned).to_vec();
        let text = super::text(&CampaignStatus { given_up, ..running() }, 80, false);
        assert!(text.contains("left out, since the time that is left will hardly decide them: update-one,\ninsert\n"));
    }

    #[test]
    fn where_results_decide_no_number_of_rounds_is_foretold() {
        let divided = CampaignStatus { rounds: None, rounds_done: 7, tests: 32, ..running() };
        let first = |status: &CampaignStatus| text(status, 80, false).lines().next().unwrap_or_default().to_owned();
        assert_eq!(first(&divided), "demo.2: running in process 4711, resumed once; 7 rounds done");
        let some = CampaignStatus { tests_measured: Some(3), rounds_max: Some(20), until_decided: true, ..divided };
        let told = "; 7 rounds of at most 20 done, 3 of 32 tests still measured";
        assert!(first(&some).ends_with(told), "{}", first(&some));
        assert!(text(&some, 80, false).contains("\nat most 4 min 10 s left\n"));
    }

    #[test]
    fn an_interrupted_one_with_failures_and_damages() {
        let mut status = running();
        (status.state, status.process, status.resumed) = (Activity::Interrupted, None, 2);
        let cell = status.running.remove(0);
        status.running.clear();
        status.samples = Counts { done: 5, failed: 12, damaged: 1, running: 0, left: 22 };
        status.treatments.truncate(1);
        let why = format!("the server died: {}\nand more", "signal 9, ".repeat(10));
        status.failures = vec![Failure { cell: cell.clone(), why }; 12];
        status.damages = vec![Failure { cell, why: "sample.json is cut off".to_owned() }];
        let shown = text(&status, 80, false);
        expect![[r#"
            demo.2: interrupted, resumed 2 times; 1 of 5 rounds
            about 4 min 10 s left; go on with: rqps resume results/demo.2

            samples                     done   failed  damaged     left       of
            pg1615_zonky.x10a_c2r12        8        0        0       11       20
            all                            5       12        1       22       40
            failed: round 2, pg1615_zonky.x10a_c2r12, point-query, 1 client: the server die…
            failed: round 2, pg1615_zonky.x10a_c2r12, point-query, 1 client: the server die…
            failed: round 2, pg1615_zonky.x10a_c2r12, point-query, 1 client: the server die…
            failed: round 2, pg1615_zonky.x10a_c2r12, point-query, 1 client: the server die…
            failed: round 2, pg1615_zonky.x10a_c2r12, point-query, 1 client: the server die…
            failed: round 2, pg1615_zonky.x10a_c2r12, point-query, 1 client: the server die…
            failed: round 2, pg1615_zonky.x10a_c2r12, point-query, 1 client: the server die…
            failed: round 2, pg1615_zonky.x10a_c2r12, point-query, 1 client: the server die…
            failed: round 2, pg1615_zonky.x10a_c2r12, point-query, 1 client: the server die…
            failed: round 2, pg1615_zonky.x10a_c2r12, point-query, 1 client: the server die…
            failed: 2 more; --json names them all
            damaged: round 2, pg1615_zonky.x10a_c2r12, point-query, 1 client: sample.json i…"#]]
        .assert_eq(&shown);
        assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
        status.round_seconds =
            Some(RoundSeconds { counted: 22.0, starts: 11.0, copies: 4.0, connects: 3.0, ..RoundSeconds::default() });
        let told = "\nof 40 s a round 22 s are counted; starts 11 s, copies 4.0 s, connecting 3.0 s\n\nsamples";
        assert!(text(&status, 80, false).contains(told), "{}", text(&status, 80, false));
        assert!(text(&status, 80, true).contains("\u{1b}[33minterrupted\u{1b}[0m"));
    }
}
