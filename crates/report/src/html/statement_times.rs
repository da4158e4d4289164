//! How long each kind of statement of a test takes on a build and on the base, and how much of the change is in it.

use super::profile::mark;
use super::scene::Scene;
use crate::number;
use crate::statement_times::{by_share, change};
use rqps_analysis::findings::{StatementTime, TestFindings};
use serde::Serialize;

/// A build's statements beside those of the base.
#[derive(Serialize)]
pub(super) struct StatementTimes {
    /// Whether other builds have some, too.
    is_named: bool,
    name: String,
    base: String,
    /// Those with the largest share of the change first.
    rows: Vec<Row>,
    /// Whether there is a change for them to have shares of.
    has_shares: bool,
}

#[derive(Serialize)]
struct Row {
    statement: String,
    base: String,
    own: String,
    /// Ratio of the means with its interval.
    change: String,
    /// Slower, faster, or no more than chance.
    hue: &'static str,
    glyph: &'static str,
    share: String,
}

pub(super) fn statement_times(scene: &Scene<'_>, test: &TestFindings) -> Vec<StatementTimes> {
    let of = |&index: &usize| {
        let times = by_share(test.cells[index].statement_times.iter());
        (!times.is_empty()).then(|| StatementTimes {
            is_named: scene.others.len() > 1,
            name: scene.names[index].clone(),
            base: scene.names[scene.findings.base].clone(),
            has_shares: times.iter().any(|one| one.share.is_some()),
            rows: times.into_iter().map(row).collect(),
        })
    };
    scene.others.iter().filter_map(of).collect()
}

fn row(one: &StatementTime) -> Row {
    let (hue, glyph) = mark(one.is_sure(), one.us - one.base_us);
    Row {
        statement: one.statement.clone(),
        base: number::duration_us(one.base_us),
        own: number::duration_us(one.us),
        change: change(one),
        hue,
        glyph,
        share: one.share.map_or_else(String::new, share),
    }
}

fn share(share: f64) -> String {
    if share < 0.0 { "against it".to_owned() } else { number::percent((share * 100.0).round() / 100.0) }
}
