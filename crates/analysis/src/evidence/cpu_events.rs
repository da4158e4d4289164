//! What the CPU counted in servers → amounts, and for which part of the time they were counted.
//!
//! In: the events of a sample. Out: numbers by event and by where the server was. They span the time from the start of
//! the clients to the end of what is counted, as the server's CPU time does, so that cycles and CPU time are of the
//! same statements.

use crate::read::measured::Measured;
use rqps_model::cpu_events::{CpuEvents, EventCount, EventCounts};
use std::collections::{BTreeMap, BTreeSet};

/// Where the server was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum At {
    /// In its own code.
    User,
    /// In the kernel.
    Kernel,
    /// In either: known where both are.
    Anywhere,
}

/// How often an event happened, scaled to all of the time.
pub(crate) fn amount(events: &CpuEvents, event: &str, at: At) -> Option<f64> {
    parts(events, event, at)?.into_iter().map(EventCount::scaled).sum()
}

/// Cycles, the instructions of the same code, and for which part of the time they were counted: of all code where the
/// kernel's is known.
pub(crate) fn cycles_and_instructions(events: &CpuEvents) -> Option<(f64, f64, f64)> {
    let found = |at| {
        let [cycles, instructions] = ["cycles", "instructions"].map(|event| amount(events, event, at));
        Some((cycles?, instructions?, share(events, "cycles", at)?))
    };
    found(At::Anywhere).or_else(|| found(At::User)).filter(|(_, instructions, _)| *instructions > 0.0)
}

/// For which part of the time an event was counted; of several counts the least.
pub(crate) fn share(events: &CpuEvents, event: &str, at: At) -> Option<f64> {
    parts(events, event, at)?.into_iter().filter_map(EventCount::share).reduce(f64::min)
}

fn parts(events: &CpuEvents, event: &str, at: At) -> Option<Vec<EventCount>> {
    let EventCounts { user, kernel } = *events.counted.get(event)?;
    match at {
        At::User => Some(vec![user?]),
        At::Kernel => Some(vec![kernel?]),
        At::Anywhere => Some(vec![user?, kernel?]),
    }
}

/// What was to be counted in these samples and was not: the events by the reason.
pub(crate) type RefusedEvents = BTreeMap<String, BTreeSet<String>>;

/// What samples say of it.
pub(crate) fn refused<'a>(samples: impl Iterator<Item = &'a Measured>) -> RefusedEvents {
    let asked = samples.filter_map(|measured| measured.sample.cpu_events.as_ref());
    together(asked.flat_map(|events| &events.refused))
}

/// Each reason once, with the events of all that have it.
pub(crate) fn together<'a, E>(refused: impl Iterator<Item = (&'a String, &'a E)>) -> RefusedEvents
where
    E: 'a,
    &'a E: IntoIterator<Item = &'a String>,
{
    let mut all = RefusedEvents::new();
    for (reason, events) in refused {
        all.entry(reason.clone()).or_default().extend(events.into_iter().cloned());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(event: &str, user: Option<EventCount>, kernel: Option<EventCount>) -> CpuEvents {
        let counted = BTreeMap::from([(event.to_owned(), EventCounts { user, kernel })]);
        CpuEvents { counted, ..CpuEvents::default() }
    }

    #[test]
    fn the_sum_is_known_where_both_parts_are() {
        let count = |count, running_ns| Some(EventCount { count, enabled_ns: 1000, running_ns });
        let both = counted("cycles", count(600, 500), count(100, 1000));
        assert_eq!(amount(&both, "cycles", At::Anywhere), Some(1300.0));
        assert_eq!([At::User, At::Kernel].map(|at| amount(&both, "cycles", at)), [Some(1200.0), Some(100.0)]);
        assert_eq!(share(&both, "cycles", At::Anywhere), Some(0.5), "that of the part that was counted least");
        let user = counted("cycles", count(600, 500), None);
        assert_eq!(amount(&user, "cycles", At::Anywhere), None);
        assert_eq!(amount(&user, "cycles", At::User), Some(1200.0));
        let never = counted("cycles", count(0, 0), count(100, 1000));
        assert_eq!(amount(&never, "cycles", At::Anywhere), None, "a counter was never free for it");
        assert_eq!(amount(&both, "instructions", At::User), None);
    }
}
