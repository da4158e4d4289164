//! On files of our own in the kernel's places.

use super::super::finding::{Change, ChangeKind};
use super::*;

const GOVERNOR: &[Change] = &[Change::setting("/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor", "performance")];
const HUGE: &[Change] = &[Change::setting("/sys/kernel/mm/transparent_hugepage/enabled", "madvise")];

struct Scene {
    folder: tempfile::TempDir,
}

impl Scene {
    fn new() -> Scene {
        let scene = Scene { folder: tempfile::tempdir().unwrap() };
        scene.put("proc/sys/kernel/random/boot_id", "first\n");
        scene.put("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
        scene.put("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "schedutil\n");
        scene.put("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n");
        scene
    }

    fn put(&self, file: &str, text: &str) {
        let path = self.folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn kernel(&self) -> Kernel {
        Kernel { root: self.folder.path().to_owned(), record: self.folder.path().join("state/doctor-changes.json") }
    }

    /// All settings, in the order of the files above.
    fn settings(&self) -> [String; 3] {
        [
            "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
            "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor",
            "sys/kernel/mm/transparent_hugepage/enabled",
        ]
        .map(|file| setting(&self.folder.path().join(file)).unwrap())
    }
}

fn findings() -> Vec<Finding> {
    let note = |about, changes| Finding { changes, ..Finding::note(about, "", "", "") };
    vec![note("CPU frequency", GOVERNOR), note("huge pages", HUGE), note("swap", &[])]
}

#[test]
fn what_is_applied_is_undone() {
    let scene = Scene::new();
    let outcome = scene.kernel().apply(&findings()).unwrap();
    assert_eq!(scene.settings(), ["performance", "performance", "madvise"]);
    let told: Vec<_> = outcome.changed.iter().map(|one| (one.about.as_str(), one.before.as_str())).collect();
    assert_eq!(told, [("CPU frequency", "powersave"), ("CPU frequency", "schedutil"), ("huge pages", "always")]);
    assert_eq!(scene.kernel().apply(&findings()).unwrap(), Outcome::default(), "as it should be already");

    let outcome = scene.kernel().undo().unwrap();
    assert_eq!((outcome.changed.len(), outcome.refused), (3, Vec::new()));
    assert_eq!(scene.settings(), ["powersave", "schedutil", "always"]);
    assert_eq!(scene.kernel().undo().unwrap(), Outcome::default());
    assert!(!scene.kernel().record.exists());
}

#[test]
fn the_first_value_is_the_users_and_what_others_set_is_theirs() {
    let scene = Scene::new();
    scene.kernel().apply(&findings()).unwrap();
    scene.put("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "ondemand");
    scene.kernel().apply(&findings()).unwrap();
    scene.put("sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]");
    let outcome = scene.kernel().undo().unwrap();
    assert_eq!(scene.settings(), ["powersave", "schedutil", "never"]);
    assert!(
        outcome.not_ours.len() == 1 && outcome.not_ours[0].ends_with("somebody else has made it never since"),
        "{outcome:?}"
    );
}

#[test]
fn a_crash_before_or_after_the_write_loses_nothing() {
    // Noted, and not yet written.
    let scene = Scene::new();
    let change = Changed {
        about: "huge pages".to_owned(),
        kind: ChangeKind::Setting,
        file: scene.folder.path().join("sys/kernel/mm/transparent_hugepage/enabled"),
        before: "always".to_owned(),
        after: "madvise".to_owned(),
    };
    let record = |boot: &str| Record { format: FORMAT, boot: boot.to_owned(), changed: vec![change.clone()] };
    scene.kernel().keep(&record("first")).unwrap();
    assert_eq!(scene.kernel().undo().unwrap(), Outcome::default());
    assert_eq!(scene.settings()[2], "always");
    // A setting of an earlier boot is the kernel's own again.
    scene.kernel().keep(&record("another")).unwrap();
    scene.put("sys/kernel/mm/transparent_hugepage/enabled", "madvise");
    assert_eq!(scene.kernel().undo().unwrap(), Outcome::default());
    assert_eq!(scene.settings()[2], "madvise");
}

#[test]
fn what_cannot_be_written_is_left_and_not_noted() {
    let scene = Scene::new();
    let file = scene.folder.path().join("sys/kernel/mm/transparent_hugepage/enabled");
    let mut record = scene.kernel().record().unwrap();
    let mut outcome = Outcome::default();
    // A folder cannot be written to, not even by root.
    let change = Changed {
        about: "huge pages".to_owned(),
        kind: ChangeKind::Setting,
        file: file.parent().unwrap().to_owned(),
        before: "always".to_owned(),
        after: "madvise".to_owned(),
    };
    scene.kernel().change(change, &mut record, &mut outcome).unwrap();
    assert_eq!((outcome.changed.len(), outcome.refused.len(), scene.kernel().record.exists()), (0, 1, false));
    fs::create_dir_all(scene.kernel().record.parent().unwrap()).unwrap();
    fs::write(&scene.kernel().record, "{").unwrap();
    let error = format!("{:#}", scene.kernel().apply(&findings()).unwrap_err());
    assert!(error.contains("doctor-changes.json tells what was changed, and cannot be read"), "{error}");
    assert_eq!(scene.settings()[2], "always", "nothing is changed that could not be undone");
}

/// Only root can mount; anybody else is told so.
#[test]
fn the_place_for_programs_is_mounted_and_taken_away() {
    let scene = Scene::new();
    scene.put("run/lock", "");
    const PLACE: &[Change] = &[Change::program_place("/run/rqps-programs")];
    let wished = [Finding { changes: PLACE, ..Finding::note("program pages", "", "", "") }];
    let place = scene.folder.path().join("run/rqps-programs");
    let outcome = scene.kernel().apply(&wished).unwrap();
    if !rustix::process::geteuid().is_root() {
        assert_eq!((outcome.changed.len(), outcome.refused.len()), (0, 1), "{outcome:?}");
        return;
    }
    assert_eq!((outcome.refused, program_place::mounted(&place).as_str()), (Vec::new(), program_place::HUGE));
    assert_eq!(scene.kernel().apply(&wished).unwrap(), Outcome::default(), "it is there already");
    let program = fs::File::create(place.join("program")).unwrap();
    let outcome = scene.kernel().undo().unwrap();
    assert!(outcome.changed.is_empty() && outcome.refused[0].contains("a campaign uses it"), "{outcome:?}");
    drop(program);
    let outcome = scene.kernel().undo().unwrap();
    assert_eq!((outcome.changed.len(), outcome.refused, place.exists()), (1, Vec::new(), false));
    assert!(!scene.kernel().record.exists());
}
