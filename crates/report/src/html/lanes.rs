//! A step over time: for each kind of number a figure, in it the builds one above the other on one axis of time.
//!
//! In: rounds with their series, the server's own numbers and what it did. Out: figures whose lanes are drawings with their
//! labels. The median round is shown, the others are thin lines behind it.

use super::Scene;
use crate::svg::Tick;
use crate::svg::lane::{self, Lane, Scale};
use crate::{insert, number};
use rqps_analysis::findings::{StepFindings, StepPoint, StepRound, TestFindings};
use rqps_model::insert::Stall;
use serde::Serialize;

/// Lanes that share axes.
#[derive(Serialize)]
pub(super) struct Figure {
    title: &'static str,
    lanes: Vec<LaneView>,
    times: Vec<Tick>,
}

#[derive(Serialize)]
struct LaneView {
    name: String,
    colour: String,
    /// The round shown, where there are several.
    round: String,
    /// The number that the lane comes down to.
    told: String,
    drawing: minijinja::Value,
    ys: Vec<Tick>,
}

/// A number that the client kept each second.
struct Kept {
    title: &'static str,
    value: fn(&StepPoint) -> f64,
    is_time: bool,
    show: fn(f64) -> String,
    told: fn(&StepRound) -> String,
}

const KEPT: [Kept; 5] = [
    Kept {
        title: "Rows inserted per second",
        value: |point| point.inserted,
        is_time: false,
        show: number::grouped,
        told: |round| mean(round.inserted, round.seconds),
    },
    Kept {
        title: "Queries per second",
        value: |point| point.queries,
        is_time: false,
        show: number::grouped,
        told: |round| mean(round.queries, round.seconds),
    },
    Kept {
        title: "Longest insert",
        value: |point| point.longest_insert_ms,
        is_time: true,
        show: milliseconds,
        told: |round| longest(round, |point| point.longest_insert_ms),
    },
    Kept {
        title: "Longest delete",
        value: |point| point.longest_delete_ms,
        is_time: true,
        show: milliseconds,
        told: |round| longest(round, |point| point.longest_delete_ms),
    },
    Kept {
        title: "Longest query",
        value: |point| point.longest_query_ms,
        is_time: true,
        show: milliseconds,
        told: |round| longest(round, |point| point.longest_query_ms),
    },
];

fn mean(count: u64, seconds: f64) -> String {
    format!("mean {}", number::grouped(count as f64 / seconds.max(1e-9)))
}

fn longest(round: &StepRound, value: fn(&StepPoint) -> f64) -> String {
    format!("max {}", milliseconds(round.series.iter().map(value).fold(0.0, f64::max)))
}

fn milliseconds(ms: f64) -> String {
    if ms == 0.0 { "0".to_owned() } else { number::duration_us(ms * 1e3) }
}

/// A number that the server told.
struct Told {
    name: &'static str,
    title: &'static str,
    /// It only grows: what counts is by how much a second.
    is_counter: bool,
    show: fn(f64) -> String,
}

const TOLD: [Told; 8] = [
    Told { name: "dead_rows", title: "Dead rows", is_counter: false, show: number::grouped },
    Told { name: "history_list_length", title: "History list", is_counter: false, show: number::grouped },
    Told { name: "checkpoint_age_bytes", title: "Checkpoint age", is_counter: false, show: number::bytes },
    Told { name: "wal_bytes_kept", title: "WAL kept", is_counter: false, show: number::bytes },
    Told { name: "log_bytes", title: "Log written per second", is_counter: true, show: number::bytes },
    Told { name: "dirty_pages", title: "Dirty pages", is_counter: false, show: number::grouped },
    Told { name: "compactions_pending", title: "Column families that wait", is_counter: false, show: number::grouped },
    Told { name: "stall_micros", title: "Writes held up by the server", is_counter: true, show: number::duration_us },
];

type Cells<'a> = Vec<(usize, &'a StepFindings)>;

fn cells<'a>(scene: &Scene<'_>, test: &'a TestFindings) -> Cells<'a> {
    scene.base_first().into_iter().filter_map(|index| Some((index, test.cells[index].step.as_ref()?))).collect()
}

/// What the client kept; nothing for a step that builds indexes, whose few rows tell nothing.
pub(super) fn kept(scene: &Scene<'_>, test: &TestFindings) -> Vec<Figure> {
    let cells = cells(scene, test);
    let builds_indexes = |(_, step): &(usize, &StepFindings)| step.rounds.iter().any(|r| !r.index_builds.is_empty());
    if cells.iter().any(builds_indexes) {
        return Vec::new();
    }
    KEPT.iter().filter_map(|kept| kept_figure(scene, &cells, kept)).collect()
}

