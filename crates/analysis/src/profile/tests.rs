//! Stacks made for each rule, and the functions and frames that come of them.

use super::compared::compared;
use super::stacks::{Stacks, Weighed};
use super::{Sampled, absence, parts, warnings};
use crate::findings::{Absence, Amount, FunctionFindings, ProfileFindings};
use rqps_model::Sample;
use rqps_model::profile::ProfileFacts;
use std::collections::BTreeMap;

/// By file, its functions.
type Listed = BTreeMap<String, Vec<String>>;

/// Rounds with these stacks on base and build, each sample of which stands for a microsecond.
fn found<Text: AsRef<str>>(rounds: &[[Text; 2]]) -> ProfileFindings {
    found_in(rounds, &Listed::new())
}

/// The same where functions are known to be of source files.
fn found_in<Text: AsRef<str>>(rounds: &[[Text; 2]], sources: &Listed) -> ProfileFindings {
    let modules = Listed::from([("libc.so.6".to_owned(), vec!["memcpy".to_owned()])]);
    let mut stacks = Stacks::default();
    for round in rounds {
        let [base, own] = round.each_ref().map(|folded| folded.as_ref().as_bytes());
        let weighed = |folded| Weighed { folded, modules: &modules, sources, us: 1.0 };
        stacks.add([weighed(base), weighed(own)]);
    }
    compared(&stacks)
}

fn amount(functions: &[FunctionFindings], name: &str) -> Amount {
    functions.iter().find(|function| function.name == name).unwrap_or_else(|| panic!("no {name}")).amount
}

#[test]
fn time_is_that_of_the_innermost_function_and_inclusive_that_of_all_above() {
    let base = "main;scan;read page 100\nmain;scan 50\nmain;send 30\n";
    let own = "main;scan;read page 40\nmain;scan 50\nmain;send 30\n";
    let found = found(&[[base, own]; 4]);
    assert_eq!((found.rounds, found.base_samples, found.samples), (4, 720, 480));
    // Names hold spaces.
    let page = amount(&found.functions, "read page");
    assert_eq!((page.base_us, page.us, page.difference_us), (100.0, 40.0, -60.0));
    assert!(page.is_sure && page.high_us < 0.0);
    assert!(found.functions.iter().all(|function| function.name != "main"), "it only calls others");
    let inclusive = |name| amount(&found.inclusive, name).difference_us;
    assert_eq!((inclusive("main"), inclusive("scan"), inclusive("send")), (-60.0, -60.0, 0.0));
    assert_eq!(found.moved().map(|function| function.name.as_str()).collect::<Vec<_>>(), ["read page"]);
    assert_eq!((found.rest_count, found.rest.difference_us), (2, 0.0));
    assert!((found.total.difference_us - (page.difference_us + found.rest.difference_us)).abs() < 1e-9);
}

#[test]
fn a_function_that_calls_itself_is_counted_once() {
    let stacks = "main;walk;walk;walk 90\nmain;walk;leaf 10\n";
    let found = found(&[[stacks, stacks]; 2]);
    assert_eq!(amount(&found.inclusive, "walk").us, 100.0);
    assert_eq!(amount(&found.functions, "walk").us, 90.0);
}

#[test]
fn what_is_gone_and_what_is_new_is_seen() {
    let found = found(&[["main;old 80\n", "main;new 60\n"]; 3]);
    let (old, new) = (amount(&found.functions, "old"), amount(&found.functions, "new"));
    assert!(old.is_sure && new.is_sure);
    assert_eq!((old.us, new.base_us, found.total.difference_us), (0.0, 0.0, -20.0));
    let shown: Vec<(&str, u32)> = found.graph.iter().map(|frame| (frame.name.as_str(), frame.depth)).collect();
    assert_eq!(shown, [("main", 0), ("new", 1), ("old", 1)]);
}

