//! A first workload file of the statements that were chosen, and the CSVs of their values.
//!
//! In: a [`Choice`]. Out: texts, with the names of their files. It writes no file.

use crate::choice::{Choice, Statement};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Calls are foretold for a day from no less than this.
const SECONDS_MIN: f64 = 60.0;

const DAY_SECONDS: f64 = 86_400.0;

/// The weight of the most frequent test in the mix.
const WEIGHT_MAX: f64 = 1000.0;

/// Files of a workload, by their paths from the folder of the first.
#[derive(Debug)]
pub struct Workload {
    /// The workload file's text.
    pub toml: String,
    /// Files of values by name.
    pub values: BTreeMap<String, Vec<u8>>,
}

/// Writes a workload of this name; `from` says where its statements are from, `folder` where CSVs will be.
pub fn write(choice: &Choice, name: &str, from: &str, folder: &str) -> Workload {
    let mut toml = head(choice, name, from);
    let mut values = BTreeMap::new();
    let mut unknown: BTreeMap<&str, (&str, Option<&str>)> = BTreeMap::new();
    let mut sources = String::new();
    for statement in &choice.statements {
        for one in &statement.unknown {
            unknown.insert(&one.name, (&one.what, one.query.as_deref()));
        }
        if !statement.columns.is_empty() {
            let path = format!("{folder}/{}.csv", statement.name);
            let numbers: Vec<String> =
                statement.columns.iter().filter(|column| column.is_number).map(|column| quoted(&column.name)).collect();
            let numbers = match numbers.is_empty() {
                true => String::new(),
                false => format!(", numbers = [{}]", numbers.join(", ")),
            };
            _ = writeln!(sources, "{} = {{ csv = {}{numbers} }}", statement.source, quoted(&path));
            values.insert(path, csv(statement));
        }
    }
    for (name, (what, query)) in unknown {
        let hint = query.map(|query| format!("   # perhaps {{ query = {} }}", quoted(query))).unwrap_or_default();
        _ = writeln!(sources, "{name} = {{ todo = {} }}{hint}", quoted(what));
    }
    if !sources.is_empty() {
        toml.push_str("\n[values]\n");
        toml.push_str(&sources);
    }
    for (rank, statement) in (1..).zip(&choice.statements) {
        toml.push_str(&test(rank, statement, choice));
    }
    toml.push_str(&mix(&choice.statements));
    Workload { toml, values }
}

fn head(choice: &Choice, name: &str, from: &str) -> String {
    let covered: f64 = choice.statements.iter().map(|statement| statement.share).sum();
    let mut text = format!("# From {}: {} of {} statements,\n", one_line(from), choice.statements.len(), choice.of);
    let what = if choice.milliseconds > 0.0 { "the time" } else { "all calls" };
    _ = writeln!(text, "# {:.1} % of {what}. Left out:", covered * 100.0);
    for left in &choice.left_out {
        _ = writeln!(text, "#   {:5.1} %  {}", left.share * 100.0, left.why.name());
    }
    if choice.left_out.is_empty() {
        text.push_str("#   nothing\n");
    }
    text.push_str("# docs/own-suite.md says what each key does.\n\n");
    _ = writeln!(text, "format = 1\nname = {}\n\n[data]", quoted(name));
    text.push_str("# Name a dump here, as pg_dump or mysqldump writes it.\ndump = \"todo.sql.gz\"\n");
    text
}

fn test(rank: usize, statement: &Statement, choice: &Choice) -> String {
    let Statement { calls, milliseconds, .. } = statement;
    let word = if *calls == 1.0 { "call" } else { "calls" };
    let mut text = format!("\n# {rank}: {:.1} %, {} {word}", statement.share * 100.0, number(*calls));
    if *milliseconds > 0.0 {
        _ = write!(text, " of {} ms", number(milliseconds / calls));
    }
    text.push('\n');
    statement.notes.iter().for_each(|note| _ = writeln!(text, "# {note}"));
    _ = writeln!(text, "[[test]]\nname = {}\nsql = {}", quoted(&statement.name), quoted_sql(&statement.sql));
    if statement.is_text {
        text.push_str("protocol = \"simple\"\n");
    }
    if let Some(seconds) = choice.seconds.filter(|seconds| *seconds >= SECONDS_MIN) {
        _ = writeln!(text, "calls = {}", number(calls * DAY_SECONDS / seconds));
    }
    text
}

