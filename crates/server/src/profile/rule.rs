//! How a setting's value grows with the machine: a share with limits, steps, or fixed values for known machine classes;
//! and the versions that it is for.
//!
//! In: a rule as written in a profile, a [`Sizing`] and a version. Out: the value as text with its unit. It must stay a
//! table that one can read, never a language.

use super::Sizing;
use crate::known_settings::Mark;
use rqps_model::Version;
use serde::Deserialize;
use std::collections::BTreeMap;

const MB: f64 = 1_048_576.0;

/// The value of a setting: the first alternative that is for a version.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "toml::Value")]
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
    /// Not written, whatever is in the profile below.
    Unset,
    /// The same for every machine.
    Fixed(String),
    /// Grows with something.
    Sized(Sized),
}

/// A rule in braces as it is written.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    since: Option<Mark>,
    until: Option<Mark>,
    value: Option<String>,
    of: Option<Of>,
    share: Option<Quantity>,
    plus: Option<Quantity>,
    min: Option<Quantity>,
    max: Option<Quantity>,
    disk: Option<Quantity>,
    steps: Option<Vec<Step>>,
    #[serde(default)]
    class: BTreeMap<String, String>,
}

/// A plain number, or text with a unit of memory, which becomes bytes.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "toml::Value")]
struct Quantity(f64);

/// From a size of the machine on, this value.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    from: Quantity,
    value: String,
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
}

#[derive(Debug, Clone, PartialEq)]
enum Growth {
    Share { share: f64, plus: f64 },
    Steps(Vec<Step>),
}

/// What a value grows with.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Of {
    Memory,
    Cores,
    Data,
    Clients,
    /// The share of a second in which the server works: the clock runs on while others have their slices.
    Time,
}

/// A value, `None` where the setting stays unset, and what was done to it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Value {
    pub(super) value: Option<String>,
    pub(super) note: Option<String>,
    /// Why the rule is not for this version.
    pub(super) not_for: Option<String>,
}

impl TryFrom<toml::Value> for Rule {
    type Error = String;

    fn try_from(value: toml::Value) -> Result<Rule, String> {
        let alternatives = match value {
            toml::Value::Array(all) if !all.is_empty() => {
                all.into_iter().map(Alternative::parse).collect::<Result<_, String>>()?
            }
            one => vec![Alternative::parse(one)?],
        };
        Ok(Rule { alternatives })
    }
}

