//! Which engine's own part does what: the one place that chooses between `postgres/` and `mysql/` to make a data
//! folder, to start and end a server, to read its settings, and to find what serves a session.
//!
//! In: an engine, and what its part needs. Out: what that part makes of it. It must not do anything itself.

use crate::launch::{Ending, Launch, Prepared};
use crate::mysql::flavour::{MARIADB, MYSQL};
use crate::profile::SettingsForm;
use crate::readback::Readback;
use crate::{Configuration, Result, mysql, postgres};
use rqps_machine::proctree::ProcessId;
use rqps_machine::{Account, Lease};
use rqps_model::Engine;
use rqps_model::facts::BuildFacts;
use rqps_wire::Session;
use std::path::Path;

/// Makes a data folder anew; what makes it belongs to the lease.
pub(crate) fn initialise(
    build: &BuildFacts,
    dir: &Path,
    account: Account,
    checksums: bool,
    lease: &Lease,
) -> Result<()> {
    match build.engine {
        Engine::Postgres => postgres::data_folder::initialise(build, dir, account, checksums, lease),
        Engine::Mysql => mysql::data_folder::initialise(build, &MYSQL, dir, account, lease),
        Engine::Mariadb => mysql::data_folder::initialise(build, &MARIADB, dir, account, lease),
    }
}

/// What every start of a build's server needs on its command line to find its data and its own files.
pub fn base_arguments(build: &BuildFacts, data_dir: &Path) -> Result<Vec<String>> {
    match build.engine {
        Engine::Postgres => Ok(vec!["-D".to_owned(), data_dir.display().to_string()]),
        Engine::Mysql | Engine::Mariadb => mysql::data_folder::base_arguments(build, data_dir),
    }
}

/// The process that holds a data folder, of whichever engine it is, if it lives.
pub(crate) fn holder(data_dir: &Path) -> Option<ProcessId> {
    postgres::data_folder::holder(data_dir).or_else(|| mysql::data_folder::holder(data_dir))
}

/// The signals that end a server.
pub(crate) fn ending(engine: Engine) -> &'static Ending {
    match engine {
        Engine::Postgres => &postgres::launch::ENDING,
        Engine::Mysql | Engine::Mariadb => &mysql::launch::ENDING,
    }
}

/// Writes the configuration and makes the command that starts the server.
pub(crate) fn prepare(launch: &Launch<'_>, data_dir: &Path, program: &Path, lease: &Lease) -> Result<Prepared> {
    match launch.build.engine {
        Engine::Postgres => postgres::launch::prepare(launch, data_dir, program, lease),
        Engine::Mysql => mysql::launch::prepare(launch, &MYSQL, data_dir, lease),
        Engine::Mariadb => mysql::launch::prepare(launch, &MARIADB, data_dir, lease),
    }
}

/// The system's id of the thread of a server that serves a session; of PostgreSQL's process, which has only one.
pub(crate) fn serving_thread(engine: Engine, server: ProcessId, session: &mut Session) -> Result<u32> {
    match engine {
        Engine::Postgres => postgres::serving::thread(server, session),
        Engine::Mysql => mysql::serving::thread(&MYSQL, server, session),
        Engine::Mariadb => mysql::serving::thread(&MARIADB, server, session),
    }
}

/// The same where the server names it by itself, without a search that sends many statements.
pub(crate) fn told_thread(engine: Engine, server: ProcessId, session: &mut Session) -> Result<u32> {
    match engine {
        Engine::Postgres => postgres::serving::thread(server, session),
        Engine::Mysql => mysql::serving::told_thread(&MYSQL, server, session),
        Engine::Mariadb => mysql::serving::told_thread(&MARIADB, server, session),
    }
}

/// Every setting of a running server, and what is not as written.
pub(crate) fn settings(
    session: &mut Session,
    engine: Engine,
    build: &str,
    configuration: &Configuration,
) -> Result<Readback> {
    match engine {
        Engine::Postgres => postgres::readback::read(session, build, &configuration.written),
        Engine::Mysql | Engine::Mariadb => {
            mysql::readback::read(session, SettingsForm::of(engine), build, configuration)
        }
    }
}
