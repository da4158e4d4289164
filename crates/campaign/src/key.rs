//! The words of a campaign: one table of keys, each of which is at once a key of the file and a flag.
//!
//! The file reader, the flags, the presets' notes, the program's help and the test of docs/campaign-file.md all read
//! this table, so that they cannot differ. Pure data.

use Unsaid::{Is, Means};
use rqps_model::{Interleave, Placement, StorageEngine};

/// What may stand behind a key.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// One word.
    Name,
    /// A list of words.
    Names,
    /// A list of builds.
    Builds,
    /// A whole number.
    Whole {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
    },
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
        unit: &'static str,
    },
    /// One of a few words.
    Choice(&'static [&'static str]),
    /// A list of a few words.
    Choices(&'static [&'static str]),
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

impl Kind {
    /// What is allowed, in words that follow "expected".
    pub fn expected(self) -> String {
        match self {
            Kind::Name => "a name".to_owned(),
            Kind::Names => "a list of names".to_owned(),
            Kind::Builds => "a list of builds, such as [\"postgres:17.11\", \"mysql:8.0.33\"]".to_owned(),
            Kind::Whole { min, max } => format!("a whole number from {min} to {max}"),
            Kind::Wholes { min, max } => format!("whole numbers from {min} to {max}"),
            Kind::Number { min, max, unit } => format!("{unit} from {min} to {max}"),
            Kind::Choice(words) | Kind::Choices(words) => words.join(" or "),
            Kind::Rate => "events per second, such as 500, or \"even:500\" for equal gaps".to_owned(),
            Kind::Fraction { min, max } => format!("a fraction from {min} to {max}, such as 0.02, or \"2%\""),
            Kind::Machine => "a class such as \"c8r32\", or { cores = 8, memory = \"32GB\" }".to_owned(),
            Kind::Settings => "server settings, such as work_mem=64MB".to_owned(),
            Kind::Switch => "true or false".to_owned(),
        }
    }

    /// Whether the key takes several values: a list in the file, a repeated flag on the command line.
    pub const fn is_list(self) -> bool {
        matches!(self, Kind::Names | Kind::Choices(_) | Kind::Builds | Kind::Wholes { .. } | Kind::Settings)
    }

    /// Whether a flag's value is several values with commas between.
    pub(crate) const fn splits_at_commas(self) -> bool {
        matches!(self, Kind::Names | Kind::Choices(_) | Kind::Wholes { .. })
    }
}

/// What holds where a key is not said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsaid {
    /// This value, written as for the flag.
    Is(&'static str),
    /// What these words tell, since it depends on the rest.
    Means(&'static str),
}

impl Unsaid {
    /// The words to show.
    pub const fn text(self) -> &'static str {
        match self {
            Unsaid::Is(text) | Unsaid::Means(text) => text,
        }
    }
}

/// A key of the campaign file, which is a flag too.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Key {
    /// The word.
    pub name: &'static str,
    /// What stands behind it.
    pub kind: Kind,
    /// What its value is called in the program's help.
    pub value: &'static str,
    /// What holds where nothing is said.
    pub default: Unsaid,
    /// What it does, in one sentence for the program's help.
    pub about: &'static str,
}

const fn key(name: &'static str, kind: Kind, value: &'static str, default: Unsaid, about: &'static str) -> Key {
    Key { name, kind, value, default, about }
}

const INTERLEAVES: &[&str] = &[Interleave::ALL[0].name(), Interleave::ALL[1].name()];
const PLACEMENTS: &[&str] = &[Placement::ALL[0].name(), Placement::ALL[1].name(), Placement::ALL[2].name()];
const STORAGE_ENGINES: &[&str] = &[StorageEngine::ALL[0].name(), StorageEngine::ALL[1].name()];

/// The most rows a table can have: the primary key is a 32-bit integer, and tests that insert need room above.
const ROWS_MAX: u64 = 2_000_000_000;
/// TOML has signed 64-bit integers.
const SEED_MAX: u64 = i64::MAX as u64;

