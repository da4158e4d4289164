//! Reading a configuration file of the user's own, in the form of `postgresql.conf` (of `my.cnf`: see `option_file`).
//!
//! In: text. Out: names and values in order. Includes are refused: what a run is configured with must all be in
//! the run's record. It must not judge names or values.

use super::option_file::{has_sections, parse_option_file};
use crate::{Result, ServerError};

/// Reads `name = value` lines; the equals sign is optional, `#` begins a comment, values may be quoted. A file with
/// sections is read as MySQL and MariaDB do.
pub fn parse_conf(file: &str, text: &str) -> Result<Vec<(String, String)>> {
    if has_sections(text) {
        return parse_option_file(file, text);
    }
    let mut settings = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let fault = |reason: &str| ServerError::Malformed {
            file: file.to_owned(),
            reason: format!("line {}: {reason}: {line}", number + 1),
        };
        let rest = line.trim();
        if rest.is_empty() || rest.starts_with('#') {
            continue;
        }
        let end =
            rest.find(|c: char| c.is_whitespace() || c == '=').ok_or_else(|| fault("a setting without a value"))?;
        let (name, rest) = rest.split_at(end);
        if matches!(name, "include" | "include_dir" | "include_if_exists") {
            return Err(fault("files are not included; name each file"));
        }
        let rest = rest.trim_start();
        let rest = rest.strip_prefix('=').unwrap_or(rest).trim_start();
        let (value, after) = value(rest).ok_or_else(|| fault("a quoted value without its end"))?;
        if value.is_empty() && !rest.starts_with('\'') {
            return Err(fault("a setting without a value"));
        }
        let after = after.trim_start();
        if !after.is_empty() && !after.starts_with('#') {
            return Err(fault("more than one value"));
        }
        settings.push((name.to_owned(), value));
    }
    Ok(settings)
}

/// A value and what stands after it; in quotes, a quote is doubled or has a backslash before it.
fn value(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('\'') else {
        let end = text.find(|c: char| c.is_whitespace() || c == '#').unwrap_or(text.len());
        return Some((text[..end].to_owned(), &text[end..]));
    };
    let mut value = String::new();
    let mut chars = quoted.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\'' if quoted[at + 1..].starts_with('\'') => {
                chars.next();
                value.push('\'');
            }
            '\'' => return Some((value, &quoted[at + 1..])),
            '\\' => value.push(chars.next()?.1),
            _ => value.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_forms_that_servers_read() {
        let text =
            "# all\n\nwork_mem = 4MB # four\njit off\nlog_line_prefix='%m ''x'' \\'y\\' # no comment'\nempty = ''\n";
        let settings = parse_conf("own.conf", text).expect("read");
        let expected =
            [("work_mem", "4MB"), ("jit", "off"), ("log_line_prefix", "%m 'x' 'y' # no comment"), ("empty", "")];
        let settings: Vec<(&str, &str)> = settings.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        assert_eq!(settings, expected);
    }

    #[test]
    fn names_the_line_that_is_wrong() {
        for (line, reason) in [
            ("work_mem", "a setting without a value"),
            ("work_mem = # none", "a setting without a value"),
            ("work_mem = 4 MB", "more than one value"),
            ("x = 'open", "a quoted value without its end"),
            ("include 'other.conf'", "files are not included"),
        ] {
            let error = parse_conf("own.conf", &format!("jit = off\n{line}\n")).expect_err(line).to_string();
            assert!(error.starts_with("own.conf: line 2: ") && error.contains(reason), "{error}");
        }
    }
}
