//! A campaign of made-up rounds whose tests are left out as its own results say, from the first round to the last.

use crate::truth::comparison;
use rqps_analysis::findings::Findings;
use rqps_analysis::{NextRound, allot, analyse};
use rqps_madeup::{Effect, Place, Recipe, scratch_folder};
use rqps_model::Verdict;
use rqps_model::plan::{Division, Round, TimeLimit};
use rqps_store::{Campaign, Start};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Rounds that fit in the time.
const ROUNDS: u32 = 12;

/// Tests: five unchanged ones, and one that became half as fast again.
fn recipe(until_decided: bool) -> Recipe {
    let mut recipe = Recipe::new(6, 2, 0, 11);
    (recipe.cycles, recipe.slice_noise) = (40, 0.03);
    recipe.start_noise = 0.008;
    recipe.seconds = 1;
    recipe.effects = vec![Effect { treatment: 1, test: 3, ratio: 1.5 }];
    let division = Some(Division { read_seconds: true, write_seconds: true, until_decided });
    recipe.time = Some(TimeLimit { seconds: 600.0, rounds_max: 1000, division });
    recipe
}

/// The samples that these rounds leave out.
fn left_out(recipe: &Recipe, rounds: &[Round]) -> Vec<Place> {
    let mut left_out = Vec::new();
    for round in rounds {
        for (test, _) in recipe.test_names().iter().enumerate().filter(|(_, name)| !round.measures(name)) {
            left_out.extend([0, 1].map(|treatment| Place { round: round.number, treatment, test }));
        }
    }
    left_out
}

fn start(at: &str) -> Start {
    Start { at: at.to_owned(), rqps_version: "0".to_owned(), ..Start::default() }
}

/// The share of the time that rounds have used.
fn spent(rounds: &[Round]) -> f64 {
    rounds.len() as f64 / f64::from(ROUNDS)
}

/// The folder after these rounds.
fn write(recipe: &Recipe, root: &Path, rounds: &[Round]) -> PathBuf {
    let absent = left_out(recipe, rounds);
    let name = format!("after-{}", rounds.len());
    let made = Recipe { name, rounds: rounds.len() as u32, absent, ..recipe.clone() };
    let folder = made.write(root).unwrap();
    let start = start("2026-11-21T02:00:00Z");
    let mut writer = Campaign::open_to_resume(&folder, start).unwrap();
    rounds.iter().for_each(|round| writer.write_round(round).unwrap());
    writer.set_spent(spent(rounds)).unwrap();
    folder
}

/// Measures as long as there is time and something to be seen: the rounds, and what was found.
fn measure(recipe: &Recipe) -> (Vec<Round>, Findings) {
    let root = scratch_folder().unwrap();
    let mut rounds: Vec<Round> = Vec::new();
    loop {
        let campaign = Campaign::open(&write(recipe, root.path(), &rounds)).unwrap();
        let NextRound::Measures(allotment) = allot(&campaign, spent(&rounds)).unwrap() else {
            return (rounds, analyse(&campaign, None).unwrap());
        };
        let number = rounds.len() as u32 + 1;
        rounds.push(Round { allotment: Some(allotment), ..recipe.plan().round(number) });
    }
}

/// The campaign that also narrows intervals, measured once for all tests.
fn whole() -> &'static (Vec<Round>, Findings) {
    static WHOLE: OnceLock<(Vec<Round>, Findings)> = OnceLock::new();
    WHOLE.get_or_init(|| measure(&recipe(false)))
}

#[test]
fn what_is_decided_makes_room_and_what_is_left_holds_the_truth() {
    let recipe = recipe(false);
    let (rounds, found) = whole();
    let names = recipe.test_names();
    let rounds_of = |test: &str| rounds.iter().filter(|round| round.measures(test)).count();
    assert!(rounds[..2].iter().all(|round| names.iter().all(|test| round.measures(test))), "all tests come twice");
    // The change is plain to see after a few rounds; unchanged tests need more.
    assert!(!rounds[5].measures(names[3]), "{} rounds", rounds_of(names[3]));
    assert!(rounds[5].allotment.as_ref().is_some_and(|of| !of.seconds.is_empty()));
    assert!(found.campaign.is_divided && found.campaign.rounds_complete == rounds.len() as u32);
    let mut held = 0;
    for (at, name) in names.iter().enumerate() {
        let compared = comparison(found, name, 1);
        assert_eq!(compared.n as usize, rounds_of(name), "{name}");
        let expected = if at == 3 { Verdict::Improved } else { Verdict::Equal };
        assert_eq!(compared.verdict, expected, "{name}: {compared:?}");
        let truth = recipe.truth(1, at);
        held += usize::from(compared.low.unwrap() <= truth && truth <= compared.high.unwrap());
    }
    // 95 % of six.
    assert!(held >= names.len() - 1, "{held} intervals hold the truth");
}

#[test]
fn a_campaign_that_only_decides_ends_sooner() {
    let [whole, decided] = [whole(), &measure(&recipe(true))].map(|(rounds, _)| rounds.len());
    assert!(decided < whole, "{decided} rounds, {whole} with narrow intervals");
}

#[test]
fn looks_and_more_time_widen_intervals() {
    let recipe = recipe(false);
    let (rounds, root) = (&whole().0, scratch_folder().unwrap());
    let folder = write(&recipe, root.path(), rounds);
    let name = recipe.test_names()[0];
    let width = |folder: &Path| {
        let found = analyse(&Campaign::open(folder).unwrap(), None).unwrap();
        let compared = comparison(&found, name, 1);
        compared.high.unwrap() / compared.low.unwrap()
    };
    let looked_at = width(&folder);
    let start = start("2026-11-21T03:00:00Z");
    let mut writer = Campaign::open_to_resume(&folder, start).unwrap();
    writer.extend(TimeLimit { seconds: 1200.0, ..recipe.time.unwrap() }).unwrap();
    assert_eq!(width(&folder), looked_at, "no round was added");
    writer.write_round(&recipe.plan().round(rounds.len() as u32 + 1)).unwrap();
    drop(writer);
    assert!(width(&folder) > looked_at, "intervals that hold whenever one looks are wider");
    let absent = left_out(&recipe, rounds);
    let once = Recipe { name: "once".to_owned(), rounds: rounds.len() as u32, absent, time: None, ..recipe.clone() };
    assert!(width(&once.write(root.path()).unwrap()) < looked_at, "looks cost width");
}
