//! From what was sampled to the functions and waits that gained or lost, with intervals.
//!
//! In: the rounds that explain a campaign, as stored. Out: [`ProfileFindings`], [`WaitFindings`],
//! [`BlockedFindings`], [`SyscallFindings`] and [`StatementWorkFindings`] of a treatment in a test, and what was
//! refused. Each amount is per operation or execution, so that a function that got slower makes no other one smaller.

mod blocked;
mod compared;
mod estimate;
mod pairs;
mod refused;
mod rollup;
mod stacks;
mod statement_work;
mod syscalls;
mod waits;
mod whole;

pub use whole::{SampledStack, SampledStacks, sampled_stacks};

use crate::findings::{
    Absence, BlockedFindings, NotSampled, ProfileFindings, StatementWorkFindings, SyscallFindings, TestFindings,
    WaitFindings,
};
use pairs::{Pair, pairs, per_operation};
use rqps_model::profile::ProfileFacts;
use rqps_model::sample::{ProcessUse, Resources};
use rqps_model::{Sample, Sampling, part};
use rqps_store::{Campaign, SampleFolder, StoreError};
use stacks::{Stacks, Weighed};

/// Of the samples that are due, these must be there.
const DUE_MIN: f64 = 0.95;

/// A server that was sampled in a round.
struct Sampled {
    sample: Sample,
    facts: ProfileFacts,
    stacks: Vec<u8>,
}

/// The rounds that explain a campaign, as results folders of their own.
pub(crate) fn open(campaign: &Campaign) -> Result<Vec<Campaign>, StoreError> {
    campaign.profiles().iter().map(|folder| Campaign::open(folder)).collect()
}

/// What they say of a treatment in a test.
#[derive(Default)]
pub(crate) struct Explained {
    pub(crate) profile: Option<ProfileFindings>,
    pub(crate) waits: Option<WaitFindings>,
    pub(crate) blocked: Option<BlockedFindings>,
    pub(crate) syscalls: Option<SyscallFindings>,
    pub(crate) statement_work: Option<StatementWorkFindings>,
    /// What none of them could sample; what was sampled in some is known from those.
    pub(crate) not_sampled: Vec<NotSampled>,
}

impl Explained {
    fn tells(&self, what: Sampling) -> bool {
        match what {
            Sampling::Functions => self.profile.is_some(),
            Sampling::BlockedSessions => self.blocked.is_some(),
            Sampling::SystemCalls => self.syscalls.is_some(),
            Sampling::Waits => self.waits.is_some(),
        }
    }
}

/// What they say of a test, by treatment.
pub(crate) fn explained(
    profiles: &[Campaign],
    test: &TestFindings,
    names: &[&str],
    base: usize,
) -> Result<Vec<Explained>, StoreError> {
    let of = |at: usize| match at == base {
        true => Ok(Explained::default()),
        false => {
            let names = [names[base], names[at]];
            let mut found = Explained {
                profile: profile(profiles, test, at, names)?,
                waits: waits::waits(profiles, test, names)?,
                blocked: blocked::blocked(profiles, test, names)?,
                syscalls: syscalls::syscalls(profiles, test, names)?,
                statement_work: statement_work::statement_work(profiles, test, names)?,
                not_sampled: Vec::new(),
            };
            let refused = refused::refused(profiles, test, names)?;
            found.not_sampled = refused.into_iter().filter(|one| !found.tells(one.what)).collect();
            Ok(found)
        }
    };
    (0..names.len()).map(of).collect()
}

