//! Which comparisons are none: queries that ran beside fewer background writes than they should have.
//!
//! In: the samples of one test. Out: for each treatment the words that hold its verdict back, or nothing. A rate missed
//! on either side spoils the comparison; the numbers stay, the verdict is undecided.

use crate::digits::plain;
use crate::findings::SlaFindings;
use crate::read::measured::Measured;
use crate::words::rounds_in_words;
use rqps_model::insert::Sla;

/// A step that reaches this part of its target rate has held it.
const SLA_SHARE: f64 = 0.95;

/// Whether at least 95 % of the target was reached. If not, the step's queries were measured beside fewer writes than
/// those of other builds, and don't compare.
pub fn is_held(sla: &Sla) -> bool {
    sla.reached_per_s >= SLA_SHARE * sla.target_per_s
}

/// Whether the writes behind the queries kept their rate, in the rounds with a number; `None` where there is no rate.
pub(crate) fn sla(rounds: &[Option<Measured>]) -> Option<SlaFindings> {
    let with_number = rounds.iter().flatten().filter(|measured| measured.has_number());
    let all: Vec<Sla> = with_number.filter_map(|measured| measured.sample.step()?.sla).collect();
    let count = all.len() as f64;
    let mean = |number: fn(&Sla) -> f64| all.iter().map(number).sum::<f64>() / count;
    (!all.is_empty()).then(|| SlaFindings {
        target_per_s: mean(|sla| sla.target_per_s),
        reached_per_s: mean(|sla| sla.reached_per_s),
        least_per_s: all.iter().map(|sla| sla.reached_per_s).fold(f64::INFINITY, f64::min),
        rounds_held: all.iter().filter(|sla| is_held(sla)).count() as u32,
        rounds: all.len() as u32,
    })
}

/// How a treatment missed its rate, if it did in any round.
pub(crate) fn missed(name: &str, rounds: &[Option<Measured>]) -> Option<String> {
    let missed: Vec<(u32, Sla)> = missed_rounds(rounds);
    let least = missed.iter().map(|(_, sla)| sla).min_by(|a, b| a.reached_per_s.total_cmp(&b.reached_per_s))?;
    let (reached, target) = (plain(least.reached_per_s), plain(least.target_per_s));
    let present = rounds.iter().flatten().filter(|measured| measured.has_number()).count();
    let when = if missed.len() == present {
        String::new()
    } else {
        format!(" in {}", rounds_in_words(missed.iter().map(|(round, _)| *round)))
    };
    Some(format!("{name} wrote {reached} of {target} rows/s{when}: its queries ran alongside fewer writes"))
}

/// The rounds with a number in which a rate was missed.
pub(crate) fn missed_rounds(rounds: &[Option<Measured>]) -> Vec<(u32, Sla)> {
    let of = |measured: &Measured| {
        let sla = measured.sample.step()?.sla?;
        (measured.has_number() && !is_held(&sla)).then_some((measured.sample.round, sla))
    };
    rounds.iter().flatten().filter_map(of).collect()
}

/// What holds each treatment's comparison back: its own miss, else the base's.
pub(crate) fn held_back(misses: &[Option<String>], base: usize) -> Vec<Option<String>> {
    let of = |at: usize| {
        let sides: Vec<&str> = [at, base].into_iter().filter_map(|side| misses[side].as_deref()).collect();
        (at != base && !sides.is_empty()).then(|| sides.join("; "))
    };
    (0..misses.len()).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::timeline::tests::{Kind, ran, record};

    fn round(number: u32, reached_per_s: f64) -> Option<Measured> {
        let mut measured = ran(Kind::Queries, 60);
        measured.sample.round = number;
        record(&mut measured.sample).sla = Some(Sla { target_per_s: 1000.0, reached_per_s });
        Some(measured)
    }

    #[test]
    fn a_rate_is_held_from_95_percent_on() {
        let is_held = |reached_per_s| is_held(&Sla { target_per_s: 1000.0, reached_per_s });
        assert!(is_held(950.0) && !is_held(949.9));
    }

    #[test]
    fn a_miss_is_told_with_its_size_and_rounds() {
        let words = |rounds: &[Option<Measured>]| missed("pg186", rounds);
        assert_eq!(words(&[round(1, 950.0), None, round(3, 1000.0)]), None);
        let all = "pg186 wrote 412 of 1000 rows/s: its queries ran alongside fewer writes";
        assert_eq!(words(&[round(1, 412.0), round(2, 500.0)]).as_deref(), Some(all));
        let one = "pg186 wrote 949 of 1000 rows/s in round 2: its queries ran alongside fewer writes";
        assert_eq!(words(&[round(1, 1000.0), round(2, 948.9)]).as_deref(), Some(one));
        let mut failed = round(1, 10.0);
        failed.as_mut().unwrap().sample.failure = Some("server died".to_owned());
        assert_eq!(words(&[failed]), None, "what failed is told as failed");
    }

    #[test]
    fn a_miss_of_either_side_holds_a_comparison_back() {
        let told = |text: &str| Some(text.to_owned());
        let check = |misses: &[Option<String>], expected: &[Option<String>]| {
            assert_eq!(held_back(misses, 0), expected);
        };
        check(&[None, told("b"), None], &[None, told("b"), None]);
        check(&[told("a"), None, told("c")], &[None, told("a"), told("c; a")]);
    }
}
