//! What can be wrong with numbers handed to this crate.
//!
//! In: nothing. Out: one enum, a variant per cause, each with the value at fault and the
//! remedy. It must not describe trouble with files or databases: those are other crates'.

/// Why a computation was refused.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum Error {
    /// There was nothing to compute with.
    #[error("no values given; at least one is needed")]
    Empty,
    /// A value is infinite or not a number.
    #[error(
        "value {index} is {value}, which is no finite number; leave out rounds in which either side completed nothing"
    )]
    NotFinite {
        /// Position of the value in the slice.
        index: usize,
        /// The value itself.
        value: f64,
    },
    /// An equivalence margin outside of (0, 1).
    #[error("margin {margin} is not between 0 and 1; write 0.02 for 2 %")]
    Margin {
        /// The margin as given.
        margin: f64,
    },
    /// A noise floor that is zero, negative or not finite.
    #[error("noise floor {sd} is not a positive number; without a floor use the plain estimate")]
    FloorSd {
        /// The standard deviation as given.
        sd: f64,
    },
    /// Prior degrees of freedom that are zero, negative or not finite.
    #[error("noise floor with {degrees_of_freedom} degrees of freedom; it needs a positive number, 4 by default")]
    FloorDegreesOfFreedom {
        /// The degrees of freedom as given.
        degrees_of_freedom: f64,
    },
    /// No A/A pair had two rounds, or all of them were exactly equal.
    #[error("no noise floor from {pairs} A/A pairs; at least one pair needs two rounds that differ")]
    FloorWithoutNoise {
        /// How many pairs were given.
        pairs: usize,
    },
    /// A p-value outside of [0, 1].
    #[error("p-value {index} is {value}, which is not between 0 and 1")]
    PValue {
        /// Position of the value in the slice.
        index: usize,
        /// The value itself.
        value: f64,
    },
    /// A trimmed or quantile fraction out of range.
    #[error("fraction {fraction} is not between 0 and {limit}")]
    Fraction {
        /// The fraction as given.
        fraction: f64,
        /// The upper limit of what is allowed.
        limit: f64,
    },
    /// Too short a series to be cut into pieces.
    #[error("{values} values do not make {needed} pieces; take a longer window")]
    TooFewValues {
        /// How many values there are.
        values: usize,
        /// Smallest number of pieces.
        needed: usize,
    },
    /// Tests of a group that were not measured in the same rounds.
    #[error(
        "test {test} of the group has {rounds} rounds, the first has {expected}; keep only rounds in which all tests were measured"
    )]
    UnequalRounds {
        /// Position of the test in the group.
        test: usize,
        /// Rounds of that test.
        rounds: usize,
        /// Rounds of the group's first test.
        expected: usize,
    },
}

/// Refuses an empty slice and values that are not finite.
pub(crate) fn check_values(values: &[f64]) -> Result<(), Error> {
    if values.is_empty() {
        return Err(Error::Empty);
    }
    match values.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(Error::NotFinite { index, value: values[index] }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_first_value_at_fault() {
        assert_eq!(check_values(&[]), Err(Error::Empty));
        assert_eq!(check_values(&[1.0, -2.0]), Ok(()));
        let value = f64::NEG_INFINITY;
        assert_eq!(check_values(&[1.0, value, f64::NAN]), Err(Error::NotFinite { index: 1, value }));
    }
}
