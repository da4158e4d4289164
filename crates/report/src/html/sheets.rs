//! The three published tables on the page: treatments as rows, steps as columns, a sign beside every colour.

use super::scene::{Scene, test_id};
use crate::suite::insert::sheet::{self, Kind, Sheet, Tint};
use crate::{order, suite};
use serde::Serialize;

/// The tables at one number of clients; none for other suites.
#[derive(Serialize)]
pub(super) struct Level {
    /// Empty where the campaign has one level only.
    title: String,
    tables: Vec<View>,
}

#[derive(Serialize)]
struct View {
    title: &'static str,
    /// The steps' anchors and names.
    heads: Vec<(String, String)>,
    rows: Vec<Row>,
    /// What the signs mean that occur in it.
    legend: Vec<Key>,
}

#[derive(Serialize)]
struct Row {
    name: String,
    is_base: bool,
    is_target: bool,
    /// Marks and numbers.
    cells: Vec<(Key, String)>,
}

/// A colour, the sign that says the same, and what it means.
#[derive(Serialize)]
struct Key {
    class: &'static str,
    sign: &'static str,
    words: &'static str,
}

pub(super) fn levels(scene: &Scene<'_>) -> Vec<Level> {
    let levels = order::levels(scene.findings);
    let tables = |level| suite::sheets(scene.findings, level).iter().map(|sheet| view(scene, sheet)).collect();
    let views = levels.iter().map(|level| Level { title: scene.level(level.clients), tables: tables(level) });
    views.filter(|level| !level.tables.is_empty()).collect()
}

fn view(scene: &Scene<'_>, sheet: &Sheet) -> View {
    let row = |row: &sheet::Row| Row {
        name: row.treatment.map_or_else(|| "target".to_owned(), |index| scene.names[index].clone()),
        is_base: row.treatment == Some(scene.findings.base),
        is_target: row.treatment.is_none(),
        cells: row.entries.iter().map(|entry| (key(sheet.kind, entry.tint), entry.number.clone())).collect(),
    };
    let tints = [Tint::High, Tint::Low, Tint::Above, Tint::Below, Tint::Missed];
    View {
        title: sheet.kind.title(),
        heads: sheet.steps.iter().map(|(at, name)| (test_id(*at), name.clone())).collect(),
        rows: sheet.rows.iter().map(row).collect(),
        legend: tints.into_iter().filter(|tint| sheet.has(*tint)).map(|tint| key(sheet.kind, tint)).collect(),
    }
}

const fn key(kind: Kind, tint: Tint) -> Key {
    let (class, sign) = match tint {
        Tint::Plain => ("", ""),
        Tint::High => ("hi", "+"),
        Tint::Low => ("lo", "−"),
        Tint::Above => ("i2", tint.sign()),
        Tint::Below => ("r2", tint.sign()),
        Tint::Missed => ("miss", tint.sign()),
    };
    Key { class, sign, words: tint.meaning(kind) }
}
