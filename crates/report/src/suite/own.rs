//! What is told of the user's own workload beyond verdicts: what each change costs a day.
//!
//! In: findings with how often a day the user's own server does each test. Out: lines, the dearest change first.

use crate::order::{self, Level};
use crate::{number, text};
use rqps_analysis::findings::{Findings, TestFindings};
use rqps_model::Verdict;
use rqps_model::own::{Own, OwnTest, Work};

/// With which data tests that write begin.
pub(super) const fn renewal(own: &Own) -> &'static str {
    match own.data.renew_per_round {
        false => "tests that write have fresh data each",
        true => "tests that write have fresh data once a round, and go on with what those before them wrote",
    }
}

/// What changes of a level cost a day, by `calls`; nothing where no test says how often it is done, and nothing at a
/// rate, where throughput does not say how long a statement takes.
pub(super) fn lines(findings: &Findings, own: &Own, level: &Level<'_>) -> Vec<String> {
    if findings.is_open_loop() {
        return Vec::new();
    }
    let names = order::short_names(findings);
    let several = order::others(findings).len() > 1;
    let (mut costs, mut unclear): (Vec<(f64, String)>, usize) = (Vec::new(), 0);
    for (_, test) in level.blocks.iter().flat_map(|block| &block.tests) {
        let Some((calls, base)) = own.test(&test.name).and_then(|of| day(own, of, test, findings.base)) else {
            continue;
        };
        for index in order::others(findings) {
            let Some(comparison) = &test.cells[index].comparison else { continue };
            let more = |rqps: f64| base * (1.0 / rqps - 1.0);
            let (Some(low), Some(high)) = (comparison.low, comparison.high) else { continue };
            if low <= 1.0 && high >= 1.0 {
                unclear += 1;
                continue;
            }
            let build = if several { format!("{}: ", text::plain(&names[index])) } else { String::new() };
            // The interval alone is not corrected for the number of tests.
            let doubt = if comparison.verdict == Verdict::Undecided { ", undecided" } else { "" };
            let told = format!(
                "  {build}{} {} ({} to {}), {} calls took {}{doubt}",
                test.name,
                seconds(more(comparison.rqps)),
                seconds(more(high)),
                seconds(more(low)),
                number_of_calls(calls),
                seconds(base).trim_start_matches('+'),
            );
            costs.push((more(comparison.rqps), told));
        }
    }
    if costs.is_empty() && unclear == 0 {
        return Vec::new();
    }
    costs.sort_by(|one, other| other.0.abs().total_cmp(&one.0.abs()));
    let head = match costs.len() {
        0 => "A day, by the calls of the workload file: no change shown".to_owned(),
        _ => "A day, by the calls of the workload file, the largest change first:".to_owned(),
    };
    let rest = (unclear > 0 && !costs.is_empty()).then(|| format!("  no change shown in {unclear} more"));
    std::iter::once(head).chain(costs.into_iter().map(|(_, told)| told)).chain(rest).collect()
}

/// How often a day a test is done, and the seconds that this takes on the base.
fn day(own: &Own, of: &OwnTest, test: &TestFindings, base: usize) -> Option<(f64, f64)> {
    let calls = of.calls?;
    let throughput = test.cells[base].throughput?;
    Some((calls, calls * statements(own, of)? * f64::from(test.clients) / throughput))
}

/// Statements of an event, BEGIN and COMMIT included; of a mix on average. Of scripts only a run would tell.
fn statements(own: &Own, test: &OwnTest) -> Option<f64> {
    match &test.work {
        Work::Steps(steps) => Some((steps.steps.len() + if steps.transaction { 2 } else { 0 }) as f64),
        Work::Mix(weights) => {
            let (mut all, mut sum) = (0.0, 0.0);
            for (name, weight) in weights {
                let part = own.test(name).filter(|part| matches!(part.work, Work::Steps(_)))?;
                all += f64::from(*weight);
                sum += f64::from(*weight) * statements(own, part)?;
            }
            (all > 0.0).then(|| sum / all)
        }
        Work::Pgbench(_) => None,
    }
}

fn number_of_calls(calls: f64) -> String {
    if calls < 1000.0 { calls.to_string() } else { number::grouped(calls) }
}

/// Seconds with their sign, in the unit that fits.
fn seconds(seconds: f64) -> String {
    let (value, unit) = match seconds.abs() {
        3600.0.. => (seconds / 3600.0, "h"),
        60.0.. => (seconds / 60.0, "min"),
        1.0.. => (seconds, "s"),
        _ => (seconds * 1e3, "ms"),
    };
    format!("{value:+.1} {unit}").replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::{number_of_calls, seconds, statements};
    use rqps_model::own::{AnswersCheck, Own, OwnData, OwnStep, OwnTest, Protocol, Steps, Work};

    #[test]
    fn an_event_of_a_mix_has_the_statements_of_its_parts_by_their_weights() {
        let test = |name: &str, work: Work| OwnTest::new(name, work, Protocol::Prepared);
        let steps = |count: usize, transaction: bool| {
            let step = OwnStep { name: "s".to_owned(), sql: Default::default(), keep: Vec::new(), rows: None };
            Work::Steps(Steps { steps: vec![step; count], transaction })
        };
        let mix = [("one", 3), ("pay", 1), ("never", 0)].map(|(name, weight)| (name.to_owned(), weight));
        let tests = vec![
            test("one", steps(1, false)),
            test("pay", steps(3, true)),
            test("never", steps(9, false)),
            test("mix", Work::Mix(mix.into())),
        ];
        let own = Own {
            name: "w".to_owned(),
            data: OwnData::default(),
            values: Default::default(),
            tests,
            answers: AnswersCheck::OFF,
        };
        let told: Vec<Option<f64>> = own.tests.iter().map(|test| statements(&own, test)).collect();
        assert_eq!(told, [Some(1.0), Some(5.0), Some(9.0), Some(2.0)]);
    }

    #[test]
    fn calls_are_whole_where_they_were_given_so() {
        for (calls, told) in [(20.0, "20"), (0.5, "0.5"), (1_250_000.0, "1\u{202f}250\u{202f}000")] {
            assert_eq!(number_of_calls(calls), told);
        }
    }

    #[test]
    fn times_have_a_sign_and_a_unit_that_fits() {
        for (value, told) in [(7200.0, "+2.0 h"), (-90.0, "−1.5 min"), (2.54, "+2.5 s"), (-0.0123, "−12.3 ms")] {
            assert_eq!(seconds(value), told);
        }
    }
}
