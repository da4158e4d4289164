//! A data folder of MySQL or MariaDB, made by the server itself: `--initialize-insecure` where it has that, else
//! `--bootstrap` fed with the system tables that the package brings. The packages' own scripts need Perl, or files that
//! only a whole installation has.
//!
//! In: an installed build, a folder that is not there yet, an account. Out: a data folder with the empty database
//! `sbtest` in latin1, and a user without a password who may do everything; no anonymous users, no `test`. It must not
//! open a socket.

use super::flavour::{Flavour, holds};
use crate::login::{DATABASE, USER};
use crate::{Result, ServerError};
use rqps_builds::BuildError;
use rqps_builds::program::{self, server_program};
use rqps_machine::command::OnParentDeath;
use rqps_machine::full_disk::full_disk;
use rqps_machine::proctree::{self, ProcessId};
use rqps_machine::{Account, Lease, MachineError};
use rqps_model::facts::BuildFacts;
use std::fs;
use std::path::{Path, PathBuf};

/// Character set and collation of the database, and of every session.
pub(super) const ENCODING: &str = "latin1";

/// Compared without regard to case, as by default with this character set.
const COLLATION: &str = "latin1_swedish_ci";

/// The statements for a new MySQL; the dot lets a server take the folder for empty.
const INIT_FILE: &str = ".rqps-init.sql";

/// Where installations have what their servers read.
const SHARE_FOLDERS: [&str; 3] = ["share", "share/mysql", "share/mariadb"];

/// The file by which such a folder is known.
const MESSAGES: &str = "english/errmsg.sys";

/// System tables and their first rows, under the names that they have had; each version has its own of these.
const SYSTEM_TABLES: [&str; 6] = [
    "mysql_system_tables.sql",
    "mariadb_system_tables.sql",
    "mysql_performance_tables.sql",
    "mariadb_performance_tables.sql",
    "mysql_system_tables_data.sql",
    "mariadb_system_tables_data.sql",
];

/// What the server programs are called.
const SERVERS: [&str; 2] = ["mysqld", "mariadbd"];

/// The most files that a redo log of fixed size can have.
const REDO_FILES_MAX: u32 = 100;

/// Makes a data folder with the database `sbtest` in it.
pub(crate) fn initialise(
    build: &BuildFacts,
    flavour: &Flavour,
    dir: &Path,
    account: Account,
    lease: &Lease,
) -> Result<()> {
    let server = program::program(build)?;
    account.check_can_enter(server.parent().unwrap_or(Path::new("/")), "RQPS_CACHE")?;
    account.private_folder(dir)?;
    account.check_can_enter(dir.parent().unwrap_or(Path::new("/")), "RQPS_DATA")?;
    if is_bootstrapped(build, flavour) {
        bootstrap(build, flavour, dir, account, lease)?
    } else {
        initialise_insecure(build, dir, account, lease)?
    }
    redo_log_of_fixed_size(build, flavour, dir)
        .iter()
        .filter(|file| file.exists())
        .try_for_each(|file| fs::remove_file(file).map_err(ServerError::at("remove", file)))
}

fn is_bootstrapped(build: &BuildFacts, flavour: &Flavour) -> bool {
    flavour.initialises.is_none_or(|since| !holds(since, &build.version))
}

fn initialise_insecure(build: &BuildFacts, dir: &Path, account: Account, lease: &Lease) -> Result<()> {
    let init = dir.join(INIT_FILE);
    account.write_file(&init, &format!("{}{}", database_sql(), user_sql(build)))?;
    let mut command = server_program(build, account, OnParentDeath::Kill)?;
    command.arg("--no-defaults").args(base_arguments(build, dir)?);
    command.arg("--initialize-insecure").arg(format!("--init-file={}", init.display()));
    let server = program::program(build)?;
    let made = lease.run(dir, &server, command, "mysqld --initialize-insecure", "");
    let made = made.map_err(|e| full_disk(e, dir).into());
    let removed = fs::remove_file(&init).map_err(ServerError::at("remove", &init));
    made.and(removed)
}

