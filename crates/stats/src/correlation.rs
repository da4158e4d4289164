//! How closely two series move together.
//!
//! In: pairs of values. Out: Pearson's correlation coefficient. It says nothing of why they do.

/// The correlation of pairs of finite values, from -1 to 1; `None` where there are fewer than three, or where one side
/// does not vary.
pub fn correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    if pairs.len() < 3 {
        return None;
    }
    let count = pairs.len() as f64;
    let mean = |side: fn(&(f64, f64)) -> f64| pairs.iter().map(side).sum::<f64>() / count;
    let (mean_a, mean_b) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let (mut both, mut of_a, mut of_b) = (0.0, 0.0, 0.0);
    for (a, b) in pairs {
        let (a, b) = (a - mean_a, b - mean_b);
        both += a * b;
        of_a += a * a;
        of_b += b * b;
    }
    let found = both / (of_a * of_b).sqrt();
    found.is_finite().then(|| found.clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_scipy() {
        // scipy.stats.pearsonr([1, 2, 3, 4, 5], [2, 1, 4, 3, 7]).statistic
        let found = correlation(&[(1.0, 2.0), (2.0, 1.0), (3.0, 4.0), (4.0, 3.0), (5.0, 7.0)]).expect("five pairs");
        assert!((found - 0.824_163_383_692_134_1).abs() < 1e-12, "{found}");
        let against = correlation(&[(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)]).expect("three pairs");
        assert!((against + 1.0).abs() < 1e-12, "{against}");
        assert_eq!(correlation(&[(1.0, 2.0), (1.0, 3.0), (1.0, 4.0)]), None, "one side does not vary");
        assert_eq!(correlation(&[(1.0, 2.0), (2.0, 3.0)]), None, "a line goes through any two");
    }
}