#[test]
fn how_a_version_starts_its_sessions_makes_no_other_stacks() {
    let base = "main;ServerLoop;PostgresMain;scan 90\nmain;checkpoint 30\n";
    let own = "main;ServerLoop;BackendMain;PostgresMain;scan 60\nmain;checkpoint 30\n";
    let graph = found(&[[base, own]; 3]).graph;
    let scan: Vec<(f64, f64)> = graph
        .iter()
        .filter(|frame| frame.name == "scan")
        .map(|frame| (frame.amount.base_us, frame.amount.us))
        .collect();
    assert_eq!(scan, [(90.0, 60.0)]);
    assert!(graph.iter().any(|frame| frame.name == "main") && graph.iter().all(|frame| frame.name != "ServerLoop"));
    let threads = ["start_thread;handle_one_connection;do_command(THD*) 5\n", "pfs_spawn_thread;do_command 5\n"];
    assert_eq!(found(&[threads; 3]).graph.iter().map(|frame| frame.depth).max(), Some(0));
}

#[test]
fn sessions_of_one_purpose_are_stacks_of_their_own() {
    let base = "[inserter];main;PostgresMain;scan 90\n[deleter];main;PostgresMain;scan 40\n";
    let own = "[inserter];main;PostgresMain;scan 90\n[deleter];main;Backend;PostgresMain;scan 140\n";
    let found = found(&[[base, own]; 4]);
    let roles: Vec<(&str, f64)> =
        found.roles.iter().map(|role| (role.name.as_str(), role.amount.difference_us)).collect();
    assert_eq!(roles, [("deleters", 100.0), ("inserters", 0.0)]);
    assert_eq!(amount(&found.functions, "scan").difference_us, 100.0);
    let of_deleter: Vec<&str> =
        found.graph.iter().skip_while(|frame| frame.name != "[deleter]").map(|frame| frame.name.as_str()).collect();
    assert_eq!(of_deleter[..3], ["[deleter]", "PostgresMain", "scan"]);
}

#[test]
fn few_samples_are_of_the_rest_and_narrow_frames_are_left_out() {
    let stacks = "main;often 10000\nmain;rare 2\n";
    let found = found(&[[stacks, stacks]; 3]);
    assert!(found.functions.iter().all(|function| function.name != "rare"));
    assert!((found.rest.us - 10002.0).abs() < 1e-9 && found.rest_count == 2);
    assert!(found.graph.iter().all(|frame| frame.name != "rare"));
}

#[test]
fn lines_that_are_no_stacks_are_left_out() {
    let found = found(&[["main 30\n\nno count\nmain x\n -1\n", "main 30"]]);
    assert_eq!((found.base_samples, found.samples, found.rounds), (30, 30, 1));
    assert!(!amount(&found.functions, "main").is_sure);
}

#[test]
fn functions_are_summed_up_by_process_and_by_file() {
    let base = "ServerLoop;PostgresMain;scan 100\nServerLoop;PostgresMain;memcpy 60\nCheckpointerMain;read_[k] 40\n";
    let own = "ServerLoop;PostgresMain;scan 100\nServerLoop;PostgresMain;memcpy 90\nCheckpointerMain;read_[k] 40\n";
    let found = found(&[[base, own]; 4]);
    let times = |groups: &[FunctionFindings]| -> Vec<(String, f64, f64)> {
        groups.iter().map(|group| (group.name.clone(), group.amount.base_us, group.amount.us)).collect()
    };
    let one = |name: &str, base, own| (name.to_owned(), base, own);
    assert_eq!(times(&found.roles), [one("sessions", 160.0, 190.0), one("checkpointer", 40.0, 40.0)]);
    let files = [one("libc.so.6", 60.0, 90.0), one("kernel", 40.0, 40.0), one("server", 100.0, 100.0)];
    assert_eq!(times(&found.files), files);
}

