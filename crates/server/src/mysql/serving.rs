//! What serves a session of MySQL or MariaDB: a thread of the server.
//!
//! In: a session. Out: its thread. Newer versions name it; otherwise it is the one that leaves its CPU about once for
//! each ping of the session. Where a pool of threads serves all sessions there is none.

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
const ATTEMPTS: u32 = 6;

/// The thread that serves a session.
pub(crate) fn thread(flavour: &Flavour, server: ProcessId, session: &mut Session) -> Result<u32> {
    match told(flavour.serving_thread, server, session)? {
        Some(thread) => Ok(thread),
        None => by_switches(server, session),
    }
}

/// The thread that serves a session, if the server names it at next to no cost.
pub(crate) fn told_thread(flavour: &Flavour, server: ProcessId, session: &mut Session) -> Result<u32> {
    let told = told(flavour.told_thread, server, session)?;
    told.ok_or_else(|| ServerError::NoServingThread("this version does not tell it".to_owned()))
}

/// The thread that the server names, if it does.
fn told(query: &str, server: ProcessId, session: &mut Session) -> Result<Option<u32>> {
    let handling = session.query("SELECT @@thread_handling").map_err(unanswered)?;
    let handling = handling.single().unwrap_or_default();
    if handling != OWN_THREAD {
        return Err(ServerError::NoServingThread(format!(
            "with thread_handling = {handling} it has no thread of its own"
        )));
    }
    // Old versions do not have the column, and without a performance schema it is empty.
    let named = session.query(query).ok().and_then(|named| named.single()?.parse().ok());
    Ok(named.filter(|&thread| server.has_thread(thread)))
}

/// Finds the thread that left its CPU about as often as the session was pinged, and far more often than any other.
fn by_switches(server: ProcessId, session: &mut Session) -> Result<u32> {
    let mut seen = String::new();
    for attempt in 0..ATTEMPTS {
        let pings = PINGS << attempt;
        let before = switches(server);
        for _ in 0..pings {
            session.execute("DO 1").map_err(unanswered)?;
        }
        let left = switches(server).into_iter().map(|(thread, count)| {
            let earlier = before.get(&thread).copied().unwrap_or(count);
            (count.saturating_sub(earlier), thread)
        });
        let mut left = left.collect::<Vec<_>>();
        left.sort_unstable_by(|a, b| b.cmp(a));
        let (most, thread) = left.first().copied().unwrap_or_default();
        let second = left.get(1).map_or(0, |(count, _)| *count);
        // A thread whose next ping is already there does not leave its CPU for it.
        if most >= pings / 4 && most > 2 * second {
            return Ok(thread);
        }
        seen = format!("{pings} pings, {most} and {second} switches of the two busiest threads");
    }
    Err(ServerError::NoServingThread(format!("no single thread was switched with its pings ({seen})")))
}

/// How often each thread of the server left its CPU so far: to sleep, or because another was to run. On a busy machine
/// the next ping often arrives while the thread waits for a CPU, and then it never sleeps.
fn switches(server: ProcessId) -> BTreeMap<u32, u64> {
    let count = |(thread, folder): (u32, PathBuf)| {
        let status = fs::read_to_string(folder.join("status")).ok()?;
        let counts = status.lines().filter(|line| line.contains("voluntary_ctxt_switches:"));
        let counts = counts.filter_map(|line| line.split_once(':')?.1.trim().parse::<u64>().ok());
        Some((thread, counts.sum()))
    };
    server.threads().into_iter().filter_map(count).collect()
}

fn unanswered(error: WireError) -> ServerError {
    ServerError::NoServingThread(error.to_string())
}
