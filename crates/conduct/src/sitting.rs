//! What all rounds of a sitting share: what is there to be used, and where they put what comes of it.
//!
//! A [`Sitting`] is one run or resume of a campaign after its masters were made, and does not change; a [`Ledger`] takes
//! samples, events and times as they come.

use crate::arm::Contestant;
use crate::cells::{Cells, Failed};
use crate::event::Watch;
use crate::job::Job;
use crate::master::Masters;
use crate::pace::Pace;
use rqps_machine::Workspace;
use rqps_store::{Campaign, Writer};
use std::sync::atomic::AtomicBool;

/// What rounds are made with.
pub(crate) struct Sitting<'a> {
    pub(crate) job: &'a Job<'a>,
    pub(crate) workspace: &'a Workspace,
    pub(crate) contestants: &'a [Contestant<'a>],
    pub(crate) masters: Masters,
    /// What is measured again although it is there.
    pub(crate) again: Failed,
    pub(crate) stop: &'a AtomicBool,
}

impl<'a> Sitting<'a> {
    /// What is measured, as far as a results folder knows.
    pub(crate) fn cells<'c>(&'c self, store: &'c Campaign) -> Cells<'a, 'c> {
        Cells { plan: self.job.plan, store, again: &self.again }
    }
}

/// Where rounds put what comes of them.
pub(crate) struct Ledger<'l, 'w> {
    pub(crate) store: &'l mut Writer,
    pub(crate) watch: &'l mut Watch<'w>,
    pub(crate) pace: Pace,
}
