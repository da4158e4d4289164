//! The words of a campaign: one table of keys, each of which is at once a key of the campaign file and a flag.
//!
//! In: `keys.toml`, compiled in. Out: the table, from which the file's reader and writer, the flags and their help and
//! the defaults are made, and by which the table in docs/campaign-file.md is tested. It reads no value of a key.

use crate::SuiteName;
use crate::preset::PUBLISHED;
use rqps_model::own::{AnswersRule, Protocol};
use rqps_model::tproc_c::{Check, Form as TransactionForm, Isolation, Profile};
use rqps_model::{Interleave, Placement, ProgramPages, StorageEngine};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// All keys, in the order in which they are listed, shown in the help and written.
pub static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| {
    #[derive(Deserialize)]
    struct File {
        key: Vec<Key>,
    }
    toml::from_str::<File>(include_str!("keys.toml")).expect("a test reads the compiled-in keys").key
});

/// What may stand behind a key.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Form {
    /// A name that becomes a folder's.
    FolderName,
    /// A word that means a build.
    Build,
    /// A list of builds.
    Builds,
    /// A suite's name.
    Suite,
    /// A list of words, of this kind.
    Names(String),
    /// A file's path.
    File,
    /// A whole number.
    Whole {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
    },
    /// A whole number that may be written in thousands and millions.
    Count {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
    },
    /// A ready-made size, perhaps with a factor.
    Scale,
    /// A list of whole numbers.
    Wholes {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
    },
    /// A number with decimals.
    Number {
        /// Smallest.
        min: f64,
        /// Largest.
        max: f64,
        /// What it counts, in the plural.
        unit: String,
    },
    /// A length of time.
    Duration {
        /// Shortest, in seconds.
        min: f64,
        /// Longest, in seconds.
        max: f64,
    },
    /// How builds alternate.
    Interleave,
    /// On which CPUs server and client run.
    Placement,
    /// In what pages the programs of servers lie.
    ProgramPages,
    /// A list of storage engines.
    StorageEngines,
    /// The name of a preset.
    Preset,
    /// By whose rules TPROC-C is run.
    TprocCProfile,
    /// A list of forms of transactions.
    TransactionForms,
    /// An isolation level.
    Isolation,
    /// How much is checked after a run.
    Check,
    /// What becomes of a verdict where answers differ.
    Answers,
    /// How the statements of a workload reach the server.
    OwnProtocol,
    /// Events a second, in equal or exponential gaps.
    Rate,
    /// A fraction or a percentage.
    Fraction {
        /// Smallest.
        min: f64,
        /// Largest.
        max: f64,
    },
    /// Cores and memory.
    Machine,
    /// Server settings.
    Settings,
    /// On or off.
    Switch,
}

impl Form {
    /// What is allowed, in words that follow "expected".
    pub fn expected(&self) -> String {
        match self {
            Form::FolderName | Form::Build | Form::Suite => "a name".to_owned(),
            Form::Names(_) => "a list of names".to_owned(),
            Form::File => "a file's path".to_owned(),
            Form::Builds => "a list of builds, such as [\"postgres:17.11\", \"mysql:8.0.33\"]".to_owned(),
            Form::Whole { min, max } => format!("a whole number from {min} to {max}"),
            Form::Count { min, max } => format!("a whole number from {min} to {max}, or such as \"100k\" and \"50m\""),
            Form::Scale => "a size such as small, with a factor if need be: cached-large:0.01".to_owned(),
            Form::Wholes { min, max } => format!("whole numbers from {min} to {max}"),
            Form::Number { min, max, unit } => format!("{unit} from {min} to {max}"),
            Form::Duration { .. } => "a time such as \"90s\", \"15m\" or \"8h\"".to_owned(),
            Form::Interleave | Form::Placement | Form::StorageEngines | Form::Preset | Form::TprocCProfile => {
                self.words().join(" or ")
            }
            Form::TransactionForms | Form::Isolation | Form::Check | Form::Answers | Form::OwnProtocol => {
                self.words().join(" or ")
            }
            Form::ProgramPages => self.words().join(" or "),
            Form::Rate => "events per second, such as 500, or \"even:500\" for equal gaps".to_owned(),
            Form::Fraction { min, max } => format!("a fraction from {min} to {max}, such as 0.02, or \"2%\""),
            Form::Machine => "a class such as \"c8r32\", or { cores = 8, memory = \"32GB\" }".to_owned(),
            Form::Settings => "server settings, such as work_mem=64MB".to_owned(),
            Form::Switch => "true or false".to_owned(),
        }
    }

