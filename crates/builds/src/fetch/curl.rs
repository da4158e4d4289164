//! A file from an address, by `curl`.
//!
//! In: an address that the user gave. Out: the file. It must not follow the address anywhere but to the same kinds of
//! servers, nor from an encrypted one to one that is not. Every user of the machine can read a program's arguments, and
//! an address may hold a password: it goes through `curl`'s stdin, and no error repeats it.

use super::client::Client;
use crate::{BuildError, Result};
use rqps_model::build::{credentials, without_credentials};
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

/// How `curl` reports that a server requires a login.
const REFUSALS: [&str; 2] = ["error: 401", "error: 403"];

pub(super) fn fetch(url: &str, path: &OsStr, file: &Path) -> Result<()> {
    let client = Client::find("curl", "curl", path, without_credentials(url))?;
    let fetched = client.run_with(&mut command(&client, url, file), &configuration(url));
    fetched.map(drop).map_err(|error| with_remedy(error, url))
}

/// Says how to give name and password where a server asks for them and the address has none: it is kept without them.
fn with_remedy(error: BuildError, url: &str) -> BuildError {
    match error {
        BuildError::Fetch { client, coordinate, output }
            if REFUSALS.iter().any(|refusal| output.contains(refusal)) && credentials(url).is_none() =>
        {
            let remedy = "addresses are kept without user and password: write both into ~/.netrc, or install the build \
                          first by `rqps builds install` with them in its address";
            BuildError::Fetch { client, coordinate, output: format!("{output}; {remedy}") }
        }
        error => error,
    }
}

fn command(client: &Client, url: &str, file: &Path) -> Command {
    let is_encrypted = url.get(..8).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://"));
    let redirected_to = if is_encrypted { "=https" } else { "=https,http" };
    let mut command = client.command(file.parent().unwrap_or(Path::new("/")));
    command.args(["--fail", "--location", "--silent", "--show-error", "--globoff"]);
    // What a campaign is resumed with has lost its user and password; these may stand in ~/.netrc.
    command.arg("--netrc-optional");
    command.args(["--proto", "=https,http,file", "--proto-redir", redirected_to]);
    command.arg("--output").arg(file).args(["--config", "-"]);
    command
}

/// The address as a line of `curl`'s configuration. A line's end would begin another option.
fn configuration(url: &str) -> String {
    let mut line = "url = \"".to_owned();
    for c in url.chars() {
        match c {
            '"' | '\\' => line.extend(['\\', c]),
            '\n' => line.push_str("\\n"),
            '\r' => line.push_str("\\r"),
            c => line.push(c),
        }
    }
    line + "\"\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_no_argument() {
        let client = Client { name: "curl", path: "/usr/bin/curl".into(), coordinate: String::new() };
        let check = |url: &str, redirected_to: &str| {
            let command = command(&client, url, Path::new("/tmp/f"));
            let arguments: Vec<&OsStr> = command.get_args().collect();
            assert!(!format!("{arguments:?}").contains("secret"), "{arguments:?}");
            let at = arguments.iter().position(|word| *word == "--proto-redir").expect("limited");
            assert_eq!(arguments[at + 1], redirected_to, "{url}");
        };
        check("https://u:secret@host/f", "=https");
        check("HTTPS://u:secret@host/f", "=https");
        check("http://u:secret@host/f", "=https,http");
        check("http", "=https,http");
    }

    #[test]
    fn a_missing_password_is_reported_with_where_to_give_it() {
        let fault = |url: &str, said: &str| {
            let error = BuildError::Fetch { client: "curl", coordinate: "c".to_owned(), output: said.to_owned() };
            with_remedy(error, url).to_string()
        };
        let refused = "curl: (22) The requested URL returned error: 401";
        assert!(fault("https://h/f", refused).contains("~/.netrc"));
        assert!(!fault("https://u:wrong@h/f", refused).contains(".netrc"));
        assert!(!fault("https://h/f", "curl: (22) The requested URL returned error: 404").contains(".netrc"));
    }

    #[test]
    fn an_address_is_one_option_whatever_is_in_it() {
        assert_eq!(configuration("http://h/a?b=c"), "url = \"http://h/a?b=c\"\n");
        assert_eq!(configuration("http://u:\"\\@h/\noutput = x\r"), "url = \"http://u:\\\"\\\\@h/\\noutput = x\\r\"\n");
    }
}
