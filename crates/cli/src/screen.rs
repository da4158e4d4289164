//! What is printed and how: width, colour, lines, warnings and errors.
//!
//! Results go to standard output, everything else to standard error, so that `--json` can be piped.

use crate::args::Colour;
use rqps_builds::Progress as Step;
use rqps_campaign::diagnostic::Diagnostic;
use rqps_lab::{Faults, Notice};
use rqps_model::human_duration;
use std::io::{IsTerminal, Write};

/// A terminal that does not tell its width has this one.
const WIDTH: usize = 80;

/// Whether standard output and standard error are coloured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Screen {
    colour: Colour,
}

impl Screen {
    pub(crate) fn new(colour: Colour) -> Screen {
        Screen { colour }
    }

    fn coloured(self, terminal: bool) -> bool {
        match self.colour {
            Colour::Always => true,
            Colour::Never => false,
            // https://no-color.org: any non-empty value turns colour off.
            Colour::Auto => terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
        }
    }

    pub(crate) fn colour_on_stdout(self) -> bool {
        self.coloured(std::io::stdout().is_terminal())
    }

    /// Columns of standard output.
    pub(crate) fn width(self) -> usize {
        self.terminal_width().unwrap_or(WIDTH)
    }

    /// Columns of standard output if it is a terminal: elsewhere lines may be as long as they are.
    pub(crate) fn terminal_width(self) -> Option<usize> {
        let out = std::io::stdout();
        let width = || rustix::termios::tcgetwinsize(&out).map_or(WIDTH, |size| usize::from(size.ws_col).max(WIDTH));
        out.is_terminal().then(width)
    }

    /// Prints a result.
    pub(crate) fn print(self, text: &str) {
        let mut out = std::io::stdout().lock();
        // A reader that went away (`| head`) is no fault of ours.
        let _ = out.write_all(text.as_bytes());
        if !text.ends_with('\n') {
            let _ = out.write_all(b"\n");
        }
        let _ = out.flush();
    }

    /// Says something about the work.
    pub(crate) fn say(self, text: &str) {
        let _ = writeln!(std::io::stderr().lock(), "{text}");
    }

    /// Says a warning.
    pub(crate) fn warn(self, text: &str) {
        let mark = if self.coloured(std::io::stderr().is_terminal()) { "\x1b[33mwarning:\x1b[0m" } else { "warning:" };
        self.say(&format!("{mark} {text}"));
    }

    /// Says what happened while a command got ready.
    pub(crate) fn notice(self, notice: &Notice) {
        match notice {
            Notice::LeftoversRemoved { processes, folders } => {
                self.say(&format!("removed leftovers of a killed rqps: {processes} processes, {folders} folders"));
            }
            Notice::Build { build, step } => self.say(&format!("{build}: {}", installation_step(step))),
            Notice::GivenUp(tests) if tests.is_empty() => self.say("every test that is not decided is measured again"),
            Notice::GivenUp(tests) => {
                self.say(&format!(
                    "left out for now, since the time that is left will hardly decide them: {}",
                    tests.join(", ")
                ));
            }
            Notice::Warning(warning) => self.warn(warning),
        }
    }

    /// Says an error with the reasons below it.
    pub(crate) fn error(self, error: &anyhow::Error) {
        if let Some(Faults(diagnostics)) = error.downcast_ref() {
            return self.diagnostics(diagnostics);
        }
        let mark = if self.coloured(std::io::stderr().is_terminal()) { "\x1b[31merror:\x1b[0m" } else { "error:" };
        self.say(&format!("{mark} {}", told(error)));
    }

    /// Shows what is wrong with a campaign file or flags.
    pub(crate) fn diagnostics(self, diagnostics: &[Diagnostic]) {
        let coloured = self.coloured(std::io::stderr().is_terminal());
        for diagnostic in diagnostics {
            let mut text = String::new();
            for (code, words) in diagnostic.parts() {
                match code.filter(|_| coloured) {
                    Some(code) => text.push_str(&format!("\x1b[{code}m{words}\x1b[0m")),
                    None => text.push_str(&words),
                }
            }
            self.say(text.trim_end_matches('\n'));
        }
    }
}

/// A step of an installation in words.
fn installation_step(step: &Step) -> String {
    match step {
        Step::Waiting => "another rqps is installing or compiling; waiting for it".to_owned(),
        Step::Fetching { coordinate } => format!("fetching {coordinate}"),
        Step::Damaged { fault } => format!("made again, since {fault}"),
        Step::Verifying => "checking its SHA-256".to_owned(),
        Step::Unpacking => "unpacking".to_owned(),
        Step::Source { about } => about.clone(),
        Step::Compiling { step, steps, name, flavour, left } => {
            let left = left.map(|left| format!(", {} left", human_duration(left))).unwrap_or_default();
            format!("{flavour}, step {step} of {steps}: {name}{left}")
        }
        Step::Inspecting => "inspecting its binaries".to_owned(),
        Step::Unpinned { url, sha256 } => format!("no checksum given; pin it with {url}#sha256={sha256}"),
        Step::Kept { name, sha256 } => {
            format!("using {name} as fetched before (SHA-256 {sha256}); `rqps builds remove {name}` to fetch it again")
        }
        Step::Installed { name } => format!("installed {name}"),
    }
}

/// An error and its causes, each said once: some errors have their cause in their own words already.
fn told(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |told, cause| match told.as_str() {
        "" => cause,
        before if before.contains(&cause) => told,
        before => format!("{before}: {cause}"),
    })
}
