//! How many rounds a campaign has: those of its plan, or as many as fit in the time that it was given.
//!
//! In: a results folder, and the time where a process measures it now. Out: a number of rounds. Time counts while the
//! campaign is measured, over all its starts; between them it stands still. Reads no clock: time is an argument.

use crate::eta::TimeSpent;
use crate::missing::round_of;
use crate::walk::Block;
use rqps_model::plan::TimeLimit;
use rqps_model::{Event, EventKind};
use rqps_observe::clock::moment;
use rqps_store::{Campaign, State, StoreError};
use std::collections::BTreeMap;
use std::time::SystemTime;

/// Rounds that a campaign has, or is expected to have in the end. `now` is the time where it is being measured.
///
/// Where a time is given, the rounds that began are finished whatever it takes; another one begins if it is expected
/// to fit, by what those before it took. Where that time is divided it depends on what the next one measures, and this
/// is an expectation only.
pub fn rounds(campaign: &Campaign, now: Option<SystemTime>) -> u32 {
    let plan = campaign.plan();
    let (Some(limit), Ok(events)) = (plan.time, campaign.events()) else { return campaign.rounds() };
    let begun = campaign.rounds_begun();
    let under_way = (begun > 0 && !is_whole(campaign, begun)).then_some(begun);
    match Measured::of(&starts(campaign), &events, now).rounds_more(limit, under_way) {
        None => plan.rounds.max(begun),
        Some(more) => begun.saturating_add(more).min(limit.rounds_max),
    }
}

/// The same where it does not depend on results; `None` where it does, until the campaign is complete.
pub fn rounds_in_all(campaign: &Campaign, now: Option<SystemTime>) -> Option<u32> {
    match (campaign.status().state, campaign.plan().division()) {
        (State::Complete, _) => Some(campaign.rounds()),
        (State::Incomplete, None) => Some(rounds(campaign, now)),
        (State::Incomplete, Some(_)) => None,
    }
}

/// The highest round that may begin now. Where results decide what a round measures, they also decide whether it begins
/// at all.
pub fn rounds_due(campaign: &Campaign, now: Option<SystemTime>) -> u32 {
    match campaign.plan().division() {
        Some(_) => campaign.rounds_begun().saturating_add(1).min(campaign.plan().rounds_max()),
        None => rounds(campaign, now),
    }
}

/// The time limit, in seconds, of a campaign that is given `more` of them.
///
/// # Errors
/// Where its events cannot be read.
pub fn extended_limit(campaign: &Campaign, more: f64) -> Result<f64, StoreError> {
    // What was spent is spent: only what is added may be a little late.
    Ok(Measured::of(&starts(campaign), &campaign.events()?, None).all / (1.0 + TimeLimit::LATE_PART) + more)
}

/// The least that a campaign must be given, in seconds, for a round more: its data are loaded anew, as long as when it
/// was begun, and the round takes as long as those before it.
///
/// # Errors
/// Where its events cannot be read.
pub fn shortest_extension(campaign: &Campaign) -> Result<f64, StoreError> {
    let measured = Measured::of(&starts(campaign), &campaign.events()?, None);
    let round = measured.of_a_round(campaign.plan().division().is_some()).unwrap_or(0.0);
    Ok((measured.loading + round) / (1.0 + TimeLimit::LATE_PART))
}

/// The share of its time that a campaign has spent, where it has one. `now` is the time where it is being measured.
pub fn share_spent(campaign: &Campaign, now: Option<SystemTime>) -> Option<f64> {
    let (limit, events) = (campaign.plan().time?, campaign.events().ok()?);
    // With the part that may be late: the last round begins before all is spent.
    Some((Measured::of(&starts(campaign), &events, now).all / limit.latest_end()).min(1.0))
}

/// What a campaign has spent of the time that it was given, where that says better than its rounds what is left: before
/// one is whole, and where tests are left out or get more seconds, so that no round takes as long as another. The time
/// ends with the last round that is wanted, if that comes first.
pub(crate) fn time_spent(campaign: &Campaign, now: Option<SystemTime>) -> Option<TimeSpent> {
    let (plan, events) = (campaign.plan(), campaign.events().ok()?);
    let limit = plan.time?;
    let begun = campaign.rounds_begun();
    let under_way = (begun > 0 && !is_whole(campaign, begun)).then_some(begun);
    let measured = Measured::of(&starts(campaign), &events, now);
    let spent_s = measured.all;
    let limit_s = match (limit.division, measured.seconds_of_rounds(limit, begun, under_way)) {
        (None, Some(_)) => return None,
        // As many rounds as are wanted are expected to fit, and what they take is not known yet.
        (_, None) if limit.rounds_max <= plan.rounds => return None,
        (_, None) => limit.seconds,
        (Some(_), Some(left)) => limit.seconds.min(spent_s + left),
    };
    Some(TimeSpent { spent_s, limit_s })
}

