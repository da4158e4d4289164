//! TPROC-C beyond new orders: transactions by type, and broken conditions, over all rounds.
//!
//! In: the samples of a cell. Out: [`TransactionFindings`]. Counts are of rounds with a number; what is broken is told
//! of failed ones too, since that is why they failed.

use crate::findings::TransactionFindings;
use crate::read::measured::Measured;
use rqps_model::tproc_c::{BrokenCondition, RunRecord, TypeCount};

/// All rounds together; `None` where none was recorded.
pub(super) fn transactions(rounds: &[Option<Measured>]) -> Option<TransactionFindings> {
    let recorded = || rounds.iter().flatten().filter_map(|m| Some((m, m.sample.transactions()?)));
    recorded().next()?;
    let with_number: Vec<(&Measured, &RunRecord)> = recorded().filter(|(measured, _)| measured.has_number()).collect();
    let (mut types, mut tpm): (Vec<TypeCount>, f64) = (Vec::new(), 0.0);
    for (measured, record) in &with_number {
        let done: u64 = record.transactions.iter().map(|one| one.accounting.succeeded).sum();
        tpm += done as f64 * 60.0 / measured.sample.seconds / with_number.len() as f64;
        for one in &record.transactions {
            match types.iter_mut().find(|known| known.name == one.name) {
                Some(known) => known.accounting = known.accounting + one.accounting,
                None => types.push(one.clone()),
            }
        }
    }
    let mut broken: Vec<BrokenCondition> = Vec::new();
    for one in recorded().flat_map(|(_, record)| &record.broken) {
        match broken.iter_mut().find(|known| known.condition == one.condition) {
            Some(known) if known.rows < one.rows => known.clone_from(one),
            Some(_) => {}
            None => broken.push(one.clone()),
        }
    }
    let rounds_checked = recorded().filter(|(_, record)| record.checked.is_some()).count() as u32;
    Some(TransactionFindings { tpm, types, broken, rounds_checked })
}