/// All keys, in the order in which they are listed and written.
pub const KEYS: [Key; 23] = [
    key(
        "name",
        Kind::Name,
        "NAME",
        Means("made from suite and builds"),
        "Name of the campaign and of its results folder",
    ),
    key(
        "build",
        Kind::Builds,
        "[NAME=]ENGINE:VERSION|/FOLDER|/ARCHIVE|URL",
        Means("none: at least two builds, or one with two profiles"),
        "A build to compare: a release of the catalog, an installation folder or an archive of one; repeat it",
    ),
    key("base", Kind::Name, "BUILD", Means("the first build"), "The build that all others are compared with"),
    key(
        "profile",
        Kind::Names,
        "PROFILE",
        Means("x10a for PostgreSQL, z12a for MySQL and MariaDB"),
        "Configuration profile; with several, every build runs with each that its engine has",
    ),
    key(
        "storage-engine",
        Kind::Choices(STORAGE_ENGINES),
        "innodb|rocksdb",
        Means("innodb"),
        "What stores the tables of MySQL and MariaDB; with several, their builds run with each",
    ),
    key("set", Kind::Settings, "SETTING=VALUE", Means("none"), "A server setting on top of the profile; repeat it"),
    key("suite", Kind::Name, "SUITE", Is("sysbench"), "The set of tests to choose from"),
    key(
        "tests",
        Kind::Names,
        "TEST|SUBSET|PATTERN",
        Is("32"),
        "Tests to run: names, patterns with * and ?, or the subsets 27, 32, 42 and all",
    ),
    key("tables", Kind::Whole { min: 1, max: 1000 }, "N", Is("1"), "Number of tables"),
    key(
        "rows",
        Kind::Whole { min: 1, max: ROWS_MAX },
        "N",
        Is("1000000"),
        "Rows of each table; 100k and 50m are understood",
    ),
    key(
        "clients",
        Kind::Wholes { min: 1, max: 10_000 },
        "N",
        Is("1"),
        "Concurrent sessions; with several numbers every test runs at each",
    ),
    key(
        "read-seconds",
        Kind::Number { min: 0.1, max: 86_400.0, unit: "seconds" },
        "S",
        Is("10"),
        "Seconds counted per round and build for a test that only reads",
    ),
    key(
        "write-seconds",
        Kind::Number { min: 0.1, max: 86_400.0, unit: "seconds" },
        "S",
        Is("10"),
        "Seconds counted per round and build for a test that writes",
    ),
    key(
        "warmup",
        Kind::Number { min: 0.0, max: 3600.0, unit: "seconds" },
        "S",
        Is("1"),
        "Seconds a test runs before counting starts",
    ),
    key(
        "rounds",
        Kind::Whole { min: 1, max: 1000 },
        "N",
        Is("6"),
        "Rounds: in each, every server is restarted and every test is run on all builds",
    ),
    key(
        "interleave",
        Kind::Choice(INTERLEAVES),
        "HOW",
        Means("slices where they fit"),
        "How builds alternate inside a round",
    ),
    key(
        "slice",
        Kind::Number { min: 1.0, max: 1000.0, unit: "milliseconds" },
        "MS",
        Is("10"),
        "Length of a slice in milliseconds",
    ),
    key(
        "rate",
        Kind::Rate,
        "[even:]N",
        Means("none: the next request follows the reply"),
        "Requests per second at planned times, in random or, with even:, equal gaps; for latency",
    ),
    key("placement", Kind::Choice(PLACEMENTS), "HOW", Is("same"), "CPUs of server and client"),
    key(
        "machine",
        Kind::Machine,
        "cCORESrGB",
        Means("this machine, its memory divided by the servers"),
        "Cores and memory that profiles are sized for, such as c8r32",
    ),
    key(
        "margin",
        Kind::Fraction { min: 0.001, max: 0.5 },
        "FRACTION",
        Is("0.02"),
        "Builds that differ by less than this are equal",
    ),
    key("seed", Kind::Whole { min: 0, max: SEED_MAX }, "N", Is("1"), "Seed of the order of rounds and of all keys"),
    key("quick", Kind::Switch, "", Is("false"), "Small data, few seconds and rounds; what is said besides wins"),
];

/// Words of the command line that a campaign file must not hold, since they say where and how to show, not what to run.
pub(crate) const COMMAND_LINE_ONLY: [&str; 2] = ["results", "json"];

impl Key {
    /// The key with this name.
    pub fn find(name: &str) -> Option<&'static Key> {
        KEYS.iter().find(|key| key.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_distinct_kebab_words_with_a_sentence() {
        for (at, key) in KEYS.iter().enumerate() {
            assert!(KEYS[..at].iter().all(|other| other.name != key.name), "{} twice", key.name);
            assert!(key.name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", key.name);
            assert!(key.about.starts_with(char::is_uppercase) && !key.about.ends_with('.'), "{}", key.about);
            assert!(!key.kind.expected().is_empty() && !key.default.text().is_empty());
        }
        assert!(Key::find("read-seconds").is_some() && Key::find("read_seconds").is_none());
    }
}
