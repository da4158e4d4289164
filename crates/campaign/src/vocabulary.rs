//! The words a campaign may use: releases, profiles, settings, and the suites with their tests. Filled by the caller,
//! so that this crate knows no server.
//!
//! Also here: the nearest right word for a wrong one.

use crate::engine::words;
use rqps_model::insert::Shape;
use rqps_model::{Engine, Interleave, StorageEngine, Version};
use rqps_suites::Suite;
use std::collections::BTreeMap;

/// A release that the catalog can install.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// The database system.
    pub engine: Engine,
    /// Its version.
    pub version: Version,
    /// Name of its build, such as `pg1711_zonky`.
    pub build: String,
    /// What its tables can be stored by; `None` where only installing it would tell.
    pub storage: Option<Vec<StorageEngine>>,
}

/// A configuration profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileWord {
    /// The database system that it configures.
    pub engine: Engine,
    /// Its name, such as `x10a`; engines may have profiles of the same name.
    pub name: String,
    /// How builds alternate under it where the user says nothing: turns for those that are bound by IO.
    pub interleave: Interleave,
}

/// Every word that a campaign may use.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Vocabulary {
    /// Releases of the catalog.
    pub releases: Vec<Release>,
    /// Configuration profiles.
    pub profiles: Vec<ProfileWord>,
    /// Suites.
    pub suites: Vec<Suite>,
    /// Names of the servers' settings by engine, of all versions that the catalog has.
    pub settings: BTreeMap<Engine, Vec<String>>,
    /// Settings that are not the user's, by engine.
    pub kept_settings: BTreeMap<Engine, KeptSettings>,
}

/// Settings that rqps decides itself, to keep servers apart and private.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeptSettings {
    /// Where a server lives and how it is reached.
    pub own: Vec<String>,
    /// Names of files: the user may choose the name, not the place.
    pub files: Vec<String>,
}

impl Vocabulary {
    /// The sizes of a suite.
    pub(crate) fn scales(&self, suite: &str) -> Option<&BTreeMap<String, Shape>> {
        self.suites.iter().find(|known| known.name == suite).map(|suite| &suite.scales)
    }

    /// The versions of an engine, oldest first.
    pub fn versions(&self, engine: Engine) -> Vec<&Version> {
        let mut versions: Vec<&Version> =
            self.releases.iter().filter(|release| release.engine == engine).map(|release| &release.version).collect();
        versions.sort();
        versions
    }

    /// Whether some version of an engine has a setting, as far as can be told: PostgreSQL's extensions name theirs with
    /// a dot.
    pub(crate) fn may_have_setting(&self, engine: Engine, name: &str) -> bool {
        let mut names = self.settings.get(&engine).into_iter().flatten();
        name.contains('.') && words(engine).has_extensions || names.any(|known| known.eq_ignore_ascii_case(name))
    }

    /// The profile of an engine with this name.
    pub(crate) fn profile(&self, engine: Engine, name: &str) -> Option<&ProfileWord> {
        self.profiles.iter().find(|known| known.engine == engine && known.name == name)
    }

    pub(crate) fn release(&self, engine: Engine, version: &Version) -> Option<&Release> {
        self.releases.iter().find(|release| release.engine == engine && release.version == *version)
    }

    /// The releases whose tables a storage engine can store, as far as is known, as a user names them.
    pub(crate) fn builds_with(&self, storage: StorageEngine) -> Vec<String> {
        let has = |release: &&Release| release.storage.as_ref().is_some_and(|known| known.contains(&storage));
        self.releases.iter().filter(has).map(|release| format!("{}:{}", release.engine, release.version)).collect()
    }

    /// The release that a user most likely means by a version that is not there: the newest of its major version, else
    /// the one whose major version is nearest.
    pub(crate) fn nearest_version(&self, engine: Engine, version: &Version) -> Option<&Version> {
        let distance = |known: &&Version| -> Vec<u32> {
            (0..=words(engine).series_parts).map(|part| known.part(part).abs_diff(version.part(part))).collect()
        };
        self.versions(engine).into_iter().rev().min_by_key(distance)
    }
}

/// The profile of an engine where none is given.
pub const fn default_profile(engine: Engine) -> &'static str {
    words(engine).default_profile
}

/// The word of a list that a misspelt word is nearest to, if any is near enough to be meant.
pub fn nearest<'a>(word: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wrong = word.to_lowercase();
    let score = |right: &&str| {
        let right = right.to_lowercase();
        let begins = wrong.len() >= 3 && (right.starts_with(&wrong) || wrong.starts_with(&right) && right.len() >= 3);
        // One slip in three letters is still the same word; a beginning counts as one slip.
        let slips = strsim::damerau_levenshtein(&wrong, &right);
        let allowed = (wrong.chars().count().max(right.chars().count()) / 3).max(1);
        (if begins { slips.min(1) } else { slips }, allowed)
    };
    let near = words.into_iter().map(|right| (score(&right), right)).filter(|((slips, allowed), _)| slips <= allowed);
    near.min_by_key(|((slips, _), _)| *slips).map(|(_, right)| right)
}

/// The remedy that names the nearest right word.
pub(crate) fn did_you_mean<'a>(word: &str, words: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(word, words).map(|right| format!("did you mean `{right}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::vocabulary;

    #[test]
    fn finds_the_nearest_right_word() {
        let words = ["rows", "rounds", "read-seconds", "write-seconds", "tests", "hot-points", "read-only_range=100"];
        for (wrong, right) in [
            ("row", Some("rows")),
            ("test", Some("tests")),
            ("read_seconds", Some("read-seconds")),
            ("raed-seconds", Some("read-seconds")),
            ("Hot-Point", Some("hot-points")),
            ("read-only", Some("read-only_range=100")),
            ("x", None),
            ("", None),
            ("banana", None),
        ] {
            assert_eq!(nearest(wrong, words), right, "{wrong}");
        }
    }

    #[test]
    fn the_nearest_version_is_the_newest_of_its_major() {
        let of = |engine: Engine, text: &str| {
            let version = text.parse().expect("a version");
            vocabulary().nearest_version(engine, &version).map(ToString::to_string)
        };
        let near = |text: &str| of(Engine::Postgres, text);
        assert_eq!(near("17.12").as_deref(), Some("17.11"));
        assert_eq!(near("14").as_deref(), Some("14.24"));
        assert_eq!(near("19beta1").as_deref(), Some("18.6"));
        assert_eq!(near("9.6").as_deref(), Some("12.22"));
        assert_eq!(of(Engine::Mysql, "5.6.51").as_deref(), Some("5.6.14"));
        assert_eq!(of(Engine::Mysql, "8.0.45").as_deref(), Some("8.0.33"));
        assert_eq!(of(Engine::Mysql, "9.4.0").as_deref(), Some("8.0.33"));
        assert_eq!(of(Engine::Mariadb, "10.3.1").as_deref(), Some("10.2.11"));
    }
}
