//! From a verdict to what stands behind it, by written rules.
//!
//! In: a test that changed, with its costs, plans and measures. Out: [`Cause`]s, those that explain most first. Only
//! what differs from the base by more than chance is a cause; where nothing does, there is none, and the largest number
//! does not take its place. docs/explain.md has the rules.

mod cpu_events;
mod moved;
mod time;

pub(crate) use cpu_events::{instructions, is_miss};

use crate::evidence::counts::{COUNTS, Count};
use crate::findings::{
    Cause, CellFindings, Comparison, Cost, CostField, MeasureComparison, TestFindings, WorkFindings,
};
use moved::{WORTH_A_SHARE, work};
use rqps_sql::{Dialect, is_read, is_transaction_border};

/// The same as [`moved::WORTH_NAMING`] of what is counted exactly: a smaller change of it is as sure, and may go with a
/// small change of time.
const WORTH_NAMING_EXACT: f64 = 1.01;

/// Work of which an operation has fewer than so many times the amount that costs next to nothing is not that of its
/// statements if it goes by the clock.
const RARE: f64 = 20.0;

/// What servers write. A test that only reads has none of it.
const WRITTEN: [&str; 6] =
    [Cost::SERVER_WRITES.name, "wal_bytes", "wal_records", "wal_full_pages", "redo_bytes", "binlog_bytes"];

/// Amounts of a second that differ by less than this factor are the same.
const SAME: f64 = 1.05;

/// A measure of work.
struct Work {
    cost: CostField,
    /// The amount per operation below which it costs next to nothing.
    least: f64,
    /// What takes its place where the sessions themselves were followed. In the switches of the host are those of the
    /// client and of other programs, and most page faults of a server are those of opening a session, which are the
    /// more per operation the slower a build is.
    in_sessions: &'static [&'static str],
}

const fn work_of(cost: CostField, least: f64, in_sessions: &'static [&'static str]) -> Work {
    Work { cost, least, in_sessions }
}

/// What is counted of switches, of sessions or of the host.
const SWITCHES: Work =
    work_of(Cost::SWITCHES, 0.01, &[WorkFindings::VOLUNTARY_SWITCHES, WorkFindings::INVOLUNTARY_SWITCHES]);

/// The measures of work, in the order in which they are told.
const WORK: [Work; 4] = [
    SWITCHES,
    work_of(Cost::SERVER_WRITES, 10.0, &[]),
    work_of(Cost::READ_KB, 0.01, &[]),
    work_of(Cost::SERVER_FAULTS, 0.01, &[WorkFindings::SESSION_FAULTS]),
];

/// Whether a measure is one of context switches.
pub(crate) fn is_switches(measure: &str) -> bool {
    SWITCHES.cost.name == measure || SWITCHES.in_sessions.contains(&measure)
}

/// What sessions wait for of the device with the data: how long a request takes, and how many an operation has. Data
/// are written in the background, and are left out.
const DEVICE: [(CostField, CostField); 2] = [(Cost::READ_MS, Cost::READS), (Cost::FLUSH_MS, Cost::FLUSHES)];

/// What a campaign's tests are explained with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context<'a> {
    /// Index of the base.
    pub(crate) base: usize,
    /// How the base reads SQL.
    pub(crate) dialect: Dialect,
    /// Whether the time of an operation is what one session of each client spends on it, and nothing else works beside
    /// it.
    pub(crate) has_shares: bool,
    /// Treatments that are the base once more.
    pub(crate) twins: &'a [usize],
    /// By treatment whether its engine and storage engine are the base's: counts mean the same only there.
    pub(crate) alike: &'a [bool],
    /// By treatment whether its plans are compared with the base's; else with those of another of its engine.
    pub(crate) has_plans_of_base: &'a [bool],
}

impl Context<'_> {
    /// By how much the time of an operation changed, in microseconds; `None` where time is no cost.
    fn change_us(&self, clients: u32, base: &Cost, comparison: &Comparison) -> Option<f64> {
        let time_us = f64::from(clients.max(1)) * 1e6 / base.ops_per_s;
        (self.has_shares && time_us.is_finite()).then(|| time_us * (1.0 / comparison.rqps - 1.0))
    }
}

