//! Configuration profiles: named families of settings, sized for a machine, rendered for a version.
//!
//! In: profiles as data, a version, a [`Sizing`], and the user's own settings on top. Out: a
//! [`Configuration`]: the lines of a configuration file, what was written, and what this version lacks and was left out.
//! It must not start anything or read the host: cores, memory and free disk are given.

use crate::catalog::user_files;
use crate::error::nearest;
use crate::known_settings::{KnownSettings, Presence};
use crate::{Result, ServerError};
use rqps_model::settings::MachineClass;
use rqps_model::{Engine, Version};
use std::collections::BTreeMap;

mod conf_file;
mod rule;

pub use conf_file::parse_conf;
use rule::Rule;

const BUILT_IN: [(&str, &str); 1] =
    [("profiles/postgres.toml", include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../profiles/postgres.toml")))];

/// Settings that decide where a server lives and how it is reached.
const OUR_OWN: [&str; 14] = [
    "config_file",
    "data_directory",
    "event_source",
    "external_pid_file",
    "hba_file",
    "ident_file",
    "listen_addresses",
    "log_destination",
    "log_timezone",
    "logging_collector",
    "port",
    "unix_socket_directories",
    "unix_socket_group",
    "unix_socket_permissions",
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
    /// Settings that were wanted and are not written, with the reason.
    pub left_out: BTreeMap<String, String>,
    /// What was made smaller than the profile says, with the reason.
    pub notes: Vec<String>,
}

/// All profiles and variants.
#[derive(Debug, Clone, Default)]
pub struct Profiles {
    profiles: BTreeMap<(Engine, String), Profile>,
    variants: BTreeMap<(Engine, String), Profile>,
}

#[derive(Debug, Clone)]
struct Profile {
    about: String,
    extends: Option<String>,
    settings: BTreeMap<String, Rule>,
    left_alone: BTreeMap<String, String>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct ProfilesFile {
    engine: Engine,
    #[serde(default)]
    profile: BTreeMap<String, ProfileEntry>,
    #[serde(default)]
    variant: BTreeMap<String, ProfileEntry>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct ProfileEntry {
    #[serde(default)]
    about: String,
    extends: Option<String>,
    #[serde(default)]
    settings: BTreeMap<String, toml::Value>,
    #[serde(default)]
    left_alone: BTreeMap<String, String>,
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
        let known = KnownSettings::of(parsed.engine);
        let check = |name: &str, entry: ProfileEntry| {
            let fault = |reason: String| malformed(format!("profile {name}: {reason}"));
            if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric()) {
                return Err(fault("a name may only have letters and digits; `_` separates variants".to_owned()));
            }
            let mut settings = BTreeMap::new();
            for (setting, value) in entry.settings {
                known.check(&setting).map_err(|e| fault(e.to_string()))?;
                let rule = Rule::parse(&value).map_err(|e| fault(format!("{setting}: {e}")))?;
                settings.insert(setting, rule);
            }
            Ok(Profile { about: entry.about, extends: entry.extends, settings, left_alone: entry.left_alone })
        };
        for (name, entry) in parsed.profile {
            let profile = check(&name, entry)?;
            self.profiles.insert((parsed.engine, name), profile);
        }
        for (name, entry) in parsed.variant {
            let variant = check(&name, entry)?;
            self.variants.insert((parsed.engine, name), variant);
        }
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

    /// Refuses a name that is no profile; the error lists all and names the nearest.
    pub fn check(&self, engine: Engine, name: &str) -> Result<()> {
        self.parts(engine, name).map(drop)
    }

    /// Sizes and renders a profile for a version. `set` comes on top of the profile.
    pub fn render(
        &self,
        engine: Engine,
        profile: &str,
        version: &Version,
        sizing: &Sizing,
        set: &BTreeMap<String, String>,
    ) -> Result<Configuration> {
        let known = KnownSettings::of(engine);
        let mut configuration =
            Configuration { name: format!("{profile}_{}", sizing.machine.suffix()), ..Configuration::default() };
        let parts = self.parts(engine, profile)?;
        let mut rules = BTreeMap::new();
        for part in &parts {
            rules.extend(part.settings.iter());
        }
        for (setting, rule) in &rules {
            let sized = rule.value(sizing);
            if let Some(value) = sized.value {
                configuration.put(&known, version, setting, &value)?;
            }
            let note = sized.note.map(|note| format!("{setting}: {note}"));
            configuration.notes.extend(note);
        }
        for (setting, reason) in parts.iter().flat_map(|part| &part.left_alone) {
            let has_it = matches!(known.find(setting, version), Ok(Presence::Has(_)));
            if has_it && !rules.contains_key(setting) {
                configuration.left_out.insert(setting.clone(), reason.clone());
            }
        }
        for (setting, value) in set {
            configuration.put(&known, version, setting, value)?;
        }
        configuration.lines = configuration.written.iter().map(|(k, v)| format!("{k} = {}", quote(v))).collect();
        Ok(configuration)
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

impl Configuration {
    /// The text of the configuration file.
    pub fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect()
    }

    /// Writes a setting, or notes why not; a later value of the same setting wins.
    fn put(&mut self, known: &KnownSettings, version: &Version, name: &str, value: &str) -> Result<()> {
        let invalid = |reason: &str| ServerError::InvalidSetting {
            name: name.to_owned(),
            value: value.to_owned(),
            reason: reason.to_owned(),
        };
        let letters = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'));
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) || !letters {
            return Err(invalid("a name is made of letters, digits, `_` and `.`"));
        }
        if value.chars().any(|c| c.is_control()) {
            return Err(invalid("a value is one line"));
        }
        if OUR_OWN.contains(&name.to_ascii_lowercase().as_str()) {
            return Err(invalid("rqps chooses it itself, to keep servers apart and private"));
        }
        match known.find(name, version)? {
            Presence::Has(name) => {
                self.left_out.remove(&name);
                self.written.insert(name, value.to_owned());
            }
            Presence::Lacks(reason) => {
                self.left_out.insert(name.to_owned(), format!("{version} does not have it: {reason}"));
            }
        }
        Ok(())
    }
}

/// A value as configuration files take it, whatever is in it.
fn quote(value: &str) -> String {
    format!("'{}'", value.replace('\\', "\\\\").replace('\'', "''"))
}

#[cfg(test)]
mod tests;
