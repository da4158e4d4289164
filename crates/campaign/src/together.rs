//! Whether builds can all be up at once, or go one by one: where tests build on each other, or each has servers of its
//! own.
//!
//! In: the suite, how long its passes take and what they leave behind on each engine, the machine. Out: why builds go
//! one by one, or nothing. Rules of thumb: the sizes of rows are known.

use crate::estimate::human_bytes;
use rqps_model::Interleave;
use rqps_model::plan::{Stage, SuitePlan};
use rqps_model::settings::MachineClass;
use rqps_suites::Pace;

/// What is asked for, and what there is.
pub(crate) struct Together<'a> {
    pub(crate) suite: &'a SuitePlan,
    /// Its stages with all builds up.
    pub(crate) stages: &'a [Stage],
    /// How builds alternate, where that was said.
    pub(crate) interleave: Option<Interleave>,
    /// The largest number of clients.
    pub(crate) clients: u32,
    /// Of each treatment.
    pub(crate) paces: &'a [&'a Pace],
    pub(crate) host: MachineClass,
    pub(crate) disk_free_bytes: Option<u64>,
}

/// A server's own memory, without the data that it caches.
const SERVER_BYTES: u64 = 500_000_000;

/// A page may stand in the server's buffers and in the page cache.
const COPIES_IN_MEMORY: u64 = 2;

/// The part of memory and of what is free on the disk that builds may take together.
pub(crate) const SHARE: f64 = 0.7;

/// Why builds go one by one: the user wants turns, in which no other server needs to be up; or tests build on each
/// other, and all builds with their data do not fit. A user who wants slices gets them.
pub(crate) fn why_one_by_one(asked: &Together<'_>) -> Option<String> {
    if !asked.stages.iter().all(Stage::needs_no_others_in_turns) {
        return None;
    }
    match asked.interleave {
        Some(Interleave::Slices) => return None,
        Some(Interleave::Turns) => return Some("the campaign or a profile asks for turns".to_owned()),
        None if !asked.stages.iter().any(Stage::is_chain) => return None,
        None => {}
    }
    let host = asked.host;
    let bytes = |pace: &&Pace| rqps_suites::pass(asked.suite, asked.clients, pace, host.cores).bytes;
    let data: u64 = asked.paces.iter().map(bytes).sum();
    let memory = data * COPIES_IN_MEMORY + SERVER_BYTES * asked.paces.len() as u64;
    let does_not_fit = |needed: u64, there: u64| needed as f64 > SHARE * there as f64;
    let [memory_told, data_told] = [memory, data].map(human_bytes);
    match asked.disk_free_bytes {
        _ if does_not_fit(memory, host.memory_bytes) => Some(format!(
            "side by side they would need about {memory_told} of memory, and there are {}",
            human_bytes(host.memory_bytes)
        )),
        Some(free) if does_not_fit(data, free) => {
            Some(format!("side by side they would need about {data_told} of disk, and {} are free", human_bytes(free)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::plan;
    use rqps_model::Interleave;
    use rqps_model::plan::Alternate;

    #[test]
    fn builds_alternate_where_all_of_them_fit_or_the_user_says_so() {
        let check = |words: &[(&str, &str)], expected: Option<&str>| {
            let insert = [("suite", "insert"), ("build", "postgres:16.15"), ("build", "postgres:17.11")];
            let plan = plan(&[&insert, words].concat(), false);
            let is_one_by_one = plan.stages.iter().all(|stage| stage.alternate == Alternate::OneByOne);
            let why = plan.why_one_by_one.as_deref();
            assert_eq!((is_one_by_one, why.is_some()), (expected.is_some(), expected.is_some()), "{words:?}");
            assert!(expected.is_none_or(|part| why.is_some_and(|why| why.contains(part))), "{words:?}: {why:?}");
        };
        check(&[], None);
        check(&[("interleave", "turns")], Some("turns"));
        check(&[("profile", "x10a_io")], Some("turns"));
        check(&[("scale", "cached-small")], Some("of memory"));
        check(&[("scale", "cached-small"), ("interleave", "slices")], None);
    }

    #[test]
    fn in_turns_a_server_is_up_alone_unless_all_tests_of_a_round_share_it() {
        let told = |words: &[(&str, &str)]| {
            let builds = [("build", "postgres:16.15"), ("build", "postgres:17.11")];
            let plan = plan(&[&builds, words].concat(), false);
            let interleave = plan.stages[0].tests[0].interleave;
            (plan.servers_together(), interleave, plan.machine.expect("settled").suffix())
        };
        let tproc_c = [("suite", "tproc-c")];
        let with = |word| [&tproc_c[..], &[word]].concat();
        assert_eq!(told(&tproc_c), (2, Some(Interleave::Slices), "c2r12".to_owned()));
        // Alone, each has the memory of the whole machine.
        for word in [("interleave", "turns"), ("preset", "published"), ("keying-and-thinking", "true")] {
            assert_eq!(told(&with(word)), (1, None, "c2r24".to_owned()), "{word:?}");
        }
        assert_eq!(told(&[("interleave", "turns")]), (2, Some(Interleave::Turns), "c2r12".to_owned()));
    }

    #[test]
    fn builds_share_each_second_where_servers_stand_still_meanwhile() {
        let builds = [("build", "postgres:16.15"), ("build", "postgres:17.11")];
        let alternating = |words: &[(&str, &str)]| plan(&[&builds, words].concat(), false).alternating_builds();
        let turns = ("interleave", "turns");
        assert_eq!((alternating(&[]), alternating(&[turns])), (1, 1), "what only waits would spin in others' slices");
        for suite in [("suite", "insert"), ("suite", "tproc-c")] {
            assert_eq!((alternating(&[suite]), alternating(&[suite, turns])), (2, 1), "{suite:?}");
        }
    }
}
