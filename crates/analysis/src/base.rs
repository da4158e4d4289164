//! The word that a user gave for the base → one treatment of the campaign.
//!
//! In: the plan, the builds as they were found, and perhaps a word. Out: an index, or an error that names what there
//! is. A treatment's name always wins; a build's name or version does where it fits one treatment only.

use crate::AnalysisError;
use rqps_model::Plan;
use rqps_model::facts::BuildFacts;

/// How unlike a name may be to be offered: at most this share of its letters.
const MOST_UNLIKE: f64 = 0.5;

/// The base asked for, or the plan's.
pub(crate) fn choose(plan: &Plan, builds: &[&BuildFacts], asked: Option<&str>) -> Result<usize, AnalysisError> {
    let Some(asked) = asked else {
        return Ok(plan.base);
    };
    let names: Vec<String> = plan.treatments.iter().map(|treatment| treatment.name.clone()).collect();
    if let Some(exact) = names.iter().position(|name| name == asked) {
        return Ok(exact);
    }
    let fits = |build: &BuildFacts| build.name == asked || build.version.to_string() == asked;
    let fitting: Vec<usize> = (0..names.len()).filter(|&at| builds.get(at).is_some_and(|build| fits(build))).collect();
    match fitting.as_slice() {
        [one] => Ok(*one),
        [] => Err(AnalysisError::UnknownBase { asked: asked.to_owned(), nearest: nearest(asked, &names), names }),
        several => {
            let names = several.iter().map(|&at| names[at].clone()).collect();
            Err(AnalysisError::AmbiguousBase { asked: asked.to_owned(), names })
        }
    }
}

fn nearest(asked: &str, names: &[String]) -> Option<String> {
    let (distance, name) = names.iter().map(|name| (edits(asked, name), name)).min()?;
    (distance as f64 <= MOST_UNLIKE * name.chars().count() as f64).then(|| name.clone())
}

/// Letters to insert, delete or replace to get from one word to the other (Levenshtein).
fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, letter) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, other) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_edits() {
        for (from, to, expected) in
            [("", "abc", 3), ("abc", "abc", 0), ("pg1711", "pg1611", 1), ("kitten", "sitting", 3)]
        {
            assert_eq!(edits(from, to), expected, "{from} {to}");
            assert_eq!(edits(to, from), expected, "{to} {from}");
        }
    }

    #[test]
    fn the_nearest_name_is_offered_if_near() {
        let names = ["pg1615_zonky.x10a_c2r8".to_owned(), "pg1711_zonky.x10a_c2r8".to_owned()];
        assert_eq!(nearest("pg1711_zonki.x10a_c2r8", &names), Some(names[1].clone()));
        assert_eq!(nearest("mysql", &names), None);
    }
}
