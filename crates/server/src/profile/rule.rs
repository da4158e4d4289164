//! How a setting's value grows with the machine: a share with limits, steps, or fixed values for known machine classes;
//! and the versions that it is for.
//!
//! In: a rule as written in a profile, a [`Sizing`] and a version. Out: the value as text with its unit. It must stay a
//! table that one can read, never a language.

use super::Sizing;
use super::form::SettingsForm;
use crate::known_settings::Mark;
use rqps_model::{Engine, Version};
use std::collections::BTreeMap;

const MB: f64 = 1_048_576.0;

/// The value of a setting: the first alternative that is for a version.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rule {
    alternatives: Vec<Alternative>,
}

#[derive(Debug, Clone, PartialEq)]
struct Alternative {
    since: Option<Mark>,
    until: Option<Mark>,
    form: Form,
}

/// How a value is found.
#[derive(Debug, Clone, PartialEq)]
enum Form {
    /// Not written, whatever the profile below says.
    Unset,
    /// The same for every machine.
    Fixed(String),
    /// Grows with something.
    Sized(Sized),
}

/// A value that grows with something.
#[derive(Debug, Clone, PartialEq)]
struct Sized {
    of: Of,
    growth: Growth,
    min: Option<f64>,
    max: Option<f64>,
    disk: Option<f64>,
    class: BTreeMap<String, String>,
    /// What follows `M` and `G` where this engine writes sizes.
    unit_end: &'static str,
}

#[derive(Debug, Clone, PartialEq)]
enum Growth {
    Share { share: f64, plus: f64 },
    Steps(Vec<(f64, String)>),
}

/// What a value grows with.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Of {
    Memory,
    Cores,
    Data,
    Clients,
}

/// A value, `None` where the setting stays unset, and what was done to it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Value {
    pub(super) value: Option<String>,
    pub(super) note: Option<String>,
    /// Why the rule is not for this version.
    pub(super) not_for: Option<String>,
}

impl Rule {
    /// Reads a rule; the error says what was expected.
    pub(super) fn parse(value: &toml::Value, engine: Engine) -> Result<Rule, String> {
        let alternatives = match value {
            toml::Value::Array(all) if !all.is_empty() => {
                all.iter().map(|one| Alternative::parse(one, engine)).collect::<Result<_, String>>()?
            }
            one => vec![Alternative::parse(one, engine)?],
        };
        Ok(Rule { alternatives })
    }

    /// The value on a machine, for a version.
    pub(super) fn value(&self, sizing: &Sizing, version: &Version) -> Value {
        match self.alternatives.iter().find(|alternative| alternative.is_for(version)) {
            None => Value { not_for: Some(self.ranges()), ..Value::default() },
            Some(Alternative { form: Form::Unset, .. }) => Value::default(),
            Some(Alternative { form: Form::Fixed(text), .. }) => {
                Value { value: Some(text.clone()), ..Value::default() }
            }
            Some(Alternative { form: Form::Sized(sized), .. }) => sized.value(sizing),
        }
    }

    /// The versions that it is for, in words.
    fn ranges(&self) -> String {
        let range = |a: &Alternative| match (&a.since, &a.until) {
            (Some(since), Some(until)) => format!("from {} to {}", since.text(), until.text()),
            (Some(since), None) => format!("from {} on", since.text()),
            (None, Some(until)) => format!("up to {}", until.text()),
            (None, None) => "always".to_owned(),
        };
        format!("the profile sets it {}", self.alternatives.iter().map(range).collect::<Vec<_>>().join(" and "))
    }
}

impl Alternative {
    fn parse(value: &toml::Value, engine: Engine) -> Result<Alternative, String> {
        let always = |form: Form| Ok(Alternative { since: None, until: None, form });
        let table = match value {
            toml::Value::String(text) => return always(Form::Fixed(text.clone())),
            toml::Value::Boolean(false) => return always(Form::Unset),
            toml::Value::Table(table) => table,
            _ => return Err("expected text in quotes, a rule in braces, or `false` for leaving it unset".to_owned()),
        };
        let mut table = table.clone();
        let mut mark = |key: &str| match table.remove(key) {
            None => Ok(None),
            Some(value) => {
                let mark = value.as_str().and_then(Mark::parse);
                mark.map(Some).ok_or_else(|| format!("`{key}` must be a version in quotes, such as \"8.0.30\""))
            }
        };
        let (since, until) = (mark("since")?, mark("until")?);
        let form = match table.get("value").and_then(toml::Value::as_str) {
            Some(text) if table.len() == 1 => Form::Fixed(text.to_owned()),
            Some(_) => return Err("beside `value` only `since` and `until` may stand".to_owned()),
            None => Form::Sized(parse_sized(&table, engine)?),
        };
        Ok(Alternative { since, until, form })
    }

    fn is_for(&self, version: &Version) -> bool {
        let too_early = self.since.as_ref().is_some_and(|since| since.is_after(version));
        let too_late = self.until.as_ref().is_some_and(|until| until.is_before(version));
        !too_early && !too_late
    }
}

