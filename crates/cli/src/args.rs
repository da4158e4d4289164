//! What can be typed: commands and flags, with their help. What the words mean is decided elsewhere.
//!
//! One set of flags serves `plan`, `run` and `demo`; each flag is also a key of the campaign file.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

mod defaults;

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
  rqps demo                                   PostgreSQL 16.15 against 17.11, a few minutes
  rqps run --build postgres:16.15 --build postgres:17.11 --suite sysbench --quick
  rqps run --build postgres:17.11 --build new=postgres:/opt/pg-patched --tests 'update-*'
  rqps run --build my5614 --build my8033 --quick     MySQL 5.6.14 against 8.0.33
  rqps run --build mariadb:11.8.6 --storage-engine innodb,rocksdb --quick
  rqps run --build my5614 --build my8033 --profile z12a_sync     commits are flushed to disk
  rqps run --build postgres:17.11 --build mysql:8.0.33 --build mariadb:11.4.5 --quick
  rqps run --build postgres:17.11 --build postgres:18.6 --suite insert     the Insert Benchmark
  rqps run campaign.toml --rounds 10          a campaign file; flags win over its keys
  rqps compare results/NAME --fail-on regressed --json

Builds are ENGINE:VERSION, ENGINE:/FOLDER, ENGINE:/ARCHIVE or ENGINE:URL, for the engines
postgres, mysql and mariadb; pg1711, my8033 and ma110405 are short for versions. Tables of MySQL
and MariaDB are stored by InnoDB, those of MariaDB builds with the plugin by RocksDB as well
(--storage-engine). One campaign may hold several engines; the report says what each forces to
differ. Commits are not flushed to disk unless the profile ends in _sync.";

/// What `--base` means, the same before a campaign and after it.
const BASE: &str =
    "Baseline: the build or treatment the others are compared with, such as pg1615_zonky or pg1615_zonky.x10a";

/// What `--data` means to whatever measures.
const DATA: &str =
    "Folder for the servers' data while the campaign runs (default: $RQPS_DATA, else a temporary folder)";

/// What `--json` means to whatever measures.
const AS_JSON: &str = "Print the comparison as JSON instead of the table";

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
    /// Show what a campaign would do, how long it takes and what it needs; touches no server
    Plan(PlanArgs),
    /// Measure: install builds, load, run all rounds, judge, report
    Run(RunArgs),
    /// Finish an interrupted campaign: measure what is missing or failed, on data loaded anew
    Resume(ResumeArgs),
    /// PostgreSQL 16.15 against 17.11 in about ten tests, with a table and a report after a few minutes
    Demo(DemoArgs),
    /// Tell what of a campaign is done, running, failed and left; of one that runs in another terminal, too
    Status(StatusArgs),
    /// Judge a results folder again, with another base if asked; print the table or JSON
    Compare(CompareArgs),
    /// Make report.html and the tables of a results folder again
    Report(Judged),
    /// Builds: list, install, show, verify, remove
    ///
    /// They are kept in the cache ($RQPS_CACHE), with an initialised data folder of each in `initialised`, which takes 2 GB
    /// at most and may be removed at any time.
    #[command(subcommand)]
    Builds(BuildsCommand),
}

#[derive(Debug, Args)]
#[command(mut_args(defaults::of_run))]
pub(crate) struct PlanArgs {
    /// Campaign file (TOML); see docs/campaign-file.md
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) flags: CampaignFlags,
    #[command(flatten)]
    pub(crate) places: Places,
    /// Print the plan as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(mut_args(defaults::of_run))]
pub(crate) struct RunArgs {
    /// Campaign file (TOML); see docs/campaign-file.md
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) flags: CampaignFlags,
    #[command(flatten)]
    pub(crate) output: OutputFlags,
}

#[derive(Debug, Args)]
#[command(mut_args(defaults::of_demo))]
pub(crate) struct DemoArgs {
    #[command(flatten)]
    pub(crate) flags: CampaignFlags,
    #[command(flatten)]
    pub(crate) output: OutputFlags,
}

