//! What the CPU counted more or less of, as causes.
//!
//! In: a cell and the base's. Out: instructions and cycles per instruction where they moved, and with the latter the
//! misses that moved the same way. CPU time is instructions × cycles for each / clock rate: these two say which of them
//! it is, and misses say what instructions waited for. Cycles alone say what CPU time says.

use super::moved::work;
use crate::evidence::counts::{COUNTS, Count};
use crate::findings::{Cause, CellFindings, WorkFindings};

/// Instructions of all code, or of the server's own where the kernel's are not counted.
const INSTRUCTIONS: [&str; 2] = ["instructions", "instructions_user"];

/// The measure of instructions that a cell has.
pub(crate) fn instructions(cell: &CellFindings) -> Option<&'static str> {
    INSTRUCTIONS.into_iter().find(|name| cell.measure(name).is_some())
}

/// Whether a measure is of what instructions wait for.
pub(crate) fn is_miss(measure: &str) -> bool {
    COUNTS.iter().any(|count| count.name == measure && count.is_miss())
}

pub(super) fn causes(cell: &CellFindings, base: &CellFindings) -> Vec<Cause> {
    let found = |name: &str| moved(cell, base, name);
    let instructions = instructions(cell).and_then(found);
    let cycles = found(WorkFindings::CYCLES_PER_INSTRUCTION);
    let misses = cycles.as_ref().map_or_else(Vec::new, |(_, ratio)| {
        let costs = |count: &&Count| [cell, base].iter().any(|cell| per_op(cell, count.name) >= Some(count.least));
        let mut misses: Vec<(Cause, f64)> = COUNTS
            .iter()
            .filter(|count| count.is_miss())
            .filter(costs)
            .filter_map(|count| found(count.name))
            .filter(|(_, of_miss)| (*of_miss > 1.0) == (*ratio > 1.0))
            .collect();
        misses.sort_by(|(_, a), (_, b)| b.ln().abs().total_cmp(&a.ln().abs()));
        misses
    });
    instructions.into_iter().chain(cycles).chain(misses).map(|(cause, _)| cause).collect()
}

fn moved(cell: &CellFindings, base: &CellFindings, name: &str) -> Option<(Cause, f64)> {
    let cause = work(cell, name, per_op(cell, name)?, per_op(base, name)?)?;
    let Cause::Work { moved, .. } = &cause else { return None };
    let ratio = moved.ratio();
    Some((cause, ratio))
}

fn per_op(cell: &CellFindings, name: &str) -> Option<f64> {
    Some(cell.work(name)?.per_op)
}
