//! The matrix tests × builds: relative throughput, coloured by verdict and size, with group medians.

use super::{Scene, shown, shown_cell};
use crate::order::{Block, Level};
use crate::{insert, look, number, order};
use rqps_analysis::findings::{CellFindings, TestFindings};
use serde::Serialize;

/// A matrix at one number of clients.
#[derive(Serialize)]
pub(super) struct Matrix {
    heads: Vec<String>,
    /// Whether heads must stand upright to fit.
    upright: bool,
    blocks: Vec<MatrixBlock>,
}

#[derive(Serialize)]
struct MatrixBlock {
    title: &'static str,
    rows: Vec<Row>,
    /// Empty where no group was judged.
    medians: Vec<Cell>,
}

#[derive(Serialize)]
struct Row {
    name: String,
    id: String,
    base: String,
    cells: Vec<Cell>,
}

/// One cell; `tip` is what a pointer, a finger or the keyboard brings up.
#[derive(Serialize)]
struct Cell {
    class: String,
    glyph: &'static str,
    ratio: String,
    tip: String,
}

/// `None` with a single build to compare: the interval table shows the same and more.
pub(super) fn matrix(scene: &Scene<'_>, level: &Level<'_>) -> Option<Matrix> {
    if scene.others.len() < 2 {
        return None;
    }
    Some(Matrix {
        heads: scene.others.iter().map(|index| scene.names[*index].clone()).collect(),
        upright: scene.others.len() > 5,
        blocks: level.blocks.iter().map(|found| block(scene, level.clients, found)).collect(),
    })
}

fn block(scene: &Scene<'_>, clients: u32, block: &Block<'_>) -> MatrixBlock {
    let row = |(index, test): &(usize, &TestFindings)| Row {
        name: test.name.clone(),
        id: super::test::id(*index),
        base: test.cells[scene.findings.base].throughput.map_or_else(|| number::NONE.to_owned(), number::grouped),
        cells: scene.others.iter().map(|index| cell(scene, test, *index)).collect(),
    };
    let judged = |index: &usize| order::group_of(scene.findings, block.group, clients, *index).is_some();
    let medians = match scene.others.iter().any(judged) {
        true => scene.others.iter().map(|index| median(scene, block, clients, *index)).collect(),
        false => Vec::new(),
    };
    MatrixBlock { medians, title: block.title, rows: block.tests.iter().map(row).collect() }
}

fn cell(scene: &Scene<'_>, test: &TestFindings, index: usize) -> Cell {
    let cell = &test.cells[index];
    let Some(comparison) = &cell.comparison else {
        let tip = format!("{} · {}\n{}", test.name, scene.names[index], absence(cell));
        return Cell { class: "none".to_owned(), glyph: "", ratio: number::NONE.to_owned(), tip };
    };
    Cell {
        class: look::class(comparison),
        glyph: look::glyph(comparison.verdict),
        ratio: format!("{}{}", number::ratio(comparison.rqps), insert::ratio_sign(scene.findings, test, index)),
        tip: tip(scene, test, index),
    }
}

/// Why a cell has no ratio.
pub(super) fn absence(cell: &CellFindings) -> String {
    let warnings = cell.warnings.iter().map(|warning| warning.message.clone());
    std::iter::once("no comparison".to_owned()).chain(warnings).collect::<Vec<_>>().join("\n")
}

/// All that is known about a cell, in a few lines.
pub(super) fn tip(scene: &Scene<'_>, test: &TestFindings, index: usize) -> String {
    let cell = &test.cells[index];
    let (Some(comparison), Some(shown)) = (&cell.comparison, shown_cell(scene, test, index)) else {
        return absence(cell);
    };
    let interval = if shown.is_inside { "interval inside the one round" } else { "95 % interval" };
    let throughput =
        |index: usize| test.cells[index].throughput.map_or_else(|| number::NONE.to_owned(), number::grouped);
    let mut lines = vec![
        format!("{} · {}", test.name, scene.names[index]),
        format!("{} {} {}, {}", shown.glyph, shown.word, shown.ratio, number::change(comparison.rqps)),
        format!("{interval} {}", shown.interval),
        format!("{} → {} {}", throughput(scene.findings.base), throughput(index), test.unit.symbol()),
        format!("{}, MDE {}, q {}", order::plural(u64::from(shown.n), "round"), shown.mde, shown.q),
    ];
    lines.extend(
        (!insert::ratio_sign(scene.findings, test, index).is_empty())
            .then(|| "* background inserts missed their target: does not compare".to_owned()),
    );
    lines.extend(Some(shown.remark).filter(|remark| !remark.is_empty()));
    lines.extend(cell.warnings.iter().map(|warning| format!("! {}", warning.message)));
    lines.join("\n")
}

fn median(scene: &Scene<'_>, block: &Block<'_>, clients: u32, index: usize) -> Cell {
    let Some(group) = order::group_of(scene.findings, block.group, clients, index) else {
        return Cell { class: "none".to_owned(), glyph: "", ratio: number::NONE.to_owned(), tip: String::new() };
    };
    let mut tip = format!(
        "{} · {}\nmedian {} of {}\nmin {}, max {}",
        block.title,
        scene.names[index],
        number::ratio(group.median),
        order::plural(u64::from(group.tests), "test"),
        number::ratio(group.min),
        number::ratio(group.max)
    );
    if let Some(comparison) = &group.comparison {
        let shown = shown(comparison);
        tip.push_str(&format!("\nthe group as a whole: {} {} ({})", shown.glyph, shown.ratio, shown.interval));
    }
    Cell { class: "med".to_owned(), glyph: "", ratio: number::ratio(group.median), tip }
}
