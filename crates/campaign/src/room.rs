//! Whether the disk has room for copies of the data, or builds go on with what they have.
//!
//! In: a plan whose tests begin with fresh copies, what is free on the disk. Out: the plan as the disk allows it. A
//! rule of thumb, as the estimate is.

use crate::estimate::{estimate, human_bytes};
use crate::together::SHARE;
use rqps_model::plan::{Plan, Renew};

/// Has builds go on with their data from test to test where copies for each test do not fit beside what is copied.
/// `free` is `None` where that is not known, or does not matter.
pub(crate) fn make_room(plan: &mut Plan, free: Option<u64>) {
    let Some(free) = free else { return };
    let needed = estimate(plan).disk_bytes;
    let mut renewed: Vec<_> = plan.stages.iter_mut().filter(|stage| stage.renew == Renew::PerTest).collect();
    if renewed.is_empty() || needed as f64 <= SHARE * free as f64 {
        return;
    }
    renewed.iter_mut().for_each(|stage| stage.renew = Renew::Once);
    let [needed, free] = [needed, free].map(human_bytes);
    plan.why_continued =
        Some(format!("with a copy for each test they would need about {needed} of disk, and {free} are free"));
}

#[cfg(test)]
mod tests {
    use crate::testing::{plan, plan_on};
    use rqps_model::plan::Renew;

    #[test]
    fn builds_go_on_with_their_data_only_where_copies_do_not_fit() {
        let check = |words: &[(&str, &str)], free_gb: Option<u64>, renew: Renew, why: Option<&str>| {
            let builds = [("build", "postgres:16.15"), ("build", "postgres:17.11")];
            let plan = plan_on(&[&builds, words].concat(), |resolved| {
                resolved.disk_free_bytes = free_gb.map(|gb| gb * 1_000_000_000);
            });
            assert!(plan.stages.iter().all(|stage| stage.renew == renew), "{words:?}: {plan:?}");
            assert_eq!(plan.why_continued.is_some(), why.is_some(), "{words:?}");
            assert!(why.is_none_or(|why| plan.why_continued.is_some_and(|said| said.contains(why))), "{words:?}");
        };
        let large = [("suite", "tproc-c"), ("warehouses", "20")];
        check(&large, Some(100), Renew::PerTest, None);
        check(&large, None, Renew::PerTest, None);
        check(&large, Some(14), Renew::Once, Some("of disk, and 14 GB are free"));
        // What reads the same data in all its tests has one copy a round, and a pass makes its own.
        check(&[("rows", "50m")], Some(14), Renew::PerStage, None);
        check(&[("suite", "insert"), ("scale", "cached-large")], Some(14), Renew::PerStage, None);
    }

    #[test]
    fn copies_that_share_blocks_fit_in_any_case() {
        let words = [("suite", "tproc-c"), ("warehouses", "20"), ("build", "postgres:16.15"), ("build", "my8033")];
        let on = |share: bool| {
            let plan = plan_on(&words, |resolved| {
                (resolved.disk_free_bytes, resolved.copies_share_blocks) = (Some(14 << 30), share);
            });
            plan.stages[0].renew
        };
        assert_eq!((on(false), on(true)), (Renew::Once, Renew::PerTest));
    }

    #[test]
    fn going_on_needs_less_room_than_copies_and_is_told() {
        let words = [("suite", "tproc-c"), ("warehouses", "20"), ("build", "postgres:16.15"), ("build", "my8033")];
        let copied = plan(&words, false);
        let continued = plan_on(&words, |resolved| resolved.disk_free_bytes = Some(14 << 30));
        let bytes = |plan| crate::estimate(plan).disk_bytes as f64;
        let ratio = bytes(&continued) / bytes(&copied);
        assert!((0.45..0.65).contains(&ratio), "{ratio}");
        let told = crate::describe(&continued);
        for part in ["copies     none: with a copy for each test they would need about", "own data, which grow"] {
            assert!(told.contains(part), "{part}: {told}");
        }
        assert!(!crate::describe(&copied).contains("copies     none"));
    }
}
