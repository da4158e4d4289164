//! What can be typed.

use clap::Parser;
use std::path::PathBuf;

/// What rqps's client costs: CPU per statement and row, against sysbench, pgbench, a Python inserter, a bare socket and
/// a server that does nothing, or against the clients of other builds of rqps.
#[derive(Debug, Parser)]
#[command(name = "rqps-bench-client", version, max_term_width = 100)]
pub(crate) struct Args {
    /// Build of the server to measure against, of any engine; MySQL and MariaDB with InnoDB tables
    #[arg(long, value_name = "BUILD", default_value = "postgres:17.11")]
    pub(crate) build: String,
    /// Rows of the one table that is queried
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) rows: u64,
    /// Rows that each client of the workload `insert` inserts in a round
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub(crate) insert_rows: u64,
    /// Rounds; every client runs once in each
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rounds: u32,
    /// Seconds each client runs in a round; more where it would get too little of the CPU to tell its cost
    #[arg(long, value_name = "S", default_value_t = 3.0)]
    pub(crate) seconds: f64,
    /// Workloads to measure; insert loads beside a Python program, insert-sink into a server that does nothing;
    /// tproc-c-1 and tproc-c-4 are the transactions of TPROC-C, profile hammerdb, from so many virtual users, and
    /// tproc-c-load fills their tables beside the server's own bulk load of the same rows from files; sampling is point
    /// queries without and with what `rqps explain --time` samples and `--cpu-events` counts, and needs the right to it
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "point,read-only,points-100,sessions-40,insert,insert-sink"
    )]
    pub(crate) workloads: Vec<String>,
    /// Another rqps-bench-client, or an rqps that still has `bench-client`: its client alternates with this one on the
    /// same server, instead of clients that are not of rqps; prints the ratio of CPU with its 95 % interval over
    /// rounds; may be repeated
    #[arg(long, value_name = "PATH")]
    pub(crate) client: Vec<PathBuf>,
    /// Warehouses of tproc-c-1, tproc-c-4 and tproc-c-load
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=999_999))]
    pub(crate) warehouses: u32,
    /// Seconds that a client of tproc-c-1 and tproc-c-4 runs before it is measured
    #[arg(long, value_name = "S", default_value_t = 2.0)]
    pub(crate) ramp_up: f64,
    /// A checkout of HammerDB, whose virtual users then take part in tproc-c-1 and tproc-c-4; needs tclsh, tcl-thread
    /// and libpgtcl or mysqltcl
    #[arg(long, value_name = "FOLDER")]
    pub(crate) hammerdb: Option<PathBuf>,
    /// The server has CPUs of its own, instead of one that it shares with the clients
    #[arg(long)]
    pub(crate) split: bool,
    /// Also time the load of this many rows against sysbench prepare
    #[arg(long, value_name = "ROWS")]
    pub(crate) load: Option<u64>,
    /// Also run 40 sessions this long, and an inserter if insert-sink is measured, and compare peak memory after the
    /// first tenth and at the end
    #[arg(long, value_name = "S")]
    pub(crate) memory: Option<f64>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
