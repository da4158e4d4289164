//! What an operation cost, and the names of these costs: files, comparisons and causes have them by the same.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Costs per operation of all clients, and what the device took for a request. An operation is a statement, for `scan`
/// a thousand rows, of steps a row or query. `relative` = this / base, keyed by the same names.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// `cpu/o`: percent of the machine times seconds, per operation.
    pub cpu_per_op: f64,
    /// `cs/o`: context switches per operation.
    pub cs_per_op: f64,
    /// `r/o`: device reads per operation.
    pub r_per_op: f64,
    /// `rKB/o`: KB read from the device per operation.
    pub rkb_per_op: f64,
    /// `wKB/o`: KB written to the device per operation.
    pub wkb_per_op: f64,
    /// `o/s`: operations per second.
    pub ops_per_s: f64,
    /// Host CPU microseconds per operation.
    pub host_cpu_us: f64,
    /// Server CPU microseconds per operation.
    pub server_cpu_us: f64,
    /// Client CPU microseconds per operation.
    pub client_cpu_us: f64,
    /// Server's share of user time in its CPU time.
    pub server_user_share: f64,
    /// Bytes that the server's processes wrote per operation.
    pub server_write_bytes_per_op: f64,
    /// Device flushes per operation.
    pub flushes_per_op: f64,
    /// Mean milliseconds of a read of the device, from its queueing to its end; 0 where there was none.
    #[serde(default)]
    pub read_ms: f64,
    /// The same of a write.
    #[serde(default)]
    pub write_ms: f64,
    /// The same of a flush.
    #[serde(default)]
    pub flush_ms: f64,
    /// Page faults of the server's processes per operation.
    pub server_faults_per_op: f64,
    /// Server's memory at the end of the test.
    pub server_memory_bytes: f64,
    /// Share of the host's CPU time that was stolen.
    pub steal_share: f64,
    /// Share of the host's CPU time that was idle.
    pub idle_share: f64,
    /// This / base by name of the fields above; absent where the base is 0.
    pub relative: BTreeMap<String, f64>,
}

/// A field of [`Cost`], with the name that it has in files, comparisons and causes.
#[derive(Debug, Clone, Copy)]
pub struct CostField {
    /// The field's own.
    pub name: &'static str,
    /// Its value.
    pub of: fn(&Cost) -> f64,
}

macro_rules! fields {
    ($($constant:ident = $field:ident,)*) => {
        impl Cost {
            $(
                #[doc = concat!("[`Cost::", stringify!($field), "`]")]
                pub const $constant: CostField = CostField { name: stringify!($field), of: |cost| cost.$field };
            )*

            /// All of them, in the order of the struct.
            pub const FIELDS: [CostField; [$(stringify!($field)),*].len()] = [$(Cost::$constant),*];
        }
    };
}

fields! {
    CPU = cpu_per_op,
    SWITCHES = cs_per_op,
    READS = r_per_op,
    READ_KB = rkb_per_op,
    WRITTEN_KB = wkb_per_op,
    OPERATIONS = ops_per_s,
    HOST_CPU = host_cpu_us,
    SERVER_CPU = server_cpu_us,
    CLIENT_CPU = client_cpu_us,
    USER_SHARE = server_user_share,
    SERVER_WRITES = server_write_bytes_per_op,
    FLUSHES = flushes_per_op,
    READ_MS = read_ms,
    WRITE_MS = write_ms,
    FLUSH_MS = flush_ms,
    SERVER_FAULTS = server_faults_per_op,
    SERVER_MEMORY = server_memory_bytes,
    STEAL = steal_share,
    IDLE = idle_share,
}
