//! How builds alternate, and whether the lengths that were said of it mean anything.
//!
//! In: the merged request, the tests that were chosen. Out: slices, turns or what each test wants, and faults.

use super::Checker;
use crate::diagnostic::Fault;
use crate::place::Place;
use rqps_model::Interleave;
use rqps_model::plan::{Arrival, TestPlan};
use rqps_suites::Key;

impl Checker<'_> {
    /// How builds alternate: for all tests alike where that was said or follows, else as each test wants it.
    pub(super) fn interleave(&mut self) -> Option<Interleave> {
        let (rate, slice) = (self.request.rate.as_ref(), self.request.slice.as_ref());
        let open = rate.filter(|rate| rate.value != Arrival::Closed);
        let said = self.request.interleave.as_ref();
        if let (Some(rate), Some(how)) = (open, said)
            && how.value == Interleave::Slices
        {
            let fault = Fault::error("requests at a planned rate need turns, not slices");
            let fault = fault.help("while one build has its slice, the requests of the other would all become late");
            self.error(&rate.place, fault.expected("interleave = \"turns\", or no rate"));
        }
        let pauses = self.request.keying_and_thinking.as_ref().filter(|pauses| pauses.value);
        if let (Some(pauses), Some(how)) = (pauses, said)
            && how.value == Interleave::Slices
        {
            let fault = Fault::error("keying and thinking need turns, not slices");
            let fault =
                fault.help("a virtual user that thinks is idle for seconds, and a slice is over in milliseconds");
            self.error(&pauses.place, fault.expected("interleave = \"turns\", or no keying and thinking"));
        }
        let profiles = self.all_profiles();
        let (turns, why) = if let Some(how) = said {
            (how.value == Interleave::Turns, "interleave is turns".to_owned())
        } else if let Some(profile) = profiles.iter().find(|profile| profile.interleave == Interleave::Turns) {
            (true, format!("profile {} runs in turns", profile.name))
        } else if pauses.is_some() {
            (true, "keying and thinking run in turns".to_owned())
        } else {
            (open.is_some(), "requests at a planned rate run in turns".to_owned())
        };
        if let Some(slice) = slice.filter(|slice| turns && !matches!(slice.place, Place::Preset(_))) {
            let is_replaced = said.is_none_or(|how| !are_together(&how.place, &slice.place));
            self.says_nothing("slice", &slice.place, &why, is_replaced, "leave it out, or take slices");
        }
        match said {
            Some(how) => Some(how.value),
            None => turns.then_some(Interleave::Turns),
        }
    }

    /// Finds fault with slices that are longer than a test.
    pub(super) fn slice_fits(&mut self, tests: &[TestPlan]) {
        let Some(slice) = &self.request.slice else { return };
        let sliced = tests.iter().filter(|test| test.interleave == Some(Interleave::Slices));
        let shortest = sliced.map(|test| test.seconds).fold(f64::INFINITY, f64::min);
        if slice.value / 1000.0 > shortest {
            let message = format!("a slice of {} ms is longer than a test of {shortest} s", slice.value);
            self.error(&slice.place, Fault::error(message).help("shorten `slice`, or lengthen the tests"));
        }
    }

    /// Finds fault with a length of turns where none are taken.
    pub(super) fn turn_fits(&mut self, tests: &[TestPlan]) {
        let is_of_suite = Key::find("turn").is_some_and(|key| key.is_of(self.request.suite_name()));
        let Some(turn) = self.request.turn.as_ref().filter(|_| is_of_suite && !tests.is_empty()) else { return };
        if tests.iter().all(|test| test.interleave != Some(Interleave::Turns)) {
            let said = self.request.interleave.as_ref();
            let is_replaced = said.is_some_and(|how| !are_together(&how.place, &turn.place));
            let help = "leave it out, or take `interleave` turns";
            self.says_nothing("turn", &turn.place, "builds run in slices", is_replaced, help);
        }
    }

    /// A length that does not count: an error, but a note where something else replaced what it was meant for.
    fn says_nothing(&mut self, key: &str, place: &Place, why: &str, is_replaced: bool, help: &str) {
        let fault = format!("`{key}` says nothing here, since {why}");
        let fault = if is_replaced { Fault::note(fault) } else { Fault::error(fault) };
        self.error(place, fault.help(help));
    }
}

/// Whether both were said in the file, or both by flags: else the flag replaces what the file meant.
fn are_together(one: &Place, other: &Place) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other)
}