fn profile(
    profiles: &[Campaign],
    test: &TestFindings,
    treatment: usize,
    names: [&str; 2],
) -> Result<Option<ProfileFindings>, StoreError> {
    let mut stacks = Stacks::default();
    let mut sampled = Vec::new();
    for Pair { is_closed, base, own } in pairs(profiles, test, names, Sampled::read)? {
        let us = |sampled: &Sampled| sampled.us_per_sample(test, is_closed);
        let Some((base_us, own_us)) = us(&base).zip(us(&own)) else { continue };
        stacks.add([base.weighed(base_us), own.weighed(own_us)]);
        sampled.push((base, own));
    }
    if sampled.is_empty() {
        return Ok(None);
    }
    let mut found = compared::compared(&stacks);
    let verdict = test.cells[treatment].comparison.as_ref().map(|comparison| (comparison.low, comparison.high));
    for function in &mut found.functions {
        function.absent = absence(&sampled, &function.name);
    }
    found.sampled_part = parts(&sampled, Sampled::cpu_seconds);
    found.uncounted_part = parts(&sampled, Sampled::outside);
    found.warnings = warnings(&sampled, verdict.and_then(|(low, high)| low.zip(high)), names);
    Ok(Some(found))
}

impl Sampled {
    fn read(found: SampleFolder) -> Result<Option<Sampled>, StoreError> {
        let (facts, stacks) = (found.json(part::PROFILE)?, found.bytes(part::STACKS)?);
        Ok(facts.zip(stacks).map(|(facts, stacks)| Sampled { sample: found.sample, facts, stacks }))
    }

    /// Microseconds per operation that a sample stands for.
    fn us_per_sample(&self, test: &TestFindings, is_closed: bool) -> Option<f64> {
        let ProfileFacts { period_ns, counted_ns, .. } = self.facts;
        per_operation(period_ns as f64 / 1e3, &self.sample, counted_ns, test, is_closed)
    }

    fn weighed(&self, us: f64) -> Weighed<'_> {
        Weighed { folded: &self.stacks, modules: &self.facts.modules, sources: &self.facts.sources, us }
    }

    /// Seconds of CPU time that the samples stand for, and those that the system counted: of the server together with
    /// the client, where that was sampled. What a server does after it woke a client that runs next on its CPU, about a
    /// microsecond an answer, is charged to the client (docs/explain.md). A sample is of whoever runs.
    fn cpu_seconds(&self) -> (f64, f64) {
        let ProfileFacts { samples, uncounted, background, ours, client, period_ns, .. } = self.facts;
        let all = samples + uncounted + background + ours + client.unwrap_or(0);
        let of = |used: &ProcessUse| used.cpu_user_s + used.cpu_system_s;
        let Resources { server, client: of_client, .. } = &self.sample.resources;
        let counted = of(server) + client.map_or(0.0, |_| of(of_client));
        (all as f64 * period_ns as f64 / 1e9, counted)
    }

    /// The server's samples outside of counted time, and all of them.
    fn outside(&self) -> (f64, f64) {
        let ProfileFacts { samples, uncounted, background, .. } = self.facts;
        ((uncounted + background) as f64, (samples + uncounted + background) as f64)
    }
}

/// Whether one of the builds has no code of its own for a function, as the last round that knows it tells.
fn absence(pairs: &[(Sampled, Sampled)], function: &str) -> Option<Absence> {
    let of = |sampled: &Sampled, in_base| {
        let inlined_into = sampled.facts.absent.get(function)?.clone();
        Some(Absence { in_base, inlined_into })
    };
    pairs.iter().rev().find_map(|(base, own)| of(base, true).or_else(|| of(own, false)))
}

/// One amount as a part of another one, over all rounds: of the base and of the treatment.
fn parts(pairs: &[(Sampled, Sampled)], amounts: fn(&Sampled) -> (f64, f64)) -> Option<[f64; 2]> {
    let part = |of: fn(&(Sampled, Sampled)) -> &Sampled| {
        let (part, whole) =
            pairs.iter().map(of).map(amounts).fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        part / whole
    };
    let parts = [part(|pair| &pair.0), part(|pair| &pair.1)];
    parts.iter().all(|part| part.is_finite()).then_some(parts)
}

