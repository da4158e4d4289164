//! On which CPUs server and client run.
//!
//! In: a [`Placement`], the CPUs that there are, the number of clients. Out: two CPU sets, and threads pinned to a set
//! with the set read back from the kernel. It must not leave the choice to the scheduler unless it is `free`.

use crate::{Result, ServerError};
use rqps_model::Placement;
use rqps_model::settings::CpuSet;
use rustix::process::Pid;
use rustix::thread::{CpuSet as CpuMask, sched_getaffinity, sched_setaffinity};

/// The CPUs that the calling thread may use. Call it before anything is pinned.
pub fn available() -> Result<CpuSet> {
    read_back(None).map_err(|e| refused("this process", &[], &e.to_string()))
}

/// Chooses the CPUs of the server's processes and of the client's threads, in this order.
///
/// `same` gives both one set, of as many CPUs as there are clients; `split` gives the client a quarter of the CPUs (at
/// least one) and the server the rest; `free` gives both all.
pub fn choose(placement: Placement, online: &[usize], clients: u32) -> Result<(CpuSet, CpuSet)> {
    match placement {
        Placement::Free => Ok((online.to_vec(), online.to_vec())),
        Placement::Same => {
            let wanted = usize::try_from(clients).unwrap_or(usize::MAX).max(1);
            let shared = online[..wanted.min(online.len())].to_vec();
            Ok((shared.clone(), shared))
        }
        Placement::Split if online.len() < 2 => {
            Err(refused("server and client", online, "placement `split` needs two CPUs; choose `same` or `free`"))
        }
        Placement::Split => {
            let (server, client) = online.split_at(online.len() - online.len().div_ceil(4));
            Ok((server.to_vec(), client.to_vec()))
        }
    }
}

/// Pins the calling thread and returns the CPUs as read back.
pub fn pin_current(cpus: &[usize]) -> Result<CpuSet> {
    pin(None, cpus).map_err(|e| refused("this thread", cpus, &e.to_string()))?;
    let found = read_back(None).map_err(|e| refused("this thread", cpus, &e.to_string()))?;
    if found == cpus { Ok(found) } else { Err(refused("this thread", cpus, &format!("the kernel says {found:?}"))) }
}

/// Pins a thread of any process.
pub(crate) fn pin(thread: Option<Pid>, cpus: &[usize]) -> rustix::io::Result<()> {
    let mut mask = CpuMask::new();
    cpus.iter().filter(|&&cpu| cpu < CpuMask::MAX_CPU).for_each(|&cpu| mask.set(cpu));
    sched_setaffinity(thread, &mask)
}

/// The CPUs that a thread may use.
pub(crate) fn read_back(thread: Option<Pid>) -> rustix::io::Result<CpuSet> {
    let mask = sched_getaffinity(thread)?;
    Ok((0..CpuMask::MAX_CPU).filter(|&cpu| mask.is_set(cpu)).collect())
}

fn refused(who: &str, cpus: &[usize], reason: &str) -> ServerError {
    ServerError::Placement { who: who.to_owned(), cpus: cpus.to_vec(), reason: reason.to_owned() }
}

/// The id of a thread, or of a process for its first thread, as the kernel's calls take it.
pub(crate) fn thread(id: u32) -> Option<Pid> {
    Pid::from_raw(id.cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chooses_the_sets_that_the_words_mean() {
        let eight: Vec<usize> = (0..8).collect();
        let chosen = |placement, online: &[usize], clients| choose(placement, online, clients).expect("chosen");
        assert_eq!(chosen(Placement::Same, &[0, 1], 1), (vec![0], vec![0]));
        assert_eq!(chosen(Placement::Same, &[0, 1], 40), (vec![0, 1], vec![0, 1]));
        assert_eq!(chosen(Placement::Same, &[2, 5, 7], 2), (vec![2, 5], vec![2, 5]));
        assert_eq!(chosen(Placement::Split, &[0, 1], 4), (vec![0], vec![1]));
        assert_eq!(chosen(Placement::Split, &eight, 4), (vec![0, 1, 2, 3, 4, 5], vec![6, 7]));
        assert_eq!(chosen(Placement::Split, &[0, 1, 2, 3, 4], 4), (vec![0, 1, 2], vec![3, 4]));
        assert_eq!(chosen(Placement::Free, &eight, 1), (eight.clone(), eight));
        let error = choose(Placement::Split, &[3], 1).expect_err("one CPU").to_string();
        assert!(error.contains("CPU 3") && error.contains("needs two CPUs"), "{error}");
    }

    #[test]
    fn a_pinned_thread_reports_its_cpus() {
        let online = available().expect("some");
        let last = *online.last().expect("one at least");
        let pinned = std::thread::spawn(move || (pin_current(&[last]), available()));
        let (pinned, seen) = pinned.join().expect("no panic");
        assert_eq!((pinned.expect("pinned"), seen.expect("read")), (vec![last], vec![last]));
        assert_eq!(available().expect("read"), online, "other threads stay where they were");
        std::thread::spawn(|| pin_current(&[1000]).expect_err("no such CPU")).join().expect("no panic");
    }
}
