//! Every setting of PostgreSQL as the running server reports it, compared with what was written.
//!
//! In: a session and the settings written. Out: a [`Readback`]. It must not decide whether a difference matters.

use crate::Result;
use crate::login::DATABASE;
use crate::readback::{Mismatch, Readback, unexpected};
use rqps_wire::{Session, Table};
use std::collections::BTreeMap;

/// Reads all settings of a server.
pub(crate) fn read(session: &mut Session, build: &str, written: &BTreeMap<String, String>) -> Result<Readback> {
    let settings = session.query("SELECT name, setting, unit, vartype, current_setting(name) FROM pg_settings")?;
    if settings.rows.is_empty() {
        return Err(unexpected(build, "for its settings", &settings));
    }
    let mut readback = compare(&settings, written);
    let sql = format!("SELECT pg_encoding_to_char(encoding), datcollate FROM pg_database WHERE datname = '{DATABASE}'");
    readback.read_encoding(session, build, &sql)?;
    readback.checksums = readback.effective.get("data_checksums").is_some_and(|v| v == "on");
    Ok(readback)
}

fn compare(settings: &Table, written: &BTreeMap<String, String>) -> Readback {
    let mut readback = Readback::default();
    for row in &settings.rows {
        let [Some(name), setting, unit, Some(kind), shown] = &row[..] else { continue };
        let setting = setting.as_deref().unwrap_or_default();
        let shown = shown.clone().unwrap_or_default();
        if let Some(wanted) = written.get(name)
            && !is_same(wanted, setting, unit.as_deref(), kind)
        {
            let mismatch = Mismatch { name: name.clone(), written: wanted.clone(), effective: shown.clone() };
            readback.mismatches.push(mismatch);
        }
        readback.effective.insert(name.clone(), shown);
    }
    let unseen = written.iter().filter(|(name, _)| !readback.effective.contains_key(*name));
    let unseen = unseen.map(|(name, written)| Mismatch {
        name: name.clone(),
        written: written.clone(),
        effective: "not a setting of this server".to_owned(),
    });
    readback.mismatches.extend(unseen);
    readback
}

/// Whether a value as written means the value that the server has, reported as a number of units.
fn is_same(written: &str, setting: &str, unit: Option<&str>, kind: &str) -> bool {
    match kind {
        "bool" => boolean(written) == boolean(setting),
        "integer" | "real" => match (number(written, unit), setting.parse::<f64>()) {
            // The server rounds to whole units of its own.
            (Some(wanted), Ok(got)) if kind == "integer" => (wanted - got).abs() <= 0.5,
            (Some(wanted), Ok(got)) => (wanted - got).abs() <= 1.0e-9 * got.abs(),
            _ => false,
        },
        "enum" => {
            written.eq_ignore_ascii_case(setting) || boolean(written).is_some_and(|w| Some(w) == boolean(setting))
        }
        _ => written == setting,
    }
}

/// Any beginning of a word that is not the beginning of two, as the server takes it.
fn boolean(text: &str) -> Option<bool> {
    let text = text.to_ascii_lowercase();
    let begins = |word: &str| !text.is_empty() && word.starts_with(&text);
    match text.as_str() {
        "1" | "on" => Some(true),
        "0" | "of" | "off" => Some(false),
        "o" => None,
        _ if begins("true") || begins("yes") => Some(true),
        _ if begins("false") || begins("no") => Some(false),
        _ => None,
    }
}

/// A number as written, in units of the setting.
fn number(text: &str, unit: Option<&str>) -> Option<f64> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+'))).unwrap_or(text.len());
    let (digits, suffix) = text.split_at(end);
    let value: f64 = digits.parse().ok()?;
    match suffix.trim() {
        "" => Some(value),
        suffix => Some(value * scale(suffix)? / scale(unit?)?),
    }
}

/// Bytes of a unit of memory, microseconds of a unit of time; a unit may itself have a number in front (`8kB`).
fn scale(unit: &str) -> Option<f64> {
    let end = unit.find(|c: char| !c.is_ascii_digit()).unwrap_or(unit.len());
    let (count, name) = unit.split_at(end);
    let count = if count.is_empty() { 1.0 } else { count.parse().ok()? };
    let one = match name {
        "B" => 1.0,
        "kB" => 1024.0,
        "MB" => 1024.0 * 1024.0,
        "GB" => 1024.0 * 1024.0 * 1024.0,
        "TB" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        "us" => 1.0,
        "ms" => 1e3,
        "s" => 1e6,
        "min" => 60e6,
        "h" => 3600e6,
        "d" => 86400e6,
        _ => return None,
    };
    Some(count * one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_equal_values_in_other_words() {
        let cases = [
            ("23GB", "3014656", Some("8kB"), "integer", true),
            ("23GB", "3014655", Some("8kB"), "integer", false),
            ("1800s", "1800", Some("s"), "integer", true),
            ("30min", "1800", Some("s"), "integer", true),
            ("1ms", "1", Some("ms"), "real", true),
            ("1500us", "1.5", Some("ms"), "real", true),
            ("0.05", "0.05", None, "real", true),
            ("0.05", "0.2", None, "real", false),
            ("100", "100", None, "integer", true),
            ("-1", "-1", Some("kB"), "integer", true),
            ("on", "on", None, "bool", true),
            ("yes", "on", None, "bool", true),
            ("1", "off", None, "bool", false),
            ("REPLICA", "replica", None, "enum", true),
            ("off", "off", None, "enum", true),
            ("x", "y", None, "string", false),
            ("4 apples", "4", Some("kB"), "integer", false),
        ];
        for (written, setting, unit, kind, same) in cases {
            assert_eq!(is_same(written, setting, unit, kind), same, "{written} against {setting} {unit:?}");
        }
    }

    #[test]
    fn names_what_is_not_as_written() {
        let row = |cells: [&str; 5]| cells.map(|c| (!c.is_empty()).then(|| c.to_owned())).to_vec();
        let settings = Table {
            columns: Vec::new(),
            rows: vec![row(["jit", "on", "", "bool", "on"]), row(["work_mem", "4096", "kB", "integer", "4MB"])],
        };
        let written = [("jit", "off"), ("work_mem", "4MB"), ("io_method", "sync")];
        let written = written.map(|(k, v)| (k.to_owned(), v.to_owned())).into();
        let readback = compare(&settings, &written);
        let names: Vec<&str> = readback.mismatches.iter().map(|m| m.name.as_str()).collect();
        assert_eq!(names, ["jit", "io_method"]);
        assert_eq!(readback.effective["work_mem"], "4MB");
    }
}