/// Each function gains too little to be shown to, and all of them together enough.
#[test]
fn functions_of_one_source_file_are_found_together() {
    let names: Vec<String> = (0..10).map(|at| format!("step_{at}")).collect();
    let round = |each: u64| {
        let steps: String = names.iter().map(|name| format!("main;{name} {each}\n")).collect();
        format!("main;scan 9000\n{steps}")
    };
    let rounds = [[round(40), round(50)], [round(41), round(49)], [round(39), round(51)]];
    let sources = Listed::from([("nbtree/steps.c".to_owned(), names.clone())]);
    let profile = found_in(&rounds, &sources);
    assert_eq!(profile.moved().count(), 0, "{:?}", profile.functions);
    let told: Vec<(&str, bool)> =
        profile.sources.iter().map(|group| (group.name.as_str(), group.amount.is_sure)).collect();
    assert_eq!(told, [("nbtree/steps.c", true), ("server", false)]);
    assert!((profile.sources[0].amount.difference_us - 100.0).abs() < 1e-9, "{:?}", profile.sources);
    assert_eq!(found(&rounds).sources, [], "no build has debug information");
}

#[test]
fn a_build_without_code_of_its_own_for_a_function_is_named() {
    let mut pair = (sampled(None, [1.0, 1.0]), sampled(None, [1.0, 1.0]));
    pair.0.facts.absent.insert("new".to_owned(), Some(Vec::new()));
    pair.1.facts.absent.insert("deep".to_owned(), Some(vec!["insert".to_owned()]));
    pair.1.facts.absent.insert("lost".to_owned(), None);
    let pairs = [(sampled(None, [1.0, 1.0]), sampled(None, [1.0, 1.0])), pair];
    let found = |name| absence(&pairs, name).map(|Absence { in_base, inlined_into }| (in_base, inlined_into));
    assert_eq!(found("new"), Some((true, Some(Vec::new()))));
    assert_eq!(found("deep"), Some((false, Some(vec!["insert".to_owned()]))));
    assert_eq!(found("lost"), Some((false, None)));
    assert_eq!(found("there"), None);
}

#[test]
fn what_samples_stand_for_is_summed_up_over_rounds() {
    let mut pair = (sampled(Some(3000), [9.0, 4.0]), sampled(Some(4000), [10.0, 4.0]));
    pair.1.facts.uncounted = 2000;
    pair.1.facts.background = 500;
    let pairs = [pair, (sampled(Some(3000), [9.0, 4.0]), sampled(Some(2000), [10.0, 4.0]))];
    assert_eq!(parts(&pairs, Sampled::cpu_seconds), Some([26.0 / 26.0, 28.5 / 28.0]));
    assert_eq!(parts(&pairs, Sampled::outside), Some([0.0, 2500.0 / 22_500.0]));
    assert_eq!(parts(&[], Sampled::cpu_seconds), None);
}

/// A server that was sampled for 10 s of CPU time, and its client for so many samples of a millisecond.
fn sampled(client: Option<u64>, [server_s, client_s]: [f64; 2]) -> Sampled {
    let mut sample = Sample::default();
    sample.resources.server.cpu_user_s = server_s;
    sample.resources.client.cpu_system_s = client_s;
    let facts = ProfileFacts { period_ns: 1_000_000, samples: 10_000, client, ..ProfileFacts::default() };
    Sampled { sample, facts, stacks: Vec::new() }
}

#[test]
fn samples_are_held_against_the_cpu_time_of_server_and_client() {
    let told = |client, counted_s| {
        let pair = (sampled(client, counted_s), sampled(Some(4000), [10.0, 4.0]));
        warnings(&[pair], None, ["old", "new"])
    };
    // The system charged a second of the server's to the client.
    assert_eq!(told(Some(3000), [9.0, 4.0]), [""; 0]);
    let of_both = "samples of old and its client stand for 13.0 s of CPU time, the system counted 15.0 s";
    assert_eq!(told(Some(3000), [11.0, 4.0]), [of_both]);
    // A folder from before the client was sampled.
    assert_eq!(told(None, [9.0, 4.0]), ["samples of old stand for 10.0 s of CPU time, the system counted 9.0 s"]);
    let mut stolen = sampled(None, [8.5, 4.0]);
    stolen.sample.resources.host.cpu_steal_s = 2.0;
    let of_old = "samples of old stand for 10.0 s of CPU time, the system counted 8.5 s: the hypervisor took 2.0 s \
                  from the host meanwhile, which the clock that samples does not take off";
    assert_eq!(warnings(&[(stolen, sampled(Some(4000), [10.0, 4.0]))], None, ["old", "new"]), [of_old]);
}