fn bootstrap(build: &BuildFacts, flavour: &Flavour, dir: &Path, account: Account, lease: &Lease) -> Result<()> {
    let share = share_folder(build)?;
    let mut sql = "CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket = NULL;\n".to_owned();
    for path in SYSTEM_TABLES.iter().map(|name| share.join(name)).filter(|path| path.is_file()) {
        let text = fs::read(&path).map_err(ServerError::at("read", &path))?;
        sql.push_str(&String::from_utf8_lossy(&text));
        sql.push('\n');
    }
    sql.push_str(&database_sql());
    sql.push_str(&bootstrapped_user_sql(build, flavour));
    let mut command = server_program(build, account, OnParentDeath::Kill)?;
    command.arg("--no-defaults").args(base_arguments(build, dir)?).arg("--bootstrap").arg("--skip-log-bin");
    // Any other server that starts removes what looks like temporary tables in a folder that they share.
    command.arg(format!("--tmpdir={}", dir.display()));
    let name = "mysqld --bootstrap";
    lease.run(dir, &program::program(build)?, command, name, &sql).map_err(|e| full_disk(e, dir))?;
    // Servers go on after a statement that failed, and end as if nothing had been.
    let mark = dir.join(DATABASE).join("db.opt");
    if mark.is_file() {
        return Ok(());
    }
    let output = format!("it made no database {DATABASE} (looked for {})", mark.display());
    Err(MachineError::Program { program: name.to_owned(), status: "exit status: 0".to_owned(), output }.into())
}

fn database_sql() -> String {
    format!("CREATE DATABASE {DATABASE} CHARACTER SET {ENCODING} COLLATE {COLLATION};\n")
}

/// Hosts that the user may come from: the socket, and TCP on this machine for servers that are started by hand.
const HOSTS: [&str; 2] = ["localhost", "127.0.0.1"];

/// One statement a line: servers read the file so.
fn user_sql(build: &BuildFacts) -> String {
    // From 8.4 on it is there but turned off, and then gone.
    let is_old = (build.version.major(), build.version.part(1)) < (8, 4);
    let plugin = if is_old { "mysql_native_password" } else { "caching_sha2_password" };
    let user = |host: &str| {
        format!(
            "CREATE USER {USER}@'{host}' IDENTIFIED WITH {plugin};\n\
             GRANT ALL PRIVILEGES ON *.* TO {USER}@'{host}' WITH GRANT OPTION;\n"
        )
    };
    HOSTS.iter().map(|host| user(host)).collect()
}

/// A server that bootstraps takes no statements about users, so that root's rows are copied.
fn bootstrapped_user_sql(build: &BuildFacts, flavour: &Flavour) -> String {
    let has_json = flavour.global_priv.is_some_and(|since| holds(since, &build.version));
    let table = if has_json { "global_priv" } else { "user" };
    let mut sql = format!("DELETE FROM {table} WHERE User = '';\n");
    for host in HOSTS {
        sql.push_str(&format!(
            "CREATE TEMPORARY TABLE rqps_new AS SELECT * FROM {table} WHERE User = 'root' AND Host = 'localhost';\n\
             UPDATE rqps_new SET User = '{USER}', Host = '{host}';\n\
             INSERT INTO {table} SELECT * FROM rqps_new;\n\
             DROP TEMPORARY TABLE rqps_new;\n"
        ));
    }
    sql + "DELETE FROM db WHERE Db LIKE 'test%';\nDROP DATABASE IF EXISTS test;\n"
}

/// What every start of a build's server needs to find its own files.
pub(crate) fn base_arguments(build: &BuildFacts, data_dir: &Path) -> Result<Vec<String>> {
    let mut paths = vec![
        ("basedir", build.folder.clone()),
        ("datadir", data_dir.to_owned()),
        ("lc-messages-dir", share_folder(build)?),
    ];
    paths.extend(program::plugin_folder(build).map(|folder| ("plugin-dir", folder)));
    Ok(paths.into_iter().map(|(name, path)| format!("--{name}={}", path.display())).collect())
}

