//! Throughput over clients on the page, and from how many clients on one build is ahead of another.

use super::scene::Scene;
use crate::svg::{Plot, users};
use crate::{crossing, order, suite};
use serde::Serialize;

/// The pictures; none where the suite has none, or all tests ran at one number of clients.
#[derive(Serialize)]
pub(super) struct Users {
    figures: Vec<Figure>,
    /// Treatments: place, name and colour.
    builds: Vec<(usize, String, String)>,
    /// Who is ahead from how many clients on.
    crossings: Vec<String>,
}

#[derive(Serialize)]
struct Figure {
    title: String,
    plot: Plot,
}

pub(super) fn users(scene: &Scene<'_>) -> Option<Users> {
    let findings = scene.findings;
    if !suite::has_users(findings) {
        return None;
    }
    let named = order::grouped(findings.tests.iter().map(|test| (test.name.clone(), test)));
    let figure = |(title, levels): (String, Vec<_>)| {
        let plot = users::plot(&levels, findings.base, &scene.colours, suite::unit(findings))?;
        Some(Figure { title, plot })
    };
    let figures: Vec<Figure> = named.into_iter().filter_map(figure).collect();
    let build = |index: usize| (index, scene.names[index].clone(), scene.colours[index].clone());
    let told = |index: usize| {
        let told = crossing::of(findings, index).into_iter();
        told.map(|told| format!("{}: {told}", scene.names[index])).collect::<Vec<_>>()
    };
    let builds = scene.base_first().into_iter().map(build).collect();
    let crossings = scene.others.iter().flat_map(|index| told(*index)).collect();
    (!figures.is_empty()).then_some(Users { figures, builds, crossings })
}
