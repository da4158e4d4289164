//! What `quick` and `demo` stand for in each suite, in the words of the flags.
//!
//! In: `presets.toml`, compiled in. Out: words that campaign reads as it reads flags, and that the help shows.

use crate::SuiteName;
use serde::Deserialize;
use std::sync::LazyLock;

/// Values for keys that are not given, with the name under which they are shown.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preset {
    /// The suite that it is for.
    pub suite: SuiteName,
    /// Such as `demo --quick`.
    pub name: String,
    /// Keys and values, written as for flags.
    pub words: Vec<(String, String)>,
}

/// The preset that is chosen by its name; the others have flags and commands of their own.
pub const PUBLISHED: &str = "published";

/// All presets.
pub static PRESETS: LazyLock<Vec<Preset>> = LazyLock::new(|| {
    #[derive(Deserialize)]
    struct File {
        preset: Vec<Preset>,
    }
    toml::from_str::<File>(include_str!("presets.toml")).expect("a test reads the compiled-in presets").preset
});

impl SuiteName {
    /// The preset of this name, where the suite has one.
    pub fn preset(self, name: &str) -> Option<&'static Preset> {
        PRESETS.iter().find(|preset| preset.suite == self && preset.name == name)
    }
}
