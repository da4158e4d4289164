//! From words to a plan: reads a campaign file and flags, checks every name, and expands the matrix of what runs.
//!
//! In: the text of a file, the words of flags, the vocabulary of releases, profiles and tests, and what the caller
//! found out about the builds; of the user's own workload also a way to its files. Out: a `Plan` with nothing left
//! open, or every fault at once, each with its place and remedy. It touches no server, opens no file, reads no clock
//! and no environment: the same words give the same plan.
//!
//! ```text
//! file, flags --raw, read--> Request --merge, preset--> Request --check, select--> Campaign --expand--> Plan
//! ```
//!
//! `file` and `flags` find keys and values as written (`raw`); `read` gives each value its type by the form of its key,
//! in a `request`; the flags' request is merged over the file's, and `preset` fills what is open. `check` looks up
//! names and finds contradictions, `select` chooses tests, and what is right is a `campaign`, which `expand`s to a plan
//! once the builds are known. `describe` and `estimate` put a plan into words. Faults of all stages are `diagnostic`s
//! with their `place`.

pub mod diagnostic;
pub mod place;
pub mod preset;
pub mod profiled;
pub mod request;
pub mod select;
pub mod value;
pub mod vocabulary;

mod budget;
mod campaign;
mod check;
mod describe;
mod engine;
mod estimate;
mod field;
mod file;
mod flags;
mod foretell;
mod own;
mod raw;
mod read;
mod room;
#[cfg(test)]
mod testing;
mod together;
mod write;

pub use budget::{ROUNDS_MAX, division, flag_time};
pub use campaign::{Campaign, Resolved, ResolvedBuild};
pub use describe::{describe, rounds};
pub use diagnostic::Diagnostic;
pub use estimate::{Estimate, estimate, human_bytes};
pub use flags::Flag;
pub use foretell::{Foretold, Noise, foretell};
pub use own::Files;
pub use place::Source;
pub use request::{Command, Request};
pub use value::{Scale, time};
pub use vocabulary::Vocabulary;
pub use write::to_toml;

use diagnostic::Faults;

/// What became of file and flags.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// All that was said, with presets and defaults below it.
    pub request: Request,
    /// The checked campaign; `None` where a diagnostic is an error.
    pub campaign: Option<Campaign>,
    /// Faults and notes: the file's by line, then the flags' as typed.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a campaign file and flags; flags win.
pub fn read(
    file: Option<&Source>,
    flags: &[Flag],
    command: Command,
    vocabulary: &Vocabulary,
    files: &dyn Files,
) -> Reading {
    let mut faults = Faults::new(file.cloned());
    let said_in_file = file.map(|file| file::read_file(file, &mut faults)).unwrap_or_default();
    let said_by_flags = flags::read_flags(flags, &mut faults);
    let said = Request::merge(said_in_file, said_by_flags, &mut faults);
    let request = preset::fill(said, command == Command::Demo, vocabulary);
    let campaign = match check::fits_command(&request, command, &mut faults) {
        true => check::check(&request, vocabulary, files, &mut faults),
        false => None,
    };
    Reading { request, campaign, diagnostics: faults.sorted() }
}

#[cfg(test)]
mod tests;
