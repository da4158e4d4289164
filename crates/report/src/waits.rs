//! The waits that gained or lost, in words and as lines of a terminal.
//!
//! In: the waits of a treatment in a test. Out: text. What runs and what waits for the client are lines apart, so that
//! the lines say where the whole time of an operation goes.

use crate::functions::{change, from_to, listed};
use crate::{number, text};
use rqps_analysis::findings::{Amount, EventFindings, WaitFindings};
use rqps_model::plural;

/// Events that a terminal shows.
const SHOWN: usize = 10;

/// Neither idle nor in a wait that has a name.
pub(crate) const RUNNING: &str = "on the CPU or ready for it";

/// Idle.
pub(crate) const IDLE: &str = "waiting for the client, which is no cause";

/// The lines below a test: what was sampled, and where a wait moved all that did.
pub(crate) fn lines(waits: &WaitFindings, per: &str, width: usize) -> Vec<String> {
    let mut lines = text::wrap(&sampled(waits, per), width, "      ", "      ");
    let mut rows: Vec<(String, String)> = Vec::new();
    if waits.moved().next().is_some() {
        let of = |amount: &Amount, name: &str| (change(amount), format!("{name}, {}", from_to(amount)));
        rows.extend(waits.moved().take(SHOWN).map(|event| of(&event.amount, &text::plain(&event.name))));
        rows.extend(has_running(waits).then(|| of(&waits.running, RUNNING)));
        rows.push(of(&waits.idle, IDLE));
    }
    lines.extend(listed(&rows, &[], &waits.warnings, width));
    lines
}

/// Whether any session was found running without a name for it: MySQL names nearly every step.
pub(crate) fn has_running(waits: &WaitFindings) -> bool {
    waits.running.base_us > 0.0 || waits.running.us > 0.0
}

/// What was sampled, and what it shows of all events together.
pub(crate) fn sampled(waits: &WaitFindings, per: &str) -> String {
    let WaitFindings { rounds, base_moments, moments, total, .. } = waits;
    let mut words = format!(
        "waits, from {} with {base_moments} and {moments} moments: a session's time per {per} {}, {}",
        plural(*rounds, "round"),
        change(total),
        from_to(total)
    );
    if *rounds < 2 {
        words.push_str("; one round does not say what is more than chance");
    } else if waits.moved().next().is_none() {
        words.push_str("; no wait moved by more than chance");
        if let Some(mde) = waits.mde_us {
            words.push_str(&format!(", {} in any of them would have been found", number::duration_us(mde)));
        }
    }
    words
}

/// `Lock/transactionid per statement +1.19 ms (1.10 to 1.25), 0 → 1.19 ms`
pub(crate) fn words(event: &EventFindings, per: &str) -> String {
    format!("{} per {per} {}, {}", text::plain(&event.name), change(&event.amount), from_to(&event.amount))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(base_us: f64, us: f64, half: f64, is_sure: bool) -> Amount {
        let difference_us = us - base_us;
        let (low_us, high_us) = (difference_us - half, difference_us + half);
        Amount { base_us, us, difference_us, low_us, high_us, q: Some(0.01), is_sure }
    }

    fn waits(is_sure: bool) -> WaitFindings {
        let event = |name: &str, is_wait, amount| EventFindings { name: name.to_owned(), is_wait, count: 500, amount };
        WaitFindings {
            rounds: 6,
            base_moments: 1200,
            moments: 1180,
            total: amount(200.0, 700.0, 20.0, true),
            events: vec![
                event("IO/WALSync", true, amount(0.0, 480.0, 15.0, is_sure)),
                event("LWLock/WALWrite", true, amount(3.0, 4.0, 2.0, false)),
            ],
            running: amount(120.0, 130.0, 12.0, false),
            idle: amount(80.0, 90.0, 9.0, true),
            mde_us: Some(22.0),
            warnings: vec!["for each client of b, 1.10 sessions were seen on average".to_owned()],
        }
    }

    #[test]
    fn a_wait_that_moved_is_listed_with_what_runs_and_what_is_idle() {
        let text = lines(&waits(true), "statement", 100).join("\n");
        assert!(
            text.contains("waits, from 6 rounds with 1200 and 1180 moments: a session's time per statement +500 µs")
        );
        assert!(text.contains("+480 µs (+465 to +495)     IO/WALSync, 0 → 480 µs"), "{text}");
        assert!(text.contains("on the CPU or ready for it, 120 µs → 130 µs"), "{text}");
        assert!(text.contains("waiting for the client, which is no cause, 80.0 µs → 90.0 µs"), "{text}");
        assert!(text.contains("warning: for each client of b") && !text.contains("WALWrite"), "{text}");
    }

    #[test]
    fn where_none_moved_what_would_have_been_found_is_said() {
        let words = sampled(&waits(false), "statement");
        assert!(words.ends_with("no wait moved by more than chance, 22.0 µs in any of them would have been found"));
        assert!(!lines(&waits(false), "statement", 100).join("\n").contains("ready for it"));
    }
}
