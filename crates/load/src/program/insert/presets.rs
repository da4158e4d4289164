//! Ready-made sizes of the Insert Benchmark, as data.
//!
//! In: `workloads/insert.toml`. Out: a [`Shape`] for a word, as it is or scaled.

use rqps_model::insert::Shape;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::OnceLock;

const PRESETS: &str = include_str!("../../../../../workloads/insert.toml");

/// All presets by name.
pub fn presets() -> &'static BTreeMap<String, Shape> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        format: u32,
        preset: BTreeMap<String, Shape>,
    }
    static READ: OnceLock<BTreeMap<String, Shape>> = OnceLock::new();
    READ.get_or_init(|| {
        let file: File = toml::from_str(PRESETS).expect("a test reads the presets");
        assert_eq!(file.format, 1, "the presets have the format that this program reads");
        file.preset
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rqps_model::insert::steps;

    #[test]
    fn every_preset_is_sound_and_names_ten_steps() {
        assert!(presets().len() >= 4);
        for preset in presets().values() {
            preset.check().unwrap();
            let names: Vec<String> = steps(preset).into_iter().map(|step| step.name).collect();
            assert_eq!(names, ["l.i0", "l.x", "l.i1", "l.i2", "qr100", "qp100", "qr500", "qp500", "qr1000", "qp1000"]);
            preset.scaled(1e-9).check().unwrap();
        }
    }
}
