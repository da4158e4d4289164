//! One made-up sample with all that lies beside it.
//!
//! In: the cell, its true rate, what all builds of each cycle share, and a source of noise. Out: the parts that `store`
//! publishes, consistent with one another: slices, seconds, histograms and costs all follow from the rate.

use super::{Made, Noise, Place, Recipe};
use rqps_model::cpu_events::{CpuEvents, EventCount, EventCounts};
use rqps_model::sample::{Accounting, HostUse, Planted, ProcessUse, Resources, Score, SecondRow, Slices, SuiteRecord};
use rqps_model::tproc_c::{BrokenCondition, Check, NEW_ORDER, Profile, RunRecord, TypeCount};
use rqps_model::{Interleave, Part, Sample, part};
use rqps_store::{EVENT, Latencies, SampleParts, latency_part};
use std::collections::BTreeMap;

/// Time of a slice that is counted.
const SLICE_S: f64 = 0.009;
/// Distinct latencies of a made-up histogram.
const LATENCIES: u32 = 48;

pub(super) struct Trial<'a> {
    pub(super) recipe: &'a Recipe,
    pub(super) place: Place,
    pub(super) treatment: &'a str,
    pub(super) test: &'a str,
    pub(super) clients: u32,
    /// Statements per second and client in this round.
    pub(super) rate_per_s: f64,
    /// Log factor of each cycle that all builds share.
    pub(super) weather: &'a [f64],
}

