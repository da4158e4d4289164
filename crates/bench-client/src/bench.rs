//! The comparison: every workload on every client, figures printed as they come.
//!
//! In: arguments. Out: client CPU microseconds per statement or row of each client, and the median of the ratios of
//! clients that ran next to each other. Every client is a process of its own, charged by the kernel; server and clients
//! are pinned to one CPU, and the clients take turns in an order that changes from round to round. A workload that
//! fails leaves the figures of the others alone, and its own of the rounds before.

use crate::args::Args;
use crate::hammerdb::Hammerdb;
use crate::own_client::OwnClient;
use crate::rounds::Measured;
use crate::table::{self, Failure, Figures, Memory};
use crate::test_server::TestServer;
use crate::workload::Workload;
use crate::{bulk_load, insert, output, queries, sampling, transactions};
use anyhow::Result;
use rqps_server::placement;

/// Measures one workload on every client that can do it.
fn measure(workload: Workload, server: &TestServer, args: &Args) -> Result<Measured> {
    let own = OwnClient::all(&args.client)?;
    match workload {
        Workload::Queries(queries) => queries::compare(server, queries, args, own),
        Workload::Insert => insert::compare(server, args, own),
        Workload::InsertSink => insert::sink(server, args, &own),
        Workload::Sampling => sampling::compare(server, args),
        Workload::Transactions(users) => transactions::compare(&server.installed, users, args, own),
        Workload::TprocCLoad => bulk_load::compare(server, args),
    }
}

/// Measures all that was asked for; whether no workload failed.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let workloads: Vec<Workload> = args.workloads.iter().map(|word| Workload::parse(word)).collect::<Result<_>>()?;
    OwnClient::all(&args.client)?;
    args.hammerdb.as_deref().map_or(Ok(()), Hammerdb::check)?;
    // Read before this process is pinned to one of them.
    let cpus = placement::available()?;
    let server = TestServer::start(args, cpus)?;
    let mut bench = Bench { args, figures: Figures::default() };
    bench.print(table::header);
    for workload in &workloads {
        bench.take(workload.name(), measure(*workload, &server, args));
    }
    if let Some(rows) = args.load {
        bench.take("load", queries::load(&server, rows, args.rounds));
    }
    if let Some(seconds) = args.memory {
        bench.take_memory("40 sessions", queries::memory(&server, seconds));
        if workloads.contains(&Workload::InsertSink) {
            bench.take_memory("an inserter", insert::memory(&server, seconds));
        }
    }
    bench.end()
}

/// What has been measured so far, printed as it comes.
struct Bench<'a> {
    args: &'a Args,
    figures: Figures,
}

impl Bench<'_> {
    /// Prints a part of the table, which JSON is printed instead of at the end.
    fn print(&self, text: impl FnOnce() -> String) {
        if !self.args.json {
            output::print(&text());
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

    fn take_memory(&mut self, of: &'static str, peaks: Result<(u64, u64)>) {
        match peaks {
            Ok((tenth_kb, end_kb)) => self.figures.peak_memory.push(Memory { of, tenth_kb, end_kb }),
            Err(error) => self.fail("memory", &error),
        }
    }

    fn fail(&mut self, workload: &str, error: &anyhow::Error) {
        let message = format!("{error:#}");
        output::warn(&format!("{workload}: {message}"));
        self.figures.failures.push(Failure { workload: workload.to_owned(), message });
    }

    fn end(self) -> Result<bool> {
        output::print(&match self.args.json {
            true => serde_json::to_string_pretty(&self.figures)?,
            false => table::footer(&self.figures),
        });
        Ok(self.figures.failures.is_empty())
    }
}
