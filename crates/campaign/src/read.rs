//! From a value as written to one of the right type and range: what each form of a key allows.
//!
//! In: a key and `Spanned<Raw>` from file or flags. Out: a value, or a fault that says what was expected. Names are
//! only checked for their form; whether they exist is `check`'s business.

use crate::diagnostic::{Fault, Faults};
use crate::place::Spanned;
use crate::raw::Raw;
use crate::value::{BuildRequest, Scale, Setting, seconds};
use crate::vocabulary::did_you_mean;
use rqps_model::plan::Arrival;
use rqps_model::tproc_c::Form as TransactionForm;
use rqps_model::{BuildSpec, Engine, StorageEngine};
use rqps_suites::Key;
use rqps_suites::key::Form;

mod build;
mod machine;

pub(crate) use machine::write_size;

/// A smaller part of any size leaves nothing to measure, and nobody means a larger multiple.
const FACTOR_MIN: f64 = 1e-6;
const FACTOR_MAX: f64 = 1000.0;

/// A value that was wrong; what was wrong with it has been told.
pub(crate) struct Wrong;

pub(crate) type Read<T> = Result<T, Wrong>;

/// Reads values of one key and tells its faults.
pub(crate) struct Reader<'a> {
    pub(crate) key: &'static Key,
    pub(crate) faults: &'a mut Faults,
}

