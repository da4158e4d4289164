//! The costs per operation that a report shows: name, words, unit, how to read each from [`Cost`].
//!
//! One list for the page and for the file of true units, so that a metric is described once.

use crate::{number, suite};
use rqps_analysis::findings::{Cost, CostField, Findings, TestFindings};
use rqps_model::Unit;

/// One cost.
pub(crate) struct Metric {
    /// Its field; the name is also the key of `Cost::relative` and the column in files.
    pub(crate) cost: CostField,
    /// What the page calls it.
    pub(crate) title: &'static str,
    /// What a sentence calls it.
    pub(crate) in_words: &'static str,
    /// Its value as text with unit.
    pub(crate) show: fn(f64) -> String,
}

impl Metric {
    /// Whether it is a share of a whole, whose changes are shown in percentage points.
    pub(crate) fn is_share(&self) -> bool {
        self.cost.name.ends_with("_share")
    }
}

/// What a test's costs are per.
pub(crate) fn per(findings: &Findings, test: &TestFindings) -> &'static str {
    match test.unit {
        Unit::KiloRowsPerSecond => "1000 rows",
        Unit::QueriesPerSecond | Unit::RowsPerSecond | Unit::NewOrdersPerMinute => suite::operation(findings),
    }
}

pub(crate) fn count(value: f64) -> String {
    number::significant(value, 3)
}

fn kilobytes(value: f64) -> String {
    if value == 0.0 { "0".to_owned() } else { format!("{} KB", number::significant(value, 3)) }
}

fn written_bytes(value: f64) -> String {
    if value == 0.0 { "0".to_owned() } else { number::bytes(value) }
}

/// A request of a device; 0 is none.
fn device_ms(value: f64) -> String {
    if value == 0.0 { "none".to_owned() } else { number::duration_us(value * 1e3) }
}

const fn metric(cost: CostField, title: &'static str, show: fn(f64) -> String) -> Metric {
    Metric { cost, title, in_words: title, show }
}

impl Metric {
    /// With other words in sentences, where the title abbreviates.
    const fn said(self, in_words: &'static str) -> Metric {
        Metric { in_words, ..self }
    }
}

/// All of them, those that explain most first.
pub(crate) const ALL: [Metric; Cost::FIELDS.len()] = [
    metric(Cost::SERVER_CPU, "Server CPU", number::duration_us),
    metric(Cost::USER_SHARE, "of it in user mode", number::percent),
    metric(Cost::CLIENT_CPU, "Client CPU", number::duration_us),
    metric(Cost::HOST_CPU, "Host CPU", number::duration_us),
    metric(Cost::SWITCHES, "cs/o: host context switches", count).said("context switches of the whole host"),
    metric(Cost::READS, "r/o: device reads", count),
    metric(Cost::READ_KB, "rKB/o: read from device", kilobytes).said("read from the device"),
    metric(Cost::WRITTEN_KB, "wKB/o: written to device", kilobytes),
    metric(Cost::SERVER_WRITES, "Written by the server", written_bytes).said("written by the server"),
    metric(Cost::FLUSHES, "Device flushes", count),
    metric(Cost::READ_MS, "Time of a device read", device_ms).said("time of a read from the device"),
    metric(Cost::WRITE_MS, "Time of a device write", device_ms),
    metric(Cost::FLUSH_MS, "Time of a device flush", device_ms).said("time of a flush of the device"),
    metric(Cost::SERVER_FAULTS, "Server page faults", count)
        .said("page faults of the whole server, sessions being opened included,"),
    metric(Cost::CPU, "cpu/o: % of machine × s", count),
    metric(Cost::OPERATIONS, "o/s: operations per second", number::grouped),
    metric(Cost::SERVER_MEMORY, "Server memory at the end", written_bytes),
    metric(Cost::IDLE, "Host CPU idle", number::percent),
    metric(Cost::STEAL, "Host CPU stolen", number::percent),
];
