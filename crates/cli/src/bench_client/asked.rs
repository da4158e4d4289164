//! What one measured process of `bench-client` is asked to do, as the one argument of its command.
//!
//! In: the arguments after the program's name. Out: [`Asked`], or what is wrong with it. It is read here and not with the rest
//! of the command line, since what this process holds in memory is measured: the descriptions and defaults of all commands
//! and flags, and the code that makes them, are no part of a client.

use anyhow::{Context, Result};
use rqps_model::Engine;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::PathBuf;

/// The command by which this program starts itself.
const COMMAND: &str = "bench-client-part";

/// What one process does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Asked {
    /// `echo` on standard input, `ping-pong`, `insert`, or queries.
    pub(super) part: String,
    /// Whose server.
    pub(super) engine: Engine,
    /// The server's socket.
    pub(super) socket: PathBuf,
    /// Rows of the table.
    pub(super) rows: u64,
    /// How long to run.
    pub(super) seconds: f64,
}

impl Asked {
    /// What is asked for, if the arguments are for a measured process.
    pub(crate) fn read(mut arguments: impl Iterator<Item = OsString>) -> Option<Result<Asked>> {
        let is_part = arguments.next()? == COMMAND;
        is_part.then(|| {
            let asked = arguments.next().with_context(|| format!("{COMMAND} is how bench-client starts itself"))?;
            let asked = asked.to_string_lossy();
            serde_json::from_str(&asked).with_context(|| format!("`{asked}` is not what bench-client asks"))
        })
    }

    /// The arguments that [`Asked::read`] reads.
    pub(super) fn arguments(&self) -> Result<[OsString; 2]> {
        let asked = serde_json::to_string(self).context("the socket's path is not plain text")?;
        Ok([COMMAND.into(), asked.into()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: &[&str]) -> Option<Result<Asked>> {
        Asked::read(arguments.iter().map(OsString::from))
    }

    #[test]
    fn what_is_asked_is_read_again() {
        let asked = Asked {
            part: "point".to_owned(),
            engine: Engine::Mariadb,
            socket: PathBuf::from("/a folder/\"s"),
            rows: 100_000,
            seconds: 0.1 + 0.2,
        };
        let again = Asked::read(asked.arguments().unwrap().into_iter()).unwrap();
        assert_eq!(again.unwrap(), asked);
    }

    #[test]
    fn other_commands_are_left_alone_and_wrong_words_told() {
        assert!(read(&[]).is_none());
        assert!(read(&["bench-client", COMMAND]).is_none());
        for (arguments, told) in [(&[COMMAND][..], "how bench-client starts"), (&[COMMAND, "point"], "`point`")] {
            let error = read(arguments).unwrap().unwrap_err();
            assert!(format!("{error:#}").contains(told), "{error:#}");
        }
    }
}
