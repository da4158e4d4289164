//! The words of a campaign: one table of keys, each of which is at once a key of the campaign file and a flag.
//!
//! The file's reader and writer, the flags and their help, the defaults and the table in docs/campaign-file.md are made
//! from this table. A new key is a row here and a field of campaign's `Request`. Pure data; it reads no value.

use crate::SuiteName::{self, Insert, Sysbench};
use DefaultValue::{Is, Means};
use rqps_model::{Interleave, Placement, StorageEngine};

/// What may stand behind a key.
#[derive(Debug, Clone, Copy, PartialEq)]
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
    Names(&'static str),
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

impl Form {
    /// What is allowed, in words that follow "expected".
    pub fn expected(self) -> String {
        match self {
            Form::FolderName | Form::Build | Form::Suite => "a name".to_owned(),
            Form::Names(_) => "a list of names".to_owned(),
            Form::Builds => "a list of builds, such as [\"postgres:17.11\", \"mysql:8.0.33\"]".to_owned(),
            Form::Whole { min, max } => format!("a whole number from {min} to {max}"),
            Form::Count { min, max } => format!("a whole number from {min} to {max}, or such as \"100k\" and \"50m\""),
            Form::Scale => "a size such as small, with a factor if need be: cached-large:0.01".to_owned(),
            Form::Wholes { min, max } => format!("whole numbers from {min} to {max}"),
            Form::Number { min, max, unit } => format!("{unit} from {min} to {max}"),
            Form::Choice(words) | Form::Choices(words) => words.join(" or "),
            Form::Rate => "events per second, such as 500, or \"even:500\" for equal gaps".to_owned(),
            Form::Fraction { min, max } => format!("a fraction from {min} to {max}, such as 0.02, or \"2%\""),
            Form::Machine => "a class such as \"c8r32\", or { cores = 8, memory = \"32GB\" }".to_owned(),
            Form::Settings => "server settings, such as work_mem=64MB".to_owned(),
            Form::Switch => "true or false".to_owned(),
        }
    }

    /// What is allowed, for a cell of a table in Markdown.
    pub fn cell(self) -> String {
        let quoted = |words: &[&str], between: &str| {
            let words: Vec<String> = words.iter().map(|word| format!("`\"{word}\"`")).collect();
            words.join(between)
        };
        match self {
            Form::FolderName => "a name".to_owned(),
            Form::Build => "a build".to_owned(),
            Form::Builds => "list of builds".to_owned(),
            Form::Suite => quoted(&SuiteName::ALL.map(SuiteName::name), " or "),
            Form::Names(of) => format!("list of {of}"),
            Form::Whole { min, max } | Form::Count { min, max } => format!("{min} to {max}"),
            Form::Wholes { min, max } => format!("list of {min} to {max}"),
            Form::Scale => "a size, `\"small:0.1\"`".to_owned(),
            Form::Number { min, max, unit } => format!("{min} to {max} {unit}"),
            Form::Choice(words) => quoted(words, " or "),
            Form::Choices(words) => format!("list of {}", quoted(words, ", ")),
            Form::Rate => "events per second".to_owned(),
            Form::Fraction { min, max } => format!("{min} to {max}, or `\"2%\"`"),
            Form::Machine => "`\"c8r32\"`, or a table".to_owned(),
            Form::Settings => "settings".to_owned(),
            Form::Switch => "true or false".to_owned(),
        }
    }

    /// Whether the key takes several values: a list in the file, a repeated flag on the command line.
    pub const fn is_list(self) -> bool {
        matches!(self, Form::Builds | Form::Settings) || self.splits_at_commas()
    }

    /// Whether a flag's value is several values with commas between.
    pub const fn splits_at_commas(self) -> bool {
        matches!(self, Form::Names(_) | Form::Choices(_) | Form::Wholes { .. })
    }

    /// Whether a value may begin with a minus that is not a flag's, so that it is refused as a number out of range.
    pub const fn is_number(self) -> bool {
        matches!(self, Form::Whole { .. } | Form::Count { .. } | Form::Wholes { .. } | Form::Number { .. })
            || matches!(self, Form::Rate | Form::Fraction { .. })
    }
}

/// What holds where a key is not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefaultValue {
    /// This value, written as for the flag.
    Is(&'static str),
    /// What this text says, since it depends on the rest.
    Means(&'static str),
}

impl DefaultValue {
    /// The text to show.
    pub const fn text(self) -> &'static str {
        match self {
            DefaultValue::Is(text) | DefaultValue::Means(text) => text,
        }
    }
}

/// A key of the campaign file, which is a flag too.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Key {
    /// The word.
    pub name: &'static str,
    /// What stands behind it.
    pub form: Form,
    /// What its value is called in the program's help.
    pub value: &'static str,
    /// What holds where it is not given.
    pub default: DefaultValue,
    /// The suites in which something else holds.
    pub other_defaults: &'static [(SuiteName, DefaultValue)],
    /// What it does, for help and document.
    pub about: &'static str,
    /// The section of docs/campaign-file.md that says more.
    pub section: Option<&'static str>,
    /// The suites that know it.
    pub suites: &'static [SuiteName],
    /// What to do in a suite that does not know it, where "leave it out" is not all.
    pub instead: &'static [(SuiteName, &'static str)],
}

