//! From a results folder to its findings, and to everything that is made from them.
//!
//! In: a campaign's folder. Out: findings; findings.json, report.html and tables/ in it; files for
//! pprof where they are asked for.

use anyhow::{Context, Result, bail};
use flate2::Compression;
use flate2::write::GzEncoder;
use rqps_analysis::findings::{CellFindings, Findings, TestFindings};
use rqps_analysis::private::without_literals;
use rqps_analysis::{analyse, sampled_stacks};
use rqps_campaign::profiled::ToExplain;
use rqps_campaign::select::fits;
use rqps_model::Verdict;
use rqps_store::{Campaign, StoreError};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Whether values of the user's own statements are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Literals {
    /// Each is a `?`.
    Hidden,
    /// As they are.
    Shown,
}

/// Compares the treatments of a campaign, with another base if one is named; where something is damaged, the error is
/// all that is damaged.
pub fn compare(campaign: &Campaign, base: Option<&str>, literals: Literals) -> Result<Findings> {
    let findings = analyse(campaign, base).map_err(|first| match campaign.check() {
        Err(all @ StoreError::Damaged(_)) => anyhow::Error::from(all),
        _ => first.into(),
    })?;
    Ok(match literals {
        Literals::Hidden => without_literals(findings),
        Literals::Shown => findings,
    })
}

/// Writes everything that is made from findings; the path of the report.
pub fn write(campaign: &Campaign, findings: &Findings) -> Result<PathBuf> {
    campaign.write_derived("findings.json", &serde_json::to_vec(findings)?)?;
    for (name, bytes) in rqps_report::files(findings) {
        campaign.write_derived(&name, &bytes)?;
    }
    let html = rqps_report::html(findings).context("rendering the report")?;
    Ok(campaign.write_derived("report.html", html.as_bytes())?)
}

/// Writes what was sampled of each treatment in these tests, or in all, as files for pprof; their names.
pub fn write_pprof(campaign: &Campaign, findings: &Findings, tests: &[String], folder: &Path) -> Result<Vec<PathBuf>> {
    fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    let mut written = Vec::new();
    let chosen = findings.tests.iter().filter(|test| tests.is_empty() || tests.contains(&test.name));
    for (test, treatment) in chosen.flat_map(|test| findings.treatments.iter().map(move |one| (test, one))) {
        let Some(sampled) = sampled_stacks(campaign, test, &treatment.name)? else { continue };
        let path = folder.join(format!("{}.c{}.{}.pb.gz", test.name, test.clients, treatment.name));
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed.write_all(&rqps_report::pprof(&sampled))?;
        fs::write(&path, packed.finish()?).with_context(|| format!("writing {}", path.display()))?;
        written.push(path);
    }
    Ok(written)
}

/// Whether some trial failed.
pub fn has_failed(campaign: &Campaign) -> Result<bool, StoreError> {
    Ok(campaign.samples()?.iter().any(|sample| sample.sample.failure.is_some()))
}

/// What is to be explained where nobody says what: the tests that changed on some treatment, and as far as there is
/// time those that have another plan or another exact count there. What was planted is no change.
pub fn to_explain(findings: &Findings) -> ToExplain {
    let has_changed = |cell: &CellFindings| cell.comparison.as_ref().is_some_and(|one| one.verdict.is_change());
    let has_other_plan = |cell: &CellFindings| cell.plans.iter().any(|plan| plan.differs);
    // Causes of a test that did not change are exact counts.
    let has_other_count = |cell: &CellFindings| !cell.causes.is_empty();
    let names = |is_so: &dyn Fn(&CellFindings) -> bool| -> Vec<String> {
        let is_any = |test: &&TestFindings| {
            let cells = test.cells.iter().zip(&findings.treatments);
            cells.filter(|(_, treatment)| treatment.planted.is_none()).any(|(cell, _)| is_so(cell))
        };
        let mut names: Vec<String> = findings.tests.iter().filter(is_any).map(|test| test.name.clone()).collect();
        // A test at several numbers of clients is one.
        names.dedup();
        names
    };
    let tests = names(&has_changed);
    let mut more = names(&has_other_plan);
    let counted = names(&has_other_count);
    more.extend(counted.into_iter().filter(|name| !more.contains(name)).collect::<Vec<_>>());
    more.retain(|name| !tests.contains(name));
    ToExplain { tests, more }
}

/// The tests that some words choose, by name, label or pattern.
pub fn chosen(findings: &Findings, words: &[String]) -> Result<Vec<String>> {
    let all = || findings.tests.iter();
    for word in words {
        if !all().any(|test| fits(word, &test.name, &test.label)) {
            let mut names: Vec<&str> = all().map(|test| test.name.as_str()).collect();
            names.dedup();
            bail!("no test `{word}` in {}; there are {}", findings.campaign.name, names.join(", "));
        }
    }
    let is_chosen = |test: &&TestFindings| words.iter().any(|word| fits(word, &test.name, &test.label));
    let mut names: Vec<String> = all().filter(is_chosen).map(|test| test.name.clone()).collect();
    names.dedup();
    Ok(names)
}

/// Whether some test has one of these verdicts; a change that was planted is nobody's.
pub fn has_verdict(findings: &Findings, verdicts: &[Verdict]) -> bool {
    let cells = findings.tests.iter().flat_map(|test| test.cells.iter().zip(&findings.treatments));
    let of_builds = cells.filter(|(_, treatment)| treatment.planted.is_none());
    let mut comparisons = of_builds.filter_map(|(cell, _)| cell.comparison.as_ref());
    comparisons.any(|comparison| verdicts.contains(&comparison.verdict))
}
