//! What is chosen of a workload besides its files, and the way to these.

use crate::engine::has_unnamed_statements;
use crate::place::Spanned;
use rqps_model::Engine;
use rqps_model::own::{Answers, AnswersCheck, Archive, InputFile, Protocol};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A larger CSV of values is refused: it is kept in the plan.
pub(super) const CSV_BYTES_MAX: usize = 16 << 20;

/// The way to files that a workload names.
pub trait Files {
    /// All of a file, or why it cannot be read.
    fn read(&self, path: &Path) -> Result<Vec<u8>, String>;
    /// A file with its size and digest, or why it cannot be read; a relative path begins where the user stands.
    fn digest(&self, path: &Path) -> Result<InputFile, String>;
    /// What makes SQL of a file or folder, if it is an archive of pg_dump: `pg_restore`, or else the newest that is
    /// there. An error says what is missing.
    fn archive(&self, _path: &Path, _pg_restore: Option<&Path>) -> Result<Option<Archive>, String> {
        Ok(None)
    }
}

/// What is chosen of a workload besides its files.
#[derive(Debug, Clone)]
pub(crate) struct Choices {
    /// The engines that are compared.
    pub(crate) engines: BTreeSet<Engine>,
    /// The builds that are compared, by name and engine; some have no name yet.
    pub(crate) builds: Vec<(Option<String>, Engine)>,
    /// The engine of the base, where that is known.
    pub(crate) base: Option<Engine>,
    /// The scale of pgbench's tables.
    pub(crate) scale: Option<u32>,
    /// Variables of scripts.
    pub(crate) define: Vec<(String, String)>,
    /// How statements reach the server, and where that was said.
    pub(crate) protocol: Option<Spanned<Protocol>>,
    /// How often an event is tried.
    pub(crate) max_tries: Option<u32>,
    /// Whether scripts may run commands of the shell.
    pub(crate) allow_shell: bool,
    /// Whether a difference between answers leaves the verdict standing.
    pub(crate) answers_may_differ: bool,
    /// What makes SQL of archives.
    pub(crate) pg_restore: Option<PathBuf>,
}

impl Choices {
    /// An engine that is compared and has only statements that are prepared, or sent as text; nor can it run pgbench's.
    pub(super) fn without_extended(&self) -> Option<Engine> {
        self.engines.iter().copied().find(|engine| !has_unnamed_statements(*engine))
    }
}

/// How answers are compared where nothing is said.
pub(crate) fn usual_check() -> AnswersCheck {
    AnswersCheck { compare: Answers::Values, parameters: 20, tolerance: 1e-9, may_differ: false }
}