fn share_folder(build: &BuildFacts) -> Result<PathBuf> {
    let folders = SHARE_FOLDERS.iter().map(|name| build.folder.join(name));
    folders.into_iter().find(|folder| folder.join(MESSAGES).is_file()).ok_or_else(|| {
        let looked_for = format!("{MESSAGES} in {}", SHARE_FOLDERS.join(", "));
        let engine = build.engine.name().to_owned();
        BuildError::NotAnInstallation { folder: build.folder.clone(), engine, looked_for }.into()
    })
}

/// The redo log of a version that refuses to start with another size than it was made with; after an orderly stop it
/// holds nothing that is needed, and is made anew. How many of its files there are, or will be, is a setting.
pub(super) fn redo_log_of_fixed_size(build: &BuildFacts, flavour: &Flavour, data_dir: &Path) -> Vec<PathBuf> {
    let files = if holds(flavour.resizes_redo_log, &build.version) { 0 } else { REDO_FILES_MAX };
    (0..files).map(|n| data_dir.join(format!("ib_logfile{n}"))).collect()
}

/// The process that runs on a data folder: a server stands in it. Its pid file is elsewhere, where no copy takes it
/// along.
pub(crate) fn holder(data_dir: &Path) -> Option<ProcessId> {
    let here = fs::canonicalize(data_dir).ok()?;
    let is_server = |path: &Path| path.file_name().is_some_and(|file| SERVERS.iter().any(|name| file == *name));
    let runs_here = |process: &ProcessId| {
        process.folder_and_program().is_some_and(|(folder, program)| folder == here && is_server(&program))
    };
    proctree::all().into_iter().find(runs_here)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mysql::flavour::{MARIADB, MYSQL};
    use rqps_model::Engine;

    fn flavour(engine: Engine) -> &'static Flavour {
        if engine == Engine::Mariadb { &MARIADB } else { &MYSQL }
    }

    fn build(engine: Engine, version: &str) -> BuildFacts {
        BuildFacts {
            folder: PathBuf::from("/nowhere"),
            ..BuildFacts::unknown(engine, version.parse().expect("a version"))
        }
    }

    #[test]
    fn chooses_by_version() {
        for (engine, version, bootstrapped, words) in [
            (Engine::Mysql, "5.5.34", true, "INSERT INTO user "),
            (Engine::Mysql, "5.6.51", true, "INSERT INTO user "),
            (Engine::Mysql, "5.7.22", false, "IDENTIFIED WITH mysql_native_password"),
            (Engine::Mysql, "8.0.45", false, "IDENTIFIED WITH mysql_native_password"),
            (Engine::Mysql, "9.6.0", false, "IDENTIFIED WITH caching_sha2_password"),
            (Engine::Mariadb, "10.2.11", true, "INSERT INTO user "),
            (Engine::Mariadb, "11.8.6", true, "INSERT INTO global_priv "),
        ] {
            let build = build(engine, version);
            assert_eq!(is_bootstrapped(&build, flavour(engine)), bootstrapped, "{version}");
            let sql = if bootstrapped { bootstrapped_user_sql(&build, flavour(engine)) } else { user_sql(&build) };
            assert!(sql.contains(words) && sql.lines().all(|line| line.ends_with(';')), "{version}: {sql}");
        }
    }

    #[test]
    fn a_redo_log_of_fixed_size_is_named_before_it_is_there() {
        for (engine, version, files) in [
            (Engine::Mysql, "5.5.34", 100),
            (Engine::Mysql, "5.6.7", 100),
            (Engine::Mysql, "5.6.14", 0),
            (Engine::Mysql, "8.0.33", 0),
            (Engine::Mariadb, "10.2.11", 0),
        ] {
            let found = redo_log_of_fixed_size(&build(engine, version), flavour(engine), Path::new("/d"));
            assert_eq!(found.len(), files, "{version}");
            assert!(found.iter().take(1).all(|file| file == Path::new("/d/ib_logfile0")), "{found:?}");
        }
    }

    #[test]
    fn an_installation_without_its_files_is_refused() {
        let error =
            base_arguments(&build(Engine::Mariadb, "11.4.5"), Path::new("/d")).expect_err("not there").to_string();
        assert!(error.contains("/nowhere is not a mariadb installation") && error.contains(MESSAGES), "{error}");
    }
}
