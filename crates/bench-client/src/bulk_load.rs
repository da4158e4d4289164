//! Filling the tables of TPROC-C: rqps, which makes the rows and sends them, beside the server's own bulk load of the
//! same rows from files.
//!
//! In: a server. Out: seconds in which all tables are filled; indexes that are built afterwards cost both the same and
//! are left out. Both have as many sessions as the server has CPUs, take the large tables first, and begin with a
//! server at rest.

use crate::args::Args;
use crate::engine::{Kind, kind};
use crate::master::SEED;
use crate::output::{say, warn};
use crate::own_client::RQPS;
use crate::rounds::{Measured, alternate};
use crate::test_server::TestServer;
use crate::transactions::shape;
use crate::workload::TPROC_C_LOAD;
use anyhow::{Context, Result, ensure};
use rqps_load::warehouses;
use rqps_load::work::work;
use rqps_model::plan::DataShape;
use rqps_suites::Work;
use rqps_wire::Session;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// All tables, the large ones first.
const TABLES: [&str; 9] =
    ["stock", "order_line", "customer", "orders", "history", "new_order", "item", "district", "warehouse"];

/// How long a statement may take.
const DEADLINE: Duration = Duration::from_secs(600);

/// Who fills the tables, in the order of the rows.
const FILLERS: [&str; 2] = [RQPS, "from files"];

/// Seconds in which each fills all tables.
pub(crate) fn compare(server: &TestServer, args: &Args) -> Result<Measured> {
    server.on_all_cpus(|| {
        say(&format!("loading {} warehouses, and writing their rows to files", args.warehouses));
        let (rows, _) = by_rqps(server, args.warehouses)?;
        let files = Files::write(server, rows)?;
        let rounds = alternate(TPROC_C_LOAD, FILLERS.len(), args.rounds, |filler| {
            let seconds = match FILLERS[filler] {
                RQPS => by_rqps(server, args.warehouses)?.1,
                _ => files.fill(server)?,
            };
            let rested = work(Work::Checkpoint, server.process.target(), DataShape { tables: 1, rows })?;
            rested.left.iter().for_each(|left| warn(left));
            say(&format!("{}: {seconds:.1} s", FILLERS[filler]));
            Ok(seconds)
        });
        Ok(rounds.rows(TPROC_C_LOAD, &FILLERS, "s"))
    })
}

/// Rows that rqps loaded, and the seconds without indexes.
fn by_rqps(server: &TestServer, warehouses: u32) -> Result<(u64, f64)> {
    let data = shape(server.place.engine).data(warehouses);
    let report = warehouses::load(server.process.target(), &data, SEED, server.cpus().len())?;
    Ok((report.rows, report.load_seconds - report.index_seconds))
}

/// A file for each table, where the server reads and writes them.
struct Files {
    kind: &'static Kind,
    folder: PathBuf,
    /// Rows in all of them.
    rows: u64,
}

impl Files {
    /// Has the server write what its tables hold.
    fn write(server: &TestServer, rows: u64) -> Result<Files> {
        let kind = kind(server.place.engine);
        let files = Files { kind, folder: PathBuf::from(server.query(kind.files_folder, 0)?), rows };
        let mut session = Session::connect(&server.process.endpoint(), DEADLINE)?;
        for table in TABLES {
            let file = files.of(table);
            session.execute(&(kind.write_file)(table, &file)).with_context(|| format!("writing {}", file.display()))?;
        }
        Ok(files)
    }

    fn of(&self, table: &str) -> PathBuf {
        Path::new(&self.folder).join(format!("rqps-{table}"))
    }

    /// Drops the indexes that rqps builds after filling, then has the server fill all tables, and says in how many
    /// seconds.
    fn fill(&self, server: &TestServer) -> Result<f64> {
        let endpoint = server.process.endpoint();
        let mut session = Session::connect(&endpoint, DEADLINE)?;
        for row in session.query(self.kind.index_drops)?.rows {
            let drop = row.into_iter().next().flatten().context("a server names no index")?;
            session.execute(&drop)?;
        }
        let begun = Instant::now();
        let left = Mutex::new(TABLES.iter());
        let fill_some = || -> Result<u64> {
            let mut session = Session::connect(&endpoint, DEADLINE)?;
            let mut rows = 0;
            loop {
                let next = left.lock().expect("no thread panics with it").next();
                let Some(table) = next else { return Ok(rows) };
                for sql in (self.kind.fill_from_file)(table, &self.of(table)) {
                    rows += session.execute(&sql).with_context(|| format!("filling {table} from its file"))?;
                }
            }
        };
        let filled: Result<Vec<u64>> = std::thread::scope(|scope| {
            let threads: Vec<_> = server.cpus().iter().map(|_| scope.spawn(fill_some)).collect();
            threads.into_iter().map(|thread| thread.join().expect("a thread that fills does not panic")).collect()
        });
        let (seconds, filled) = (begun.elapsed().as_secs_f64(), filled?.into_iter().sum::<u64>());
        ensure!(filled == self.rows, "{filled} rows came from the files, and {} were written to them", self.rows);
        Ok(seconds)
    }
}
