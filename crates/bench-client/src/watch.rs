//! A client watched from outside while it runs transactions: what it gets done and what it costs, the same way for
//! every client.
//!
//! In: a command, its server. Out: new orders by the districts' counters and CPU by the kernel's at a moment of the
//! run; statements and rows by the server's, over the whole of it.

use crate::engine::kind;
use anyhow::{Context, Result, bail, ensure};
use rqps_model::Engine;
use rqps_wire::{Endpoint, Session};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A question is answered within this time, and a client has its first order.
const PATIENCE: Duration = Duration::from_secs(60);

/// Between two looks at what a client has done.
const LOOK: Duration = Duration::from_millis(20);

/// A moment of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    pub(crate) orders: u64,
    pub(crate) cpu_ns: u64,
}

/// The server's counters since its start.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counted {
    pub(crate) orders: u64,
    pub(crate) rows_written: u64,
    statements: u64,
    /// How many of them had been sent here.
    asked: u64,
}

impl Counted {
    pub(crate) fn statements_of_others(&self) -> i64 {
        self.statements.cast_signed() - self.asked.cast_signed()
    }
}

/// The session that asks for them.
pub(crate) struct Counters {
    session: Session,
    engine: Engine,
    /// Statements that it has sent.
    asked: u64,
}

impl Counters {
    pub(crate) fn open(server: &Endpoint) -> Result<Counters> {
        Ok(Counters { session: Session::connect(server, PATIENCE)?, engine: server.engine, asked: 0 })
    }

    /// The sum of the last column.
    fn ask(&mut self, sql: &str) -> Result<u64> {
        self.asked += 1;
        let table = self.session.query(sql)?;
        let numbers = table.rows.iter().map(|row| row.last()?.as_deref()?.parse::<u64>().ok());
        numbers.sum::<Option<u64>>().with_context(|| format!("`{sql}` is answered by {:?}", table.rows))
    }

    pub(crate) fn orders(&mut self) -> Result<u64> {
        self.ask("SELECT SUM(d_next_o_id) FROM district")
    }

    pub(crate) fn all(&mut self) -> Result<Counted> {
        let kind = kind(self.engine);
        Ok(Counted {
            orders: self.orders()?,
            rows_written: self.ask(kind.written)?,
            statements: self.ask(kind.executed)?,
            asked: self.asked,
        })
    }

    /// A session's counters are complete when it has ended.
    pub(crate) fn wait_until_alone(&mut self) -> Result<()> {
        let begun = Instant::now();
        while self.ask(kind(self.engine).sessions)? > 0 {
            if begun.elapsed() > PATIENCE {
                bail!("the client has ended, and its sessions have not within {} s", PATIENCE.as_secs());
            }
            std::thread::sleep(LOOK);
        }
        Ok(())
    }
}

/// A client under way; it ends with this value.
pub(crate) struct Running {
    child: Child,
    log: PathBuf,
}

impl Running {
    /// Starts it; what it prints goes to the file `log`.
    pub(crate) fn start(command: &mut Command, log: &Path) -> Result<Running> {
        let file = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
        let too = file.try_clone().context("cannot write what the client prints")?;
        command.stdin(Stdio::null()).stdout(file).stderr(too);
        let child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
        Ok(Running { child, log: log.to_owned() })
    }

    /// What it has done and used so far.
    pub(crate) fn look(&mut self, counters: &mut Counters) -> Result<Look> {
        self.check()?;
        Ok(Look { orders: counters.orders()?, cpu_ns: cpu_ns(self.child.id())? })
    }

    pub(crate) fn check(&mut self) -> Result<()> {
        match self.child.try_wait()? {
            None => Ok(()),
            Some(status) => bail!("the client ended too early, with {status}: {}", self.last_words()),
        }
    }

    /// Waits until there are more orders than these.
    pub(crate) fn wait_for_order(&mut self, counters: &mut Counters, before: u64) -> Result<()> {
        let begun = Instant::now();
        while counters.orders()? == before {
            self.check()?;
            if begun.elapsed() > PATIENCE {
                bail!("no new order came within {} s: {}", PATIENCE.as_secs(), self.last_words());
            }
            std::thread::sleep(LOOK);
        }
        Ok(())
    }

    /// Ends it; how many lines of what it printed tell of errors, and the last of them.
    pub(crate) fn end(self) -> Option<(u64, String)> {
        let log = self.log.clone();
        drop(self);
        let said = std::fs::read(log).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let complaints = said.lines().filter(|line| line.contains("rror") || line.contains("eadlock"));
        complaints.fold(None, |all, line| Some((all.map_or(0, |(count, _)| count) + 1, line.to_owned())))
    }

    fn last_words(&self) -> String {
        let said = std::fs::read(&self.log).unwrap_or_default();
        String::from_utf8_lossy(&said).lines().last().unwrap_or("it said nothing").to_owned()
    }
}

impl Drop for Running {
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
    use std::io::{BufRead, BufReader, Read, Write};

    const BURNS: &str = "RQPS_TEST_BURNS";

    #[test]
    #[ignore = "the process that the other test here starts"]
    fn child() {
        if std::env::var_os(BURNS).is_none() {
            return;
        }
        let (burned, wait) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            (0..20_000_000_u64).fold(0, |sum: u64, number| std::hint::black_box(sum ^ number));
            burned.send(()).expect("waited for");
            // A thread that ends takes its time along.
            loop {
                std::thread::park();
            }
        });
        wait.recv().expect("it burns");
        writeln!(std::io::stdout(), "\nused {}", rqps_load::drive::process_cpu_ns()).expect("heard");
        let _ = std::io::stdin().read(&mut [0]);
    }

    /// Of a process of its own: in this one threads of other tests come and go.
    #[test]
    fn the_time_of_all_threads_counts() {
        let mut command = Command::new(std::env::current_exe().expect("a path"));
        command.args(["--exact", "watch::tests::child", "--ignored", "--nocapture"]).env(BURNS, "1");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("started");
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines().map_while(Result::ok);
        let used: u64 =
            lines.find_map(|line| line.strip_prefix("used ")?.parse().ok()).expect("it tells what it has used");
        let counted = cpu_ns(child.id()).expect("it is there");
        drop(child.stdin.take());
        assert!(child.wait().expect("ended").success());
        assert!((used..used + used / 2).contains(&counted), "{counted} of {used} ns");
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
