//! One thing that was looked at, and what it means for measuring.
//!
//! In: nothing. Out: types.

use rqps_machine::program_place;
use rqps_model::checkup::Level;
use serde::{Deserialize, Serialize};

/// What `rqps doctor --apply` changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Change {
    /// How it is changed.
    pub kind: ChangeKind,
    /// The file or folder; of one for each CPU, `*` stands for the number.
    pub files: &'static str,
    /// What it holds then.
    pub value: &'static str,
}

/// How something is changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// A file of the kernel is written.
    #[default]
    Setting,
    /// A file system is mounted on a folder.
    Mount,
}

impl Change {
    /// A file of the kernel, and what is written to it.
    pub(super) const fn setting(files: &'static str, value: &'static str) -> Change {
        Change { kind: ChangeKind::Setting, files, value }
    }

    /// The place for copies of programs.
    pub(super) const fn program_place(place: &'static str) -> Change {
        Change { kind: ChangeKind::Mount, files: place, value: program_place::HUGE }
    }
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What was looked at, such as `swap`.
    pub about: &'static str,
    /// What it means.
    pub level: Level,
    /// What was found.
    pub found: String,
    /// Why it matters; empty where all is well.
    pub why: &'static str,
    /// What changes it: a command, or what to do.
    pub remedy: String,
    /// What of it can be done here, and undone.
    #[serde(skip_serializing_if = "<[Change]>::is_empty")]
    pub changes: &'static [Change],
}

/// A share as text.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

impl Finding {
    /// As it should be.
    pub(super) fn good(about: &'static str, found: impl Into<String>) -> Finding {
        Finding { about, level: Level::Good, found: found.into(), why: "", remedy: String::new(), changes: &[] }
    }

    /// Worth knowing.
    pub(super) fn note(
        about: &'static str,
        found: impl Into<String>,
        why: &'static str,
        remedy: impl Into<String>,
    ) -> Finding {
        Finding { about, level: Level::Note, found: found.into(), why, remedy: remedy.into(), changes: &[] }
    }

    /// In the way of measuring.
    pub(super) fn problem(
        about: &'static str,
        found: impl Into<String>,
        why: &'static str,
        remedy: impl Into<String>,
    ) -> Finding {
        Finding { level: Level::Problem, ..Finding::note(about, found, why, remedy) }
    }

    /// With what of it can be done here.
    pub(super) const fn changed_by(mut self, changes: &'static [Change]) -> Finding {
        self.changes = changes;
        self
    }
}
