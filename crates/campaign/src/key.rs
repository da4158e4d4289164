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
    /// A whole number that may be said in thousands and millions.
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
            Kind::Count { min, max } => format!("a whole number from {min} to {max}, or such as \"100k\" and \"50m\""),
            Kind::Scale => "a size such as small, with a factor if need be: cached-large:0.01".to_owned(),
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
    /// What holds in suite `insert` instead.
    pub in_insert: Option<Unsaid>,
    /// What it does, in one sentence for the program's help.
    pub about: &'static str,
    /// The only suite that knows the word, where not all do.
    pub only: Option<Only>,
}

/// The one suite that a key says something to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Only {
    /// Its name.
    pub suite: &'static str,
    /// What serves instead elsewhere, in words that stand as a remedy.
    pub elsewhere: &'static str,
}

const fn key(name: &'static str, kind: Kind, value: &'static str, default: Unsaid, about: &'static str) -> Key {
    Key { name, kind, value, default, in_insert: None, about, only: None }
}

impl Key {
    const fn in_insert(self, unsaid: Unsaid) -> Key {
        Key { in_insert: Some(unsaid), ..self }
    }

    const fn only_in(self, suite: &'static str, elsewhere: &'static str) -> Key {
        Key { only: Some(Only { suite, elsewhere }), ..self }
    }

    /// What holds where nothing is said, in a suite that knows the word.
    pub fn default_in(&self, suite: &str) -> Option<Unsaid> {
        let usual = if suite == INSERT { self.in_insert.unwrap_or(self.default) } else { self.default };
        self.is_of(suite).then_some(usual)
    }

    /// Whether a suite knows the word. What is misspelt is taken for the usual suite.
    pub fn is_of(&self, suite: &str) -> bool {
        self.only.is_none_or(|only| (only.suite == INSERT) == (suite == INSERT))
    }
}

/// The suite of microbenchmarks, which is the usual one.
pub const SYSBENCH: &str = "sysbench";
/// The Insert Benchmark: no tests to choose, but steps of a size.
pub const INSERT: &str = "insert";

const INTERLEAVES: &[&str] = &[Interleave::ALL[0].name(), Interleave::ALL[1].name()];
const PLACEMENTS: &[&str] = &[Placement::ALL[0].name(), Placement::ALL[1].name(), Placement::ALL[2].name()];
const STORAGE_ENGINES: &[&str] = &[StorageEngine::ALL[0].name(), StorageEngine::ALL[1].name()];

/// The most rows a table can have: the primary key is a 32-bit integer, and tests that insert need room above.
const ROWS_MAX: u64 = 2_000_000_000;
/// TOML has signed 64-bit integers.
const SEED_MAX: u64 = i64::MAX as u64;

/// Sizes of the Insert Benchmark that a scale brings along.
const OF_SCALE: Unsaid = Means("as the scale has it");

