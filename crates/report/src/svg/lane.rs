//! One build's line over time in a step: lanes of several builds stand one above the other on one axis of time and one
//! scale.
//!
//! In: the points of the round shown and of the others, what the server did of its own accord, stalls. Out: the drawing
//! of one lane; the scale gives the labels, which the page sets around it.

use super::path::{Path, thinned};
use super::{Tick, drawn, linear_ticks, log_ticks, tenth};
use rqps_analysis::findings::TimelineFindings;
use std::fmt::Write;

/// Points of the line shown; of each stretch the smallest and largest stay.
const POINTS: usize = 220;

/// Points of a thin line.
const POINTS_THIN: usize = 70;

/// More marks of a kind than this would be a grey wall; then every n-th is drawn.
const MARKS: usize = 80;

/// Width at which a short stall of a long step is still seen.
const NARROWEST: f64 = 3.0;

/// What all lanes of a figure share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    /// Length of the longest round.
    seconds: f64,
    low: f64,
    high: f64,
    is_log: bool,
    /// Labels are round multiples of powers of this.
    radix: f64,
}

impl Scale {
    /// From zero to a little above the largest value.
    pub(crate) fn linear(seconds: f64, largest: f64) -> Option<Self> {
        let is_sound = seconds > 0.0 && largest > 0.0 && (seconds * largest).is_finite();
        is_sound.then_some(Scale { seconds, low: 0.0, high: largest * 1.08, is_log: false, radix: 1000.0 })
    }

    /// The same with labels that are round in binary units.
    pub(crate) fn of_bytes(self) -> Self {
        Scale { radix: 1024.0, ..self }
    }

    /// From the smallest positive value to the largest, at least a decade.
    pub(crate) fn logarithmic(seconds: f64, smallest: f64, largest: f64) -> Option<Self> {
        let is_sound =
            seconds > 0.0 && smallest > 0.0 && largest >= smallest && (seconds * largest / smallest).is_finite();
        let high = largest * 1.25;
        is_sound.then_some(Scale { seconds, low: (smallest * 0.8).min(high / 10.0), high, is_log: true, radix: 1000.0 })
    }

    /// Place of a second in the drawing's own coordinates.
    fn across(self, second: f64) -> f64 {
        (second / self.seconds).clamp(0.0, 1.0) * 1000.0
    }

    /// Place of a value as a share from the top.
    fn height(self, value: f64) -> f64 {
        match self.is_log {
            true => 1.0 - (value.max(self.low) / self.low).ln() / (self.high / self.low).ln(),
            false => 1.0 - value / self.high,
        }
    }

    /// Two or three labels from bottom to top.
    pub(crate) fn ticks(self, label: fn(f64) -> String) -> Vec<Tick> {
        let values = match self.is_log {
            true => log_ends(&log_ticks(self.low, self.high)),
            false => {
                let unit = self.radix.powf(self.high.log(self.radix).floor().max(0.0));
                ends(&linear_ticks(0.0, self.high / unit)).into_iter().map(|value| value * unit).collect()
            }
        };
        values.into_iter().map(|v| Tick { at: tenth(self.height(v) * 100.0), label: trimmed(&label(v)) }).collect()
    }

    /// Labels of the axis of time.
    pub(crate) fn times(self) -> Vec<Tick> {
        let ticks = linear_ticks(0.0, self.seconds);
        let label = |(at, second): (usize, &f64)| match at + 1 == ticks.len() {
            true => format!("{} s", short(*second)),
            false => short(*second),
        };
        let place = |second: &f64| tenth(second / self.seconds * 100.0);
        ticks.iter().enumerate().map(|(at, s)| Tick { at: place(s), label: label((at, s)) }).collect()
    }
}

/// `2.00 GiB` → `2 GiB`: labels are round.
fn trimmed(label: &str) -> String {
    let (number, unit) = label.split_once(' ').map_or((label, ""), |(number, unit)| (number, unit));
    let number = if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number };
    format!("{number} {unit}").trim_end().to_owned()
}

/// Powers of ten where there are two.
fn log_ends(ticks: &[f64]) -> Vec<f64> {
    let is_power = |tick: &&f64| (tick.log10() - tick.log10().round()).abs() < 1e-9;
    let powers: Vec<f64> = ticks.iter().filter(is_power).copied().collect();
    ends(if powers.len() > 1 { &powers } else { ticks })
}

fn short(second: f64) -> String {
    ((second * 1000.0).round() / 1000.0).to_string()
}

/// The lowest and the highest: a lane has no room for more.
fn ends(ticks: &[f64]) -> Vec<f64> {
    match ticks {
        [] => Vec::new(),
        [only] => vec![*only],
        [first, .., last] => vec![*first, *last],
    }
}

/// A round with its line.
pub(crate) struct Run<'a> {
    /// Gives stalls and marks.
    pub(crate) round: &'a TimelineFindings,
    /// (second, value).
    pub(crate) line: Vec<(f64, f64)>,
}

/// What a lane shows.
pub(crate) struct Lane<'a> {
    /// The round that stands for all.
    pub(crate) shown: Run<'a>,
    /// The other rounds: thin lines, pale stalls.
    pub(crate) others: Vec<Run<'a>>,
    /// CSS colour of the lines.
    pub(crate) colour: &'a str,
}