#[derive(Debug, Args)]
pub(crate) struct Places {
    /// Folder that holds one folder per campaign
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub(crate) results: PathBuf,
    #[arg(long, value_name = "DIR", help = DATA)]
    pub(crate) data: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct OutputFlags {
    #[command(flatten)]
    pub(crate) places: Places,
    #[arg(long, help = AS_JSON)]
    pub(crate) json: bool,
}

/// The words of a campaign. Every one is also a key of the campaign file, which knows what holds where it is not said.
#[derive(Debug, Args, Clone, Default)]
#[command(next_help_heading = "Campaign")]
pub(crate) struct CampaignFlags {
    /// Name of the campaign and its folder
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Build to measure: [NAME=]ENGINE:VERSION, or :/FOLDER, :/ARCHIVE, :URL; postgres, mysql or mariadb; repeat it
    #[arg(long, value_name = "BUILD")]
    pub(crate) build: Vec<String>,
    #[arg(long, value_name = "BUILD", help = BASE)]
    pub(crate) base: Option<String>,
    /// What is run: sysbench, or insert, which is the Insert Benchmark
    #[arg(long, value_name = "SUITE")]
    pub(crate) suite: Option<String>,
    /// Ready-made size: quick (a minute a pass), small (two minutes a pass), cached-small, cached-large, io-bound; with a
    /// factor such as cached-large:0.01 that many times its rows
    #[arg(long, value_name = "SIZE[:FACTOR]")]
    pub(crate) scale: Option<String>,
    /// Tests: the sets 27, 32, 42 and all, names or patterns, separated by commas; `rqps plan` lists the tests of a set
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) tests: Vec<String>,
    /// Number of tables; insert: 1 makes all clients share one
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) tables: Option<String>,
    /// Rows of each table, insert: of each client; 100k and 50m are understood
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) rows: Option<String>,
    /// Rows that each client inserts, and as many that it deletes, in l.i1 and l.i2 together
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) rows_written: Option<String>,
    /// Concurrency levels, separated by commas
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_negative_numbers = true)]
    pub(crate) clients: Vec<String>,
    /// Rows per second and client written behind the queries, separated by commas; a step qr and a step qp for each
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_negative_numbers = true)]
    pub(crate) write_rates: Vec<String>,
    /// Seconds counted per read test, build and round; insert: of each step with queries
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(crate) read_seconds: Option<String>,
    /// Seconds counted per write test, build and round
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(crate) write_seconds: Option<String>,
    /// Least rest between l.i2 and the first query
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(crate) rest_seconds: Option<String>,
    /// How much of their plan the writers behind the queries make good after a stall
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(crate) catch_up_seconds: Option<String>,
    /// Seconds each build runs a test before counting starts
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(crate) warmup: Option<String>,
    /// Rounds; each restarts every server on its copy of the data, insert: is a pass of every build
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) rounds: Option<String>,
    /// Length of a slice in milliseconds
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    pub(crate) slice: Option<String>,
    /// How builds alternate in a round: slices or turns
    #[arg(long, value_name = "HOW")]
    pub(crate) interleave: Option<String>,
    /// Seed of orders and keys; the same seed sends the same keys to every build
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) seed: Option<String>,
    /// Configuration profiles, separated by commas; each build runs with each that its engine has; _sync appended
    /// flushes at commit; docs/campaign-file.md has them
    #[arg(long, value_name = "PROFILE", value_delimiter = ',')]
    pub(crate) profile: Vec<String>,
    /// What stores the tables of MySQL and MariaDB: innodb, rocksdb (MariaDB with its plugin) or both
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) storage_engine: Vec<String>,
    /// Server setting on top of the profile, or @FILE in the form of postgresql.conf or my.cnf; for the engines that
    /// know it; may be repeated
    #[arg(long, value_name = "NAME=VALUE|@FILE")]
    pub(crate) set: Vec<String>,
    /// CPUs of server and client: same, split or free
    #[arg(long, value_name = "HOW")]
    pub(crate) placement: Option<String>,
    /// Open loop at this many events a second over all clients, with exponential gaps; even:N for equal gaps
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) rate: Option<String>,
    /// Cores and memory that profiles are sized for, such as c8r32
    #[arg(long, value_name = "cCORESrGB")]
    pub(crate) machine: Option<String>,
    /// Differences smaller than this fraction count as equal
    #[arg(long, value_name = "F", allow_negative_numbers = true)]
    pub(crate) margin: Option<String>,
    /// Small preset for a first look: 100,000 rows, 2 seconds a test, 3 rounds; insert: one round, about a minute for
    /// each build
    #[arg(long)]
    pub(crate) quick: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// Campaign folder, such as results/NAME
    pub(crate) dir: PathBuf,
    #[arg(long, value_name = "DIR", help = DATA)]
    pub(crate) data: Option<PathBuf>,
    #[arg(long, help = AS_JSON)]
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
    #[arg(long, value_name = "BUILD", help = format!("{BASE} [default: as it was run]"))]
    pub(crate) base: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub(crate) judged: Judged,
    /// Exit with 1 if any test has this verdict, or one of these, after correction
    #[arg(long, value_name = "VERDICT", value_enum, value_delimiter = ',')]
    pub(crate) fail_on: Vec<FailOn>,
    /// Print JSON: rqps, low, high, verdict, n, mde, q, base and absolute throughput for every test and build
    #[arg(long, conflicts_with = "markdown")]
    pub(crate) json: bool,
    /// Print a Markdown table to paste in a mail or a blog
    #[arg(long)]
    pub(crate) markdown: bool,
}

/// Verdicts that `--fail-on` can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    Regressed,
    Improved,
    Undecided,
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

#[cfg(test)]
mod tests;
