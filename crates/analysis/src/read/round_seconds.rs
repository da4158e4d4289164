//! What the seconds of a campaign's rounds went to.
//!
//! In: events. Out: the mean of the rounds that were measured in one go. A round that was broken off, and was begun
//! again, is left out, as is one under way.

use rqps_model::{Event, EventKind, RoundSeconds};
use std::collections::BTreeMap;

/// The mean; `None` without a whole round.
pub fn round_seconds(events: &[Event]) -> Option<RoundSeconds> {
    let mut rounds: BTreeMap<u32, (u32, RoundSeconds)> = BTreeMap::new();
    for event in events {
        match &event.kind {
            EventKind::ServersStart { round, .. } => rounds.entry(*round).or_default().0 += 1,
            EventKind::ServersEnd { round, seconds } => {
                let (open, so_far) = rounds.entry(*round).or_default();
                (*open, *so_far) = (open.saturating_sub(1), so_far.and(*seconds));
            }
            _ => {}
        }
    }
    let whole: Vec<RoundSeconds> = rounds.into_values().filter(|(open, _)| *open == 0).map(|(_, all)| all).collect();
    RoundSeconds::mean(&whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_rounds_are_left_out_and_setups_add_up() {
        let event = |kind| Event { at: "2026-11-22T05:12:00Z".to_owned(), kind };
        let start = |round| {
            event(EventKind::ServersStart {
                round,
                rounds: None,
                tests: None,
                clients: Vec::new(),
                treatments: Vec::new(),
            })
        };
        let end = |round, counted| {
            let seconds = RoundSeconds { counted, ..RoundSeconds::default() };
            event(EventKind::ServersEnd { round, seconds })
        };
        let mut events = vec![start(1), end(1, 1.0), start(1), end(1, 2.0), start(2), start(2), end(2, 9.0), start(3)];
        assert_eq!(round_seconds(&events).map(|mean| mean.counted), Some(3.0));
        events.push(end(3, 5.0));
        assert_eq!(round_seconds(&events).map(|mean| mean.counted), Some(4.0));
        assert_eq!(round_seconds(&events[..1]), None);
    }
}
