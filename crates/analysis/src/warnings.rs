//! What a reader must know beside the numbers: like-for-like faults, failed trials, noise, a client that was the limit.
//!
//! In: what was read and judged. Out: [`Warning`]s of a cell, a treatment and the campaign. Each is one that would have
//! caught a wrong or unlike published comparison. A warning changes no verdict.

pub(crate) mod answers;
pub(crate) mod campaign;
pub(crate) mod cell;
mod client;
pub(crate) mod judged;
pub(crate) mod observed;
mod plan_changes;
mod rates;
pub(crate) mod treatment;
mod unlike_builds;

use crate::findings::Warning;
use rqps_model::WarningKind;

/// A warning with the advice that is usual for its kind.
pub(crate) fn warning(kind: WarningKind, cause: String) -> Warning {
    Warning { kind, cause, advice: usual_advice(kind).map(str::to_owned), in_full: None }
}

/// A warning with advice of its own; empty where nothing helps, or where the cells that it sums up say it.
fn advised(kind: WarningKind, cause: String, advice: &str) -> Warning {
    let advice = (!advice.is_empty()).then(|| advice.to_owned());
    Warning { kind, cause, advice, in_full: None }
}

/// What usually helps against a kind of warning; `None` where that depends on the cause, or nothing does.
const fn usual_advice(kind: WarningKind) -> Option<&'static str> {
    Some(match kind {
        WarningKind::Failed => "see the server's log in the treatment's folder",
        WarningKind::Absent => "finish the campaign with `rqps resume`",
        WarningKind::SlaMissed => "compare steps with a lower rate; this server does not sustain this one",
        WarningKind::WriteStalls => "look at checkpoints, vacuums and purge at that time",
        WarningKind::Deferred => "times from the planned moment count from the plan as it was deferred",
        WarningKind::UnequalWork => "the two did not do the same work: look for errors",
        WarningKind::Maintenance => {
            "a timer of the server decides it: take more rows, so that the step outlasts it on every build"
        }
        WarningKind::Short => "take more rows or seconds",
        WarningKind::Errors => "work that failed is not in the throughput: compare the error counts too",
        WarningKind::TimedOut => {
            "look at the statement's plan beside the base's; what was cancelled is in no throughput and no latency"
        }
        WarningKind::Accounting => "report it: the client lost count, and its numbers cannot be trusted",
        WarningKind::ClientBound => {
            "this compares the client as much as the servers: give it more CPUs or fewer clients"
        }
        WarningKind::Steal => "measure on a machine that is not shared, or with more rounds",
        WarningKind::CyclesLost => "take longer slices, or turns, for this test",
        WarningKind::Skipped => "the rate is more than this server can do: lower it",
        WarningKind::TwoSpeeds => "look at what host and server did in the slow part, and measure more rounds",
        WarningKind::Skewed => "look at the single rounds: one of them is unlike the others",
        WarningKind::Idle => "one side waited for something other than a CPU: look at IO, locks and placement",
        WarningKind::AnswersDiffer => {
            "find out which answer is right; `--answers may-differ` gives a verdict on the speed nevertheless"
        }
        WarningKind::PlanChanges => {
            "the number mixes two plans: compare the rounds one by one, and look at what the planner knows of the data"
        }
        WarningKind::UnlikeBuilds => {
            "compare builds made in one way, or read the change as one of source and build together"
        }
        WarningKind::Durability => "choose profiles of one kind, such as x10a_sync and z12a_sync",
        WarningKind::Memory => "give both the same memory, or read the change as one of memory too",
        WarningKind::LogSize => "give both the same, or read the change of tests that write as one of log size too",
        WarningKind::Settings => "set it for both with `--set` to compare the code alone",
        WarningKind::FloorViolated => {
            "no small change of this campaign can be trusted: look for what differs between the arms"
        }
        WarningKind::FewRounds => "measure at least 3 rounds, better 5 or more",
        WarningKind::Incomplete => "finish the campaign with `rqps resume`",
        WarningKind::Resumed => "compare the ratios of those rounds with the others'",
        WarningKind::Apart => "measure these tests again: what the machine did meanwhile is in the ratio",
        WarningKind::CopiesNotSwapped => "swap the copies from round to round: a copy has an offset of its own",
        WarningKind::Continued => {
            "compare builds and rounds with that in mind, or measure where copies fit: another disk with `--data DIR`"
        }
        WarningKind::Governor => "set it to performance, so that the clock does not follow the load",
        WarningKind::ForeignLoad => "stop what else runs on this machine and measure again",
        WarningKind::Epochs => "rounds of different runs may differ by more than the builds: look at them separately",
        WarningKind::Encoding | WarningKind::Checksums | WarningKind::Transport | WarningKind::Placement => {
            "set it for both"
        }
        WarningKind::StorageEngine => "read the change as one of engine and storage engine together",
        WarningKind::IdleSessions
        | WarningKind::PlanChanged
        | WarningKind::Chance
        | WarningKind::Noisy
        | WarningKind::UnstableAnswers
        | WarningKind::LeftOut
        | WarningKind::CpuEvents
        | WarningKind::Trial => return None,
    })
}

/// What a summary says of cells that have warnings of this kind; nothing where it has a line of its own or is only
/// beside the cell.
const fn summed(kind: WarningKind) -> Option<&'static str> {
    Some(match kind {
        WarningKind::Failed => "failed trials",
        WarningKind::Absent => "samples are missing",
        WarningKind::SlaMissed => "background writes did not keep up",
        WarningKind::WriteStalls => "writes stalled",
        WarningKind::Deferred => "planned writes were deferred",
        WarningKind::UnequalWork => "other rows written than on the base",
        WarningKind::Maintenance => "vacuumed or analyzed in more or fewer rounds than the base",
        WarningKind::Short => "too short",
        WarningKind::Errors => "errors happened",
        WarningKind::TimedOut => "statements took longer than they may",
        WarningKind::Accounting => "events do not add up",
        WarningKind::ClientBound => "the client was the limit",
        WarningKind::IdleSessions => "sessions waited for one another",
        WarningKind::Steal => "CPU time was stolen",
        WarningKind::TwoSpeeds => "ran at two speeds",
        WarningKind::CyclesLost => "cycles were lost",
        WarningKind::Skipped => "planned events were never sent",
        WarningKind::PlanChanged => "another plan",
        WarningKind::AnswersDiffer => "other answers than the base's",
        WarningKind::Chance => "undecided, though the interval does not contain 1,",
        WarningKind::Skewed => "mean and median disagree",
        _ => return None,
    })
}