/// All tests by their calls.
fn mix(statements: &[Statement]) -> String {
    if statements.len() < 2 {
        return String::new();
    }
    let most = statements.iter().map(|statement| statement.calls).fold(0.0, f64::max);
    let weight = |statement: &Statement| (statement.calls / most * WEIGHT_MAX).round().max(1.0);
    let mut text = "\n# All of them, as often as the server did them.\n[[test]]\nname = \"mix\"\n".to_owned();
    let calls =
        |is_text: bool| statements.iter().filter(|one| one.is_text == is_text).map(|one| one.calls).sum::<f64>();
    if calls(true) > calls(false) {
        text.push_str("protocol = \"simple\"\n");
    }
    text.push_str("\n[test.mix]\n");
    for statement in statements {
        _ = writeln!(text, "{} = {}", key(&statement.name), weight(statement));
    }
    text
}

/// The values of a statement. NULL is `\N`.
fn csv(statement: &Statement) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let header = statement.columns.iter().map(|column| column.name.as_str());
    writer.write_record(header).expect("memory takes every record");
    for row in &statement.rows {
        writer.write_record(row.iter().map(|value| value.as_deref().unwrap_or("\\N"))).expect("as many as the header");
    }
    writer.into_inner().expect("memory takes every byte")
}

/// A number, whole where its digits behind the point say little.
fn number(value: f64) -> String {
    match value {
        value if value == value.round() || value >= 100.0 => format!("{value:.0}"),
        value => {
            let digits = (2.0 - value.log10()).ceil().clamp(2.0, 12.0) as usize;
            format!("{value:.digits$}").trim_end_matches('0').trim_end_matches('.').to_owned()
        }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A key of TOML; test names have points at times.
fn key(name: &str) -> String {
    let is_bare = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    if is_bare { name.to_owned() } else { quoted(name) }
}

/// A text of TOML on one line.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            control if control.is_control() => _ = write!(out, "\\u{:04X}", u32::from(control)),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

/// A statement as TOML, as readable as it can be.
fn quoted_sql(sql: &str) -> String {
    let is_plain = !sql.chars().any(|letter| letter.is_control() && letter != '\n' && letter != '\t');
    let needs_escape = sql.contains(['"', '\\']);
    match (is_plain, sql.contains('\n'), needs_escape) {
        (true, false, false) => format!("\"{sql}\""),
        (true, true, false) => format!("\"\"\"\n{sql}\"\"\""),
        (true, ..) if !sql.contains("'''") && !sql.ends_with('\'') => format!("'''\n{sql}'''"),
        _ => quoted(sql),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_is_read_back_as_it_was() {
        for sql in [
            "SELECT 1",
            "SELECT\n  1",
            "SELECT \"a\"",
            "SELECT 'a\\b'",
            "SELECT \"a\" = 'x'",
            "a'''\"",
            "x\r\ny\t\u{1}",
            "'''",
            "SELECT \"a\"\nFROM t",
            "\n leading",
            "é",
        ] {
            for written in [quoted_sql(sql), quoted(sql)] {
                let table: toml::Table = format!("sql = {written}\n").parse().expect("TOML");
                assert_eq!(table["sql"].as_str(), Some(sql), "{written}");
            }
        }
    }

    #[test]
    fn numbers_have_as_many_digits_as_say_something() {
        for (value, expected) in [
            (0.0, "0"),
            (1234.0, "1234"),
            (1234.5, "1234"),
            (12.345, "12.35"),
            (1.5, "1.5"),
            (1.999, "2"),
            (0.5, "0.5"),
            (0.01234, "0.0123"),
            (3.0, "3"),
        ] {
            assert_eq!(number(value), expected);
        }
    }
}
