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

fn hide_in(forms: &mut PerEngine<String>) {
    forms.iter_mut().for_each(|(engine, sql)| *sql = statement(sql, *engine));
}
