//! A client watched from outside while it runs transactions: what it gets done and what it costs, the same way for
//! every client.
//!
//! In: a command, its server. Out: new orders a minute by the districts' counters and CPU by the kernel's, both over
//! the same seconds, which its start is not part of; statements and rows by the server's, over the whole run.

use crate::engine::kind;
use crate::output::warn;
use anyhow::{Context, Result, bail, ensure};
use rqps_model::{Engine, plural};
use rqps_wire::{Endpoint, Session};
use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A question is answered within this time, and a client has its first order.
const PATIENCE: Duration = Duration::from_secs(60);

/// Between two looks at what a client has done.
const LOOK: Duration = Duration::from_millis(20);

/// How long a client goes on after the last look if nobody ends it.
const BEYOND_S: f64 = 60.0;

/// How long a client runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    /// From its first order on, not measured.
    pub(crate) ramp_up_s: f64,
    /// Measured.
    pub(crate) seconds: f64,
}

impl Times {
    /// The most that a client runs, for its command.
    pub(crate) fn whole_s(self) -> f64 {
        self.ramp_up_s + self.seconds + BEYOND_S
    }
}

/// What came of a run, each per new order but the first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Seen {
    pub(crate) per_minute: f64,
    pub(crate) cpu_us: f64,
    pub(crate) statements: f64,
    pub(crate) rows_written: f64,
}

/// Runs a client and watches it; what it prints goes to the file `log`.
pub(crate) fn watch(command: &mut Command, server: &Endpoint, times: Times, log: &Path) -> Result<Seen> {
    let mut counters = Counters::open(server)?;
    let before = counters.all()?;
    let mut client = Running::start(command, log)?;
    let begun = Instant::now();
    while counters.orders()? == before.orders {
        client.check()?;
        if begun.elapsed() > PATIENCE {
            bail!("no new order came within {} s: {}", PATIENCE.as_secs(), client.last_words());
        }
        std::thread::sleep(LOOK);
    }
    std::thread::sleep(Duration::from_secs_f64(times.ramp_up_s));
    let from = client.look(&mut counters)?;
    std::thread::sleep(Duration::from_secs_f64(times.seconds));
    let to = client.look(&mut counters)?;
    drop(client);
    if let Some((count, last)) = complaints(log) {
        warn(&format!("the client told of {}, the last one: {last}", plural(count, "error")));
    }
    counters.wait_until_alone()?;
    let after = counters.all()?;

    let orders = to.orders - from.orders;
    let all_orders = (after.orders - before.orders) as f64;
    if orders == 0 {
        bail!("{command:?} had no new order in {} s", times.seconds);
    }
    Ok(Seen {
        per_minute: 60.0 * orders as f64 / (to.at - from.at).as_secs_f64(),
        cpu_us: (to.cpu_ns - from.cpu_ns) as f64 / 1e3 / orders as f64,
        statements: (after.statements - before.statements - counters.asked_since(&before)) as f64 / all_orders,
        rows_written: (after.rows_written - before.rows_written) as f64 / all_orders,
    })
}

/// How many lines of what a client printed tell of errors, and the last of them.
fn complaints(log: &Path) -> Option<(u64, String)> {
    let said = std::fs::read(log).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let complaints = said.lines().filter(|line| line.contains("rror") || line.contains("eadlock"));
    complaints.fold(None, |all, line| Some((all.map_or(0, |(count, _)| count) + 1, line.to_owned())))
}

/// A moment of a run.
struct Look {
    at: Instant,
    orders: u64,
    cpu_ns: u64,
}

/// The server's counters since its start.
struct Counted {
    orders: u64,
    statements: u64,
    rows_written: u64,
    /// How many statements had been sent here when they were read.
    asked: u64,
}

/// The session that asks for them.
struct Counters {
    session: Session,
    engine: Engine,
    /// Statements that it has sent.
    asked: u64,
}

impl Counters {
    fn open(server: &Endpoint) -> Result<Counters> {
        Ok(Counters { session: Session::connect(server, PATIENCE)?, engine: server.engine, asked: 0 })
    }

