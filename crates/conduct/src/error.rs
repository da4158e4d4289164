//! Why a campaign ended before its time. The failure of one server in one test is not here: it is a sample that says
//! so.

use rqps_load::LoadError;
use rqps_machine::program_place::NoHugePages;
use rqps_observe::error::ObserveError;
use rqps_server::ServerError;
use rqps_store::StoreError;

/// Why a campaign stopped. What was published before stays, and `rqps resume` goes on from there.
#[derive(Debug, thiserror::Error)]
pub enum ConductError {
    /// A server could not be made ready.
    #[error("{doing}: {error}")]
    Server {
        /// What was being done, and for which treatment.
        doing: String,
        /// What went wrong.
        error: Box<ServerError>,
    },
    /// Data could not be loaded or a test not be driven.
    #[error("{doing}: {error}")]
    Load {
        /// What was being done, and for which treatment.
        doing: String,
        /// What went wrong.
        error: Box<LoadError>,
    },
    /// The data set could not be loaded.
    #[error("{error}; the log of the server ends with:\n    {}", log.join("\n    "))]
    Loading {
        /// What went wrong.
        error: Box<ConductError>,
        /// The server's last lines, which say more than a connection that broke.
        log: Vec<String>,
    },
    /// A server runs with another setting than was written for it.
    #[error("{treatment}: {setting} was set to {written} and is {effective}; leave it out or give it another value")]
    Setting {
        /// The treatment.
        treatment: String,
        /// Name of the setting.
        setting: String,
        /// As rqps wrote it.
        written: String,
        /// As the server has it.
        effective: String,
    },
    /// A server made its tables with another storage engine than was planned.
    #[error("{treatment}: tables are stored by {found}, not by {planned}; does this build have the plugin?")]
    StorageEngine {
        /// The treatment.
        treatment: String,
        /// As planned.
        planned: String,
        /// As the server says.
        found: String,
    },
    /// A server did not write everything back when it was stopped.
    #[error("{treatment}: its server did not stop in order, so its data folder cannot be used; its log says why")]
    NotStopped {
        /// The treatment.
        treatment: String,
    },
    /// Too few treatments can be measured.
    #[error("{}", nothing_to_compare(base, excluded))]
    NothingToCompare {
        /// The base.
        base: String,
        /// The base alone, or every other treatment; warnings before gave the reasons.
        excluded: Vec<String>,
    },
    /// Programs were to lie in huge pages.
    #[error("programs cannot lie in huge pages (program-pages = \"huge\"): {0}")]
    NoHugePages(#[from] NoHugePages),
    /// The results folder could not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// This host cannot be observed.
    #[error(transparent)]
    Observe(#[from] ObserveError),
    /// The plan names a test that the suite does not have.
    #[error("test `{0}` is not in the suite of this version of rqps; resume with the version that began the campaign")]
    UnknownTest(String),
    /// No server is left.
    #[error("round {round}: no server is running any more; the last one said: {last}")]
    NoServerLeft {
        /// From 1.
        round: u32,
        /// The last failure.
        last: String,
    },
    /// The user asked to stop.
    #[error("interrupted; finish it with `rqps resume`")]
    Interrupted,
}

impl ConductError {
    /// Whether a server only refused what was asked of it, and is in no doubt.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self, ConductError::Load { error, .. } if error.is_refusal())
    }

    pub(crate) fn server<E: Into<ServerError>>(doing: impl Into<String>) -> impl FnOnce(E) -> ConductError {
        let doing = doing.into();
        move |error| ConductError::Server { doing, error: Box::new(error.into()) }
    }

    pub(crate) fn load(doing: impl Into<String>) -> impl FnOnce(LoadError) -> ConductError {
        let doing = doing.into();
        move |error| match error {
            LoadError::Interrupted => ConductError::Interrupted,
            error => ConductError::Load { doing, error: Box::new(error) },
        }
    }
}

fn nothing_to_compare(base: &str, excluded: &[String]) -> String {
    match excluded {
        [one] if one == base => {
            format!("{base} is excluded (see above); without a baseline there is nothing to compare")
        }
        [one] => format!("there is nothing to compare {base} with: {one} is excluded (see above)"),
        several => {
            format!("there is nothing to compare {base} with: {} are excluded (see above)", several.join(" and "))
        }
    }
}
