//! The order and the words in which tables and page show a campaign: levels of clients, groups, short names.
//!
//! In: findings, whose lists are in display order already. Out: views on them; nothing is sorted but by group, and the
//! steps of the Insert Benchmark not even so.

use rqps_analysis::findings::{Findings, GroupFindings, TestFindings};
use rqps_model::plan::{Arrival, ForcedForm};
use rqps_model::{Engine, Group, Interleave, plural};

/// All tests at one number of clients.
pub(crate) struct Level<'a> {
    /// Concurrency.
    pub(crate) clients: u32,
    /// Groups that have tests, in published order.
    pub(crate) blocks: Vec<Block<'a>>,
}

/// The tests of one group, or all steps of the Insert Benchmark, with their place in `Findings::tests`.
pub(crate) struct Block<'a> {
    /// Heading.
    pub(crate) title: &'static str,
    /// Group; `None` for steps, which stay in their order.
    pub(crate) group: Option<Group>,
    /// Tests with their indices.
    pub(crate) tests: Vec<(usize, &'a TestFindings)>,
}

/// Values by key, keys in the order in which they first appear.
pub(crate) fn grouped<K: PartialEq, V>(pairs: impl IntoIterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut groups: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in pairs {
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    groups
}

/// Each value once, in the order in which they first appear.
pub(crate) fn distinct<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    grouped(values.into_iter().map(|value| (value, ()))).into_iter().map(|(value, _)| value).collect()
}

/// Levels of clients in the order in which they first appear.
pub(crate) fn levels(findings: &Findings) -> Vec<Level<'_>> {
    let clients = distinct(findings.tests.iter().map(|test| test.clients));
    clients.into_iter().map(|clients| Level { clients, blocks: blocks(findings, clients) }).collect()
}

fn blocks(findings: &Findings, clients: u32) -> Vec<Block<'_>> {
    if findings.campaign.is_in_order {
        let steps = findings.tests.iter().enumerate().filter(|(_, test)| test.clients == clients);
        return vec![Block { title: "Steps", group: None, tests: steps.collect() }];
    }
    let of = |group| {
        let chosen = |(_, test): &(usize, &TestFindings)| test.group == group && test.clients == clients;
        findings.tests.iter().enumerate().filter(chosen).collect::<Vec<_>>()
    };
    let blocks =
        Group::ALL.into_iter().map(|group| Block { title: group.title(), group: Some(group), tests: of(group) });
    blocks.filter(|block| !block.tests.is_empty()).collect()
}

/// Indices of the treatments that are compared with the base.
pub(crate) fn others(findings: &Findings) -> Vec<usize> {
    (0..findings.treatments.len()).filter(|index| *index != findings.base).collect()
}

/// All treatments, the base first, then the others in plan order.
pub(crate) fn base_first(findings: &Findings) -> Vec<usize> {
    std::iter::once(findings.base).chain(others(findings)).collect()
}

/// Treatments' names without what tells nothing: the machine where all have the same, the configuration where all
/// builds of an engine have the same. Engines have profiles of their own, so between them it could not be the same.
pub(crate) fn short_names(findings: &Findings) -> Vec<String> {
    let treatments = &findings.treatments;
    let whole = || treatments.iter().map(|treatment| treatment.name.clone()).collect::<Vec<String>>();
    let parts: Option<Vec<Parts<'_>>> = treatments.iter().map(|treatment| Parts::of(&treatment.name)).collect();
    let Some(parts) = parts else { return whole() };
    let same_machine = parts.iter().all(|part| part.machine == parts[0].machine);
    let needs_configuration = |at: usize| {
        let engine = treatments[at].build.engine;
        let key = |part: &Parts<'_>| (part.configuration.to_owned(), part.number.to_owned());
        let mut others = (0..parts.len()).filter(|other| treatments[*other].build.engine == engine);
        others.any(|other| key(&parts[other]) != key(&parts[at]))
    };
    let short = |at: usize| {
        let Parts { build, configuration, machine, number } = parts[at];
        let machine = if same_machine { "" } else { machine };
        match needs_configuration(at) || !same_machine {
            true => format!("{build}.{configuration}{machine}{number}"),
            false => build.to_owned(),
        }
    };
    let names: Vec<String> = (0..parts.len()).map(short).collect();
    let are_distinct = names.iter().enumerate().all(|(at, name)| !names[..at].contains(name));
    if are_distinct { names } else { whole() }
}

/// A treatment's name, taken apart.
#[derive(Clone, Copy)]
struct Parts<'a> {
    build: &'a str,
    configuration: &'a str,
    /// With the line in front, such as `_c8r32`; may be empty.
    machine: &'a str,
    /// With the dot in front, where the name alone would fit two; may be empty.
    number: &'a str,
}