    /// The sum of the last column.
    fn ask(&mut self, sql: &str) -> Result<u64> {
        self.asked += 1;
        let table = self.session.query(sql)?;
        let numbers = table.rows.iter().map(|row| row.last()?.as_deref()?.parse::<u64>().ok());
        numbers.sum::<Option<u64>>().with_context(|| format!("`{sql}` is answered by {:?}", table.rows))
    }

    fn orders(&mut self) -> Result<u64> {
        self.ask("SELECT SUM(d_next_o_id) FROM district")
    }

    fn all(&mut self) -> Result<Counted> {
        let kind = kind(self.engine);
        Ok(Counted {
            orders: self.orders()?,
            rows_written: self.ask(kind.written)?,
            statements: self.ask(kind.executed)?,
            asked: self.asked,
        })
    }

    /// A session's counters are complete when it has ended.
    fn wait_until_alone(&mut self) -> Result<()> {
        let begun = Instant::now();
        while self.ask(kind(self.engine).sessions)? > 0 {
            if begun.elapsed() > PATIENCE {
                bail!("the client has ended, and its sessions have not within {} s", PATIENCE.as_secs());
            }
            std::thread::sleep(LOOK);
        }
        Ok(())
    }

    fn asked_since(&self, before: &Counted) -> u64 {
        self.asked - before.asked
    }
}

/// A client under way; it ends with this value.
struct Running<'a> {
    child: Child,
    log: &'a Path,
}

impl Running<'_> {
    fn start<'a>(command: &mut Command, log: &'a Path) -> Result<Running<'a>> {
        let file = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
        let too = file.try_clone().context("cannot write what the client prints")?;
        command.stdin(Stdio::null()).stdout(file).stderr(too);
        let child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
        Ok(Running { child, log })
    }

    /// What it has done and used so far.
    fn look(&mut self, counters: &mut Counters) -> Result<Look> {
        self.check()?;
        let orders = counters.orders()?;
        Ok(Look { at: Instant::now(), orders, cpu_ns: cpu_ns(self.child.id())? })
    }

    fn check(&mut self) -> Result<()> {
        match self.child.try_wait()? {
            None => Ok(()),
            Some(status) => bail!("the client ended too early, with {status}: {}", self.last_words()),
        }
    }

    fn last_words(&self) -> String {
        let said = std::fs::read(self.log).unwrap_or_default();
        String::from_utf8_lossy(&said).lines().last().unwrap_or("it said nothing").to_owned()
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        // It has been seen long enough, or has ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// CPU time of all threads that a process has, in nanoseconds.
fn cpu_ns(process: u32) -> Result<u64> {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).context("the client is gone")?;
    let of_thread = |thread: std::io::Result<std::fs::DirEntry>| -> Option<u64> {
        let told = std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        told.split_whitespace().next()?.parse().ok()
    };
    // A thread may end while it is looked at; there is always one that does not.
    let told: Vec<u64> = threads.filter_map(of_thread).collect();
    ensure!(!told.is_empty(), "the kernel tells no CPU time of threads (schedstat)");
    Ok(told.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_all_threads_counts() {
        let before = cpu_ns(std::process::id()).expect("this process");
        let burn = || (0..20_000_000_u64).fold(0, |sum: u64, number| std::hint::black_box(sum ^ number));
        let own = {
            let begun = rqps_load::drive::process_cpu_ns();
            burn();
            rqps_load::drive::process_cpu_ns() - begun
        };
        let after = cpu_ns(std::process::id()).expect("this process");
        assert!(after - before >= own / 2, "{before} {after} {own}");
    }

    #[test]
    fn a_client_that_ends_at_once_is_told_with_its_last_words() {
        let log = tempfile::NamedTempFile::new().expect("a file");
        let mut command = Command::new("sh");
        let mut running = Running::start(command.args(["-c", "echo no luck; exit 3"]), log.path()).expect("a shell");
        let error = loop {
            if let Err(error) = running.check() {
                break error;
            }
        };
        assert!(error.to_string().ends_with("exit status: 3: no luck"), "{error}");
    }
}
