//! A campaign that never ran: findings of any size with realistic numbers, made from a seed.
//!
//! In: how many tests, treatments and rounds, and a seed. Out: [`Findings`] that obey the contract (rounds, ratios and
//! intervals agree with each other). The numbers are invented and must never be quoted as measurements.

pub(crate) mod cell;
pub(crate) mod engines;
pub(crate) mod facts;
pub(crate) mod insert;
pub(crate) mod suite;

use rqps_analysis::findings::{CampaignFacts, Findings, GroupFindings, TestFindings, Warning};
use rqps_model::{Group, Interleave, Placement, Verdict, WarningKind};

/// The size of an invented campaign.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    /// How many of the suite's tests.
    pub(crate) tests: usize,
    /// How many treatments, base included; the newest versions are taken.
    pub(crate) treatments: usize,
    /// Rounds.
    pub(crate) rounds: u32,
    /// Seconds of each sample.
    pub(crate) seconds: u32,
    /// Seed of everything random.
    pub(crate) seed: u64,
}

impl Size {
    /// The largest campaign that the report must render in a few seconds.
    pub(crate) const LARGE: Size = Size { tests: 42, treatments: 14, rounds: 10, seconds: 40, seed: 7 };
    /// Two builds, the usual case.
    pub(crate) const TWO_BUILDS: Size = Size { tests: 32, treatments: 2, rounds: 5, seconds: 20, seed: 11 };
    /// A ladder of five builds.
    pub(crate) const FIVE_BUILDS: Size = Size { tests: 32, treatments: 5, rounds: 6, seconds: 20, seed: 3 };
}

/// Makes the findings of a campaign of this size.
pub(crate) fn findings(size: Size) -> Findings {
    let builds = facts::versions(size.treatments);
    let tests: Vec<TestFindings> = suite::tests(size.tests)
        .into_iter()
        .enumerate()
        .map(|(index, test)| cell::test_findings(&test, index, &builds, size))
        .collect();
    let mut treatments = facts::treatments(&builds);
    for (index, treatment) in treatments.iter_mut().enumerate().skip(1) {
        treatment.counts = counts(&tests, index);
        treatment.sentence = sentence(&treatment.name, treatment.counts, &tests, index);
    }
    let groups = Group::ALL
        .into_iter()
        .flat_map(|group| (1..treatments.len()).map(move |treatment| (group, treatment)))
        .filter_map(|(group, treatment)| group_findings(&tests, group, treatment))
        .collect();
    Findings {
        format: rqps_model::FORMAT,
        campaign: campaign(size, &builds),
        host: facts::host(),
        base: 0,
        treatments,
        tests,
        groups,
        forced: Vec::new(),
        side_by_side: Vec::new(),
        warnings: vec![Warning {
            kind: WarningKind::Steal,
            cause: "The host is a virtual machine; 1.8 % of its CPU time was stolen.".to_owned(),
            advice: Some("Repeat on a machine of your own before you publish differences below 2 %.".to_owned()),
            in_full: None,
        }],
    }
}

fn campaign(size: Size, builds: &[facts::Invented]) -> CampaignFacts {
    let flags: Vec<String> = builds.iter().map(|build| format!("--build postgres:{}", build.version)).collect();
    let toml_builds: Vec<String> = builds.iter().map(|build| format!("\"postgres:{}\"", build.version)).collect();
    CampaignFacts {
        name: format!("{}-to-{}", builds[0].build, builds[builds.len() - 1].build),
        suite: "sysbench".to_owned(),
        started_at: "2026-11-20T22:14:03Z".to_owned(),
        finished_at: Some("2026-11-21T03:41:37Z".to_owned()),
        command: format!("rqps run {} --suite sysbench --rounds {} --clients 1", flags.join(" "), size.rounds),
        campaign_toml: format!(
            "build = [{}]\nsuite = \"sysbench\"\nrounds = {}\nclients = [1]\ntables = 1\nrows = 1_000_000\nseed = {}\n",
            toml_builds.join(", "),
            size.rounds,
            size.seed
        ),
        rqps_version: "0.1.0".to_owned(),
        seed: size.seed,
        rounds_planned: size.rounds,
        rounds_complete: size.rounds,
        tables: 1,
        rows: 1_000_000,
        is_in_order: false,
        insert: None,
        clients: vec![1],
        slice_ms: 10.0,
        margin: 0.02,
        placement: Placement::Same,
        arrival: "closed loop".to_owned(),
    }
}

fn counts(tests: &[TestFindings], treatment: usize) -> [u32; 4] {
    let mut counts = [0; 4];
    for comparison in tests.iter().filter_map(|test| test.cells[treatment].comparison.as_ref()) {
        let at = Verdict::ALL.iter().position(|verdict| *verdict == comparison.verdict).expect("one of all");
        counts[at] += 1;
    }
    counts
}

fn sentence(name: &str, counts: [u32; 4], tests: &[TestFindings], treatment: usize) -> String {
    let most = tests
        .iter()
        .filter_map(|test| Some((test, test.cells[treatment].comparison.as_ref()?)))
        .max_by(|a, b| a.1.rqps.ln().abs().total_cmp(&b.1.rqps.ln().abs()));
    let (test, comparison) = most.expect("a campaign has comparisons");
    let build = name.split('.').next().unwrap_or(name);
    format!(
        "{build} is slower in {} and faster in {} of {} tests; the largest change is {} at {:.2} of the base.",
        counts[0],
        counts[1],
        counts.iter().sum::<u32>(),
        test.name,
        comparison.rqps
    )
}

fn group_findings(tests: &[TestFindings], group: Group, treatment: usize) -> Option<GroupFindings> {
    let comparisons: Vec<_> = tests
        .iter()
        .filter(|test| test.group == group)
        .filter_map(|test| test.cells[treatment].comparison.clone())
        .collect();
    let mut ratios: Vec<f64> = comparisons.iter().map(|comparison| comparison.rqps).collect();
    ratios.sort_by(f64::total_cmp);
    let rounds = comparisons.first()?.by_round.len();
    let by_round: Vec<(u32, f64)> = (0..rounds)
        .map(|round| {
            let logs = comparisons.iter().map(|comparison| comparison.by_round[round].1.ln()).sum::<f64>();
            (round as u32 + 1, (logs / comparisons.len() as f64).exp())
        })
        .collect();
    Some(GroupFindings {
        group,
        clients: 1,
        treatment,
        tests: ratios.len() as u32,
        min: ratios[0],
        max: ratios[ratios.len() - 1],
        median: (ratios[(ratios.len() - 1) / 2] + ratios[ratios.len() / 2]) / 2.0,
        mean: ratios.iter().sum::<f64>() / ratios.len() as f64,
        comparison: Some(cell::comparison(by_round, 0.004)),
    })
}

/// How builds alternate in all invented tests.
pub(crate) const INTERLEAVE: Option<Interleave> = Some(Interleave::Slices);
