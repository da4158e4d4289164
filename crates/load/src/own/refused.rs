//! What a build cannot give of what a dump needs: extensions, roles, collations and the like, all of it at once.
//!
//! In: errors of a server while a dump is sent. Out: whether to go on and look for more, and in the end one error that
//! names everything with its remedy. Loading has failed from the first on: the rest is sent without its rows, only to
//! see what else is missing, and what fails for want of it is counted.

use crate::error::LoadError;
use rqps_wire::ServerError;
use std::collections::BTreeMap;

/// A kind of thing that a build may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Extension,
    Role,
    Collation,
    Other,
}

/// What is missing so far, on one build.
#[derive(Debug, Default)]
pub(super) struct Refused {
    /// By what the server said: of which kind it is, where it is needed first, how often, and the error's code.
    found: BTreeMap<String, (Kind, String, usize, String)>,
    /// Errors that may follow from what is missing.
    followed: usize,
}

impl Refused {
    /// Whether something is missing, so that rows need not be sent any more.
    pub(super) fn is_looking(&self) -> bool {
        !self.found.is_empty()
    }

    /// Takes an error; `false` where it has another cause, and nothing was missing before.
    pub(super) fn take(&mut self, error: &ServerError, place: impl FnOnce() -> String) -> bool {
        let has_cause = self.found.values().any(|(kind, ..)| *kind == Kind::Extension);
        let Some(kind) = kind(error, has_cause) else {
            self.followed += usize::from(self.is_looking());
            return self.is_looking();
        };
        let code = if error.number() == 0 { error.code().to_string() } else { error.number().to_string() };
        let found = self.found.entry(error.message().to_owned());
        found.or_insert_with(|| (kind, place(), 0, code)).2 += 1;
        true
    }

    /// The error that names all of it, if something is missing.
    pub(super) fn into_result(self) -> Result<(), LoadError> {
        if self.found.is_empty() {
            return Ok(());
        }
        let mut all: Vec<_> = self.found.into_iter().collect();
        all.sort_by(|one, other| (one.1.0, &one.0).cmp(&(other.1.0, &other.0)));
        let mut told = String::from("this build lacks what the data need:");
        for (message, (_, place, count, code)) in &all {
            let more = if *count > 1 { format!(", {count} times") } else { String::new() };
            told.push_str(&format!("\n  {message} (error {code}, {place}{more})"));
        }
        if self.followed > 0 {
            told.push_str(&format!("\n  and {} more errors, which may follow from these", self.followed));
        }
        let mut kinds: Vec<Kind> = all.iter().map(|(_, (kind, ..))| *kind).collect();
        kinds.dedup();
        kinds.iter().for_each(|kind| told.push_str(&format!("\n  {}", kind.remedy())));
        Err(LoadError::Shape(told))
    }
}

impl Kind {
    const fn remedy(self) -> &'static str {
        match self {
            Kind::Extension => {
                "extensions: take a build that has them, dump without what needs them (pg_dump -T, -N, -e), or go on \
                 without by `ignore` in [data]"
            }
            Kind::Role => {
                "roles: make them in a file in front of the dump, dump = [\"roles.sql\", ...] with CREATE ROLE, or go on \
                 without what needs them by `ignore` in [data]"
            }
            Kind::Collation => {
                "collations and character sets: name those that the build has by `replace` in [data], which may change \
                 answers"
            }
            Kind::Other => {
                "others: name what the build has by `replace` in [data], go on without by `ignore`, or give the build a \
                 file of its own by data.only.BUILD"
            }
        }
    }
}

/// What is missing, by number and words of the error. Where an extension is, its functions and types are too.
fn kind(error: &ServerError, lacks_extension: bool) -> Option<Kind> {
    let message = error.message();
    match error.number() {
        // Unknown collation; unknown character set.
        1273 | 1115 => return Some(Kind::Collation),
        // Unknown storage engine; plugin not loaded; unknown data type.
        1286 | 1524 | 4161 => return Some(Kind::Other),
        0 => {}
        _ => return None,
    }
    let is_missing = message.ends_with("does not exist");
    let begins = |words: &[&str]| words.iter().any(|word| message.starts_with(word));
    if begins(&["extension \""]) && message.contains(" is not available")
        || begins(&["could not open extension control file", "extension \""]) && message.contains("No such file")
        || begins(&["extension \""]) && message.contains("no installation script")
    {
        return Some(Kind::Extension);
    }
    if is_missing && begins(&["role \""]) {
        return Some(Kind::Role);
    }
    if is_missing && begins(&["collation \""]) || begins(&["could not create locale"]) {
        return Some(Kind::Collation);
    }
    let others =
        ["language \"", "access method \"", "tablespace \"", "foreign-data wrapper \"", "text search parser \""];
    let of_extensions = ["function ", "type \""];
    let is_other = begins(&others) || !lacks_extension && begins(&of_extensions);
    (is_missing && is_other).then_some(Kind::Other)
}
