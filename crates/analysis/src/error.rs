//! Why a campaign could not be analysed.
//!
//! In: nothing. Out: one enum. A failed trial is not an error: it is data, and a warning in the findings.

/// Why there are no findings.
#[derive(Debug, thiserror::Error)]
pub enum AnalysisError {
    /// `--base` names no treatment.
    #[error("no treatment is called `{asked}`{}; this campaign has: {}", did_you_mean(nearest), names.join(", "))]
    UnknownBase {
        /// The word given.
        asked: String,
        /// The treatment's name that is most like it.
        nearest: Option<String>,
        /// All treatments.
        names: Vec<String>,
    },
    /// `--base` fits more than one treatment.
    #[error("`{asked}` fits {}; give the whole name", names.join(" and "))]
    AmbiguousBase {
        /// The word given.
        asked: String,
        /// The treatments it fits.
        names: Vec<String>,
    },
    /// A margin outside of what makes sense.
    #[error(transparent)]
    Margin(#[from] rqps_stats::Error),
    /// The results folder could not be read.
    #[error(transparent)]
    Store(#[from] rqps_store::StoreError),
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |name| format!(", did you mean `{name}`?"))
}
