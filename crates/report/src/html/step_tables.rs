//! Tables of one step whose columns are the builds: the published columns in plain words, index builds, sizes on disk.

use super::Scene;
use super::cost::{self, Row, Table};
use crate::insert::{self, column};
use crate::number;
use rqps_analysis::findings::{StepFindings, StepRound, TestFindings};
use rqps_model::insert::IndexBuild;

/// Statements that built indexes, listed one by one; with many clients there are many.
const BUILDS: usize = 9;

fn step(test: &TestFindings, index: usize) -> Option<&StepFindings> {
    test.cells[index].step.as_ref()
}

/// The published columns; what is zero on all builds is left out.
pub(super) fn metrics(scene: &Scene<'_>, test: &TestFindings) -> Option<Table> {
    let is_told = |index: &usize| test.cells[*index].throughput.is_some();
    let value =
        |index: usize, column: &column::Column| (column.value)(&step(test, index).filter(|_| is_told(&index))?.metrics);
    let row = |column: &column::Column| {
        let base = value(scene.findings.base, column).filter(|base| *base > 0.0);
        let cells: Vec<_> = scene
            .base_first()
            .into_iter()
            .map(|index| match value(index, column) {
                Some(value) => {
                    let relative = base.filter(|_| index != scene.findings.base).map(|base| value / base);
                    cost::cell((column.show)(value), relative)
                }
                None => cost::empty(),
            })
            .collect();
        Row { name: format!("{}: {}", column.name, column.title), cells }
    };
    let is_used = |column: &&column::Column| {
        scene.base_first().into_iter().any(|index| value(index, column).is_some_and(|value| value != 0.0))
    };
    cost::table(scene, column::ALL.iter().filter(is_used).map(row).collect())
}

/// How long the statements took that built indexes, in the round shown.
pub(super) fn index_builds(scene: &Scene<'_>, test: &TestFindings) -> Option<Table> {
    let round = |index: usize| step(test, index).and_then(insert::median_round);
    let of = |index: usize| round(index).map_or(&[][..], |round| &round.index_builds[..]);
    let mut statements: Vec<&str> = Vec::new();
    for build in scene.base_first().into_iter().flat_map(of) {
        if !statements.contains(&build.sql.as_str()) {
            statements.push(&build.sql);
        }
    }
    let row = |name: String, seconds: &dyn Fn(&[IndexBuild]) -> Option<f64>| {
        let base = seconds(of(scene.findings.base)).filter(|base| *base > 0.0);
        let cell = |index: usize| match seconds(of(index)) {
            Some(seconds) => {
                let relative = base.filter(|_| index != scene.findings.base).map(|base| seconds / base);
                cost::cell(format!("{} s", number::significant(seconds, 3)), relative)
            }
            None => cost::empty(),
        };
        Row { name, cells: scene.base_first().into_iter().map(cell).collect() }
    };
    let all =
        |builds: &[IndexBuild]| (!builds.is_empty()).then(|| builds.iter().map(|build| build.seconds).sum::<f64>());
    let mut rows = Vec::new();
    if !statements.is_empty() {
        rows.push(row("all statements, times added up".to_owned(), &all));
    }
    for sql in statements.into_iter().take(BUILDS) {
        let one = |builds: &[IndexBuild]| builds.iter().find(|build| build.sql == sql).map(|build| build.seconds);
        rows.push(row(sql.to_owned(), &one));
    }
    cost::table(scene, rows)
}

/// Database and data folder before and after, in the round shown.
pub(super) fn sizes(scene: &Scene<'_>, test: &TestFindings) -> Option<Table> {
    let growth = |index: usize| step(test, index).and_then(insert::median_round)?.growth;
    let row = |name: &str, bytes: fn(&rqps_model::sample::Growth) -> Option<u64>| {
        let of = |index: usize| bytes(&growth(index)?).map(|bytes| bytes as f64);
        let base = of(scene.findings.base).filter(|base| *base > 0.0);
        let cell = |index: usize| match of(index) {
            Some(bytes) => {
                let relative = base.filter(|_| index != scene.findings.base).map(|base| bytes / base);
                cost::cell(number::bytes(bytes), relative)
            }
            None => cost::empty(),
        };
        Row { name: name.to_owned(), cells: scene.base_first().into_iter().map(cell).collect() }
    };
    let is_known = scene.base_first().into_iter().any(|index| growth(index).is_some());
    let rows = [
        row("Database before", |growth| Some(growth.before.database_bytes)),
        row("Database after", |growth| Some(growth.after.database_bytes)),
        row("Data folder before", |growth| Some(growth.before.folder_bytes)),
        row("Data folder after", |growth| Some(growth.after.folder_bytes)),
    ];
    cost::table(scene, if is_known { rows.into() } else { Vec::new() })
}

/// Whether some build ran the step more than once.
pub(super) fn has_rounds(test: &TestFindings) -> bool {
    let rounds =
        |step: &StepFindings| -> Vec<u32> { step.rounds.iter().map(|round: &StepRound| round.round).collect() };
    test.cells.iter().filter_map(|cell| cell.step.as_ref()).any(|step| rounds(step).len() > 1)
}
