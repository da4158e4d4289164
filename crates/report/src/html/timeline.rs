//! What a test recorded by the second shows beside the ratio: what went wrong, lines over time, response times,
//! columns.

use super::cost::Table;
use super::lanes::{self, Figure};
use super::response::{self, Responses};
use super::scene::Scene;
use super::test_tables as tables;
use crate::footnote::is_of_timeline;
use rqps_analysis::findings::TestFindings;
use serde::Serialize;

/// One test over time.
#[derive(Serialize)]
pub(super) struct Timeline {
    /// Build and its warnings.
    notes: Vec<(String, Vec<String>)>,
    figures: Vec<Figure>,
    server: Vec<Figure>,
    /// Whether lines of other rounds stand behind those shown.
    has_rounds: bool,
    has_stalls: bool,
    has_checkpoints: bool,
    has_vacuums: bool,
    responses: Vec<Responses>,
    metrics: Option<Table>,
    indexes: Option<Table>,
    sizes: Option<Table>,
}

/// `None` for a test without a record by the second.
pub(super) fn timeline(scene: &Scene<'_>, test: &TestFindings) -> Option<Timeline> {
    let rounds = || test.cells.iter().flat_map(|cell| &cell.timelines);
    rounds().next()?;
    let has_mark = |what: &str| rounds().flat_map(|round| &round.marks).any(|mark| mark.what == what);
    let notes = scene.base_first().into_iter().filter_map(|index| {
        let cell = &test.cells[index];
        let warnings = cell.warnings.iter().filter(|warning| is_of_timeline(cell, warning));
        let notes: Vec<String> = warnings.map(|warning| warning.cause.clone()).collect();
        (!notes.is_empty()).then(|| (scene.names[index].clone(), notes))
    });
    Some(Timeline {
        notes: notes.collect(),
        figures: lanes::client(scene, test),
        server: lanes::server(scene, test),
        has_rounds: test.cells.iter().any(|cell| cell.timelines.len() > 1),
        has_stalls: rounds().any(|round| !round.stalls.is_empty()),
        has_checkpoints: has_mark("checkpoint"),
        has_vacuums: has_mark("vacuum"),
        responses: response::responses(scene, test),
        metrics: tables::metrics(scene, test),
        indexes: tables::index_builds(scene, test),
        sizes: tables::sizes(scene, test),
    })
}
