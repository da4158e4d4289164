//! A step over time: for each kind of number a figure, in it the builds one above the other on one axis of time.
//!
//! In: rounds with their series, the server's own numbers and what it did. Out: figures whose lanes are drawings with
//! their labels. Which numbers there are is data ([`CLIENT`], [`SERVER`]); all are drawn alike: the median round, and
//! the others as thin lines behind it.

use super::scene::Scene;
use crate::number;
use crate::rounds;
use crate::svg::Tick;
use crate::svg::lane::{self, Lane, Run, Scale};
use rqps_analysis::findings::{CellFindings, TestFindings, TimelineFindings, TimelinePoint};
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
    summary: String,
    drawing: minijinja::Value,
    ys: Vec<Tick>,
}

/// A kind of number over time.
struct Measure {
    title: &'static str,
    source: Source,
    axis: Axis,
    show: fn(f64) -> String,
    /// What the lane comes down to.
    reduction: Reduction,
}

enum Source {
    /// The client kept it each second.
    Client(fn(&TimelinePoint) -> f64),
    /// The server reports it under this name.
    Server(&'static str),
    /// A counter of the server: by how much it grew per second.
    Growth(&'static str),
}

enum Axis {
    Linear,
    Bytes,
    Logarithmic,
}

enum Reduction {
    /// The round's count over its seconds.
    Mean(fn(&TimelineFindings) -> u64),
    Largest,
}

/// What the client kept.
const CLIENT: [Measure; 5] = [
    rate("Rows inserted per second", |point| point.inserted, |round| round.inserted),
    rate("Queries per second", |point| point.queries, |round| round.queries),
    longest("Longest insert", |point| point.longest_insert_ms),
    longest("Longest delete", |point| point.longest_delete_ms),
    longest("Longest query", |point| point.longest_query_ms),
];

/// What the servers report, each what its engine has.
const SERVER: [Measure; 10] = [
    level("Planning a delete", Source::Server("planning_us_delete"), Axis::Logarithmic, number::duration_us),
    level(
        "Planning the search for the oldest row",
        Source::Server("planning_us_min"),
        Axis::Logarithmic,
        number::duration_us,
    ),
    level("Dead rows", Source::Server("dead_rows"), Axis::Linear, number::grouped),
    level("History list", Source::Server("history_list_length"), Axis::Linear, number::grouped),
    level("Checkpoint age", Source::Server("checkpoint_age_bytes"), Axis::Bytes, number::bytes),
    level("WAL kept", Source::Server("wal_bytes_kept"), Axis::Bytes, number::bytes),
    level("Log written per second", Source::Growth("log_bytes"), Axis::Bytes, number::bytes),
    level("Dirty pages", Source::Server("dirty_pages"), Axis::Linear, number::grouped),
    level("Column families that wait", Source::Server("compactions_pending"), Axis::Linear, number::grouped),
    level("Writes held up by the server", Source::Growth("stall_micros"), Axis::Linear, number::duration_us),
];

const fn rate(title: &'static str, value: fn(&TimelinePoint) -> f64, count: fn(&TimelineFindings) -> u64) -> Measure {
    let source = Source::Client(value);
    Measure { title, source, axis: Axis::Linear, show: number::grouped, reduction: Reduction::Mean(count) }
}

const fn longest(title: &'static str, value: fn(&TimelinePoint) -> f64) -> Measure {
    level(title, Source::Client(value), Axis::Logarithmic, milliseconds)
}

const fn level(title: &'static str, source: Source, axis: Axis, show: fn(f64) -> String) -> Measure {
    Measure { title, source, axis, show, reduction: Reduction::Largest }
}

fn milliseconds(ms: f64) -> String {
    number::duration_us(ms * 1e3)
}

impl Source {
    /// `None` where the server has no such number.
    fn line(&self, round: &TimelineFindings) -> Option<Vec<(f64, f64)>> {
        let known = |name: &str| round.server.get(name).filter(|values| !values.is_empty());
        match self {
            Source::Client(value) => Some(round.series.iter().map(|point| (point.second, value(point))).collect()),
            Source::Server(name) => known(name).cloned(),
            Source::Growth(name) => known(name).map(|values| growth(values)),
        }
    }
}

/// By how much a counter grew per second.
fn growth(values: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let steps = values.windows(2).filter(|pair| pair[1].0 > pair[0].0);
    steps.map(|pair| (pair[1].0, (pair[1].1 - pair[0].1).max(0.0) / (pair[1].0 - pair[0].0))).collect()
}

impl Measure {
    fn lane<'a>(&self, cell: &'a CellFindings, colour: &'a str) -> Option<Lane<'a>> {
        let shown = rounds::median_round(cell)?;
        let run = |round: &'a TimelineFindings| Some(Run { round, line: self.source.line(round)? });
        let others = cell.timelines.iter().filter(|round| round.round != shown.round).filter_map(run).collect();
        Some(Lane { shown: run(shown)?, others, colour })
    }

    /// `None` where no line has anything to show.
    fn scale(&self, lanes: &[(usize, Lane<'_>)]) -> Option<Scale> {
        let points = || lanes.iter().flat_map(|(_, lane)| lane.runs()).flat_map(|run| &run.line);
        let values = || points().map(|point| point.1).filter(|value| value.is_finite() && *value > 0.0);
        let ends = lanes.iter().map(|(_, lane)| lane.shown.round.seconds);
        let seconds = points().map(|point| point.0).chain(ends).filter(|s| s.is_finite()).fold(0.0, f64::max);
        let largest = values().fold(0.0, f64::max);
        match self.axis {
            Axis::Linear => Scale::linear(seconds, largest),
            Axis::Bytes => Scale::linear(seconds, largest).map(Scale::of_bytes),
            Axis::Logarithmic => Scale::logarithmic(seconds, values().fold(f64::INFINITY, f64::min), largest),
        }
    }

    fn summary(&self, Run { round, line }: &Run<'_>) -> String {
        match self.reduction {
            _ if round.failure.is_some() => "failed".to_owned(),
            Reduction::Mean(count) => format!("mean {}", (self.show)(count(round) as f64 / round.seconds.max(1e-9))),
            Reduction::Largest => {
                format!("max {}", (self.show)(line.iter().map(|(_, value)| *value).fold(0.0, f64::max)))
            }
        }
    }
}

/// What the client kept; nothing for a step that builds indexes, whose few rows show nothing.
pub(super) fn client(scene: &Scene<'_>, test: &TestFindings) -> Vec<Figure> {
    let rounds = test.cells.iter().flat_map(|cell| &cell.timelines);
    match rounds.into_iter().any(|round| !round.index_builds.is_empty()) {
        true => Vec::new(),
        false => CLIENT.iter().filter_map(|measure| figure(scene, test, measure)).collect(),
    }
}

/// What the server reported meanwhile, of the builds that report it.
pub(super) fn server(scene: &Scene<'_>, test: &TestFindings) -> Vec<Figure> {
    SERVER.iter().filter_map(|measure| figure(scene, test, measure)).collect()
}

fn figure(scene: &Scene<'_>, test: &TestFindings, measure: &Measure) -> Option<Figure> {
    let lane = |index: usize| measure.lane(&test.cells[index], &scene.colours[index]);
    let lanes: Vec<(usize, Lane<'_>)> =
        scene.base_first().into_iter().filter_map(|index| Some((index, lane(index)?))).collect();
    let scale = measure.scale(&lanes)?;
    let view = |(index, lane): &(usize, Lane<'_>)| LaneView {
        name: scene.names[*index].clone(),
        colour: lane.colour.to_owned(),
        round: match lane.others.is_empty() {
            true => String::new(),
            false => format!("round {}", lane.shown.round.round),
        },
        summary: measure.summary(&lane.shown),
        drawing: lane::draw(lane, scale),
        ys: scale.ticks(measure.show),
    };
    Some(Figure { title: measure.title, lanes: lanes.iter().map(view).collect(), times: scale.times() })
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
