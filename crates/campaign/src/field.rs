//! The types of a request's values: how each is read and written.
//!
//! Reading is the reader's, by the form of the key; here a type says which of its readings it wants, and how it looks
//! in a campaign file.

use crate::place::Stated;
use crate::raw::Raw;
use crate::read::{Read, Reader, write_size};
use crate::request::{BuildRequest, Field, Scale, Setting};
use crate::write::{build, list, settings, storage, text, texts};
use rqps_model::build::without_credentials;
use rqps_model::plan::Arrival;
use rqps_model::settings::MachineClass;
use rqps_model::{Interleave, Placement, StorageEngine};
use rqps_suites::key::Form;

/// A type that is read whole or not at all.
macro_rules! field {
    ($kind:ty, |$reader:ident, $raw:ident| $read:expr, |$value:ident| $write:expr) => {
        impl Field for $kind {
            fn read($reader: &mut Reader<'_>, $raw: Stated<Raw>) -> (Option<Self>, Read<()>) {
                match $read {
                    Ok(value) => (Some(value), Ok(())),
                    Err(wrong) => (None, Err(wrong)),
                }
            }

            fn write(&self) -> String {
                let $value = self;
                $write
            }
        }
    };
}

/// A list of which the right items are kept beside wrong ones.
macro_rules! kept_list {
    ($kind:ty, $read:ident, |$value:ident| $write:expr) => {
        impl Field for Vec<$kind> {
            fn read(reader: &mut Reader<'_>, raw: Stated<Raw>) -> (Option<Self>, Read<()>) {
                let (items, all_read) = reader.$read(raw);
                ((!items.is_empty()).then_some(items), all_read)
            }

            fn write(&self) -> String {
                let $value = self;
                $write
            }
        }
    };
}

kept_list!(BuildRequest, builds, |builds| list(builds.iter().map(build).collect()));
kept_list!(Stated<Setting>, settings, |set| settings(set));

field!(
    String,
    |reader, raw| match reader.key.form {
        Form::FolderName => reader.plain_name(&raw),
        // A build is meant by its address as it is kept and shown.
        Form::Build => reader.word(&raw).map(|word| without_credentials(&word)),
        _ => reader.word(&raw),
    },
    |word| text(word)
);
field!(Vec<Stated<String>>, |reader, raw| reader.words(raw), |words| texts(words));
field!(Vec<Stated<StorageEngine>>, |reader, raw| reader.storage_engines(raw), |engines| storage(engines));
field!(Vec<Stated<u32>>, |reader, raw| reader.distinct(raw), |numbers| {
    list(numbers.iter().map(|number| number.value.to_string()).collect())
});
field!(Scale, |reader, raw| reader.scale(&raw), |scale| text(&scale.to_string()));
field!(u32, |reader, raw| reader.small(&raw), |number| number.to_string());
field!(u64, |reader, raw| reader.whole(&raw), |number| number.to_string());
field!(
    f64,
    |reader, raw| match reader.key.form {
        Form::Fraction { .. } => reader.fraction(&raw),
        _ => reader.number(&raw),
    },
    |number| number.to_string()
);
field!(bool, |reader, raw| reader.switch(&raw), |yes| yes.to_string());
field!(Interleave, |reader, raw| reader.choice(&raw, &Interleave::ALL, Interleave::name), |how| text(how.name()));
field!(Placement, |reader, raw| reader.choice(&raw, &Placement::ALL, Placement::name), |how| text(how.name()));
field!(Arrival, |reader, raw| reader.rate(&raw), |rate| match rate {
    Arrival::Closed => text("closed"),
    Arrival::Poisson { rate_per_s } => rate_per_s.to_string(),
    Arrival::Even { rate_per_s } => text(&format!("even:{rate_per_s}")),
});
field!(MachineClass, |reader, raw| reader.machine(&raw), |machine| {
    format!("{{ cores = {}, memory = {} }}", machine.cores, text(&write_size(machine.memory_bytes)))
});