impl Rule {
    /// The value on a machine, for a version; `unit_end` follows `M` and `G` where the engine writes sizes.
    pub(super) fn value(&self, sizing: &Sizing, version: &Version, unit_end: &str) -> Value {
        match self.alternatives.iter().find(|alternative| alternative.is_for(version)) {
            None => Value { not_for: Some(self.ranges()), ..Value::default() },
            Some(Alternative { form: Form::Unset, .. }) => Value::default(),
            Some(Alternative { form: Form::Fixed(text), .. }) => {
                Value { value: Some(text.clone()), ..Value::default() }
            }
            Some(Alternative { form: Form::Sized(sized), .. }) => sized.value(sizing, unit_end),
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
    fn parse(value: toml::Value) -> Result<Alternative, String> {
        let always = |form: Form| Ok(Alternative { since: None, until: None, form });
        let mut written: Written = match value {
            toml::Value::String(text) => return always(Form::Fixed(text)),
            toml::Value::Boolean(false) => return always(Form::Unset),
            toml::Value::Table(table) => table.try_into().map_err(|e| e.message().to_owned())?,
            _ => return Err("expected text in quotes, a rule in braces, or `false` for leaving it unset".to_owned()),
        };
        let (since, until) = (written.since.take(), written.until.take());
        let form = match written.value.take() {
            Some(text) if written == Written::default() => Form::Fixed(text),
            Some(_) => return Err("beside `value` only `since` and `until` may stand".to_owned()),
            None => Form::Sized(written.sized()?),
        };
        Ok(Alternative { since, until, form })
    }

    fn is_for(&self, version: &Version) -> bool {
        let too_early = self.since.as_ref().is_some_and(|since| since.is_after(version));
        let too_late = self.until.as_ref().is_some_and(|until| until.is_before(version));
        !too_early && !too_late
    }
}

impl Written {
    fn sized(self) -> Result<Sized, String> {
        let number = |quantity: Option<Quantity>| quantity.map(|Quantity(number)| number);
        let growth = match (number(self.share), self.steps) {
            (Some(share), None) => Growth::Share { share, plus: number(self.plus).unwrap_or(0.0) },
            (None, Some(steps)) if steps.is_empty() || steps.windows(2).any(|two| two[0].from.0 >= two[1].from.0) => {
                return Err("steps must rise, and there must be one".to_owned());
            }
            (None, Some(steps)) => Growth::Steps(steps),
            _ => return Err("a rule needs either `share` or `steps`".to_owned()),
        };
        let of = self.of.ok_or("a rule needs `of`: memory, cores, data, clients or time")?;
        let (min, max, disk) = (number(self.min), number(self.max), number(self.disk));
        Ok(Sized { of, growth, min, max, disk, class: self.class })
    }
}

impl TryFrom<toml::Value> for Quantity {
    type Error = &'static str;

    fn try_from(value: toml::Value) -> Result<Quantity, &'static str> {
        let number = match value {
            toml::Value::Integer(n) => Some(n as f64),
            toml::Value::Float(n) => Some(n),
            toml::Value::String(text) => bytes(&text),
            _ => None,
        };
        let number = number.filter(|n| n.is_finite()).map(Quantity);
        number.ok_or("expected a number or a size such as \"256MB\"")
    }
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
    fn value(&self, sizing: &Sizing, unit_end: &str) -> Value {
        let class = self.class.get(&sizing.machine.suffix());
        let Some(wanted) = class.cloned().or_else(|| self.grown(sizing, unit_end)) else {
            return Value::default();
        };
        // A disk that is too small limits it in every class.
        let limit = self.disk.zip(sizing.disk_free_bytes).map(|(share, free)| share * free as f64);
        match (limit, bytes(&wanted)) {
            (Some(limit), Some(size)) if size > limit => {
                let lowered = self.write(limit.max(self.min.unwrap_or(0.0)), unit_end);
                let note = format!("{wanted} by the profile, lowered to {lowered} to leave room on the disk");
                let note = (lowered != wanted).then_some(note);
                Value { value: Some(lowered), note, not_for: None }
            }
            _ => Value { value: Some(wanted), ..Value::default() },
        }
    }

    fn grown(&self, sizing: &Sizing, unit_end: &str) -> Option<String> {
        let amount = match self.of {
            Of::Memory => sizing.machine.memory_bytes as f64,
            Of::Cores => f64::from(sizing.machine.cores),
            Of::Clients => f64::from(sizing.clients),
            // Where it is not known, the lower limit holds.
            Of::Data => sizing.data_bytes.unwrap_or(0) as f64,
            Of::Time => 1.0 / f64::from(sizing.alternating_builds.max(1)),
        };
        match &self.growth {
            Growth::Steps(steps) => {
                steps.iter().take_while(|step| step.from.0 <= amount).last().map(|step| step.value.clone())
            }
            Growth::Share { share, plus } => {
                let grown = (share * amount + plus).min(self.max.unwrap_or(f64::MAX)).max(self.min.unwrap_or(0.0));
                Some(self.write(grown, unit_end))
            }
        }
    }

    fn write(&self, number: f64, unit_end: &str) -> String {
        match self.of {
            Of::Cores | Of::Clients => format!("{}", number.floor()),
            Of::Time => format!("{}", number.round()),
            Of::Memory | Of::Data => {
                let mb = (number / MB).floor();
                if mb >= 1024.0 && mb % 1024.0 == 0.0 {
                    format!("{}G{unit_end}", mb / 1024.0)
                } else {
                    format!("{mb}M{unit_end}")
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
        Rule::try_from(table["x"].clone())
    }

    fn on(text: &str, cores: u32, memory_gb: u64, disk_gb: u64) -> String {
        let machine = MachineClass { cores, memory_bytes: memory_gb << 30 };
        let sizing = Sizing {
            machine,
            disk_free_bytes: Some(disk_gb << 30),
            data_bytes: Some(10 << 30),
            clients: 40,
            alternating_builds: 3,
        };
        let value = rule(text).expect("a rule").value(&sizing, &"17.7".parse().expect("a version"), "B");
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
        assert_eq!(on(r#"{ of = "time", share = 80 }"#, 2, 4, 1), "27");
    }

    #[test]
    fn reports_what_was_expected() {
        for (text, reason) in [
            ("5", "text in quotes"),
            ("[]", "text in quotes"),
            (r#"{ value = "x", of = "cores" }"#, "only `since` and `until`"),
            (r#"{ value = "x", since = 8 }"#, "expected a string"),
            (r#"{ of = "moon", share = 1 }"#, "expected one of `memory`"),
            (r#"{ of = "cores" }"#, "either `share` or `steps`"),
            (r#"{ of = "cores", share = 1, mx = 3 }"#, "unknown field `mx`"),
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
        let sizing = Sizing { machine, disk_free_bytes: None, data_bytes: None, clients: 1, alternating_builds: 1 };
        let value = |name: &str, version: &str| {
            let rule = Rule::try_from(table[name].clone()).expect("a rule");
            rule.value(&sizing, &version.parse().expect("a version"), "")
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
