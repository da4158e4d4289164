//! What serves a session of MySQL or MariaDB: a thread of the server.
//!
//! In: a session. Out: its thread. Newer versions name it; otherwise it is the one that goes to sleep once for each
//! ping of the session. Where a pool of threads serves all sessions there is none.

use super::flavour::Flavour;
use crate::{Result, ServerError};
use rqps_machine::proctree::ProcessId;
use rqps_wire::{Session, WireError};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// The only `thread_handling` in which a session keeps its thread.
const OWN_THREAD: &str = "one-thread-per-connection";

/// Pings in the first attempt to find a thread by its switches; each further one has twice as many.
const PINGS: u64 = 16;
const ATTEMPTS: u32 = 4;

/// The thread that serves a session.
pub(crate) fn thread(flavour: &Flavour, server: ProcessId, session: &mut Session) -> Result<u32> {
    let handling = session.query("SELECT @@thread_handling").map_err(unanswered)?;
    let handling = handling.single().unwrap_or_default();
    if handling != OWN_THREAD {
        return Err(ServerError::NoServingThread(format!(
            "with thread_handling = {handling} it has no thread of its own"
        )));
    }
    // Old versions do not have the column, and without a performance schema it is empty.
    let named = session.query(flavour.serving_thread).ok();
    let named = named.and_then(|named| named.single()?.parse().ok());
    match named.filter(|&thread| server.has_thread(thread)) {
        Some(thread) => Ok(thread),
        None => by_switches(server, session),
    }
}

/// Finds the only thread that went to sleep about as often as the session was pinged.
fn by_switches(server: ProcessId, session: &mut Session) -> Result<u32> {
    for attempt in 0..ATTEMPTS {
        let pings = PINGS << attempt;
        let before = switches(server);
        for _ in 0..pings {
            session.execute("DO 1").map_err(unanswered)?;
        }
        let after = switches(server);
        let woken = after.iter().filter(|(thread, count)| {
            // A thread whose session is pinged again at once may not go to sleep every time.
            *count - before.get(*thread).unwrap_or(count) >= pings / 2
        });
        if let [thread] = woken.map(|(thread, _)| *thread).collect::<Vec<u32>>()[..] {
            return Ok(thread);
        }
    }
    Err(ServerError::NoServingThread("no single thread went to sleep with its pings".to_owned()))
}

/// How often each thread of the server went to sleep so far.
fn switches(server: ProcessId) -> BTreeMap<u32, u64> {
    let count = |(thread, folder): (u32, PathBuf)| {
        let status = fs::read_to_string(folder.join("status")).ok()?;
        let switches = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
        Some((thread, switches.trim().parse().ok()?))
    };
    server.threads().into_iter().filter_map(count).collect()
}

fn unanswered(error: WireError) -> ServerError {
    ServerError::NoServingThread(error.to_string())
}
