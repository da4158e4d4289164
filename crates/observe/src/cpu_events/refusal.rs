//! Why an event is not counted, in words, with what lifts it.
//!
//! In: what the kernel answered. Out: a sentence for a sample, for `rqps doctor` and for the report.

use super::events::Mode;
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};
use std::collections::BTreeMap;
use std::{fs, io};

/// Counters of events in the CPU, as the kernel names them: of x86, of its CPUs with cores of two kinds, of ARM.
const PMU_NAMES: [&str; 3] = ["cpu", "cpu_core", "armv8_pmuv3"];

/// A server opens files while it is counted, and so does the client: counters have at most this part of those that may
/// be open.
const FILES_SHARE: u64 = 2;

/// Why an event is not counted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    /// There is nothing that counts.
    #[error(
        "there is no PMU, as in most virtual machines; use a machine of your own, or a virtual one whose hypervisor \
         passes the PMU on"
    )]
    NoPmu,
    /// It counts other events.
    #[error("this CPU does not count it, or this kernel does not know how")]
    Unknown,
    /// The kernel says no to what a server does in its own code.
    #[error(
        "the kernel does not let this user count; as root, `sysctl kernel.perf_event_paranoid=1` lets everybody count \
         in programs of their own, and in a container the capability CAP_PERFMON does"
    )]
    NotAllowed,
    /// The kernel says no to what a server does in the kernel.
    #[error(
        "the kernel does not let this user count what happens in the kernel; as root, `sysctl \
         kernel.perf_event_paranoid=1` lets everybody, and in a container the capability CAP_PERFMON does"
    )]
    KernelNotAllowed,
    /// All counters would be too many open files.
    #[error(
        "{wanted} counters, one a thread, event and mode, are too many for the {limit} files that may be open; \
         `ulimit -n {enough}` before rqps allows them"
    )]
    TooManyFiles {
        /// Counters.
        wanted: u64,
        /// Files that may be open.
        limit: u64,
        /// What would be enough of them.
        enough: u64,
    },
    /// Something else.
    #[error("the kernel refuses: {0}")]
    Other(String),
}

impl Refusal {
    /// What an answer of the kernel means.
    pub(super) fn of(error: &io::Error, mode: Mode) -> Refusal {
        Refusal::on(error, mode, has_pmu())
    }

    fn on(error: &io::Error, mode: Mode, has_pmu: bool) -> Refusal {
        match (Errno::from_io_error(error), mode) {
            (Some(Errno::ACCESS | Errno::PERM), Mode::User) => Refusal::NotAllowed,
            (Some(Errno::ACCESS | Errno::PERM), Mode::Kernel) => Refusal::KernelNotAllowed,
            // Without a PMU nobody knows the event; with one, a kernel says either of an event that the CPU lacks.
            (Some(Errno::NOENT | Errno::OPNOTSUPP | Errno::NODEV), _) if !has_pmu => Refusal::NoPmu,
            (Some(Errno::NOENT | Errno::OPNOTSUPP | Errno::NODEV | Errno::INVAL), _) => Refusal::Unknown,
            _ => Refusal::Other(error.to_string()),
        }
    }
}

/// Whether the thread that was to be counted is there no more.
pub(super) fn has_ended(error: &io::Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::SRCH)
}

/// Whether so many counters would leave too few files to whoever else needs some.
pub(super) fn too_few_files(wanted: usize) -> Option<Refusal> {
    let open = fs::read_dir("/proc/self/fd").map_or(0, Iterator::count) as u64;
    too_few_of(wanted as u64, open, getrlimit(Resource::Nofile).current)
}

fn too_few_of(wanted: u64, open: u64, limit: Option<u64>) -> Option<Refusal> {
    let limit = limit?;
    let enough = ((open + wanted) * FILES_SHARE).next_power_of_two();
    (open + wanted > limit / FILES_SHARE).then_some(Refusal::TooManyFiles { wanted, limit, enough })
}

/// Whether this machine has counters of its CPU's events.
fn has_pmu() -> bool {
    let is_pmu = |name: &str| PMU_NAMES.iter().any(|pmu| name.starts_with(pmu));
    let mut sources = fs::read_dir("/sys/bus/event_source/devices").into_iter().flatten().flatten();
    sources.any(|source| source.file_name().to_str().is_some_and(is_pmu))
}

/// The events by what is said of them; one that is refused in both modes is named without.
pub(super) fn by_reason(refused: &BTreeMap<(&'static str, Mode), Refusal>) -> BTreeMap<String, Vec<String>> {
    let mut by_reason: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for ((event, mode), refusal) in refused {
        let is_alike = |other: &Mode| refused.get(&(*event, *other)) == Some(refusal);
        let name = match Mode::BOTH.iter().all(is_alike) {
            true => (*event).to_owned(),
            false => format!("{event} ({})", mode.name()),
        };
        let events = by_reason.entry(refusal.to_string()).or_default();
        if !events.contains(&name) {
            events.push(name);
        }
    }
    by_reason
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_kernel_answers_is_told_with_what_lifts_it() {
        let told = |errno: Errno, mode, has_pmu| Refusal::on(&io::Error::from(errno), mode, has_pmu);
        for errno in [Errno::ACCESS, Errno::PERM] {
            assert_eq!(told(errno, Mode::User, true), Refusal::NotAllowed);
            assert_eq!(told(errno, Mode::Kernel, true), Refusal::KernelNotAllowed);
        }
        for errno in [Errno::NOENT, Errno::OPNOTSUPP] {
            assert_eq!(told(errno, Mode::User, false), Refusal::NoPmu);
            assert_eq!(told(errno, Mode::Kernel, true), Refusal::Unknown);
        }
        assert!(matches!(told(Errno::BUSY, Mode::User, false), Refusal::Other(words) if words.contains("busy")));
        for refusal in [Refusal::NotAllowed, Refusal::KernelNotAllowed] {
            assert!(refusal.to_string().contains("`sysctl kernel.perf_event_paranoid=1`"), "{refusal}");
        }
    }

    #[test]
    fn counters_leave_half_of_the_files() {
        assert_eq!(too_few_of(112, 40, Some(1024)), None);
        assert_eq!(too_few_of(112, 40, None), None);
        let refusal = too_few_of(532, 40, Some(1024)).expect("more than half");
        assert_eq!(refusal, Refusal::TooManyFiles { wanted: 532, limit: 1024, enough: 2048 });
        assert!(refusal.to_string().contains("`ulimit -n 2048`"), "{refusal}");
        assert_eq!(too_few_of(532, 40, Some(2048)), None, "what was said to be enough is");
    }

    #[test]
    fn a_reason_is_said_once() {
        let refused = BTreeMap::from([
            (("cycles", Mode::User), Refusal::NoPmu),
            (("cycles", Mode::Kernel), Refusal::NoPmu),
            (("instructions", Mode::User), Refusal::NoPmu),
            (("instructions", Mode::Kernel), Refusal::KernelNotAllowed),
        ]);
        let said: Vec<(String, Vec<String>)> = by_reason(&refused).into_iter().collect();
        let expected = [
            (Refusal::KernelNotAllowed.to_string(), vec!["instructions (kernel)".to_owned()]),
            (Refusal::NoPmu.to_string(), vec!["cycles".to_owned(), "instructions (user)".to_owned()]),
        ];
        assert_eq!(said, expected);
    }
}
