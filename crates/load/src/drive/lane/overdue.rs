//! Statements that take longer than they may, on servers that do not end them by themselves.
//!
//! In: an alarm of the port. Out: the server is told to end what is overdue, and what ends that way has its own code.
//! Time is the arm's, which stands still while others have their slices. Nothing here is on the path of a program
//! without such time-outs, and no statement is waited for with a timer.

use super::super::port::{Lost, Port};
use super::super::slot::Phase;
use super::{Lane, Run};
use crate::program::Program;
use rqps_wire::{ErrorCode, Reply};

impl<G: Program> Lane<G> {
    /// Reads a session's reply. After a KILL the session is made fit for its next statement first.
    #[inline]
    pub(super) fn receive<P: Port>(&mut self, run: &mut Run<'_, P>, index: usize) -> Result<Option<Reply>, Lost> {
        match run.port.receive(index)? {
            Some(reply) if G::KEEPS_TIMEOUTS && self.slots[index].was_killed() => {
                run.port.absorb_kill(index)?;
                Ok(Some(told_apart(reply)))
            }
            reply => Ok(reply),
        }
    }

    /// Has the server end each event's statement that is overdue, and once more each time that it has gone on for as
    /// long again. A ROLLBACK is left alone: what was begun has to be undone.
    #[cold]
    pub(super) fn interrupt_overdue<P: Port>(&mut self, run: &mut Run<'_, P>) {
        let now = run.port.now_ns();
        for index in 0..self.slots.len() {
            let slot = &mut self.slots[index];
            let since_ns = slot.last_ns.max(slot.killed_ns);
            if slot.phase == Phase::Running && now.saturating_sub(since_ns) >= self.timeout_ns {
                slot.killed_ns = now;
                if let Err(lost) = run.port.interrupt(index) {
                    self.lose(run, index, lost);
                }
            }
        }
    }
}

/// A reply that came after a KILL of ours: what it ended took too long, which is no error as others are.
fn told_apart(reply: Reply) -> Reply {
    let is_killed = reply.error.is_some_and(|code| code.number == ErrorCode::INTERRUPTED_NUMBER);
    Reply { error: if is_killed { Some(ErrorCode::OVERDUE) } else { reply.error }, ..reply }
}
