//! From what sessions were found doing to the waits that gained or lost.
//!
//! In: the rounds that explain a campaign. Out: [`WaitFindings`]. A session that is found in a wait at one of a
//! hundred moments spends a hundredth of its time there. A long wait is met at several moments, so that counts scatter
//! by more than chance, and only rounds show by how much.

use super::estimate::{Counted, Scatter, alone, judged};
use super::pairs::{Pair, pairs, per_operation};
use crate::findings::{Amount, EventFindings, TestFindings, WaitFindings};
use rqps_model::waits::{Doing, Found, WaitFacts, Who};
use rqps_model::{Sample, part};
use rqps_store::{Campaign, SampleFolder, StoreError};
use std::collections::BTreeMap;

/// Sessions that were seen for each client may differ from 1 by so much.
const SESSIONS_OFF: f64 = 0.05;

/// A server that was asked in a round.
struct Asked {
    sample: Sample,
    facts: WaitFacts,
}

impl Asked {
    fn read(found: SampleFolder) -> Result<Option<Asked>, StoreError> {
        let facts: Option<WaitFacts> = found.json(part::WAITS)?;
        Ok(facts.map(|facts| Asked { sample: found.sample, facts }))
    }

    /// Microseconds per operation that a session stands for at one moment.
    fn us_per_moment(&self, test: &TestFindings, is_closed: bool) -> Option<f64> {
        let WaitFacts { moments, counted_ns, .. } = self.facts;
        per_operation(counted_ns as f64 / 1e3 / moments as f64, &self.sample, counted_ns, test, is_closed)
    }

    fn of_sessions(&self) -> impl Iterator<Item = &Found> {
        self.facts.found.iter().filter(|found| found.who == Who::Session)
    }
}

/// What sessions do, in rows that are compared.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Row {
    Idle,
    Running,
    Event { name: String, is_wait: bool },
}

impl Row {
    fn of(found: &Found) -> Row {
        match found.doing {
            Doing::Idle => Row::Idle,
            Doing::Working if found.what.is_empty() => Row::Running,
            Doing::Working | Doing::Waiting => {
                Row::Event { name: found.what.clone(), is_wait: found.doing == Doing::Waiting }
            }
        }
    }
}

/// What the rounds say of two treatments, the base first.
pub(super) fn waits(
    profiles: &[Campaign],
    test: &TestFindings,
    names: [&str; 2],
) -> Result<Option<WaitFindings>, StoreError> {
    let mut rounds: Vec<([f64; 2], [Asked; 2])> = Vec::new();
    for Pair { is_closed, base, own } in pairs(profiles, test, names, Asked::read)? {
        let us = |asked: &Asked| asked.us_per_moment(test, is_closed);
        if let Some((base_us, own_us)) = us(&base).zip(us(&own)) {
            rounds.push(([base_us, own_us], [base, own]));
        }
    }
    Ok((!rounds.is_empty()).then(|| compared(&rounds, names)))
}

fn compared(rounds: &[([f64; 2], [Asked; 2])], names: [&str; 2]) -> WaitFindings {
    let us: Vec<[f64; 2]> = rounds.iter().map(|(us, _)| *us).collect();
    let none = || -> Vec<[Counted; 2]> { us.iter().map(|us| us.map(|us| (0, us))).collect() };
    let mut rows: BTreeMap<Row, Vec<[Counted; 2]>> = BTreeMap::new();
    let mut total = none();
    rows.insert(Row::Running, none());
    rows.insert(Row::Idle, none());
    for (round, (_, asked)) in rounds.iter().enumerate() {
        for (build, asked) in asked.iter().enumerate() {
            for found in asked.of_sessions() {
                rows.entry(Row::of(found)).or_insert_with(none)[round][build].0 += found.count;
                total[round][build].0 += found.count;
            }
        }
    }
    let idle: Amount = alone(&rows.remove(&Row::Idle).unwrap_or_default(), Scatter::Clustered).into();
    let (keys, counts): (Vec<Row>, Vec<Vec<[Counted; 2]>>) = rows.into_iter().unzip();
    let running_at = keys.iter().position(|key| *key == Row::Running);
    let mut running = running_at.map_or_else(Amount::default, |at| alone(&counts[at], Scatter::Clustered).into());
    let mut events = Vec::new();
    let mut mde_us: Option<f64> = None;
    for (at, found) in judged(counts.into_iter(), Scatter::Clustered) {
        match &keys[at] {
            Row::Running => running = found.amount.into(),
            Row::Event { name, is_wait } => {
                mde_us = Some(mde_us.map_or(found.mde, |mde| mde.max(found.mde)));
                let (name, count) = (name.clone(), found.samples);
                events.push(EventFindings { name, is_wait: *is_wait, count, amount: found.amount.into() });
            }
            Row::Idle => {}
        }
    }
    let size = |event: &EventFindings| event.amount.difference_us.abs();
    events.sort_by(|a, b| size(b).total_cmp(&size(a)).then_with(|| a.name.cmp(&b.name)));
    let moments = |build: usize| rounds.iter().map(|(_, asked)| asked[build].facts.moments).sum();
    WaitFindings {
        rounds: rounds.len() as u32,
        base_moments: moments(0),
        moments: moments(1),
        total: alone(&total, Scatter::Clustered).into(),
        events,
        running,
        idle,
        mde_us,
        warnings: (0..2).filter_map(|build| other_sessions(rounds, build, names[build])).collect(),
    }
}

/// Of a build, whether other sessions were seen than those of the clients.
fn other_sessions(rounds: &[([f64; 2], [Asked; 2])], build: usize, name: &str) -> Option<String> {
    let asked = || rounds.iter().map(|(_, asked)| &asked[build]);
    let seen: u64 = asked().flat_map(Asked::of_sessions).map(|found| found.count).sum();
    let due: u64 = asked().map(|asked| asked.facts.moments * u64::from(asked.sample.clients)).sum();
    let share = seen as f64 / due as f64;
    ((share - 1.0).abs() > SESSIONS_OFF)
        .then(|| format!("for each client of {name}, {share:.2} sessions were seen on average"))
}
