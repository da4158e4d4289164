//! A flame graph of two builds, from the outermost functions on downwards.
//!
//! Width is the larger time of the two builds, stack by stack, so that nothing that vanished and nothing that is new is
//! hidden. Only frames whose difference is more than chance have a colour, and a triangle before their name for
//! whoever sees no colours. What the script needs to zoom and to show one build alone stands in `data-` attributes.

use super::drawn;
use crate::functions::{change, from_to};
use minijinja::HtmlEscape;
use rqps_analysis::findings::FrameFindings;
use std::fmt::Write;

/// Pixels from one frame to the one below it.
const STEP: usize = 18;

/// A frame with its place, in microseconds from the left.
struct Placed<'a> {
    frame: &'a FrameFindings,
    left: f64,
    width: f64,
}

/// The drawing; `None` without frames.
pub(crate) fn graph(frames: &[FrameFindings]) -> Option<minijinja::Value> {
    let placed = placed(frames);
    let whole: f64 = placed.iter().filter(|placed| placed.frame.depth == 0).map(|placed| placed.width).sum();
    let deepest = frames.iter().map(|frame| frame.depth).max()?;
    if whole <= 0.0 {
        return None;
    }
    let height = (deepest as usize + 1) * STEP;
    let mut svg = format!("<svg class=\"fg\" width=\"100%\" height=\"{height}\" role=\"group\">");
    for Placed { frame, left, width } in placed {
        let (class, mark) = match frame.amount {
            amount if !amount.is_sure => ("fr", ""),
            amount if amount.difference_us > 0.0 => ("fr more", "▲ "),
            _ => ("fr less", "▼ "),
        };
        let name = HtmlEscape(&frame.name);
        let _ = write!(
            svg,
            "<svg class=\"{class}\" x=\"{}%\" y=\"{}\" width=\"{}%\" height=\"{STEP}\" tabindex=\"-1\" data-d=\"{}\" \
             data-w=\"{}\" data-b=\"{}\" data-o=\"{}\"><title>{name}: {}, {}</title><rect width=\"100%\" \
             height=\"17\"/><text x=\"3\" y=\"12.5\">{mark}{name}</text></svg>",
            share(left, whole),
            frame.depth as usize * STEP,
            share(width, whole),
            frame.depth,
            nanoseconds(width),
            nanoseconds(frame.amount.base_us),
            nanoseconds(frame.amount.us),
            from_to(&frame.amount),
            change(&frame.amount),
        );
    }
    svg.push_str("</svg>");
    Some(drawn(svg))
}

/// Hundredths of a percent.
fn share(part: f64, whole: f64) -> f64 {
    (part / whole * 1e4).round() / 100.0
}

fn nanoseconds(us: f64) -> u64 {
    (us * 1e3).round().max(0.0) as u64
}

/// Frames beside each other below their caller.
fn placed(frames: &[FrameFindings]) -> Vec<Placed<'_>> {
    let callers = callers(frames);
    let itself = |frame: &FrameFindings| frame.base_self_us.max(frame.self_us);
    let mut widths: Vec<f64> = frames.iter().map(itself).collect();
    // What a frame calls stands behind it.
    for at in (0..frames.len()).rev() {
        let amount = &frames[at].amount;
        // Callees that are too narrow to be drawn are in their caller's time.
        widths[at] = widths[at].max(amount.base_us).max(amount.us);
        if let Some(caller) = callers[at] {
            widths[caller] += widths[at];
        }
    }
    let mut next = vec![0.0; frames.len()];
    let mut outermost = 0.0;
    let mut placed: Vec<Placed<'_>> = Vec::new();
    for (at, frame) in frames.iter().enumerate() {
        let before = match callers[at] {
            Some(caller) => &mut next[caller],
            None => &mut outermost,
        };
        let left = callers[at].map_or(0.0, |caller| placed[caller].left) + *before;
        *before += widths[at];
        placed.push(Placed { frame, left, width: widths[at] });
    }
    placed
}

/// By frame the one that called it.
fn callers(frames: &[FrameFindings]) -> Vec<Option<usize>> {
    let mut above: Vec<usize> = Vec::new();
    let mut callers = Vec::new();
    for (at, frame) in frames.iter().enumerate() {
        above.truncate(frame.depth as usize);
        callers.push(above.last().copied());
        above.push(at);
    }
    callers
}

#[cfg(test)]
mod tests {
    use super::*;
    use rqps_analysis::findings::Amount;

    fn frame(name: &str, depth: u32, base_us: f64, us: f64, own: (f64, f64)) -> FrameFindings {
        let difference_us = us - base_us;
        let amount = Amount { base_us, us, difference_us, is_sure: difference_us != 0.0, ..Amount::default() };
        FrameFindings { name: name.to_owned(), depth, amount, base_self_us: own.0, self_us: own.1 }
    }

    #[test]
    fn nothing_that_vanished_is_hidden() {
        let frames = [
            frame("main", 0, 100.0, 60.0, (0.0, 0.0)),
            frame("gone", 1, 70.0, 0.0, (70.0, 0.0)),
            frame("new", 1, 0.0, 30.0, (0.0, 30.0)),
            frame("same", 1, 30.0, 30.0, (30.0, 30.0)),
        ];
        let places: Vec<(f64, f64)> = placed(&frames).iter().map(|placed| (placed.left, placed.width)).collect();
        assert_eq!(places, [(0.0, 130.0), (0.0, 70.0), (70.0, 30.0), (100.0, 30.0)]);
        let svg = graph(&frames).expect("a drawing").to_string();
        assert!(svg.contains("▼ gone") && svg.contains("▲ new") && svg.contains(">same<"), "{svg}");
        assert!(svg.contains("class=\"fr less\" x=\"0%\" y=\"18\" width=\"53.85%\""), "{svg}");
    }

    #[test]
    fn names_cannot_leave_their_frame() {
        let svg = graph(&[frame("<b>\"&", 0, 1.0, 1.0, (1.0, 1.0))]).expect("a drawing").to_string();
        assert!(!svg.contains("<b>") && svg.contains("&lt;b&gt;"), "{svg}");
        assert!(graph(&[]).is_none());
    }
}
