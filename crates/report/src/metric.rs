//! The costs per operation that a report shows: name, words, unit, how to read each from [`Cost`].
//!
//! One list for the page and for the file of true units, so that a metric is described once.

use crate::number;
use rqps_analysis::findings::{Cost, TestFindings};
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
    /// Whether it is a share of a whole, whose changes are told in percentage points.
    pub(crate) fn is_share(&self) -> bool {
        self.name.ends_with("_share")
    }
}

/// What a test's costs are per.
pub(crate) fn per(test: &TestFindings) -> &'static str {
    match (test.unit, test.interleave) {
        (Unit::KiloRowsPerSecond, _) => "1000 rows",
        // What a step does is a row or a query.
        (_, None) => "operation",
        _ => "statement",
    }
}

fn count(value: f64) -> String {
    number::significant(value, 3)
}

fn kilobytes(value: f64) -> String {
    if value == 0.0 { "0".to_owned() } else { format!("{} KB", number::significant(value, 3)) }
}

fn microseconds(value: f64) -> String {
    if value == 0.0 { "0".to_owned() } else { number::duration_us(value) }
}

fn written_bytes(value: f64) -> String {
    if value == 0.0 { "0".to_owned() } else { number::bytes(value) }
}

/// All of them, those that explain most first.
pub(crate) const ALL: [Metric; 16] = [
    Metric { name: "server_cpu_us", title: "Server CPU", value: |c| c.server_cpu_us, show: microseconds },
    Metric {
        name: "server_user_share",
        title: "of it in user mode",
        value: |c| c.server_user_share,
        show: number::percent,
    },
    Metric { name: "client_cpu_us", title: "Client CPU", value: |c| c.client_cpu_us, show: microseconds },
    Metric { name: "host_cpu_us", title: "Host CPU", value: |c| c.host_cpu_us, show: microseconds },
    Metric { name: "cs_per_op", title: "cs/o: host context switches", value: |c| c.cs_per_op, show: count },
    Metric { name: "r_per_op", title: "r/o: device reads", value: |c| c.r_per_op, show: count },
    Metric { name: "rkb_per_op", title: "rKB/o: read from device", value: |c| c.rkb_per_op, show: kilobytes },
    Metric { name: "wkb_per_op", title: "wKB/o: written to device", value: |c| c.wkb_per_op, show: kilobytes },
    Metric {
        name: "server_write_bytes_per_op",
        title: "Written by the server",
        value: |c| c.server_write_bytes_per_op,
        show: written_bytes,
    },
    Metric { name: "flushes_per_op", title: "Device flushes", value: |c| c.flushes_per_op, show: count },
    Metric {
        name: "server_faults_per_op",
        title: "Server page faults",
        value: |c| c.server_faults_per_op,
        show: count,
    },
    Metric { name: "cpu_per_op", title: "cpu/o: % of machine × s", value: |c| c.cpu_per_op, show: count },
    Metric { name: "ops_per_s", title: "o/s: operations per second", value: |c| c.ops_per_s, show: number::grouped },
    Metric {
        name: "server_memory_bytes",
        title: "Server memory at the end",
        value: |c| c.server_memory_bytes,
        show: written_bytes,
    },
    Metric { name: "idle_share", title: "Host CPU idle", value: |c| c.idle_share, show: number::percent },
    Metric { name: "steal_share", title: "Host CPU stolen", value: |c| c.steal_share, show: number::percent },
];
