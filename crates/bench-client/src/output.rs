//! What is printed: figures on standard output, everything else on standard error.

use std::io::Write;

/// Prints figures.
pub(crate) fn print(text: &str) {
    // A reader that went away (`| head`) is no fault of ours.
    let _ = writeln!(std::io::stdout().lock(), "{}", text.trim_end_matches('\n'));
}

/// Says something about the work.
pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Says a warning.
pub(crate) fn warn(text: &str) {
    say(&format!("warning: {text}"));
}
