//! The system calls that a server makes more or fewer of, in words and as lines of a terminal.
//!
//! In: the system calls of a treatment in a test. Out: text. They say what a build does otherwise, and are no share of
//! its time.

use crate::functions::{listed, with_interval};
use crate::{number, text};
use rqps_analysis::findings::{CallFindings, Cause, PerOperation, SyscallFindings};
use rqps_model::plural;

/// Calls that a terminal shows.
const SHOWN: usize = 5;

/// Calls that a sentence names.
const NAMED: usize = 3;

/// Of all calls, a change that is worth a word in the sentence of a test, and of this change a single call's.
const WORTH_NAMING: f64 = 0.05;

/// The lines below a test: what was recorded, and the calls that moved.
pub(crate) fn lines(found: &SyscallFindings, per: &str, width: usize) -> Vec<String> {
    let mut lines = text::wrap(&recorded(found, per), width, "      ", "      ");
    let row = |call: &CallFindings| (change(&call.amount), format!("{}, {}", call.name, from_to(&call.amount)));
    let mut rows: Vec<(String, String)> = found.moved().take(SHOWN).map(row).collect();
    let more = found.moved().count().checked_sub(SHOWN + 1);
    rows.extend(more.map(|more| (String::new(), format!("{} more that moved", more + 1))));
    lines.extend(listed(&rows, &[], &found.warnings, width));
    lines
}

/// What was recorded, and what it shows of all calls together.
pub(crate) fn recorded(found: &SyscallFindings, per: &str) -> String {
    let SyscallFindings { rounds, base_samples, samples, total, .. } = found;
    let mut words = format!(
        "system calls, from {} with {base_samples} and {samples} recorded: {} per {per} in all, {}",
        plural(*rounds, "round"),
        change(total),
        from_to(total)
    );
    if found.moved().next().is_none() {
        words.push_str("; none moved by more than chance");
        if let Some(mde) = found.mde {
            words.push_str(&format!(", {} of any of them would have been found", number::significant(mde, 3)));
        }
    }
    words
}

/// `system calls per statement −41.7 %, 12.0 → 7.00, most of it in fsync, write`, where they moved by more than chance
/// and the causes leave open what the kernel does: where the server's CPU is not all in user mode, where it waits, or
/// where switches or files moved. They are never told in place of a cause.
pub(crate) fn words(found: &SyscallFindings, causes: &[Cause], per: &str) -> Option<String> {
    let SyscallFindings { total, .. } = found;
    let is_large = (total.own / total.base).ln().abs() >= (1.0 + WORTH_NAMING).ln();
    if !total.is_sure || !is_large || !causes.iter().any(is_of_kernel) {
        return None;
    }
    let is_with_it = |call: &&CallFindings| call.amount.difference / total.difference >= WORTH_NAMING;
    let names: Vec<&str> = found.moved().filter(is_with_it).take(NAMED).map(|call| call.name.as_str()).collect();
    let named = if names.is_empty() { String::new() } else { format!(", first of all {}", names.join(", ")) };
    let change = number::change(total.own / total.base);
    Some(format!("system calls per {per} {change}, {}{named}", from_to(total)))
}

/// Whether what the kernel is asked for may say more of a cause.
fn is_of_kernel(cause: &Cause) -> bool {
    match cause {
        Cause::ServerCpu { kernel, .. } => kernel.is_none_or(|share| share > 0.5),
        Cause::Waiting { for_cpu, .. } => for_cpu.is_none(),
        Cause::Work { .. } => true,
        Cause::Plan { .. } | Cause::ClientCpu { .. } | Cause::Count { .. } => false,
    }
}

/// `−5.02 (−5.10 to −4.94)`
pub(crate) fn change(amount: &PerOperation) -> String {
    with_interval([amount.difference, amount.low, amount.high].map(difference))
}

fn from_to(amount: &PerOperation) -> String {
    format!("{} → {}", count(amount.base), count(amount.own))
}

pub(crate) fn count(calls: f64) -> String {
    if calls == 0.0 { "0".to_owned() } else { number::significant(calls, 3) }
}

fn difference(calls: f64) -> String {
    match calls {
        calls if calls < 0.0 => format!("−{}", count(-calls)),
        calls if calls > 0.0 => format!("+{}", count(calls)),
        _ => "0".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rqps_analysis::findings::Moved;

    fn amount(base: f64, own: f64, half: f64, is_sure: bool) -> PerOperation {
        let difference = own - base;
        PerOperation { base, own, difference, low: difference - half, high: difference + half, q: Some(0.01), is_sure }
    }

    fn found(is_sure: bool) -> SyscallFindings {
        let call = |name: &str, amount| CallFindings { name: name.to_owned(), samples: 500, amount };
        SyscallFindings {
            rounds: 6,
            base_samples: 1200,
            samples: 1180,
            total: amount(12.0, 7.0, 0.1, is_sure),
            calls: vec![
                call("pwrite64", amount(4.0, 0.0, 0.1, is_sure)),
                call("fsync", amount(2.0, 0.9, 0.1, is_sure)),
                call("brk", amount(1.0, 1.2, 0.15, is_sure)),
                call("sendto", amount(1.0, 1.01, 0.1, false)),
            ],
            mde: Some(0.22),
            warnings: vec!["the kernel lost 3 records of system calls while b was sampled".to_owned()],
        }
    }

    #[test]
    fn calls_that_moved_are_listed() {
        let text = lines(&found(true), "statement", 100).join("\n");
        let begin =
            "      system calls, from 6 rounds with 1200 and 1180 recorded: −5.00 (−5.10 to −4.90) per statement";
        assert!(text.starts_with(begin), "{text}");
        assert!(text.contains("−4.00 (−4.10 to −3.90)      pwrite64, 4.00 → 0"), "{text}");
        assert!(text.contains("warning: the kernel lost 3 records") && !text.contains("sendto"), "{text}");
    }

    #[test]
    fn where_none_moved_what_would_have_been_found_is_said() {
        let words = recorded(&found(false), "statement");
        assert!(
            words.ends_with("none moved by more than chance, 0.220 of any of them would have been found"),
            "{words}"
        );
    }

    #[test]
    fn a_sentence_names_them_only_beside_a_cause_that_is_the_kernels() {
        let moved = Moved { from: 10.0, to: 8.0, low: 0.7, high: 0.9 };
        let cpu = |kernel| Cause::ServerCpu { moved, share: Some(0.9), kernel };
        let said = |causes: &[Cause]| words(&found(true), causes, "statement");
        let expected = "system calls per statement −41.7 %, 12.0 → 7.00, first of all pwrite64, fsync";
        assert_eq!(said(&[cpu(Some(0.8))]).as_deref(), Some(expected));
        assert_eq!(said(&[Cause::Waiting { share: 0.8, flush_cpu: None, for_cpu: None }]).as_deref(), Some(expected));
        assert_eq!((said(&[cpu(Some(0.1))]), said(&[])), (None, None));
        assert_eq!(words(&found(false), &[cpu(None)], "statement"), None, "chance");
    }
}
