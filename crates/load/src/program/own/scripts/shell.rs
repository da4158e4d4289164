//! Commands of the shell that a script runs, as its author allowed.
//!
//! In: words, variables. Out: what became of the command. It runs as the user that runs rqps, and the client waits for
//! it; it allocates. What it prints is not shown.

use rqps_pgbench::{Value, Variables, Word};
use std::process::{Command, Stdio};

/// Runs a command; what it printed.
pub(super) fn run(words: &[Word], variables: &Variables) -> Result<String, String> {
    let line = line(words, variables)?;
    let ran = Command::new("/bin/sh").arg("-c").arg(&line).stdin(Stdio::null()).output();
    let output = ran.map_err(|error| format!("{error}: cannot run the command `{line}`"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{} of the command `{line}`: {}", output.status, said.lines().next().unwrap_or_default()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs a command whose first line is a whole number.
pub(super) fn run_for_number(words: &[Word], variables: &Variables) -> Result<Value, String> {
    let printed = run(words, variables)?;
    let first = printed.lines().next().unwrap_or_default().trim();
    first.parse().map(Value::Int).map_err(|_| {
        format!("no whole number was printed by the command `{}`: {first}", line(words, variables).unwrap_or_default())
    })
}

/// The words with a space between, and variables in their places.
fn line(words: &[Word], variables: &Variables) -> Result<String, String> {
    let mut line = Vec::new();
    for (number, word) in words.iter().enumerate() {
        if number > 0 {
            line.push(b' ');
        }
        match word {
            Word::Text(text) => line.extend_from_slice(text.as_bytes()),
            Word::Variable(slot) if variables.write(*slot, &mut line) => {}
            Word::Variable(_) => return Err("the command needs a variable that is not set".to_owned()),
        }
    }
    Ok(String::from_utf8_lossy(&line).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rqps_pgbench::Names;

    #[test]
    fn words_are_joined_and_what_a_command_does_counts() {
        let mut names = Names::new();
        let (x, missing) = (names.intern("x"), names.intern("missing"));
        let mut variables = Variables::new(&names);
        variables.set(x, Value::Int(41));
        let words = |texts: &[&str]| -> Vec<Word> { texts.iter().map(|text| Word::Text((*text).to_owned())).collect() };
        let mut sum = words(&["echo", "$((1"]);
        sum.extend([Word::Text("+".to_owned()), Word::Variable(x), Word::Text("));".to_owned())]);
        sum.extend(words(&["echo", "7"]));
        assert_eq!(run(&sum, &variables), Ok("42\n7\n".to_owned()));
        assert_eq!(run_for_number(&sum, &variables), Ok(Value::Int(42)));
        let refused = |words: &[Word]| run_for_number(words, &variables).unwrap_err();
        assert!(refused(&words(&["echo", "two"])).contains("`echo two`: two"));
        let failed = refused(&words(&["echo", "why", ">&2;", "exit", "3"]));
        assert!(failed.contains("exit status: 3 of the command `echo why >&2; exit 3`: why"), "{failed}");
        assert!(refused(&[Word::Variable(missing)]).contains("not set"));
    }
}
