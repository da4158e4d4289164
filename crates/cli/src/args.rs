//! What can be typed: commands and flags, with their help. What the words mean is decided elsewhere.
//!
//! One set of flags serves `plan`, `run` and `demo`; each flag is also a key of the campaign file.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use rqps_lab::results::Literals;
use rqps_model::Verdict;
use std::num::NonZeroUsize;
use std::path::PathBuf;

mod flags;

use flags::about_base;
pub(crate) use flags::{CALIBRATION_TIME, CampaignFlags};

/// A database performance-regression lab: which queries did a new version make faster or slower, by how much, how
/// sure is that, and why.
#[derive(Debug, Parser)]
#[command(name = "rqps", version, max_term_width = 100, after_help = EXAMPLES, args_override_self = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Colour in tables and messages
    #[arg(long, global = true, value_enum, default_value_t = Colour::Auto, value_name = "WHEN")]
    pub(crate) color: Colour,
}

const EXAMPLES: &str = "\
Examples:
  rqps run --build base=postgres:src:.@merge-base --build mine=postgres:src:.
                               my tree, as it lies here, against its base
  rqps demo                    PostgreSQL 16.15 against 17.11, a few minutes
  rqps run --build postgres:16.15 --build postgres:17.11 --quick
  rqps run --build pg1711 --build new=postgres:/opt/pg-new --tests 'update-*'
  rqps run --build my5614 --build my8033 --quick   MySQL 5.6.14 against 8.0.33
  rqps run --build mariadb:11.8.6 --storage-engine innodb,rocksdb --quick
  rqps run --build my5614 --build my8033 --profile z12a_sync   durable commits
  rqps run --build pg1711 --build my8033 --build ma110405 --quick
  rqps run --build pg1711 --build pg186 --suite insert   the Insert Benchmark
  rqps run campaign.toml --rounds 10   a campaign file; flags win over its keys
  rqps compare results/NAME --fail-on regressed --json

Builds are ENGINE:VERSION, ENGINE:/FOLDER, ENGINE:/ARCHIVE or ENGINE:URL, or
ENGINE:src:WHERE for a source that is compiled here, for the engines postgres,
mysql and mariadb; pg1711, my8033 and ma110405 are short for versions.
Tables of MySQL and MariaDB are stored by InnoDB, those of MariaDB builds with
the plugin by RocksDB as well (--storage-engine). One campaign may hold several
engines; the report lists what each forces to be different. Commits are not
flushed to disk unless the profile ends in _sync.";

/// What `--data` means to whatever measures.
const DATA: &str =
    "Folder for the servers' data while the campaign runs (default: $RQPS_DATA, else a temporary folder)";

/// What `--jobs` means to whatever compiles.
const JOBS: &str = "Commands at a time where a source is compiled [default: as many as there are CPUs]";

/// What `--json` means to whatever plans or measures.
const AS_JSON: &str = "Print JSON instead of text";

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show what a campaign would run, how long it takes and how much disk it needs; starts no server
    Plan(PlanArgs),
    /// Run a campaign: install builds, load data, measure all rounds, compare and report
    Run(RunArgs),
    /// Finish an interrupted campaign: measure what is missing or failed, on freshly loaded data
    Resume(ResumeArgs),
    /// Add rounds to a complete campaign for as long as you say; undecided tests come first
    ///
    /// From then on intervals are such that hold however often you look and go on. They are wider, so give it time.
    More(MoreArgs),
    /// Compare PostgreSQL 16.15 with 17.11 in about ten tests; a table and a report after a few minutes
    #[command(mut_args(flags::of_demo))]
    Demo(CampaignArgs),
    /// Measure the noise of this host: a build against itself, kept for `rqps plan` to predict what it would see
    ///
    /// What is kept lies in `floors` in $RQPS_STATE, else /var/lib/rqps for root, else ~/.local/state/rqps.
    #[command(mut_args(flags::of_calibrate))]
    Calibrate(CalibrateArgs),
    /// Show how much of a campaign is done, running, failed and left, also while it runs in another terminal
    Status(StatusArgs),
    /// Compare the builds of a results folder again, perhaps with another base; print a table, Markdown or JSON
    Compare(CompareArgs),
    /// Say what stands behind each change of a results folder: CPU, plans, context switches, bytes written and read
    ///
    /// With --time also which functions gained or lost: that samples the servers, and needs root or the right to.
    Explain(ExplainArgs),
    /// Write report.html and the tables of a results folder again
    Report(Judged),
    /// List, install, compile, show, verify and remove builds
    ///
    /// They are kept in the cache ($RQPS_CACHE), with an initialised data folder of each in `initialised`, which takes
    /// 2 GB at most and may be removed at any time.
    #[command(subcommand)]
    Builds(BuildsCommand),
    /// Write a first workload file for suite own from what your server saw: statistics or logs that you exported
    ///
    /// The statements that took most time become tests, with their real values where the files have them. No server is
    /// connected to. docs/own-suite.md says which export each server has.
    #[command(subcommand)]
    Own(OwnCommand),
    /// Is this host fit to measure? Looks at CPUs, clock, memory, disk and other work, and names what to change
    ///
    /// Nothing is changed without --apply. The exit code is 1 if there is a problem.
    Doctor(DoctorArgs),
    /// Clear what a process of rqps leaves when it ends
    #[command(name = rqps_lab::guard::COMMAND, hide = true)]
    Guard {
        /// Its pid
        pid: u32,
        /// When it started, in clock ticks since boot
        start_ticks: u64,
    },
}

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// Campaign file (TOML); docs/campaign-file.md describes each key below, and the profiles
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) campaign: CampaignArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) planned: PlanArgs,
    /// At the end, run the tests that changed for so long again, such as 5m, and say what stands behind it, as rqps
    /// explain --time does
    #[arg(long, value_name = "TIME", value_parser = rqps_campaign::time)]
    pub(crate) explain: Option<f64>,
}

