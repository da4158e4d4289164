//! The matrix tests × builds: relative throughput, coloured by verdict and size, with group medians.

use super::scene::{Scene, absence, latency_change, shown, shown_cell, size, test_id, throughput};
use crate::order::{Block, Level};
use crate::rounds;
use crate::{number, order, suite, verdict_style};
use rqps_analysis::findings::{GroupFindings, TestFindings};
use rqps_model::plural;
use serde::Serialize;

/// A matrix at one number of clients.
#[derive(Serialize)]
pub(super) struct Matrix {
    heads: Vec<String>,
    /// Whether heads must stand upright to fit.
    upright: bool,
    /// Whether rows sum up a group.
    has_sums: bool,
    blocks: Vec<MatrixBlock>,
}

#[derive(Serialize)]
struct MatrixBlock {
    title: &'static str,
    rows: Vec<Row>,
    /// What sums up the group: median, smallest, largest, and the group as a whole; empty where it has none.
    sums: Vec<Sum>,
}

#[derive(Serialize)]
struct Sum {
    title: &'static str,
    cells: Vec<Cell>,
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
    /// Verdict and size of the change in percent, for filtering; empty where there is no comparison.
    verdict: &'static str,
    size: String,
}

impl Cell {
    fn without_verdict(class: &str, ratio: String, tip: String) -> Cell {
        Cell { class: class.to_owned(), glyph: "", ratio, tip, verdict: "", size: String::new() }
    }
}

/// `None` with a single build to compare: the interval table shows the same and more.
pub(super) fn matrix(scene: &Scene<'_>, level: &Level<'_>) -> Option<Matrix> {
    if scene.others.len() < 2 {
        return None;
    }
    let blocks: Vec<MatrixBlock> = level.blocks.iter().map(|found| block(scene, level.clients, found)).collect();
    Some(Matrix {
        heads: scene.others.iter().map(|index| scene.names[*index].clone()).collect(),
        upright: scene.others.len() > 5,
        has_sums: blocks.iter().any(|block| !block.sums.is_empty()),
        blocks,
    })
}

fn block(scene: &Scene<'_>, clients: u32, block: &Block<'_>) -> MatrixBlock {
    let row = |(index, test): &(usize, &TestFindings)| Row {
        name: suite::row(scene.findings, test),
        id: test_id(*index),
        base: throughput(&test.cells[scene.findings.base]),
        cells: scene.others.iter().map(|index| cell(scene, test, *index)).collect(),
    };
    MatrixBlock { sums: sums(scene, clients, block), title: block.title, rows: block.tests.iter().map(row).collect() }
}

fn cell(scene: &Scene<'_>, test: &TestFindings, index: usize) -> Cell {
    let cell = &test.cells[index];
    let Some(comparison) = &cell.comparison else {
        let tip = format!("{} · {}\n{}", test.name, scene.names[index], absence(cell));
        return Cell::without_verdict("none", number::NONE.to_owned(), tip);
    };
    Cell {
        class: verdict_style::class(comparison),
        glyph: verdict_style::glyph(comparison.verdict),
        ratio: format!("{}{}", number::ratio(comparison.rqps), rounds::ratio_sign(scene.findings, test, index)),
        tip: tip(scene, test, index),
        verdict: comparison.verdict.name(),
        size: size(comparison),
    }
}

/// All that is known about a cell, in a few lines.
pub(super) fn tip(scene: &Scene<'_>, test: &TestFindings, index: usize) -> String {
    let cell = &test.cells[index];
    let (Some(comparison), Some(shown)) = (&cell.comparison, shown_cell(scene, test, index)) else {
        return absence(cell);
    };
    let interval = if shown.is_inside { "interval inside the one round" } else { "95 % interval" };
    let throughput = |index: usize| throughput(&test.cells[index]);
    let mut lines = vec![
        format!("{} · {}", test.name, scene.names[index]),
        format!("{} {} {}, {}", shown.glyph, shown.word, shown.ratio, number::change(comparison.rqps)),
        format!("{interval} {}", shown.interval),
        format!("{} → {} {}", throughput(scene.findings.base), throughput(index), test.unit.symbol()),
        format!("{}, MDE {}, q {}", plural(shown.n, "round"), shown.mde, shown.q),
    ];
    if scene.findings.is_open_loop() {
        lines.extend(latency_change(test, scene.findings.base, index));
    }
    lines.extend(
        (!rounds::ratio_sign(scene.findings, test, index).is_empty())
            .then(|| "* background inserts missed their target: does not compare".to_owned()),
    );
    lines.extend(Some(shown.remark).filter(|remark| !remark.is_empty()));
    lines.extend(cell.warnings.iter().map(|warning| format!("! {}", warning.cause)));
    lines.join("\n")
}

/// The title of a row, and how its number is taken.
type Taken = (&'static str, fn(&GroupFindings) -> f64);

fn sums(scene: &Scene<'_>, clients: u32, block: &Block<'_>) -> Vec<Sum> {
    const TAKEN: [Taken; 3] = [("median", |g| g.median), ("min", |g| g.min), ("max", |g| g.max)];
    let of = |index: &usize| order::group_of(scene.findings, block.group, clients, *index);
    let groups: Vec<Option<&GroupFindings>> = scene.others.iter().map(of).collect();
    if groups.iter().all(Option::is_none) {
        return Vec::new();
    }
    let tips: Vec<String> =
        scene.others.iter().zip(&groups).map(|(index, g)| tip_of(scene, block, *index, *g)).collect();
    let none = || Cell::without_verdict("", number::NONE.to_owned(), String::new());
    let row = |(title, value): Taken| {
        let cell = |(group, tip): (&Option<&GroupFindings>, &String)| {
            group.map_or_else(none, |group| Cell::without_verdict("", number::ratio(value(group)), tip.clone()))
        };
        Sum { title, cells: groups.iter().zip(&tips).map(cell).collect() }
    };
    let whole = |(group, tip): (&Option<&GroupFindings>, &String)| {
        let comparison = group.and_then(|group| group.comparison.as_ref());
        comparison.map_or_else(none, |comparison| Cell {
            glyph: verdict_style::glyph(comparison.verdict),
            ..Cell::without_verdict(&verdict_style::class(comparison), number::ratio(comparison.rqps), tip.clone())
        })
    };
    let is_judged = groups.iter().flatten().any(|group| group.comparison.is_some());
    let all = is_judged.then(|| Sum { title: "all", cells: groups.iter().zip(&tips).map(whole).collect() });
    TAKEN.map(row).into_iter().chain(all).collect()
}

fn tip_of(scene: &Scene<'_>, block: &Block<'_>, index: usize, group: Option<&GroupFindings>) -> String {
    let Some(group) = group else { return String::new() };
    let mut tip = format!(
        "{} · {}\nmedian {} of {}\nmin {}, max {}",
        block.title,
        scene.names[index],
        number::ratio(group.median),
        plural(group.tests, "test"),
        number::ratio(group.min),
        number::ratio(group.max)
    );
    if let Some(comparison) = &group.comparison {
        let shown = shown(comparison);
        tip.push_str(&format!("\nthe group as a whole: {} {} ({})", shown.glyph, shown.ratio, shown.interval));
        tip.extend((!shown.remark.is_empty()).then(|| format!("\n{}", shown.remark)));
    }
    tip
}
