//! Planted changes in words: what was planted, in how many intervals it was found, and how many show one that nobody
//! planted.
//!
//! In: findings. Out: a sentence for each treatment in which a change was planted.

use crate::{number, order};
use rqps_analysis::findings::{Findings, PlantedFindings};

/// `planted −1.0 % (control): found in 27 of 32 intervals, 30 of 32 contain the true ratio; of the base measured again
/// 1 of 32 intervals shows a change that nobody planted`; `None` where nothing was planted.
pub(crate) fn of(findings: &Findings, treatment: usize) -> Option<String> {
    let name = &order::short_names(findings)[treatment];
    findings.planted.iter().find(|planted| planted.treatment == treatment).map(|planted| line(planted, name))
}

fn line(planted: &PlantedFindings, name: &str) -> String {
    let (least, most) = (number::change(planted.most), number::change(planted.least));
    let size = if least == most { least } else { format!("{least} to {most}") };
    let intervals = planted.intervals;
    let known = match intervals {
        0 => "no interval yet, which takes two rounds".to_owned(),
        _ => format!(
            "found in {} of {intervals} intervals, {} of {intervals} contain the true ratio",
            planted.found, planted.held
        ),
    };
    let unplanted = match (planted.unplanted_intervals, planted.unplanted_found) {
        (0, _) => String::new(),
        (all, 1) => format!("; of the base measured again 1 of {all} intervals shows a change that nobody planted"),
        (all, found) => {
            format!("; of the base measured again {found} of {all} intervals show a change that nobody planted")
        }
    };
    format!("planted {size} ({name}): {known}{unplanted}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_planted_is_told_with_what_was_found() {
        let planted = PlantedFindings {
            treatment: 2,
            share: 0.01,
            ratio: 0.99,
            least: 0.9898,
            most: 0.9902,
            side_cost: 0.1,
            intervals: 32,
            found: 27,
            held: 30,
            unplanted_intervals: 0,
            unplanted_found: 0,
        };
        let plain = "planted −1.0 % (control): found in 27 of 32 intervals, 30 of 32 contain the true ratio";
        assert_eq!(line(&planted, "control"), plain);
        let told = |planted: PlantedFindings| line(&planted, "control").replace(plain, "...");
        let beside = |unplanted_found| PlantedFindings { unplanted_intervals: 32, unplanted_found, ..planted.clone() };
        let again = "...; of the base measured again";
        assert_eq!(told(beside(1)), format!("{again} 1 of 32 intervals shows a change that nobody planted"));
        assert_eq!(told(beside(0)), format!("{again} 0 of 32 intervals show a change that nobody planted"));
        let uneven = PlantedFindings { least: 0.985, intervals: 0, ..planted.clone() };
        assert_eq!(told(uneven), "planted −1.0 % to −1.5 % (control): no interval yet, which takes two rounds");
    }
}
