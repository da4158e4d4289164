//! Warnings of one treatment: what differs from the base and was not requested.
//!
//! In: plan, build and settings of the treatment and of the base. Out: warnings. What the user chose to differ (another
//! profile, a `--set`) is a difference of treatment and no fault.

use super::{advised, unlike_builds, warning};
use crate::evidence::semantic_settings::{self, Semantic};
use crate::evidence::settings::{self, LOG_SIZE, MEMORY};
use crate::findings::{TreatmentFindings, Warning};
use crate::words::examples;
use rqps_model::plan::TreatmentPlan;
use rqps_model::{StorageEngine, WarningKind, plural};
use std::collections::BTreeMap;

/// Buffers and logs that differ by less than this hold the same data.
const ALIKE_BUFFERS: f64 = 0.05;

/// A treatment as planned and as found.
#[derive(Clone, Copy)]
pub(crate) struct Side<'a> {
    pub(crate) plan: &'a TreatmentPlan,
    pub(crate) found: &'a TreatmentFindings,
}

/// What stands beside every number of a treatment.
pub(crate) fn unlike(this: Side<'_>, base: Side<'_>) -> Vec<Warning> {
    let mut found: Vec<Warning> = unlike_builds::unlike(&this.found.build, &base.found.build).into_iter().collect();
    conditions(this, base, &mut found);
    if this.found.build.engine != base.found.build.engine {
        engines(this, base, &mut found);
    }
    found
}

/// A value, also where it is empty.
fn shown(value: &str) -> &str {
    if value.is_empty() { "''" } else { value }
}

fn conditions(this: Side<'_>, base: Side<'_>, found: &mut Vec<Warning>) {
    let (own, other) = (&this.found.settings, &base.found.settings);
    let on = |checksums: bool| if checksums { "on" } else { "off" };
    let cpus = |cpus: &[usize]| format!("{cpus:?}");
    let is_one_engine = this.found.build.engine == base.found.build.engine;
    let mut check = |kind: WarningKind, what: &str, own: String, other: String| {
        if own != other {
            let warning = warning(kind, format!("{what} {own}, on the base {other}"));
            // Engines run with the character sets of the published reports, whatever the user sets.
            let advice = (!is_one_engine && kind == WarningKind::Encoding)
                .then(|| "the rows are ASCII, one byte a character in both".to_owned());
            found.push(Warning { advice: advice.or(warning.advice), ..warning });
        }
    };
    check(WarningKind::Encoding, "the encoding is", charset(&own.encoding), charset(&other.encoding));
    check(WarningKind::Checksums, "data checksums are", on(own.checksums).to_owned(), on(other.checksums).to_owned());
    if is_one_engine {
        // Engines have collations of their own: that they differ is forced, and listed as such.
        check(WarningKind::Encoding, "the collation is", own.collation.clone(), other.collation.clone());
    }
    check(WarningKind::Transport, "the client connects by", own.transport.clone(), other.transport.clone());
    check(WarningKind::Placement, "the server runs on CPUs", cpus(&own.server_cpus), cpus(&other.server_cpus));
    check(WarningKind::Placement, "the client runs on CPUs", cpus(&own.client_cpus), cpus(&other.client_cpus));
}

/// Engines write the same character set in different ways: `LATIN1` and `latin1`, `UTF8` and `utf8mb4`.
fn charset(encoding: &str) -> String {
    let plain = encoding.to_lowercase().replace(['-', '_'], "");
    let is_utf8 = ["utf8", "utf8mb3", "utf8mb4"].contains(&plain.as_str());
    if is_utf8 { "utf8".to_owned() } else { plain }
}

