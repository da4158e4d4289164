//! Ctrl-C, SIGTERM and a terminal that closes: the first asks the campaign to end in order, the second ends it at once.
//!
//! In: signals, but those that this process was started to ignore. Out: the flag that `conduct` looks at between
//! slices. Servers die with this process, and its guard removes folders, so even the hard end leaves nothing. Commands
//! that measure no campaign have nothing to end in order and leave signals as they are.

use anyhow::{Context, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

/// Exit code after an interruption, as shells have it.
pub(crate) const INTERRUPTED: u8 = 130;

/// How soon a signal is seen.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Time for an end in order; together with `LOOK_EVERY` and `LAST_WORDS` below five seconds.
const ORDERLY_END: Duration = Duration::from_millis(4500);

/// Time for the last words.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// Makes signals raise a flag; a second one ends the process with `INTERRUPTED`.
/// `last_words` is called where the end in order took too long.
pub(crate) fn flag_on_interrupt(last_words: impl Fn() + Send + 'static) -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    // What is ignored stays so. `nohup` ignores SIGHUP for us, and a shell without job control SIGINT for what it
    // starts in the background (POSIX, "Asynchronous Lists"), so that a Ctrl-C for the script does not end hours of
    // measuring beside it; a handler of ours would undo both. SIGTERM, what `kill` sends, ends such a run.
    let ignored = std::fs::read_to_string("/proc/self/status").map_or(0, |status| ignored(&status));
    for signal in [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored & bit(*signal) == 0) {
        // Registered first, it acts on a signal only if the flag was raised by an earlier one.
        flag::register_conditional_shutdown(signal, i32::from(INTERRUPTED), Arc::clone(&stop))
            .context("cannot listen for signals")?;
        flag::register(signal, Arc::clone(&stop)).context("cannot listen for signals")?;
    }
    end_hanging(Arc::clone(&stop), last_words);
    Ok(stop)
}

/// A signal in the masks of proc(5).
const fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
}

/// The signals that a process ignores, from its `/proc/PID/status`; none where that does not tell.
fn ignored(status: &str) -> u64 {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Ends the process if it has not ended by itself in time after a signal: something it waits for does not end.
fn end_hanging(stop: Arc<AtomicBool>, last_words: impl Fn() + Send + 'static) {
    std::thread::spawn(move || {
        while !stop.load(Ordering::Relaxed) {
            std::thread::sleep(LOOK_EVERY);
        }
        std::thread::sleep(ORDERLY_END);
        say_within(LAST_WORDS, last_words);
        std::process::exit(i32::from(INTERRUPTED));
    });
}

/// Says something, but waits no longer than this: where nobody reads what we say (`2>&1 | less`), it is never said, and
/// maybe that is what the process hangs in.
fn say_within(limit: Duration, words: impl FnOnce() + Send + 'static) {
    let (end, ended) = channel::<()>();
    let said = std::thread::Builder::new().spawn(move || {
        words();
        drop(end);
    });
    // Nothing is ever sent: the other side is dropped when all is said.
    let _ = said.map(|_| ended.recv_timeout(limit));
}

/// How to go on with a campaign that was interrupted.
pub(crate) fn resume_line(campaign: &Path) -> String {
    format!("interrupted; finish it with: rqps resume {}", campaign.display())
}

/// What to say where the end in order took too long: what is left, and how to go on unless that was told already.
pub(crate) fn last_words(left: &[PathBuf], campaign: &Path, is_told: bool) -> Vec<String> {
    let resume = (!is_told).then(|| resume_line(campaign));
    let folders: Vec<String> = left.iter().filter(|folder| folder.exists()).map(|f| f.display().to_string()).collect();
    let left = (!folders.is_empty())
        .then(|| format!("not all was cleared away in time; still going in the background: {}", folders.join(", ")));
    resume.into_iter().chain(left).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_told_with_what_clears_it() {
        let there = tempfile::tempdir().expect("a folder");
        let told = |left: &[&Path], is_told| {
            let left: Vec<PathBuf> = left.iter().map(|path| (*path).to_owned()).collect();
            last_words(&left, Path::new("results/x"), is_told).join("\n")
        };
        let (resume, gone) = ("interrupted; finish it with: rqps resume results/x", Path::new("/nowhere/rqps"));
        let left =
            format!("not all was cleared away in time; still going in the background: {}", there.path().display());
        assert_eq!(told(&[there.path(), gone], false), format!("{resume}\n{left}"));
        assert_eq!(told(&[there.path()], true), left);
        assert_eq!([told(&[gone], false), told(&[], true)], [resume, ""]);
    }

    #[test]
    fn the_kernel_tells_what_is_ignored() {
        let of = |mask: &str| ignored(&format!("Name:\tsh\nSigBlk:\tffff\nSigIgn:\t{mask}\nSigCgt:\tffff\n"));
        assert_eq!(of("0000000000001003"), bit(SIGHUP) | bit(SIGINT) | bit(signal_hook::consts::SIGPIPE));
        assert_eq!(of("0000000000000000"), 0);
        assert_eq!(ignored(""), 0);
        // Of this process itself: Rust's runtime ignores SIGPIPE.
        let status = std::fs::read_to_string("/proc/self/status").expect("readable");
        assert_ne!(ignored(&status) & bit(signal_hook::consts::SIGPIPE), 0);
    }
}
