//! One meta command.
//!
//! In: the line behind a backslash, with the lines that continue it. Out: the command, or what is wrong with it and
//! where. Targets of conditions are filled in when all commands are known.

use crate::command::{Amount, Sleep, Unit, What, Word};
use crate::expression::Expr;
use crate::fault::Unplaced;
use crate::names::Names;
use crate::statement::Store;
use crate::value::is_space;
use crate::variables::leading_int;

/// What a meta command is.
#[derive(Debug)]
pub(super) enum Meta {
    /// A command of its own.
    Command(What),
    /// `\gset` or `\aset`, part of the statement before.
    Store(Store),
}

/// A word with its offset in the script.
#[derive(Debug, Clone, Copy)]
struct Typed<'a> {
    text: &'a str,
    at: usize,
}

impl Typed<'_> {
    fn fault(self, message: &str) -> Unplaced {
        Unplaced::new(self.at, format!("{message} ({})", self.text))
    }

    fn end(self) -> usize {
        self.at + self.text.len()
    }
}

/// Where a line ends that a backslash at its end continues.
pub(super) fn line_end(source: &str, start: usize) -> usize {
    let newlines = source[start..].match_indices('\n').map(|(found, _)| start + found);
    let is_continued = |end: usize| {
        let line = &source[start..end];
        line.strip_suffix('\r').unwrap_or(line).ends_with('\\')
    };
    newlines.into_iter().find(|end| !is_continued(*end)).unwrap_or(source.len())
}

/// Parses the line from behind the backslash on. A backslash with nothing behind it is no command.
pub(super) fn parse(line: &str, start: usize, names: &mut Names) -> Result<Option<Meta>, Unplaced> {
    let Some(name) = word(line, start) else { return Ok(None) };
    let command = name.text.to_ascii_lowercase();
    let parsed = match command.as_str() {
        "set" => set(line, name, names).map(Meta::Command),
        "if" | "elif" => {
            Expr::parse_from(line, name.end(), names).map(|condition| Meta::Command(condition_of(&command, condition)))
        }
        _ => of_words(&command, name, &words(line, name.end()), names),
    };
    parsed
        .map(Some)
        .map_err(|fault| Unplaced { message: format!("{} in command \"{command}\"", fault.message), ..fault })
}

/// What stands for a part of a condition that could not be parsed.
pub(super) fn in_place_of(line: &str, start: usize) -> Option<What> {
    let command = word(line, start)?.text.to_ascii_lowercase();
    match command.as_str() {
        "if" | "elif" => Some(condition_of(&command, Expr::null())),
        "else" => Some(What::Else { end: 0 }),
        "endif" => Some(What::EndIf),
        _ => None,
    }
}

fn condition_of(command: &str, condition: Expr) -> What {
    match command {
        "if" => What::If { condition, otherwise: 0 },
        _ => What::Elif { condition, otherwise: 0, end: 0 },
    }
}

/// The next word, if the line has one.
fn word(line: &str, from: usize) -> Option<Typed<'_>> {
    let mut at = from;
    loop {
        match line.as_bytes().get(at..)? {
            [] => return None,
            [b'\\', b'\n', ..] => at += 2,
            [b'\\', b'\r', b'\n', ..] => at += 3,
            [byte, ..] if is_space(char::from(*byte)) => at += 1,
            _ => break,
        }
    }
    let rest = &line[at..];
    let text = &rest[..rest.find(is_space).unwrap_or(rest.len())];
    // A backslash at the end of the line continues it and is not of the word.
    let behind = &rest[text.len()..];
    let is_last = behind.starts_with('\n') || behind.starts_with("\r\n");
    let text = if is_last { text.strip_suffix('\\').unwrap_or(text) } else { text };
    Some(Typed { text, at })
}

fn words(line: &str, from: usize) -> Vec<Typed<'_>> {
    std::iter::successors(word(line, from), |last| word(line, last.end())).collect()
}

fn set(line: &str, name: Typed<'_>, names: &mut Names) -> Result<What, Unplaced> {
    let variable = word(line, name.end()).ok_or_else(|| missing(name.end(), "the name of a variable"))?;
    let slot = variable_slot(variable, names)?;
    let expr = Expr::parse_from(line, variable.end(), names)?;
    Ok(What::Set { slot, expr })
}

fn missing(at: usize, what: &str) -> Unplaced {
    Unplaced::new(at, format!("missing argument: {what} is needed here"))
}

fn variable_slot(name: Typed<'_>, names: &mut Names) -> Result<usize, Unplaced> {
    valid(name).map(|()| names.intern(name.text))
}

fn valid(name: Typed<'_>) -> Result<(), Unplaced> {
    if Names::is_valid(name.text) {
        return Ok(());
    }
    Err(name.fault("invalid variable name: it has letters, digits and _, and no digit first"))
}

