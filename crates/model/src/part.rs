//! A named part of a sample: what was observed or recorded, as the bytes of one file.
//!
//! In: rows or a value. Out: a [`Part`], which `store` writes beside `sample.json` and lists with its digest. Whoever
//! makes a part names it and knows its form; `store` knows neither, so that a new part needs no change there. It does
//! no IO.

use serde::Serialize;
use std::fmt;

/// The pieces in which builds alternated: [`crate::sample::Slices`].
pub const SLICES: &str = "slices.json";
/// One row for each second, and for each kind and client that have rows of their own: [`crate::sample::SecondRow`].
pub const SECONDS: &str = "seconds.jsonl";
/// Whole histograms by statement kind, and of events; read and written by `store`.
pub const LATENCY: &str = "latency.hdr";
/// Server counters before and after: [`crate::sample::CounterReading`].
pub const COUNTERS: &str = "counters.jsonl";
/// Host and server in each second: [`crate::sample::MonitorRow`].
pub const MONITOR: &str = "monitor.jsonl";
/// The plans of the test's statements in this round, where they are not, word for word, those kept for the treatment:
/// [`crate::facts::StatementPlan`].
pub const PLANS: &str = "plans.json";
/// What the user's reading statements answered: [`crate::answers::TestAnswers`].
pub const ANSWERS: &str = "answers.json";
/// How functions were sampled, in rounds that explain: [`crate::profile::ProfileFacts`].
pub const PROFILE: &str = "profile.json";
/// The stacks that were found then, folded: a line each, frames from the outermost on with `;` between them, a space,
/// and the number of samples.
pub const STACKS: &str = "stacks.folded";
/// Where threads left the CPU and for how long, in rounds that explain: [`crate::blocked::BlockedFacts`].
pub const BLOCKED: &str = "blocked.json";
/// Which system calls a server made, in rounds that explain: [`crate::syscalls::SyscallFacts`].
pub const SYSCALLS: &str = "syscalls.json";
/// What each kind of statement made the server do, in rounds that explain: [`crate::statement_work::StatementWork`].
pub const STATEMENT_WORK: &str = "statement_work.json";
/// What sessions were found doing, in rounds that explain: [`crate::waits::WaitFacts`].
pub const WAITS: &str = "waits.json";

/// One file of a sample. A part without bytes is not written.
#[derive(Clone, PartialEq, Eq)]
pub struct Part {
    /// The file's name: letters, digits, `.`, `_`, `-`.
    pub name: String,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// Its name and length: the bytes would fill screens.
impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Part({}, {} bytes)", self.name, self.bytes.len())
    }
}

impl Part {
    /// A value as one line of JSON.
    pub fn json<T: Serialize + ?Sized>(name: &str, value: &T) -> Part {
        let mut bytes = Vec::new();
        append(&mut bytes, value);
        Part { name: name.to_owned(), bytes }
    }

    /// A line of JSON for each row; no bytes without rows.
    pub fn lines<T: Serialize>(name: &str, rows: &[T]) -> Part {
        let mut bytes = Vec::new();
        rows.iter().for_each(|row| append(&mut bytes, row));
        Part { name: name.to_owned(), bytes }
    }
}

fn append<T: Serialize + ?Sized>(bytes: &mut Vec<u8>, value: &T) {
    serde_json::to_writer(&mut *bytes, value).expect("structs of numbers and texts have a JSON form");
    bytes.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Slices;

    #[test]
    fn rows_are_lines_and_no_rows_are_no_bytes() {
        assert_eq!(Part::lines("x", &[[1, 2], [3, 4]]).bytes, b"[1,2]\n[3,4]\n");
        assert_eq!(Part::lines::<u32>("x", &[]).bytes, b"");
    }

    #[test]
    fn slices_without_a_time_each_are_refused() {
        let read = |text: &str| serde_json::from_str::<Slices>(text).map_err(|error| error.to_string());
        assert!(read(r#"{"operations":[1,2],"busy_ns":[3,4]}"#).is_ok());
        let error = read(r#"{"operations":[1,2],"busy_ns":[3]}"#).expect_err("uneven");
        assert_eq!(error, "slices have 2 counts of operations, but 1 times");
    }
}
