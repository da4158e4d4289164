//! TPROC-C as data: what engines force to be different, its tests, its stages, and its size in words.
//!
//! In: `workloads/tproc-c.toml` or a file like it, and what is run. Out: a [`Suite`] without tests to choose, since
//! they are numbers of warehouses, and a stage for each. It knows no SQL.

use crate::forced::Forced;
use crate::statements::SuiteError;
use crate::suite::Suite;
use rqps_model::plan::{Alternate, DataSet, Stage, TestPlan};
use rqps_model::tproc_c::{Profile, TprocC};
use rqps_model::{Group, Interleave, Unit};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The only version of the file's format.
const FORMAT: u32 = 1;

/// Reads and checks the file.
pub(crate) fn parse(text: &str) -> Result<Suite, SuiteError> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        format: u32,
        name: String,
        forced: Vec<Forced>,
    }
    let file: File = toml::from_str(text).map_err(|error| SuiteError::Syntax(error.to_string()))?;
    if file.format != FORMAT {
        return Err(SuiteError::Format { found: file.format });
    }
    Ok(Suite { name: file.name, tests: Vec::new(), scales: BTreeMap::new(), forced: file.forced })
}

/// A test for each number of warehouses, as the published tables name it.
pub(crate) fn tests(shape: &TprocC, interleave: Option<Interleave>, seconds: f64) -> Vec<TestPlan> {
    let test = |(rank, warehouses): (u32, &u32)| TestPlan {
        name: TprocC::test_name(*warehouses),
        label: TprocC::test_name(*warehouses),
        group: Group::Transaction,
        unit: Unit::NewOrdersPerMinute,
        writes: true,
        rank,
        interleave: Some(interleave.unwrap_or(Interleave::Slices)),
        seconds,
        timed: true,
        before: Vec::new(),
    };
    (0..).zip(&shape.warehouses).map(test).collect()
}

/// A stage for each number of warehouses, with data of its own.
pub(crate) fn stages(shape: &TprocC, clients: &[u32], tests: &[TestPlan], alternate: Alternate) -> Vec<Stage> {
    let stage = |(warehouses, test): (&u32, &TestPlan)| {
        let interleave = test.interleave.filter(|_| alternate == Alternate::SideBySide);
        let (data, tests) = (shape.data(*warehouses), vec![TestPlan { interleave, ..test.clone() }]);
        Stage::on_fresh_copies(alternate, DataSet::Warehouses(data), clients.to_vec(), tests)
    };
    shape.warehouses.iter().zip(tests).map(stage).collect()
}

/// What is run, a row a fact.
pub(crate) fn size(shape: &TprocC, clients: &str) -> Vec<(&'static str, String)> {
    let partitions = if shape.partitioned { ", order_line partitioned from 200 on" } else { "" };
    let homes = match shape.all_warehouses {
        true => "draw a warehouse for each transaction",
        false => "keep one warehouse each",
    };
    let pauses = if shape.keying_and_thinking { ", key and think" } else { "" };
    let mut rows = vec![
        ("rules", shape.rules()),
        ("data", format!("{}{partitions}", shape.warehouses_in_words())),
        ("users", format!("{clients} virtual users, {homes}{pauses}")),
        ("isolation", shape.isolation.to_string()),
    ];
    if shape.profile == Profile::Hammerdb {
        rows.push(("quirks", shape.quirks_in_words()));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use rqps_model::tproc_c::Quirk;

    #[test]
    fn a_file_that_makes_no_sense_is_refused_with_the_reason() {
        let refused = |from: &str, to: &str| parse(&crate::TPROC_C.replacen(from, to, 1)).unwrap_err();
        assert!(matches!(refused("format = 1", "format = 2"), SuiteError::Format { found: 2 }));
        assert!(matches!(refused("because = ", "why = "), SuiteError::Syntax(_)));
        assert!(!Suite::tproc_c().forced.is_empty());
    }

    #[test]
    fn the_document_tells_every_quirk() {
        let document = include_str!("../../../docs/tproc-c.md");
        for quirk in Quirk::ALL {
            assert!(document.contains(&format!("\n| `{quirk}` |")), "{quirk}");
        }
    }
}
