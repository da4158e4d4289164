//! Rates that fall into two speeds, such as those of a session that runs on one CPU for a while and then across two.
//!
//! In: rates of slices or seconds. Out: the two speeds, where there are two. The rule: of all ways to cut the sorted
//! logarithms in two, the one that explains most of their variance (Otsu 1979) must explain at least 80 % of it (90 %
//! of fewer than 30 rates), the fast speed must be at least 1.5 times the slow one, and each side must have a twentieth
//! of the rates. The best cut of one speed's noise explains less: 64 % of a normal distribution, 75 % of a uniform
//! one.

/// Fewer rates than this fall into two by chance.
const FEWEST: usize = 15;

/// The part of the variance that the cut must explain.
const EXPLAINED: f64 = 0.8;

/// Of fewer rates than this the cut must explain more.
const FEW: usize = 30;
const EXPLAINED_OF_FEW: f64 = 0.9;

/// How much faster the one speed must be than the other.
const FASTER: f64 = 1.5;

/// The part of the rates that each side must have: fewer are outliers.
const SHARE: f64 = 0.05;

/// Two speeds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoSpeeds {
    /// The part of the rates that is slow.
    pub slow_share: f64,
    /// The slow speed, as a part of the fast one; geometric means.
    pub slow_to_fast: f64,
}

/// The two speeds that rates fall into; `None` where they are one speed with its noise, or too few. Rates that are not
/// above 0 are left out.
pub fn two_speeds(rates: &[f64]) -> Option<TwoSpeeds> {
    let mut logs: Vec<f64> =
        rates.iter().filter(|rate| **rate > 0.0 && rate.is_finite()).map(|rate| rate.ln()).collect();
    logs.sort_unstable_by(f64::total_cmp);
    let count = logs.len();
    if count < FEWEST {
        return None;
    }
    let mean = logs.iter().sum::<f64>() / count as f64;
    let total: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
    let (mut below, mut best) = (0.0, (0.0, 0, 0.0));
    for slow in 1..count {
        below += logs[slow - 1];
        let fast = count - slow;
        // Of the log rates: the fast side's mean less the slow side's.
        let step = (mean * count as f64 - below) / fast as f64 - below / slow as f64;
        let between = step * step * (slow * fast) as f64 / count as f64;
        if between > best.0 {
            best = (between, slow, step);
        }
    }
    let (between, slow, step) = best;
    let slow_share = slow as f64 / count as f64;
    let explained = if count < FEW { EXPLAINED_OF_FEW } else { EXPLAINED };
    let are_two = between >= explained * total && step >= FASTER.ln() && (SHARE..=1.0 - SHARE).contains(&slow_share);
    are_two.then(|| TwoSpeeds { slow_share, slow_to_fast: (-step).exp() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_that_is_known_is_found() {
        let mut rates = [100.0; 90].to_vec();
        rates.extend([25.0; 10]);
        let found = two_speeds(&rates).expect("two speeds");
        assert!((found.slow_share - 0.1).abs() < 1e-12 && (found.slow_to_fast - 0.25).abs() < 1e-12, "{found:?}");
        assert_eq!(two_speeds(&[100.0; 50]), None);
        assert_eq!(two_speeds(&rates[86..95]), None, "too few");
        assert_eq!(two_speeds(&rates[..94]), None, "four of 94 are outliers");
    }

    #[test]
    fn a_session_that_lost_its_cpu_is_seen() {
        // Queries a second of one client, PostgreSQL 17.11, whose session was moved in the ninth second (qp100).
        let moved = [
            15095., 15829., 14985., 14734., 14668., 12169., 14587., 15158., 7951., 5716., 5771., 6088., 5670., 5641.,
            5842.,
        ];
        let found = two_speeds(&moved).expect("two speeds");
        assert!((0.4..0.5).contains(&found.slow_share) && (0.4..0.45).contains(&found.slow_to_fast), "{found:?}");
        // The same in qr100, on one CPU all the time.
        let stayed = [
            26359., 22807., 29490., 23586., 24073., 24089., 31183., 33507., 22894., 28435., 20141., 22918., 35588.,
            36121., 35941.,
        ];
        assert_eq!(two_speeds(&stayed), None);
    }
}
