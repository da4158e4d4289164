//! The types of a request's values: how each is read and written.
//!
//! Reading is the reader's, by the form of the key; here a type says which of its readings it wants, and how it looks
//! in a campaign file.

use crate::place::Spanned;
use crate::raw::Raw;
use crate::read::{Read, Reader, write_size};
use crate::value::{BuildRequest, Scale, Setting};
use rqps_model::build::without_credentials;
use rqps_model::own::{AnswersRule, Protocol};
use rqps_model::plan::Arrival;
use rqps_model::settings::MachineClass;
use rqps_model::tproc_c::{Check, Form as TransactionForm, Isolation, Profile};
use rqps_model::{BuildSpec, Interleave, Placement, ProgramPages, StorageEngine};
use rqps_suites::key::Form;
use rqps_suites::preset::PUBLISHED;
use toml::Value;

/// The type of a key's value: how it is read from what was written, and written to a campaign file.
pub(crate) trait Field {
    /// What could be read; what is wrong with the rest is among the faults.
    fn read(reader: &mut Reader<'_>, raw: Spanned<Raw>) -> Read<Self>
    where
        Self: Sized;
    /// The value in TOML.
    fn write(&self) -> String;
}

macro_rules! field {
    ($kind:ty, |$reader:ident, $raw:ident| $read:expr, |$value:ident| $write:expr) => {
        impl Field for $kind {
            fn read($reader: &mut Reader<'_>, $raw: Spanned<Raw>) -> Read<Self> {
                $read
            }

            fn write(&self) -> String {
                let $value = self;
                $write
            }
        }
    };
}

field!(Vec<BuildRequest>, |reader, raw| reader.builds(raw), |builds| list(builds.iter().map(build).collect()));
field!(Vec<Spanned<Setting>>, |reader, raw| reader.settings(raw), |set| settings(set));
field!(
    String,
    |reader, raw| match reader.key.form {
        Form::FolderName => reader.plain_name(&raw),
        // A build is meant by its address as it is kept and shown.
        Form::Preset => reader.choice(&raw, &[PUBLISHED], |name| name).map(str::to_owned),
        Form::Build => reader.word(&raw).map(|word| without_credentials(&word)),
        _ => reader.word(&raw),
    },
    |word| text(word)
);
field!(Vec<Spanned<String>>, |reader, raw| reader.words(raw), |words| texts(words));
field!(Vec<Spanned<StorageEngine>>, |reader, raw| reader.storage_engines(raw), |engines| texts(engines));
field!(Vec<Spanned<TransactionForm>>, |reader, raw| reader.transaction_forms(raw), |forms| texts(forms));
field!(Profile, |reader, raw| reader.choice(&raw, &Profile::ALL, Profile::name), |profile| text(profile.name()));
field!(AnswersRule, |reader, raw| reader.choice(&raw, &AnswersRule::ALL, AnswersRule::name), |rule| text(rule.name()));
field!(Protocol, |reader, raw| reader.choice(&raw, &Protocol::ALL, Protocol::name), |word| text(word.name()));
field!(Isolation, |reader, raw| reader.choice(&raw, &Isolation::ALL, Isolation::name), |level| text(level.name()));
field!(Check, |reader, raw| reader.choice(&raw, &Check::ALL, Check::name), |how| text(how.name()));
field!(Vec<Spanned<u32>>, |reader, raw| reader.distinct(raw), |numbers| {
    list(numbers.iter().map(|number| number.value.to_string()).collect())
});
field!(Scale, |reader, raw| reader.scale(&raw), |scale| text(&scale.to_string()));
field!(u32, |reader, raw| reader.small(&raw), |number| number.to_string());
field!(u64, |reader, raw| reader.whole(&raw), |number| number.to_string());
field!(
    f64,
    |reader, raw| match reader.key.form {
        Form::Fraction { .. } => reader.fraction(&raw),
        Form::Duration { .. } => reader.duration(&raw),
        _ => reader.number(&raw),
    },
    |number| number.to_string()
);
field!(bool, |reader, raw| reader.switch(&raw), |yes| yes.to_string());
field!(Interleave, |reader, raw| reader.choice(&raw, &Interleave::ALL, Interleave::name), |how| text(how.name()));
field!(Placement, |reader, raw| reader.choice(&raw, &Placement::ALL, Placement::name), |how| text(how.name()));
field!(ProgramPages, |reader, raw| reader.choice(&raw, &ProgramPages::ALL, ProgramPages::name), |size| {
    text(size.name())
});
field!(Arrival, |reader, raw| reader.rate(&raw), |rate| match rate {
    Arrival::Closed => text("closed"),
    Arrival::Poisson { rate_per_s } => rate_per_s.to_string(),
    Arrival::Even { rate_per_s } => text(&format!("even:{rate_per_s}")),
});
field!(MachineClass, |reader, raw| reader.machine(&raw), |machine| {
    format!("{{ cores = {}, memory = {} }}", machine.cores, text(&write_size(machine.memory_bytes)))
});

fn text(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

fn texts<T: ToString>(words: &[Spanned<T>]) -> String {
    list(words.iter().map(|word| text(&word.value.to_string())).collect())
}

/// A list on one line where it fits, else an item a line.
fn list(items: Vec<String>) -> String {
    const LINE: usize = 90;
    let short = format!("[{}]", items.join(", "));
    if short.len() <= LINE { short } else { format!("[\n    {},\n]", items.join(",\n    ")) }
}

fn build(build: &BuildRequest) -> String {
    let spec = &build.spec.value;
    if build.profile.is_none() && build.storage.is_none() && build.set.is_empty() {
        return text(&spec.to_string());
    }
    let from = BuildSpec { name: None, ..spec.clone() };
    let name = spec.name.as_ref().map(|name| format!("name = {}", text(name)));
    let from = Some(format!("from = {}", text(&from.to_string())));
    let profile = build.profile.as_ref().map(|words| format!("profile = {}", texts(&words.value)));
    let set = (!build.set.is_empty()).then(|| format!("set = {}", settings(&build.set)));
    let engines = build.storage.as_ref().map(|engines| format!("storage-engine = {}", texts(&engines.value)));
    let entries: Vec<String> = [name, from, profile, engines, set].into_iter().flatten().collect();
    format!("{{ {} }}", entries.join(", "))
}

fn settings(set: &[Spanned<Setting>]) -> String {
    // A dot in a bare key would make a table of it.
    let key = |name: &str| if name.contains('.') { text(name) } else { name.to_owned() };
    let entries: Vec<String> =
        set.iter().map(|setting| format!("{} = {}", key(&setting.value.0), text(&setting.value.1))).collect();
    format!("{{ {} }}", entries.join(", "))
}
