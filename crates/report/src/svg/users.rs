//! Throughput over clients, one line a build, with the interval of each ratio as an upright stroke.

use super::path::Path;
use super::{Plot, Tick, drawn, linear_ticks, tenth};
use crate::number;
use rqps_analysis::findings::TestFindings;
use std::fmt::Write;

/// Share of the picture's width that is left free at either side.
const MARGIN: f64 = 0.06;

/// Draws the same test at several numbers of clients; `None` where there is only one, or no number.
pub(crate) fn plot(levels: &[&TestFindings], base: usize, colours: &[String], unit: &str) -> Option<Plot> {
    let clients: Vec<f64> = levels.iter().map(|test| f64::from(test.clients).ln()).collect();
    let (first, last) = (clients.iter().copied().reduce(f64::min)?, clients.iter().copied().reduce(f64::max)?);
    let all = levels.iter().flat_map(|test| &test.cells);
    let largest = all.filter_map(|cell| cell.throughput).fold(0.0, f64::max) * 1.06;
    if largest <= 0.0 || last <= first {
        return None;
    }
    let place = |clients: f64| MARGIN + (1.0 - 2.0 * MARGIN) * (clients - first) / (last - first);
    let height = |value: f64| 1.0 - value / largest;
    let mut svg = String::from("<svg viewBox=\"0 0 1000 1000\" preserveAspectRatio=\"none\" aria-hidden=\"true\">");
    let ticks = linear_ticks(0.0, largest);
    for tick in &ticks {
        let _ = write!(svg, "<path class=\"grid\" d=\"M0 {:.0}h1000\"/>", height(*tick) * 1000.0);
    }
    for (index, colour) in colours.iter().enumerate() {
        let mut path = Path::default();
        let point = |(at, test): (&f64, &&TestFindings)| Some((place(*at), height(test.cells[index].throughput?)));
        path.line(clients.iter().zip(levels).filter_map(point));
        for (at, test) in clients.iter().zip(levels) {
            let ends = test.cells[index].comparison.as_ref().and_then(|found| Some([found.low?, found.high?]));
            if let (Some(ends), Some(of_base)) = (ends, test.cells[base].throughput) {
                path.line(ends.map(|end| (place(*at), height(end * of_base))));
            }
        }
        if !path.data().is_empty() {
            let _ =
                write!(svg, "<path class=\"s\" data-s=\"{index}\" style=\"stroke:{colour}\" d=\"{}\"/>", path.data());
        }
    }
    svg.push_str("</svg>");
    let ys = ticks.iter().map(|tick| Tick { at: tenth(height(*tick) * 100.0), label: number::grouped(*tick) });
    let xs = clients.iter().zip(levels);
    let xs = xs.map(|(at, test)| Tick { at: tenth(place(*at) * 100.0), label: test.clients.to_string() });
    let note = format!("{unit} over virtual users; upright strokes: 95 % interval of the ratio to the base");
    Some(Plot { svg: drawn(svg), ys: ys.collect(), xs: xs.collect(), note })
}
