//! Use of the machine over all rounds → cost per operation.
//!
//! In: the resources of a cell's samples. Out: [`Cost`], and its ratios to the base's. An operation is one of the
//! test's unit of throughput (a statement; for `scan` a thousand rows), whichever client did it, so that what is spent
//! per second is always cost per operation times operations per second. It judges nothing.

use crate::findings::Cost;
use crate::read::measured::Measured;
use rqps_model::facts::LoadFacts;
use rqps_model::sample::HostUse;
use std::collections::BTreeMap;

/// Costs per operation over all samples that have a number; `None` where nothing was observed. Where throughput is that
/// of one client, `clients_per_unit` makes it that of all.
pub(crate) fn cost<'a>(
    rounds: impl Iterator<Item = &'a Measured>,
    throughput: Option<f64>,
    clients_per_unit: f64,
) -> Option<Cost> {
    let mut sum = Sum::default();
    rounds.for_each(|measured| sum.add(measured));
    sum.operations *= clients_per_unit;
    of_sum(&sum, throughput.map(|throughput| throughput * clients_per_unit))
}

/// What loading cost a row; nothing is known of the server's part.
pub(crate) fn of_load(load: &LoadFacts) -> Option<Cost> {
    let mut sum = Sum { samples: 1.0, operations: load.rows as f64, ..Sum::default() };
    sum.add_host(&load.host);
    of_sum(&sum, (load.host.seconds > 0.0).then(|| load.rows as f64 / load.host.seconds))
}

fn of_sum(sum: &Sum, throughput: Option<f64>) -> Option<Cost> {
    if sum.operations <= 0.0 {
        return None;
    }
    let per_op = |value: f64| value / sum.operations;
    let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    let host_cpu_s = sum.cpu_user_s + sum.cpu_system_s;
    let host_time_s = host_cpu_s + sum.cpu_idle_s + sum.cpu_steal_s;
    Some(Cost {
        cpu_per_op: per_op(100.0 * sum.machine_s),
        cs_per_op: per_op(sum.context_switches),
        r_per_op: per_op(sum.disk_reads),
        rkb_per_op: per_op(sum.disk_read_bytes / 1024.0),
        wkb_per_op: per_op(sum.disk_write_bytes / 1024.0),
        ops_per_s: throughput.unwrap_or(0.0),
        host_cpu_us: per_op(host_cpu_s * 1e6),
        server_cpu_us: per_op((sum.server_user_s + sum.server_system_s) * 1e6),
        client_cpu_us: per_op(sum.client_cpu_s * 1e6),
        server_user_share: share(sum.server_user_s, sum.server_user_s + sum.server_system_s),
        server_write_bytes_per_op: per_op(sum.server_write_bytes),
        flushes_per_op: per_op(sum.disk_flushes),
        server_faults_per_op: per_op(sum.server_faults),
        server_memory_bytes: sum.server_memory_bytes / sum.samples,
        steal_share: share(sum.cpu_steal_s, host_time_s),
        idle_share: share(sum.cpu_idle_s, host_time_s),
        relative: BTreeMap::new(),
    })
}

/// This / base by the names of the fields. Where both are 0 nothing changed, and it is 1; where only the base is 0
/// there is no ratio.
pub(crate) fn relative(cost: &Cost, base: &Cost) -> BTreeMap<String, f64> {
    let ratio = |(name, value): (&str, f64), base: f64| match (value == 0.0, base == 0.0) {
        (true, true) => Some((name.to_owned(), 1.0)),
        (false, true) => None,
        _ => Some((name.to_owned(), value / base)),
    };
    fields(cost).into_iter().zip(fields(base)).filter_map(|(this, (_, base))| ratio(this, base)).collect()
}

fn fields(cost: &Cost) -> [(&'static str, f64); 16] {
    [
        ("cpu_per_op", cost.cpu_per_op),
        ("cs_per_op", cost.cs_per_op),
        ("r_per_op", cost.r_per_op),
        ("rkb_per_op", cost.rkb_per_op),
        ("wkb_per_op", cost.wkb_per_op),
        ("ops_per_s", cost.ops_per_s),
        ("host_cpu_us", cost.host_cpu_us),
        ("server_cpu_us", cost.server_cpu_us),
        ("client_cpu_us", cost.client_cpu_us),
        ("server_user_share", cost.server_user_share),
        ("server_write_bytes_per_op", cost.server_write_bytes_per_op),
        ("flushes_per_op", cost.flushes_per_op),
        ("server_faults_per_op", cost.server_faults_per_op),
        ("server_memory_bytes", cost.server_memory_bytes),
        ("steal_share", cost.steal_share),
        ("idle_share", cost.idle_share),
    ]
}

/// What all samples of a cell used together.
#[derive(Default)]
struct Sum {
    samples: f64,
    operations: f64,
    /// CPU seconds in units of the whole machine.
    machine_s: f64,
    cpu_user_s: f64,
    cpu_system_s: f64,
    cpu_idle_s: f64,
    cpu_steal_s: f64,
    context_switches: f64,
    disk_reads: f64,
    disk_read_bytes: f64,
    disk_write_bytes: f64,
    disk_flushes: f64,
    server_user_s: f64,
    server_system_s: f64,
    server_write_bytes: f64,
    server_faults: f64,
    server_memory_bytes: f64,
    client_cpu_s: f64,
}

impl Sum {
    fn add(&mut self, measured: &Measured) {
        if !measured.has_number() {
            return;
        }
        let used = &measured.sample.resources;
        let (host, server, client) = (&used.host, &used.server, &used.client);
        self.samples += 1.0;
        self.operations += used.operations as f64 * measured.sample.score.factor;
        self.add_host(host);
        self.server_user_s += server.cpu_user_s;
        self.server_system_s += server.cpu_system_s;
        self.server_write_bytes += server.write_bytes as f64;
        self.server_faults += (server.minor_faults + server.major_faults) as f64;
        self.server_memory_bytes += server.memory_bytes as f64;
        self.client_cpu_s += client.cpu_user_s + client.cpu_system_s;
    }

    fn add_host(&mut self, host: &HostUse) {
        self.machine_s += (host.cpu_user_s + host.cpu_system_s) / f64::from(host.cpus.max(1));
        self.cpu_user_s += host.cpu_user_s;
        self.cpu_system_s += host.cpu_system_s;
        self.cpu_idle_s += host.cpu_idle_s + host.cpu_iowait_s;
        self.cpu_steal_s += host.cpu_steal_s;
        self.context_switches += host.context_switches as f64;
        self.disk_reads += host.disk_reads as f64;
        self.disk_read_bytes += host.disk_read_bytes as f64;
        self.disk_write_bytes += host.disk_write_bytes as f64;
        self.disk_flushes += host.disk_flushes as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::clients_per_unit;
    use crate::read::measured::tests::measured;
    use rqps_model::Unit;
    use rqps_model::sample::Slices;

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
        let cost = of_load(&LoadFacts { rows: 128_534 * 60, host }).unwrap();
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