impl<'a> Lane<'a> {
    /// All rounds, the one shown last.
    pub(crate) fn runs(&self) -> impl Iterator<Item = &Run<'a>> {
        self.others.iter().chain([&self.shown])
    }
}

/// Draws a lane.
pub(crate) fn draw(lane: &Lane<'_>, scale: Scale) -> minijinja::Value {
    let mut svg = String::from("<svg viewBox=\"0 0 1000 1000\" preserveAspectRatio=\"none\" aria-hidden=\"true\">");
    for run in &lane.others {
        stalls(&mut svg, "stall thin", run.round, scale);
    }
    stalls(&mut svg, "stall", lane.shown.round, scale);
    for tick in scale.ticks(|_| String::new()) {
        let _ = write!(svg, "<path class=\"grid\" d=\"M0 {:.0}h1000\"/>", tick.at * 10.0);
    }
    for (what, class) in [("checkpoint", "ck"), ("vacuum", "va")] {
        path(&mut svg, class, "", &marks(lane.shown.round, what, scale));
    }
    let stroke = format!(" style=\"stroke:{}\"", lane.colour);
    let thin: String = lane.others.iter().map(|run| line(&run.line, POINTS_THIN, scale)).collect();
    path(&mut svg, "s thin", &stroke, &thin);
    let class = if lane.shown.line.len() == 1 { "s lone" } else { "s" };
    path(&mut svg, class, &stroke, &line(&lane.shown.line, POINTS, scale));
    svg.push_str("</svg>");
    drawn(svg)
}

fn stalls(svg: &mut String, class: &str, round: &TimelineFindings, scale: Scale) {
    for stall in &round.stalls {
        let left = scale.across(f64::from(stall.from_second));
        let width = (scale.across(f64::from(stall.from_second + stall.seconds)) - left).max(NARROWEST);
        let _ = write!(svg, "<rect class=\"{class}\" x=\"{left:.0}\" width=\"{width:.0}\" height=\"1000\"/>");
    }
}

fn marks(round: &TimelineFindings, what: &str, scale: Scale) -> String {
    let all: Vec<f64> = round.marks.iter().filter(|mark| mark.what == what).map(|mark| mark.second).collect();
    let stride = all.len().div_ceil(MARKS).max(1);
    all.iter().step_by(stride).map(|second| format!("M{:.0} 0v1000", scale.across(*second))).collect()
}

/// A logarithmic axis has no place for zero.
fn line(points: &[(f64, f64)], limit: usize, scale: Scale) -> String {
    let placed: Vec<(f64, f64)> = points.iter().filter(|(_, value)| !scale.is_log || *value > 0.0).copied().collect();
    let mut path = Path::default();
    path.line(thinned(&placed, limit).into_iter().map(|(second, v)| (second / scale.seconds, scale.height(v))));
    path.data().to_owned()
}

fn path(svg: &mut String, class: &str, style: &str, data: &str) {
    if !data.is_empty() {
        let _ = write!(svg, "<path class=\"{class}\"{style} d=\"{data}\"/>");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rqps_model::insert::Stall;

    #[test]
    fn labels_are_few_and_round() {
        let labels = |ticks: Vec<Tick>| ticks.into_iter().map(|tick| tick.label).collect::<Vec<_>>();
        let linear = Scale::linear(60.0, 92_000.0).expect("sound");
        assert_eq!(labels(linear.ticks(|v| v.to_string())), ["0", "75000"]);
        assert_eq!(labels(linear.times()), ["0", "20", "40", "60 s"]);
        assert_eq!(
            labels(Scale::linear(1.0, 2e9).expect("sound").of_bytes().ticks(crate::number::bytes)),
            ["0 B", "2 GiB"]
        );
        let log = Scale::logarithmic(9.0, 0.3, 3100.0).expect("sound");
        assert_eq!(labels(log.ticks(|v| v.to_string())), ["1", "1000"]);
        assert_eq!(Scale::linear(0.0, 5.0), None);
        assert_eq!(Scale::logarithmic(5.0, f64::INFINITY, 0.0), None);
    }

    #[test]
    fn a_stall_is_shaded_where_it_was() {
        let round = |from_second, seconds| TimelineFindings {
            stalls: vec![Stall { from_second, seconds }],
            ..TimelineFindings::default()
        };
        let (shown, other) = (round(10, 3), round(0, 1));
        let lane = Lane {
            shown: Run { round: &shown, line: vec![(1.0, 5.0), (20.0, 6.0)] },
            others: vec![Run { round: &other, line: Vec::new() }],
            colour: "red",
        };
        let svg = draw(&lane, Scale::linear(20.0, 6.0).expect("sound")).to_string();
        assert!(svg.contains("<rect class=\"stall\" x=\"500\" width=\"150\" height=\"1000\"/>"), "{svg}");
        assert_eq!(svg.matches("<path class=\"s\"").count(), 1);
        assert_eq!(svg.matches("<rect class=\"stall thin\" x=\"0\" width=\"50\"").count(), 1);
        assert!(!svg.contains("s thin\" style"));
    }
}