/// All keys, in the order in which they are listed and written.
pub const KEYS: [Key; 28] = [
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
    key("suite", Kind::Name, "SUITE", Is(SYSBENCH), "What is run: sysbench, or insert, which is the Insert Benchmark"),
    key(
        "scale",
        Kind::Scale,
        "SIZE[:FACTOR]",
        Is("small"),
        "Ready-made size of the Insert Benchmark; with a factor, that many times its rows",
    )
    .only_in(INSERT, "say `tables`, `rows` and `clients` in suite sysbench"),
    key(
        "tests",
        Kind::Names,
        "TEST|SUBSET|PATTERN",
        Is("32"),
        "Tests to run: names, patterns with * and ?, or the subsets 27, 32, 42 and all",
    )
    .only_in(SYSBENCH, "leave it out: the steps build on each other; choose rates with `write-rates`"),
    key("tables", Kind::Whole { min: 1, max: 1000 }, "N", Is("1"), "Number of tables")
        .in_insert(Means("one for each client")),
    key(
        "rows",
        Kind::Count { min: 1, max: ROWS_MAX },
        "N",
        Is("1000000"),
        "Rows of each table, or in suite insert of each client; 100k and 50m are understood",
    )
    .in_insert(OF_SCALE),
    key(
        "rows-written",
        Kind::Count { min: 1, max: ROWS_MAX },
        "N",
        OF_SCALE,
        "Rows that each client inserts, and as many that it deletes, in l.i1 and l.i2 together",
    )
    .only_in(INSERT, "the tests of suite sysbench that write run for `write-seconds`"),
    key(
        "clients",
        Kind::Wholes { min: 1, max: 10_000 },
        "N",
        Is("1"),
        "Concurrent sessions; with several numbers every test runs at each",
    )
    .in_insert(OF_SCALE),
    key(
        "write-rates",
        Kind::Wholes { min: 1, max: 10_000_000 },
        "N",
        OF_SCALE,
        "Rows per second and client written behind the queries; two steps, qr and qp, for each",
    )
    .only_in(INSERT, "`rate` plans the requests of suite sysbench"),
    key(
        "read-seconds",
        Kind::Number { min: 0.1, max: 86_400.0, unit: "seconds" },
        "S",
        Is("10"),
        "Seconds counted per round and build for a test that only reads, or a step with queries",
    )
    .in_insert(OF_SCALE),
    key(
        "write-seconds",
        Kind::Number { min: 0.1, max: 86_400.0, unit: "seconds" },
        "S",
        Is("10"),
        "Seconds counted per round and build for a test that writes",
    )
    .only_in(SYSBENCH, "leave it out: l.i1 and l.i2 end when their rows are written; say `rows-written`"),
    key(
        "rest-seconds",
        Kind::Number { min: 0.0, max: 86_400.0, unit: "seconds" },
        "S",
        OF_SCALE,
        "Least seconds of rest between l.i2 and the first query",
    )
    .only_in(INSERT, "leave it out: in suite sysbench the work between tests belongs to them"),
    key(
        "catch-up-seconds",
        Kind::Number { min: 0.0, max: 86_400.0, unit: "seconds" },
        "S",
        OF_SCALE,
        "How much of their plan writers behind the queries make good after a stall; the rest is put off",
    )
    .only_in(INSERT, "leave it out: in suite sysbench a late request is never put off"),
    key(
        "warmup",
        Kind::Number { min: 0.0, max: 3600.0, unit: "seconds" },
        "S",
        Is("1"),
        "Seconds a test runs before counting starts",
    )
    .only_in(SYSBENCH, "leave it out: a step counts from its first row"),
    key(
        "rounds",
        Kind::Whole { min: 1, max: 1000 },
        "N",
        Is("6"),
        "Rounds: in each, every server is restarted and every test is run on all builds",
    )
    .in_insert(Is("3")),
    key(
        "interleave",
        Kind::Choice(INTERLEAVES),
        "HOW",
        Means("slices where they fit"),
        "How builds alternate inside a round",
    )
    .only_in(SYSBENCH, "leave it out: each build runs all steps in a pass of its own, one after the other"),
    key(
        "slice",
        Kind::Number { min: 1.0, max: 1000.0, unit: "milliseconds" },
        "MS",
        Is("10"),
        "Length of a slice in milliseconds",
    )
    .only_in(SYSBENCH, "leave it out: each build runs all steps in a pass of its own, one after the other"),
    key(
        "rate",
        Kind::Rate,
        "[even:]N",
        Means("none: the next request follows the reply"),
        "Requests per second at planned times, in random or, with even:, equal gaps; for latency",
    )
    .only_in(SYSBENCH, "queries follow each other; the rates of the writes behind them are `write-rates`"),
    key("placement", Kind::Choice(PLACEMENTS), "HOW", Is("same"), "CPUs of server and client"),
    key(
        "machine",
        Kind::Machine,
        "cCORESrGB",
        Means("this machine, its memory divided by the servers that are up together"),
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
            let other = key.only.map_or("", |only| only.elsewhere);
            assert!(!other.starts_with(char::is_uppercase) && !other.ends_with('.'), "{other}");
            assert!(key.is_of(SYSBENCH) || key.is_of(INSERT));
        }
        assert!(Key::find("read-seconds").is_some() && Key::find("read_seconds").is_none());
    }
}
