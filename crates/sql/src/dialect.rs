//! How an engine writes SQL, as far as its text must be taken apart.

/// A dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// PostgreSQL: dollar quotes, nested comments, `$1`, standard strings.
    Postgres,
    /// MySQL: backticks, `#` comments, versioned comments, backslashes in strings.
    Mysql,
    /// MariaDB: as MySQL, with versioned comments of its own.
    Mariadb,
}

impl Dialect {
    /// The dialect of an engine by its word.
    pub fn find(engine: &str) -> Option<Dialect> {
        match engine {
            "postgres" => Some(Dialect::Postgres),
            "mysql" => Some(Dialect::Mysql),
            "mariadb" => Some(Dialect::Mariadb),
            _ => None,
        }
    }

    /// Whether it is PostgreSQL's.
    pub const fn is_postgres(self) -> bool {
        matches!(self, Dialect::Postgres)
    }
}
