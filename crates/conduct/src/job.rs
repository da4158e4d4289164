//! What a run of a campaign is given, and where it puts what comes of it.
//!
//! In: a plan, builds, and what of this machine is used. Out: events for the results folder and for whoever watches.

use crate::ConductError;
use crate::eta::Eta;
use rqps_machine::{Cache, Lease};
use rqps_model::facts::BuildFacts;
use rqps_model::{Event, EventKind, Plan};
use rqps_observe::clock::rfc3339;
use rqps_server::Profiles;
use rqps_store::Writer;
use rqps_suites::Suite;
use std::path::Path;
use std::time::SystemTime;

/// Everything that a campaign needs: its plan, and what of this machine is used.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The statements that suites know.
    pub suites: &'a [Suite],
    /// The build of each treatment, in plan order.
    pub builds: &'a [BuildFacts],
    /// Configuration profiles.
    pub profiles: &'a Profiles,
    /// The cache, which also holds leases.
    pub cache: &'a Cache,
    /// Notes what is made.
    pub lease: &'a Lease,
    /// Where data folders are made; `None` = the usual place.
    pub data_parent: Option<&'a Path>,
    /// How often the campaign was resumed.
    pub resumed: usize,
}

/// Receives events in order.
pub type Watch<'a> = dyn FnMut(&Event) + 'a;

/// Where rounds put what comes of them.
pub(crate) struct Output<'o, 'w> {
    pub(crate) store: &'o mut Writer,
    pub(crate) watch: &'o mut Watch<'w>,
    pub(crate) eta: &'o mut Eta,
}

impl Output<'_, '_> {
    /// An event goes to the results folder and to whoever watches. A disk that is full shows when a sample is written.
    pub(crate) fn emit(&mut self, kind: EventKind) {
        let event = Event { at: rfc3339(SystemTime::now()), kind };
        if event.kind.is_kept() {
            let _ = self.store.append_event(&event);
        }
        (self.watch)(&event);
    }

    /// The user must know this now.
    pub(crate) fn warn(&mut self, message: impl Into<String>) {
        self.emit(EventKind::Warning { message: message.into() });
    }

    /// Hands a result on. If the user asked to stop, watchers hear of it now, before folders are removed.
    pub(crate) fn pass<T>(&mut self, result: Result<T, ConductError>) -> Result<T, ConductError> {
        if let Err(ConductError::Interrupted) = result {
            self.emit(EventKind::Interrupted { folder: self.store.folder().to_owned() });
        }
        result
    }
}
