//! Events of the CPU in a campaign: counted where the machine has a PMU and this user the right to it; elsewhere the
//! campaign goes on without, and says why, once.

use crate::scene::{READ, Scene, results};
use rqps_observe::cpu_events::{CPU_EVENTS, refused_here};

#[test]
fn a_campaign_counts_events_or_says_once_why_not() {
    let scene = Scene::new();
    let words = ["--tests", READ, "--rounds", "2", "--cpu-events"];
    let told = scene.end(scene.run_twins("counted", &words)).with_code(0).stdout;
    scene.assert_nothing_left();
    let refused = refused_here(CPU_EVENTS);
    let campaign = results(&scene.campaign("counted"));
    assert!(campaign.plan().cpu_events);
    for folder in campaign.samples().expect("whole") {
        let events = folder.sample.cpu_events.expect("asked for");
        assert_eq!(events.refused, refused);
        let known = events.counted.len() + refused.values().flatten().filter(|name| !name.contains(' ')).count();
        assert_eq!(known, CPU_EVENTS.iter().copied().flatten().count(), "{events:?}");
        let ran = events.counted.values().flat_map(|counts| [counts.user, counts.kernel]).flatten();
        assert!(ran.into_iter().all(|count| count.enabled_ns > 0), "{:?}", events.counted);
    }
    let unwrapped = told.split_whitespace().collect::<Vec<_>>().join(" ");
    for reason in refused.keys() {
        assert_eq!(unwrapped.matches(reason.as_str()).count(), 1, "{reason} in {told}");
    }
    // What is not asked for is neither counted nor missed.
    let told = scene.end(scene.run_twins("plain", &words[..4])).with_code(0).stdout;
    assert!(!told.contains("events of the CPU"), "{told}");
    let samples = results(&scene.campaign("plain")).samples().expect("whole");
    assert!(samples.into_iter().all(|folder| folder.sample.cpu_events.is_none()));
}