fn parse_sized(table: &toml::Table, engine: Engine) -> Result<Sized, String> {
    const KEYS: [&str; 8] = ["of", "share", "plus", "min", "max", "disk", "steps", "class"];
    if let Some(key) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
        return Err(format!("unknown key `{key}`; expected one of {}", KEYS.join(", ")));
    }
    let of = match table.get("of").and_then(toml::Value::as_str) {
        Some("memory") => Of::Memory,
        Some("cores") => Of::Cores,
        Some("data") => Of::Data,
        Some("clients") => Of::Clients,
        _ => return Err("`of` must be memory, cores, data or clients".to_owned()),
    };
    let number = |key: &str| table.get(key).map(|value| quantity(key, value)).transpose();
    let growth = match (number("share")?, table.get("steps")) {
        (Some(share), None) => Growth::Share { share, plus: number("plus")?.unwrap_or(0.0) },
        (None, Some(steps)) => Growth::Steps(parse_steps(steps)?),
        _ => return Err("a rule needs either `share` or `steps`".to_owned()),
    };
    let mut class = BTreeMap::new();
    for (name, value) in table.get("class").and_then(toml::Value::as_table).into_iter().flatten() {
        let value = value.as_str().ok_or_else(|| format!("class {name}: expected text in quotes"))?;
        class.insert(name.clone(), value.to_owned());
    }
    let unit_end = SettingsForm::of(engine).unit_end();
    Ok(Sized { of, growth, min: number("min")?, max: number("max")?, disk: number("disk")?, class, unit_end })
}

fn parse_steps(steps: &toml::Value) -> Result<Vec<(f64, String)>, String> {
    const FORM: &str = "steps are written { from = .., value = \"..\" }";
    let parse = |step: &toml::Value| {
        let from = quantity("from", step.get("from").ok_or(FORM)?)?;
        Ok((from, step.get("value").and_then(toml::Value::as_str).ok_or(FORM)?.to_owned()))
    };
    let steps: Vec<(f64, String)> = steps.as_array().ok_or(FORM)?.iter().map(parse).collect::<Result<_, String>>()?;
    let rising = steps.windows(2).all(|pair| pair[0].0 < pair[1].0);
    if rising && !steps.is_empty() { Ok(steps) } else { Err("steps must rise, and there must be one".to_owned()) }
}

/// A plain number, or text with a unit of memory, which becomes bytes.
fn quantity(key: &str, value: &toml::Value) -> Result<f64, String> {
    let number = match value {
        toml::Value::Integer(n) => Some(*n as f64),
        toml::Value::Float(n) => Some(*n),
        toml::Value::String(text) => bytes(text),
        _ => None,
    };
    number.filter(|n| n.is_finite()).ok_or_else(|| format!("`{key}` must be a number or a size such as \"256MB\""))
}

/// The bytes of a size as servers write it.
fn bytes(text: &str) -> Option<f64> {
    let text = text.strip_suffix('B').unwrap_or(text);
    let (number, factor) = match text.strip_suffix('M') {
        Some(number) => (number, MB),
        None => (text.strip_suffix('G')?, MB * 1024.0),
    };
    number.trim().parse::<f64>().ok().map(|n| n * factor)
}

impl Sized {
    fn value(&self, sizing: &Sizing) -> Value {
        let class = self.class.get(&sizing.machine.suffix());
        let Some(wanted) = class.cloned().or_else(|| self.grown(sizing)) else {
            return Value::default();
        };
        // A disk that is too small for it holds whatever the class says.
        let limit = self.disk.zip(sizing.disk_free_bytes).map(|(share, free)| share * free as f64);
        match (limit, bytes(&wanted)) {
            (Some(limit), Some(size)) if size > limit => {
                let lowered = self.write(limit.max(self.min.unwrap_or(0.0)));
                let note = format!("{wanted} by the profile, lowered to {lowered} to leave room on the disk");
                let note = (lowered != wanted).then_some(note);
                Value { value: Some(lowered), note, not_for: None }
            }
            _ => Value { value: Some(wanted), ..Value::default() },
        }
    }

    fn grown(&self, sizing: &Sizing) -> Option<String> {
        let amount = match self.of {
            Of::Memory => sizing.machine.memory_bytes as f64,
            Of::Cores => f64::from(sizing.machine.cores),
            Of::Clients => f64::from(sizing.clients),
            // Where it is not known, the lower limit holds.
            Of::Data => sizing.data_bytes.unwrap_or(0) as f64,
        };
        match &self.growth {
            Growth::Steps(steps) => {
                steps.iter().take_while(|(from, _)| *from <= amount).last().map(|(_, value)| value.clone())
            }
            Growth::Share { share, plus } => {
                let grown = (share * amount + plus).min(self.max.unwrap_or(f64::MAX)).max(self.min.unwrap_or(0.0));
                Some(self.write(grown))
            }
        }
    }

