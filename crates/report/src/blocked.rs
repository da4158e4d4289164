//! The stacks in which sessions are off the CPU for longer or shorter, in words and as lines of a terminal.
//!
//! In: the blocked sessions of a treatment in a test. Out: text. Being ready for a CPU and waiting for the client are
//! lines apart.

use crate::functions::{change, from_to, listed};
use crate::waits::IDLE;
use crate::{number, text};
use rqps_analysis::findings::{Amount, BlockedFindings, FunctionFindings};
use rqps_model::plural;

/// Stacks that a terminal shows.
const SHOWN: usize = 10;

/// Another thread had the CPU.
pub(crate) const READY: &str = "ready, but another thread had the CPU";

/// The lines below a test: what was sampled, and where a stack moved all that did.
pub(crate) fn lines(found: &BlockedFindings, per: &str, width: usize) -> Vec<String> {
    let mut lines = text::wrap(&sampled(found, per), width, "      ", "      ");
    let mut rows: Vec<(String, String)> = Vec::new();
    if found.moved().next().is_some() {
        let of = |amount: &Amount, name: &str| (change(amount), format!("{name}, {}", from_to(amount)));
        rows.extend(found.moved().take(SHOWN).map(|stack| of(&stack.amount, &text::plain(&stack.name))));
        rows.push(of(&found.ready, READY));
        rows.push(of(&found.client, IDLE));
    }
    lines.extend(listed(&rows, &[], &found.warnings, width));
    lines
}

/// What was sampled, and what it shows of all stacks together.
pub(crate) fn sampled(found: &BlockedFindings, per: &str) -> String {
    let BlockedFindings { rounds, base_samples, samples, total, .. } = found;
    let mut words = format!(
        "blocked sessions, from {} with {base_samples} and {samples} stacks: off the CPU per {per} {}, {}",
        plural(*rounds, "round"),
        change(total),
        from_to(total)
    );
    if *rounds < 2 {
        words.push_str("; one round does not say what is more than chance");
    } else if found.moved().next().is_none() {
        words.push_str("; no stack moved by more than chance");
        if let Some(mde) = found.mde_us {
            words.push_str(&format!(", {} in any of them would have been found", number::duration_us(mde)));
        }
    }
    words
}

/// `blocked in XLogFlush > fdatasync per statement +1.19 ms (1.10 to 1.25), 0 → 1.19 ms`
pub(crate) fn words(stack: &FunctionFindings, per: &str) -> String {
    format!("blocked in {} per {per} {}, {}", text::plain(&stack.name), change(&stack.amount), from_to(&stack.amount))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(is_sure: bool) -> BlockedFindings {
        let amount = |base_us: f64, us: f64, is_sure| {
            let difference_us = us - base_us;
            let (low_us, high_us) = (difference_us - 15.0, difference_us + 15.0);
            Amount { base_us, us, difference_us, low_us, high_us, q: Some(0.01), is_sure }
        };
        BlockedFindings {
            rounds: 6,
            base_samples: 1200,
            samples: 1180,
            total: amount(20.0, 500.0, true),
            stacks: vec![FunctionFindings {
                name: "XLogFlush > fdatasync".to_owned(),
                samples: 700,
                amount: amount(0.0, 480.0, is_sure),
                absent: None,
            }],
            ready: amount(10.0, 12.0, false),
            client: amount(80.0, 90.0, true),
            mde_us: Some(22.0),
            warnings: vec!["the kernel lost 3 records of switches while b was sampled".to_owned()],
        }
    }

    #[test]
    fn a_stack_that_moved_is_listed_with_what_is_no_cause() {
        let text = lines(&found(true), "statement", 100).join("\n");
        assert!(text.contains("blocked sessions, from 6 rounds with 1200 and 1180 stacks: off the CPU per"), "{text}");
        assert!(text.contains("+480 µs (+465 to +495)     XLogFlush > fdatasync, 0 → 480 µs"), "{text}");
        assert!(text.contains("another thread had the CPU, 10.0 µs → 12.0 µs"), "{text}");
        assert!(text.contains("waiting for the client, which is no cause, 80.0 µs → 90.0 µs"), "{text}");
        assert!(text.contains("warning: the kernel lost 3 records"), "{text}");
    }

    #[test]
    fn where_none_moved_what_would_have_been_found_is_said() {
        let words = sampled(&found(false), "statement");
        assert!(words.ends_with("no stack moved by more than chance, 22.0 µs in any of them would have been found"));
        assert!(!lines(&found(false), "statement", 100).join("\n").contains("another thread"));
    }
}
