//! The user's own workload without its values.

use crate::literals::statement;
use rqps_model::own::{Own, PerEngine, Values, Work};
use rqps_sql::{Dialect, redact};

/// Hides literals of statements, and what sources of values hold.
pub(super) fn hide(own: &mut Own) {
    for values in own.values.values_mut() {
        match values {
            Values::Csv { text, .. } => text.clear(),
            Values::Query { sql, .. } => hide_in(sql),
            // Of values that were picked from a list only the list could be told.
            Values::Drawn(spec) => (spec.pick, spec.constant) = (None, None),
        }
    }
    for table in &mut own.data.tables {
        table.columns.iter_mut().for_each(|(_, spec)| (spec.pick, spec.constant) = (None, None));
    }
    for (engine, statements) in own.data.session.iter_mut().chain(&mut own.data.finish) {
        statements.iter_mut().for_each(|sql| *sql = statement(sql, *engine));
    }
    for test in &mut own.tests {
        match &mut test.work {
            Work::Steps(steps) => steps.steps.iter_mut().for_each(|step| hide_in(&mut step.sql)),
            Work::Mix(_) => {}
            Work::Pgbench(scripts) => {
                scripts.define.clear();
                for script in &mut scripts.scripts {
                    script.text = redact(&script.text, Dialect::Postgres);
                }
            }
        }
    }
}

/// Hides what variables of scripts are set to, in the command and in the campaign file that repeats it.
pub(super) fn hide_definitions(command_line: &mut [String], campaign_toml: &mut String) {
    const FLAG: &str = "--define";
    let mut is_behind_flag = false;
    for word in command_line {
        let value = word.strip_prefix(FLAG).and_then(|rest| rest.strip_prefix('='));
        let value = value.or(is_behind_flag.then_some(word.as_str()));
        is_behind_flag = word == FLAG;
        if let Some(value) = value {
            let front = &word[..word.len() - value.len()];
            *word = format!("{front}{}=?", value.split('=').next().unwrap_or_default());
        }
    }
    let line = |line: &str| match line.strip_prefix("define = ") {
        Some(values) => format!("define = {}\n", redact(values.trim_end(), Dialect::Mysql)),
        None => line.to_owned(),
    };
    *campaign_toml = campaign_toml.split_inclusive('\n').map(line).collect();
}

fn hide_in(forms: &mut PerEngine<String>) {
    forms.iter_mut().for_each(|(engine, sql)| *sql = statement(sql, *engine));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_variables_are_set_to_is_hidden_and_their_names_stay() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let mut command =
            words(&["rqps", "run", "--define", "a=secret --x secret", "--seed", "7", "--define=b=secret", "--define"]);
        let mut toml = "seed = 7\ndefine = { a1 = \"secret \\\" one\", b = 'secret' }\nname = \"x\"\n".to_owned();
        hide_definitions(&mut command, &mut toml);
        assert_eq!(command, words(&["rqps", "run", "--define", "a=?", "--seed", "7", "--define=b=?", "--define"]));
        assert_eq!(toml, "seed = 7\ndefine = { a1 = ?, b = ? }\nname = \"x\"\n");
    }
}
