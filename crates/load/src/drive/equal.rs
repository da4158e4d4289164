//! Equal work instead of equal time: every session of every arm runs so many events, cut into slices of as many events
//! for each arm.
//!
//! In: an exercise and a number of events. Out: what each arm did, from its first event to its last and nothing else:
//! there is no warm-up, no lead-in and no event that only settles a session, so that all arms have done the same in the
//! end. The schedule only says into about how many slices the work is cut.

use super::exercise::{Hook, Phase, Switch};
use super::leader::Leader;
use super::schedule::Visit;
use crate::error::LoadError;
use crate::program::Workload;
use crate::random::{Purpose, shuffle, stream};

/// A slice has at least so many events of a session, as far as there are any, or it would be mostly its beginning.
const EVENTS_PER_SLICE: u32 = 8;

impl<W: Workload> Leader<'_, '_, '_, '_, W> {
    /// Sessions to every arm, then slices until each session has run its events.
    pub(super) fn count_events(
        &mut self,
        events: u32,
        hook: &mut Hook<'_>,
        progress: &dyn Fn(f64),
    ) -> Result<(), LoadError> {
        for arm in self.live_arms() {
            hook(Switch::Enter { arm, phase: Phase::Connect })?;
            self.connect(arm);
            hook(Switch::Leave { arm, phase: Phase::Connect })?;
        }
        let schedule = self.exercise.schedule;
        let planned = schedule.seconds / (schedule.slice - schedule.lead_in).as_secs_f64();
        let slices = (planned.round() as u32).clamp(1, (events / EVENTS_PER_SLICE).max(1));
        self.begin_count(slices as usize);
        self.states.iter_mut().for_each(|state| state.lead_in_ns = 0);
        for slice in 0..slices {
            // What is left over is spread, so that no slice is much longer than another.
            let until = |slice: u32| (u64::from(events) * u64::from(slice) / u64::from(slices)) as u32;
            self.slice_of_events(slice.into(), until(slice + 1) - until(slice), hook)?;
            progress(f64::from(slice + 1) / f64::from(slices));
        }
        Ok(())
    }

    /// Every live arm once, for so many events of each session.
    fn slice_of_events(&mut self, number: u64, events: u32, hook: &mut Hook<'_>) -> Result<(), LoadError> {
        let phase = Phase::Counted;
        let mut order = self.live_arms();
        shuffle(&mut stream(self.exercise.seed, Purpose::Order, 0, number), &mut order);
        for arm in order {
            hook(Switch::Enter { arm, phase })?;
            let now = self.visit_now(arm, Purpose::Keys, number);
            let count_from_ns = Some(now.start_ns);
            let visit = Visit { events, end_ns: u64::MAX, is_paced: false, count_from_ns, ..now };
            self.visit(arm, visit, &|_| ())?;
            hook(Switch::Leave { arm, phase })?;
        }
        Ok(())
    }
}
