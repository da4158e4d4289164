//! The order and the words in which tables and page show a campaign: levels of clients, groups, short names.
//!
//! In: findings, whose lists are in display order already. Out: views on them; nothing is sorted but by group.

use rqps_analysis::findings::{Findings, GroupFindings, TestFindings};
use rqps_model::{Group, Interleave};

/// All tests at one number of clients.
pub(crate) struct Level<'a> {
    /// Concurrency.
    pub(crate) clients: u32,
    /// Groups that have tests, in published order.
    pub(crate) blocks: Vec<Block<'a>>,
}

/// The tests of one group, with their place in `Findings::tests`.
pub(crate) struct Block<'a> {
    /// Group.
    pub(crate) group: Group,
    /// Tests with their indices.
    pub(crate) tests: Vec<(usize, &'a TestFindings)>,
}

/// Levels of clients in the order in which they first appear.
pub(crate) fn levels(findings: &Findings) -> Vec<Level<'_>> {
    let mut clients: Vec<u32> = Vec::new();
    for test in &findings.tests {
        if !clients.contains(&test.clients) {
            clients.push(test.clients);
        }
    }
    clients.into_iter().map(|clients| Level { clients, blocks: blocks(findings, clients) }).collect()
}

fn blocks(findings: &Findings, clients: u32) -> Vec<Block<'_>> {
    let of = |group| {
        let chosen = |(_, test): &(usize, &TestFindings)| test.group == group && test.clients == clients;
        findings.tests.iter().enumerate().filter(chosen).collect::<Vec<_>>()
    };
    let blocks = Group::ALL.into_iter().map(|group| Block { group, tests: of(group) });
    blocks.filter(|block| !block.tests.is_empty()).collect()
}

/// Indices of the treatments that are compared with the base.
pub(crate) fn others(findings: &Findings) -> Vec<usize> {
    (0..findings.treatments.len()).filter(|index| *index != findings.base).collect()
}

/// Treatments' names without what all of them share after the first dot.
pub(crate) fn short_names(findings: &Findings) -> Vec<String> {
    let names: Vec<&str> = findings.treatments.iter().map(|treatment| treatment.name.as_str()).collect();
    let tail = |name: &str| name.split_once('.').map(|(_, tail)| tail.to_owned());
    let shared = names.first().and_then(|name| tail(name));
    if shared.is_none() || names.iter().any(|name| tail(name) != shared) {
        return names.into_iter().map(str::to_owned).collect();
    }
    names.into_iter().filter_map(|name| name.split_once('.')).map(|(head, _)| head.to_owned()).collect()
}

/// The group's findings of a treatment at a number of clients.
pub(crate) fn group_of(findings: &Findings, group: Group, clients: u32, treatment: usize) -> Option<&GroupFindings> {
    findings.groups.iter().find(|g| g.group == group && g.clients == clients && g.treatment == treatment)
}

/// How the builds alternated, in words: one word where all tests agree.
pub(crate) fn interleaving(findings: &Findings) -> String {
    let slices = findings.tests.iter().filter(|test| test.interleave == Interleave::Slices).count();
    let length = format!("slices of {} ms", crate::number::significant(findings.campaign.slice_ms, 2));
    match slices {
        0 => "turns".to_owned(),
        n if n == findings.tests.len() => length,
        n => format!("{length} ({n} tests), turns ({} tests)", findings.tests.len() - n),
    }
}

/// `1 client`, `2 clients`.
pub(crate) fn plural(count: u64, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") }
}
