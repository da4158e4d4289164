//! What kinds of things a reader must know beside a number: one closed list, so that no other crate compares words.
//!
//! In: nothing. Out: [`WarningKind`], whose name is what `findings.json`, tables and pages show. What happened in a
//! given place, and what would help, is worded where it is found (`analysis`).

use crate::words;

words! {
    /// A kind of warning, in the order in which a summary lists them.
    WarningKind {
        /// A sample failed.
        Failed = "failed",
        /// A sample or a treatment was never measured.
        Absent = "absent",
        /// The background writes of a step stayed below their rate.
        SlaMissed = "sla-missed",
        /// For seconds next to nothing was inserted.
        WriteStalls = "write-stalls",
        /// Writers fell so far behind their plan that it was deferred.
        Deferred = "deferred",
        /// Other rows were written than on the base.
        UnequalWork = "unequal-work",
        /// Vacuumed or analyzed in more or fewer rounds than the base.
        Maintenance = "maintenance",
        /// Too short to trust its rate.
        Short = "short",
        /// Statements failed.
        Errors = "errors",
        /// Scheduled events are not the sum of succeeded, failed and skipped.
        Accounting = "accounting",
        /// The client was the limit.
        ClientBound = "client-bound",
        /// Sessions waited for one another at the ends of slices.
        IdleSessions = "idle-sessions",
        /// The hypervisor took CPU time.
        Steal = "steal",
        /// Part of the time it ran at another speed than the rest.
        TwoSpeeds = "two-speeds",
        /// In some cycles one side completed nothing.
        CyclesLost = "cycles-lost",
        /// Statements took longer than they may, and were cancelled.
        TimedOut = "timed-out",
        /// Planned events were never sent.
        Skipped = "skipped",
        /// Other answers than the base's.
        AnswersDiffer = "answers-differ",
        /// Answers that cannot be compared: the base itself answers differently when asked again.
        UnstableAnswers = "unstable-answers",
        /// Another plan than the base's.
        PlanChanged = "plan-changed",
        /// Undecided only since so many cells were compared.
        Chance = "chance",
        /// Mean and median of the rounds disagree.
        Skewed = "skewed",
        /// Changes as large as the margin could not be seen.
        Noisy = "noisy",
        /// The CPUs were idle for another share of the time than on the base.
        Idle = "idle",
        /// A statement had another plan in some rounds.
        PlanChanges = "plan-changes",
        /// What a sample noted itself.
        Trial = "trial",
        /// Builds were made in different ways.
        UnlikeBuilds = "unlike-builds",
        /// Something was left out while data were loaded, or an error passed over.
        LeftOut = "left-out",
        /// Encoding or collation differ.
        Encoding = "encoding",
        /// Data checksums differ.
        Checksums = "checksums",
        /// The client connects in another way.
        Transport = "transport",
        /// Other CPUs.
        Placement = "placement",
        /// A commit promises something else.
        Durability = "durability",
        /// Other sizes of memory.
        Memory = "memory",
        /// Logs of other sizes before a checkpoint.
        LogSize = "log-size",
        /// Another storage engine than on the base, or than planned.
        StorageEngine = "storage-engine",
        /// Settings differ that were not set on purpose.
        Settings = "settings",
        /// Two treatments that are the same differ.
        FloorViolated = "floor-violated",
        /// Too few rounds.
        FewRounds = "few-rounds",
        /// Samples are missing.
        Incomplete = "incomplete",
        /// A round was interrupted and resumed.
        Resumed = "resumed",
        /// The campaign was measured in several runs, or by several versions of rqps.
        Epochs = "epochs",
        /// Builds were not measured side by side.
        Apart = "apart",
        /// Each treatment kept its own copy of the data.
        CopiesNotSwapped = "copies-not-swapped",
        /// Builds went on with their data, which grew from test to test.
        Continued = "continued",
        /// The CPU's events were to be counted, and were not.
        CpuEvents = "cpu-events",
        /// The CPU frequency follows the load.
        Governor = "governor",
        /// Other programs used the CPUs.
        ForeignLoad = "foreign-load",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_has_every_kind_in_its_order() {
        let document = include_str!("../../../docs/warnings.md");
        let first_columns = document.lines().filter_map(|line| line.strip_prefix("| `")?.split_once(" |"));
        let told: Vec<&str> =
            first_columns.flat_map(|(kinds, _)| kinds.split(", ")).map(|kind| kind.trim_matches('`')).collect();
        assert_eq!(told, WarningKind::ALL.map(|kind| kind.name()));
    }
}
