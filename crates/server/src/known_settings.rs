//! Which settings exist, and in which versions: data, so that a word can be checked without a server.
//!
//! In: the compiled-in list (made from the servers' own `pg_settings`). Out: whether a version has a setting, and the
//! nearest right word for one that no version has. It must not know values.

use crate::error::nearest;
use crate::{Result, ServerError};
use rqps_model::{Engine, Version};
use serde::Deserialize;
use std::collections::BTreeMap;

const POSTGRES: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../catalog/postgres-settings.toml"));

/// The settings of one engine.
#[derive(Debug, Clone)]
pub struct KnownSettings {
    engine: Engine,
    /// Newest major version that the list was made from.
    last: u32,
    /// By lower-case name, since servers take any case.
    settings: BTreeMap<String, Known>,
}

#[derive(Debug, Clone)]
struct Known {
    name: String,
    since: Option<u32>,
    until: Option<u32>,
}

/// Whether a version has a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Presence {
    /// It has it, by this name.
    Has(String),
    /// It does not have it; the text says since or until when others do.
    Lacks(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SettingsFile {
    engine: Engine,
    first: u32,
    last: u32,
    always: Vec<String>,
    since: BTreeMap<String, Vec<String>>,
    until: BTreeMap<String, Vec<String>>,
}

impl KnownSettings {
    /// The list of an engine.
    pub fn of(engine: Engine) -> KnownSettings {
        let text = match engine {
            Engine::Postgres => POSTGRES,
        };
        let file: SettingsFile = toml::from_str(text).expect("a test reads the compiled-in list");
        debug_assert!(file.engine == engine && file.first < file.last);
        let mut settings: BTreeMap<String, Known> = BTreeMap::new();
        let mut note = |name: &str, since: Option<u32>, until: Option<u32>| {
            let fresh = Known { name: name.to_owned(), since: None, until: None };
            let known = settings.entry(name.to_ascii_lowercase()).or_insert(fresh);
            known.since = known.since.or(since);
            known.until = known.until.or(until);
        };
        file.always.iter().for_each(|name| note(name, None, None));
        let major = |text: &str| Some(text.parse().expect("a test reads the compiled-in list"));
        file.since.iter().for_each(|(v, names)| names.iter().for_each(|name| note(name, major(v), None)));
        file.until.iter().for_each(|(v, names)| names.iter().for_each(|name| note(name, None, major(v))));
        KnownSettings { engine, last: file.last, settings }
    }

    /// Whether a version has a setting; an error with the nearest word if no version that is known has it. Settings of
    /// extensions (with a dot) and versions newer than the list are left for the server to judge.
    pub fn find(&self, name: &str, version: &Version) -> Result<Presence> {
        if name.contains('.') {
            return Ok(Presence::Has(name.to_owned()));
        }
        let major = version.major();
        let Some(known) = self.settings.get(&name.to_ascii_lowercase()) else {
            if major > self.last {
                return Ok(Presence::Has(name.to_owned()));
            }
            return Err(self.unknown(name));
        };
        let lacks = match (known.since, known.until) {
            (Some(since), _) if major < since => Some(format!("new in {since}")),
            (_, Some(until)) if major > until => Some(format!("no longer there after {until}")),
            _ => None,
        };
        Ok(lacks.map_or_else(|| Presence::Has(known.name.clone()), Presence::Lacks))
    }

    /// Names of all settings, of all versions.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.settings.values().map(|known| known.name.as_str())
    }

    /// Refuses a name that no known version has; for checking what a user wrote before any version is chosen.
    pub fn check(&self, name: &str) -> Result<()> {
        let known = name.contains('.') || self.settings.contains_key(&name.to_ascii_lowercase());
        if known { Ok(()) } else { Err(self.unknown(name)) }
    }

    fn unknown(&self, name: &str) -> ServerError {
        let lower = name.to_ascii_lowercase();
        ServerError::UnknownSetting {
            engine: self.engine.name().to_owned(),
            name: name.to_owned(),
            nearest: nearest(&lower, self.settings.keys().map(String::as_str)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_since_and_until_when() {
        let known = KnownSettings::of(Engine::Postgres);
        let find = |name: &str, version: &str| match known.find(name, &version.parse().expect("a version")) {
            Ok(Presence::Has(name)) => name,
            Ok(Presence::Lacks(why)) => format!("lacks: {why}"),
            Err(e) => e.to_string(),
        };
        for (name, version, expected) in [
            ("shared_buffers", "12.22", "shared_buffers"),
            ("timezone", "18.6", "TimeZone"),
            ("io_method", "17.11", "lacks: new in 18"),
            ("io_method", "18.1", "io_method"),
            ("vacuum_buffer_usage_limit", "15.15", "lacks: new in 16"),
            ("old_snapshot_threshold", "17.7", "lacks: no longer there after 16"),
            ("vacuum_cleanup_index_scale_factor", "13.23", "vacuum_cleanup_index_scale_factor"),
            ("pg_stat_statements.track", "12.22", "pg_stat_statements.track"),
            ("brand_new_thing", "19beta1", "brand_new_thing"),
            (
                "shared_bufers",
                "17.7",
                "no postgres version has a setting `shared_bufers` (did you mean `shared_buffers`?)",
            ),
        ] {
            assert_eq!(find(name, version), expected, "{name} {version}");
        }
        assert!(known.check("io_method").is_ok() && known.check("brand_new_thing").is_err());
        assert!(known.names().any(|name| name == "io_method") && known.names().all(|name| name != "brand_new_thing"));
    }
}
