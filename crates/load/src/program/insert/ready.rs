//! The servers on which a step runs, by their places among all that were to run it: the others could not be prepared.
//!
//! In: numbers of those that run. Out: the same moments and sessions by the numbers of all, as the caller knows them.

use crate::drive::ServerSide;
use crate::test_run::Moment;
use rqps_wire::Session;

/// Servers that are ready.
#[derive(Debug)]
pub(super) struct Ready<'a> {
    /// Their places among all.
    pub(super) places: Vec<usize>,
    /// The server's side of the sessions of all.
    pub(super) server_side: Option<&'a dyn ServerSide>,
}

impl Ready<'_> {
    /// A moment, by the place of its server.
    pub(super) fn moment(&self, moment: Moment) -> Moment {
        match moment {
            Moment::Enter(arm) => Moment::Enter(self.places[arm]),
            Moment::Leave(arm) => Moment::Leave(self.places[arm]),
            other => other,
        }
    }
}

impl ServerSide for Ready<'_> {
    fn opened(
        &self,
        arm: usize,
        thread: usize,
        session: (&mut Session, &'static str),
        cpu: Option<usize>,
    ) -> Result<(), String> {
        self.server_side.map_or(Ok(()), |side| side.opened(self.places[arm], thread, session, cpu))
    }

    fn closing(&self, arm: usize, thread: usize) {
        if let Some(side) = self.server_side {
            side.closing(self.places[arm], thread);
        }
    }
}
