//! Rounds of a comparison: every client once in each, at every place in turn, so that none always follows the same
//! other.
//!
//! In: how many clients and rounds, and what measures a client, or all of them side by side. Out: values by client and
//! round, all of whole rounds.

use crate::output::say;
use crate::table::Row;
use anyhow::Result;

/// What came out of a workload: rows, and why there are no more.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    pub(crate) rows: Vec<Row>,
    pub(crate) failure: Option<anyhow::Error>,
}

impl Measured {
    /// A workload that failed before it began.
    pub(crate) fn nothing(failure: anyhow::Error) -> Measured {
        Measured { rows: Vec::new(), failure: Some(failure) }
    }
}

/// Values by client, of the rounds that ran to their end, and why the next one didn't.
#[derive(Debug)]
pub(crate) struct Rounds<T> {
    pub(crate) values: Vec<Vec<T>>,
    pub(crate) failure: Option<anyhow::Error>,
}

/// Runs `measure` for every client in every round.
pub(crate) fn alternate<T>(
    workload: &str,
    clients: usize,
    rounds: u32,
    mut measure: impl FnMut(usize) -> Result<T>,
) -> Rounds<T> {
    side_by_side(workload, clients, rounds, |round| {
        let mut values: Vec<Option<T>> = (0..clients).map(|_| None).collect();
        for client in (0..clients).map(|turn| (turn + round) % clients) {
            values[client] = Some(measure(client)?);
        }
        Ok(values.into_iter().flatten().collect())
    })
}

/// Runs `measure` for every round, which has a value for each client.
pub(crate) fn side_by_side<T>(
    workload: &str,
    clients: usize,
    rounds: u32,
    mut measure: impl FnMut(usize) -> Result<Vec<T>>,
) -> Rounds<T> {
    let mut all = Rounds { values: (0..clients).map(|_| Vec::new()).collect(), failure: None };
    for round in 0..rounds as usize {
        say(&format!("{workload}: round {}/{rounds}", round + 1));
        match measure(round) {
            Ok(measured) => all.values.iter_mut().zip(measured).for_each(|(values, value)| values.push(value)),
            Err(error) => {
                all.failure = Some(error);
                break;
            }
        }
    }
    all
}

impl<T> Rounds<T> {
    /// One figure of each value, without why there are no more.
    pub(crate) fn map(&self, figure: fn(&T) -> f64) -> Rounds<f64> {
        let values = self.values.iter().map(|values| values.iter().map(figure).collect());
        Rounds { values: values.collect(), failure: None }
    }
}

impl Rounds<f64> {
    /// A row for each client, the first being rqps.
    pub(crate) fn rows(self, workload: &'static str, clients: &[&str], unit: &'static str) -> Measured {
        let Some(rqps) = self.values.first().filter(|values| !values.is_empty()).cloned() else {
            return Measured { rows: Vec::new(), failure: self.failure };
        };
        let rows = clients.iter().zip(self.values);
        let rows = rows.map(|(client, values)| Row::new(workload, client, unit, values, &rqps)).collect();
        Measured { rows, failure: self.failure }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::bail;

    #[test]
    fn every_client_stands_at_every_place() {
        let mut order = Vec::new();
        let rounds = alternate("x", 3, 3, |client| {
            order.push(client);
            Ok(client as f64)
        });
        assert_eq!(order, [0, 1, 2, 1, 2, 0, 2, 0, 1]);
        assert_eq!(rounds.values, [[0.0; 3], [1.0; 3], [2.0; 3]]);
        assert!(rounds.failure.is_none());
    }

    #[test]
    fn what_fails_leaves_the_rounds_before() {
        let mut calls = 0;
        let rounds = alternate("x", 2, 5, |client| {
            calls += 1;
            if calls > 5 { bail!("no more") } else { Ok(1.0 + client as f64) }
        });
        let measured = rounds.rows("x", &["rqps", "other"], "us/row");
        assert_eq!(measured.rows.len(), 2);
        assert_eq!(measured.rows[1], Row::new("x", "other", "us/row", vec![2.0; 2], &[1.0; 2]));
        assert!(measured.failure.is_some_and(|error| error.to_string() == "no more"));

        let rounds: Rounds<f64> = alternate("x", 2, 5, |_| bail!("at once"));
        let measured = rounds.rows("x", &["rqps", "other"], "us/row");
        assert!(measured.rows.is_empty() && measured.failure.is_some());
    }
}
