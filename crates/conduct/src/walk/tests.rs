//! The walk without a server: every kind of stage, whole rounds and resumed ones.

use super::*;
use crate::testing::{alternating, insert_plan, plan, test};
use rqps_model::Interleave;

/// Setups as text: whose servers, `^n` after n earlier ones, and every test with its clients: `+` recorded, `-` only
/// run.
fn told(plan: &Plan, round: &Round, done: &[&str]) -> Vec<String> {
    let is_done = |block: &Block<'_>| {
        let mut names = block.samples().map(|(treatment, test)| {
            [
                format!("{}.c{}", test.name, block.clients),
                format!("{} {}.c{}", treatment.name, test.name, block.clients),
            ]
        });
        names.all(|names| names.iter().any(|name| done.contains(&name.as_str())))
    };
    let setup = |setup: Setup<'_>| {
        let names: Vec<&str> = setup.order.iter().map(|index| plan.treatments[*index].name.as_str()).collect();
        let visit = |visit: &Visit<'_>| {
            let level =
                |(clients, is_recorded): &(u32, bool)| format!("{}{clients}", if *is_recorded { '+' } else { '-' });
            format!("{}{}", visit.test.name, visit.levels.iter().map(level).collect::<String>())
        };
        let visits: Vec<String> = setup.visits.iter().map(visit).collect();
        format!("{}^{}: {}", names.join(" "), setup.earlier, visits.join(" "))
    };
    setups(plan, round, &is_done).into_iter().map(setup).collect()
}

fn round(order: &[usize]) -> Round {
    Round { number: 1, order: order.to_vec(), seed: 1, allotment: None }
}

/// Five tests at two numbers of clients, two of which write.
fn side_by_side() -> Plan {
    let mut plan = plan(&["a", "b"], 0);
    plan.stages[0].clients = vec![1, 4];
    plan.stages[0].tests = [("read", false), ("write", true), ("scan", false), ("append", true), ("last", false)]
        .map(|(name, writes)| TestPlan { writes, ..test(name, Interleave::Slices, 1.0) })
        .to_vec();
    plan
}

fn one_by_one() -> Plan {
    let mut plan = insert_plan(&["a", "b"], &["17.11", "17.11"]);
    plan.stages.push(Stage { clients: vec![4], ..plan.stages[0].clone() });
    plan
}

/// All levels of these tests but for some.
fn done_but(gone: &[&str]) -> Vec<&'static str> {
    let all = ["read.c1", "read.c4", "write.c1", "write.c4", "scan.c1", "scan.c4", "append.c1", "append.c4", "last.c1"];
    all.into_iter().chain(["last.c4"]).filter(|name| !gone.contains(name)).collect()
}

#[test]
fn a_fresh_round_runs_everything_once_in_its_order() {
    let all = "b a^0: read+1+4 write+1+4 scan+1+4 append+1+4 last+1+4";
    assert_eq!(told(&side_by_side(), &round(&[1, 0]), &[]), [all]);
    let pass = |name: &str, earlier, clients: u32| {
        let steps = ["l.i0", "l.x", "l.i1", "l.i2", "qr100", "qp100"].map(|step| format!("{step}+{clients}"));
        format!("{name}^{earlier}: {}", steps.join(" "))
    };
    let passes = [pass("b", 0, 1), pass("a", 0, 1), pass("b", 1, 4), pass("a", 1, 4)];
    assert_eq!(told(&one_by_one(), &round(&[1, 0]), &[]), passes);
    let together = [pass("b a", 0, 1), pass("b a", 1, 4)];
    assert_eq!(told(&alternating(one_by_one()), &round(&[1, 0]), &[]), together);
}

#[test]
fn data_that_are_renewed_for_each_test_need_no_repeats() {
    let mut plan = side_by_side();
    plan.stages[0].renew = Renew::PerTest;
    let all = told(&plan, &round(&[0, 1]), &[]);
    assert_eq!(all.len(), 10);
    assert_eq!((all[0].as_str(), all[9].as_str()), ("a b^0: read+1", "a b^9: last+4"));
    let left = ["a b^4: scan+1", "a b^9: last+4"];
    assert_eq!(told(&plan, &round(&[0, 1]), &done_but(&["scan.c1", "last.c4"])), left);
    // What goes on has servers of its own for each test as well. A run that resumes begins with data that are loaded
    // anew, whatever is measured by then: its samples say with how much they began.
    plan.stages[0].renew = Renew::Once;
    assert_eq!(told(&plan, &round(&[0, 1]), &[]), all);
    assert_eq!(told(&plan, &round(&[0, 1]), &done_but(&["scan.c1", "last.c4"])), left);
}

