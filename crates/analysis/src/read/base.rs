//! The word that a user gave for the base → one treatment of the campaign.
//!
//! In: the plan, the builds as they were found, and perhaps a word. Out: an index, or an error that names what there
//! is. A treatment's name always wins; a build's name or version does where it fits one treatment only,
//! and so does a treatment's name without the machine.

use crate::AnalysisError;
use rqps_model::Plan;
use rqps_model::facts::BuildFacts;

/// How unlike a name may be to be offered: at most this share of its letters.
const MOST_UNLIKE: f64 = 0.5;

/// The requested base, or the plan's.
pub(crate) fn choose(plan: &Plan, builds: &[&BuildFacts], asked: Option<&str>) -> Result<usize, AnalysisError> {
    let Some(asked) = asked else {
        return Ok(plan.base);
    };
    let names: Vec<String> = plan.treatments.iter().map(|treatment| treatment.name.clone()).collect();
    if let Some(exact) = names.iter().position(|name| name == asked) {
        return Ok(exact);
    }
    let fits = |build: &BuildFacts| {
        let version = &build.version;
        [build.name.clone(), version.to_string(), version.compact(build.engine)].iter().any(|name| name == asked)
            || format!("{}:{version}", build.engine) == asked
    };
    let is_name = |name: &str| name.strip_prefix(asked).and_then(|rest| rest.strip_prefix('_')).is_some_and(is_machine);
    let is_meant = |&at: &usize| builds.get(at).is_some_and(|build| fits(build)) || is_name(&names[at]);
    let fitting: Vec<usize> = (0..names.len()).filter(is_meant).collect();
    match fitting.as_slice() {
        [one] => Ok(*one),
        [] => Err(AnalysisError::UnknownBase { asked: asked.to_owned(), nearest: nearest(asked, &names), names }),
        several => {
            let names = several.iter().map(|&at| names[at].clone()).collect();
            Err(AnalysisError::AmbiguousBase { asked: asked.to_owned(), names })
        }
    }
}

/// Whether this is a machine class, such as `c8r32`: a treatment may be named without.
fn is_machine(text: &str) -> bool {
    let is_number = |text: &str| text.parse::<u32>().is_ok();
    text.strip_prefix('c').and_then(|rest| rest.split_once('r')).is_some_and(|(c, r)| is_number(c) && is_number(r))
}

fn nearest(asked: &str, names: &[String]) -> Option<String> {
    let (distance, name) = names.iter().map(|name| (strsim::levenshtein(asked, name), name)).min()?;
    (distance as f64 <= MOST_UNLIKE * name.chars().count() as f64).then(|| name.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_offered_if_near() {
        let names = ["pg1615_zonky.x10a_c2r8".to_owned(), "pg1711_zonky.x10a_c2r8".to_owned()];
        assert_eq!(nearest("pg1711_zonki.x10a_c2r8", &names), Some(names[1].clone()));
        assert_eq!(nearest("mysql", &names), None);
    }
}
