//! The machine that profiles are sized for: `c8r32`, or cores and memory; and sizes with their units.

use super::{Fault, Raw, Read, Reader, Spanned, did_you_mean};
use rqps_model::settings::MachineClass;

/// Below, no server starts well; above, there is no such machine.
const MEMORY_BYTES: std::ops::RangeInclusive<u64> = 256 << 20..=64 << 40;
const CORES: std::ops::RangeInclusive<u32> = 1..=4096;
/// Units of memory as PostgreSQL has them: powers of 1024.
const UNITS: [(&str, u64); 4] = [("TB", 1 << 40), ("GB", 1 << 30), ("MB", 1 << 20), ("kB", 1 << 10)];

impl Reader<'_> {
    pub(crate) fn machine(&mut self, raw: &Spanned<Raw>) -> Read<MachineClass> {
        let machine = match &raw.value {
            Raw::Word(text) | Raw::Text(text) => parse_class(text.trim()),
            Raw::Table(entries) => Some(self.machine_table(raw, entries)?),
            _ => None,
        };
        let Some(machine) = machine else {
            let fault = match &raw.value {
                Raw::Word(text) | Raw::Text(text) => Fault::error(format!("`{text}` is not a machine")),
                value => Fault::error(format!("`machine` cannot be {}", value.found())),
            };
            return self.refuse(raw, fault.expected(self.key.form.expected()));
        };
        if !CORES.contains(&machine.cores) {
            let expected = format!("from {} to {}", CORES.start(), CORES.end());
            return self.refuse(raw, Fault::error("no machine has that many cores").expected(expected));
        }
        if !MEMORY_BYTES.contains(&machine.memory_bytes) {
            let expected = format!("from {} to {}", write_size(*MEMORY_BYTES.start()), write_size(*MEMORY_BYTES.end()));
            return self.refuse(raw, Fault::error("a machine's memory is out of range").expected(expected));
        }
        Ok(machine)
    }

    fn machine_table(&mut self, raw: &Spanned<Raw>, entries: &[(Spanned<String>, Spanned<Raw>)]) -> Read<MachineClass> {
        let (mut cores, mut memory) = (None, None);
        for (key, value) in entries {
            match (key.value.as_str(), &value.value) {
                ("cores", Raw::Whole(number)) => cores = Some(u32::try_from(*number).unwrap_or(0)),
                ("cores", other) => {
                    let message = format!("`cores` cannot be {}", other.found());
                    return self.refuse(value, Fault::error(message).expected("a whole number"));
                }
                ("memory", Raw::Text(text)) if parse_size(text).is_some() => memory = parse_size(text),
                ("memory", _) => {
                    let fault = Fault::error("`memory` is not a size").expected("a size such as \"32GB\" or \"512MB\"");
                    return self.refuse(value, fault);
                }
                (other, _) => {
                    let fault = Fault::error(format!("unknown key `{other}` of a machine"))
                        .expected("cores, memory")
                        .help_if(did_you_mean(other, ["cores", "memory"]));
                    self.faults.add(&key.place, fault);
                    return Err(super::Wrong);
                }
            }
        }
        match (cores, memory) {
            (Some(cores), Some(memory_bytes)) => Ok(MachineClass { cores, memory_bytes }),
            _ => self.refuse(raw, Fault::error("a machine has cores and memory").expected(self.key.form.expected())),
        }
    }
}

/// A machine class as published, such as `c8r32`: cores and GB of memory.
fn parse_class(text: &str) -> Option<MachineClass> {
    let (cores, memory) = text.strip_prefix('c')?.split_once('r')?;
    let gigabytes: u64 = memory.parse().ok()?;
    Some(MachineClass { cores: cores.parse().ok()?, memory_bytes: gigabytes.checked_mul(1 << 30)? })
}

/// A size with its unit, such as `32GB`, `1.5 GB` or `512MiB`.
fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim().replace("iB", "B");
    let (number, unit) = UNITS.iter().find_map(|(name, unit)| {
        let lower = text.to_lowercase();
        Some((lower.strip_suffix(&name.to_lowercase())?.trim().to_owned(), *unit))
    })?;
    let number: f64 = number.parse().ok()?;
    let bytes = number * unit as f64;
    // Floats hold every size of a machine exactly.
    (bytes.is_finite() && bytes >= 0.0 && bytes < 2f64.powi(53)).then_some(bytes as u64)
}

/// A size in the largest unit that divides it.
pub(crate) fn write_size(bytes: u64) -> String {
    let whole = UNITS.iter().find(|(_, unit)| bytes.is_multiple_of(*unit) && bytes > 0);
    match whole {
        Some((name, unit)) => format!("{}{name}", bytes / unit),
        // Binary fractions of a kB are written out exactly.
        None => format!("{}kB", bytes as f64 / 1024.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_classes() {
        for (text, bytes) in [("32GB", 32 << 30), ("1.5 GB", 3 << 29), ("512MiB", 512 << 20), ("8kb", 8192)] {
            assert_eq!(parse_size(text), Some(bytes), "{text}");
        }
        for text in ["", "32", "GB", "-1GB", "1e30TB", "32XB", "nanGB"] {
            assert_eq!(parse_size(text), None, "{text}");
        }
        for bytes in [32 << 30, 3 << 29, 1234, 24_661_000_192] {
            assert_eq!(parse_size(&write_size(bytes)), Some(bytes));
        }
        assert_eq!(parse_class("c8r32"), Some(MachineClass { cores: 8, memory_bytes: 32 << 30 }));
        for text in ["c8", "8r32", "cxr1", "c1r99999999999999", ""] {
            assert_eq!(parse_class(text), None, "{text}");
        }
    }
}
