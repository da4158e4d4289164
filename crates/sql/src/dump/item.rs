//! The pieces of a dump, as a loader gets them.
//!
//! In: nothing. Out: [`Item`].

/// A piece of a dump.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Where it begins, counted from 1.
    pub line: usize,
    /// What it is.
    pub what: What,
}

/// What a piece of a dump is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// A statement to send.
    Statement(String),
    /// A COPY; its rows follow.
    Copy(String),
    /// Rows of the COPY under way, whole lines of its text format.
    CopyRows(Vec<u8>),
    /// The COPY is over.
    CopyEnd,
    /// A change of the database.
    Connect(String),
    /// The same on MySQL and MariaDB.
    Use(String),
    /// The database is made.
    CreateDatabase {
        /// Its name.
        name: String,
        /// What is said of its text: `ENCODING`, `LOCALE`, `LC_COLLATE`, `LC_CTYPE` and the like on PostgreSQL,
        /// `CHARACTER SET` and `COLLATE` on MySQL and MariaDB.
        says: Vec<(&'static str, String)>,
    },
    /// Something that is not sent.
    LeftOut {
        /// What, such as `ALTER ... OWNER TO`.
        what: String,
        /// Why.
        why: &'static str,
    },
}
