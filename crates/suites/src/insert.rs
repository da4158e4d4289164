//! The Insert Benchmark as data: ready-made sizes, and what engines force to be different.
//!
//! In: `workloads/insert.toml` or a file like it. Out: a [`Suite`] without tests to choose, since its steps follow from
//! the size. It knows no SQL.

pub(crate) mod describe;
pub(crate) mod stages;

use crate::forced::Forced;
use crate::statements::SuiteError;
use crate::suite::Suite;
use rqps_model::insert::Shape;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The only version of the file's format.
const FORMAT: u32 = 1;

/// Reads and checks a file of sizes.
pub(crate) fn parse(text: &str) -> Result<Suite, SuiteError> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        format: u32,
        name: String,
        preset: BTreeMap<String, Shape>,
        forced: Vec<Forced>,
    }
    let file: File = toml::from_str(text).map_err(|error| SuiteError::Syntax(error.to_string()))?;
    if file.format != FORMAT {
        return Err(SuiteError::Format { found: file.format });
    }
    for (name, shape) in &file.preset {
        let fault = |error: rqps_model::insert::UnsoundShape| SuiteError::Nonsense {
            place: format!("preset `{name}`"),
            fault: error.0,
        };
        shape.check().map_err(fault)?;
    }
    Ok(Suite { name: file.name, tests: Vec::new(), scales: file.preset, forced: file.forced })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rqps_model::insert::steps;

    #[test]
    fn every_preset_is_sound_and_names_ten_steps() {
        let scales = Suite::insert().scales;
        assert!(scales.len() >= 4);
        for preset in scales.values() {
            let names: Vec<String> = steps(preset).into_iter().map(|step| step.name).collect();
            assert_eq!(names, ["l.i0", "l.x", "l.i1", "l.i2", "qr100", "qp100", "qr500", "qp500", "qr1000", "qp1000"]);
            preset.scaled(1e-9).check().unwrap();
        }
    }

    #[test]
    fn a_file_that_makes_no_sense_is_refused_with_the_reason() {
        let refused = |from: &str, to: &str| {
            let text = crate::INSERT.replacen(from, to, 1);
            parse(&text).unwrap_err()
        };
        assert!(matches!(refused("format = 1", "format = 2"), SuiteError::Format { found: 2 }));
        assert!(matches!(refused("clients = 1", "clienst = 1"), SuiteError::Syntax(_)));
        assert!(matches!(refused("clients = 1", "clients = 0"), SuiteError::Nonsense { .. }));
    }
}
