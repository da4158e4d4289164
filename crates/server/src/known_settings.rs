//! Which settings exist, and in which versions: data, so that a word can be checked without a server.
//!
//! In: the compiled-in lists (made from the servers' own answers). Out: whether a version has a setting, and the
//! nearest right word for one that no version has. It must not know values.

use crate::error::nearest;
use crate::profile::SettingsForm;
use crate::{Result, ServerError};
use rqps_model::{Engine, Version};
use serde::Deserialize;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::LazyLock;

macro_rules! built_in {
    ($($name:literal),*) => {
        [$(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../catalog/", $name, "-settings.toml"))),*]
    };
}

/// The list of each engine.
const BUILT_IN: [&str; 3] = built_in!["postgres", "mysql", "mariadb"];

/// The settings of one engine.
#[derive(Debug, Clone)]
pub struct KnownSettings {
    engine: Engine,
    /// The versions that the list was made from, in rising order.
    seen: Vec<Mark>,
    /// Whether these are all, so that the list is exact for versions between two of them.
    is_exact: bool,
    /// By lower-case name, since servers take any case.
    settings: BTreeMap<String, Known>,
}

#[derive(Debug, Clone, Default)]
struct Known {
    name: String,
    since: Option<Mark>,
    until: Option<Mark>,
    /// There or not by how a server was built.
    perhaps: bool,
}

/// A version as precise as it is written: 17 stands for every 17.x.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Mark(Vec<u32>);

/// Whether a version has a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Presence {
    /// It has it, by this name.
    Has(String),
    /// It may have it, by this name: the list was not made from this version, or it depends on how the server was
    /// built.
    Perhaps(String),
    /// It does not have it; the text names the versions that do.
    Lacks(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SettingsFile {
    engine: Engine,
    versions: Vec<Mark>,
    #[serde(default)]
    exact: bool,
    always: Vec<String>,
    #[serde(default)]
    perhaps: Vec<String>,
    since: BTreeMap<Mark, Vec<String>>,
    until: BTreeMap<Mark, Vec<String>>,
}

impl TryFrom<String> for Mark {
    type Error = String;

    /// Reads `8.0.30`.
    fn try_from(text: String) -> Result<Mark, String> {
        let parts = text.split('.').map(|part| part.parse().ok()).collect::<Option<_>>();
        parts.map(Mark).ok_or_else(|| format!("`{text}` is not a version such as \"8.0.30\""))
    }
}

impl Mark {
    /// How a version stands to this one, looking only at the numbers that are written here.
    fn compare(&self, version: &Version) -> Ordering {
        let mut parts = self.0.iter().enumerate().map(|(at, part)| version.part(at).cmp(part));
        parts.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }

    /// Whether it comes after a version.
    pub(crate) fn is_after(&self, version: &Version) -> bool {
        self.compare(version).is_lt()
    }

    /// Whether a version comes after it.
    pub(crate) fn is_before(&self, version: &Version) -> bool {
        self.compare(version).is_gt()
    }

    /// As it was written.
    pub(crate) fn text(&self) -> String {
        self.0.iter().map(u32::to_string).collect::<Vec<_>>().join(".")
    }
}

impl KnownSettings {
    /// The list of an engine.
    pub fn of(engine: Engine) -> &'static KnownSettings {
        static ALL: LazyLock<[KnownSettings; 3]> = LazyLock::new(|| BUILT_IN.map(KnownSettings::read));
        ALL.iter().find(|known| known.engine == engine).expect("a test finds the list of every engine")
    }

    fn read(text: &str) -> KnownSettings {
        let file: SettingsFile = toml::from_str(text).expect("a test reads the compiled-in lists");
        let mut settings: BTreeMap<String, Known> = BTreeMap::new();
        let mut note = |names: &[String], change: &dyn Fn(&mut Known)| {
            for name in names {
                let known = settings.entry(name.to_ascii_lowercase()).or_default();
                known.name.clone_from(name);
                change(known);
            }
        };
        note(&file.always, &|_| ());
        note(&file.perhaps, &|known| known.perhaps = true);
        file.since.iter().for_each(|(v, names)| note(names, &|known| known.since = Some(v.clone())));
        file.until.iter().for_each(|(v, names)| note(names, &|known| known.until = Some(v.clone())));
        KnownSettings { engine: file.engine, seen: file.versions, is_exact: file.exact, settings }
    }

    /// Whether a version has a setting; an error with the nearest word if no version that is known has it. Settings of
    /// extensions (with a dot) and versions newer than the list are left for the server to judge.
    pub fn find(&self, name: &str, version: &Version) -> Result<Presence> {
        if name.contains('.') {
            return Ok(Presence::Has(name.to_owned()));
        }
        let is_newer = self.seen.last().is_some_and(|last| last.is_before(version));
        let Some((prefix, known)) = self.known(name) else {
            return if is_newer { Ok(Presence::Has(name.to_owned())) } else { Err(self.unknown(name)) };
        };
        let name = format!("{prefix}{}", known.name);
        Ok(match (&known.since, &known.until) {
            (Some(since), _) if since.is_after(version) && !self.is_between(version, None, Some(since)) => {
                Presence::Lacks(self.came(since))
            }
            (_, Some(until)) if until.is_before(version) && !self.is_between(version, Some(until), None) => {
                Presence::Lacks(self.went(until))
            }
            (since, until) => {
                let unseen = |mark: &Option<Mark>, early: bool| {
                    mark.as_ref().is_some_and(|m| if early { m.is_after(version) } else { m.is_before(version) })
                };
                let unsure = known.perhaps || is_newer || unseen(since, true) || unseen(until, false);
                if unsure { Presence::Perhaps(name) } else { Presence::Has(name) }
            }
        })
    }

    fn came(&self, since: &Mark) -> String {
        format!("{} {}", if self.is_exact_at(since) { "new in" } else { "first seen in" }, since.text())
    }

    fn went(&self, until: &Mark) -> String {
        format!("{} {}", if self.is_exact_at(until) { "no longer there after" } else { "last seen in" }, until.text())
    }

    /// Whether what came or went with a version did so exactly then: the manual states it, or every version was
    /// checked.
    fn is_exact_at(&self, mark: &Mark) -> bool {
        self.is_exact || !self.seen.contains(mark)
    }

    /// Whether a version lies between a version of the list and its neighbour before (`to`) or after (`from`) it: what
    /// came or went there did so at an unknown time. Marks that are not versions of the list are exact.
    fn is_between(&self, version: &Version, from: Option<&Mark>, to: Option<&Mark>) -> bool {
        let place = |mark: &Mark| self.seen.iter().position(|seen| seen == mark);
        match (from, to) {
            (None, Some(to)) => {
                place(to).is_some_and(|at| at > 0 && self.seen[at - 1].is_before(version) && to.is_after(version))
            }
            (Some(from), None) => place(from).is_some_and(|at| {
                from.is_before(version) && self.seen.get(at + 1).is_some_and(|next| next.is_after(version))
            }),
            _ => false,
        }
    }

    /// The setting of a name, with the word in front of it that turns it off.
    fn known(&self, name: &str) -> Option<(&'static str, &Known)> {
        let lower = name.to_ascii_lowercase();
        if let Some(known) = self.settings.get(&lower) {
            return Some(("", known));
        }
        SettingsForm::of(self.engine)
            .off_prefixes()
            .iter()
            .find_map(|prefix| Some((*prefix, self.settings.get(lower.strip_prefix(prefix)?)?)))
    }

    /// Names of all settings, of all versions.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.settings.values().map(|known| known.name.as_str())
    }

    /// Refuses a name that no known version has; for checking what a user wrote before any version is chosen.
    pub fn check(&self, name: &str) -> Result<()> {
        let known = name.contains('.') || self.known(name).is_some();
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

    fn check(engine: Engine, cases: &[(&str, &str, &str)]) {
        let known = KnownSettings::of(engine);
        for (name, version, expected) in cases {
            let found = match known.find(name, &version.parse().expect("a version")) {
                Ok(Presence::Has(name)) => name,
                Ok(Presence::Perhaps(name)) => format!("perhaps: {name}"),
                Ok(Presence::Lacks(why)) => format!("lacks: {why}"),
                Err(e) => e.to_string(),
            };
            assert_eq!(found, *expected, "{name} {version}");
        }
    }

    #[test]
    fn knows_since_and_until_when() {
        let cases = [
            ("shared_buffers", "12.22", "shared_buffers"),
            ("timezone", "18.6", "TimeZone"),
            ("io_method", "17.11", "lacks: new in 18"),
            ("io_method", "18.1", "io_method"),
            ("io_method", "18beta1", "io_method"),
            ("vacuum_buffer_usage_limit", "15.15", "lacks: new in 16"),
            ("old_snapshot_threshold", "17.7", "lacks: no longer there after 16"),
            ("vacuum_cleanup_index_scale_factor", "13.23", "vacuum_cleanup_index_scale_factor"),
            ("pg_stat_statements.track", "12.22", "pg_stat_statements.track"),
            ("io_method", "19rc1", "io_method"),
            ("io_workers", "19rc1", "lacks: no longer there after 18"),
            ("io_min_workers", "18.6", "lacks: new in 19"),
            ("io_method", "20beta1", "perhaps: io_method"),
            ("brand_new_thing", "20beta1", "brand_new_thing"),
            ("skip_jit", "17.7", "no postgres version has a setting `skip_jit`"),
            (
                "shared_bufers",
                "17.7",
                "no postgres version has a setting `shared_bufers` (did you mean `shared_buffers`?)",
            ),
        ];
        check(Engine::Postgres, &cases);
        let known = KnownSettings::of(Engine::Postgres);
        assert!(known.check("io_method").is_ok() && known.check("brand_new_thing").is_err());
        assert!(known.names().any(|name| name == "io_method") && known.names().all(|name| name != "brand_new_thing"));
    }

    #[test]
    fn versions_between_those_that_were_seen_may_have_it() {
        let cases = [
            ("innodb_redo_log_capacity", "8.0.29", "lacks: new in 8.0.30"),
            ("innodb_redo_log_capacity", "8.0.30", "innodb_redo_log_capacity"),
            ("gtid_mode", "5.5.34", "lacks: first seen in 5.6.14"),
            ("gtid_mode", "5.6.5", "perhaps: gtid_mode"),
            ("gtid_mode", "5.7.44", "gtid_mode"),
            ("gtid_mode", "9.6.0", "gtid_mode"),
            ("gtid_mode", "9.8.0", "perhaps: gtid_mode"),
            ("innodb_log_file_size", "9.7.4", "lacks: last seen in 8.0.33"),
            ("innodb_log_file_size", "8.4.8", "perhaps: innodb_log_file_size"),
            ("ssl", "9.7.4", "lacks: no longer there after 8.3"),
            ("innodb_native_foreign_keys", "8.0.33", "lacks: first seen in 9.7.4"),
            ("innodb_file_format", "5.7.22", "innodb_file_format"),
            ("innodb_file_format", "5.7.44", "perhaps: innodb_file_format"),
            ("innodb_file_format", "8.0.15", "lacks: last seen in 5.7.22"),
            ("innodb_numa_interleave", "8.0.33", "perhaps: innodb_numa_interleave"),
            ("skip_log_bin", "5.6.24", "skip_log_bin"),
            ("new_in_ten", "10.0.0", "new_in_ten"),
            (
                "innodb_bufer_pool_size",
                "8.0.33",
                "no mysql version has a setting `innodb_bufer_pool_size` (did you mean `innodb_buffer_pool_size`?)",
            ),
        ];
        check(Engine::Mysql, &cases);
        let cases = [
            ("innodb_change_buffering", "10.11.19", "innodb_change_buffering"),
            ("innodb_change_buffering", "11.0.2", "lacks: no longer there after 10.11"),
            ("binlog_storage_engine", "12.3.1", "perhaps: binlog_storage_engine"),
            ("binlog_storage_engine", "11.8.6", "lacks: new in 12.3"),
            ("rocksdb_block_cache_size", "11.4.5", "perhaps: rocksdb_block_cache_size"),
        ];
        check(Engine::Mariadb, &cases);
    }
}
