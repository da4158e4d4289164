//! Use of the machine over all rounds → cost per operation.
//!
//! In: the resources of a cell's samples. Out: [`Cost`], and its ratios to the base's. An operation is one of the
//! test's unit of throughput (a statement; for `scan` a thousand rows), whichever client did it, so that what is spent
//! per second is always cost per operation times operations per second. It judges nothing.

use crate::findings::{Cost, CostField};
use crate::read::measured::Measured;
use rqps_model::facts::LoadFacts;
use rqps_model::sample::Resources;
use std::collections::BTreeMap;

/// Costs per operation over all samples that have a number; `None` where nothing was observed. Where throughput is that
/// of one client, `clients_per_unit` makes it that of all.
pub(crate) fn cost<'a>(
    rounds: impl Iterator<Item = &'a Measured> + Clone,
    throughput: Option<f64>,
    clients_per_unit: f64,
) -> Option<Cost> {
    let with_number = rounds.clone().filter(|measured| measured.has_number()).map(|measured| &measured.sample);
    let operations: f64 = with_number.map(|sample| sample.resources.operations as f64 * sample.score.factor).sum();
    let throughput = throughput.unwrap_or(0.0);
    of_used(&Used::of(rounds), operations * clients_per_unit, throughput * clients_per_unit)
}

/// What loading cost a row; nothing is known of the server's part.
pub(crate) fn of_load(load: &LoadFacts) -> Option<Cost> {
    let rows = load.rows as f64;
    let used = Used(vec![Resources { host: load.host, operations: load.rows, ..Resources::default() }]);
    of_used(&used, rows, if load.host.seconds > 0.0 { rows / load.host.seconds } else { 0.0 })
}

fn of_used(used: &Used, operations: f64, ops_per_s: f64) -> Option<Cost> {
    if operations <= 0.0 {
        return None;
    }
    let sum = |of: fn(&Resources) -> f64| used.sum(of);
    let per_op = |of: fn(&Resources) -> f64| sum(of) / operations;
    let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    let mean_ms = |wait_s: fn(&Resources) -> f64, count: fn(&Resources) -> f64| 1e3 * share(sum(wait_s), sum(count));
    let steal_s = sum(|r| r.host.cpu_steal_s);
    let idle_s = sum(|r| r.host.cpu_idle_s + r.host.cpu_iowait_s);
    let host_time_s = sum(host_cpu_s) + idle_s + steal_s;
    Some(Cost {
        cpu_per_op: per_op(|r| 100.0 * host_cpu_s(r) / f64::from(r.host.cpus.max(1))),
        cs_per_op: per_op(|r| r.host.context_switches as f64),
        r_per_op: per_op(|r| r.host.disk_reads as f64),
        rkb_per_op: per_op(|r| r.host.disk_read_bytes as f64 / 1024.0),
        wkb_per_op: per_op(|r| r.host.disk_write_bytes as f64 / 1024.0),
        ops_per_s,
        host_cpu_us: per_op(host_cpu_s) * 1e6,
        server_cpu_us: per_op(server_cpu_s) * 1e6,
        client_cpu_us: per_op(client_cpu_s) * 1e6,
        server_user_share: share(sum(|r| r.server.cpu_user_s), sum(server_cpu_s)),
        server_write_bytes_per_op: per_op(|r| r.server.write_bytes as f64),
        flushes_per_op: per_op(|r| r.host.disk_flushes as f64),
        read_ms: mean_ms(|r| r.host.disk_read_wait_s, |r| r.host.disk_reads as f64),
        write_ms: mean_ms(|r| r.host.disk_write_wait_s, |r| r.host.disk_writes as f64),
        flush_ms: mean_ms(|r| r.host.disk_flush_wait_s, |r| r.host.disk_flushes as f64),
        server_faults_per_op: per_op(|r| (r.server.minor_faults + r.server.major_faults) as f64),
        server_memory_bytes: sum(|r| r.server.memory_bytes as f64) / used.0.len() as f64,
        steal_share: share(steal_s, host_time_s),
        idle_share: share(idle_s, host_time_s),
        relative: BTreeMap::new(),
    })
}

/// This / base by the names of the fields. Where both are 0 nothing changed, and it is 1; where only the base is 0
/// there is no ratio.
pub(crate) fn relative(cost: &Cost, base: &Cost) -> BTreeMap<String, f64> {
    let ratio = |field: CostField| match ((field.of)(cost), (field.of)(base)) {
        (0.0, 0.0) => Some((field.name.to_owned(), 1.0)),
        (_, 0.0) => None,
        (this, base) => Some((field.name.to_owned(), this / base)),
    };
    Cost::FIELDS.into_iter().filter_map(ratio).collect()
}

/// What samples with a number used.
pub(crate) struct Used(Vec<Resources>);

impl Used {
    /// Of all samples that have a number.
    pub(crate) fn of<'a>(samples: impl Iterator<Item = &'a Measured>) -> Used {
        Used(samples.filter(|measured| measured.has_number()).map(|measured| measured.sample.resources).collect())
    }

    /// All samples together.
    pub(crate) fn sum(&self, of: fn(&Resources) -> f64) -> f64 {
        self.0.iter().map(of).sum()
    }
}

/// CPU seconds of all programs.
pub(crate) fn host_cpu_s(used: &Resources) -> f64 {
    used.host.cpu_user_s + used.host.cpu_system_s
}

/// CPU seconds of the server's processes.
pub(crate) fn server_cpu_s(used: &Resources) -> f64 {
    used.server.cpu_user_s + used.server.cpu_system_s
}

/// CPU seconds of the client.
pub(crate) fn client_cpu_s(used: &Resources) -> f64 {
    used.client.cpu_user_s + used.client.cpu_system_s
}

