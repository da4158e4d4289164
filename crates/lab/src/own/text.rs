//! A first workload on the screen: its statements with their shares, what is left out, what is left to do.
//!
//! In: what was written. Out: text of 80 columns, or JSON.

use super::Written;
use crate::line::cut;
use rqps_model::{human_duration, plural};
use std::collections::BTreeSet;
use std::time::Duration;

const DAY_SECONDS: f64 = 86_400.0;

/// The table, and what to do next.
pub fn table(written: &Written, width: usize) -> String {
    let choice = &written.choice;
    let of_what = if choice.milliseconds > 0.0 { "time %" } else { "calls %" };
    let mut text = format!("{:>3} {of_what:>8} {:>12} {:>11}  test\n", "#", "calls", "mean ms");
    for (rank, one) in (1..).zip(&choice.statements) {
        let mean = if choice.milliseconds > 0.0 { mean(one.milliseconds / one.calls) } else { "-".to_owned() };
        let (share, calls) = (one.share * 100.0, one.calls.round());
        text.push_str(&cut(&format!("{rank:>3} {share:>8.1} {calls:>12} {mean:>11}  {}", one.name), width));
        text.push('\n');
    }
    if !choice.left_out.is_empty() {
        text.push_str("\nleft out\n");
    }
    for left in &choice.left_out {
        let line =
            format!("{:>3} {:>8.1} {:>12} {:>11}  {}", "", left.share * 100.0, left.calls.round(), "", left.why.name());
        text.push_str(&cut(&line, width));
        text.push('\n');
    }
    text.push('\n');
    for sentence in [covered(written), files(written), next(written)] {
        text.push_str(&textwrap::fill(&sentence, width));
        text.push('\n');
    }
    text
}

/// The same as JSON.
pub fn json(written: &Written) -> serde_json::Value {
    let choice = &written.choice;
    let statements = choice.statements.iter().map(|one| {
        serde_json::json!({
            "name": one.name,
            "share": one.share,
            "calls": one.calls,
            "calls_per_day": choice.seconds.map(|seconds| one.calls * DAY_SECONDS / seconds),
            "mean_ms": (choice.milliseconds > 0.0).then(|| one.milliseconds / one.calls),
            "sets_of_values": one.rows.len(),
            "todo": one.unknown.iter().map(|unknown| &unknown.name).collect::<Vec<_>>(),
        })
    });
    let left_out = choice
        .left_out
        .iter()
        .map(|left| serde_json::json!({ "why": left.why.name(), "share": left.share, "calls": left.calls }));
    serde_json::json!({
        "files": written.files,
        "statements": statements.collect::<Vec<_>>(),
        "left_out": left_out.collect::<Vec<_>>(),
        "of_statements": choice.of,
        "total_ms": choice.milliseconds,
        "seconds": choice.seconds,
        "notes": choice.notes,
    })
}

fn mean(milliseconds: f64) -> String {
    let digits = if milliseconds < 1.0 { 4 } else { 2 };
    format!("{milliseconds:.digits$}")
}

fn covered(written: &Written) -> String {
    let choice = &written.choice;
    let share: f64 = choice.statements.iter().map(|one| one.share).sum();
    let of = if choice.milliseconds > 0.0 { "the time" } else { "all calls" };
    let over = match choice.seconds {
        Some(seconds) => format!(", seen over {}", human_duration(Duration::from_secs_f64(seconds))),
        None => ", over an unknown time; say it with --days or --hours, so that the report can tell what a change costs a day"
            .to_owned(),
    };
    format!(
        "{} of {} have {:.1} % of {of}{over}.",
        choice.statements.len(),
        plural(choice.of, "statement"),
        share * 100.0
    )
}

fn files(written: &Written) -> String {
    let values = written.files.len() - 1;
    let beside = written.files.get(1).and_then(|file| file.parent());
    let beside = beside.map(|folder| format!(", and {} of values in {}", plural(values, "file"), folder.display()));
    format!("Written: {}{}.", written.files[0].display(), beside.unwrap_or_default())
}

/// What is left to fill in.
fn next(written: &Written) -> String {
    let unknown = written.choice.statements.iter().flat_map(|one| &one.unknown);
    let unknown: BTreeSet<&str> = unknown.map(|unknown| unknown.name.as_str()).collect();
    let sources = match unknown.len() {
        0 => String::new(),
        some => format!(" and the sources of {}", plural(some, "value")),
    };
    let file = written.files[0].display();
    format!(
        "To be filled in: the dump{sources}. `rqps plan --suite own --from {file} --build ...` names each with its line."
    )
}
