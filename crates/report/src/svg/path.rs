//! Lines as SVG path data: whole coordinates, relative steps, thinned to what a screen can show.

use std::fmt::Write;

/// Width and height of the drawing's own coordinates; the page stretches them.
pub(super) const EXTENT: f64 = 1000.0;

/// Path data of several lines.
#[derive(Debug, Default)]
pub(super) struct Path {
    data: String,
}

impl Path {
    /// Adds a line through these points, given as shares (0 to 1) of width and height.
    pub(super) fn line(&mut self, points: impl IntoIterator<Item = (f64, f64)>) {
        let mut last: Option<(i32, i32)> = None;
        for (x, y) in points {
            if !x.is_finite() || !y.is_finite() {
                continue;
            }
            let here = ((x * EXTENT).round() as i32, (y.clamp(-0.05, 1.05) * EXTENT).round() as i32);
            match last {
                None => write!(self.data, "M{} {}l", here.0, here.1),
                Some(before) if before == here => Ok(()),
                Some(before) => write!(self.data, "{} {} ", here.0 - before.0, here.1 - before.1),
            }
            .expect("writing to a string cannot fail");
            last = Some(here);
        }
        // A single point is drawn as a dot by the round cap of a line of no length.
        let data = self.data.trim_end().len();
        self.data.truncate(data);
        if self.data.ends_with('l') {
            self.data.push_str("0 0");
        }
    }

    /// The data, for the attribute `d`.
    pub(super) fn data(&self) -> &str {
        &self.data
    }
}

/// At most about `limit` points: of each stretch the smallest and the largest, in their order, so that no dip is lost.
pub(super) fn thinned(points: &[(f64, f64)], limit: usize) -> Vec<(f64, f64)> {
    if points.len() <= limit.max(2) {
        return points.to_vec();
    }
    let stretch = points.len().div_ceil((limit / 2).max(1));
    points.chunks(stretch).flat_map(extremes).collect()
}

/// At most about `limit` points: of each stretch its mean; for pictures with too many lines to tell extremes apart.
pub(super) fn averaged(points: &[(f64, f64)], limit: usize) -> Vec<(f64, f64)> {
    let stretch = points.len().div_ceil(limit.max(1)).max(1);
    let mean = |stretch: &[(f64, f64)]| {
        let n = stretch.len() as f64;
        (stretch.iter().map(|p| p.0).sum::<f64>() / n, stretch.iter().map(|p| p.1).sum::<f64>() / n)
    };
    points.chunks(stretch).map(mean).collect()
}

fn extremes(stretch: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let by_height = |a: &(usize, &(f64, f64)), b: &(usize, &(f64, f64))| a.1.1.total_cmp(&b.1.1);
    let low = stretch.iter().enumerate().min_by(by_height);
    let high = stretch.iter().enumerate().max_by(by_height);
    match (low, high) {
        (Some((a, _)), Some((b, _))) if a == b => vec![stretch[a]],
        (Some((a, _)), Some((b, _))) => vec![stretch[a.min(b)], stretch[a.max(b)]],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_relative_and_repeats_left_out() {
        let mut path = Path::default();
        path.line([(0.0, 0.5), (0.5, 0.25), (0.5, 0.25), (1.0, 1.0)]);
        assert_eq!(path.data(), "M0 500l500 -250 500 750");
        path.line([(0.2, 0.2)]);
        assert_eq!(path.data(), "M0 500l500 -250 500 750M200 200l0 0");
        let mut nothing = Path::default();
        nothing.line([(f64::NAN, 1.0)]);
        assert_eq!(nothing.data(), "");
    }

    #[test]
    fn a_dip_survives_thinning() {
        let points: Vec<(f64, f64)> = (0..1000).map(|n| (f64::from(n), if n == 777 { -9.0 } else { 1.0 })).collect();
        let thin = thinned(&points, 40);
        assert!(thin.len() <= 40, "{}", thin.len());
        assert!(thin.contains(&(777.0, -9.0)));
    }
}