/// What must be alike between two engines for their numbers to say something about the engines alone.
fn engines(this: Side<'_>, base: Side<'_>, found: &mut Vec<Warning>) {
    let (own, other) = (Semantic::of(this.found), Semantic::of(base.found));
    if let (Some(here), Some(there)) = (own.durability(), other.durability())
        && here != there
    {
        let message = format!(
            "a commit here {} ({}), on the base {} ({})",
            here.words(),
            own.commit(),
            there.words(),
            other.commit()
        );
        found.push(warning(WarningKind::Durability, message));
    }
    if let (Some(here), Some(there)) = (own.buffer_bytes(), other.buffer_bytes())
        && (here / there).ln().abs() > ALIKE_BUFFERS.ln_1p()
    {
        let message = format!(
            "buffers for data have {}, on the base {}",
            semantic_settings::size(here),
            semantic_settings::size(there)
        );
        found.push(warning(WarningKind::Memory, message));
    }
    if this.plan.storage == Some(StorageEngine::Rocksdb) || base.plan.storage == Some(StorageEngine::Rocksdb) {
        let message = format!("tables here are stored by {}, on the base by {}", own.storage(), other.storage());
        found.push(warning(WarningKind::StorageEngine, message));
    }
}

/// What differs from the plan.
pub(crate) fn not_as_asked(this: Side<'_>) -> Option<Warning> {
    let (asked, is) = (this.plan.storage?, this.found.settings.storage_engine.as_str());
    if is.is_empty() || is.eq_ignore_ascii_case(asked.name()) {
        return None;
    }
    let message = format!("tables are stored by {is} though {asked} was requested");
    Some(advised(WarningKind::StorageEngine, message, "see the server's log for why the plugin was not loaded"))
}

/// Whether two sizes differ by too little to matter.
fn are_nearly_alike(old: &str, new: &str) -> bool {
    const ALIKE: f64 = 0.01;
    match (old.parse::<f64>(), new.parse::<f64>()) {
        (Ok(old), Ok(new)) if old > 0.0 && new > 0.0 => (new / old).ln().abs() < ALIKE,
        _ => false,
    }
}

/// Settings that differ from the peer's and were not set on purpose.
pub(crate) fn unlike_settings(
    this: Side<'_>,
    base: Side<'_>,
    diff: &BTreeMap<String, settings::Difference>,
) -> Vec<Warning> {
    let mut found = Vec::new();
    if (&this.plan.profile, this.plan.storage) != (&base.plan.profile, base.plan.storage) {
        return found;
    }
    let is_asked = |name: &str| this.plan.set.contains_key(name) || base.plan.set.contains_key(name);
    let is_told_otherwise = |name: &str| LOG_SIZE.contains(&name) || settings::is_computed(name);
    let unasked = diff.iter().filter(|(name, _)| !is_asked(name) && !is_told_otherwise(name));
    let (mut memory, mut changed, mut one_sided) = (Vec::new(), Vec::new(), 0);
    for (name, values) in unasked {
        match values {
            // Servers round a size up to whole pieces of their own.
            (Some(old), Some(new)) if MEMORY.contains(&name.as_str()) && are_nearly_alike(old, new) => {}
            (Some(old), Some(new)) => {
                let list = if MEMORY.contains(&name.as_str()) { &mut memory } else { &mut changed };
                list.push(format!("{name} {} instead of {}", shown(new), shown(old)));
            }
            _ => one_sided += 1,
        }
    }
    if !memory.is_empty() {
        found.push(warning(WarningKind::Memory, examples(&memory)));
    }
    if !LOG_SIZE.into_iter().any(is_asked) {
        found.extend(log_size(this, base));
    }
    if !changed.is_empty() {
        let mut message = examples(&changed);
        if one_sided > 0 {
            message.push_str(&format!("; {} on one side only", plural(one_sided, "setting")));
        }
        found.push(warning(WarningKind::Settings, message));
    }
    found
}

/// Logs of other sizes before a checkpoint, whatever the settings are called that say so.
fn log_size(this: Side<'_>, base: Side<'_>) -> Option<Warning> {
    // A size of 0 leaves it to the server.
    let of = |side: Side<'_>| Semantic::of(side.found).log_bytes().filter(|&bytes| bytes > 0.0);
    let (here, there) = (of(this)?, of(base)?);
    let differ = (here / there).ln().abs() > ALIKE_BUFFERS.ln_1p();
    let message = || {
        format!(
            "the log before a checkpoint holds {}, on the base {}",
            semantic_settings::size(here),
            semantic_settings::size(there)
        )
    };
    differ.then(|| warning(WarningKind::LogSize, message()))
}

#[cfg(test)]
pub(crate) mod tests;
