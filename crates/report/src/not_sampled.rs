//! What rounds that explain a campaign could not sample, in words.
//!
//! In: what was refused of treatments in tests. Out: sentences, one for each reason.

use crate::order::{distinct, grouped};
use crate::text;
use rqps_analysis::findings::{CellFindings, NotSampled, TestFindings};
use rqps_model::Sampling;

/// Sentences on these tests of treatments, each reason once. Where it is not that of all tests, it names its own.
pub(crate) fn sentences<'a>(cells: impl Iterator<Item = (&'a TestFindings, &'a CellFindings)>) -> Vec<String> {
    let cells: Vec<_> = cells.collect();
    let all = distinct(cells.iter().map(|(test, _)| test.name.as_str()));
    let refused = cells.iter().flat_map(|(test, cell)| cell.not_sampled.iter().map(|one| (one, test.name.as_str())));
    let by_tests = grouped(refused).into_iter().map(|(NotSampled { what, why }, tests)| {
        let tests = distinct(tests);
        ((why, if tests == all { Vec::new() } else { tests }), what.name())
    });
    grouped(by_tests).into_iter().map(|((why, tests), what)| sentence(&what, &tests, why)).collect()
}

fn sentence(what: &[&str], tests: &[&str], why: &str) -> String {
    let of = if tests.is_empty() { String::new() } else { format!(" of {}", listed(tests)) };
    // Whoever has no right to sample gets no functions either.
    let is_for_cost = what == [Sampling::BlockedSessions.name()];
    let remedy = if is_for_cost { "" } else { ". Once that is lifted, `rqps explain --time` samples them" };
    text::plain(&format!("{}{of} were not sampled: {why}{remedy}", listed(what)))
}

/// `a, b and c`
fn listed(words: &[&str]) -> String {
    match words {
        [others @ .., last] if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => words.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rqps_model::{Group, Unit};

    fn test(name: &str, refused: &[(Sampling, &str)]) -> TestFindings {
        let of = |&(what, why): &(Sampling, &str)| NotSampled { what, why: why.to_owned() };
        let cell = CellFindings { not_sampled: refused.iter().map(of).collect(), ..CellFindings::default() };
        TestFindings {
            name: name.to_owned(),
            label: name.to_owned(),
            group: Group::Write,
            unit: Unit::QueriesPerSecond,
            clients: 1,
            interleave: None,
            statements: Vec::new(),
            cells: vec![cell.clone(), cell],
        }
    }

    fn said(tests: &[TestFindings]) -> Vec<String> {
        sentences(tests.iter().flat_map(|test| test.cells.iter().map(move |cell| (test, cell))))
    }

    #[test]
    fn a_reason_is_told_once() {
        let by_clock =
            [Sampling::Functions, Sampling::BlockedSessions, Sampling::SystemCalls].map(|it| (it, "no right"));
        let expected = "functions, blocked sessions and system calls were not sampled: no right. Once that is lifted, \
                        `rqps explain --time` samples them";
        assert_eq!(said(&[test("a", &by_clock), test("b", &by_clock)]), [expected]);
        assert_eq!(said(&[test("a", &[])]), [""; 0]);
    }

    #[test]
    fn nobody_can_lift_what_is_left_out_for_its_cost() {
        let switches = (Sampling::BlockedSessions, "too many switches");
        let expected = "blocked sessions of a were not sampled: too many switches";
        assert_eq!(said(&[test("a", &[switches]), test("b", &[])]), [expected]);
    }

    #[test]
    fn what_is_not_so_of_all_tests_names_its_own() {
        let (calls, waits) = ((Sampling::SystemCalls, "not mounted"), (Sampling::Waits, "gone\u{1b}"));
        let expected =
            ["system calls of a and b were not sampled: not mounted.", "waits of b were not sampled: gone ."];
        let said = said(&[test("a", &[calls]), test("b", &[calls, waits]), test("c", &[])]);
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said.iter().zip(expected).all(|(said, begin)| said.starts_with(begin)), "{said:?}");
    }
}
