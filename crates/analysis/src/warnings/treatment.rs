//! Warnings of one treatment: what differs from the base and was not asked for.
//!
//! In: plan, build and settings of the treatment and of the base. Out: warnings. What the user asked to differ (another
//! profile, a `--set`) is a difference of treatment and no fault.

use super::{counted, examples, warning};
use crate::findings::{TreatmentFindings, Warning};
use crate::settings::MEMORY;
use rqps_model::plan::TreatmentPlan;

/// A treatment as planned and as found.
#[derive(Clone, Copy)]
pub(crate) struct Side<'a> {
    pub(crate) plan: &'a TreatmentPlan,
    pub(crate) found: &'a TreatmentFindings,
}

/// What stands beside every number of a treatment.
pub(crate) fn unlike(this: Side<'_>, base: Side<'_>) -> Vec<Warning> {
    let mut found = Vec::new();
    builds(this, base, &mut found);
    conditions(this, base, &mut found);
    settings(this, base, &mut found);
    found
}

fn builds(this: Side<'_>, base: Side<'_>, found: &mut Vec<Warning>) {
    let (own, other) = (&this.found.build, &base.found.build);
    let mut differences = Vec::new();
    if own.compiler != other.compiler {
        differences.push(format!("compiler {} instead of {}", or_unknown(&own.compiler), or_unknown(&other.compiler)));
    }
    let (more, fewer) = (only_in(&own.flags, &other.flags), only_in(&other.flags, &own.flags));
    if !more.is_empty() {
        differences.push(format!("flags {more} only here"));
    }
    if !fewer.is_empty() {
        differences.push(format!("flags {fewer} only on the base"));
    }
    if !differences.is_empty() {
        let remedy = "compare builds made in one way, or read the change as one of source and build together";
        found.push(warning("unlike-builds", differences.join("; "), remedy));
    }
}

/// Words of one text that the other lacks; paths are the builder's and do not count.
fn only_in(text: &str, other: &str) -> String {
    let is_path = |word: &str| word.contains('/');
    let others: Vec<&str> = other.split_whitespace().collect();
    let mut words: Vec<&str> =
        text.split_whitespace().filter(|word| !is_path(word) && !others.contains(word)).collect();
    words.dedup();
    words.join(" ")
}

fn or_unknown(text: &str) -> &str {
    if text.is_empty() { "unknown" } else { text }
}

fn conditions(this: Side<'_>, base: Side<'_>, found: &mut Vec<Warning>) {
    let (own, other) = (&this.found.settings, &base.found.settings);
    let on = |checksums: bool| if checksums { "on" } else { "off" };
    let cpus = |cpus: &[usize]| format!("{cpus:?}");
    let mut check = |kind: &str, what: &str, own: String, other: String| {
        if own != other {
            found.push(warning(kind, format!("{what} {own}, on the base {other}"), "set it for both"));
        }
    };
    check("checksums", "data checksums are", on(own.checksums).to_owned(), on(other.checksums).to_owned());
    check("encoding", "the encoding is", own.encoding.clone(), other.encoding.clone());
    check("encoding", "the collation is", own.collation.clone(), other.collation.clone());
    check("transport", "the client connects by", own.transport.clone(), other.transport.clone());
    check("placement", "the server runs on CPUs", cpus(&own.server_cpus), cpus(&other.server_cpus));
    check("placement", "the client runs on CPUs", cpus(&own.client_cpus), cpus(&other.client_cpus));
}

fn settings(this: Side<'_>, base: Side<'_>, found: &mut Vec<Warning>) {
    if this.plan.profile != base.plan.profile {
        return;
    }
    let is_asked = |name: &str| this.plan.set.contains_key(name) || base.plan.set.contains_key(name);
    let unasked = this.found.settings_diff.iter().filter(|(name, _)| !is_asked(name));
    let (mut memory, mut changed, mut one_sided) = (Vec::new(), Vec::new(), 0);
    for (name, values) in unasked {
        match values {
            (Some(old), Some(new)) => {
                let list = if MEMORY.contains(&name.as_str()) { &mut memory } else { &mut changed };
                list.push(format!("{name} {new} instead of {old}"));
            }
            _ => one_sided += 1,
        }
    }
    if !memory.is_empty() {
        found.push(warning(
            "memory",
            examples(&memory),
            "give both the same memory, or read the change as one of memory too",
        ));
    }
    if !changed.is_empty() {
        let mut message = examples(&changed);
        if one_sided > 0 {
            message.push_str(&format!("; {} known to one of the two only", counted(one_sided, "setting")));
        }
        found.push(warning("settings", message, "set it for both with `--set` to compare the code alone"));
    }
}

#[cfg(test)]
mod tests;
