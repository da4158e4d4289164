//! Builds and settings: what each build is made of, what engines force and how their settings stand side by side, which
//! effective settings differ within an engine, what was left out; and the host.

use super::scene::Scene;
use super::summary;
use crate::order::grouped;
use crate::{number, order};
use rqps_analysis::findings::TreatmentFindings;
use rqps_model::checkup::{HostCheckup, Level};
use rqps_model::facts::HostFacts;
use rqps_model::plan::ForcedForm;
use rqps_model::sample::ProgramText;
use rqps_model::{Engine, plural};
use serde::Serialize;
use std::collections::BTreeSet;

/// The section.
#[derive(Serialize)]
pub(super) struct Settings {
    builds: Vec<Build>,
    forced: Vec<Forced>,
    side_by_side: Option<Table>,
    /// Engine by engine.
    diffs: Vec<Diff>,
    written: Vec<Written>,
    /// Setting, reason, builds.
    left_out: Vec<(String, String, String)>,
    host: Vec<(&'static str, String)>,
}

#[derive(Serialize)]
struct Build {
    name: String,
    is_base: bool,
    facts: Vec<(&'static str, String)>,
}

/// What engines force to be different.
#[derive(Serialize)]
struct Forced {
    what: String,
    tests: String,
    /// Engines and their form.
    forms: Vec<(String, String)>,
    because: String,
}

/// What matters of the settings, treatment beside treatment.
#[derive(Serialize)]
struct Table {
    heads: Vec<String>,
    rows: Vec<(String, Vec<String>)>,
}

/// Settings whose effective value is not the same on all builds of an engine.
#[derive(Serialize)]
struct Diff {
    /// The engine where there are several, else empty.
    engine: &'static str,
    heads: Vec<String>,
    rows: Vec<DiffRow>,
}

#[derive(Serialize)]
struct DiffRow {
    name: String,
    cells: Vec<DiffCell>,
}

#[derive(Serialize)]
struct DiffCell {
    value: String,
    class: &'static str,
}

/// A configuration as written, with the treatments that have it.
#[derive(Serialize)]
struct Written {
    treatments: String,
    lines: Vec<String>,
}

pub(super) fn settings(scene: &Scene<'_>) -> Settings {
    Settings {
        builds: scene.base_first().into_iter().map(|index| build(scene, index)).collect(),
        forced: forced(scene),
        side_by_side: side_by_side(scene),
        diffs: diffs(scene),
        written: written(scene),
        left_out: left_out(scene),
        host: host(&scene.findings.host, scene),
    }
}

fn build(scene: &Scene<'_>, index: usize) -> Build {
    let TreatmentFindings { build, settings, name, load_seconds, program_text, .. } = &scene.findings.treatments[index];
    let facts = vec![
        ("Treatment", name.clone()),
        ("Engine", format!("{} {}", build.engine.title(), build.version)),
        ("Version", build.banner.clone()),
        ("Origin", build.origin.clone()),
        ("Source", build.source.clone()),
        ("SHA-256", build.sha256.clone()),
        ("Folder", build.folder.display().to_string()),
        ("Compiler", build.compiler.clone()),
        ("Flags", build.flags.clone()),
        ("Configure", build.configure.clone()),
        (if build.engine == Engine::Postgres { "Extensions" } else { "Plugins" }, build.extensions.join(", ")),
        ("Symbols", build.symbols.clone()),
        ("Size", number::bytes(build.size_bytes as f64)),
        ("Configuration", settings.configuration.clone()),
        ("Tables stored by", settings.storage_engine.clone()),
        ("Encoding", format!("{}, collation {}", settings.encoding, settings.collation)),
        ("Checksums", if settings.checksums { "on" } else { "off" }.to_owned()),
        ("Connection", settings.transport.clone()),
        ("CPUs", format!("server {}, client {}", cpus(&settings.server_cpus), cpus(&settings.client_cpus))),
        ("Program in memory", program_text.map(in_pages).unwrap_or_default()),
        ("Loading took", if *load_seconds > 0.0 { number::duration_us(*load_seconds * 1e6) } else { String::new() }),
    ];
    let facts = facts.into_iter().filter(|(_, value)| !value.is_empty()).collect();
    Build { name: scene.names[index].clone(), is_base: index == scene.findings.base, facts }
}

fn in_pages(text: ProgramText) -> String {
    let bytes = |bytes: u64| number::bytes(bytes as f64);
    format!("{} of {} in huge pages, after a start", bytes(text.huge_bytes), bytes(text.bytes))
}

fn cpus(cpus: &[usize]) -> String {
    if cpus.is_empty() {
        return "any".to_owned();
    }
    cpus.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

fn forced(scene: &Scene<'_>) -> Vec<Forced> {
    let view = |form: &ForcedForm| Forced {
        what: form.what.clone(),
        tests: form.tests.join(", "),
        forms: order::forms(form).into_iter().map(|(titles, form)| (titles, form.to_owned())).collect(),
        because: form.because.clone(),
    };
    scene.findings.forced.iter().map(view).collect()
}

fn side_by_side(scene: &Scene<'_>) -> Option<Table> {
    let order = scene.base_first();
    let shown = |values: &[String], index: usize| {
        values.get(index).filter(|value| !value.is_empty()).map_or_else(|| number::NONE.to_owned(), Clone::clone)
    };
    let rows = &scene.findings.side_by_side;
    (!rows.is_empty()).then(|| Table {
        heads: order.iter().map(|index| scene.names[*index].clone()).collect(),
        rows: rows
            .iter()
            .map(|row| (row.what.clone(), order.iter().map(|index| shown(&row.values, *index)).collect()))
            .collect(),
    })
}

/// Settings that differ, for each engine that has more than one build.
fn diffs(scene: &Scene<'_>) -> Vec<Diff> {
    let engines = order::engines(scene.findings);
    let of_engine = |engine: &Engine| {
        let is_of_engine = |index: &usize| scene.findings.treatments[*index].build.engine == *engine;
        let builds: Vec<usize> = scene.base_first().into_iter().filter(is_of_engine).collect();
        let engine = if engines.len() > 1 { engine.title() } else { "" };
        (builds.len() > 1 || engines.len() == 1).then(|| diff(scene, engine, &builds))
    };
    engines.iter().filter_map(of_engine).collect()
}

/// The differences of some builds from the first of them.
fn diff(scene: &Scene<'_>, engine: &'static str, builds: &[usize]) -> Diff {
    let treatments = &scene.findings.treatments;
    let others = builds.get(1..).unwrap_or_default();
    let names: BTreeSet<&String> = others.iter().flat_map(|index| treatments[*index].settings_diff.keys()).collect();
    let value = |value: &Option<String>, class: &'static str| match value {
        Some(value) if value.is_empty() => DiffCell { value: "''".to_owned(), class },
        Some(value) => DiffCell { value: value.clone(), class },
        None => DiffCell { value: "not present".to_owned(), class: "absent" },
    };
    let row = |name: &String| {
        let found = |index: usize| treatments[index].settings_diff.get(name);
        let first = others.iter().find_map(|index| found(*index)).map(|(first, _)| value(first, ""));
        let others = others.iter().map(|index| match found(*index) {
            Some((_, this)) => value(this, "changed"),
            None => DiffCell { value: "·".to_owned(), class: "same" },
        });
        DiffRow { name: name.clone(), cells: first.into_iter().chain(others).collect() }
    };
    let heads = builds.iter().map(|index| scene.names[*index].clone());
    Diff { engine, heads: heads.collect(), rows: names.into_iter().map(row).collect() }
}

fn written(scene: &Scene<'_>) -> Vec<Written> {
    let of_build = |index: usize| {
        let settings = &scene.findings.treatments[index].settings.written;
        (settings.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>(), index)
    };
    let groups = grouped(scene.base_first().into_iter().map(of_build)).into_iter();
    let written = groups.filter(|(lines, _)| !lines.is_empty());
    written.map(|(lines, builds)| Written { treatments: scene.joined(&builds), lines }).collect()
}

fn left_out(scene: &Scene<'_>) -> Vec<(String, String, String)> {
    let of_build = |index: usize| {
        let left_out = &scene.findings.treatments[index].settings.left_out;
        left_out.iter().map(move |entry| (entry, index))
    };
    let found = grouped(scene.base_first().into_iter().flat_map(of_build));
    found.into_iter().map(|((name, reason), builds)| (name.clone(), reason.clone(), scene.joined(&builds))).collect()
}

fn host(host: &HostFacts, scene: &Scene<'_>) -> Vec<(&'static str, String)> {
    let known = |value: &Option<String>| value.clone().unwrap_or_default();
    let turbo = host.turbo.map_or(String::new(), |on| if on { "on" } else { "off" }.to_owned());
    let facts = vec![
        ("Name", host.hostname.clone()),
        ("CPU", host.cpu_model.clone()),
        ("CPUs online", host.cpus.to_string()),
        ("Threads per core", host.threads_per_core.map(|n| n.to_string()).unwrap_or_default()),
        ("Governor", known(&host.governor)),
        ("Turbo", turbo),
        ("Hypervisor", known(&host.virtualization)),
        ("Memory", number::bytes(host.memory_bytes as f64)),
        ("Swap", number::bytes(host.swap_bytes as f64)),
        ("Huge pages", known(&host.transparent_huge_pages)),
        ("Distribution", host.distribution.clone()),
        ("Kernel", host.kernel.clone()),
        (
            "File system",
            format!("{} on {}{}", host.filesystem, host.device, if host.reflink { ", reflinks" } else { "" }),
        ),
        ("Boot", host.boot_id.clone()),
        ("Placement", summary::placement(scene.findings.campaign.placement).to_owned()),
        ("Doctor", scene.findings.checkup.as_ref().map_or_else(String::new, checkup)),
        ("rqps", host.rqps_version.clone()),
    ];
    facts.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}

/// Such as `2 problems: swap (1 GB used), clock (hpet); 1 note: turbo (on); 11 good; 2026-11-28T09:10:00Z`.
fn checkup(checkup: &HostCheckup) -> String {
    let of_level = |level: Level| checkup.findings.iter().filter(move |finding| finding.level == level);
    let told = |level: Level, noun: &str| {
        let found: Vec<String> = of_level(level).map(|one| format!("{} ({})", one.about, one.found)).collect();
        (!found.is_empty()).then(|| format!("{}: {}; ", plural(found.len(), noun), found.join(", ")))
    };
    let worse = [(Level::Problem, "problem"), (Level::Note, "note")].map(|(level, noun)| told(level, noun));
    let worse: String = worse.into_iter().flatten().collect();
    format!("{worse}{} good; {}", of_level(Level::Good).count(), checkup.at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rqps_model::checkup::HostFinding;

    #[test]
    fn a_checkup_is_told_with_what_is_not_as_it_should_be() {
        let finding = |about: &str, level, found: &str| {
            let [about, found] = [about, found].map(str::to_owned);
            HostFinding { about, level, found }
        };
        let mut findings = vec![finding("clock", Level::Good, "tsc"), finding("swap", Level::Problem, "1 GB used")];
        findings.push(finding("turbo", Level::Note, "on"));
        let at = "2026-11-28T09:10:00Z".to_owned();
        let told = checkup(&HostCheckup { at: at.clone(), findings });
        assert_eq!(told, "1 problem: swap (1 GB used); 1 note: turbo (on); 1 good; 2026-11-28T09:10:00Z");
        let good = vec![finding("clock", Level::Good, "tsc")];
        assert_eq!(checkup(&HostCheckup { at, findings: good }), "1 good; 2026-11-28T09:10:00Z");
    }
}
