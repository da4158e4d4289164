//! Brings a MySQL or MariaDB server to rest: what is dead is purged, what is dirty is written back, levels are
//! compacted.
//!
//! In: a target, the data's shape, a [`SettleGoal`]. Out: what was not reached in the time allowed. It
//! waits on conditions, never for a time. Variables that it changes meanwhile are put back whatever happens.

use crate::error::LoadError;
use crate::mysql::{single, status, variable};
use crate::session::{connect, execute};
use rqps_model::StorageEngine;
use rqps_model::plan::DataShape;
use rqps_wire::{Endpoint, Session, Target};
use std::time::{Duration, Instant};

/// What is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SettleGoal {
    /// Nothing dead is left.
    Cleaned,
    /// Nothing dirty is left.
    Written,
    /// Both.
    Both,
}

/// The published driver waits so long after writes; here it is the most: a minute and a second for each million rows.
const LIMIT: Duration = Duration::from_secs(60);
const LIMIT_MAX: Duration = Duration::from_secs(1200);

/// How long a session that ended may take to go.
const GONE_LIMIT: Duration = Duration::from_secs(10);

/// Between two looks.
const LOOK: Duration = Duration::from_millis(50);

/// A server at rest still dirties a few pages of its own.
const DIRTY_PAGES_LEFT: u64 = 16;

/// So many transactions may wait for purge's next batch.
const HISTORY_LEFT: u64 = 64;

/// Variables that make InnoDB write back all it can, in the order of setting: no dirty page is welcome, no limit but
/// this on writing, purge gives its history back at each batch. They are put back in the opposite order, since
/// low-water mark and maximum bound each other. A version that lacks one goes without.
const FORCED: [(&str, &str); 6] = [
    ("innodb_io_capacity_max", "20000"),
    ("innodb_io_capacity", "20000"),
    ("innodb_idle_flush_pct", "100"),
    ("innodb_purge_rseg_truncate_frequency", "1"),
    ("innodb_max_dirty_pages_pct_lwm", "0"),
    ("innodb_max_dirty_pages_pct", "0"),
];

/// What RocksDB has still to do: memtables to flush, levels to compact.
const ROCKSDB_PENDING: &str = "SELECT COALESCE(SUM(VALUE), 0) FROM information_schema.ROCKSDB_CFSTATS \
                               WHERE STAT_TYPE IN ('MEM_TABLE_FLUSH_PENDING', 'COMPACTION_PENDING')";

/// Brings the server to rest, and says what is left if that takes too long.
pub(crate) fn settle(target: &Target, data: DataShape, goal: SettleGoal) -> Result<Option<String>, LoadError> {
    let endpoint = &target.endpoint;
    let millions = data.rows.saturating_mul(u64::from(data.tables)) / 1_000_000;
    let limit = (LIMIT + Duration::from_secs(millions)).min(LIMIT_MAX);
    match target.mysql_storage() {
        StorageEngine::Innodb => innodb(endpoint, goal, limit),
        StorageEngine::Rocksdb => rocksdb(&mut connect(endpoint)?, goal, limit),
    }
}

fn innodb(endpoint: &Endpoint, goal: SettleGoal, limit: Duration) -> Result<Option<String>, LoadError> {
    let mut session = connect(endpoint)?;
    let mut changed = Vec::new();
    let waited = force(&mut session, &mut changed).and_then(|()| wait_for_innodb(&mut session, goal, limit));
    let id = session.backend_pid();
    drop(session);
    // In a session of its own, since the other may be what was lost.
    let restored = connect(endpoint).and_then(|mut session| {
        // A lost one may still be about to change something.
        let _ = wait(GONE_LIMIT, || is_there(&mut session, id));
        let put_back = |(name, value): &(&str, String)| execute(&mut session, &format!("SET GLOBAL {name} = {value}"));
        // Each of them, also after one that failed.
        changed.iter().rev().map(put_back).fold(Ok(()), Result::and)
    });
    // What went wrong first is what matters; that a dead server cannot be put back is no news.
    let left = waited?;
    restored.map(|()| left)
}

/// Whether a session is there, in words.
fn is_there(session: &mut Session, id: u32) -> Result<Option<String>, LoadError> {
    let there = single(session, &format!("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = {id}"))?;
    Ok((there != "0").then(|| format!("session {id}")))
}