/// Commands whose arguments are words.
fn of_words(command: &str, name: Typed<'_>, words: &[Typed<'_>], names: &mut Names) -> Result<Meta, Unplaced> {
    let most = match command {
        "else" | "endif" | "startpipeline" | "syncpipeline" | "endpipeline" => 0,
        "gset" | "aset" => 1,
        "sleep" => 2,
        "setrandom" => 5,
        _ => usize::MAX,
    };
    if let Some(word) = words.get(most) {
        return Err(word.fault(if most == 0 { "unexpected argument" } else { "too many arguments" }));
    }
    let what = match command {
        "gset" | "aset" => {
            if let Some(prefix) = words.first() {
                valid(*prefix)?;
            }
            let prefix = words.first().map(|word| word.text.to_owned()).unwrap_or_default();
            return Ok(Meta::Store(Store { prefix, all: command == "aset" }));
        }
        "else" => What::Else { end: 0 },
        "endif" => What::EndIf,
        "startpipeline" => What::StartPipeline,
        "syncpipeline" => What::SyncPipeline,
        "endpipeline" => What::EndPipeline,
        "sleep" => What::Sleep(sleep(name, words, names)?),
        "setrandom" => set_random(name, words, names)?,
        "shell" if words.is_empty() => return Err(Unplaced::new(name.end(), "missing command")),
        "shell" => What::Shell { words: shell_words(words, names)? },
        "setshell" => match words {
            [variable, command @ ..] if !command.is_empty() => {
                let slot = variable_slot(*variable, names)?;
                What::SetShell { slot, words: shell_words(command, names)? }
            }
            _ => return Err(missing(name.end(), "a variable and a command")),
        },
        _ => return Err(name.fault("invalid command")),
    };
    Ok(Meta::Command(what))
}

/// `\sleep 10 ms`, `\sleep 10ms`, `\sleep :v ms`.
fn sleep(name: Typed<'_>, words: &[Typed<'_>], names: &mut Names) -> Result<Sleep, Unplaced> {
    let (first, second) = match words {
        [] => return Err(missing(name.end(), "a time")),
        [first, rest @ ..] => (*first, rest.first().copied()),
    };
    if let Some(variable) = first.text.strip_prefix(':') {
        let slot = variable_slot(Typed { text: variable, at: first.at + 1 }, names)?;
        return Ok(Sleep { amount: Amount::Variable(slot), unit: unit(second)? });
    }
    let signed = first.text.len() - first.text.trim_start_matches(['+', '-']).len();
    let digits = first.text.bytes().skip(signed.min(1)).take_while(u8::is_ascii_digit).count();
    let (number, rest) = first.text.split_at(signed.min(1) + digits);
    let glued = (!rest.is_empty()).then(|| Typed { text: rest, at: first.at + number.len() });
    if digits == 0 || rest.starts_with('.') || (glued.is_some() && second.is_some()) {
        return Err(first.fault("invalid sleep time, must be an integer; smaller units are ms and us"));
    }
    Ok(Sleep { amount: Amount::Constant(leading_int(number.as_bytes())), unit: unit(glued.or(second))? })
}

fn unit(word: Option<Typed<'_>>) -> Result<Unit, Unplaced> {
    let Some(word) = word else { return Ok(Unit::Seconds) };
    let units = [("us", Unit::Microseconds), ("ms", Unit::Milliseconds), ("s", Unit::Seconds)];
    let found = units.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(word.text));
    found.map(|(_, unit)| unit).ok_or_else(|| word.fault("unrecognized time unit, must be us, ms or s"))
}

fn shell_words(words: &[Typed<'_>], names: &mut Names) -> Result<Vec<Word>, Unplaced> {
    let word = |word: &Typed<'_>| match word.text.strip_prefix(':') {
        None => Ok(Word::Text(word.text.to_owned())),
        Some(literal) if literal.starts_with(':') => Ok(Word::Text(literal.to_owned())),
        Some(variable) => variable_slot(Typed { text: variable, at: word.at + 1 }, names).map(Word::Variable),
    };
    words.iter().map(word).collect()
}

/// `\setrandom v 1 10 gaussian 2.5`, which pgbench had until 9.5: a function has taken its place.
fn set_random(name: Typed<'_>, words: &[Typed<'_>], names: &mut Names) -> Result<What, Unplaced> {
    let [variable, low, high, rest @ ..] = words else {
        return Err(missing(name.end(), "a variable with its smallest and its largest value"));
    };
    let slot = variable_slot(*variable, names)?;
    let (function, parameter) = match rest {
        [] => ("random", None),
        [distribution] if distribution.text.eq_ignore_ascii_case("uniform") => ("random", None),
        [distribution, parameter] if distribution.text.eq_ignore_ascii_case("gaussian") => {
            ("random_gaussian", Some(*parameter))
        }
        [distribution, parameter] if distribution.text.eq_ignore_ascii_case("exponential") => {
            ("random_exponential", Some(*parameter))
        }
        [distribution, ..] => {
            return Err(distribution.fault("it ends here, or with uniform, gaussian NUMBER or exponential NUMBER"));
        }
    };
    let mut call = format!("{function}({}, {}", operand(*low)?, operand(*high)?);
    if let Some(parameter) = parameter {
        call.push_str(", ");
        call.push_str(operand(parameter)?);
    }
    call.push(')');
    let expr = Expr::parse_from(&call, 0, names).map_err(|fault| Unplaced { offset: low.at, ..fault })?;
    Ok(What::Set { slot, expr })
}

/// A word that is a number or a variable, and no other expression.
fn operand(word: Typed<'_>) -> Result<&str, Unplaced> {
    let is_variable = word.text.strip_prefix(':').is_some_and(Names::is_valid);
    let is_number = word.text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.".contains(&byte))
        && word.text.parse::<f64>().is_ok();
    if is_variable || is_number { Ok(word.text) } else { Err(word.fault("a number or a variable is needed here")) }
}
