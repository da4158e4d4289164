//! Whether pipelines begin and end as they should.
//!
//! In: commands whose conditions have their targets. Out: what is wrong on every way through the script. A pipeline may
//! begin under one condition and end under another, so only what can never be right is refused here.

use crate::command::{Command, What};
use crate::fault::Unplaced;

/// What is known of a place in the script: whether some way reaches it outside, and whether some way reaches it inside
/// of a pipeline.
#[derive(Debug, Clone, Copy, Default)]
struct Reached {
    outside: bool,
    inside: bool,
}

impl Reached {
    const fn only_outside(self) -> bool {
        self.outside && !self.inside
    }

    const fn only_inside(self) -> bool {
        self.inside && !self.outside
    }

    fn join(&mut self, other: Reached) {
        self.outside |= other.outside;
        self.inside |= other.inside;
    }
}

/// Follows all ways at once; they only lead forward.
pub(super) fn check(commands: &[Command], offsets: &[usize]) -> Vec<Unplaced> {
    let mut faults = Vec::new();
    let mut reached = vec![Reached::default(); commands.len() + 1];
    reached[0].outside = true;
    let (outside, inside) = (Reached { outside: true, inside: false }, Reached { outside: false, inside: true });
    let mut last_start = 0;
    for (at, command) in commands.iter().enumerate() {
        let here = reached[at];
        let mut fault = |message: &str| faults.push(Unplaced::new(offsets[at], message));
        let behind = match &command.what {
            What::StartPipeline => {
                if here.only_inside() {
                    fault("\\startpipeline within a pipeline; end the one that is open");
                }
                last_start = at;
                inside
            }
            What::EndPipeline => {
                if here.only_outside() {
                    fault("\\endpipeline without matching \\startpipeline");
                }
                outside
            }
            What::SyncPipeline => {
                if here.only_outside() {
                    fault("\\syncpipeline outside of a pipeline");
                }
                here
            }
            What::Sql(sql) => {
                if sql.store.is_some() && here.only_inside() {
                    fault("\\gset and \\aset are not allowed in a pipeline");
                }
                here
            }
            What::If { otherwise, .. } => {
                reached[*otherwise].join(here);
                here
            }
            What::Elif { otherwise, end, .. } => {
                // Both who comes from a branch and who was sent here are known as one.
                reached[*otherwise].join(here);
                reached[*end].join(here);
                here
            }
            What::Else { end } => {
                reached[*end].join(here);
                here
            }
            _ => here,
        };
        reached[at + 1].join(behind);
    }
    if reached[commands.len()].only_inside() {
        faults.push(Unplaced::new(offsets[last_start], "the script ends with this pipeline open"));
    }
    faults
}