/// What stands behind the change of a treatment; empty where nothing that was measured does. Where nothing changed
/// these are the exact counts that moved, since those need no change of time to be seen.
pub(crate) fn causes(test: &TestFindings, treatment: usize, context: Context<'_>) -> Vec<Cause> {
    let (cell, base) = (&test.cells[treatment], &test.cells[context.base]);
    let counts = if context.alike[treatment] { counts(test, cell, base, context.twins) } else { Vec::new() };
    let (of_one, of_both): (Vec<Cause>, Vec<Cause>) = counts.into_iter().partition(is_of_one);
    let Some(comparison) = cell.comparison.as_ref().filter(|one| one.verdict.is_change()) else {
        let is_exact = |cause: &Cause| matches!(cause, Cause::Count { interval: None, .. });
        return of_one.into_iter().chain(of_both).filter(is_exact).collect();
    };
    let costs = cell.cost.as_ref().zip(base.cost.as_ref());
    let change = Change::new(test, comparison, cell, costs.map(|(_, of_base)| of_base), context);
    let mut causes: Vec<Cause> = plans(cell).filter(|_| context.has_plans_of_base[treatment]).into_iter().collect();
    if let Some((own, of_base)) = costs {
        causes.extend(time::causes([cell, base], [own, of_base], change.us));
    }
    // What only one of them does at all says more than how much more of something it does.
    causes.extend(of_one);
    let mut more_or_less = Vec::new();
    if let Some((own, of_base)) = costs {
        more_or_less.extend(cpu_events::causes(cell, base));
        more_or_less.extend(WORK.iter().flat_map(|one| worked([cell, base], one, [own, of_base])));
        more_or_less.extend(device(cell, test.clients, [own, of_base]));
    }
    let is_told = |name: &str| WORK.iter().any(|one| one.in_sessions.contains(&name));
    more_or_less
        .extend(of_both.into_iter().filter(|cause| !matches!(cause, Cause::Count { measure, .. } if is_told(measure))));
    more_or_less.retain(|cause| !change.goes_by_the_clock(cause) && !change.is_short(cause));
    // Less work that takes more time explains nothing of it, and comes last.
    more_or_less
        .sort_by_key(|cause| amounts(cause).is_some_and(|(_, from, to)| (to > from) == (comparison.rqps > 1.0)));
    causes.extend(more_or_less);
    causes
}

/// Measure and amounts of work, the base's first.
fn amounts(cause: &Cause) -> Option<(&str, f64, f64)> {
    match cause {
        Cause::Work { measure, moved } => Some((measure, moved.from, moved.to)),
        Cause::Count { measure, from, to, .. } => Some((measure, *from, *to)),
        Cause::Plan { .. } | Cause::ServerCpu { .. } | Cause::ClientCpu { .. } | Cause::Waiting { .. } => None,
    }
}

/// A change, as far as it says what explains none of it.
struct Change {
    rqps: f64,
    /// Of the time of an operation, in microseconds; `None` where time is no cost.
    us: Option<f64>,
    /// The share of it that neither server nor client spent on a CPU.
    off_cpu: Option<f64>,
    /// Whether the test only reads.
    reads: bool,
    /// Of the test.
    statements: usize,
}

impl Change {
    fn new(
        test: &TestFindings,
        comparison: &Comparison,
        cell: &CellFindings,
        base: Option<&Cost>,
        context: Context<'_>,
    ) -> Self {
        let us = base.and_then(|base| context.change_us(test.clients, base, comparison));
        let off_cpu = base.zip(us).and_then(|(base, us)| time::off_cpu(cell, base, us)).map(|(share, _)| share);
        let reads = |sql: &str| is_read(sql, context.dialect) || is_transaction_border(sql, context.dialect);
        let reads = !test.statements.is_empty() && test.statements.iter().all(|(_, sql)| reads(sql));
        Self { rqps: comparison.rqps, us, off_cpu, reads, statements: test.statements.len().max(1) }
    }

    /// Whether it is rare work, or what is written in a test that only reads, of which each second has as much as
    /// before: that of background processes and of new sessions. A slower build has more of it per operation for no
    /// other reason than that it is slower.
    fn goes_by_the_clock(&self, cause: &Cause) -> bool {
        let Some((measure, from, to)) = amounts(cause).filter(|(measure, ..)| !is_time(measure)) else { return false };
        let of_work = WORK.iter().find(|one| one.cost.name == measure).map(|one| one.least);
        let least = of_work.or_else(|| COUNTS.iter().find(|count| count.name == measure).map(|count| count.least));
        let is_rare = least.is_some_and(|least| from.min(to) < RARE * least);
        let is_beside = is_rare || (self.reads && WRITTEN.contains(&measure));
        is_beside && (to / from * self.rqps).ln().abs() < SAME.ln()
    }

    /// Whether it is a time that is a small part of the change. A session that is ready to run uses no CPU, so that its
    /// delay is no part of what CPU accounts for.
    fn is_short(&self, cause: &Cause) -> bool {
        let part = amounts(cause).filter(|(measure, ..)| is_time(measure));
        let Some(((measure, from, to), us)) = part.zip(self.us) else { return false };
        // All statements are planned once each; an operation is one of them.
        let operations = if measure == WorkFindings::PLANNING { self.statements as f64 } else { 1.0 };
        let share = ((to - from) / operations / us).abs();
        let off_cpu = self.off_cpu.filter(|_| measure == WorkFindings::RUN_DELAY).map(|share| share.max(0.0));
        off_cpu.map_or(share, |most| share.min(most)) < WORTH_A_SHARE
    }
}

/// Adds to the statements of a treatment what share of its change is in them; of what did not change there is none.
pub(crate) fn add_shares(test: &mut TestFindings, treatment: usize, context: Context<'_>) {
    let Some(base) = test.cells[context.base].cost.clone() else { return };
    let cell = &mut test.cells[treatment];
    let Some(comparison) = cell.comparison.as_ref().filter(|one| one.verdict.is_change()) else { return };
    let Some(change_us) = context.change_us(test.clients, &base, comparison) else { return };
    for one in &mut cell.statement_times {
        one.share = Some((one.us_per_op - one.base_us_per_op) / change_us).filter(|share| share.is_finite());
    }
}

