//! What the server did of its own accord in a step: checkpoints and vacuums, dated by the counters that they move.
//!
//! In: watch rows, about one a second. Out: [`Mark`]s in order of time. A counter that falls was set back, which is no
//! event; what ended between two rows that the server did not answer is dated by the first that it did.

use crate::findings::Mark;
use rqps_model::sample::MonitorRow;

/// Counters of what has ended, and the word for one of them.
const COUNTED: [(&str, &str); 2] = [("checkpoints", "checkpoint"), ("vacuums", "vacuum")];

/// All events of a step.
pub(super) fn marks(watch: &[MonitorRow]) -> Vec<Mark> {
    let mut found = Vec::new();
    for (counter, word) in COUNTED {
        let known: Vec<(f64, f64)> =
            watch.iter().filter_map(|row| Some((row.second, *row.server.get(counter)?))).collect();
        let moved = known.windows(2).filter(|pair| pair[1].1 > pair[0].1);
        found.extend(moved.map(|pair| Mark { second: pair[1].0, what: word.to_owned() }));
    }
    found.sort_by(|a, b| a.second.total_cmp(&b.second));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_dated_by_their_counters() {
        let row = |(second, numbers): (u32, &[(&str, f64)])| MonitorRow {
            second: f64::from(second),
            server: numbers.iter().map(|&(name, value)| (name.to_owned(), value)).collect(),
            ..MonitorRow::default()
        };
        let rows: [(u32, &[(&str, f64)]); 6] = [
            (1, &[("checkpoints", 5.0), ("vacuums", 1.0)]),
            (2, &[("checkpoints", 5.0), ("vacuums", 3.0)]),
            (3, &[]),
            (4, &[("checkpoints", 6.0), ("vacuums", 3.0)]),
            (5, &[("checkpoints", 0.0), ("vacuums", 3.0)]),
            (6, &[("checkpoints", 1.0)]),
        ];
        let watch: Vec<MonitorRow> = rows.into_iter().map(row).collect();
        let told: Vec<(f64, String)> = marks(&watch).into_iter().map(|mark| (mark.second, mark.what)).collect();
        let expected = [(2.0, "vacuum"), (4.0, "checkpoint"), (6.0, "checkpoint")];
        assert_eq!(told, expected.map(|(second, what)| (second, what.to_owned())));
        assert!(marks(&watch[..1]).is_empty());
    }
}
