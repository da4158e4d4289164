//! Memory: what there is, on which nodes, in which pages, and whether it is swapped out.
//!
//! In: a checkup. Out: a finding a rule.

use super::super::checkup::Checkup;
use super::super::finding::{Change, Finding};
use rqps_campaign::human_bytes;
use rqps_machine::program_place::{NoHugePages, PLACE, SHMEM_ENABLED};

/// What of its memory a machine of one's own has to give.
const MEMORY_AVAILABLE: f64 = 0.75;

pub(super) fn memory(checkup: &Checkup) -> Option<Finding> {
    let (about, all, available) = ("memory", checkup.host.memory_bytes, checkup.system.memory_available_bytes?);
    let found = format!("{} of {} available", human_bytes(available), human_bytes(all));
    if available as f64 >= MEMORY_AVAILABLE * all as f64 {
        return Some(Finding::good(about, found));
    }
    Some(Finding::note(
        about,
        found,
        "Profiles give servers most of the machine's memory; what others hold makes the kernel drop their pages.",
        "Stop what holds it (`ps aux --sort=-rss | head`), or size the servers for less: `--machine c2r4`.",
    ))
}

pub(super) fn memory_nodes(checkup: &Checkup) -> Option<Finding> {
    let about = "memory nodes";
    Some(match checkup.host.memory_nodes? {
        0 | 1 => Finding::good(about, "one"),
        nodes => Finding::note(
            about,
            format!("{nodes} NUMA nodes"),
            "Memory of another node is slower, and which node a buffer lies on changes with each start.",
            "Start rqps on one of them: `numactl --cpunodebind=0 --membind=0 rqps run …`",
        ),
    })
}

pub(super) fn huge_pages(checkup: &Checkup) -> Option<Finding> {
    let about = "huge pages";
    Some(match checkup.host.transparent_huge_pages.as_deref()? {
        "always" => Finding::note(
            about,
            "transparent huge pages: always",
            "The kernel joins and splits pages while servers run, at moments of its own.",
            "`echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled` (until the next boot)",
        )
        .changed_by(const { &[Change::setting("/sys/kernel/mm/transparent_hugepage/enabled", "madvise")] }),
        other => Finding::good(about, format!("transparent huge pages: {other}")),
    })
}

pub(super) fn program_pages(checkup: &Checkup) -> Option<Finding> {
    let about = "program pages";
    let why = "In which small pages a program lies moves a test by up to a fifth; with `--program-pages huge` servers \
               run from copies in huge pages.";
    Some(match &checkup.system.no_huge_programs {
        None => Finding::good(about, format!("can be huge: {PLACE} is there")),
        Some(NoHugePages::NotInKernel) => {
            let remedy = "Use a kernel with CONFIG_TRANSPARENT_HUGEPAGE.";
            Finding::note(about, "only small: this kernel has no huge ones for files in memory", why, remedy)
        }
        Some(NoHugePages::Denied) => {
            let remedy = format!("`echo never | sudo tee {SHMEM_ENABLED}`, and look again");
            let change = const { &[Change::setting(SHMEM_ENABLED, "never"), Change::program_place(PLACE)] };
            Finding::note(about, "only small: the kernel denies huge ones", why, remedy).changed_by(change)
        }
        Some(NoHugePages::NotMounted { found, .. }) => {
            let remedy = format!(
                "`sudo mkdir -p {PLACE} && sudo mount -t tmpfs -o huge=always,mode=1777,nosuid,nodev rqps {PLACE}` (until \
                 the next boot)"
            );
            let change = const { &[Change::program_place(PLACE)] };
            Finding::note(about, format!("only small: {PLACE} has {found}"), why, remedy).changed_by(change)
        }
        Some(NoHugePages::Closed { why: closed, .. }) => {
            let remedy = format!("`sudo chmod 1777 {PLACE}`");
            Finding::note(about, format!("only small: {PLACE} may not be written ({closed})"), why, remedy)
        }
    })
}

pub(super) fn swap(checkup: &Checkup) -> Option<Finding> {
    let about = "swap";
    let (all, used) = (checkup.host.swap_bytes, checkup.system.swap_used_bytes);
    let why = "A buffer that was swapped out is slow on one build and not on the next.";
    Some(match (all, used) {
        (0, _) => Finding::good(about, "none"),
        (_, 0) => Finding::note(about, format!("{}, not used", human_bytes(all)), why, "`sudo swapoff -a`"),
        _ => {
            let found = format!("{} of {} used", human_bytes(used), human_bytes(all));
            Finding::problem(about, found, why, "`sudo swapoff -a`, and less memory for the servers (`--machine`)")
        }
    })
}
