//! The functions of a test: a table of those that moved, and the flame graph of both builds.

use super::scene::Scene;
use crate::footnote::begun;
use crate::functions::{absence, change, difference, functions, rolled_up, sampled};
use crate::svg::flame;
use crate::{metric, number, statement_work, syscalls, work};
use rqps_analysis::findings::{Amount, FunctionFindings, PerOperation, ProfileFindings, StatementCount, TestFindings};
use serde::Serialize;

/// A build's functions beside those of the base.
#[derive(Serialize)]
pub(super) struct Profile {
    /// Names this part of the page.
    id: String,
    name: String,
    base: String,
    sampled: String,
    /// The same by file and by process.
    rolled_up: Vec<String>,
    moved: Vec<Row>,
    /// All others together; absent where none moved.
    rest: Option<Row>,
    /// Those that use most time, moved or not.
    largest: Vec<Row>,
    graph: Option<minijinja::Value>,
    warnings: Vec<String>,
}

#[derive(Clone, Default, Serialize)]
pub(super) struct Row {
    name: String,
    base: String,
    own: String,
    /// Difference with its interval.
    change: String,
    /// More, less, or no more than chance.
    hue: &'static str,
    glyph: &'static str,
    /// The difference of the function with all that it calls.
    inclusive: String,
    /// That one of the builds has no code of its own for it; empty where both have.
    absent: String,
}

/// Functions that moved and are listed; the graph has all.
const MOVED: usize = 40;

/// Functions that are listed by their time.
const LARGEST: usize = 40;

pub(super) fn profiles(scene: &Scene<'_>, test: &TestFindings, id: &str) -> Vec<Profile> {
    let of = |&index: &usize| {
        let profile = test.cells[index].profile.as_ref()?;
        let mut largest: Vec<&FunctionFindings> = profile.functions.iter().collect();
        let time = |function: &FunctionFindings| function.amount.base_us.max(function.amount.us);
        largest.sort_by(|a, b| time(b).total_cmp(&time(a)));
        let row = |function: &FunctionFindings| row(profile, function);
        let moved: Vec<Row> = profile.moved().take(MOVED).map(row).collect();
        let rest = || of_amount(format!("everything else ({})", functions(profile.rest_count)), &profile.rest);
        Some(Profile {
            id: format!("{id}f{index}"),
            name: scene.names[index].clone(),
            base: scene.names[scene.findings.base].clone(),
            sampled: sampled(profile, metric::per(scene.findings, test)),
            rolled_up: rolled_up(profile).iter().map(|words| begun(words)).collect(),
            rest: (!moved.is_empty()).then(rest),
            moved,
            largest: largest.into_iter().take(LARGEST).map(row).collect(),
            graph: flame::graph(&profile.graph),
            warnings: profile.warnings.clone(),
        })
    };
    scene.others.iter().filter_map(of).collect()
}

fn row(profile: &ProfileFindings, function: &FunctionFindings) -> Row {
    let with_called = profile.inclusive.iter().find(|other| other.name == function.name);
    let inclusive = with_called.map_or_else(String::new, |found| difference(found.amount.difference_us));
    let absent = absence(function).unwrap_or_default();
    Row { inclusive, absent, ..of_amount(function.name.clone(), &function.amount) }
}

/// More, less, or no more than chance.
pub(super) fn mark(is_sure: bool, difference: f64) -> (&'static str, &'static str) {
    match is_sure {
        false => ("vu", ""),
        true if difference > 0.0 => ("vr", "▲"),
        true => ("vi", "▼"),
    }
}

/// The same of calls.
pub(super) fn of_calls(name: String, amount: &PerOperation) -> Row {
    let (hue, glyph) = mark(amount.is_sure, amount.difference);
    let (base, own) = (syscalls::count(amount.base), syscalls::count(amount.own));
    Row { name, base, own, change: syscalls::change(amount), hue, glyph, ..Row::default() }
}

/// The same of what a statement does.
pub(super) fn of_count(one: &StatementCount) -> Row {
    let (hue, glyph) = mark(one.amount.is_sure, one.amount.difference);
    let [base, own] = [one.amount.base, one.amount.own].map(|amount| work::amount(&one.count, amount, 4));
    Row {
        name: statement_work::name(one),
        base,
        own,
        change: statement_work::change(one),
        hue,
        glyph,
        ..Row::default()
    }
}

pub(super) fn of_amount(name: String, amount: &Amount) -> Row {
    let (hue, glyph) = mark(amount.is_sure, amount.difference_us);
    Row {
        name,
        base: number::duration_us(amount.base_us),
        own: number::duration_us(amount.us),
        change: change(amount),
        hue,
        glyph,
        ..Row::default()
    }
}
