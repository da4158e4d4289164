//! The figures of `bench-client` as a table and as JSON: medians, and ratios of neighbours in time.

use rqps_stats::median;
use serde::Serialize;

/// One client on one workload.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Row {
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
}

impl Row {
    /// A row from the values of a client and of rqps in the same rounds.
    pub(super) fn new(workload: &'static str, client: &str, unit: &'static str, values: Vec<f64>, rqps: &[f64]) -> Row {
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
            values,
        }
    }
}

/// Peak memory of one of our own clients.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Memory {
    pub(super) of: &'static str,
    /// After a tenth of the time.
    pub(super) tenth_kb: u64,
    pub(super) end_kb: u64,
}

/// A workload that did not come to its end.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Failure {
    pub(super) workload: String,
    pub(super) message: String,
}

/// All that was measured, and what was not.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(super) struct Figures {
    pub(super) rows: Vec<Row>,
    pub(super) peak_memory: Vec<Memory>,
    pub(super) failures: Vec<Failure>,
}

/// What stands above the rows.
pub(super) fn header() -> String {
    format!("{:<12} {:<10} {:>9} {:<13} {:>7}  {}\n", "workload", "client", "median", "", "ratio", "min to max")
}

/// One row.
pub(super) fn line(row: &Row) -> String {
    format!(
        "{:<12} {:<10} {:>9} {:<13} {:>7.2}  {:.2} to {:.2}\n",
        row.workload,
        row.client,
        number(row.median),
        row.unit,
        row.ratio,
        row.ratio_min,
        row.ratio_max
    )
}

/// What stands below the rows.
pub(super) fn footer(figures: &Figures) -> String {
    let mut text = "ratio = this client / rqps, median of the rounds' ratios\n".to_owned();
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
    fn large_and_small_figures_stand_in_their_columns() {
        let rqps = [0.2, 0.25, 0.3];
        let rows = vec![
            Row::new("insert", "rqps", "us/row", rqps.to_vec(), &rqps),
            Row::new("insert", "psycopg2", "us/row", vec![4.0, 5.0, 9.0], &rqps),
            Row::new("insert-sink", "rqps", "rows/s", vec![2_382_648.4], &[2_382_648.4]),
        ];
        let figures = Figures {
            rows,
            peak_memory: vec![Memory { of: "an inserter", tenth_kb: 6000, end_kb: 6004 }],
            failures: vec![Failure { workload: "point".to_owned(), message: "no luck".to_owned() }],
        };
        let lines: String = figures.rows.iter().map(line).collect();
        let expected = "\
workload     client        median                 ratio  min to max
insert       rqps           0.250 us/row           1.00  1.00 to 1.00
insert       psycopg2        5.00 us/row          20.00  20.00 to 30.00
insert-sink  rqps         2382648 rows/s           1.00  1.00 to 1.00
ratio = this client / rqps, median of the rounds' ratios
peak memory of an inserter: 6000 KB after a tenth of the time, 6004 KB at its end
failed: point: no luck
";
        assert_eq!(header() + &lines + &footer(&figures), expected);
    }
}
