//! A file from an address, by `curl`.
//!
//! In: an address that the user gave. Out: the file. It must not follow the address anywhere but to the same kinds of servers,
//! nor from an encrypted one to one that is not. Every user of the machine can read a program's arguments, and an address may
//! hold a password: it goes through `curl`'s stdin, and no error repeats it.

use super::{Client, without_credentials};
use crate::Result;
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

pub(super) fn fetch(url: &str, path: &OsStr, file: &Path) -> Result<()> {
    let client = Client::find("curl", "curl", path, without_credentials(url))?;
    client.run_with(&mut command(&client, url, file), &configuration(url)).map(drop)
}

fn command(client: &Client, url: &str, file: &Path) -> Command {
    let is_encrypted = url.get(..8).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://"));
    let redirected_to = if is_encrypted { "=https" } else { "=https,http" };
    let mut command = client.command(file.parent().unwrap_or(Path::new("/")));
    command.args(["--fail", "--location", "--silent", "--show-error", "--globoff"]);
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
    fn an_address_is_one_option_whatever_is_in_it() {
        assert_eq!(configuration("http://h/a?b=c"), "url = \"http://h/a?b=c\"\n");
        assert_eq!(configuration("http://u:\"\\@h/\noutput = x\r"), "url = \"http://u:\\\"\\\\@h/\\noutput = x\\r\"\n");
    }
}