/// Whether only one of the builds does it.
fn is_of_one(cause: &Cause) -> bool {
    matches!(cause, Cause::Count { from, to, .. } if *from == 0.0 || *to == 0.0)
}

/// What the CPU counts has rules of its own.
fn of_server() -> impl Iterator<Item = &'static Count> {
    COUNTS.iter().filter(|count| !count.is_of_cpu())
}

/// What the server counted more or less of, what moved most first.
fn counts(test: &TestFindings, cell: &CellFindings, base: &CellFindings, twins: &[usize]) -> Vec<Cause> {
    let of_kind = |least: f64, own: &WorkFindings| {
        let of_base = base.work(&own.name)?;
        count(test, cell, own, of_base, least, twins)
    };
    let mut found: Vec<(f64, Cause)> =
        of_server().filter_map(|count| of_kind(count.least, cell.work(count.name)?)).collect();
    found.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    found.into_iter().map(|(_, cause)| cause).collect()
}

/// One count, with how much it moved.
fn count(
    test: &TestFindings,
    cell: &CellFindings,
    own: &WorkFindings,
    base: &WorkFindings,
    least: f64,
    twins: &[usize],
) -> Option<(f64, Cause)> {
    let (from, to) = (base.per_op, own.per_op);
    let cause = |interval| Cause::Count { measure: own.name.clone(), from, to, interval };
    if from.max(to) < least {
        return None;
    }
    // All rounds of one side have none of it, and all of the other side have some.
    let appears = |without: &WorkFindings, with: &WorkFindings| {
        without.most == 0.0 && with.least >= least && without.rounds.min(with.rounds) > 1
    };
    if appears(base, own) || appears(own, base) {
        return Some((f64::INFINITY, cause(None)));
    }
    let size = (to / from).ln().abs();
    if is_exact(test, own, base, twins) {
        return (size.is_finite() && size >= WORTH_NAMING_EXACT.ln()).then(|| (size, cause(None)));
    }
    let Cause::Work { moved, .. } = work(cell, &own.name, to, from)? else { return None };
    Some((size, cause(Some((moved.low, moved.high)))))
}

fn is_time(measure: &str) -> bool {
    measure.ends_with("_us")
}

/// Whether a count needs no interval: its A/A ratio, or where there is no A/A its amount on either side, is the same in
/// every round.
fn is_exact(test: &TestFindings, own: &WorkFindings, base: &WorkFindings, twins: &[usize]) -> bool {
    let of_twins: Vec<&MeasureComparison> =
        twins.iter().filter_map(|twin| test.cells[*twin].measure(&own.name)).collect();
    let is_one = |ratio: f64| (ratio - 1.0).abs() < WorkFindings::EXACT;
    match of_twins.is_empty() {
        true => own.is_steady() && base.is_steady(),
        false => of_twins.iter().all(|twin| twin.n > 1 && twin.by_round.iter().all(|(_, ratio)| is_one(*ratio))),
    }
}

fn plans(cell: &CellFindings) -> Option<Cause> {
    let differing = cell.plans.iter().filter(|plan| plan.differs);
    let statements: Vec<String> = differing.map(|plan| plan.statement.clone()).collect();
    (!statements.is_empty()).then_some(Cause::Plan { statements })
}

/// What moved of a measure of work, as sessions show it where they were followed on both builds.
fn worked([cell, base]: [&CellFindings; 2], one: &Work, [own, of_base]: [&Cost; 2]) -> Vec<Cause> {
    let in_sessions = |name: &&'static str| Some((*name, cell.work(name)?.per_op, base.work(name)?.per_op));
    let followed: Vec<(&str, f64, f64)> = one.in_sessions.iter().filter_map(in_sessions).collect();
    let amounts = match followed.is_empty() {
        true => vec![(one.cost.name, (one.cost.of)(own), (one.cost.of)(of_base))],
        false => followed,
    };
    let told = amounts.into_iter().filter(|(_, own, base)| own.max(*base) >= one.least);
    told.filter_map(|(name, own, base)| work(cell, name, own, base)).collect()
}

/// Requests of the device that take longer or shorter, where all of an operation's take a tenth of its time or more.
fn device(cell: &CellFindings, clients: u32, [own, base]: [&Cost; 2]) -> impl Iterator<Item = Cause> {
    let matters = move |cost: &Cost, ms: CostField, requests: CostField| {
        let of_operation_ms = f64::from(clients.max(1)) * 1e3 / cost.ops_per_s;
        (requests.of)(cost) * (ms.of)(cost) >= WORTH_A_SHARE * of_operation_ms
    };
    DEVICE.into_iter().filter_map(move |(ms, requests)| {
        let is_told = [own, base].into_iter().any(|cost| matters(cost, ms, requests));
        work(cell, ms.name, (ms.of)(own), (ms.of)(base)).filter(|_| is_told)
    })
}

#[cfg(test)]
mod tests;
