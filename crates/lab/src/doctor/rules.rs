//! What each thing means for measuring, as rules.
//!
//! In: a checkup. Out: a finding a rule, or none where there is nothing to look at. The limits are stated with each
//! rule; docs/doctor.md tells where they come from.

mod cpus;
mod files;
mod memory;
mod others;
mod rights;

use super::checkup::Checkup;
use super::finding::Finding;

#[cfg(test)]
mod tests;

type Rule = fn(&Checkup) -> Option<Finding>;

/// In the order in which they are told.
const RULES: [Rule; 25] = [
    others::virtual_machine,
    cpus::cpu_count,
    cpus::cpu_quota,
    cpus::even_cpus,
    cpus::cpus_together,
    cpus::threads_of_a_core,
    cpus::governor,
    cpus::turbo,
    cpus::pinning,
    cpus::messages_between_cpus,
    memory::memory,
    memory::memory_nodes,
    others::other_work,
    others::stolen_time,
    memory::huge_pages,
    memory::program_pages,
    memory::swap,
    others::clock,
    files::flushes,
    files::copies,
    files::open_files,
    rights::profiling,
    rights::cpu_events,
    rights::system_calls,
    others::own_history,
];

impl Checkup {
    /// What there is to say, in the order in which it is looked at.
    pub fn findings(&self) -> Vec<Finding> {
        RULES.iter().flat_map(|rule| rule(self)).collect()
    }
}