/// Seconds that are left at most of a campaign's time, where that says it better than its rounds. `now` is the time
/// where it is being measured.
pub fn time_left(campaign: &Campaign, now: Option<SystemTime>) -> Option<f64> {
    time_spent(campaign, now).map(|time| time.left_s(0.0))
}

fn starts(campaign: &Campaign) -> Vec<SystemTime> {
    campaign.status().starts.iter().filter_map(|start| moment(&start.at)).collect()
}

/// Whether every sample of a round is there.
fn is_whole(campaign: &Campaign, number: u32) -> bool {
    let round = round_of(campaign, number);
    Block::all(campaign.plan(), &round).iter().all(|block| {
        let mut measured = block.samples().filter(|(_, test)| round.measures(&test.name));
        measured.all(|(treatment, test)| campaign.is_complete(number, &treatment.name, &test.name, block.clients))
    })
}

/// Seconds that a campaign was measured.
#[derive(Debug, Default, PartialEq)]
struct Measured {
    all: f64,
    /// From a start to its first round, at most.
    loading: f64,
    by_round: BTreeMap<u32, f64>,
}

impl Measured {
    /// What lies between two events of one start belongs to the round under way.
    fn of(starts: &[SystemTime], events: &[Event], now: Option<SystemTime>) -> Measured {
        let mut measured = Measured::default();
        let (mut last, mut round, mut started) = (None, None, 0);
        let mut before_rounds = 0.0;
        let marks = events.iter().filter_map(|event| Some((moment(&event.at)?, round_of_event(&event.kind))));
        for (at, of_event) in marks.chain(now.map(|now| (now, None))) {
            // The first event of a start comes some time after it, and long after the last one of the start before.
            let begun = starts.iter().filter(|start| **start <= at).count();
            if begun > started {
                (last, round, started, before_rounds) = (Some(starts[begun - 1]), None, begun, 0.0);
            }
            let since = last.and_then(|last: SystemTime| at.duration_since(last).ok()).unwrap_or_default();
            let seconds = since.as_secs_f64();
            measured.all += seconds;
            match round {
                Some(round) => *measured.by_round.entry(round).or_default() += seconds,
                None => before_rounds += seconds,
            }
            if round.is_none() && of_event.is_some() {
                measured.loading = measured.loading.max(before_rounds);
            }
            (last, round) = (Some(at), of_event.or(round));
        }
        measured
    }

    /// What a round takes; `None` before one was whole. Where tests are left out, rounds become shorter, and the last
    /// one is the best guess.
    fn of_a_round(&self, is_divided: bool) -> Option<f64> {
        let alike = if is_divided { 1 } else { self.by_round.len() };
        let all = self.by_round.values().rev().take(alike).sum::<f64>();
        (!self.by_round.is_empty()).then(|| all / alike as f64)
    }

    /// What the rounds take that are left at most, so many of which began, the last of them perhaps under way; `None`
    /// before one was whole.
    fn seconds_of_rounds(mut self, limit: TimeLimit, begun: u32, under_way: Option<u32>) -> Option<f64> {
        let part = under_way.and_then(|round| self.by_round.remove(&round));
        let one = self.of_a_round(limit.division.is_some())?;
        let rest = part.map_or(0.0, |part| (one - part).max(0.0));
        Some(f64::from(limit.rounds_max.saturating_sub(begun)) * one + rest)
    }

    /// How many rounds fit after those that began, the last of which may be under way; `None` before one was whole.
    fn rounds_more(mut self, limit: TimeLimit, under_way: Option<u32>) -> Option<u32> {
        let part = under_way.and_then(|round| self.by_round.remove(&round));
        let one = self.of_a_round(limit.division.is_some())?.max(f64::MIN_POSITIVE);
        // What is under way takes as long as the others.
        let spent = self.all + part.map_or(0.0, |part| (one - part).max(0.0));
        Some(((limit.latest_end() - spent) / one).clamp(0.0, f64::from(limit.rounds_max)) as u32)
    }
}

/// The round that an event belongs to.
fn round_of_event(kind: &EventKind) -> Option<u32> {
    match kind {
        EventKind::ServersStart { round, .. } | EventKind::ServersEnd { round, .. } => Some(*round),
        EventKind::TestBegins { place, .. } | EventKind::TestEnded { place, .. } => Some(place.round),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
