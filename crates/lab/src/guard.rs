//! A second process of rqps, which waits for the one that measures or installs to end and clears what that left.
//!
//! In: that process. Out: when it is gone, so are its servers, folders and half-made builds, even after a `kill -9` or
//! when memory ran out. The kernel signals a server when its rqps dies, but a server that stands still does not react,
//! and side by side all but one stand still. If the guard is killed too, the next start of rqps clears up.

use anyhow::{Context, Result};
use rqps_machine::proctree::ProcessId;
use rqps_machine::{Cache, lease};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether this process has its guard.
static HAS_GUARD: AtomicBool = AtomicBool::new(false);

/// The command of `rqps` that calls [`clear_after`]; not one for users.
pub const COMMAND: &str = "guard";

/// Starts this program again as the guard of this process, unless it has one. It has a process group of its own, so
/// that a Ctrl-C is not for it, and holds neither a folder nor the caller's output. It clears what is noted in this
/// cache: the environment may name that relative to a folder that it does not stand in.
pub(crate) fn start(cache: &Cache) -> Result<()> {
    if HAS_GUARD.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    let ProcessId { pid, start_ticks } = ProcessId::own();
    // This very program, even when its file has been replaced since.
    let mut guard = Command::new("/proc/self/exe");
    guard.arg0("rqps").arg(COMMAND).args([u64::from(pid), start_ticks].map(|number| number.to_string()));
    guard.current_dir("/").process_group(0).env("RQPS_CACHE", cache.root());
    guard.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    guard.spawn().context("starting the process that clears up if rqps is killed")?;
    Ok(())
}

/// Waits for the process that has this pid and start time to end, and clears what it left: nothing, if it ended in
/// order.
pub fn clear_after(pid: u32, start_ticks: u64) -> Result<()> {
    ProcessId { pid, start_ticks }.wait_end();
    let cache = Cache::open()?;
    lease::clear_stale(&cache)?;
    cache.clear_half_made()?;
    Ok(())
}
