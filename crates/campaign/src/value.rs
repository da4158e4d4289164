//! The values of keys that have a type of their own.
//!
//! In: nothing. Out: types with right forms and ranges; names in them are still words. How they are read is `read`'s
//! business.

use crate::place::Spanned;
use rqps_model::{BuildSpec, StorageEngine};
use std::fmt;

/// A setting and its value.
pub type Setting = (String, String);

/// A ready-made size, and how many times its rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    /// Its name, such as `cached-large`.
    pub word: String,
    /// 1 for its own size.
    pub factor: f64,
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.word)?;
        if self.factor == 1.0 { Ok(()) } else { write!(f, ":{}", self.factor) }
    }
}

/// A build as asked for, with what is said about it alone.
#[derive(Debug, Clone, PartialEq)]
pub struct BuildRequest {
    /// Engine, source and the user's name for it.
    pub spec: Spanned<BuildSpec>,
    /// Profiles for this build instead of the campaign's.
    pub profile: Option<Spanned<Vec<Spanned<String>>>>,
    /// Storage engines for this build instead of the campaign's.
    pub storage: Option<Spanned<Vec<Spanned<StorageEngine>>>>,
    /// Settings for this build on top of the campaign's.
    pub set: Vec<Spanned<Setting>>,
}
