//! The costs per operation that a report shows: name, words, unit, how to read each from [`Cost`].
//!
//! One list for the page and for the file of true units, so that a metric is described once.

use crate::{number, suite};
use rqps_analysis::findings::{Cost, Findings, TestFindings};
use rqps_model::Unit;

/// One cost.
pub(crate) struct Metric {
    /// Field of [`Cost`], which is also the key of `Cost::relative` and the column in files.
    pub(crate) name: &'static str,
    /// What the page calls it.
    pub(crate) title: &'static str,
    /// Its value.
    pub(crate) value: fn(&Cost) -> f64,
    /// Its value as text with unit.
    pub(crate) show: fn(f64) -> String,
}

impl Metric {
    /// Whether it is a share of a whole, whose changes are shown in percentage points.
    pub(crate) fn is_share(&self) -> bool {
        self.name.ends_with("_share")
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

const fn metric(name: &'static str, title: &'static str, value: fn(&Cost) -> f64, show: fn(f64) -> String) -> Metric {
    Metric { name, title, value, show }
}

/// All of them, those that explain most first.
pub(crate) const ALL: [Metric; 19] = [
    metric("server_cpu_us", "Server CPU", |c| c.server_cpu_us, number::duration_us),
    metric("server_user_share", "of it in user mode", |c| c.server_user_share, number::percent),
    metric("client_cpu_us", "Client CPU", |c| c.client_cpu_us, number::duration_us),
    metric("host_cpu_us", "Host CPU", |c| c.host_cpu_us, number::duration_us),
    metric("cs_per_op", "cs/o: host context switches", |c| c.cs_per_op, count),
    metric("r_per_op", "r/o: device reads", |c| c.r_per_op, count),
    metric("rkb_per_op", "rKB/o: read from device", |c| c.rkb_per_op, kilobytes),
    metric("wkb_per_op", "wKB/o: written to device", |c| c.wkb_per_op, kilobytes),
    metric("server_write_bytes_per_op", "Written by the server", |c| c.server_write_bytes_per_op, written_bytes),
    metric("flushes_per_op", "Device flushes", |c| c.flushes_per_op, count),
    metric("read_ms", "Time of a device read", |c| c.read_ms, device_ms),
    metric("write_ms", "Time of a device write", |c| c.write_ms, device_ms),
    metric("flush_ms", "Time of a device flush", |c| c.flush_ms, device_ms),
    metric("server_faults_per_op", "Server page faults", |c| c.server_faults_per_op, count),
    metric("cpu_per_op", "cpu/o: % of machine × s", |c| c.cpu_per_op, count),
    metric("ops_per_s", "o/s: operations per second", |c| c.ops_per_s, number::grouped),
    metric("server_memory_bytes", "Server memory at the end", |c| c.server_memory_bytes, written_bytes),
    metric("idle_share", "Host CPU idle", |c| c.idle_share, number::percent),
    metric("steal_share", "Host CPU stolen", |c| c.steal_share, number::percent),
];
