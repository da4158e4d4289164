//! A profile made into the configuration of one version.
//!
//! In: the layers of a profile (bases, variants, what belongs to a storage engine) and the user's own settings on top.
//! Out: lines, and what was left out and why. It must not contact a server: what a version may have is written
//! so that a server without it still starts, and the read-back shows it.

use super::form::SettingsForm;
use super::{Configuration, Profiles, Sizing};
use crate::known_settings::{KnownSettings, Presence};
use crate::{Result, ServerError};
use rqps_model::{Engine, StorageEngine, Version};
use std::collections::BTreeMap;

/// What begins the names of all settings of the RocksDB plugin.
const ROCKSDB: &str = "rocksdb_";

/// What a configuration is rendered for.
struct Target<'a> {
    form: &'static SettingsForm,
    version: &'a Version,
    storage: Option<StorageEngine>,
    known: &'static KnownSettings,
}

impl Profiles {
    /// Sizes and renders a profile for a version and what stores its tables. `set` comes on top of the profile.
    pub fn render(
        &self,
        engine: Engine,
        profile: &str,
        version: &Version,
        storage: Option<StorageEngine>,
        sizing: &Sizing,
        set: &BTreeMap<String, String>,
    ) -> Result<Configuration> {
        let target = Target { form: SettingsForm::of(engine), version, storage, known: KnownSettings::of(engine) };
        let mut configuration =
            Configuration { name: format!("{profile}_{}", sizing.machine.suffix()), ..Configuration::default() };
        let parts = self.parts(engine, profile)?;
        let mut rules = BTreeMap::new();
        parts.iter().for_each(|part| rules.extend(part.settings.iter()));
        // What belongs to a storage engine comes last: it divides the memory between two of them.
        let stored = storage.unwrap_or(StorageEngine::Innodb);
        let of_storage = self.storages.get(&(engine, stored)).into_iter();
        of_storage
            .chain(parts.iter().filter_map(|part| part.storage.get(&stored)).map(|part| &part.settings))
            .for_each(|more| rules.extend(more));
        for (setting, rule) in &rules {
            let sized = rule.value(sizing, version, target.form.unit_end());
            if let Some(value) = sized.value {
                configuration.put(&target, setting, &value)?;
            } else if let Some(reason) = sized.not_for {
                configuration.leave_out(&target, setting, &reason)?;
            }
            let note = sized.note.map(|note| format!("{setting}: {note}"));
            configuration.notes.extend(note);
        }
        for (setting, reason) in parts.iter().flat_map(|part| &part.left_alone) {
            let has_it = !matches!(target.known.find(setting, version), Ok(Presence::Lacks(_)) | Err(_));
            if has_it && !rules.contains_key(setting) {
                configuration.left_out.insert(setting.clone(), reason.clone());
            }
        }
        for (setting, value) in set {
            configuration.put(&target, setting, value)?;
        }
        let lines = configuration.written.iter().map(|(name, value)| {
            let is_loose = configuration.loose.contains(name);
            target.form.line(name, value, is_loose)
        });
        configuration.lines = lines.collect();
        Ok(configuration)
    }
}

impl Configuration {
    /// The text of the configuration file.
    pub fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect()
    }

    /// Writes a setting, or notes why not; a later value of the same setting wins.
    fn put(&mut self, target: &Target<'_>, name: &str, value: &str) -> Result<()> {
        let (plain, asked_loose) = target.form.plain_name(name);
        let name = plain.as_str();
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
        if target.form.is_our_own(name) {
            return Err(invalid("rqps chooses it itself, to keep servers apart and private"));
        }
        if target.form.leads_away(name, value) {
            return Err(invalid(
                "rqps keeps all files of a server in the server's own folder; write a name without a path",
            ));
        }
        if name.starts_with(ROCKSDB) && target.storage != Some(StorageEngine::Rocksdb) {
            self.left_out.insert(name.to_owned(), "its tables are not stored by RocksDB".to_owned());
            return Ok(());
        }
        let (name, loose) = match target.known.find(name, target.version)? {
            Presence::Has(name) => (name, asked_loose),
            Presence::Perhaps(name) => (name, asked_loose || target.form.takes_unknown()),
            Presence::Lacks(reason) => {
                let reason = format!("{} does not have it: {reason}", target.version);
                self.left_out.insert(name.to_owned(), reason);
                return Ok(());
            }
        };
        self.left_out.remove(&name);
        if loose {
            self.loose.insert(name.clone());
        }
        // The last word on a setting holds, whether it sets it or turns it off.
        target.form.opposites(&name).iter().for_each(|other| {
            self.written.remove(other);
            self.loose.remove(other);
        });
        self.written.insert(name, value.to_owned());
        Ok(())
    }

    /// Notes a setting whose rule is not for this version, where the version has it.
    fn leave_out(&mut self, target: &Target<'_>, name: &str, reason: &str) -> Result<()> {
        let reason = match target.known.find(name, target.version)? {
            Presence::Lacks(reason) => format!("{} does not have it: {reason}", target.version),
            Presence::Has(_) | Presence::Perhaps(_) => format!("not for {}: {reason}", target.version),
        };
        self.left_out.insert(name.to_owned(), reason);
        Ok(())
    }
}
