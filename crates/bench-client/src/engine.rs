//! How the clients and checks of this program differ by engine: the one file that asks which engine it is.

use rqps_model::Engine;
use std::path::Path;

/// What is the same for all engines of one protocol.
pub(crate) struct Kind {
    /// Bytes of a point query and of its answer: Bind, Execute and Sync in PostgreSQL's protocol; COM_STMT_EXECUTE
    /// without types, answered by the number of columns, the definition of one, a row of 119 characters and an OK, in
    /// MySQL's.
    pub(crate) point_bytes: (usize, usize),
    /// Its name in the options of sysbench.
    pub(crate) sysbench: &'static str,
    /// Whether sysbench finds its socket by folder and port, as its own library and pgbench do.
    pub(crate) has_port: bool,
    /// Its name for the Python inserter.
    pub(crate) inserter: &'static str,
    /// What to do where no Python has a driver.
    pub(crate) how_to_install: &'static str,
    /// What tells the statements that filled the table, and the column of the answer.
    pub(crate) statements: (&'static str, usize),
    /// Whether those are all inserts since the server's start, or only those of the table.
    pub(crate) counts_all: bool,
    /// What tells how many statements of clients the server has executed, and how many rows were written; the numbers
    /// of the rows' last columns are added up.
    pub(crate) executed: &'static str,
    pub(crate) written: &'static str,
    /// What tells how many sessions there are besides the one that asks.
    pub(crate) sessions: &'static str,
    /// Its name for HammerDB, and the packages without which that does not run.
    pub(crate) hammerdb: &'static str,
    pub(crate) tcl_packages: &'static str,
    /// Its client library, and what the compiler is told to use it.
    pub(crate) library: &'static str,
    pub(crate) library_flags: &'static [&'static str],
    /// The package that has its headers.
    pub(crate) library_package: &'static str,
    /// What tells the folder in which the server itself writes and reads files of rows, and the statements for it.
    pub(crate) files_folder: &'static str,
    pub(crate) write_file: fn(table: &str, file: &Path) -> String,
    pub(crate) fill_from_file: fn(table: &str, file: &Path) -> Vec<String>,
    /// What gives a statement for each index of TPROC-C that is built after its table was filled, to drop it.
    pub(crate) index_drops: &'static str,
}

static POSTGRES: Kind = Kind {
    point_bytes: (42, 156),
    sysbench: "pgsql",
    has_port: true,
    inserter: "postgres",
    how_to_install: "no Python here has psycopg2 or psycopg: apt-get install python3-psycopg2",
    // Each statement is a transaction, and a row knows its own.
    statements: ("SELECT count(DISTINCT xmin::text) FROM pi1", 0),
    counts_all: false,
    // Every statement is a transaction where a function runs it.
    executed: "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()",
    written: "SELECT tup_inserted + tup_updated + tup_deleted FROM pg_stat_database WHERE datname = current_database()",
    sessions: "SELECT count(*) - 1 FROM pg_stat_activity WHERE backend_type = 'client backend'",
    hammerdb: "postgres",
    tcl_packages: "tcl tcl-thread libpgtcl",
    library: "libpq",
    library_flags: &["-DPOSTGRES", "-I/usr/include/postgresql", "-lpq"],
    library_package: "libpq-dev",
    files_folder: "SHOW data_directory",
    write_file: |table, file| format!("COPY {table} TO '{}'", file.display()),
    // A table that was emptied in the same transaction takes rows that are frozen, and writes no WAL at level minimal.
    fill_from_file: |table, file| {
        let copy = format!("COPY {table} FROM '{}' (FREEZE)", file.display());
        vec!["BEGIN".to_owned(), format!("TRUNCATE {table}"), copy, "COMMIT".to_owned()]
    },
    index_drops: "SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) FROM pg_constraint \
                  WHERE contype = 'p' AND conname LIKE '%\\_i1' \
                  UNION ALL SELECT format('DROP INDEX %I', indexname) FROM pg_indexes \
                  WHERE schemaname = 'public' AND indexname LIKE '%\\_i2'",
};

static MYSQL: Kind = Kind {
    point_bytes: (20, 190),
    sysbench: "mysql",
    has_port: false,
    inserter: "mysql",
    how_to_install: "no Python here has MySQLdb: apt-get install python3-mysqldb",
    statements: ("SHOW GLOBAL STATUS LIKE 'Com_insert'", 1),
    counts_all: true,
    executed: "SHOW GLOBAL STATUS LIKE 'Questions'",
    written: "SHOW GLOBAL STATUS WHERE Variable_name IN ('Innodb_rows_inserted', 'Innodb_rows_updated', \
              'Innodb_rows_deleted')",
    sessions: "SELECT count(*) - 1 FROM information_schema.processlist WHERE user = 'bench'",
    hammerdb: "mysql",
    tcl_packages: "tcl tcl-thread mysqltcl",
    library: "libmariadb",
    library_flags: &["-I/usr/include/mariadb", "-lmariadb"],
    library_package: "libmariadb-dev",
    files_folder: "SELECT @@secure_file_priv",
    write_file: |table, file| format!("SELECT * INTO OUTFILE '{}' FROM {table}", file.display()),
    fill_from_file: |table, file| {
        let unchecked = ["sql_log_bin", "unique_checks", "foreign_key_checks"].map(|check| format!("SET {check} = 0"));
        let load = format!("LOAD DATA INFILE '{}' INTO TABLE {table} CHARACTER SET latin1", file.display());
        unchecked.into_iter().chain([format!("TRUNCATE TABLE {table}"), load]).collect()
    },
    // Primary keys are there before the rows.
    index_drops: "SELECT DISTINCT concat('ALTER TABLE ', table_name, ' DROP INDEX ', index_name) \
                  FROM information_schema.statistics WHERE table_schema = DATABASE() AND index_name LIKE '%\\_i2'",
};

/// The kind of an engine.
pub(crate) fn kind(engine: Engine) -> &'static Kind {
    match engine {
        Engine::Postgres => &POSTGRES,
        Engine::Mysql | Engine::Mariadb => &MYSQL,
    }
}

/// The engine whose protocol the server that does nothing speaks.
pub(crate) const OF_SINK: Engine = Engine::Postgres;
