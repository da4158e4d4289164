//! Where each table begins and ends, and the connection that finds it out.
//!
//! In: requests of the clients. Out: ids in atomics. The probes have a connection and a thread of their own, as the
//! published client has a process for them: after many deletes a min() can take long, and must not hold up any clock.

use super::clock::OwnClock;
use super::sql;
use crate::drive::{monotonic_ns, thread_cpu_ns};
use crate::error::LoadError;
use rqps_model::insert::IdProbes;
use rqps_wire::Session;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender};

/// Requests under way.
pub(crate) type Requests = SyncSender<(usize, IdProbe)>;

/// What is to be found out of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IdProbe {
    /// The id of its oldest row.
    Oldest,
    /// The id of its newest row.
    Newest,
}

/// Where a table begins and ends, as far as is known.
#[derive(Debug)]
pub(crate) struct TableCell {
    pub(crate) name: String,
    /// Where the next delete begins: the oldest row, but for gaps.
    next_delete: AtomicU64,
    newest: AtomicU64,
    /// Rows that deletes under way may be ahead of what min() sees.
    slack: u64,
    requested: [AtomicBool; 2],
}

impl TableCell {
    /// A table of which `deleters` delete up to `batch` rows at once.
    pub(crate) fn new(name: String, oldest: u64, newest: u64, deleters: u32, batch: u32) -> TableCell {
        let slack = match deleters {
            0 | 1 => 0,
            several => 2 * u64::from(several) * u64::from(batch),
        };
        TableCell {
            name,
            next_delete: AtomicU64::new(oldest),
            newest: AtomicU64::new(newest),
            slack,
            requested: [const { AtomicBool::new(false) }; 2],
        }
    }

    /// Takes the next rows to delete.
    #[inline]
    pub(crate) fn take(&self, rows: u64) -> u64 {
        self.next_delete.fetch_add(rows, Ordering::Relaxed)
    }

    /// The ids from which point queries choose: the oldest, and one beyond the newest.
    #[inline]
    pub(crate) fn range(&self) -> (u64, u64) {
        let oldest = self.next_delete.load(Ordering::Relaxed);
        (oldest, self.newest.load(Ordering::Relaxed).max(oldest) + 1)
    }

    /// Requests a probe, unless one is under way.
    pub(crate) fn request(&self, table: usize, probe: IdProbe, requests: &Requests) {
        if !self.requested[probe as usize].swap(true, Ordering::Relaxed) && requests.try_send((table, probe)).is_err() {
            self.requested[probe as usize].store(false, Ordering::Relaxed);
        }
    }

    /// An answer has come. Several deleters on one table are ahead of what min() sees by what they have under way;
    /// taking that back would have them delete the same rows.
    fn found(&self, probe: IdProbe, id: u64) {
        match probe {
            IdProbe::Newest => self.newest.store(id, Ordering::Relaxed),
            IdProbe::Oldest => {
                let next = self.next_delete.load(Ordering::Relaxed);
                if !(id..=id + self.slack).contains(&next) {
                    self.next_delete.store(id, Ordering::Relaxed);
                }
            }
        }
        self.requested[probe as usize].store(false, Ordering::Relaxed);
    }
}

/// What the probes cost.
#[derive(Debug, Default)]
pub(crate) struct Probed {
    /// By [`IdProbe`].
    pub(crate) by_id: [IdProbes; 2],
    pub(crate) cpu_ns: u64,
}

/// Answers requests until no client is left that could send one. `fail` ends the step.
pub(crate) fn answer(
    mut session: Session,
    clock: &OwnClock,
    tables: &[TableCell],
    fail: &dyn Fn(&str),
    requested: &Receiver<(usize, IdProbe)>,
) -> Probed {
    let cpu_before = thread_cpu_ns();
    let mut probed = Probed::default();
    while let Ok((table, probe)) = requested.recv() {
        let cell = &tables[table];
        let before = clock.at(monotonic_ns());
        match probe_id(&mut session, &cell.name, probe) {
            Ok(id) => {
                // An empty table has no oldest row; its deleter finds that out.
                if let Some(id) = id {
                    cell.found(probe, id);
                }
            }
            Err(error) => {
                fail(&error.to_string());
                break;
            }
        }
        let took_ns = clock.at(monotonic_ns()).saturating_sub(before);
        let known = &mut probed.by_id[probe as usize];
        known.count += 1;
        known.total_ns += took_ns;
        known.longest_ns = known.longest_ns.max(took_ns);
    }
    probed.cpu_ns = thread_cpu_ns() - cpu_before;
    probed
}

/// The id of the oldest or newest row, if there is any row.
pub(crate) fn probe_id(session: &mut Session, table: &str, probe: IdProbe) -> Result<Option<u64>, LoadError> {
    let sql = match probe {
        IdProbe::Oldest => sql::min_id(table),
        IdProbe::Newest => sql::max_id(table),
    };
    let answer = session.query(&sql).map_err(LoadError::wire(format!("reading the ids of table {table}")))?;
    Ok(answer.single().and_then(|text| text.parse().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::sync_channel;

    #[test]
    fn a_probe_moves_the_next_delete_unless_deletes_under_way_explain_it() {
        let check = |deleters, next, oldest, expected| {
            let cell = TableCell::new("pi1".into(), next, 5000, deleters, 50);
            cell.found(IdProbe::Oldest, oldest);
            assert_eq!(cell.take(50), expected);
        };
        check(1, 1000, 1900, 1900);
        check(1, 1000, 900, 900);
        check(4, 1000, 900, 1000);
        check(4, 1000, 1001, 1001);
        check(4, 1000, 500, 500);
    }

    #[test]
    fn a_probe_is_requested_once_until_it_is_answered() {
        let cell = TableCell::new("pi1".into(), 1, 9, 1, 50);
        let (requests, requested) = sync_channel(1);
        cell.request(0, IdProbe::Newest, &requests);
        cell.request(0, IdProbe::Newest, &requests);
        assert_eq!((requested.try_recv(), requested.try_recv().is_err()), (Ok((0, IdProbe::Newest)), true));
        cell.found(IdProbe::Newest, 20);
        assert_eq!(cell.range(), (1, 21));
        // Where there is no room the probe can be requested later.
        cell.request(0, IdProbe::Newest, &requests);
        cell.request(0, IdProbe::Oldest, &requests);
        requested.try_recv().unwrap();
        cell.request(0, IdProbe::Oldest, &requests);
        assert_eq!(requested.try_recv(), Ok((0, IdProbe::Oldest)));
    }
}