/// Sets what forces writing, and notes before it does what stood there: the answer to a change that took effect may be
/// lost.
fn force(session: &mut Session, changed: &mut Vec<(&'static str, String)>) -> Result<(), LoadError> {
    for (name, forced) in FORCED {
        let Some(found) = variable(session, name)? else { continue };
        let is_enough = |found: &str| match (name.contains("io_capacity"), found.parse::<f64>(), forced.parse::<f64>())
        {
            (true, Ok(found), Ok(forced)) => found >= forced,
            _ => false,
        };
        if !is_enough(&found) {
            changed.push((name, found));
            execute(session, &format!("SET GLOBAL {name} = {forced}"))?;
        }
    }
    Ok(())
}

fn wait_for_innodb(session: &mut Session, goal: SettleGoal, limit: Duration) -> Result<Option<String>, LoadError> {
    wait(limit, || {
        let mut left = Vec::new();
        if goal != SettleGoal::Written {
            let unpurged = unpurged(&innodb_status(session)?);
            if unpurged > HISTORY_LEFT {
                left.push(format!("{unpurged} transactions to purge"));
            }
        }
        if goal != SettleGoal::Cleaned {
            let dirty =
                status(session, "Innodb_buffer_pool_pages_dirty")?.and_then(|text| text.parse().ok()).unwrap_or(0);
            if dirty > DIRTY_PAGES_LEFT {
                left.push(format!("{dirty} dirty pages"));
            }
        }
        Ok((!left.is_empty()).then(|| left.join(" and ")))
    })
}

/// The text of SHOW ENGINE INNODB STATUS, whose columns are type, name and status.
fn innodb_status(session: &mut Session) -> Result<String, LoadError> {
    let shown = crate::mysql::rows(session, "SHOW ENGINE INNODB STATUS")?;
    Ok(shown.into_iter().next().and_then(|row| row.into_iter().nth(2)).flatten().unwrap_or_default())
}

/// The transactions that purge has still to see; every version writes this in the same words. Old versions keep those
/// it has seen in the history list until some later batch, so its length alone doesn't tell.
fn unpurged(status: &str) -> u64 {
    let after = |words: &str| {
        let (_, rest) = status.split_once(words)?;
        rest.split(|c: char| !c.is_ascii_alphanumeric()).next().filter(|text| !text.is_empty())
    };
    let (next, purged) = (after("\nTrx id counter "), after("\nPurge done for trx's n:o < "));
    match next.is_some() && next == purged {
        true => 0,
        false => after("\nHistory list length ").and_then(|length| length.parse().ok()).unwrap_or(0),
    }
}

fn rocksdb(session: &mut Session, goal: SettleGoal, limit: Duration) -> Result<Option<String>, LoadError> {
    let pending = |session: &mut Session| {
        wait(limit, || {
            let pending = single(session, ROCKSDB_PENDING)?;
            Ok((pending != "0").then(|| format!("{pending} flushes and compactions of RocksDB")))
        })
    };
    if let Some(left) = pending(session)? {
        return Ok(Some(left));
    }
    execute(session, "SET GLOBAL rocksdb_force_flush_memtable_now = 1")?;
    if goal != SettleGoal::Written {
        // Some versions can compact only a whole column family.
        let level_zero = "rocksdb_force_flush_memtable_and_lzero_now";
        match variable(session, level_zero)? {
            Some(_) => execute(session, &format!("SET GLOBAL {level_zero} = 1"))?,
            None => execute(session, "SET GLOBAL rocksdb_compact_cf = 'default'")?,
        }
    }
    pending(session)
}

/// Looks until nothing is left or the time is over.
fn wait(
    limit: Duration,
    mut look: impl FnMut() -> Result<Option<String>, LoadError>,
) -> Result<Option<String>, LoadError> {
    let deadline = Instant::now() + limit;
    loop {
        match look()? {
            None => return Ok(None),
            Some(left) if Instant::now() >= deadline => {
                return Ok(Some(format!("after {} s there are still {left}", limit.as_secs())));
            }
            Some(_) => std::thread::sleep(LOOK),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn purge_is_done_when_it_has_reached_the_next_transaction() {
        let check = |next: &str, purged: &str, expected: u64| {
            let status = format!(
                "TRANSACTIONS\n------------\nTrx id counter {next}\nPurge done for trx's n:o < {purged} undo n:o < 0 \
                 state: running\nHistory list length 1762\nLIST OF TRANSACTIONS"
            );
            assert_eq!(unpurged(&status), expected);
        };
        check("34AAB", "34AAB", 0);
        check("34AAB", "2F0", 1762);
        check("1814", "0", 1762);
        assert_eq!(unpurged("nothing"), 0);
    }

    #[test]
    fn waiting_ends_with_what_is_left() {
        let mut looks = 0;
        let left = wait(Duration::ZERO, || {
            looks += 1;
            Ok(Some(format!("{looks} dirty pages")))
        });
        assert_eq!(left.unwrap().as_deref(), Some("after 0 s there are still 1 dirty pages"));
        let mut left = vec![Some("one".to_owned()), None];
        left.reverse();
        assert_eq!(wait(Duration::from_secs(9), || Ok(left.pop().flatten())).unwrap(), None);
    }
}
