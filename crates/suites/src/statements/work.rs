//! The words for work done between tests. What each does to a server is written in `load::work`.

use rqps_model::words;

words! {
    /// Work done on a server between tests.
    Work {
        /// What is dead is removed: VACUUM of every table; on InnoDB purge is waited for, RocksDB compacts.
        Vacuum = "vacuum",
        /// ANALYZE of every table.
        Analyze = "analyze",
        /// What is dirty is written back: CHECKPOINT; on InnoDB forced flushing, on RocksDB of the memtable.
        Checkpoint = "checkpoint",
        /// What follows a load or the heavy writes: all three.
        Postwrite = "postwrite",
        /// Tables and indexes are brought into memory.
        Warm = "warm",
        /// MySQL and MariaDB begin their binary logs anew, so that they don't fill the disk; nothing elsewhere.
        ResetBinlog = "reset-binlog",
    }
}
