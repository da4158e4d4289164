//! The top of the page: title, one sentence per build with its counts, key facts, warnings of the whole campaign.

use super::noise;
use super::scene::{Notice, Scene, notice};
use crate::{footnote, number, order, planted, suite, verdict_style};
use rqps_analysis::findings::{KeptNoise, TreatmentFindings};
use rqps_model::{Engine, Placement, Verdict, WarningKind, human_duration, plural};
use serde::Serialize;
use std::collections::BTreeSet;
use std::time::Duration;

/// The top of the page.
#[derive(Serialize)]
pub(super) struct Summary {
    title: String,
    subtitle: String,
    builds: Vec<Build>,
    /// Name and value.
    facts: Vec<(&'static str, String)>,
    /// What all else is to be read by.
    first: Vec<Notice>,
    warnings: Vec<Notice>,
    /// With many builds their warnings stand together, by kind.
    gathered: Vec<(WarningKind, Vec<Notice>)>,
}

/// One build against the base.
#[derive(Serialize)]
struct Build {
    name: String,
    version: String,
    sentence: String,
    /// What was found of a planted change; empty where none was planted.
    planted: String,
    counts: Vec<Count>,
    warnings: Vec<Notice>,
}

/// How many tests got a verdict.
#[derive(Serialize)]
struct Count {
    hue: &'static str,
    glyph: &'static str,
    word: &'static str,
    count: u32,
}

pub(super) fn summary(scene: &Scene<'_>) -> Summary {
    let campaign = &scene.findings.campaign;
    Summary {
        title: title(scene),
        subtitle: format!("{} · {}", campaign.name, when(&campaign.started_at, campaign.finished_at.as_deref())),
        builds: scene.others.iter().map(|index| build(scene, *index)).collect(),
        facts: facts(scene),
        first: footnote::first(scene.findings).map(notice).collect(),
        warnings: footnote::others(scene.findings).map(notice).collect(),
        gathered: gathered(scene),
    }
}

/// When it ran, to the minute, and to the second where it ended in the minute in which it began:
/// `2026-11-21, 14:24 to 14:27 UTC`; times of another form stay as they are.
fn when(started: &str, finished: Option<&str>) -> String {
    const MINUTE: usize = 5;
    const SECOND: usize = 8;
    fn parts(time: &str, end: usize) -> Option<(&str, &str)> {
        let (day, clock) = time.strip_suffix('Z')?.split_once('T')?;
        Some((day, clock.get(..end)?))
    }
    let is_short = finished.is_some_and(|finished| parts(started, MINUTE) == parts(finished, MINUTE));
    let parts = |time| parts(time, if is_short { SECOND } else { MINUTE });
    match (parts(started), finished.map(parts)) {
        (Some((day, from)), Some(Some((end, to)))) if day == end => format!("{day}, {from} to {to} UTC"),
        (Some((day, from)), Some(Some((end, to)))) => format!("{day} {from} to {end} {to} UTC"),
        (Some((day, from)), None) => format!("{day} {from} UTC, not finished"),
        _ => format!("{started} to {}", finished.unwrap_or("not finished")),
    }
}

fn gathered(scene: &Scene<'_>) -> Vec<(WarningKind, Vec<Notice>)> {
    if scene.others.len() == 1 {
        return Vec::new();
    }
    let notices = (0..scene.names.len()).flat_map(|index| named(scene, index));
    order::grouped(notices.map(|notice| (notice.kind, notice)))
}

/// A treatment's warnings, its name in front.
fn named(scene: &Scene<'_>, index: usize) -> Vec<Notice> {
    let named = |warning| {
        let notice = notice(warning);
        Notice { cause: format!("{}: {}", scene.names[index], notice.cause), ..notice }
    };
    scene.findings.treatments[index].warnings.iter().map(named).collect()
}

/// Engines and versions where they distinguish the treatments, else names.
fn title(scene: &Scene<'_>) -> String {
    let treatments = &scene.findings.treatments;
    let base = &treatments[scene.findings.base];
    let name =
        |treatment: &TreatmentFindings| format!("{} {}", treatment.build.engine.title(), treatment.build.version);
    if let [only] = scene.others[..]
        && name(&treatments[only]) == name(base)
        && let (Some(this), Some(other)) = (treatments[only].storage, base.storage)
        && this != other
    {
        return format!("{}: {} against {}", name(base), this.title(), other.title());
    }
    let is_told_apart = scene.others.iter().all(|index| name(&treatments[*index]) != name(base));
    let engines: Vec<&str> = order::engines(scene.findings).into_iter().map(Engine::title).collect();
    match (&scene.others[..], is_told_apart, &engines[..]) {
        ([only], false, _) => format!("{} against {}", scene.names[*only], scene.names[scene.findings.base]),
        (many, false, _) => format!("{} builds against {}", many.len(), scene.names[scene.findings.base]),
        ([only], true, [_]) => format!("{} against {}", name(&treatments[*only]), base.build.version),
        ([only], true, _) => format!("{} against {}", name(&treatments[*only]), name(base)),
        (many, true, [engine]) => format!("{engine}: {} builds against {}", many.len(), base.build.version),
        (many, true, [front @ .., last]) => {
            format!("{} and {last}: {} builds against {}", front.join(", "), many.len(), name(base))
        }
        (_, true, []) => String::new(),
    }
}

fn build(scene: &Scene<'_>, index: usize) -> Build {
    let treatment = &scene.findings.treatments[index];
    let count = |(verdict, count): (Verdict, u32)| Count {
        hue: verdict_style::hue(verdict),
        glyph: verdict_style::glyph(verdict),
        word: verdict.name(),
        count,
    };
    Build {
        name: scene.names[index].clone(),
        version: treatment.build.version.to_string(),
        sentence: treatment.sentence.clone(),
        planted: planted::of(scene.findings, index).unwrap_or_default(),
        counts: Verdict::ALL.into_iter().zip(treatment.counts).map(count).collect(),
        warnings: match scene.others.len() {
            1 => [scene.findings.base, index].into_iter().flat_map(|at| named(scene, at)).collect(),
            _ => Vec::new(),
        },
    }
}

fn facts(scene: &Scene<'_>) -> Vec<(&'static str, String)> {
    let findings = scene.findings;
    let (campaign, host) = (&findings.campaign, &findings.host);
    let rounds = match campaign.rounds_complete {
        n if n == campaign.rounds_planned => n.to_string(),
        n => format!("{n} of {}", campaign.rounds_planned),
    };
    let of_tests = order::rounds_of_tests(findings).map_or_else(String::new, |of| format!(" ({of} of a test)"));
    let in_time = campaign.time_seconds.map(Duration::from_secs_f64).map(human_duration);
    let in_time = in_time.map_or_else(String::new, |time| format!(", as many as fitted in {time}"));
    let rounds = rounds + &of_tests + &in_time;
    let tests: BTreeSet<&str> = findings.tests.iter().map(|test| test.name.as_str()).collect();
    let mut facts = vec![("Base", scene.names[findings.base].clone())];
    facts.extend(suite::facts(findings, tests.len(), &rounds));
    facts.extend([
        ("Placement", placement(campaign.placement).to_owned()),
        (
            "Host",
            format!("{}, {}, {}", host.cpu_model, plural(host.cpus, "CPU"), number::bytes(host.memory_bytes as f64)),
        ),
        ("Kernel", host.kernel.clone()),
    ]);
    if !findings.forced.is_empty() {
        let what: Vec<&str> = findings.forced.iter().map(|form| form.what.as_str()).collect();
        facts.push(("Forced by the engines", what.join(", ")));
    }
    if let Some(kept) = campaign.kept_noise {
        facts.push(("Noise known before", kept_noise(kept)));
    }
    if let Some(mde) = noise::median_mde(scene) {
        facts.push(("Smallest detectable change", format!("{} (median MDE)", number::percent(mde))));
    }
    facts
}

/// What this host had shown before, and whether it counts.
fn kept_noise(KeptNoise { known, counted }: KeptNoise) -> String {
    let of = plural(known, "test");
    match counted {
        0 => format!("of {of} by `rqps calibrate`; not counted, since rounds now spread otherwise"),
        _ if counted == known => format!("of {of} by `rqps calibrate`; counted, since rounds now spread alike"),
        _ => format!("of {of} by `rqps calibrate`; counted in {counted}, since rounds now spread alike"),
    }
}

pub(super) const fn placement(placement: Placement) -> &'static str {
    match placement {
        Placement::Same => "same: both sides of a session share a CPU",
        Placement::Split => "split: separate CPUs for server and client",
        Placement::Free => "free: left to the scheduler",
    }
}

#[cfg(test)]
mod tests {
    use super::{KeptNoise, kept_noise, when};

    #[test]
    fn noise_known_before_counts_or_not() {
        let told = |counted| kept_noise(KeptNoise { known: 32, counted });
        assert!(told(0).contains("not counted") && told(32).ends_with("; counted, since rounds now spread alike"));
        assert!(told(30).contains("of 32 tests by") && told(30).contains("counted in 30"));
    }

    #[test]
    fn times_are_told_to_the_minute() {
        let check = |started: &str, finished: Option<&str>, expected: &str| {
            assert_eq!(when(started, finished), expected);
        };
        let start = "2026-11-21T14:24:00.468Z";
        check(start, Some("2026-11-21T14:27:19.618Z"), "2026-11-21, 14:24 to 14:27 UTC");
        check(start, Some("2026-11-21T14:24:19.618Z"), "2026-11-21, 14:24:00 to 14:24:19 UTC");
        check(start, Some("2026-11-22T02:00:00Z"), "2026-11-21 14:24 to 2026-11-22 02:00 UTC");
        check(start, None, "2026-11-21 14:24 UTC, not finished");
        check("yesterday", None, "yesterday to not finished");
    }
}
