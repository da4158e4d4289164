//! Configuration profiles: named families of settings, sized for a machine, rendered for a version.
//!
//! In: profiles as data, a version, a [`Sizing`], and the user's own settings on top. Out: a
//! [`Configuration`]: the lines of a configuration file, what was written, and what this version lacks and was left
//! out. It must not start anything or read the host: cores, memory and free disk are given.

use crate::error::nearest;
use crate::known_settings::{KnownSettings, Presence};
use crate::{Result, ServerError};
use rqps_machine::user_files::user_files;
use rqps_model::facts::BuildFacts;
use rqps_model::settings::MachineClass;
use rqps_model::{Engine, StorageEngine};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

mod conf_file;
pub(crate) mod form;
mod option_file;
mod render;
mod rule;

pub use conf_file::parse_conf;
pub use form::SettingsForm;
pub(crate) use form::option_value;
use rule::Rule;

const BUILT_IN: [(&str, &str); 3] = [
    ("profiles/postgres.toml", include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../profiles/postgres.toml"))),
    ("profiles/mysql.toml", include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../profiles/mysql.toml"))),
    ("profiles/mariadb.toml", include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../profiles/mariadb.toml"))),
];

/// What a configuration is sized for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sizing {
    /// Cores and memory of one server.
    pub machine: MachineClass,
    /// Free disk space that one server may count on, where known.
    pub disk_free_bytes: Option<u64>,
    /// Bytes of the tables, where known.
    pub data_bytes: Option<u64>,
    /// Sessions that are held to the server at once.
    pub clients: u32,
    /// Builds that share each second with this one, itself included, since it stands still while they work; else 1.
    pub alternating_builds: u32,
}

/// A configuration for one version, ready to be written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Configuration {
    /// Profile, variants and machine class, such as `x10a_sync_c8r32`.
    pub name: String,
    /// The lines of the configuration file.
    pub lines: Vec<String>,
    /// The settings of these lines.
    pub written: BTreeMap<String, String>,
    /// Those of them that are written so that a server which does not know them passes over them: their list of
    /// versions does not show whether it does.
    pub loose: BTreeSet<String>,
    /// Settings that were wanted and are not written, with the reason.
    pub left_out: BTreeMap<String, String>,
    /// What was made smaller than in the profile, with the reason.
    pub notes: Vec<String>,
}

/// All profiles and variants.
#[derive(Debug, Clone, Default)]
pub struct Profiles {
    profiles: BTreeMap<(Engine, String), Profile>,
    variants: BTreeMap<(Engine, String), Profile>,
    /// What every profile has where these store the tables.
    storages: BTreeMap<(Engine, StorageEngine), Settings>,
}

type Settings = BTreeMap<String, Rule>;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Profile {
    #[serde(default)]
    about: String,
    extends: Option<String>,
    #[serde(default)]
    settings: Settings,
    #[serde(default)]
    storage: BTreeMap<StorageEngine, Stored>,
    #[serde(default)]
    left_alone: BTreeMap<String, String>,
    needs: Option<Needs>,
}

/// What a build must have been made with.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Needs {
    /// The option of `configure`.
    option: String,
    /// What to do where a build was made without.
    remedy: String,
}

/// What belongs to a storage engine.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    settings: Settings,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProfilesFile {
    engine: Engine,
    #[serde(default)]
    profile: BTreeMap<String, Profile>,
    #[serde(default)]
    variant: BTreeMap<String, Profile>,
    #[serde(default)]
    storage: BTreeMap<StorageEngine, Stored>,
}

impl Profiles {
    /// The compiled-in profiles with the user's own files on top.
    pub fn load() -> Result<Profiles> {
        let mut profiles = Profiles::built_in();
        for (path, text) in user_files("profiles")? {
            profiles.add(&path.display().to_string(), &text)?;
        }
        Ok(profiles)
    }

    /// The compiled-in profiles alone.
    pub fn built_in() -> Profiles {
        let mut profiles = Profiles::default();
        for (name, text) in BUILT_IN {
            profiles.add(name, text).expect("a test reads the compiled-in profiles");
        }
        profiles
    }