/// A row of the table for all suites.
const fn key(name: &'static str, form: Form, value: &'static str, default: DefaultValue, about: &'static str) -> Key {
    let (suites, other_defaults, instead) = (&SuiteName::ALL, &[], &[]);
    Key { name, form, value, default, other_defaults, about, section: None, suites, instead }
}

impl Key {
    const fn but(self, other_defaults: &'static [(SuiteName, DefaultValue)]) -> Key {
        Key { other_defaults, ..self }
    }

    const fn see(self, section: &'static str) -> Key {
        Key { section: Some(section), ..self }
    }

    const fn only_in(self, suites: &'static [SuiteName], instead: &'static [(SuiteName, &'static str)]) -> Key {
        Key { suites, instead, ..self }
    }

    /// The key with this name.
    pub fn find(name: &str) -> Option<&'static Key> {
        KEYS.iter().find(|key| key.name == name)
    }

    /// Whether a suite knows it.
    pub fn is_of(&self, suite: SuiteName) -> bool {
        self.suites.contains(&suite)
    }

    /// What holds where it is not given, in a suite that knows it.
    pub fn default_in(&self, suite: SuiteName) -> Option<DefaultValue> {
        let other = self.other_defaults.iter().find(|(known, _)| *known == suite);
        self.is_of(suite).then_some(other.map_or(self.default, |(_, default)| *default))
    }

    /// What to do in a suite that does not know it.
    pub fn remedy_in(&self, suite: SuiteName) -> &'static str {
        self.instead.iter().find(|(known, _)| *known == suite).map_or("leave it out", |(_, remedy)| *remedy)
    }

    /// The key as a row of the table in docs/campaign-file.md.
    pub fn row(&self) -> String {
        let others = self.other_defaults.iter().map(|(suite, default)| format!("; `{suite}`: {}", default.text()));
        let default = self.default.text().to_owned() + &others.collect::<String>();
        let suites: Vec<String> = self.suites.iter().map(|suite| format!("`{suite}`")).collect();
        let about = match suites.len() < SuiteName::ALL.len() {
            true => format!("Suite {}: {}{}", suites.join(", "), self.about[..1].to_lowercase(), &self.about[1..]),
            false => self.about.to_owned(),
        };
        let anchor = |section: &str| section.to_lowercase().replace(' ', "-");
        let more = self.section.map(|section| format!("; see [{section}](#{})", anchor(section))).unwrap_or_default();
        format!("| `{}` | {} | {default} | {about}{more} |\n", self.name, self.form.cell())
    }
}

const INTERLEAVES: &[&str] = &[Interleave::ALL[0].name(), Interleave::ALL[1].name()];
const PLACEMENTS: &[&str] = &[Placement::ALL[0].name(), Placement::ALL[1].name(), Placement::ALL[2].name()];
const STORAGE_ENGINES: &[&str] = &[StorageEngine::ALL[0].name(), StorageEngine::ALL[1].name()];

/// The most rows a table can have: the primary key is a 32-bit integer, and tests that insert need room above.
const ROWS_MAX: u64 = 2_000_000_000;
/// TOML has signed 64-bit integers.
const SEED_MAX: u64 = i64::MAX as u64;

/// Sizes that a scale brings along.
const OF_SCALE: DefaultValue = Means("as the scale has it");

const SECONDS: Form = Form::Number { min: 0.1, max: 86_400.0, unit: "seconds" };
const SECONDS_OR_NONE: Form = Form::Number { min: 0.0, max: 86_400.0, unit: "seconds" };

const ONE_BY_ONE: &str = "leave it out: each build runs all steps in a pass of its own, one after the other";

