//! The server that clients are measured against in turn.
//!
//! In: a build and the rows of its table. Out: where it listens, answers to queries. It is gone when the value is
//! dropped.

use crate::args::Args;
use crate::installed::Installed;
use crate::place::Place;
use anyhow::{Context, Result};
use rqps_load::prepare_data::prepare_data;
use rqps_model::plan::DataShape;
use rqps_server::Server;
use rqps_wire::Session;
use std::path::Path;
use std::time::Duration;

/// It answers within this time.
const DEADLINE: Duration = Duration::from_secs(60);

/// A server with a loaded table.
pub(crate) struct TestServer {
    pub(crate) place: Place,
    pub(crate) process: Server,
    /// Goes after the server that uses it.
    pub(crate) installed: Installed,
}

impl TestServer {
    /// Starts it, and pins this process to the CPUs of clients.
    pub(crate) fn start(args: &Args, cpus: Vec<usize>) -> Result<TestServer> {
        let installed = Installed::install(args, cpus)?;
        let process = installed.start(&installed.initialise("data")?)?;
        prepare_data(process.target(), DataShape { tables: 1, rows: args.rows }, 1, 1)?;
        Ok(TestServer { place: installed.place(&process, args.rows)?, process, installed })
    }

    /// All CPUs that this process may use.
    pub(crate) fn cpus(&self) -> &[usize] {
        &self.installed.cpus
    }

    /// A folder for what clients need, gone with the server.
    pub(crate) fn folder(&self) -> &Path {
        self.installed.folder()
    }

    /// Gives server and this process all CPUs while `work` is done.
    pub(crate) fn on_all_cpus<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.installed.on_all_cpus(&self.process, work)
    }

    /// A column of the first row of an answer.
    pub(crate) fn query(&self, sql: &str, column: usize) -> Result<String> {
        let table = Session::connect(&self.process.endpoint(), DEADLINE)?.query(sql)?;
        let value = table.rows.first().and_then(|row| row.get(column)).and_then(Clone::clone);
        value.with_context(|| format!("the server has no answer to `{sql}`"))
    }
}
