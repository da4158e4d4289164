//! Real servers for tests: made in a folder of their own, killed and started again as a test likes, gone with the test.
//!
//! In: a [`Wanted`]: an engine or a build, options, files. Out: a [`LiveServer`] that answers on a Unix socket, and on
//! loopback if asked. Tests only: no crate has it among its dependencies.
//!
//! Where a test says the same of several products, [`on_each`] runs it on all of them at once.
//!
//! Builds and data folders are those of `rqps_server`, but not its `Server`: that dies with its maker and leaves its
//! folders to the next start of rqps, where a test must leave nothing even when it is killed or its server is a static
//! that is never dropped. And tests need a socket and loopback at once, and options beside any profile. So a [`guard`]
//! runs the server.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod command_line;
mod folder;
mod guard;
mod master;
mod server;
#[cfg(test)]
mod tests;
mod wanted;

pub use folder::{Folder, data_parent};
pub use server::LiveServer;
pub use wanted::Wanted;

use rqps_builds::{Catalog, installation};
use rqps_machine::Cache;
use rqps_model::BuildSpec;
use rqps_model::facts::BuildFacts;
use std::fmt::Debug;
use std::thread;
use std::time::Duration;

/// The time that anything in a test may take.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// The build of a word of `--build`, installed into the user's cache if need be.
pub fn build(word: &str) -> BuildFacts {
    let spec: BuildSpec = word.parse().unwrap_or_else(|error| panic!("{word}: {error}"));
    let cache = Cache::open().unwrap();
    let installed = installation::install(&spec, &Catalog::built_in(), &cache, &mut |_| ());
    installed.unwrap_or_else(|error| panic!("tests run against a real server, and {word} is not to be had: {error}"))
}

/// Runs a test on all of these at once, each in a thread of its name, which a failure tells.
pub fn on_each<T: Copy + Debug + Send>(all: &[T], test: impl Fn(T) + Sync) {
    thread::scope(|scope| {
        for &one in all {
            let test = &test;
            thread::Builder::new().name(format!("{one:?}")).spawn_scoped(scope, move || test(one)).unwrap();
        }
    });
}