/// CPU seconds that the machine had.
pub(crate) fn machine_s(used: &Resources) -> f64 {
    used.host.seconds * f64::from(used.host.cpus)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::clients_per_unit;
    use crate::read::measured::tests::measured;
    use rqps_model::Unit;
    use rqps_model::sample::{HostUse, Slices};

    /// A sample that used the machine as `vmstat` and `iostat` would tell it: per second, percent of all CPUs.
    fn observed(
        ops_per_s: f64,
        seconds: f64,
        cpus: u32,
        cpu_percent: f64,
        cs_per_s: f64,
        write_kb_per_s: f64,
    ) -> Measured {
        let operations = (ops_per_s * seconds) as u64;
        let mut measured = measured(operations, (seconds * 1e9) as u64, Slices::default());
        measured.sample.resources.operations = operations;
        measured.sample.resources.host = HostUse {
            seconds,
            cpus,
            cpu_user_s: cpu_percent / 100.0 * seconds * f64::from(cpus),
            context_switches: (cs_per_s * seconds) as u64,
            disk_write_bytes: (write_kb_per_s * seconds * 1024.0) as u64,
            ..HostUse::default()
        };
        measured
    }

    #[test]
    fn cpu_per_op_is_percent_of_the_machine_times_seconds() {
        // 0.000557 on 48 cores is 267 microseconds of CPU an operation.
        let round = observed(10_000.0, 600.0, 48, 5.57, 38_000.0, 12.0);
        let cost = cost(std::iter::once(&round), Some(10_000.0), 1.0).unwrap();
        assert!((cost.cpu_per_op - 0.000_557).abs() < 1e-9);
        assert!((cost.host_cpu_us - 267.36).abs() < 1e-6);
        assert!((cost.cs_per_op - 3.8).abs() < 1e-9);
        assert!((cost.wkb_per_op - 0.0012).abs() < 1e-9);
    }

    #[test]
    fn rounds_weigh_by_what_they_did() {
        let rounds = [observed(1000.0, 10.0, 2, 50.0, 0.0, 0.0), observed(3000.0, 10.0, 2, 50.0, 0.0, 0.0)];
        let cost = cost(rounds.iter(), Some(1732.0), 1.0).unwrap();
        assert!((cost.cpu_per_op - 50.0 * 20.0 / 40_000.0).abs() < 1e-12);
        assert_eq!(cost.ops_per_s, 1732.0);
    }

    #[test]
    fn a_scan_costs_the_same_however_many_clients_do_it() {
        // A thousand rows take 400 microseconds of CPU, and the published unit is a client's.
        let of = |clients: u32| {
            let mut round = observed(f64::from(clients) * 10.0, 10.0, 8, 100.0 * f64::from(clients) / 8.0, 0.0, 0.0);
            let unit = 2500.0 / 10.0 / f64::from(clients);
            round.sample.clients = clients;
            round.sample.busy_ns *= u64::from(clients);
            round.sample.score.factor = unit;
            let per_unit = clients_per_unit(Unit::KiloRowsPerSecond, clients);
            cost(std::iter::once(&round), round.sample.throughput(), per_unit).unwrap()
        };
        for clients in [1, 4] {
            let cost = of(clients);
            assert!((cost.host_cpu_us - 400.0).abs() < 1e-9, "{clients} clients: {} us", cost.host_cpu_us);
            let spent = cost.cpu_per_op * cost.ops_per_s;
            assert!((spent - 100.0 * f64::from(clients) / 8.0).abs() < 1e-6, "{clients} clients: {spent} %");
        }
        assert_eq!(clients_per_unit(Unit::QueriesPerSecond, 4), 1.0);
    }

    #[test]
    fn failed_samples_cost_nothing_and_alone_give_none() {
        let mut failed = observed(1000.0, 10.0, 2, 50.0, 0.0, 0.0);
        failed.sample.failure = Some("lost connection".to_owned());
        assert_eq!(cost(std::iter::once(&failed), None, 1.0), None);
        let good = observed(1000.0, 10.0, 2, 50.0, 0.0, 0.0);
        assert_eq!(cost([&good, &failed].into_iter(), None, 1.0), cost(std::iter::once(&good), None, 1.0));
    }

    #[test]
    fn a_load_costs_by_the_row() {
        // 128534 rows a second at 12.6 % of 8 CPUs.
        let host = observed(128_534.0, 60.0, 8, 12.6, 1157.0, 159_382.0).sample.resources.host;
        let cost = of_load(&LoadFacts { rows: 128_534 * 60, host, sets: Vec::new(), left: None }).unwrap();
        assert!((cost.cpu_per_op - 0.000_098).abs() < 1e-7 && (cost.ops_per_s - 128_534.0).abs() < 1e-6);
        assert!((cost.cs_per_op - 0.009).abs() < 1e-5 && (cost.wkb_per_op - 1.24).abs() < 1e-5);
        assert_eq!((cost.server_cpu_us, cost.server_memory_bytes), (0.0, 0.0));
        assert_eq!(of_load(&LoadFacts::default()), None, "nothing was loaded");
    }

    #[test]
    fn ratios_of_nothing_follow_the_published_rules() {
        let base = Cost { cs_per_op: 2.0, ..Cost::default() };
        let this = Cost { cs_per_op: 3.0, wkb_per_op: 0.1, ..Cost::default() };
        let relative = relative(&this, &base);
        assert_eq!(relative["cs_per_op"], 1.5);
        assert_eq!(relative["rkb_per_op"], 1.0);
        assert_eq!(relative.get("wkb_per_op"), None);
    }
}