    /// The words of which one or some must be chosen; none where the choice is wider.
    pub fn words(&self) -> Vec<&'static str> {
        match self {
            Form::Suite => SuiteName::ALL.map(SuiteName::name).to_vec(),
            Form::Interleave => Interleave::ALL.map(Interleave::name).to_vec(),
            Form::Placement => Placement::ALL.map(Placement::name).to_vec(),
            Form::ProgramPages => ProgramPages::ALL.map(ProgramPages::name).to_vec(),
            Form::StorageEngines => StorageEngine::ALL.map(StorageEngine::name).to_vec(),
            // What flags of their own stand for is no name to choose.
            Form::Preset => vec![PUBLISHED],
            Form::TprocCProfile => Profile::ALL.map(Profile::name).to_vec(),
            Form::TransactionForms => TransactionForm::ALL.map(TransactionForm::name).to_vec(),
            Form::Isolation => Isolation::ALL.map(Isolation::name).to_vec(),
            Form::Check => Check::ALL.map(Check::name).to_vec(),
            Form::Answers => AnswersRule::ALL.map(AnswersRule::name).to_vec(),
            Form::OwnProtocol => Protocol::ALL.map(Protocol::name).to_vec(),
            _ => Vec::new(),
        }
    }

    /// Whether the key takes several values: a list in the file, a repeated flag on the command line.
    pub const fn is_list(&self) -> bool {
        matches!(self, Form::Builds | Form::Settings) || self.splits_at_commas()
    }

    /// Whether a flag's value is several values with commas between.
    pub const fn splits_at_commas(&self) -> bool {
        matches!(self, Form::Names(_) | Form::StorageEngines | Form::TransactionForms | Form::Wholes { .. })
    }

    /// Whether a value may begin with a minus that is not a flag's, so that it is refused as a number out of range.
    pub const fn is_number(&self) -> bool {
        matches!(self, Form::Whole { .. } | Form::Count { .. } | Form::Wholes { .. } | Form::Number { .. })
            || matches!(self, Form::Rate | Form::Fraction { .. })
    }
}

/// What holds where a key is not given.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DefaultValue {
    /// This value, written as for the flag.
    Is(String),
    /// What this text says, since it depends on the rest.
    Means(String),
}

impl DefaultValue {
    /// The text to show.
    pub fn text(&self) -> &str {
        match self {
            DefaultValue::Is(text) | DefaultValue::Means(text) => text,
        }
    }
}

/// A key of the campaign file, which is a flag too.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Key {
    /// The word.
    pub name: String,
    /// What stands behind it.
    pub form: Form,
    /// What its value is called in the program's help.
    #[serde(default)]
    pub value: String,
    /// What holds where it is not given.
    pub default: DefaultValue,
    /// The suites in which something else holds.
    #[serde(default)]
    pub other_defaults: BTreeMap<SuiteName, DefaultValue>,
    /// What it does, for help and document.
    pub about: String,
    /// The section of docs/campaign-file.md that says more.
    pub section: Option<String>,
    /// The suites that know it.
    #[serde(default = "all_suites")]
    pub suites: Vec<SuiteName>,
    /// The suites in which its value follows from the time, where one is given and the key is not.
    #[serde(default)]
    pub follows_from_time: Vec<SuiteName>,
    /// What to do in a suite that does not know it, where "leave it out" is not all.
    #[serde(default)]
    pub instead: BTreeMap<SuiteName, String>,
}

fn all_suites() -> Vec<SuiteName> {
    SuiteName::ALL.to_vec()
}

impl Key {
    /// The key with this name.
    pub fn find(name: &str) -> Option<&'static Key> {
        KEYS.iter().find(|key| key.name == name)
    }

    /// Whether a suite knows it.
    pub fn is_of(&self, suite: SuiteName) -> bool {
        self.suites.contains(&suite)
    }

    /// What holds where it is not given, in a suite that knows it.
    pub fn default_in(&self, suite: SuiteName) -> Option<&DefaultValue> {
        self.is_of(suite).then(|| self.other_defaults.get(&suite).unwrap_or(&self.default))
    }

    /// What to do in a suite that does not know it.
    pub fn remedy_in(&self, suite: SuiteName) -> &str {
        self.instead.get(&suite).map_or("leave it out", String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use SuiteName::{Insert, Own, Sysbench, TprocC};

    #[test]
    fn keys_are_distinct_kebab_words_with_a_sentence() {
        for (at, key) in KEYS.iter().enumerate() {
            assert!(KEYS[..at].iter().all(|other| other.name != key.name), "{} twice", key.name);
            assert!(key.name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", key.name);
            assert!(key.about.starts_with(char::is_uppercase) && !key.about.ends_with('.'), "{}", key.about);
            assert!(!key.form.expected().is_empty() && !key.default.text().is_empty() && !key.suites.is_empty());
            for (suite, remedy) in &key.instead {
                assert!(!key.is_of(*suite) && !remedy.starts_with(char::is_uppercase), "{remedy}");
            }
            assert!(key.other_defaults.keys().all(|suite| key.is_of(*suite)), "{}", key.name);
        }
        assert!(Key::find("read-seconds").is_some() && Key::find("read_seconds").is_none());
    }

    #[test]
    fn a_suite_has_the_keys_that_name_it_and_no_others() {
        let keys = |suite: SuiteName| -> Vec<&str> {
            KEYS.iter().filter(|key| key.suites.len() == 1 && key.is_of(suite)).map(|key| key.name.as_str()).collect()
        };
        assert_eq!(keys(Sysbench), [""; 0], "it shares all of its keys");
        assert_eq!(
            keys(Own),
            ["from", "data-scale", "define", "protocol", "max-tries", "allow-shell", "answers", "pg-restore"]
        );
        assert_eq!(keys(Insert), ["scale", "rows-written", "write-rates", "rest-seconds", "catch-up-seconds"]);
        let of_transactions = keys(TprocC);
        assert!(of_transactions.len() == 11 && of_transactions.contains(&"warehouses"), "{of_transactions:?}");
        let rounds = Key::find("rounds").unwrap();
        let default = |suite| rounds.default_in(suite).map(DefaultValue::text);
        assert_eq!([default(Insert), default(TprocC)], [Some("3"), Some("6")]);
        assert_eq!(Key::find("warmup").unwrap().default_in(Insert), None);
    }
}
