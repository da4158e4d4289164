//! The figures of `bench-client` as a table and as JSON: medians, and ratios of neighbours in time.

use anyhow::Result;
use rqps_stats::median;
use serde::Serialize;

/// One client on one workload.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Row {
    workload: &'static str,
    client: &'static str,
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
    pub(super) fn new(
        workload: &'static str,
        client: &'static str,
        unit: &'static str,
        values: Vec<f64>,
        rqps: &[f64],
    ) -> Row {
        let ratios: Vec<f64> = values.iter().zip(rqps).map(|(this, rqps)| this / rqps).collect();
        let middle = |values: &[f64]| median(values).unwrap_or(f64::NAN);
        Row {
            workload,
            client,
            unit,
            median: middle(&values),
            ratio: middle(&ratios),
            ratio_min: ratios.iter().copied().fold(f64::INFINITY, f64::min),
            ratio_max: ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            values,
        }
    }
}

pub(super) fn text(rows: &[Row], memory: Option<(u64, u64)>) -> String {
    let mut text =
        format!("{:<12} {:<10} {:>8} {:<13} {:>7}  {}\n", "workload", "client", "median", "", "ratio", "min to max");
    for row in rows {
        text.push_str(&format!(
            "{:<12} {:<10} {:>8.2} {:<13} {:>7.2}  {:.2} to {:.2}\n",
            row.workload, row.client, row.median, row.unit, row.ratio, row.ratio_min, row.ratio_max
        ));
    }
    text.push_str("ratio = this client / rqps, median of the rounds' ratios\n");
    if let Some((early, late)) = memory {
        text.push_str(&format!(
            "peak memory of 40 sessions: {early} KB after a tenth of the time, {late} KB at its end\n"
        ));
    }
    text
}

pub(super) fn json(rows: &[Row], memory: Option<(u64, u64)>) -> Result<String> {
    let memory = memory.map(|(early, late)| serde_json::json!({"tenth_kb": early, "end_kb": late}));
    Ok(serde_json::to_string_pretty(&serde_json::json!({"rows": rows, "peak_memory": memory}))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_pair_values_of_one_round() {
        let row = Row::new("point", "sysbench", "us/statement", vec![2.0, 6.0, 4.0], &[1.0, 2.0, 4.0]);
        assert_eq!((row.median, row.ratio, row.ratio_min, row.ratio_max), (4.0, 2.0, 1.0, 3.0));
    }
}
