//! What one measured process is to do, as the one argument of its command.
//!
//! In: the arguments after the program's name. Out: [`PartRequest`], or what is wrong with it. It is read here and not
//! with the rest of the command line, since what this process holds in memory is measured: descriptions and defaults of
//! flags, and the code that makes them, are no part of a client. Its form is that of older builds, which can so be
//! measured, too.

use anyhow::{Context, Result};
use rqps_model::Engine;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::PathBuf;

/// The command by which this program starts itself.
const COMMAND: &str = "bench-client-part";

/// What one process does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PartRequest {
    /// `echo` on standard input, `ping-pong`, `insert`, or queries.
    pub(crate) part: String,
    /// Whose server.
    pub(crate) engine: Engine,
    /// The server's socket.
    pub(crate) socket: PathBuf,
    /// Rows of the table.
    pub(crate) rows: u64,
    /// How long to run.
    pub(crate) seconds: f64,
    /// What is drawn: 0 for what older builds draw, which know no other.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) seed: u64,
}

fn is_zero(seed: &u64) -> bool {
    *seed == 0
}

impl PartRequest {
    /// The request, if the arguments are those of a measured process.
    pub(crate) fn read(mut arguments: impl Iterator<Item = OsString>) -> Option<Result<PartRequest>> {
        let is_part = arguments.next()? == COMMAND;
        is_part.then(|| {
            let request = arguments.next().with_context(|| format!("{COMMAND} is how this program starts itself"))?;
            let request = request.to_string_lossy();
            serde_json::from_str(&request).with_context(|| format!("`{request}` is not a request"))
        })
    }

    /// The arguments that [`PartRequest::read`] reads.
    pub(crate) fn arguments(&self) -> Result<[OsString; 2]> {
        let request = serde_json::to_string(self).context("the socket's path is not plain text")?;
        Ok([COMMAND.into(), request.into()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: &[&str]) -> Option<Result<PartRequest>> {
        PartRequest::read(arguments.iter().map(OsString::from))
    }

    #[test]
    fn a_request_is_read_again() {
        let request = PartRequest {
            part: "point".to_owned(),
            engine: Engine::Mariadb,
            socket: PathBuf::from("/a folder/\"s"),
            rows: 100_000,
            seconds: 0.1 + 0.2,
            seed: 7,
        };
        let again = PartRequest::read(request.arguments().unwrap().into_iter()).unwrap();
        assert_eq!(again.unwrap(), request);
    }

    #[test]
    fn a_build_of_before_understands_it() {
        let request = r#"{"part":"point","engine":"postgres","socket":"/s","rows":7,"seconds":1.5}"#;
        let read = read(&["bench-client-part", request]).unwrap().unwrap();
        assert_eq!(read.arguments().unwrap()[1], request);
    }

    #[test]
    fn other_commands_are_left_alone_and_wrong_requests_refused() {
        assert!(read(&[]).is_none());
        assert!(read(&["--rows", COMMAND]).is_none());
        for (arguments, why) in [(&[COMMAND][..], "starts itself"), (&[COMMAND, "point"], "`point`")] {
            let error = read(arguments).unwrap().unwrap_err();
            assert!(format!("{error:#}").contains(why), "{error:#}");
        }
    }
}