/// What a reader must know. `verdict` is the interval of the rounds that gave the verdict.
fn warnings(pairs: &[(Sampled, Sampled)], verdict: Option<(f64, f64)>, names: [&str; 2]) -> Vec<String> {
    let mut warnings = Vec::new();
    for (at, name) in names.into_iter().enumerate() {
        let of = || pairs.iter().map(move |pair| if at == 0 { &pair.0 } else { &pair.1 });
        warnings.extend(unlike_cpu_time(&of().collect::<Vec<_>>(), name));
        let cut: u64 = of().map(|one| one.facts.cut).sum();
        let stacks: u64 = of().map(|one| one.facts.samples).sum();
        if cut * 10 > stacks {
            warnings.push(format!(
                "{:.0} % of the stacks of {name} could not be followed to their outermost function, and begin with \
                 [cut]",
                100.0 * cut as f64 / stacks as f64
            ));
        }
        let mut stripped: Vec<&str> = of()
            .flat_map(|one| &one.facts.without_symbols)
            .map(String::as_str)
            .filter(|file| is_program(file))
            .collect();
        stripped.sort_unstable();
        stripped.dedup();
        if !stripped.is_empty() {
            warnings.push(format!(
                "{name} has no symbol table in {}: of its functions only those have names that others call; a package \
                 with symbols, or a build from source ({}:src:VERSION), has all",
                stripped.join(", "),
                PROGRAMS.iter().find(|(program, _)| stripped.contains(program)).map_or("", |(_, engine)| engine)
            ));
        }
    }
    let of_any =
        |of: fn(&ProfileFacts) -> u64| pairs.iter().map(|(base, own)| of(&base.facts).max(of(&own.facts))).sum::<u64>();
    let (lost, throttled) = (of_any(|facts| facts.lost), of_any(|facts| facts.throttled));
    if lost > 0 || throttled > 0 {
        warnings.push(format!("the kernel lost {lost} samples and held sampling back {throttled} times"));
    }
    let logs: Vec<f64> = pairs
        .iter()
        .filter_map(|(base, own)| Some((own.sample.throughput()? / base.sample.throughput()?).ln()))
        .collect();
    let of_profiles = rqps_stats::Paired::new(&logs).ok().and_then(|paired| paired.plain()).map(|it| it.ratio95());
    if let (Some((low, high)), Some(verdict)) = (of_profiles, verdict)
        && (low > verdict.1 || high < verdict.0)
    {
        warnings.push(format!(
            "in these rounds rQPS was {low:.3} to {high:.3}, in those that gave the verdict {:.3} to {:.3}",
            verdict.0, verdict.1
        ));
    }
    warnings
}

/// What samples stand for, where that is not the CPU time that the system counted.
fn unlike_cpu_time(sampled: &[&Sampled], name: &str) -> Option<String> {
    let of = || sampled.iter().copied();
    let (stands_for, counted) =
        of().map(Sampled::cpu_seconds).fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let share = stands_for / counted;
    // Of few samples the share is known roughly: twice its Poisson error is allowed for.
    let period_s = of().next().map_or(0.0, |one| one.facts.period_ns as f64 / 1e9);
    let error = 2.0 / (stands_for / period_s).max(1.0).sqrt();
    if !share.is_finite() || (DUE_MIN - error..=2.0 - DUE_MIN + error).contains(&share) {
        return None;
    }
    let client = if of().any(|one| one.facts.client.is_some()) { " and its client" } else { "" };
    let told =
        format!("samples of {name}{client} stand for {stands_for:.1} s of CPU time, the system counted {counted:.1} s");
    let stolen = of().map(|one| one.sample.resources.host.cpu_steal_s).sum::<f64>();
    match share > 1.0 && stolen > (share - 1.0) * counted / 2.0 {
        true => Some(format!(
            "{told}: the hypervisor took {stolen:.1} s from the host meanwhile, which the clock that samples does not \
             take off"
        )),
        false => Some(told),
    }
}

/// Programs of servers, with the engine's word in `--build`.
const PROGRAMS: [(&str, &str); 3] = [("postgres", "postgres"), ("mysqld", "mysql"), ("mariadbd", "mariadb")];

/// Whether a file is the server itself: libraries of the system are stripped everywhere.
fn is_program(file: &str) -> bool {
    PROGRAMS.iter().any(|(program, _)| *program == file)
}

#[cfg(test)]
mod tests;
