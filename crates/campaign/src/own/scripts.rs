//! pgbench scripts: files, or the scripts that are built into pgbench.
//!
//! In: words such as `pay.sql@3` and `tpcb-like`. Out: their texts with their weights, once each can be read as a
//! script.

use super::choices::{Choices, Files, usual_check};
use crate::diagnostic::{Fault, Faults};
use crate::place::{Place, Source, Spanned};
use rqps_model::own::{Own, OwnData, OwnTest, Protocol, ScriptText, Scripts, Work};
use rqps_pgbench::{BUILTINS, Builtin, Names, Script, What, weighted};
use std::collections::BTreeMap;
use std::path::Path;

/// A workload of scripts alone: each is a test, and where there are several their mix is one more.
pub(super) fn read(from: &[Spanned<String>], choices: &Choices, files: &dyn Files, faults: &mut Faults) -> Option<Own> {
    let scale = choices.scale.unwrap_or(1);
    let protocol = choices.protocol.as_ref().map_or(Protocol::Prepared, |protocol| protocol.value);
    let all = scripts(from, (Path::new(""), scale, protocol), choices, files, faults)?;
    let of = |scripts: Vec<ScriptText>| Scripts { pauses: scripts.iter().any(pauses), scripts, ..all.clone() };
    let mut tests: Vec<(String, Scripts)> = Vec::new();
    for script in &all.scripts {
        let plain =
            Path::new(&script.name).file_stem().map_or(script.name.clone(), |name| name.to_string_lossy().into());
        let taken = tests.iter().filter(|(name, _)| *name == plain).count();
        let name = if taken > 0 { format!("{plain}.{}", tests.len() + 1) } else { plain };
        tests.push((name, of(vec![ScriptText { weight: 1, ..script.clone() }])));
    }
    if all.scripts.len() > 1 {
        tests.push(("mix".to_owned(), all.clone()));
    }
    let name = tests.first().map_or_else(String::new, |(name, _)| name.clone());
    let test = |(name, scripts): (String, Scripts)| OwnTest {
        writes: write(&scripts),
        max_tries: choices.max_tries,
        ..OwnTest::new(name, Work::Pgbench(scripts), protocol)
    };
    Some(Own {
        name,
        data: OwnData { pgbench_scale: Some(scale), ..OwnData::default() },
        values: BTreeMap::new(),
        tests: tests.into_iter().map(test).collect(),
        answers: usual_check(),
    })
}

/// Scripts by name, each read and checked, with the folder where relative paths begin, scale and protocol.
pub(super) fn scripts(
    words: &[Spanned<String>],
    (folder, scale, protocol): (&Path, u32, Protocol),
    choices: &Choices,
    files: &dyn Files,
    faults: &mut Faults,
) -> Option<Scripts> {
    let errors = faults.errors();
    if let (Some(engine), Some(word)) = (choices.without_extended(), words.first()) {
        let fault = Fault::error(format!("pgbench scripts run on PostgreSQL, not on {}", engine.title()));
        faults.add(&word.place, fault.help("write their statements as tests of a workload file"));
    }
    let mut scripts = Vec::new();
    for word in words {
        let (name, weight) = match weighted(&word.value) {
            Ok(parts) => parts,
            Err(why) => {
                faults.add(&word.place, Fault::error(why.to_string()));
                continue;
            }
        };
        let text = match (Builtin::find(name), Path::new(name).extension()) {
            (Ok(script), None) => Ok(script.text.to_owned()),
            _ => files.read(&folder.join(name)).and_then(|bytes| String::from_utf8(bytes).map_err(|e| e.to_string())),
        };
        match text {
            Ok(text) => {
                check(name, &text, (protocol, choices.allow_shell), faults);
                scripts.push(ScriptText { name: name.to_owned(), weight, text });
            }
            Err(why) => {
                let fault = Fault::error(format!("the script `{name}` cannot be read: {why}"));
                let help = format!("name a file, or one of {}", BUILTINS.map(|builtin| builtin.name).join(", "));
                faults.add(&word.place, fault.help(help));
            }
        }
    }
    if scripts.iter().all(|script| script.weight == 0) && faults.errors() == errors {
        let fault = Fault::error("no script has a weight above 0");
        faults.add(&words.first().map_or(Place::Request, |word| word.place.clone()), fault);
    }
    let define = choices.define.iter().cloned().collect();
    let (pauses, allow_shell) = (scripts.iter().any(pauses), choices.allow_shell);
    (faults.errors() == errors).then_some(Scripts { scripts, scale, define, pauses, allow_shell })
}

/// Whether a client sleeps or runs commands in a script.
fn pauses(script: &ScriptText) -> bool {
    Script::parse(&script.name, &script.text, &mut Names::new()).is_ok_and(|script| script.pauses())
}

/// Finds fault with a script where it stands in its file.
fn check(name: &str, text: &str, (protocol, allow_shell): (Protocol, bool), faults: &mut Faults) {
    let mut own = Faults::new(Some(Source::new(name, text.as_bytes())));
    match Script::parse(name, text, &mut Names::new()) {
        Err(found) => {
            for fault in found {
                let at = byte_of(text, fault.line, fault.column);
                own.add(&Place::Text(at..at + 1), Fault::error(fault.message));
            }
        }
        Ok(script) => {
            for command in &script.commands {
                let at = byte_of(text, command.line, 1);
                if let Some((why, help)) = cannot_run(&command.what, protocol, allow_shell) {
                    own.add(&Place::Text(at..at + 1), Fault::error(why).help(help));
                }
            }
        }
    }
    faults.append(own);
}

/// Why a command is not run here, if it is not, and what to do about it.
fn cannot_run(what: &What, protocol: Protocol, allow_shell: bool) -> Option<(&'static str, &'static str)> {
    match what {
        What::Shell { .. } | What::SetShell { .. } if !allow_shell => {
            Some(("the script runs a command of the shell", "allow it with `allow-shell`, if you know the script"))
        }
        What::StartPipeline if protocol == Protocol::Simple => {
            Some(("statements that are sent as text cannot be sent in a pipeline", "use protocol extended or prepared"))
        }
        _ => None,
    }
}

/// Whether some statement of a script changes data.
pub(super) fn write(scripts: &Scripts) -> bool {
    let writes = |script: &ScriptText| {
        let Ok(parsed) = Script::parse(&script.name, &script.text, &mut Names::new()) else { return false };
        parsed.commands.iter().any(|command| match &command.what {
            What::Sql(sql) => !rqps_sql::is_read(sql.text(), rqps_sql::Dialect::Postgres),
            _ => false,
        })
    };
    scripts.scripts.iter().any(writes)
}

/// Where line and column, counted from 1, are in a text.
fn byte_of(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let rest = &text[start.min(text.len())..];
    start + rest.char_indices().nth(column.saturating_sub(1)).map_or(0, |(at, _)| at)
}
