//! Tables of one test whose columns are the builds: the published columns in plain words, index builds, sizes on disk.

use super::cost::{self, Row, Table};
use super::scene::Scene;
use crate::order::distinct;
use crate::suite::insert::{self, Column};
use crate::{number, rounds};
use rqps_analysis::findings::{TestFindings, TimelineFindings};
use rqps_model::insert::IndexBuild;
use rqps_model::sample::Growth;

/// Statements that built indexes, listed one by one; with many clients there are many.
const BUILDS: usize = 9;

fn round(test: &TestFindings, index: usize) -> Option<&TimelineFindings> {
    rounds::median_round(&test.cells[index])
}

/// The published columns; what is zero on all builds is left out.
pub(super) fn metrics(scene: &Scene<'_>, test: &TestFindings) -> Option<Table> {
    let columns = |index: usize| test.cells[index].columns.as_ref().filter(|_| test.cells[index].throughput.is_some());
    let value = |index: usize, column: &Column| (column.value)(columns(index)?);
    let is_used =
        |column: &&Column| (0..test.cells.len()).any(|at| value(at, column).is_some_and(|value| value != 0.0));
    let row = |column: &Column| {
        let name = format!("{}: {}", column.name, column.title);
        match column.is_share() {
            true => cost::shares(scene, name, |index| value(index, column).map(|percent| percent / 100.0)),
            false => cost::row(scene, name, |index| value(index, column), column.show),
        }
    };
    let rows = insert::COLUMNS.iter().filter(is_used).map(row).collect();
    cost::table(scene, rows).map(|table| table.weighed(scene, test))
}

/// How long the statements took that built indexes, in the round shown.
pub(super) fn index_builds(scene: &Scene<'_>, test: &TestFindings) -> Option<Table> {
    let of = |index: usize| round(test, index).map_or(&[][..], |round| &round.index_builds[..]);
    let builds = scene.base_first().into_iter().flat_map(of);
    let statements = distinct(builds.map(|build| build.sql.as_str()));
    if statements.is_empty() {
        return None;
    }
    let row = |name: &str, is_meant: &dyn Fn(&&IndexBuild) -> bool| {
        let seconds = |index: usize| {
            let meant: Vec<f64> = of(index).iter().filter(is_meant).map(|build| build.seconds).collect();
            (!meant.is_empty()).then(|| meant.iter().sum())
        };
        cost::row(scene, name.to_owned(), seconds, |seconds| format!("{} s", number::significant(seconds, 3)))
    };
    let one = |sql: &&str| row(sql, &|build| build.sql == *sql);
    let all = row("all statements, times added up", &|_| true);
    cost::table(scene, std::iter::once(all).chain(statements.iter().take(BUILDS).map(one)).collect())
}

/// A name and what it names.
type Size = (&'static str, fn(&Growth) -> u64);

/// Database and data folder before and after, in the round shown.
pub(super) fn sizes(scene: &Scene<'_>, test: &TestFindings) -> Option<Table> {
    const SIZES: [Size; 4] = [
        ("Database before", |growth| growth.before.database_bytes),
        ("Database after", |growth| growth.after.database_bytes),
        ("Data folder before", |growth| growth.before.folder_bytes),
        ("Data folder after", |growth| growth.after.folder_bytes),
    ];
    let growth = |index: usize| round(test, index)?.growth;
    let row = |(name, bytes): Size| -> Row {
        cost::row(scene, name.to_owned(), |index| growth(index).map(|growth| bytes(&growth) as f64), number::bytes)
    };
    let is_known = (0..test.cells.len()).any(|index| growth(index).is_some());
    cost::table(scene, if is_known { SIZES.map(row).into() } else { Vec::new() })
}
