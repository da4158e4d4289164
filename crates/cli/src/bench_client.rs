//! `rqps bench-client`: what the client costs and can do, against other clients, a bare socket and a server that does nothing.
//!
//! In: a build. Out: client CPU microseconds per statement or row of each client, and the median of the ratios of clients that
//! ran next to each other. Every client is a process of its own, charged by the kernel; server and clients are pinned to
//! one CPU, and the clients take turns in an order that changes from round to round. A workload that fails leaves the
//! figures of the others alone, and its own of the rounds before.

mod asked;
mod child;
mod insert;
mod inserter;
mod part;
mod place;
mod process;
mod queries;
mod rival;
mod rounds;
mod stand;
mod table;
mod workload;

pub(crate) use asked::Asked;
pub(crate) use part::part;

use crate::args::BenchClientArgs;
use crate::outcome::Ending;
use crate::screen::Screen;
use anyhow::Result;
use rounds::Measured;
use rqps_server::placement;
use stand::Stand;
use table::{Failure, Figures, Memory};
use workload::Workload;

/// Measures one workload on every client that can do it.
fn measure(workload: Workload, stand: &Stand, args: &BenchClientArgs, screen: Screen) -> Result<Measured> {
    match workload {
        Workload::Queries(queries) => queries::compare(stand, queries, args, screen),
        Workload::Insert => insert::compare(stand, args, screen),
        Workload::InsertSink => insert::sink(stand, args, screen),
    }
}

pub(crate) fn bench_client(args: &BenchClientArgs, screen: Screen) -> Result<Ending> {
    let workloads: Vec<Workload> = args.workloads.iter().map(|word| Workload::parse(word)).collect::<Result<_>>()?;
    // Asked for before this process is pinned to one of them.
    let cpus = placement::available()?;
    placement::pin_current(&cpus[..1])?;
    let stand = Stand::start(args, cpus, screen)?;
    let mut bench = Bench { args, screen, figures: Figures::default() };
    bench.print(table::header);
    for workload in &workloads {
        bench.take(workload.name(), measure(*workload, &stand, args, screen));
    }
    if let Some(rows) = args.load {
        bench.take("load", queries::load(&stand, rows, args.rounds, screen));
    }
    if let Some(seconds) = args.memory {
        bench.remember("40 sessions", queries::memory(&stand, seconds, screen));
        if workloads.contains(&Workload::InsertSink) {
            bench.remember("an inserter", insert::memory(&stand, seconds, screen));
        }
    }
    bench.end()
}

/// What has been measured so far, told as it comes.
struct Bench<'a> {
    args: &'a BenchClientArgs,
    screen: Screen,
    figures: Figures,
}

impl Bench<'_> {
    /// Prints a part of the table, which JSON is printed instead of at the end.
    fn print(&self, text: impl FnOnce() -> String) {
        if !self.args.json {
            self.screen.print(&text());
        }
    }

    fn take(&mut self, workload: &str, measured: Result<Measured>) {
        let Measured { rows, failure } = measured.unwrap_or_else(Measured::nothing);
        for row in rows {
            self.print(|| table::line(&row));
            self.figures.rows.push(row);
        }
        if let Some(failure) = failure {
            self.fail(workload, &failure);
        }
    }

    fn remember(&mut self, of: &'static str, peaks: Result<(u64, u64)>) {
        match peaks {
            Ok((tenth_kb, end_kb)) => self.figures.peak_memory.push(Memory { of, tenth_kb, end_kb }),
            Err(error) => self.fail("memory", &error),
        }
    }

    fn fail(&mut self, workload: &str, error: &anyhow::Error) {
        let message = format!("{error:#}");
        self.screen.warn(&format!("{workload}: {message}"));
        self.figures.failures.push(Failure { workload: workload.to_owned(), message });
    }

    fn end(self) -> Result<Ending> {
        match self.args.json {
            true => self.screen.print(&serde_json::to_string_pretty(&self.figures)?),
            false => self.screen.print(&table::footer(&self.figures)),
        }
        Ok(if self.figures.failures.is_empty() { Ending::Clean } else { Ending::TrialFailed })
    }
}