impl Reader<'_> {
    fn refuse<T>(&mut self, raw: &Spanned<Raw>, fault: Fault) -> Read<T> {
        self.faults.add(&raw.place, fault);
        Err(Wrong)
    }

    fn wrong_type<T>(&mut self, raw: &Spanned<Raw>, expected: impl Into<String>) -> Read<T> {
        let message = format!("`{}` cannot be {}", self.key.name, raw.value.found());
        self.refuse(raw, Fault::error(message).expected(expected))
    }

    /// Text that is not empty.
    pub(crate) fn word(&mut self, raw: &Spanned<Raw>) -> Read<String> {
        match &raw.value {
            Raw::Word(text) | Raw::Text(text) if text.trim().is_empty() => {
                let message = format!("`{}` is empty", self.key.name);
                self.refuse(raw, Fault::error(message).expected(self.key.form.expected()))
            }
            Raw::Word(text) | Raw::Text(text) => Ok(text.trim().to_owned()),
            // A number where a name belongs, such as tests = 32, is meant as the name.
            Raw::Whole(number) if matches!(self.key.form, Form::Names(_)) => Ok(number.to_string()),
            _ => self.wrong_type(raw, self.key.form.expected()),
        }
    }

    /// A word that can be a folder's name.
    pub(crate) fn plain_name(&mut self, raw: &Spanned<Raw>) -> Read<String> {
        let name = self.word(raw)?;
        if !rqps_model::build::is_plain_name(&name) {
            let fault = Fault::error(format!("`{name}` cannot be a name, since it becomes a folder's name"))
                .expected("letters, digits, `.`, `_` and `-`, first a letter or digit, at most 64 in all");
            return self.refuse(raw, fault);
        }
        Ok(name)
    }

    /// The items of a list; a single value is a list of one.
    fn items(&mut self, raw: Spanned<Raw>) -> Read<Vec<Spanned<Raw>>> {
        match raw.value {
            Raw::List(ref items) if items.is_empty() => {
                let message = format!("`{}` is an empty list", self.key.name);
                self.refuse(&raw, Fault::error(message).expected(self.key.form.expected()))
            }
            Raw::List(items) => Ok(items),
            value => Ok(vec![Spanned::new(value, raw.place)]),
        }
    }

    /// Every item of a list by the same reading; all wrong items are told.
    fn each<T>(
        &mut self,
        raw: Spanned<Raw>,
        mut read: impl FnMut(&mut Self, &Spanned<Raw>) -> Read<T>,
    ) -> Read<Vec<Spanned<T>>> {
        let items = self.items(raw)?;
        let read: Vec<Read<Spanned<T>>> =
            items.into_iter().map(|item| Ok(Spanned::new(read(self, &item)?, item.place))).collect();
        read.into_iter().collect()
    }

    pub(crate) fn words(&mut self, raw: Spanned<Raw>) -> Read<Vec<Spanned<String>>> {
        self.each(raw, |reader, item| reader.word(item))
    }

    pub(crate) fn distinct(&mut self, raw: Spanned<Raw>) -> Read<Vec<Spanned<u32>>> {
        let numbers = self.each(raw, |reader, item| reader.small(item))?;
        let name = &self.key.name;
        self.each_once(numbers, |number| format!("{name} {number}"))
    }

    /// Refuses a list that has an item twice.
    fn each_once<T: PartialEq>(
        &mut self,
        items: Vec<Spanned<T>>,
        name: impl Fn(&T) -> String,
    ) -> Read<Vec<Spanned<T>>> {
        match (1..items.len()).find(|at| items[..*at].contains(&items[*at])) {
            None => Ok(items),
            Some(at) => {
                let fault = Fault::error(format!("{} is listed twice", name(&items[at].value)));
                self.faults.add(&items[at].place, fault);
                Err(Wrong)
            }
        }
    }

    /// `small` or `cached-large:0.01`.
    pub(crate) fn scale(&mut self, raw: &Spanned<Raw>) -> Read<Scale> {
        let text = self.word(raw)?;
        let (word, factor) = match text.split_once(':') {
            None => (text.as_str(), 1.0),
            Some((word, factor)) => {
                let factor = Spanned::new(Raw::Word(factor.trim().to_owned()), raw.place.clone());
                (word.trim(), self.number_within(&factor, FACTOR_MIN, FACTOR_MAX)?)
            }
        };
        Ok(Scale { word: word.to_owned(), factor })
    }

    pub(crate) fn storage_engines(&mut self, raw: Spanned<Raw>) -> Read<Vec<Spanned<StorageEngine>>> {
        let key = Key::find("storage-engine").expect("it is in KEYS");
        // A build's own table has the word as well, and is told about it in the same way.
        let mut reader = Reader { key, faults: &mut *self.faults };
        let engines = reader.each(raw, |reader, item| reader.choice(item, &StorageEngine::ALL, StorageEngine::name))?;
        reader.each_once(engines, |engine| format!("storage engine `{engine}`"))
    }

    pub(crate) fn transaction_forms(&mut self, raw: Spanned<Raw>) -> Read<Vec<Spanned<TransactionForm>>> {
        let forms = self.each(raw, |reader, item| reader.choice(item, &TransactionForm::ALL, TransactionForm::name))?;
        self.each_once(forms, |form| format!("form `{form}`"))
    }

    pub(crate) fn whole(&mut self, raw: &Spanned<Raw>) -> Read<u64> {
        let expected = self.key.form.expected();
        let is_count = matches!(self.key.form, Form::Count { .. });
        let number = match &raw.value {
            Raw::Whole(number) => Some(*number),
            Raw::Word(word) if is_count => parse_count(word),
            Raw::Text(text) if is_count && text.ends_with(char::is_alphabetic) => parse_count(text),
            // Digits in groups, as TOML has them.
            Raw::Word(word) => word.replace('_', "").parse().ok(),
            _ => None,
        };
        let Some(number) = number else {
            let quoted = matches!(&raw.value, Raw::Text(text) if text.trim().parse::<i128>().is_ok());
            let fault = match &raw.value {
                Raw::Word(word) => Fault::error(format!("`{word}` is not a whole number")),
                Raw::Number(number) => Fault::error(format!("{number} is not a whole number")),
                value => Fault::error(format!("`{}` cannot be {}", self.key.name, value.found())),
            };
            let help = quoted.then(|| "numbers stand without quotes".to_owned());
            return self.refuse(raw, fault.expected(expected).help_if(help));
        };
        let (min, max) = match &self.key.form {
            Form::Whole { min, max } | Form::Count { min, max } | Form::Wholes { min, max } => (*min, *max),
            kind => unreachable!("{kind:?} is read as a whole number"),
        };
        match u64::try_from(number).ok().filter(|number| (min..=max).contains(number)) {
            Some(number) => Ok(number),
            None => {
                let side = if number < i128::from(min) { "too small" } else { "too large" };
                let message = format!("`{}` is {side}", self.key.name);
                self.refuse(raw, Fault::error(message).expected(expected))
            }
        }
    }

    pub(crate) fn small(&mut self, raw: &Spanned<Raw>) -> Read<u32> {
        let number = self.whole(raw)?;
        Ok(u32::try_from(number).expect("the key's range ends below 32 bits"))
    }

    pub(crate) fn number(&mut self, raw: &Spanned<Raw>) -> Read<f64> {
        let (min, max) = match &self.key.form {
            Form::Number { min, max, .. } => (*min, *max),
            kind => unreachable!("{kind:?} is read as a number"),
        };
        self.number_within(raw, min, max)
    }

    fn number_within(&mut self, raw: &Spanned<Raw>, min: f64, max: f64) -> Read<f64> {
        let expected = self.key.form.expected();
        let number = match &raw.value {
            Raw::Whole(number) => *number as f64,
            Raw::Number(number) => *number,
            Raw::Word(word) => match word.replace('_', "").parse() {
                Ok(number) => number,
                Err(_) => {
                    return self.refuse(raw, Fault::error(format!("`{word}` is not a number")).expected(expected));
                }
            },
            _ => return self.wrong_type(raw, expected),
        };
        if !(min..=max).contains(&number) {
            let side = if number < min { "is too small" } else { "is too large" };
            let what = if number.is_nan() { "is not a number" } else { side };
            return self.refuse(raw, Fault::error(format!("`{}` {what}", self.key.name)).expected(expected));
        }
        Ok(number)
    }

    /// Seconds from a time such as 15m or 1h30m; a plain number is one of seconds.
    pub(crate) fn duration(&mut self, raw: &Spanned<Raw>) -> Read<f64> {
        let (min, max) = match &self.key.form {
            Form::Duration { min, max } => (*min, *max),
            kind => unreachable!("{kind:?} is read as a duration"),
        };
        if let Raw::Word(text) | Raw::Text(text) = &raw.value
            && text.ends_with(char::is_alphabetic)
        {
            return match seconds(text) {
                Some(time) => self.number_within(&Spanned::new(Raw::Number(time), raw.place.clone()), min, max),
                None => {
                    let fault = Fault::error(format!("`{text}` is not a time"));
                    self.refuse(raw, fault.expected(self.key.form.expected()))
                }
            };
        }
        self.number_within(raw, min, max)
    }

    /// A fraction such as 0.02, or a percentage such as 2%.
    pub(crate) fn fraction(&mut self, raw: &Spanned<Raw>) -> Read<f64> {
        let (min, max) = match &self.key.form {
            Form::Fraction { min, max } => (*min, *max),
            kind => unreachable!("{kind:?} is read as a fraction"),
        };
        if let Raw::Word(text) | Raw::Text(text) = &raw.value
            && let Some(percent) = text.trim().strip_suffix('%')
            && let Ok(percent) = percent.trim_end().parse::<f64>()
        {
            return self.number_within(&Spanned::new(Raw::Number(percent / 100.0), raw.place.clone()), min, max);
        }
        self.number_within(raw, min, max)
    }

    pub(crate) fn switch(&mut self, raw: &Spanned<Raw>) -> Read<bool> {
        match &raw.value {
            Raw::Switch(yes) => Ok(*yes),
            Raw::Word(word) if word == "true" => Ok(true),
            Raw::Word(word) if word == "false" => Ok(false),
            _ => self.wrong_type(raw, self.key.form.expected()),
        }
    }

    pub(crate) fn choice<T: Copy>(&mut self, raw: &Spanned<Raw>, all: &[T], name: fn(T) -> &'static str) -> Read<T> {
        let word = self.word(raw)?;
        all.iter().copied().find(|choice| name(*choice) == word).map_or_else(
            || {
                let help = did_you_mean(&word, all.iter().map(|choice| name(*choice)));
                let fault = Fault::error(format!("`{}` cannot be `{word}`", self.key.name));
                self.refuse(raw, fault.expected(self.key.form.expected()).help_if(help))
            },
            Ok,
        )
    }

    /// `500`, `poisson:500`, `even:500` or `closed`.
    pub(crate) fn rate(&mut self, raw: &Spanned<Raw>) -> Read<Arrival> {
        /// More than any server answers; a larger number is a slip.
        const RATE_MAX: f64 = 10_000_000.0;
        let (gaps, number) = match &raw.value {
            Raw::Word(text) | Raw::Text(text) => match text.split_once(':') {
                Some((gaps, number)) => (gaps, Spanned::new(Raw::Word(number.to_owned()), raw.place.clone())),
                None if text == "closed" => return Ok(Arrival::Closed),
                None => ("poisson", Spanned::new(Raw::Word(text.clone()), raw.place.clone())),
            },
            _ => ("poisson", raw.clone()),
        };
        let rate_per_s = self.number_within(&number, 0.1, RATE_MAX)?;
        match gaps {
            "poisson" => Ok(Arrival::Poisson { rate_per_s }),
            "even" => Ok(Arrival::Even { rate_per_s }),
            other => {
                let fault = Fault::error(format!("`{other}` is no kind of gaps"))
                    .expected("poisson or even")
                    .help_if(did_you_mean(other, ["poisson", "even"]));
                self.refuse(raw, fault)
            }
        }
    }

    /// Settings as `name=value` words or as a table. Those that could be read are kept beside wrong ones, so that what
    /// is wrong with their names is told at the same time.
    pub(crate) fn settings(&mut self, raw: Spanned<Raw>) -> Read<Vec<Spanned<Setting>>> {
        let mut settings: Vec<Spanned<Setting>> = Vec::new();
        if let Raw::Table(entries) = &raw.value {
            for (name, value) in entries {
                _ = self.setting_entry(&name.value, name, value, &mut settings);
            }
        } else {
            for item in self.items(raw)? {
                let setting = self.setting(&item);
                settings.extend(setting.ok().map(|setting| Spanned::new(setting, item.place)));
            }
        }
        for (at, setting) in settings.iter().enumerate() {
            if settings[..at].iter().any(|other| other.value.0 == setting.value.0) {
                let fault = Fault::error(format!("setting `{}` is given twice", setting.value.0));
                self.faults.add(&setting.place, fault);
            }
        }
        if settings.is_empty() { Err(Wrong) } else { Ok(settings) }
    }

    fn setting(&mut self, item: &Spanned<Raw>) -> Read<Setting> {
        let (Raw::Word(text) | Raw::Text(text)) = &item.value else {
            return self.wrong_type(item, self.key.form.expected());
        };
        // Variables of scripts are written as settings are, but are never empty.
        let is_variable = self.key.name == "define";
        let is_missing = |value: &str| is_variable && value.trim().is_empty();
        let is_value = |value: &str| !value.contains(char::is_control) && !is_missing(value);
        match text.split_once('=') {
            Some((name, value)) if is_setting_name(name.trim()) && is_value(value) => {
                Ok((setting_name(name.trim()), value.trim().to_owned()))
            }
            _ => {
                let (what, help) = match is_variable {
                    true => ("does not give a variable its value", "such as customers=1000"),
                    false => ("is not a setting", "such as work_mem=64MB"),
                };
                self.refuse(item, Fault::error(format!("`{text}` {what}")).expected("NAME=VALUE").help(help))
            }
        }
    }

    /// One entry of a settings table; a dotted name such as `pg_stat_statements.max` comes as a table in the table.
    fn setting_entry(
        &mut self,
        path: &str,
        name: &Spanned<String>,
        value: &Spanned<Raw>,
        settings: &mut Vec<Spanned<Setting>>,
    ) -> Read<()> {
        let text = match &value.value {
            Raw::Table(entries) => {
                for (inner, value) in entries {
                    self.setting_entry(&format!("{path}.{}", inner.value), inner, value, settings)?;
                }
                return Ok(());
            }
            Raw::Text(text) | Raw::Word(text) => text.clone(),
            Raw::Whole(number) => number.to_string(),
            Raw::Number(number) => number.to_string(),
            Raw::Switch(yes) => if *yes { "on" } else { "off" }.to_owned(),
            Raw::List(_) | Raw::Date => {
                let message = format!("setting `{path}` cannot be {}", value.value.found());
                return self.refuse(value, Fault::error(message).expected("text, a number, true or false"));
            }
        };
        if !is_setting_name(path) {
            let fault = Fault::error(format!("`{path}` cannot be the name of a setting"));
            self.faults.add(&name.place, fault.expected("letters, digits, `_` and `.`"));
            return Err(Wrong);
        }
        if text.contains(char::is_control) {
            return self.refuse(value, Fault::error(format!("the value of setting `{path}` is more than one line")));
        }
        settings.push(Spanned::new((setting_name(path), text), name.place.clone()));
        Ok(())
    }
}

/// A count such as `100000`, `100_000`, `100k` or `50m`.
fn parse_count(text: &str) -> Option<i128> {
    let text = text.trim().replace('_', "").to_lowercase();
    let scales = [('k', 1_000), ('m', 1_000_000), ('g', 1_000_000_000)];
    let scaled = scales.iter().find_map(|(letter, scale)| Some((text.strip_suffix(*letter)?, *scale)));
    let (digits, scale) = scaled.unwrap_or((&text, 1));
    digits.parse::<i128>().ok()?.checked_mul(scale)
}

/// Whether a word can name a server setting: it is written into a configuration file as it is.
fn is_setting_name(name: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(inner)
}

/// A setting's one name: MySQL takes `sync-binlog` for `sync_binlog`.
fn setting_name(name: &str) -> String {
    name.replace('-', "_")
}
