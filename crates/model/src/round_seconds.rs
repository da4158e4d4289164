//! What the seconds of a round went to, and the sentence that tells it.
//!
//! In: seconds by what they went to. Out: their sum, means of rounds, text. Whoever measures fills them in.

use serde::{Deserialize, Serialize};

/// A part is named in the sentence if it is at least this share of the round.
const NAMED_FROM: f64 = 0.01;

/// Seconds of the clock, each in one place only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RoundSeconds {
    /// Counted, of all samples.
    pub counted: f64,
    /// Lead-ins, ends of slices and switches from one server to the next; all that is not counted while a test runs in
    /// a suite that does not tell it apart.
    pub switches: f64,
    /// New sessions, with their first uncounted events.
    pub connects: f64,
    /// Warm-up of the tests.
    pub warmups: f64,
    /// Plans, counters, sizes and settings, read before and after tests, and samples written.
    pub readings: f64,
    /// Tests that ran for their data only.
    pub repeats: f64,
    /// Work and rests between tests.
    pub work: f64,
    /// Data folders copied and brought to the disk.
    pub copies: f64,
    /// Servers started.
    pub starts: f64,
    /// Caches warmed after a start.
    pub caches: f64,
    /// Servers stopped and copies removed.
    pub ends: f64,
}

impl RoundSeconds {
    /// Each part but what is counted, in words.
    pub fn beside(&self) -> [(&'static str, f64); 10] {
        let RoundSeconds { switches, connects, warmups, readings, repeats, work, copies, starts, caches, ends, .. } =
            *self;
        [
            ("lead-ins and switches", switches),
            ("connecting", connects),
            ("warm-up", warmups),
            ("readings", readings),
            ("tests repeated for their data", repeats),
            ("work between tests", work),
            ("copies", copies),
            ("starts", starts),
            ("warming caches", caches),
            ("stops and removals", ends),
        ]
    }

    /// All of them.
    pub fn all(&self) -> f64 {
        self.counted + self.beside().iter().map(|(_, seconds)| seconds).sum::<f64>()
    }

    /// The mean of rounds; `None` without any.
    pub fn mean(rounds: &[RoundSeconds]) -> Option<RoundSeconds> {
        let mut mean = rounds.iter().copied().reduce(|all, one| all.and(one))?;
        mean.parts_mut().into_iter().for_each(|part| *part /= rounds.len() as f64);
        Some(mean)
    }

    /// With the seconds of another setup of the round.
    pub fn and(mut self, mut other: RoundSeconds) -> RoundSeconds {
        self.parts_mut().into_iter().zip(other.parts_mut()).for_each(|(own, other)| *own += *other);
        self
    }

    fn parts_mut(&mut self) -> [&mut f64; 11] {
        [
            &mut self.counted,
            &mut self.switches,
            &mut self.connects,
            &mut self.warmups,
            &mut self.readings,
            &mut self.repeats,
            &mut self.work,
            &mut self.copies,
            &mut self.starts,
            &mut self.caches,
            &mut self.ends,
        ]
    }
}

/// `of 40 s a round 22 s are counted; connecting 5.1 s, copies 3.0 s, …`, the longest first.
impl std::fmt::Display for RoundSeconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let all = self.all();
        write!(f, "of {} a round {} are counted", said(all), said(self.counted))?;
        let mut parts = self.beside();
        parts.sort_by(|one, other| other.1.total_cmp(&one.1));
        let (named, small) = parts.split_at(parts.partition_point(|(_, seconds)| *seconds >= NAMED_FROM * all));
        let small: f64 = small.iter().map(|(_, seconds)| seconds).sum();
        let rest = (small >= NAMED_FROM * all).then_some(("the rest", small));
        for (at, (name, seconds)) in named.iter().copied().chain(rest).filter(|(_, seconds)| *seconds > 0.0).enumerate()
        {
            write!(f, "{} {name} {}", if at == 0 { ';' } else { ',' }, said(seconds))?;
        }
        Ok(())
    }
}

/// Two digits where a whole second would be coarse.
fn said(seconds: f64) -> String {
    let digits = if seconds < 9.95 { 1 } else { 0 };
    format!("{seconds:.digits$} s")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_part_comes_first_and_the_small_ones_together() {
        let round = RoundSeconds {
            counted: 22.0,
            connects: 5.06,
            copies: 3.0,
            starts: 8.94,
            repeats: 0.3,
            work: 0.35,
            ends: 0.35,
            ..RoundSeconds::default()
        };
        let told = "of 40 s a round 22 s are counted; starts 8.9 s, connecting 5.1 s, copies 3.0 s, the rest 1.0 s";
        assert_eq!(round.to_string(), told);
        assert_eq!(RoundSeconds::default().to_string(), "of 0.0 s a round 0.0 s are counted");
    }

    #[test]
    fn a_round_is_the_sum_of_its_setups_and_rounds_have_a_mean() {
        let of = |counted, starts| RoundSeconds { counted, starts, ..RoundSeconds::default() };
        let first = of(1.0, 2.0).and(of(3.0, 1.0));
        assert_eq!((first, first.all()), (of(4.0, 3.0), 7.0));
        assert_eq!(RoundSeconds::mean(&[first, of(2.0, 0.0)]), Some(of(3.0, 1.5)));
        assert_eq!(RoundSeconds::mean(&[]), None);
    }
}