    /// Adds the profiles of a file; those that are there already are replaced.
    pub fn add(&mut self, file: &str, text: &str) -> Result<()> {
        let malformed = |reason: String| ServerError::Malformed { file: file.to_owned(), reason };
        let parsed: ProfilesFile = toml::from_str(text).map_err(|e| malformed(e.to_string()))?;
        let ProfilesFile { engine, profile, variant, storage } = parsed;
        let known = KnownSettings::of(engine);
        let check = |name: &str, settings: &Settings| {
            let mut names = settings.keys();
            names.try_for_each(|setting| known.check(setting).map_err(|e| malformed(format!("profile {name}: {e}"))))
        };
        for (name, profile) in profile.iter().chain(&variant) {
            if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric()) {
                let reason = "a name may only have letters and digits; `_` separates variants";
                return Err(malformed(format!("profile {name}: {reason}")));
            }
            check(name, &profile.settings)?;
            profile.storage.values().try_for_each(|stored| check(name, &stored.settings))?;
        }
        storage.iter().try_for_each(|(storage, stored)| check(storage.name(), &stored.settings))?;
        let named = |(name, profile): (String, Profile)| ((engine, name), profile);
        self.profiles.extend(profile.into_iter().map(named));
        self.variants.extend(variant.into_iter().map(named));
        self.storages.extend(storage.into_iter().map(|(storage, stored)| ((engine, storage), stored.settings)));
        // Each profile reaches a root: no unknown base, no circle.
        for (engine, name) in self.profiles.keys() {
            self.lineage(*engine, name).map_err(|reason| malformed(format!("profile {name}: {reason}")))?;
        }
        Ok(())
    }

    /// Names of all profiles of an engine with what they are for, then of all variants with a leading `_`.
    pub fn list(&self, engine: Engine) -> Vec<(String, String)> {
        let of_engine = |(e, _): &(&(Engine, String), &Profile)| e.0 == engine;
        let profiles = self.profiles.iter().filter(of_engine).map(|((_, name), p)| (name.clone(), p.about.clone()));
        let variants =
            self.variants.iter().filter(of_engine).map(|((_, name), p)| (format!("_{name}"), p.about.clone()));
        profiles.chain(variants).collect()
    }

    /// Refuses a build that was configured without what a profile needs. A version that has none of the profile's own
    /// settings runs without them; a build that does not tell how it was configured is left for its server to judge.
    pub fn check_build(&self, profile: &str, build: &BuildFacts) -> Result<()> {
        let known = KnownSettings::of(build.engine);
        let has = |name: &String| !matches!(known.find(name, &build.version), Ok(Presence::Lacks(_)));
        for part in self.parts(build.engine, profile)? {
            let Some(Needs { option, remedy }) = &part.needs else { continue };
            let is_given = build.configure.split_whitespace().any(|word| word.trim_matches('\'') == option);
            if !build.configure.is_empty() && !is_given && part.settings.keys().any(has) {
                return Err(ServerError::MadeWithout {
                    build: build.name.clone(),
                    profile: profile.to_owned(),
                    option: option.clone(),
                    remedy: remedy.clone(),
                });
            }
        }
        Ok(())
    }

    /// The profiles that a name is made of: bases first, then itself, then variants in the order in which they stand.
    fn parts(&self, engine: Engine, name: &str) -> Result<Vec<&Profile>> {
        let mut words = name.split('_');
        let base = words.next().unwrap_or_default();
        let unknown = || self.unknown_profile(engine, name);
        let mut parts = self.lineage(engine, base).map_err(|_| unknown())?;
        let mut seen = Vec::new();
        for word in words {
            parts.push(self.variants.get(&(engine, word.to_owned())).ok_or_else(unknown)?);
            if seen.contains(&word) {
                return Err(unknown());
            }
            seen.push(word);
        }
        Ok(parts)
    }

    fn lineage(&self, engine: Engine, name: &str) -> Result<Vec<&Profile>, String> {
        let mut line = Vec::new();
        let mut next = Some(name);
        while let Some(name) = next {
            let found = self.profiles.get(&(engine, name.to_owned()));
            let profile = found.ok_or_else(|| format!("there is no profile `{name}` to extend"))?;
            if line.len() > self.profiles.len() {
                return Err("it extends itself".to_owned());
            }
            line.push(profile);
            next = profile.extends.as_deref();
        }
        line.reverse();
        Ok(line)
    }

    fn unknown_profile(&self, engine: Engine, name: &str) -> ServerError {
        let plain: Vec<&str> = self.profiles.keys().filter(|(e, _)| *e == engine).map(|(_, n)| n.as_str()).collect();
        let variants: Vec<&str> = self.variants.keys().filter(|(e, _)| *e == engine).map(|(_, n)| n.as_str()).collect();
        let with_variant = plain.iter().flat_map(|p| variants.iter().map(move |v| format!("{p}_{v}")));
        let known: Vec<String> = plain.iter().map(|p| (*p).to_owned()).chain(with_variant).collect();
        ServerError::UnknownProfile {
            name: name.to_owned(),
            nearest: nearest(name, known.iter().map(String::as_str)),
            known,
        }
    }
}

#[cfg(test)]
mod tests;
