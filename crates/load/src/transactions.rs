//! A test of TPROC-C: its run on all servers, and what is checked on each of them afterwards.
//!
//! In: an exercise, the transactions; then a server that has run them. Out: samples whose number is new orders over own
//! minutes, stalls included, with a record by type; and conditions that are broken. A run that breaks what must hold
//! is a failed sample: its number is shown nowhere.

use crate::drive::{ArmRun, EventRun, Exercise};
use crate::error::LoadError;
use crate::own_clocks;
use crate::program::tproc_c::{Acknowledged, Transactions};
use crate::test_run::{Moment, Ran};
use crate::warehouses::{self, Broken, Expectation};
use rqps_model::sample::{Resources, Score, SuiteRecord};
use rqps_model::tproc_c::{BrokenCondition, CUSTOMERS, DISTRICTS, Held, RunRecord, TprocC, TypeCount, Warehouses};
use rqps_model::{Sample, plural};
use rqps_wire::Target;
use std::sync::atomic::AtomicBool;

/// Runs them on all servers.
pub(crate) fn run(
    exercise: &Exercise<'_>,
    transactions: &Transactions,
    held: &[Option<Held>],
    in_turns: bool,
    stop: &AtomicBool,
    hook: &mut dyn FnMut(Moment),
) -> Result<Vec<Ran>, LoadError> {
    let runs = own_clocks::run(exercise, transactions, in_turns, stop, hook)?;
    let ran = |(arm, run)| ran(run, exercise.clients, transactions.acknowledged(arm), held[arm]);
    Ok(runs.into_iter().enumerate().map(ran).collect())
}

fn ran(run: ArmRun, clients: u32, acknowledged: Acknowledged, held: Option<Held>) -> Ran {
    let of_type = |event: &EventRun| TypeCount { name: event.name.clone(), accounting: event.accounting };
    let record = RunRecord {
        transactions: run.events.iter().map(of_type).collect(),
        new_orders: acknowledged.new_orders,
        payments: acknowledged.payments,
        unanswered: acknowledged.unknown_new_orders + acknowledged.unknown_payments,
        held,
        ..RunRecord::default()
    };
    let sample = Sample {
        score: Score { count: run.operations, ..Score::default() },
        rows: run.rows,
        busy_ns: (run.seconds * 1e9).round() as u64 * u64::from(clients),
        seconds: run.seconds,
        sessions: run.sessions,
        placement: run.placement,
        accounting: run.accounting,
        errors: run.errors,
        failures: run.failures,
        resources: Resources { operations: acknowledged.new_orders, ..Resources::default() },
        record: Some(SuiteRecord::TprocC(record)),
        failure: run.failure,
        ..Sample::default()
    };
    let of_types = run.events.into_iter().filter(|event| !event.response.is_empty());
    let mut latency: Vec<_> = of_types.map(|event| (event.name, event.response)).collect();
    latency.extend(run.latency);
    Ran { sample, latency, counted: run.counted, ..Ran::default() }
}

/// Checks the tables after a run, and notes in its sample what is broken. The tables must have as many new orders
/// and payments more as were acknowledged.
pub(crate) fn check(
    target: &Target,
    shape: &TprocC,
    warehouses: u32,
    seed: u64,
    sample: &mut Sample,
) -> Result<(), LoadError> {
    let Some(SuiteRecord::TprocC(record)) = &mut sample.record else { return Ok(()) };
    let data = shape.data(warehouses);
    let miscounts = miscounts(target, &data, record)?;
    let broken = warehouses::check(target, &data, &shape.quirks, shape.check, seed)?;
    record.checked = Some(shape.check);
    record.broken = broken.into_iter().map(noted).collect();
    let broken = record.broken.iter().filter(|broken| broken.must_hold).map(in_words);
    let faults: Vec<String> = miscounts.into_iter().chain(broken).collect();
    if !faults.is_empty() && sample.failure.is_none() {
        sample.failure = Some(format!("the data are not consistent: {}", faults.join("; ")));
    }
    Ok(())
}

/// After a run that failed, on its server started again: whether what was acknowledged is there.
pub(crate) fn look_for_losses(
    target: &Target,
    data: &Warehouses,
    sample: &mut Sample,
) -> Result<Option<String>, LoadError> {
    let Some(SuiteRecord::TprocC(record)) = &mut sample.record else { return Ok(None) };
    let miscounts = miscounts(target, data, record)?;
    Ok(Some(match miscounts.is_empty() {
        true => format!("after a restart all {} acknowledged new orders and all payments are there", record.new_orders),
        false => format!("after a restart {}", miscounts.join("; ")),
    }))
}

/// What the tables hold beyond what was loaded: then a district began with the order after those that it had, and a
/// customer with a payment.
pub(crate) fn held(target: &Target, data: &Warehouses) -> Result<Held, LoadError> {
    let districts = u64::from(data.warehouses) * u64::from(DISTRICTS);
    let counted = warehouses::count(target)?;
    Ok(Held {
        new_orders: counted.next_orders.saturating_sub(districts * u64::from(CUSTOMERS + 1)),
        payments: counted.payments.saturating_sub(districts * u64::from(CUSTOMERS)),
    })
}

/// In what the tables differ from what was acknowledged; the districts' growth is noted.
fn miscounts(target: &Target, data: &Warehouses, record: &mut RunRecord) -> Result<Vec<String>, LoadError> {
    let (before, after) = (record.held.unwrap_or_default(), held(target, data)?);
    let new_orders = after.new_orders.saturating_sub(before.new_orders);
    let payments = after.payments.saturating_sub(before.payments);
    record.new_orders_of_districts = Some(new_orders);
    let counts = [("new orders", record.new_orders, new_orders), ("payments", record.payments, payments)];
    let miscounts =
        counts.map(|(what, acknowledged, counted)| miscount(what, acknowledged, record.unanswered, counted));
    Ok(miscounts.into_iter().flatten().collect())
}

fn noted(broken: Broken) -> BrokenCondition {
    BrokenCondition {
        condition: broken.condition.to_owned(),
        rows: broken.rows,
        examples: broken.examples,
        must_hold: broken.expectation == Expectation::Holds,
    }
}

fn in_words(broken: &BrokenCondition) -> String {
    let examples = match broken.examples.is_empty() {
        true => String::new(),
        false => format!(", such as {}", broken.examples.join(" and ")),
    };
    format!("{} is broken in {}{examples}", broken.condition, plural(broken.rows, "row"))
}

fn miscount(what: &str, acknowledged: u64, unanswered: u64, counted: u64) -> Option<String> {
    match counted {
        fewer if fewer < acknowledged => {
            Some(format!("{} of {acknowledged} acknowledged {what} are missing", acknowledged - fewer))
        }
        more if more > acknowledged + unanswered => {
            Some(format!("there are {more} {what}, and {acknowledged} were acknowledged"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_broken_is_shown_with_its_rows() {
        let examples = vec!["1/3".to_owned(), "1/4".to_owned()];
        let broken = BrokenCondition { condition: "C2".to_owned(), rows: 7, examples, must_hold: true };
        assert_eq!(in_words(&broken), "C2 is broken in 7 rows, such as 1/3 and 1/4");
        let check = |unanswered, counted, expected: Option<&str>| {
            assert_eq!(miscount("payments", 3, unanswered, counted).as_deref(), expected);
        };
        check(0, 3, None);
        check(1, 4, None);
        check(5, 1, Some("2 of 3 acknowledged payments are missing"));
        check(0, 4, Some("there are 4 payments, and 3 were acknowledged"));
    }
}
