//! The columns of a step's published line: name, format as published, plain name and unit for readers.
//!
//! One list for `mrg.*`, `rel.*` and the page, so that a column is described once.

use crate::number;
use rqps_analysis::findings::InsertColumns;

/// One column.
pub(crate) struct Column {
    /// As published.
    pub(crate) name: &'static str,
    /// What the page calls it.
    pub(crate) title: &'static str,
    /// Its value, where there is one.
    pub(crate) value: fn(&InsertColumns) -> Option<f64>,
    /// Decimals as published.
    pub(crate) decimals: usize,
    /// Its value as text with unit.
    pub(crate) show: fn(f64) -> String,
}

/// The last column, which names the treatment.
pub(crate) const TAG: &str = "tag";

/// Stands where a column has no value.
const ABSENT: &str = "NA";

impl Column {
    /// Whether it is a percentage, whose changes are shown in points.
    pub(crate) fn is_share(&self) -> bool {
        self.name == "cpups"
    }

    /// As published; `NA` where there is nothing.
    pub(crate) fn published(&self, metrics: &InsertColumns) -> String {
        let decimals = self.decimals;
        let value = (self.value)(metrics).filter(|value| value.is_finite());
        value.map_or_else(|| ABSENT.to_owned(), |value| format!("{value:.decimals$}"))
    }

    /// The ratio as published: nothing to nothing is 1, something to nothing is inf. Values are taken in full, so that
    /// what prints as 0.0 on a laptop still has its ratio.
    pub(crate) fn relative(&self, this: &InsertColumns, base: &InsertColumns) -> String {
        let finite = |metrics| (self.value)(metrics).filter(|value| value.is_finite());
        let (Some(this), Some(base)) = (finite(this), finite(base)) else { return ABSENT.to_owned() };
        match (this == 0.0, base == 0.0) {
            (true, true) => "1".to_owned(),
            (false, true) => "inf".to_owned(),
            _ => format!("{:.2}", this / base),
        }
    }
}

fn count(value: f64) -> String {
    number::significant(value, 3)
}

fn unit(value: f64, unit: &str) -> String {
    if value == 0.0 { "0".to_owned() } else { format!("{} {unit}", number::significant(value, 3)) }
}

fn megabytes_per_s(value: f64) -> String {
    unit(value, "MB/s")
}

fn kilobytes(value: f64) -> String {
    unit(value, "KB")
}

fn gigabytes(value: f64) -> String {
    number::bytes(value * f64::from(1 << 30))
}

fn percent(value: f64) -> String {
    number::percent(value / 100.0)
}

fn seconds(value: f64) -> String {
    number::duration_us(value * 1e6)
}

const fn column(
    name: &'static str,
    title: &'static str,
    decimals: usize,
    value: fn(&InsertColumns) -> Option<f64>,
    show: fn(f64) -> String,
) -> Column {
    Column { name, title, value, decimals, show }
}

/// All of them, in published order.
pub(crate) const ALL: [Column; 20] = [
    column("ips", "Rows inserted (l.x: indexed)/s", 0, |m| Some(m.ips), number::grouped),
    column("qps", "Queries/s", 0, |m| Some(m.qps), number::grouped),
    column("rps", "Device reads/s", 0, |m| Some(m.rps), count),
    column("rmbps", "Read from the device", 1, |m| Some(m.rmbps), megabytes_per_s),
    column("wps", "Device writes/s", 1, |m| Some(m.wps), count),
    column("wmbps", "Written to the device", 1, |m| Some(m.wmbps), megabytes_per_s),
    column("rpq", "Device reads per operation", 3, |m| Some(m.rpq), count),
    column("rkbpq", "Read per operation", 3, |m| Some(m.rkbpq), kilobytes),
    column("wpi", "Device writes per row inserted", 3, |m| Some(m.wpi), count),
    column("wkbpi", "Written per row inserted", 3, |m| Some(m.wkbpi), kilobytes),
    column("csps", "Context switches/s", 0, |m| Some(m.csps), number::grouped),
    column("cpups", "CPU in use, all processes", 1, |m| Some(m.cpups), percent),
    column("cspq", "Context switches per operation", 3, |m| Some(m.cspq), count),
    column("cpupq", "CPU per operation, all processes", 0, |m| Some(m.cpupq), number::duration_us),
    column("dbgb1", "Database at the end", 1, |m| Some(m.dbgb1), gigabytes),
    column("dbgb2", "Data folder at the end", 1, |m| Some(m.dbgb2), gigabytes),
    column("rss", "Server memory at the end", 1, |m| Some(m.rss), gigabytes),
    column("maxop", "Largest response time", 3, |m| Some(m.maxop), seconds),
    column("p50", "Rate exceeded in 50 % of seconds", 0, |m| m.p50, number::grouped),
    column("p99", "Rate exceeded in 99 % of seconds: a low one", 0, |m| m.p99, number::grouped),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_taken_before_rounding() {
        let column = ALL.iter().find(|column| column.name == "dbgb1").expect("it is published");
        let with = |dbgb1| InsertColumns { dbgb1, ..InsertColumns::default() };
        assert_eq!(column.published(&with(0.021)), "0.0");
        let relative = |this, base| column.relative(&with(this), &with(base));
        let shown = [relative(0.021, 0.014), relative(0.0, 0.0), relative(1.0, 0.0), relative(0.0, 1.0)];
        assert_eq!(shown, ["1.50", "1", "inf", "0.00"]);
        assert_eq!(relative(f64::NAN, 1.0), "NA");
    }
}
