//! The three published tables on the page: treatments as rows, steps as columns, a sign beside every colour.

use super::Scene;
use crate::order;
use crate::suite::Suite;
use crate::suite::insert::sheet::{self, Entry, Kind, Sheet, Tint};
use rqps_model::counted;
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
    heads: Vec<Head>,
    rows: Vec<Row>,
    /// What the signs mean that occur in it.
    legend: Vec<Key>,
}

#[derive(Serialize)]
struct Head {
    id: String,
    name: String,
}

#[derive(Serialize)]
struct Row {
    name: String,
    is_base: bool,
    is_target: bool,
    cells: Vec<Cell>,
}

#[derive(Serialize)]
struct Cell {
    class: &'static str,
    /// Empty or the sign that says what the colour says.
    sign: &'static str,
    number: String,
    /// The sign in words.
    title: &'static str,
}

#[derive(Serialize)]
struct Key {
    class: &'static str,
    sign: &'static str,
    words: &'static str,
}

pub(super) fn levels(scene: &Scene<'_>) -> Vec<Level> {
    let suite = Suite::of(scene.findings);
    let levels = order::levels(scene.findings);
    let title = |clients: u32| match levels.len() {
        1 => String::new(),
        _ => counted(clients, "client"),
    };
    let tables = |level| suite.sheets(scene.findings, level).iter().map(|sheet| view(scene, sheet)).collect();
    let views = levels.iter().map(|level| Level { title: title(level.clients), tables: tables(level) });
    views.filter(|level| !level.tables.is_empty()).collect()
}

fn view(scene: &Scene<'_>, sheet: &Sheet) -> View {
    let row = |row: &sheet::Row| Row {
        name: row.treatment.map_or_else(|| "target".to_owned(), |index| scene.names[index].clone()),
        is_base: row.treatment == Some(scene.findings.base),
        is_target: row.treatment.is_none(),
        cells: row.entries.iter().map(|entry| cell(sheet.kind, entry)).collect(),
    };
    let tints = [Tint::High, Tint::Low, Tint::Above, Tint::Below, Tint::Missed];
    View {
        title: sheet.kind.title(),
        heads: sheet.steps.iter().map(|(at, name)| Head { id: super::test_id(*at), name: name.clone() }).collect(),
        rows: sheet.rows.iter().map(row).collect(),
        legend: tints.into_iter().filter(|tint| sheet.has(*tint)).map(|tint| key(sheet.kind, tint)).collect(),
    }
}

fn cell(kind: Kind, entry: &Entry) -> Cell {
    let Key { class, sign, words } = key(kind, entry.tint);
    Cell { class, sign, number: entry.number.clone(), title: words }
}

const fn key(kind: Kind, tint: Tint) -> Key {
    let (class, sign, words) = match (tint, kind) {
        (Tint::Plain, _) => ("", "", ""),
        (Tint::High, _) => ("hi", "+", "in the best quarter of the column’s range"),
        (Tint::Low, _) => ("lo", "−", "in the worst quarter of the column’s range"),
        (Tint::Above, _) => ("i2", "↑", "above 1.05"),
        (Tint::Below, _) => ("r2", "↓", "below 0.95"),
        (Tint::Missed, Kind::Background) => ("miss", "*", "below 95 % of the target"),
        (Tint::Missed, _) => {
            ("miss", "*", "measured alongside fewer background inserts than 95 % of the target: does not compare")
        }
    };
    Key { class, sign, words }
}
