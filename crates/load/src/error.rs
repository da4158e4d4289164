//! Everything that can go wrong while loading data or driving a test.
//!
//! In: causes from the wire and from the caller's hook. Out: [`LoadError`]. The loss of one server in a timed test is
//! not here: it is a result, `ArmRun::failure`.

use rqps_wire::WireError;

/// A failure of loading, preparing or driving.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A server did not do what was asked.
    #[error("{doing}: {error}")]
    Wire {
        /// What was being done.
        doing: String,
        /// What the wire said.
        error: WireError,
    },
    /// A server could not be connected to.
    #[error("{0}")]
    Lost(String),
    /// An exercise, data shape or schedule that makes no sense.
    #[error("{0}")]
    Shape(String),
    /// An Insert Benchmark that makes no sense.
    #[error(transparent)]
    Insert(#[from] rqps_model::insert::UnsoundShape),
    /// A server has something otherwise than the tests need it.
    #[error("{place} has {what} {found}, the tests need {needed}; set it in the server's configuration")]
    Mismatch {
        /// Where, such as `table sbtest1`.
        place: String,
        /// What, such as `character set`.
        what: &'static str,
        /// As it is.
        found: String,
        /// As it must be.
        needed: String,
    },
    /// The operating system refused something.
    #[error("{doing}: {error}")]
    System {
        /// What was being done.
        doing: &'static str,
        /// What it said.
        error: std::io::Error,
    },
    /// The caller's hook failed between two slices.
    #[error("{0}")]
    Hook(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl LoadError {
    /// An error of the caller's hook.
    pub fn hook(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> LoadError {
        LoadError::Hook(error.into())
    }

    /// Whether it is the fault of what was asked, and the server in no doubt.
    pub fn is_refusal(&self) -> bool {
        match self {
            LoadError::Wire { error: WireError::Server { error, .. }, .. } => error.error_code().blames_statement(),
            LoadError::Wire { error: WireError::Parameters { .. }, .. } | LoadError::Shape(_) => true,
            _ => false,
        }
    }

    /// Says what was being done when the wire failed.
    pub(crate) fn wire(doing: impl Into<String>) -> impl FnOnce(WireError) -> LoadError {
        let doing = doing.into();
        move |error| LoadError::Wire { doing, error }
    }
}
