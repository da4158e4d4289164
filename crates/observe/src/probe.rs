//! What is observed of one treatment while a test runs, in one shape: a new thing to observe is one more [`Probe`].
//!
//! In: the moments of a test, in this order:
//!
//! - `begin`: before the test, when the client has no session yet
//! - `start`: its sessions are there, and clients begin to work
//! - `enter`: this treatment's slice begins; once for a test that is not cut into slices
//! - `leave`: and ends
//! - `stop`: all is counted, and the sessions are still there
//! - `end`: after the test, when its sessions are closed
//!
//! Out: small figures go into the sample, the rest comes back as named parts of it. `enter` and `leave` stand between
//! slices of some milliseconds: they must neither allocate nor wait. A probe must not fail a test: what it cannot read
//! is absent.

use rqps_model::{Part, Sample, StorageEngine};
use rqps_wire::Endpoint;
use std::fmt;
use std::path::Path;

/// The server that is observed.
pub struct Subject<'a> {
    /// The way to it.
    pub endpoint: &'a Endpoint,
    /// What stores its tables, where the engine leaves a choice.
    pub storage: Option<StorageEngine>,
    /// Its data folder.
    pub data_folder: &'a Path,
    /// Its processes now, with those that ended and were not waited for.
    pub pids: &'a dyn Fn() -> Vec<u32>,
}

/// Something that is observed of one treatment in one test.
pub trait Probe: fmt::Debug {
    /// Before the test.
    fn begin(&mut self, _server: &Subject<'_>) {}

    /// Clients begin to work.
    fn start(&mut self, _server: &Subject<'_>) {}

    /// This treatment's slice begins.
    fn enter(&mut self) {}

    /// This treatment's slice ends.
    fn leave(&mut self) {}

    /// All is counted. It may be missing, where a test ended before its time.
    fn stop(&mut self, _server: &Subject<'_>) {}

    /// After the test; without a server if that died.
    fn end(&mut self, server: Option<&Subject<'_>>, sample: &mut Sample) -> Vec<Part>;
}

/// All probes of a treatment in a test.
#[derive(Debug, Default)]
pub struct Probes(pub Vec<Box<dyn Probe>>);

impl Probes {
    /// Before the test.
    pub fn begin(&mut self, server: &Subject<'_>) {
        self.0.iter_mut().for_each(|probe| probe.begin(server));
    }

    /// Clients begin to work.
    pub fn start(&mut self, server: &Subject<'_>) {
        self.0.iter_mut().for_each(|probe| probe.start(server));
    }

    /// This treatment's slice begins.
    pub fn enter(&mut self) {
        self.0.iter_mut().for_each(|probe| probe.enter());
    }

    /// This treatment's slice ends; what was entered last is left first, so that no probe counts what another one costs
    /// that stands before it.
    pub fn leave(&mut self) {
        self.0.iter_mut().rev().for_each(|probe| probe.leave());
    }

    /// All is counted.
    pub fn stop(&mut self, server: &Subject<'_>) {
        self.0.iter_mut().for_each(|probe| probe.stop(server));
    }

    /// After the test: small figures are in the sample, the rest is returned.
    pub fn end(mut self, server: Option<&Subject<'_>>, sample: &mut Sample) -> Vec<Part> {
        self.0.iter_mut().flat_map(|probe| probe.end(server, sample)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClientProbe, HostProbe};
    use std::cell::RefCell;
    use std::rc::Rc;

    #[test]
    fn page_faults_go_to_the_treatment_that_made_them() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let [mut idle, mut busy] = [(); 2].map(|()| {
            let host = HostProbe::open(here).expect("a probe");
            Probes(vec![Box::new(host), Box::new(ClientProbe::open().expect("a probe"))])
        });
        for _ in 0..10 {
            idle.enter();
            idle.leave();
            busy.enter();
            let touched = std::hint::black_box(vec![1_u8; 8 << 20]);
            busy.leave();
            drop(touched);
        }
        let used = |probes: Probes| {
            let mut sample = Sample::default();
            assert!(probes.end(None, &mut sample).is_empty());
            sample.resources
        };
        let (idle, busy) = (used(idle), used(busy));
        // Whatever else the machine does, the client's own are among them.
        assert!(busy.client.minor_faults >= 10, "{busy:?}");
        assert!(busy.host.page_faults >= busy.client.minor_faults, "{busy:?}");
        assert!(idle.client.minor_faults < busy.client.minor_faults, "{idle:?} {busy:?}");
        // How long each took depends on the machine.
        assert!(idle.host.seconds > 0.0 && busy.host.memory_available_bytes > 0, "{idle:?} {busy:?}");
    }

    #[derive(Debug)]
    struct Named(&'static str, Rc<RefCell<Vec<String>>>);

    impl Probe for Named {
        fn enter(&mut self) {
            self.1.borrow_mut().push(format!("{} enters", self.0));
        }

        fn leave(&mut self) {
            self.1.borrow_mut().push(format!("{} leaves", self.0));
        }

        fn end(&mut self, _server: Option<&Subject<'_>>, _sample: &mut Sample) -> Vec<Part> {
            vec![Part::json(self.0, &1)]
        }
    }

    #[test]
    fn a_new_probe_is_entered_first_and_left_last_and_its_part_is_kept() {
        let calls = Rc::default();
        let named = |name| Box::new(Named(name, Rc::clone(&calls))) as Box<dyn Probe>;
        let mut probes = Probes(vec![named("a"), named("b")]);
        probes.enter();
        probes.leave();
        let parts = probes.end(None, &mut Sample::default());
        assert_eq!(*calls.borrow(), ["a enters", "b enters", "b leaves", "a leaves"]);
        assert_eq!(parts.iter().map(|part| part.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    }
}