#[test]
fn a_server_is_up_alone_for_each_test_where_builds_go_one_by_one_on_fresh_data() {
    let mut plan = side_by_side();
    (plan.stages[0].renew, plan.stages[0].alternate) = (Renew::PerTest, Alternate::OneByOne);
    plan.stages[0].tests.truncate(2);
    let all = told(&plan, &round(&[1, 0]), &[]);
    let of = |name, level| {
        [format!("{name}^{}: read+{level}", level / 2), format!("{name}^{}: write+{level}", level / 2 + 1)]
    };
    assert_eq!(all, [of("b", 1), of("a", 1), of("b", 4), of("a", 4)].concat());
    let done = ["a read.c1", "b read.c1", "b write.c1", "a read.c4", "b read.c4", "a write.c4", "b write.c4"];
    assert_eq!(told(&plan, &round(&[1, 0]), &done), ["a^1: write+1"]);
}

#[test]
fn tests_that_write_run_again_where_something_is_missing_after_them() {
    let check = |gone: &[&str], expected: &[&str]| {
        assert_eq!(told(&side_by_side(), &round(&[0, 1]), &done_but(gone)), expected, "{gone:?}");
    };
    check(&[], &[]);
    check(&["read.c1"], &["a b^0: read+1"]);
    // The work before a test that is not due is done, for those that are.
    check(&["write.c4"], &["a b^0: read write-1+4"]);
    check(&["read.c4", "scan.c1"], &["a b^0: read+4 write-1-4 scan+1"]);
    check(&["last.c4"], &["a b^0: read write-1-4 scan append-1-4 last+4"]);
    check(&["write.c1", "append.c1"], &["a b^0: read write+1-4 scan append+1"]);
}

/// A test that only some treatments have is measured again on all: builds are only ever compared side by side.
#[test]
fn one_of_two_samples_is_not_enough() {
    let mut done = done_but(&["scan.c1"]);
    done.push("a scan.c1");
    assert_eq!(told(&side_by_side(), &round(&[0, 1]), &done), ["a b^0: read write-1-4 scan+1"]);
}

/// A pass is measured again as a whole, and no other treatment's for its sake.
#[test]
fn what_builds_on_each_other_is_measured_again_as_a_whole() {
    let steps = ["l.i0", "l.x", "l.i1", "l.i2", "qr100", "qp100"];
    let of = |name: &str, clients: u32| steps.map(|step| format!("{name} {step}.c{clients}")).to_vec();
    let mut done = [of("a", 1), of("b", 1), of("a", 4)].concat();
    done.extend(of("b", 4).into_iter().take(5));
    done.retain(|name| name != "a l.i1.c4");
    let done: Vec<&str> = done.iter().map(String::as_str).collect();
    let left = told(&one_by_one(), &round(&[0, 1]), &done);
    assert_eq!(left.len(), 2, "{left:?}");
    assert!(left[0].starts_with("a^1: l.i0+4 l.x+4") && left[1].starts_with("b^1: l.i0+4"), "{left:?}");
    // Side by side, all treatments pass again together.
    let left = told(&alternating(one_by_one()), &round(&[0, 1]), &done);
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(left[0].starts_with("a b^1: l.i0+4 l.x+4"), "{left:?}");
}

#[test]
fn stages_follow_each_other_and_share_nothing() {
    let mut plan = side_by_side();
    plan.stages.push(Stage { clients: vec![8], ..plan.stages[0].clone() });
    let mut done = done_but(&[]);
    let both = told(&plan, &round(&[0, 1]), &done);
    assert_eq!(both, ["a b^1: read+8 write+8 scan+8 append+8 last+8"]);
    done.retain(|name| *name != "read.c1");
    assert_eq!(told(&plan, &round(&[0, 1]), &done).len(), 2);
}