impl Trial<'_> {
    pub(super) fn parts(&self, noise: &mut Noise) -> SampleParts {
        let slices = self.slices(noise);
        let (operations, busy_ns) = match self.recipe.cycles {
            0 => self.counts(
                self.rate_per_s * (self.recipe.slice_noise * 0.1 * noise.normal()).exp(),
                self.recipe.seconds as f64,
            ),
            _ => (slices.operations.iter().sum(), slices.busy_ns.iter().sum()),
        };
        let mut sample = self.sample(operations, busy_ns);
        let burned_ns = slices.burned_ns.iter().sum();
        let planted = self.recipe.planted_in(self.place.treatment);
        sample.planted = planted.map(|share| Planted::new(share, burned_ns, busy_ns));
        if self.recipe.failed.contains(&self.place) {
            sample.failure = Some("the server ended: signal 9".to_owned());
        }
        let (seconds, latencies) = (self.seconds(noise), self.latencies(noise));
        let latency = latency_part(&latencies, sample.seconds).expect("kinds are plain words");
        let parts = vec![Part::json(part::SLICES, &slices), Part::lines(part::SECONDS, &seconds), latency];
        SampleParts { parts, ..SampleParts::of(sample) }
    }

    /// Statements and the time they took when sessions are busy for `seconds` at a rate.
    fn counts(&self, rate_per_s: f64, seconds: f64) -> (u64, u64) {
        let clients = f64::from(self.clients);
        // A slice ends with its last statement, so that the time belongs to whole statements.
        let operations = (rate_per_s * seconds * clients).round().max(1.0);
        (operations as u64, (operations / rate_per_s * 1e9).round() as u64)
    }

    fn slices(&self, noise: &mut Noise) -> Slices {
        let planted = self.recipe.planted_in(self.place.treatment);
        let share = planted.unwrap_or(0.0);
        let mut slices = Slices::default();
        for (cycle, weather) in self.weather.iter().enumerate() {
            let rate_per_s = self.rate_per_s * (weather + self.recipe.slice_noise * noise.normal()).exp();
            // Relative to a statement without it, which is what the length of a burn goes by.
            let part = Planted::SHORT_AND_LONG[usize::from(Planted::has_long_burns(cycle as u64))];
            let burned = part * share / (1.0 - share);
            let slower = 1.0 + burned * (1.0 + self.recipe.side_cost);
            let (operations, busy_ns) = self.counts(rate_per_s / (1.0 - share) / slower, SLICE_S);
            slices.operations.push(operations);
            slices.busy_ns.push(busy_ns);
            if planted.is_some() {
                slices.burned_ns.push((busy_ns as f64 * burned / slower).round() as u64);
            }
        }
        slices
    }

    fn seconds(&self, noise: &mut Noise) -> Vec<SecondRow> {
        let second = |n: usize| {
            let (operations, busy_ns) = self.counts(self.rate_per_s * (0.02 * noise.normal()).exp(), 1.0);
            let latency_ns = 1e9 / self.rate_per_s;
            SecondRow {
                second: (n + 1) as f64,
                wall_second: ((n + 1) * self.recipe.versions.len()) as f64,
                kind: EVENT.into(),
                operations,
                busy_ns,
                latency_ns_p50: Some(latency_ns as u64),
                latency_ns_p95: Some((1.5 * latency_ns) as u64),
                latency_ns_p99: Some((2.2 * latency_ns) as u64),
                latency_ns_max: (9.0 * latency_ns) as u64,
                ..SecondRow::default()
            }
        };
        (0..self.recipe.seconds).map(second).collect()
    }

    fn latencies(&self, noise: &mut Noise) -> Latencies {
        let mut histogram = hdrhistogram::Histogram::new(3).expect("three digits are allowed");
        for _ in 0..LATENCIES {
            let value = (1e9 / self.rate_per_s * (0.4 * noise.normal()).exp()).max(1.0) as u64;
            histogram.record_n(value, u64::from(1 + self.place.round)).expect("the histogram resizes");
        }
        let other = histogram.clone();
        let [first, second] =
            if self.recipe.transactions.is_some() { [NEW_ORDER, "payment"] } else { [EVENT, "select"] };
        Latencies::from([(first.to_owned(), histogram), (second.to_owned(), other)])
    }

    fn sample(&self, operations: u64, busy_ns: u64) -> Sample {
        let Place { round, treatment, test } = self.place;
        let copies = self.recipe.versions.len();
        let minute = (test * 2) % 60;
        Sample {
            round,
            treatment: self.treatment.to_owned(),
            suite: self.recipe.suite().name().to_owned(),
            test: self.test.to_owned(),
            clients: self.clients,
            started_at: format!("2026-11-{:02}T{:02}:{minute:02}:00Z", 1 + round % 28, (test * 2) / 60),
            interleave: Some(if self.recipe.cycles > 0 { Interleave::Slices } else { Interleave::Turns }),
            server_start: format!("{round}.1"),
            data_copy: format!("data#{}", (treatment + round as usize) % copies),
            rows: operations,
            busy_ns,
            seconds: busy_ns as f64 / 1e9 / f64::from(self.clients),
            score: Score {
                unit: self.recipe.unit(self.test),
                count: operations,
                factor: if self.test == "scan" { 100.0 } else { 1.0 },
            },
            sessions: 4,
            accounting: self.accounting(operations, busy_ns),
            resources: self.resources(operations, busy_ns),
            cpu_events: self.recipe.cpu_events.then(|| self.cpu_events(operations, busy_ns)),
            counters: self.counters(operations),
            record: self.record(operations),
            ..Sample::default()
        }
    }

    /// Of TPROC-C, as many payments as new orders, and a condition that HammerDB's rules break.
    fn record(&self, new_orders: u64) -> Option<SuiteRecord> {
        let shape = self.recipe.transactions.as_ref()?;
        let done = |name: &str| TypeCount {
            name: name.to_owned(),
            accounting: Accounting { scheduled: new_orders, succeeded: new_orders, ..Accounting::default() },
        };
        let broken = BrokenCondition {
            condition: "C12".to_owned(),
            rows: 30_000,
            examples: vec!["c_w_id 1, c_d_id 1, c_id 1".to_owned()],
            must_hold: false,
        };
        Some(SuiteRecord::TprocC(RunRecord {
            transactions: vec![done(NEW_ORDER), done("payment")],
            new_orders,
            payments: new_orders,
            unanswered: 0,
            held: None,
            new_orders_of_districts: Some(new_orders),
            checked: Some(Check::Full),
            broken: if shape.profile == Profile::Hammerdb { vec![broken] } else { Vec::new() },
        }))
    }

    /// What was due and not done was skipped.
    fn accounting(&self, succeeded: u64, busy_ns: u64) -> Accounting {
        let seconds = busy_ns as f64 / 1e9 / f64::from(self.clients);
        let due = self.recipe.due_per_s().map_or(0, |due| (due * seconds).round() as u64);
        let scheduled = due.max(succeeded);
        Accounting { scheduled, succeeded, skipped: scheduled - succeeded, ..Accounting::default() }
    }

    /// A machine of two CPUs: the server takes most of a statement's time, the client the rest.
    fn resources(&self, operations: u64, busy_ns: u64) -> Resources {
        let busy_s = busy_ns as f64 / 1e9;
        let server = ProcessUse {
            cpu_user_s: 0.6 * busy_s,
            cpu_system_s: 0.2 * busy_s,
            minor_faults: operations / 100,
            memory_bytes: 400 << 20,
            processes: 8,
            ..ProcessUse::default()
        };
        let client = ProcessUse { cpu_user_s: 0.1 * busy_s, cpu_system_s: 0.1 * busy_s, ..ProcessUse::default() };
        let host = HostUse {
            seconds: busy_s / f64::from(self.clients),
            cpus: 2,
            cpu_user_s: 0.7 * busy_s,
            cpu_system_s: 0.3 * busy_s,
            cpu_idle_s: busy_s,
            context_switches: 2 * operations,
            disk_writes: operations / 10,
            disk_write_bytes: 512 * operations,
            memory_available_bytes: 4 << 30,
            ..HostUse::default()
        };
        Resources { host, server, client, operations, sessions: None }
    }

    /// Two cycles an instruction, a quarter of them in the kernel; each for half of the time.
    fn cpu_events(&self, operations: u64, busy_ns: u64) -> CpuEvents {
        let Place { treatment, test, .. } = self.place;
        let instructions = operations as f64 * 40_000.0 / self.recipe.truth(treatment, test);
        let count = |part: f64| {
            let count = (instructions * part / 2.0).round() as u64;
            Some(EventCount { count, enabled_ns: busy_ns, running_ns: busy_ns / 2 })
        };
        let counts = |each: f64| EventCounts { user: count(0.75 * each), kernel: count(0.25 * each) };
        let counted = [("instructions", 1.0), ("cycles", 2.0), ("branch_misses", 0.01)];
        let counted = counted.into_iter().map(|(event, each)| (event.to_owned(), counts(each))).collect();
        let unknown = vec!["cache_misses".to_owned(), "cache_references".to_owned()];
        CpuEvents { counted, refused: BTreeMap::from([("this CPU does not count it".to_owned(), unknown)]) }
    }

    fn counters(&self, operations: u64) -> BTreeMap<String, f64> {
        let operations = operations as f64;
        let Place { treatment, test, .. } = self.place;
        let made = Made::of(&self.recipe.versions[treatment]);
        let per_statement = made.counters(self.recipe.truth(treatment, test));
        per_statement.into_iter().map(|(name, rate)| (name.to_owned(), (rate * operations).round())).collect()
    }
}
