//! Many cells at once: false discovery rate.
//!
//! In: the p-values of a campaign's cells. Out: as many q-values, in the same order. Cells
//! without a p-value are left out by the caller. It judges nothing: `Judgement::corrected`
//! does.

use crate::error::Error;

/// Benjamini-Hochberg (1995) q-values: the smallest false discovery rate at which each cell
/// would still be called changed. Never below the p-value, and in the same order.
pub fn q_values(p_values: &[f64]) -> Result<Vec<f64>, Error> {
    if let Some(index) = p_values.iter().position(|p| !(0.0..=1.0).contains(p)) {
        return Err(Error::PValue { index, value: p_values[index] });
    }
    let cells = p_values.len() as f64;
    let mut by_p: Vec<usize> = (0..p_values.len()).collect();
    by_p.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut q_values = vec![1.0; p_values.len()];
    // From the largest p down, so that a q-value is the least over all ranks above its own.
    let mut least = 1.0f64;
    for (position, &cell) in by_p.iter().enumerate().rev() {
        let rank = (position + 1) as f64;
        // p <= p cells / rank holds exactly, but not after rounding.
        least = least.min((p_values[cell] * cells / rank).max(p_values[cell]));
        q_values[cell] = least;
    }
    Ok(q_values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The worked example of Benjamini and Hochberg (1995), section 3.2: of 15 hypotheses
    /// about thrombolysis, Bonferroni rejects three and their procedure the first four.
    #[test]
    fn reproduces_the_authors_example() {
        let p_values = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528,
            0.7590, 1.0,
        ];
        let q_values = q_values(&p_values).unwrap();
        assert_eq!(q_values.iter().filter(|&&q| q <= 0.05).count(), 4);
        assert!((q_values[3] - 0.0095 * 15.0 / 4.0).abs() < 1e-15);
        // Rank 6 takes over the value of rank 7, which is less than its own.
        assert!((q_values[5] - 0.0298 * 15.0 / 7.0).abs() < 1e-15);
        assert_eq!(q_values[5], q_values[6]);
    }

    #[test]
    fn refuses_what_is_no_probability() {
        assert_eq!(q_values(&[]), Ok(vec![]));
        assert_eq!(q_values(&[0.3]), Ok(vec![0.3]));
        assert_eq!(q_values(&[0.5, 1.5]), Err(Error::PValue { index: 1, value: 1.5 }));
        assert!(q_values(&[f64::NAN]).is_err());
    }

    /// Slow reference: the definition, cell by cell.
    fn by_definition(p_values: &[f64]) -> Vec<f64> {
        let at_most = |limit: f64| p_values.iter().filter(|&&p| p <= limit).count() as f64;
        let bound = |p: f64| p * p_values.len() as f64 / at_most(p);
        let q_value = |&p: &f64| p_values.iter().filter(|&&x| x >= p).map(|&x| bound(x)).fold(1.0, f64::min);
        p_values.iter().map(q_value).collect()
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition(
            p_values in prop::collection::vec(prop_oneof![0.0..1.0f64, Just(0.01), Just(0.0), Just(1.0)], 1..40),
        ) {
            let fast = q_values(&p_values).unwrap();
            for (fast, slow) in fast.iter().zip(by_definition(&p_values)) {
                prop_assert!((fast - slow).abs() < 1e-12);
            }
            for (i, &p) in p_values.iter().enumerate() {
                prop_assert!(fast[i] >= p && fast[i] <= 1.0);
                for (j, &other) in p_values.iter().enumerate() {
                    prop_assert!(p > other || fast[i] <= fast[j]);
                }
            }
        }
    }
}