/// All keys, in the order in which they are listed, shown in the help and written.
pub const KEYS: [Key; 28] = [
    key(
        "name",
        Form::FolderName,
        "NAME",
        Means("made from suite and builds"),
        "Name of the campaign and of its results folder",
    ),
    key(
        "build",
        Form::Builds,
        "BUILD",
        Means("none: at least two builds, or one with two profiles"),
        "Build to measure: [NAME=]ENGINE:VERSION, or :/FOLDER, :/ARCHIVE, :URL; postgres, mysql or mariadb; \
         a flag for each build",
    )
    .see("Builds"),
    key(
        "base",
        Form::Build,
        "BUILD",
        Means("the first build"),
        "Baseline: the build or treatment the others are compared with, such as 17.11 or pg1615_zonky.x10a",
    ),
    key(
        "suite",
        Form::Suite,
        "SUITE",
        Is("sysbench"),
        "What is run: sysbench, microbenchmarks of your choice, or insert, the Insert Benchmark",
    )
    .see("The Insert Benchmark"),
    key(
        "scale",
        Form::Scale,
        "SIZE[:FACTOR]",
        Is("small"),
        "Size quick (a minute a pass), small (two minutes a pass), cached-small, cached-large or io-bound; with a \
         factor, such as cached-large:0.01, that many times its rows",
    )
    .only_in(&[Insert], &[(Sysbench, "say `tables`, `rows` and `clients` in suite sysbench")])
    .see("The Insert Benchmark"),
    key(
        "tests",
        Form::Names("tests"),
        "LIST",
        Is("32"),
        "Sets 27, 32, 42 and all, names or patterns, separated by commas; `rqps plan` lists the tests of a set",
    )
    .only_in(&[Sysbench], &[(Insert, "leave it out: the steps build on each other; choose rates with `write-rates`")])
    .see("Tests"),
    key(
        "tables",
        Form::Whole { min: 1, max: 1000 },
        "N",
        Is("1"),
        "Number of tables; insert: 1 makes all clients share one",
    )
    .but(&[(Insert, Means("one for each client"))]),
    key(
        "rows",
        Form::Count { min: 1, max: ROWS_MAX },
        "N",
        Is("1000000"),
        "Rows of each table, insert: of each client; 100k and 50m are understood",
    )
    .but(&[(Insert, OF_SCALE)]),
    key(
        "rows-written",
        Form::Count { min: 1, max: ROWS_MAX },
        "N",
        OF_SCALE,
        "Rows that each client inserts, and as many that it deletes, in l.i1 and l.i2 together",
    )
    .only_in(&[Insert], &[(Sysbench, "the tests of suite sysbench that write run for `write-seconds`")]),
    key(
        "clients",
        Form::Wholes { min: 1, max: 10_000 },
        "LIST",
        Is("1"),
        "Concurrent sessions; with several numbers, separated by commas, each test runs at each",
    )
    .but(&[(Insert, OF_SCALE)]),
    key(
        "write-rates",
        Form::Wholes { min: 1, max: 10_000_000 },
        "LIST",
        OF_SCALE,
        "Rows per second and client written behind the queries, separated by commas; a step qr and a step qp for each",
    )
    .only_in(&[Insert], &[(Sysbench, "`rate` plans the requests of suite sysbench")]),
    key(
        "read-seconds",
        SECONDS,
        "S",
        Is("10"),
        "Seconds counted per read test, build and round; insert: of each step with queries",
    )
    .but(&[(Insert, OF_SCALE)]),
    key("write-seconds", SECONDS, "S", Is("10"), "Seconds counted per write test, build and round").only_in(
        &[Sysbench],
        &[(Insert, "leave it out: l.i1 and l.i2 end when their rows are written; say `rows-written`")],
    ),
    key("rest-seconds", SECONDS_OR_NONE, "S", OF_SCALE, "Least rest between l.i2 and the first query")
        .only_in(&[Insert], &[(Sysbench, "leave it out: in suite sysbench the work between tests belongs to them")]),
    key(
        "catch-up-seconds",
        SECONDS_OR_NONE,
        "S",
        OF_SCALE,
        "How much of their plan the writers behind the queries make good after a stall",
    )
    .only_in(&[Insert], &[(Sysbench, "leave it out: in suite sysbench a late request is never deferred")]),
    key(
        "warmup",
        Form::Number { min: 0.0, max: 3600.0, unit: "seconds" },
        "S",
        Is("1"),
        "Seconds each build runs a test before counting starts",
    )
    .only_in(&[Sysbench], &[(Insert, "leave it out: a step counts from its first row")]),
    key(
        "rounds",
        Form::Whole { min: 1, max: 1000 },
        "N",
        Is("6"),
        "Rounds; each restarts every server on its copy of the data, insert: is a pass of every build; \
         3 are the least that give a useful interval",
    )
    .but(&[(Insert, Is("3"))]),
    key(
        "slice",
        Form::Number { min: 1.0, max: 1000.0, unit: "milliseconds" },
        "MS",
        Is("10"),
        "Length of a slice in milliseconds",
    )
    .only_in(&[Sysbench], &[(Insert, ONE_BY_ONE)])
    .see("Slices and turns"),
    key(
        "interleave",
        Form::Choice(INTERLEAVES),
        "HOW",
        Means("slices where they fit"),
        "How builds alternate in a round: slices or turns",
    )
    .only_in(&[Sysbench], &[(Insert, ONE_BY_ONE)])
    .see("Slices and turns"),
    key(
        "seed",
        Form::Whole { min: 0, max: SEED_MAX },
        "N",
        Is("1"),
        "Seed of orders and keys; the same seed sends the same keys to every build",
    ),
    key(
        "profile",
        Form::Names("profiles"),
        "PROFILE",
        Means("x10a for PostgreSQL, z12a for MySQL and MariaDB"),
        "Configuration profiles, separated by commas; each build runs with each that its engine has; _sync appended \
         flushes at commit",
    )
    .see("Profiles"),
    key(
        "storage-engine",
        Form::Choices(STORAGE_ENGINES),
        "LIST",
        Means("innodb"),
        "What stores the tables of MySQL and MariaDB: innodb, rocksdb (MariaDB with its plugin) or both",
    )
    .see("Engines"),
    key(
        "set",
        Form::Settings,
        "NAME=VALUE|@FILE",
        Means("none"),
        "Server setting on top of the profile, or @FILE in the form of postgresql.conf or my.cnf; for the engines that \
         know it; may be repeated",
    )
    .see("Settings"),
    key(
        "placement",
        Form::Choice(PLACEMENTS),
        "HOW",
        Is("same"),
        "CPUs of server and client: same (one set for both), split (a set for each) or free (left to the scheduler)",
    ),
    key(
        "rate",
        Form::Rate,
        "N",
        Means("none: the next request follows the reply"),
        "Open loop at this many events a second over all clients, with exponential gaps; even:N for equal gaps",
    )
    .only_in(
        &[Sysbench],
        &[(Insert, "queries follow each other; the rates of the writes behind them are `write-rates`")],
    )
    .see("Rate"),
    key(
        "machine",
        Form::Machine,
        "cCORESrGB",
        Means("this machine, its memory divided by the servers that are up together"),
        "Cores and memory (GB) that profiles are sized for, such as c8r32",
    ),
    key(
        "margin",
        Form::Fraction { min: 0.001, max: 0.5 },
        "F",
        Is("0.02"),
        "Builds that differ by less than this fraction are equal",
    ),
    key(
        "quick",
        Form::Switch,
        "",
        Is("false"),
        "Small preset for a first look: 100,000 rows, 2 seconds a test, 3 rounds; insert: one round, about a minute for \
         each build",
    )
    .see("Presets"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_distinct_kebab_words_with_a_sentence() {
        for (at, key) in KEYS.iter().enumerate() {
            assert!(KEYS[..at].iter().all(|other| other.name != key.name), "{} twice", key.name);
            assert!(key.name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", key.name);
            assert!(key.about.starts_with(char::is_uppercase) && !key.about.ends_with('.'), "{}", key.about);
            assert!(!key.form.expected().is_empty() && !key.default.text().is_empty() && !key.suites.is_empty());
            for (suite, remedy) in key.instead {
                assert!(!key.is_of(*suite) && !remedy.starts_with(char::is_uppercase), "{remedy}");
            }
            assert!(key.other_defaults.iter().all(|(suite, _)| key.is_of(*suite)), "{}", key.name);
        }
        assert!(Key::find("read-seconds").is_some() && Key::find("read_seconds").is_none());
    }

    #[test]
    fn a_suite_has_the_keys_that_name_it_and_no_others() {
        let keys = |suite: SuiteName| -> Vec<&str> {
            KEYS.iter().filter(|key| key.suites.len() == 1 && key.is_of(suite)).map(|key| key.name).collect()
        };
        assert_eq!(keys(Sysbench), ["tests", "write-seconds", "warmup", "slice", "interleave", "rate"]);
        assert_eq!(keys(Insert), ["scale", "rows-written", "write-rates", "rest-seconds", "catch-up-seconds"]);
        let rounds = Key::find("rounds").unwrap();
        assert_eq!([rounds.default_in(Sysbench), rounds.default_in(Insert)], [Some(Is("6")), Some(Is("3"))]);
        assert_eq!(Key::find("slice").unwrap().default_in(Insert), None);
    }
}