impl Parts<'_> {
    fn of(name: &str) -> Option<Parts<'_>> {
        let (build, rest) = name.split_once('.')?;
        let is_number = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
        let end = rest.rfind('.').filter(|dot| is_number(&rest[dot + 1..])).unwrap_or(rest.len());
        let (rest, number) = rest.split_at(end);
        let is_machine = |text: &str| {
            let parts = text.strip_prefix("_c").and_then(|text| text.split_once('r'));
            parts.is_some_and(|(cores, memory)| is_number(cores) && is_number(memory))
        };
        let at = rest.rfind('_').filter(|at| is_machine(&rest[*at..])).unwrap_or(rest.len());
        let (configuration, machine) = rest.split_at(at);
        Some(Parts { build, configuration, machine, number })
    }
}

/// The engines compared, the base's first, then as treatments stand.
pub(crate) fn engines(findings: &Findings) -> Vec<Engine> {
    let base = findings.treatments.get(findings.base);
    distinct(base.into_iter().chain(&findings.treatments).map(|treatment| treatment.build.engine))
}

/// The forms of a difference that engines force, engines with the same form together: `MySQL and MariaDB`.
pub(crate) fn forms(forced: &ForcedForm) -> Vec<(String, &str)> {
    let forms = grouped(forced.forms.iter().map(|(engine, form)| (form.as_str(), engine.title())));
    forms.into_iter().map(|(form, titles)| (titles.join(" and "), form)).collect()
}

/// A difference that engines force, in one line.
pub(crate) fn forced(forced: &ForcedForm) -> String {
    let forms: Vec<String> = forms(forced).iter().map(|(titles, form)| format!("{titles} {form}")).collect();
    let tests = if forced.tests.is_empty() { String::new() } else { format!(" (in {})", forced.tests.join(", ")) };
    format!("{}{tests}: {}; {}", forced.what, forms.join(" | "), forced.because)
}

/// The group's findings of a treatment at a number of clients; `None` of a group of one, whose test says it all.
pub(crate) fn group_of(
    findings: &Findings,
    group: Option<Group>,
    clients: u32,
    treatment: usize,
) -> Option<&GroupFindings> {
    let group = group?;
    let is_meant = |g: &&GroupFindings| g.group == group && g.clients == clients && g.treatment == treatment;
    findings.groups.iter().find(is_meant).filter(|g| g.tests > 1)
}

/// How the builds alternated, in words: one word where all tests agree.
pub(crate) fn interleaving(findings: &Findings) -> String {
    if findings.tests.iter().any(|test| test.interleave.is_none()) {
        let is_chain = findings.campaign.is_in_order;
        return if is_chain { "whole passes" } else { "whole runs, one server up at a time" }.to_owned();
    }
    let slices = findings.tests.iter().filter(|test| test.interleave == Some(Interleave::Slices)).count();
    // Hundredths tell more than anybody gives.
    let length = format!("slices of {} ms", (findings.campaign.slice_ms * 100.0).round() / 100.0);
    match slices {
        0 => "turns".to_owned(),
        n if n == findings.tests.len() => length,
        n => format!("{length} ({}), turns ({})", plural(n, "test"), plural(findings.tests.len() - n, "test")),
    }
}

/// How many rounds there are: `12 rounds`, `3 of 12 rounds`, or `12 rounds (3 to 12 of a test)` where tests were left
/// out.
pub(crate) fn rounds(findings: &Findings) -> String {
    let campaign = &findings.campaign;
    let whole = match campaign.rounds_complete {
        n if n == campaign.rounds_planned => plural(n, "round"),
        n => format!("{n} of {} rounds", campaign.rounds_planned),
    };
    whole + &rounds_of_tests(findings).map_or_else(String::new, |rounds| format!(" ({rounds} of a test)"))
}

/// The fewest and the most rounds that a test has, where some were left out: `3 to 12`.
pub(crate) fn rounds_of_tests(findings: &Findings) -> Option<String> {
    let compared = findings.tests.iter().flat_map(|test| &test.cells).filter_map(|cell| cell.comparison.as_ref());
    let rounds: Vec<u32> = compared.map(|comparison| comparison.n).collect();
    let (fewest, most) = (rounds.iter().min()?, rounds.iter().max()?);
    (findings.campaign.is_divided && fewest < most).then(|| format!("{fewest} to {most}"))
}

/// When events came, in words.
pub(crate) fn arrival(findings: &Findings) -> String {
    match findings.campaign.arrival {
        Arrival::Closed => "closed loop".to_owned(),
        Arrival::Poisson { rate_per_s } => format!("Poisson, {rate_per_s} events/s"),
        Arrival::Even { rate_per_s } => format!("even, {rate_per_s} events/s"),
    }
}

#[cfg(test)]
mod tests {
    use super::Parts;

    #[test]
    fn a_name_is_taken_apart() {
        let parts = |name| Parts::of(name).map(|p| [p.build, p.configuration, p.machine, p.number].join("|"));
        assert_eq!(parts("pg1711_zonky.x10a_sync_c2r12.2").as_deref(), Some("pg1711_zonky|x10a_sync|_c2r12|.2"));
        assert_eq!(parts("mine.z12a_rocksdb_c8r32").as_deref(), Some("mine|z12a_rocksdb|_c8r32|"));
        assert_eq!(parts("a.b").as_deref(), Some("a|b||"));
        assert_eq!(parts("a.b_c1").as_deref(), Some("a|b_c1||"));
        assert_eq!(parts("plain"), None);
    }
}
