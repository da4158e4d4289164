//! Did a whole group of tests change?
//!
//! In: the log ratios of several tests, measured in the same rounds. Out: one estimate for
//! the group. Tests of one round share a server's life, so they are averaged within the
//! round first, and the rounds are the replicates. Pooling all values as if independent
//! is not offered: it calls an unchanged group changed four times in ten.

use crate::error::{Error, check_values};
use crate::paired::Paired;

/// The group's mean log ratio in each round. `tests` holds one slice per test, and position
/// in a slice is the round.
pub fn group_log_ratios(tests: &[&[f64]]) -> Result<Vec<f64>, Error> {
    let expected = tests.first().ok_or(Error::Empty)?.len();
    for (test, log_ratios) in tests.iter().enumerate() {
        check_values(log_ratios)?;
        if log_ratios.len() != expected {
            return Err(Error::UnequalRounds { test, rounds: log_ratios.len(), expected });
        }
    }
    let average = |round: usize| tests.iter().map(|test| test[round]).sum::<f64>() / tests.len() as f64;
    Ok((0..expected).map(average).collect())
}

/// The group as if it were one cell. A floor of a single test does not apply to it.
pub fn group(tests: &[&[f64]]) -> Result<Paired, Error> {
    Paired::new(&group_log_ratios(tests)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averages_within_rounds() {
        let got = group_log_ratios(&[&[0.1, 0.2], &[0.3, -0.2]]).unwrap();
        assert!((got[0] - 0.2).abs() < 1e-15 && got[1].abs() < 1e-15);
    }

    #[test]
    fn a_group_of_one_is_its_test() {
        let rounds = [-0.01, -0.02, -0.015];
        assert_eq!(group(&[&rounds]), Paired::new(&rounds));
    }

    #[test]
    fn noise_that_all_tests_share_does_not_average_out() {
        let rounds = [-0.01, 0.02, -0.015, 0.005];
        let one = group(&[&rounds]).unwrap().plain().unwrap();
        let ten = group(&[&rounds[..]; 10]).unwrap().plain().unwrap();
        assert!((one.standard_error - ten.standard_error).abs() < 1e-15);
    }

    #[test]
    fn rounds_must_be_the_same() {
        assert_eq!(group(&[]), Err(Error::Empty));
        let error = Error::UnequalRounds { test: 1, rounds: 1, expected: 2 };
        assert_eq!(group(&[&[0.1, 0.2], &[0.1]]), Err(error));
    }
}
