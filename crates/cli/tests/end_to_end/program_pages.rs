//! Programs in huge pages: servers run from copies that go with the round, and with a killed rqps; without a place for
//! them nothing is begun.

use crate::scene::{READ, Scene, results, wait_for};
use rqps_machine::program_place::{self, PLACE};
use rqps_model::ProgramPages;
use rustix::process::Signal;
use std::fs;
use std::path::Path;

/// The place, which goes again if it was made here.
struct Place {
    is_ours: bool,
}

impl Place {
    fn make() -> Place {
        let place = Path::new(PLACE);
        Place { is_ours: program_place::mounted(place) != program_place::HUGE && program_place::make(place).is_ok() }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.is_ours {
            program_place::remove(Path::new(PLACE)).expect("nothing is left in it");
        }
    }
}

/// What lies in the place.
fn lying() -> Vec<String> {
    let entries = fs::read_dir(PLACE).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn servers_run_from_copies_that_go_with_them() {
    let scene = Scene::new();
    let words = ["--tests", READ, "--rounds", "2", "--program-pages", "huge"];
    if program_place::find(Path::new(PLACE)).is_err() {
        let refused = scene.end(scene.run_twins("refused", &words)).with_code(2);
        assert!(refused.stderr.contains("programs cannot lie in huge pages"), "{}", refused.stderr);
        assert!(!scene.campaign("refused").exists());
    }
    let _place = Place::make();
    if program_place::find(Path::new(PLACE)).is_err() {
        // Only root can make it.
        assert!(!rustix::process::geteuid().is_root() || program_place::kernel().is_none_or(|told| told == "deny"));
        return;
    }
    let mut running = scene.start(scene.run_twins("copied", &words));
    running.wait_for("both servers", |_| scene.servers().len() == 2);
    for server in scene.servers() {
        let program = fs::read_link(format!("/proc/{}/exe", server.process.pid)).expect("it runs");
        assert!(program.starts_with(PLACE), "{}", program.display());
    }
    running.signal(Signal::KILL);
    running.end();
    scene.wait_until_cleared();
    wait_for("copies to go", || lying().is_empty());

    scene.end(scene.rqps(&["resume", "results/copied"])).with_code(0);
    let campaign = results(&scene.campaign("copied"));
    assert_eq!(campaign.plan().program_pages, ProgramPages::Huge);
    for folder in campaign.samples().expect("whole") {
        let text = folder.sample.program_text.expect("the kernel tells");
        let is_told = folder.sample.warnings.iter().any(|warning| warning.contains("was to lie in huge pages"));
        assert!(text.bytes > 0 && is_told == (text.huge_share() < 0.5), "{text:?}, {:?}", folder.sample.warnings);
    }
    assert_eq!(lying(), Vec::<String>::new());
    scene.assert_nothing_left();
}
