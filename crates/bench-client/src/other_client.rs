//! The clients that rqps is measured against, each made to send the same statements from as many sessions.
//!
//! In: queries and where the server listens. Out: a command to run, and the number of statements it says it sent.
//! sysbench runs its own bundled scripts where they send the statement, and a script of ours where they don't.

use crate::engine::kind;
use crate::place::Place;
use crate::workload::Queries;
use anyhow::{Context, Result};
use rqps_machine::command::find_in_path;
use rqps_model::own::Protocol;
use std::path::Path;
use std::process::Command;

/// A point query of random keys, for pgbench.
pub(crate) const PGBENCH_POINT: &str = include_str!("point.sql");

/// A hundred random points by primary key, for sysbench: its own `select_random_points` reads other columns by another
/// index.
const SYSBENCH_POINTS: &str = include_str!("points.lua");

/// A client other than rqps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OtherClient {
    Sysbench,
    Pgbench,
}

impl OtherClient {
    /// Its command's name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            OtherClient::Sysbench => "sysbench",
            OtherClient::Pgbench => "pgbench",
        }
    }

    /// Whether it is installed.
    pub(crate) fn is_installed(self) -> bool {
        find_in_path(self.name(), &std::env::var_os("PATH").unwrap_or_default()).is_some()
    }

    /// The command that sends `queries` for so many seconds; `None` where this other cannot send them.
    pub(crate) fn command(
        self,
        queries: &Queries,
        place: &Place,
        seconds: f64,
        scripts: &Path,
    ) -> Result<Option<Command>> {
        match self {
            OtherClient::Sysbench if queries.script.is_some() => Ok(None),
            OtherClient::Sysbench => sysbench(queries, place, seconds, scripts).map(Some),
            OtherClient::Pgbench => pgbench(queries, place, seconds, scripts),
        }
    }

    /// The number of statements it says it sent.
    pub(crate) fn statements(self, stdout: &str) -> Result<u64> {
        let number_after = |label: &str| -> Option<u64> {
            let line = stdout.lines().find_map(|line| line.trim().strip_prefix(label))?;
            line.split_whitespace().next()?.split('/').next()?.parse().ok()
        };
        let label = match self {
            OtherClient::Sysbench => "queries:",
            OtherClient::Pgbench => "number of transactions actually processed:",
        };
        number_after(label).with_context(|| format!("{} printed no `{label}`", self.name()))
    }
}

fn sysbench(queries: &Queries, place: &Place, seconds: f64, scripts: &Path) -> Result<Command> {
    let script = match queries.sysbench {
        Some(own) => own.to_owned(),
        None => {
            let path = scripts.join("points.lua");
            std::fs::write(&path, SYSBENCH_POINTS).with_context(|| format!("cannot write {}", path.display()))?;
            path.display().to_string()
        }
    };
    let mut command = connect(place);
    command
        .arg(format!("--threads={}", queries.clients))
        .arg(format!("--time={}", seconds.ceil()))
        .args(["--events=0", "--rand-type=uniform"])
        .arg(script)
        .arg("run");
    Ok(command)
}

/// sysbench with the options that say where server and table are.
pub(crate) fn connect(place: &Place) -> Command {
    let kind = kind(place.engine);
    let driver = kind.sysbench;
    let mut command = Command::new("sysbench");
    command.arg(format!("--db-driver={driver}"));
    if kind.has_port {
        let (folder, port) = place.folder_and_port();
        command.arg(format!("--{driver}-host={folder}")).arg(format!("--{driver}-port={port}"));
    } else {
        command.arg(format!("--{driver}-socket={}", place.socket.display()));
    }
    command.arg(format!("--{driver}-user={}", place.user)).arg(format!("--{driver}-db={}", place.database));
    command.arg("--tables=1").arg(format!("--table-size={}", place.rows));
    command
}

fn pgbench(queries: &Queries, place: &Place, seconds: f64, scripts: &Path) -> Result<Option<Command>> {
    if !kind(place.engine).has_port || !queries.are_points() {
        return Ok(None);
    }
    let path = scripts.join("point.sql");
    std::fs::write(&path, PGBENCH_POINT).with_context(|| format!("cannot write {}", path.display()))?;
    let (folder, port) = place.folder_and_port();
    let mut command = Command::new("pgbench");
    command
        .args(["--no-vacuum", "--jobs=1"])
        .arg(format!("--protocol={}", queries.script.unwrap_or(Protocol::Prepared)))
        .arg(format!("--client={}", queries.clients))
        .arg(format!("--time={}", seconds.ceil()))
        .arg(format!("--define=rows={}", place.rows))
        .arg(format!("--file={}", path.display()))
        .arg(format!("--host={folder}"))
        .arg(format!("--port={port}"))
        .arg(format!("--username={}", place.user))
        .arg(&place.database);
    Ok(Some(command))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rqps_model::Engine;
    use std::path::PathBuf;

    #[test]
    fn every_engine_is_reached_by_its_own_driver() {
        let place = |engine| Place {
            engine,
            socket: PathBuf::from("/run/s/.s.PGSQL.5432"),
            user: "bench".to_owned(),
            database: "sbtest".to_owned(),
            rows: 7,
        };
        let point = Queries::find("point").expect("a workload");
        let shown = |engine| format!("{:?}", connect(&place(engine)));
        assert!(shown(Engine::Postgres).contains("\"--pgsql-host=/run/s\" \"--pgsql-port=5432\""));
        for engine in [Engine::Mysql, Engine::Mariadb] {
            assert!(shown(engine).contains("\"--db-driver=mysql\" \"--mysql-socket=/run/s/.s.PGSQL.5432\""));
            let pgbench = OtherClient::Pgbench.command(point, &place(engine), 1.0, Path::new("/nonexistent"));
            assert!(pgbench.expect("nothing to fail").is_none());
        }
    }

    #[test]
    fn reads_the_counts_that_rivals_print() {
        let sysbench = "    queries:                             37023  (18509.12 per sec.)\n";
        assert_eq!(OtherClient::Sysbench.statements(sysbench).expect("a count"), 37_023);
        for pgbench in [
            "number of transactions actually processed: 5120\n",
            "number of transactions actually processed: 5120/5120\n",
        ] {
            assert_eq!(OtherClient::Pgbench.statements(pgbench).expect("a count"), 5120);
        }
        assert!(OtherClient::Sysbench.statements("queries performed:\n").is_err());
    }
}
