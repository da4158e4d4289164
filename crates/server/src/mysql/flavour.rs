//! In which versions MySQL and MariaDB differ in how their servers are made and started.
//!
//! In: nothing. Out: a table for each. What is the same for both stands in the code that reads it.

use rqps_model::Version;

/// A version from which on something holds.
type Since = [u32; 3];

/// One of the two engines.
pub(crate) struct Flavour {
    /// From when on `--initialize-insecure` makes a data folder; before, and else, `--bootstrap` does.
    pub(super) initialises: Option<Since>,
    /// From when on accounts are rows of `global_priv` instead of `user`.
    pub(super) global_priv: Option<Since>,
    /// From when on a server starts with a redo log of another size than it was made with.
    pub(super) resizes_redo_log: Since,
    /// A query for the thread that serves the session it is sent on: the system's id of it.
    pub(super) serving_thread: &'static str,
    /// The same for every session of a test: 0 where the server would read rows enough for it to blur its counters.
    pub(super) told_thread: &'static str,
    /// Whether it would listen for the X Protocol, too.
    pub(super) has_x_protocol: bool,
}

pub(crate) const MYSQL: Flavour = Flavour {
    initialises: Some([5, 7, 7]),
    global_priv: None,
    resizes_redo_log: [5, 6, 8],
    serving_thread: "SELECT THREAD_OS_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID()",
    // The table has an index since 8.0.
    told_thread: "SELECT 0 /*!80000 + THREAD_OS_ID FROM performance_schema.threads \
                  WHERE PROCESSLIST_ID = CONNECTION_ID() */",
    has_x_protocol: true,
};

pub(crate) const MARIADB: Flavour = Flavour {
    initialises: None,
    global_priv: Some([10, 4, 0]),
    resizes_redo_log: [0; 3],
    serving_thread: "SELECT TID FROM information_schema.PROCESSLIST WHERE ID = CONNECTION_ID()",
    told_thread: "SELECT TID FROM information_schema.PROCESSLIST WHERE ID = CONNECTION_ID()",
    has_x_protocol: false,
};

/// Whether something holds in a version.
pub(super) fn holds(since: Since, version: &Version) -> bool {
    [version.major(), version.part(1), version.part(2)] >= since
}
