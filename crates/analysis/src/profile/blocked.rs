//! From where threads left the CPU to the stacks in which sessions are blocked for longer, or shorter, than the base's.
//!
//! In: the rounds that explain a campaign. Out: [`BlockedFindings`]. Stacks are merged by their innermost functions,
//! since what calls them differs between versions. Waits come in clusters, so that only rounds show how they scatter.

use super::estimate::{Scatter, Sums, alone, counted, judged};
use super::pairs::{Pair, pairs, per_operation};
use super::rollup::is_of_session;
use super::stacks::work_of_session;
use crate::findings::{Amount, BlockedFindings, FunctionFindings, TestFindings};
use rqps_model::blocked::{BlockedFacts, BlockedStack};
use rqps_model::{Sample, part};
use rqps_store::{Campaign, SampleFolder, StoreError};
use std::collections::BTreeMap;

/// Functions by which a stack is known.
const INNERMOST: usize = 5;

/// Functions in which a session waits for its client: of PostgreSQL, and of MySQL and MariaDB.
const OF_CLIENT: [&str; 9] = [
    "secure_read",
    "secure_write",
    "vio_read",
    "vio_read_buff",
    "vio_write",
    "vio_io_wait",
    "vio_socket_io_wait",
    "my_net_read",
    "my_net_read_packet",
];

/// What the kernel's functions that serve a system call begin with.
const SYSTEM_CALLS: [&str; 2] = ["__x64_sys_", "__arm64_sys_"];

/// A server whose switches were sampled in a round.
struct Off {
    sample: Sample,
    facts: BlockedFacts,
}

impl Off {
    fn read(found: SampleFolder) -> Result<Option<Off>, StoreError> {
        let facts: Option<BlockedFacts> = found.json(part::BLOCKED)?;
        Ok(facts.map(|facts| Off { sample: found.sample, facts }))
    }

    fn of_sessions(&self) -> impl Iterator<Item = &BlockedStack> {
        self.facts.stacks.iter().filter(|one| is_of_session(&one.stack))
    }
}

/// What is compared.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Row {
    Client,
    Ready,
    Blocked(String),
}

impl Row {
    fn of(one: &BlockedStack) -> Row {
        let is_of_client = |name: &str| OF_CLIENT.contains(&name.split('(').next().unwrap_or(name));
        match one.stack.split(';').any(is_of_client) {
            true => Row::Client,
            false if one.is_ready => Row::Ready,
            false => Row::Blocked(place(&one.stack)),
        }
    }
}

/// The innermost functions of the server, the outermost of these first, and the system call in which it waits.
fn place(stack: &str) -> String {
    let of_kernel = |name: &&str| name.ends_with("_[k]");
    let is_named = |name: &&str| !of_kernel(name) && !name.starts_with('[');
    let mut names: Vec<&str> = work_of_session(stack).filter(is_named).map(without_parameters).collect();
    let call = stack.split(';').filter(of_kernel).find_map(|name| {
        let call = SYSTEM_CALLS.iter().find_map(|prefix| name.strip_prefix(prefix))?;
        call.strip_suffix("_[k]")
    });
    names.extend(call.filter(|call| names.last() != Some(call)));
    names[names.len().saturating_sub(INNERMOST)..].join(" > ")
}

fn without_parameters(name: &str) -> &str {
    name.split('(').next().unwrap_or(name)
}

/// What the rounds say of two treatments, the base first.
pub(super) fn blocked(
    profiles: &[Campaign],
    test: &TestFindings,
    names: [&str; 2],
) -> Result<Option<BlockedFindings>, StoreError> {
    let mut rounds: Vec<([f64; 2], [Off; 2])> = Vec::new();
    for Pair { is_closed, base, own } in pairs(profiles, test, names, Off::read)? {
        let us = |off: &Off| per_operation(1e-3, &off.sample, off.facts.counted_ns, test, is_closed);
        if let Some((base_us, own_us)) = us(&base).zip(us(&own)) {
            rounds.push(([base_us, own_us], [base, own]));
        }
    }
    Ok((!rounds.is_empty()).then(|| compared(&rounds, names)))
}