#[derive(Debug, Args)]
pub(crate) struct CalibrateArgs {
    /// List what is kept, the newest first, and measure nothing
    #[arg(long)]
    pub(crate) list: bool,
    #[command(flatten)]
    pub(crate) campaign: CampaignArgs,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct CampaignArgs {
    #[command(flatten)]
    pub(crate) flags: CampaignFlags,
    /// Folder that holds one folder per campaign
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub(crate) results: PathBuf,
    #[arg(long, value_name = "DIR", help = DATA)]
    pub(crate) data: Option<PathBuf>,
    #[arg(long, value_name = "N", help = JOBS)]
    pub(crate) jobs: Option<NonZeroUsize>,
    #[arg(long, help = AS_JSON)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// Campaign folder, such as results/NAME
    pub(crate) dir: PathBuf,
    /// Refuse to go on if the host has changed since the campaign began, for instance after a reboot, or on another day
    #[arg(long)]
    pub(crate) strict: bool,
    #[arg(long, value_name = "DIR", help = DATA)]
    pub(crate) data: Option<PathBuf>,
    #[arg(long, value_name = "N", help = JOBS)]
    pub(crate) jobs: Option<NonZeroUsize>,
    #[arg(long, help = AS_JSON)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct MoreArgs {
    #[command(flatten)]
    pub(crate) resume: ResumeArgs,
    /// How much longer, such as 20m or 8h
    #[arg(long, value_name = "TIME", value_parser = rqps_campaign::time)]
    pub(crate) time: f64,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    #[arg(long, value_name = "DIR", help = DATA)]
    pub(crate) data: Option<PathBuf>,
    /// How long to watch what else runs on this host
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) seconds: u64,
    /// Change the kernel's settings that are found wanting (threads of a core, CPU frequency, turbo, huge pages,
    /// clock), and make the place for programs in huge pages, until the next boot or --undo; needs root
    #[arg(long)]
    pub(crate) apply: bool,
    /// Change back what --apply changed, and look at nothing
    #[arg(long, conflicts_with_all = ["apply", "data", "seconds"])]
    pub(crate) undo: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// Campaign folder, such as results/NAME
    pub(crate) dir: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A campaign that was measured, and what it is judged by.
#[derive(Debug, Args)]
pub(crate) struct Judged {
    /// Campaign folder, such as results/NAME
    pub(crate) dir: PathBuf,
    #[arg(long, value_name = "BUILD", help = format!("{} [default: as it was run]", about_base()))]
    pub(crate) base: Option<String>,
    /// Show the values in statements, plans and errors of your own workload, each of which is a `?` otherwise
    #[arg(long)]
    pub(crate) show_literals: bool,
}

impl Judged {
    /// Whether values are shown.
    pub(crate) fn literals(&self) -> Literals {
        if self.show_literals { Literals::Shown } else { Literals::Hidden }
    }
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub(crate) judged: Judged,
    /// Exit with code 1 if any test has one of these verdicts
    #[arg(long, value_name = "VERDICT", value_parser = verdict(), value_delimiter = ',')]
    pub(crate) fail_on: Vec<Verdict>,
    /// Print JSON: rqps, low, high, verdict, n, mde, q, base and absolute throughput for every test and build
    #[arg(long, conflicts_with = "markdown")]
    pub(crate) json: bool,
    /// Print Markdown to paste in a mail or a blog: tables, and what stands behind each change
    #[arg(long)]
    pub(crate) markdown: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    pub(crate) judged: Judged,
    /// Explain these tests, by name or by patterns such as 'update-*' [default: those that changed, and in what --time
    /// leaves those with another plan or another exact count]
    #[arg(long, value_name = "TEST", value_delimiter = ',')]
    pub(crate) tests: Vec<String>,
    /// First run the tests again for so long, such as 5m, and sample what the servers wait for and, where the kernel
    /// allows it, their functions, blocked sessions and system calls; these rounds change no verdict
    #[arg(long, value_name = "TIME", value_parser = rqps_campaign::time)]
    pub(crate) time: Option<f64>,
    #[arg(long, value_name = "DIR", help = DATA, requires = "time")]
    pub(crate) data: Option<PathBuf>,
    /// Also write what was sampled into this folder, a file for pprof of each test and treatment
    #[arg(long, value_name = "FOLDER")]
    pub(crate) pprof: Option<PathBuf>,
    /// Print JSON
    #[arg(long, conflicts_with = "markdown")]
    pub(crate) json: bool,
    /// Print Markdown to paste in a bug report
    #[arg(long)]
    pub(crate) markdown: bool,
}

/// The verdicts that `--fail-on` can name.
fn verdict() -> impl TypedValueParser<Value = Verdict> {
    let all = Verdict::ALL.into_iter().filter(|verdict| *verdict != Verdict::Equal);
    let words = PossibleValuesParser::new(all.clone().map(Verdict::name));
    words.map(move |word| all.clone().find(|verdict| verdict.name() == word).expect("one of the possible values"))
}

#[derive(Debug, Subcommand)]
pub(crate) enum BuildsCommand {
    /// What the catalog has and what is installed
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Fetch, check and unpack builds into the cache; one that is damaged is made again
    Install {
        /// Such as postgres:17.11 or mysql:8.0.33
        #[arg(required = true)]
        build: Vec<String>,
    },
    /// Compile sources into the cache, such as postgres:src:. or postgres:src:15.18+o3
    Make {
        /// ENGINE:src:WHERE[@REVISION][+FLAVOUR][+patch=FILE]; docs/builds.md tells all of it
        #[arg(required = true)]
        build: Vec<String>,
        #[arg(long, value_name = "N", help = JOBS)]
        jobs: Option<NonZeroUsize>,
    },
    /// The ways to compile sources, with their flags
    Flavours,
    /// Compiler, flags, extensions, size and origin of a build that is installed; of another, what the catalog knows
    Show {
        /// Such as postgres:17.11, my8033 or postgres:/usr/lib/postgresql/15
        build: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Hash installed files again and compare them with what was installed
    Verify {
        /// Such as postgres:17.11; all when none is given
        build: Vec<String>,
    },
    /// Delete an installed build from the cache
    Remove {
        /// Such as postgres:17.11
        #[arg(required = true)]
        build: Vec<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum OwnCommand {
    /// From exports of pg_stat_statements as CSV, of PostgreSQL 9.6 or newer; they have no values, so these are to be
    /// filled in
    ///
    /// Export with psql: \copy (SELECT d.datname, s.* FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid)
    /// TO 'statements.csv' CSV HEADER
    #[command(name = "from-pg-stat-statements")]
    PgStatStatements(OwnArgs),
    /// From PostgreSQL's csvlog or jsonlog, told apart by content; with values
    ///
    /// The server must log statements with their durations (log_min_duration_statement = 0, at least for a while or for
    /// a sample), with log_destination = 'csvlog' or 'jsonlog' and lc_messages = 'C'.
    #[command(name = "from-postgres-log")]
    PostgresLog(OwnArgs),
    /// From slow query logs of MySQL, Percona Server or MariaDB; with values
    ///
    /// Let long_query_time be 0 for a while, so that frequent and quick statements are in it too.
    #[command(name = "from-slow-log")]
    SlowLog(OwnArgs),
}

#[derive(Debug, Args)]
pub(crate) struct OwnArgs {
    /// Files to read, plain or packed with gzip; - is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// The workload file to write; CSVs of values go into a folder beside it, such as shop-values
    #[arg(long, value_name = "FILE", default_value = "shop.toml")]
    pub(crate) out: PathBuf,
    /// How many statements become tests, by total time
    #[arg(long, value_name = "N", default_value = "20")]
    pub(crate) top: NonZeroUsize,
    /// Over how many days the server saw them, for calls a day [default: what the times of a log say]
    #[arg(long, value_name = "N", value_parser = above_zero, conflicts_with = "hours")]
    pub(crate) days: Option<f64>,
    /// The same in hours
    #[arg(long, value_name = "N", value_parser = above_zero)]
    pub(crate) hours: Option<f64>,
    /// Only statements of this database
    #[arg(long, value_name = "NAME")]
    pub(crate) database: Option<String>,
    /// The share of statements that the server logged, such as 0.01, where it was told to log a sample
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(crate) sampled: Option<f64>,
    /// Write over files that are there
    #[arg(long)]
    pub(crate) force: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

fn above_zero(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| "expected a number above 0".to_owned())
}

fn share(text: &str) -> Result<f64, String> {
    above_zero(text)
        .ok()
        .filter(|share| *share <= 1.0)
        .ok_or_else(|| "expected a share such as 0.01, at most 1".to_owned())
}

#[cfg(test)]
mod tests;
