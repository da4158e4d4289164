//! What serves a session of MySQL or MariaDB: a thread of the server.
//!
//! In: a session. Out: its thread. Newer versions name it; else it is the one that goes to sleep once for each ping of
//! the session. Where a pool of threads serves all sessions there is none.

use super::flavour::Flavour;
use crate::{Result, ServerError};
use rqps_machine::proctree::ProcessId;
use rqps_wire::{Session, WireError};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The only way of serving in which a session keeps its thread.
const OWN_THREAD: &str = "one-thread-per-connection";

/// Pings in the first attempt to find a thread by its switches; each further one has twice as many.
const PINGS: u64 = 16;
const ATTEMPTS: u32 = 4;

/// The thread that serves a session.
pub(crate) fn thread(flavour: &Flavour, server: ProcessId, session: &mut Session) -> Result<u32> {
    let handling = session.query("SELECT @@thread_handling").map_err(unanswered)?;
    let handling = handling.single().unwrap_or_default();
    if handling != OWN_THREAD {
        return Err(ServerError::Serving(format!(
            "thread_handling is {handling}, so that it has no thread of its own"
        )));
    }
    // Old versions do not have the column, and without a performance schema it is empty.
    let named = session.query(flavour.serving_thread).ok();
    let named = named.and_then(|named| named.single()?.parse().ok());
    let is_a_thread = |thread: &u32| Path::new(&format!("/proc/{}/task/{thread}", server.pid)).exists();
    match named.filter(is_a_thread) {
        Some(thread) => Ok(thread),
        None => by_switches(server, session),
    }
}

/// Finds the only thread that went to sleep about as often as the session asked.
fn by_switches(server: ProcessId, session: &mut Session) -> Result<u32> {
    for attempt in 0..ATTEMPTS {
        let pings = PINGS << attempt;
        let before = switches(server);
        for _ in 0..pings {
            session.execute("DO 1").map_err(unanswered)?;
        }
        let after = switches(server);
        let woken = after.iter().filter(|(thread, count)| {
            // A session that is asked again at once may not go to sleep every time.
            *count - before.get(*thread).unwrap_or(count) >= pings / 2
        });
        if let [thread] = woken.map(|(thread, _)| *thread).collect::<Vec<u32>>()[..] {
            return Ok(thread);
        }
    }
    Err(ServerError::Serving("which thread serves a session could not be found out".to_owned()))
}

/// How often each thread of the server went to sleep so far.
fn switches(server: ProcessId) -> BTreeMap<u32, u64> {
    let tasks = fs::read_dir(format!("/proc/{}/task", server.pid)).into_iter().flatten().flatten();
    let count = |task: fs::DirEntry| {
        let status = fs::read_to_string(task.path().join("status")).ok()?;
        let switches = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
        Some((task.file_name().to_str()?.parse().ok()?, switches.trim().parse().ok()?))
    };
    tasks.filter_map(count).collect()
}

fn unanswered(error: WireError) -> ServerError {
    ServerError::Serving(error.to_string())
}