fn compared(rounds: &[([f64; 2], [Off; 2])], names: [&str; 2]) -> BlockedFindings {
    let none = || -> Sums { vec![[(0, 0.0); 2]; rounds.len()] };
    let mut rows: BTreeMap<Row, Sums> = BTreeMap::new();
    let mut total = none();
    let mut samples = [0; 2];
    for (round, (us_of_ns, off)) in rounds.iter().enumerate() {
        for (build, off) in off.iter().enumerate() {
            for one in off.of_sessions() {
                let row = Row::of(one);
                let mut sums = vec![];
                if row != Row::Client {
                    sums.push(&mut total[round][build]);
                }
                sums.push(&mut rows.entry(row).or_insert_with(none)[round][build]);
                for sum in sums {
                    *sum = (sum.0 + one.samples, sum.1 + one.ns as f64 * us_of_ns[build]);
                }
                samples[build] += one.samples;
            }
        }
    }
    let mut apart = |row: Row| {
        let times = rows.remove(&row);
        times.map_or_else(Amount::default, |times| alone(&counted(&times), Scatter::Clustered).into())
    };
    let (client, ready) = (apart(Row::Client), apart(Row::Ready));
    let (keys, times): (Vec<Row>, Vec<Sums>) = rows.into_iter().unzip();
    let judged = judged(times.iter().map(counted), Scatter::Clustered);
    let mde_us = judged.iter().map(|(_, found)| found.mde).reduce(f64::max);
    let stack = |(at, found): (usize, super::estimate::Estimate)| match &keys[at] {
        Row::Blocked(name) => Some(FunctionFindings {
            name: name.clone(),
            samples: found.samples,
            amount: found.amount.into(),
            absent: None,
        }),
        Row::Client | Row::Ready => None,
    };
    let mut stacks: Vec<FunctionFindings> = judged.into_iter().filter_map(stack).collect();
    let size = |stack: &FunctionFindings| stack.amount.difference_us.abs();
    stacks.sort_by(|a, b| size(b).total_cmp(&size(a)).then_with(|| a.name.cmp(&b.name)));
    BlockedFindings {
        rounds: rounds.len() as u32,
        base_samples: samples[0],
        samples: samples[1],
        total: alone(&counted(&total), Scatter::Clustered).into(),
        stacks,
        ready,
        client,
        mde_us,
        warnings: warnings(rounds, names),
    }
}

fn warnings(rounds: &[([f64; 2], [Off; 2])], names: [&str; 2]) -> Vec<String> {
    let mut warnings = Vec::new();
    for (build, name) in names.into_iter().enumerate() {
        let sum = |of: fn(&BlockedFacts) -> u64| rounds.iter().map(|(_, off)| of(&off[build].facts)).sum::<u64>();
        let (samples, cut, lost) = (sum(|facts| facts.samples), sum(|facts| facts.cut), sum(|facts| facts.lost));
        if cut * 10 > samples {
            let share = 100.0 * cut as f64 / samples as f64;
            warnings.push(format!("{share:.0} % of the stacks of blocked threads of {name} are cut"));
        }
        if lost > 0 {
            warnings.push(format!("the kernel lost {lost} records of switches while {name} was sampled"));
        }
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_the_innermost_functions_and_the_system_call() {
        let commit = "main;PostgresMain;exec_simple_query;CommitTransaction;RecordTransactionCommit;XLogFlush;\
                      [postgres];fdatasync;do_syscall_64_[k];__x64_sys_fdatasync_[k];schedule_[k]";
        assert_eq!(
            place(commit),
            "exec_simple_query > CommitTransaction > RecordTransactionCommit > XLogFlush > fdatasync"
        );
        let latch = "do_command(THD*);row_search_mvcc(unsigned char*);sync_array_wait_event;[libc.so.6];\
                     do_syscall_64_[k];__x64_sys_futex_[k];futex_wait_[k];schedule_[k]";
        assert_eq!(place(latch), "do_command > row_search_mvcc > sync_array_wait_event > futex");
    }

    #[test]
    fn waiting_for_the_client_and_for_a_cpu_are_told_apart() {
        let row =
            |stack: &str, is_ready| Row::of(&BlockedStack { stack: stack.to_owned(), is_ready, samples: 1, ns: 1 });
        assert_eq!(row("PostgresMain;pq_getbyte;secure_read;epoll_wait", false), Row::Client);
        assert_eq!(row("do_command(THD*);vio_read(Vio*);poll", true), Row::Client);
        assert_eq!(row("PostgresMain;ExecScan", true), Row::Ready);
        assert_eq!(row("PostgresMain;ProcSleep;semop", false), Row::Blocked("PostgresMain > ProcSleep > semop".into()));
    }

    #[test]
    fn a_place_in_which_sessions_are_longer_is_found() {
        let off = |ns: u64| {
            let stack = |stack: &str, ns| BlockedStack { stack: stack.to_owned(), is_ready: false, samples: 50, ns };
            let stacks = vec![
                stack("PostgresMain;XLogFlush;fdatasync", ns),
                stack("PostgresMain;ProcSleep;epoll_wait", 500_000),
                stack("PostgresMain;secure_read;epoll_wait", 800_000),
                stack("CheckpointerMain;WaitLatch;epoll_wait", 9_000_000),
            ];
            Off { sample: Sample::default(), facts: BlockedFacts { samples: 200, stacks, ..BlockedFacts::default() } }
        };
        // A nanosecond stands for a microsecond per thousand operations.
        let round = |base, own| ([0.001; 2], [off(base), off(own)]);
        let rounds = [
            round(1_000_000, 3_000_000),
            round(1_010_000, 3_030_000),
            round(990_000, 2_960_000),
            round(1_000_000, 3_010_000),
        ];
        let found = compared(&rounds, ["a", "b"]);
        let moved: Vec<&str> = found.moved().map(|stack| stack.name.as_str()).collect();
        assert_eq!(moved, ["PostgresMain > XLogFlush > fdatasync"], "{found:#?}");
        assert_eq!(found.largest(true).map(|stack| stack.amount.us), Some(3000.0));
        assert_eq!((found.total.base_us, found.total.us), (1500.0, 3500.0));
        assert_eq!((found.client.us, found.base_samples, found.warnings.len()), (800.0, 600, 0));
    }
}