fn kept_figure(scene: &Scene<'_>, cells: &Cells<'_>, kept: &Kept) -> Option<Figure> {
    let line = |round: &StepRound| round.series.iter().map(|point| (point.second, (kept.value)(point))).collect();
    let lines = cells.iter().map(|(index, step)| {
        let shown = insert::median_round(step);
        let others: Vec<&StepRound> =
            step.rounds.iter().filter(|round| shown.is_some_and(|shown| shown.round != round.round)).collect();
        Drawn {
            index: *index,
            line: shown.map_or_else(Vec::new, line),
            other_stalls: others.iter().flat_map(|round| &round.stalls).copied().collect(),
            others: others.into_iter().map(line).collect(),
            round: shown,
            is_one_of: step.rounds.len(),
            told: shown.map_or_else(String::new, told_by(kept.told)),
        }
    });
    figure(scene, kept.title, lines.collect(), kept.is_time, false, kept.show)
}

fn told_by(told: fn(&StepRound) -> String) -> impl Fn(&StepRound) -> String {
    move |round| if round.failure.is_some() { "failed".to_owned() } else { told(round) }
}

/// What the server told meanwhile, of the builds that tell it.
pub(super) fn told(scene: &Scene<'_>, test: &TestFindings) -> Vec<Figure> {
    let cells = cells(scene, test);
    TOLD.iter().filter_map(|told| told_figure(scene, &cells, told)).collect()
}

fn told_figure(scene: &Scene<'_>, cells: &Cells<'_>, told: &Told) -> Option<Figure> {
    let lines = cells.iter().filter_map(|(index, step)| {
        let round = insert::median_round(step)?;
        let values = round.server.get(told.name).filter(|values| !values.is_empty())?;
        let line = if told.is_counter { growth(values) } else { values.clone() };
        let largest = line.iter().map(|(_, value)| *value).fold(0.0, f64::max);
        Some(Drawn {
            index: *index,
            line,
            others: Vec::new(),
            other_stalls: Vec::new(),
            round: Some(round),
            is_one_of: step.rounds.len(),
            told: format!("max {}", (told.show)(largest)),
        })
    });
    figure(scene, told.title, lines.collect(), false, told.name.contains("bytes"), told.show)
}

/// By how much a counter grew per second.
fn growth(values: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let steps = values.windows(2).filter(|pair| pair[1].0 > pair[0].0);
    steps.map(|pair| (pair[1].0, (pair[1].1 - pair[0].1).max(0.0) / (pair[1].0 - pair[0].0))).collect()
}

struct Drawn<'a> {
    index: usize,
    line: Vec<(f64, f64)>,
    others: Vec<Vec<(f64, f64)>>,
    other_stalls: Vec<Stall>,
    round: Option<&'a StepRound>,
    is_one_of: usize,
    told: String,
}

/// `None` where no line has anything to show.
fn figure(
    scene: &Scene<'_>,
    title: &'static str,
    lines: Vec<Drawn<'_>>,
    is_time: bool,
    is_bytes: bool,
    show: fn(f64) -> String,
) -> Option<Figure> {
    let points = || lines.iter().flat_map(|drawn| drawn.others.iter().chain([&drawn.line])).flatten();
    let values = || points().map(|point| point.1).filter(|value| value.is_finite() && *value > 0.0);
    let ends = lines.iter().filter_map(|drawn| drawn.round).map(|round| round.seconds);
    let seconds = points().map(|point| point.0).chain(ends).filter(|s| s.is_finite()).fold(0.0, f64::max);
    let largest = values().fold(0.0, f64::max);
    let scale = match is_time {
        true => Scale::logarithmic(seconds, values().fold(f64::INFINITY, f64::min), largest)?,
        false => Scale::linear(seconds, largest)?,
    };
    let scale = if is_bytes { scale.of_bytes() } else { scale };
    let view = |drawn: Drawn<'_>| LaneView {
        name: scene.names[drawn.index].clone(),
        colour: scene.colours[drawn.index].clone(),
        round: match drawn.round {
            Some(round) if drawn.is_one_of > 1 => format!("round {}", round.round),
            _ => String::new(),
        },
        told: drawn.told,
        drawing: lane::draw(
            &Lane {
                line: drawn.line,
                others: drawn.others,
                other_stalls: drawn.other_stalls,
                round: drawn.round,
                colour: &scene.colours[drawn.index],
            },
            scale,
        ),
        ys: scale.ticks(show),
    };
    Some(Figure { title, lanes: lines.into_iter().map(view).collect(), times: scale.times() })
}

#[cfg(test)]
mod tests {
    use super::growth;

    #[test]
    fn a_counter_is_shown_as_growth() {
        assert_eq!(growth(&[(1.0, 10.0), (3.0, 30.0), (3.0, 31.0), (4.0, 5.0)]), [(3.0, 10.0), (4.0, 0.0)]);
        assert!(growth(&[(1.0, 10.0)]).is_empty());
    }
}