    fn write(&self, number: f64) -> String {
        match self.of {
            Of::Cores | Of::Clients => format!("{}", number.floor()),
            Of::Memory | Of::Data => {
                let (mb, end) = ((number / MB).floor(), self.unit_end);
                if mb >= 1024.0 && mb % 1024.0 == 0.0 {
                    format!("{}G{end}", mb / 1024.0)
                } else {
                    format!("{mb}M{end}")
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rqps_model::settings::MachineClass;

    fn rule(text: &str) -> Result<Rule, String> {
        let table: toml::Table = toml::from_str(&format!("x = {text}")).expect("toml");
        Rule::parse(&table["x"], Engine::Postgres)
    }

    fn on(text: &str, cores: u32, memory_gb: u64, disk_gb: u64) -> String {
        let machine = MachineClass { cores, memory_bytes: memory_gb << 30 };
        let sizing = Sizing { machine, disk_free_bytes: Some(disk_gb << 30), data_bytes: Some(10 << 30), clients: 40 };
        let value = rule(text).expect("a rule").value(&sizing, &"17.7".parse().expect("a version"));
        format!("{}{}", value.value.unwrap_or("unset".to_owned()), if value.note.is_some() { " (lowered)" } else { "" })
    }

    #[test]
    fn grows_steps_and_stops_at_limits() {
        let class = r#"{ of = "memory", share = 0.5, class = { c8r32 = "23GB" } }"#;
        assert_eq!(on(class, 8, 32, 999), "23GB");
        assert_eq!(on(class, 4, 32, 999), "16GB");
        assert_eq!(on(class, 4, 3, 999), "1536MB");
        let cores = r#"{ of = "cores", share = 0.5, min = 3, max = 8 }"#;
        assert_eq!((on(cores, 2, 1, 9), on(cores, 9, 1, 9), on(cores, 64, 1, 9)), ("3".into(), "4".into(), "8".into()));
        let steps = r#"{ of = "memory", steps = [{ from = "8GB", value = "a" }, { from = "48GB", value = "b" }] }"#;
        assert_eq!(
            (on(steps, 2, 7, 9), on(steps, 2, 8, 9), on(steps, 2, 64, 9)),
            ("unset".into(), "a".into(), "b".into())
        );
        let disk = r#"{ of = "memory", share = 1, min = "256MB", disk = 0.1, class = { c8r32 = "40GB" } }"#;
        assert_eq!(on(disk, 8, 32, 1000), "40GB");
        assert_eq!(on(disk, 8, 32, 100), "10GB (lowered)");
        assert_eq!(on(disk, 2, 4, 1), "256MB (lowered)");
        assert_eq!(on(r#"{ of = "data", share = 0.1, min = "16MB" }"#, 2, 4, 1), "1GB");
        assert_eq!(on(r#"{ of = "clients", share = 2, plus = 20, min = 100 }"#, 2, 4, 1), "100");
    }

    #[test]
    fn says_what_was_expected() {
        for (text, reason) in [
            ("5", "text in quotes"),
            ("[]", "text in quotes"),
            (r#"{ value = "x", of = "cores" }"#, "only `since` and `until`"),
            (r#"{ value = "x", since = 8 }"#, "must be a version in quotes"),
            (r#"{ of = "moon", share = 1 }"#, "must be memory"),
            (r#"{ of = "cores" }"#, "either `share` or `steps`"),
            (r#"{ of = "cores", share = 1, mx = 3 }"#, "unknown key `mx`"),
            (r#"{ of = "memory", share = 1, min = "3 apples" }"#, "a size such as"),
            (r#"{ of = "cores", steps = [{ from = 2, value = "b" }, { from = 1, value = "a" }] }"#, "must rise"),
        ] {
            let error = rule(text).expect_err(text);
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn the_first_alternative_that_is_for_a_version_holds() {
        let text = r#"[{ until = "8.0.29", of = "memory", share = 0.5 }, { since = "8.4", value = "x" }]"#;
        let table: toml::Table = toml::from_str(&format!("x = {text}\nnone = false")).expect("toml");
        let machine = MachineClass { cores: 2, memory_bytes: 3 << 30 };
        let sizing = Sizing { machine, disk_free_bytes: None, data_bytes: None, clients: 1 };
        let value = |name: &str, version: &str| {
            let rule = Rule::parse(&table[name], Engine::Mysql).expect("a rule");
            rule.value(&sizing, &version.parse().expect("a version"))
        };
        for (version, expected) in
            [("5.6.24", Some("1536M")), ("8.0.29", Some("1536M")), ("9.6.0", Some("x")), ("8.0.30", None)]
        {
            assert_eq!(value("x", version).value.as_deref(), expected, "{version}");
        }
        let reason = "the profile sets it up to 8.0.29 and from 8.4 on";
        assert_eq!(value("x", "8.0.33").not_for.as_deref(), Some(reason));
        assert_eq!(value("none", "8.0.33"), Value::default());
    }
}
