//! The figures as a table and as JSON: medians, and ratios of neighbours in time.

use crate::own_client::RQPS;
use rqps_stats::{Paired, median};
use serde::Serialize;

/// One client on one workload.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Row {
    workload: &'static str,
    client: String,
    unit: &'static str,
    /// By round.
    values: Vec<f64>,
    median: f64,
    /// Median over rounds of this / rqps.
    ratio: f64,
    ratio_min: f64,
    ratio_max: f64,
    /// The other way round, with how sure it is; none for rqps itself and of one round.
    rqps_over_this: Option<Interval>,
}

/// rqps / this, the geometric mean over rounds, with its 95 % interval.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Interval {
    ratio: f64,
    low: f64,
    high: f64,
}

impl Interval {
    fn of(ratios: &[f64]) -> Option<Interval> {
        let log_ratios: Vec<f64> = ratios.iter().map(|ratio| -ratio.ln()).collect();
        let estimate = Paired::new(&log_ratios).ok()?.plain()?;
        let (low, high) = estimate.ratio95();
        Some(Interval { ratio: estimate.ratio(), low, high })
    }
}

impl Row {
    /// A row from the values of a client and of rqps in the same rounds.
    pub(crate) fn new(workload: &'static str, client: &str, unit: &'static str, values: Vec<f64>, rqps: &[f64]) -> Row {
        let ratios: Vec<f64> = values.iter().zip(rqps).map(|(this, rqps)| this / rqps).collect();
        let middle = |values: &[f64]| median(values).unwrap_or(f64::NAN);
        Row {
            workload,
            client: client.to_owned(),
            unit,
            median: middle(&values),
            ratio: middle(&ratios),
            ratio_min: ratios.iter().copied().fold(f64::INFINITY, f64::min),
            ratio_max: ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            rqps_over_this: (client != RQPS).then(|| Interval::of(&ratios)).flatten(),
            values,
        }
    }
}

/// Peak memory of one of our own clients.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Memory {
    pub(crate) of: &'static str,
    /// After a tenth of the time.
    pub(crate) tenth_kb: u64,
    pub(crate) end_kb: u64,
}

/// A workload that did not come to its end.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Failure {
    pub(crate) workload: String,
    pub(crate) message: String,
}

/// All that was measured, and what was not.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Figures {
    pub(crate) rows: Vec<Row>,
    pub(crate) peak_memory: Vec<Memory>,
    pub(crate) failures: Vec<Failure>,
}

/// What stands above the rows.
pub(crate) fn header() -> String {
    format!(
        "{:<12} {:<10} {:>9} {:<13} {:>7}  {:<15} {}\n",
        "workload", "client", "median", "", "ratio", "min to max", "rqps / client"
    )
}

/// One row.
pub(crate) fn line(row: &Row) -> String {
    let range = format!("{:.2} to {:.2}", row.ratio_min, row.ratio_max);
    let inverse = row.rqps_over_this.as_ref();
    let inverse = inverse.map(|all| format!("{:.4} ({:.4} to {:.4})", all.ratio, all.low, all.high));
    let line = format!(
        "{:<12} {:<10} {:>9} {:<13} {:>7.2}  {range:<15} {}",
        row.workload,
        row.client,
        number(row.median),
        row.unit,
        row.ratio,
        inverse.unwrap_or_default()
    );
    format!("{}\n", line.trim_end())
}

/// What stands below the rows.
pub(crate) fn footer(figures: &Figures) -> String {
    let mut text = "ratio = this client / rqps, median of the rounds' ratios\n\
                    rqps / client = geometric mean of the rounds' ratios with its 95 % interval\n"
        .to_owned();
    for Memory { of, tenth_kb, end_kb } in &figures.peak_memory {
        text.push_str(&format!(
            "peak memory of {of}: {tenth_kb} KB after a tenth of the time, {end_kb} KB at its end\n"
        ));
    }
    for Failure { workload, message } in &figures.failures {
        text.push_str(&format!("failed: {workload}: {message}\n"));
    }
    text
}

/// Three digits at least, whether it is nanoseconds of a row or a million rows a second.
fn number(value: f64) -> String {
    match value {
        ..1.0 => format!("{value:.3}"),
        ..1000.0 => format!("{value:.2}"),
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_pair_values_of_one_round() {
        let row = Row::new("point", "sysbench", "us/statement", vec![2.0, 6.0, 4.0], &[1.0, 2.0, 4.0]);
        assert_eq!((row.median, row.ratio, row.ratio_min, row.ratio_max), (4.0, 2.0, 1.0, 3.0));
    }

    #[test]
    fn the_interval_is_that_of_rqps_over_the_other() {
        let row = Row::new("point", "rqps-old", "us/statement", vec![2.0; 3], &[1.0; 3]);
        assert_eq!(row.rqps_over_this, Some(Interval { ratio: 0.5, low: 0.5, high: 0.5 }));
        assert_eq!(Row::new("point", RQPS, "us/statement", vec![2.0; 3], &[2.0; 3]).rqps_over_this, None);
        assert_eq!(Row::new("point", "rqps-old", "us/statement", vec![2.0], &[1.0]).rqps_over_this, None);
        // Two log ratios 0 and d: mean d/2, standard error d/2, t of one degree of freedom.
        let row = Row::new("point", "rqps-old", "us/statement", vec![1.0, 1.0], &[1.0, 1.01]);
        let interval = row.rqps_over_this.expect("two rounds");
        let half = 12.7062_f64 * 1.01_f64.ln() / 2.0;
        assert!((interval.high / interval.ratio - half.exp()).abs() < 1e-5, "{interval:?}");
        assert!((interval.ratio - 1.01_f64.sqrt()).abs() < 1e-9, "{interval:?}");
    }

    #[test]
    fn large_and_small_figures_stand_in_their_columns() {
        let rqps = [0.2, 0.25, 0.3];
        let rows = vec![
            Row::new("insert", "rqps", "us/row", rqps.to_vec(), &rqps),
            Row::new("insert", "psycopg2", "us/row", vec![4.0, 5.0, 9.0], &rqps),
            Row::new("insert-sink", "rqps", "rows/s", vec![2_382_648.4], &[2_382_648.4]),
            Row::new("point", "rqps-old", "us/statement", vec![1.0, 1.01], &[1.01, 1.0]),
        ];
        let figures = Figures {
            rows,
            peak_memory: vec![Memory { of: "an inserter", tenth_kb: 6000, end_kb: 6004 }],
            failures: vec![Failure { workload: "point".to_owned(), message: "no luck".to_owned() }],
        };
        let lines: String = figures.rows.iter().map(line).collect();
        expect_test::expect![[r#"
            workload     client        median                 ratio  min to max      rqps / client
            insert       rqps           0.250 us/row           1.00  1.00 to 1.00
            insert       psycopg2        5.00 us/row          20.00  20.00 to 30.00  0.0437 (0.0244 to 0.0781)
            insert-sink  rqps         2382648 rows/s           1.00  1.00 to 1.00
            point        rqps-old        1.00 us/statement     1.00  0.99 to 1.01    1.0000 (0.8812 to 1.1348)
            ratio = this client / rqps, median of the rounds' ratios
            rqps / client = geometric mean of the rounds' ratios with its 95 % interval
            peak memory of an inserter: 6000 KB after a tenth of the time, 6004 KB at its end
            failed: point: no luck
        "#]]
        .assert_eq(&(header() + &lines + &footer(&figures)));
    }
}
