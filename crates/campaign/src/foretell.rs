//! What the rounds of a plan would see, by noise that was measured before.
//!
//! In: a plan, and the noise of its tests as far as it is known. Out: the smallest change that each of them would find.
//! It foretells and decides nothing.

use crate::budget::lent;
use rqps_model::Plan;
use rqps_stats::mde80;

/// The noise of a test, as rounds in which nothing changed have shown it; of log ratios.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noise {
    /// Sd of the rounds.
    pub sd: f64,
    /// Standard error that a round's slices explain; 0 where there are none.
    pub slice_se: f64,
    /// Seconds that a round counted.
    pub seconds: f64,
}

impl Noise {
    /// Sd of rounds that count so many seconds. What slices explain shrinks with their number; what one start of the
    /// servers differs from the next does not.
    pub fn of_rounds(&self, seconds: f64) -> f64 {
        let of_slices = self.slice_se.min(self.sd).powi(2);
        (self.sd.powi(2) - of_slices + of_slices * self.seconds / seconds).sqrt()
    }
}

/// What a test at a number of clients would see.
#[derive(Debug, Clone, PartialEq)]
pub struct Foretold {
    /// The test.
    pub test: String,
    /// Clients.
    pub clients: u32,
    /// Sd of a round's log ratio.
    pub sd: f64,
    /// The smallest change found in 4 of 5 cases, as a fraction.
    pub mde: f64,
}

/// What the tests of a plan would see whose noise is known; nothing of a plan with a single round.
pub fn foretell(plan: &Plan, noise: &dyn Fn(&str, u32) -> Option<Noise>) -> Vec<Foretold> {
    let rounds = f64::from(plan.rounds);
    let tests = plan.tests();
    let cells = tests.iter().flat_map(|test| plan.clients().into_iter().map(move |clients| (*test, clients)));
    let foretold = cells.filter_map(|(test, clients)| {
        let sd = noise(&test.name, clients)?.of_rounds(test.seconds);
        let mde = mde80(sd / rounds.sqrt(), rounds - 1.0 + lent(plan)).fraction();
        Some(Foretold { test: test.name.clone(), clients, sd, mde })
    });
    if plan.rounds < 2 { Vec::new() } else { foretold.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::plan;

    #[test]
    fn longer_rounds_have_less_noise_of_slices_and_as_much_of_starts() {
        let noise = Noise { sd: 0.005, slice_se: 0.003, seconds: 1.0 };
        assert!((noise.of_rounds(1.0) - 0.005).abs() < 1e-12);
        assert!((noise.of_rounds(1e9) - 0.004).abs() < 1e-6);
        assert!((noise.of_rounds(0.25) - (0.004f64.powi(2) + 4.0 * 0.003f64.powi(2)).sqrt()).abs() < 1e-12);
        // Slices that are noisier than rounds explain all of it.
        assert!((Noise { slice_se: 0.01, ..noise }.of_rounds(4.0) - 0.0025).abs() < 1e-12);
    }

    #[test]
    fn more_rounds_see_smaller_changes_of_the_tests_that_are_known() {
        let words = [("build", "postgres:16.15"), ("build", "postgres:17.11"), ("tests", "point-query,scan")];
        let of = |rounds: &str| {
            let length = [("rounds", rounds), ("read-seconds", "1"), ("clients", "1,8")];
            let plan = plan(&[&words[..], &length].concat(), false);
            let noise = Noise { sd: 0.01, slice_se: 0.0, seconds: 1.0 };
            foretell(&plan, &|test, clients| (test == "scan" && clients == 8).then_some(noise))
        };
        assert!(of("1").is_empty());
        let [three, twelve] = ["3", "12"].map(|rounds| of(rounds).remove(0));
        assert_eq!((three.test.as_str(), three.clients, of("3").len()), ("scan", 8, 1));
        assert!(twelve.mde < three.mde / 2.0 && three.mde > 0.02, "{three:?} {twelve:?}");
    }
}
