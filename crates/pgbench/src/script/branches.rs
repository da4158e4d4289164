//! Where conditions go on.
//!
//! In: the commands of a script with where they stand. Out: targets in its conditions, or the conditions that have no
//! beginning or no end.

use crate::command::{Command, What};
use crate::fault::Unplaced;

/// An `\if` whose `\endif` was not seen yet.
struct Open {
    start: usize,
    /// The last `\if` or `\elif`, which goes on at what comes next if it is false.
    last: usize,
    /// What ends a branch: `\elif` and `\else`.
    ends: Vec<usize>,
    has_else: bool,
}

/// Fills in the targets. `offsets` says where each command stands.
pub(super) fn resolve(commands: &mut [Command], offsets: &[usize]) -> Vec<Unplaced> {
    let mut faults = Vec::new();
    let mut stack: Vec<Open> = Vec::new();
    for at in 0..commands.len() {
        let word = match &commands[at].what {
            What::If { .. } => {
                stack.push(Open { start: at, last: at, ends: Vec::new(), has_else: false });
                continue;
            }
            What::Elif { .. } => "elif",
            What::Else { .. } => "else",
            What::EndIf => "endif",
            _ => continue,
        };
        let Some(open) = stack.last_mut() else {
            faults.push(Unplaced::new(offsets[at], format!("\\{word} without matching \\if")));
            continue;
        };
        if open.has_else && word != "endif" {
            faults.push(Unplaced::new(offsets[at], format!("\\{word} after \\else")));
            continue;
        }
        if !open.has_else {
            go_on(&mut commands[open.last], at);
        }
        match word {
            "elif" => {
                open.last = at;
                open.ends.push(at);
            }
            "else" => {
                open.has_else = true;
                open.ends.push(at);
            }
            _ => {
                for end in &open.ends {
                    end_at(&mut commands[*end], at);
                }
                stack.pop();
            }
        }
    }
    faults.extend(stack.iter().map(|open| Unplaced::new(offsets[open.start], "\\if without matching \\endif")));
    faults
}

fn go_on(command: &mut Command, at: usize) {
    if let What::If { otherwise, .. } | What::Elif { otherwise, .. } = &mut command.what {
        *otherwise = at;
    }
}

fn end_at(command: &mut Command, at: usize) {
    if let What::Elif { end, .. } | What::Else { end } = &mut command.what {
        *end = at;
    }
}
