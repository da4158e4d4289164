//! Which script comes next, and who draws from which stream of numbers.
//!
//! In: a seed, weights of scripts. Out: generators, seeded in the order in which pgbench seeds its own, and indices of
//! scripts. With one client the same seed gives what pgbench gives. With several, which client runs which script
//! depends on when each of a thread's clients asks.

use rqps_draw::Random;

/// The streams of a thread. Each has its purpose, so that one does not disturb the other.
#[derive(Debug, Clone)]
pub struct ThreadStreams {
    /// Chooses scripts.
    pub choose: Random,
    /// Draws the time until the next start, where the rate is held.
    pub throttle: Random,
    /// Chooses what is logged.
    pub sample: Random,
}

/// All streams of a run.
#[derive(Debug, Clone)]
pub struct Streams {
    /// What each client's expressions draw from.
    pub clients: Vec<Random>,
    /// The automatic variable of that name, unless it was defined.
    pub default_seed: Option<i64>,
    /// The streams of each thread.
    pub threads: Vec<ThreadStreams>,
}

impl Streams {
    /// Seeds all streams from one: the clients first, then `default_seed` unless it `is_defined`, then the threads.
    pub fn seeded(seed: u64, clients: usize, threads: usize, is_defined: bool) -> Streams {
        let mut base = Random::seeded(seed);
        let clients = (0..clients).map(|_| Random::seeded(base.next_u64())).collect();
        let default_seed = (!is_defined).then(|| base.next_u64().cast_signed());
        let mut stream = || Random::seeded(base.next_u64());
        let thread = |_| ThreadStreams { choose: stream(), throttle: stream(), sample: stream() };
        Streams { clients, default_seed, threads: (0..threads).map(thread).collect() }
    }
}

/// What can be wrong with scripts and their weights.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChoiceError {
    /// Something else than a number behind the last `@`.
    #[error(
        "invalid weight specification: @{given}; write NAME@WEIGHT, with a weight of 1 if the name has an @ itself"
    )]
    Weight {
        /// What stands there.
        given: String,
    },
    /// A weight that is negative or larger than pgbench's largest.
    #[error("weight {given} is out of range; it is from 0 to {}", i32::MAX)]
    Range {
        /// The weight.
        given: String,
    },
    /// No script that could run.
    #[error("total script weight must not be zero; a script with the weight 0 never runs")]
    NoneRuns,
}

/// A script's name and its weight: what stands behind the last `@`, or 1.
pub fn weighted(text: &str) -> Result<(&str, u32), ChoiceError> {
    let Some((name, weight)) = text.rsplit_once('@') else { return Ok((text, 1)) };
    let digits = weight.strip_prefix(['+', '-']).unwrap_or(weight);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(ChoiceError::Weight { given: weight.to_owned() });
    }
    let in_range = weight.parse::<i32>().ok().and_then(|weight| u32::try_from(weight).ok());
    Ok((name, in_range.ok_or_else(|| ChoiceError::Range { given: weight.to_owned() })?))
}

/// Chooses scripts by their weights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    weights: Vec<u32>,
    total: i64,
}

impl Choice {
    /// A choice among as many scripts as there are weights.
    pub fn new(weights: &[u32]) -> Result<Choice, ChoiceError> {
        let total = weights.iter().map(|weight| i64::from(*weight)).sum();
        if total == 0 { Err(ChoiceError::NoneRuns) } else { Ok(Choice { weights: weights.to_vec(), total }) }
    }

    /// The index of the next script. Where there is only one, nothing is drawn.
    pub fn draw(&self, choose: &mut Random) -> usize {
        if self.weights.len() == 1 {
            return 0;
        }
        let mut rest = choose.uniform(0, self.total - 1);
        let is_reached = |weight: &u32| {
            rest -= i64::from(*weight);
            rest < 0
        };
        self.weights.iter().position(is_reached).expect("less than the total was drawn")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_seeded_in_the_order_of_pgbench() {
        // Seen on pgbench: seed 42, two clients.
        let mut streams = Streams::seeded(42, 2, 1, false);
        assert_eq!(streams.default_seed, Some(4_482_733_528_210_176_216));
        let first: Vec<i64> = streams.clients.iter_mut().map(|client| client.uniform(1, 100_000)).collect();
        assert_eq!(first, [83_532, 81_172]);
        let mut defined = Streams::seeded(42, 2, 1, true);
        assert_eq!(defined.default_seed, None);
        // What is not drawn for the seed is the thread's.
        let mut choose = Random::seeded(4_482_733_528_210_176_216);
        assert_eq!(defined.threads[0].choose.next_u64(), choose.next_u64());
    }

    #[test]
    fn a_weight_stands_behind_the_last_at() {
        assert_eq!(weighted("tpcb"), Ok(("tpcb", 1)));
        assert_eq!(weighted("a@b@30"), Ok(("a@b", 30)));
        assert_eq!(weighted("a@0"), Ok(("a", 0)));
        assert_eq!(weighted("a@2147483647"), Ok(("a", 2_147_483_647)));
        for wrong in ["a@", "a@b", "a@1.5", "a@1 "] {
            assert!(matches!(weighted(wrong), Err(ChoiceError::Weight { .. })), "{wrong}");
        }
        for wrong in ["a@-1", "a@2147483648", "a@99999999999999999999"] {
            assert!(matches!(weighted(wrong), Err(ChoiceError::Range { .. })), "{wrong}");
        }
    }

    #[test]
    fn scripts_are_drawn_by_weight_and_never_with_none() {
        assert_eq!(Choice::new(&[0, 0]), Err(ChoiceError::NoneRuns));
        assert_eq!(Choice::new(&[]), Err(ChoiceError::NoneRuns));
        let choice = Choice::new(&[1, 0, 3]).expect("some run");
        let mut random = Random::seeded(1);
        let mut counts = [0; 3];
        for _ in 0..4000 {
            counts[choice.draw(&mut random)] += 1;
        }
        assert_eq!(counts[1], 0);
        assert!((900..1100).contains(&counts[0]), "{counts:?}");
        let mut untouched = random.clone();
        assert_eq!(Choice::new(&[7]).expect("one").draw(&mut random), 0);
        assert_eq!(random.next_u64(), untouched.next_u64());
    }
}
