//! A sample together with what lies beside it in its folder, as the rest of this crate works on it.
//!
//! In: one folder of a round, read through `store`. Out: [`Measured`]. Read for one test at a time and dropped after
//! it, so that a campaign of any size fits in memory.

use super::seconds;
use rqps_model::answers::TestAnswers;
use rqps_model::facts::StatementPlan;
use rqps_model::insert::Stall;
use rqps_model::sample::{MonitorRow, SecondRow, Slices};
use rqps_model::{Sample, part};
use rqps_store::{Campaign, Latencies, StoreError};

/// One cell in one round, with its companions.
#[derive(Debug, Clone)]
pub(crate) struct Measured {
    pub(crate) sample: Sample,
    pub(crate) slices: Slices,
    /// Latency in nanoseconds by statement kind.
    pub(crate) histograms: Latencies,
    /// What was done in each second; of a step, by each client and of each kind.
    pub(crate) seconds: Vec<SecondRow>,
    /// Seconds of a step in which next to nothing was inserted.
    pub(crate) stalls: Vec<Stall>,
    /// What host and server were about in each second of a step.
    pub(crate) watch: Vec<MonitorRow>,
    /// The plans of this round at this number of clients; none of a trial without a number.
    pub(crate) plans: Vec<StatementPlan>,
    /// What the test's statements answered, with or without a number; kept in one round alone.
    pub(crate) answers: Option<TestAnswers>,
}

impl Measured {
    /// Reads one sample; `None` while it is absent. What lies beside a failed trial is not read, since it has no
    /// number; but of a failed step its timeline is, which shows what it failed of. `kept` are the plans kept for the
    /// test and treatment, which a sample with no others beside it has.
    pub(crate) fn read(
        campaign: &Campaign,
        round: u32,
        treatment: &str,
        test: &str,
        clients: u32,
        kept: &[StatementPlan],
    ) -> Result<Option<Measured>, StoreError> {
        let Some(folder) = campaign.sample(round, treatment, test, clients)? else { return Ok(None) };
        let (mut rows, mut watch) = (Vec::new(), Vec::new());
        let mut stalls = Vec::new();
        if let Some(step) = folder.sample.step() {
            (rows, watch) = (folder.lines(part::SECONDS)?, folder.lines(part::MONITOR)?);
            stalls = seconds::stalls(step, &rows);
        }
        let answers = folder.json(part::ANSWERS)?;
        let (mut slices, mut histograms) = (Slices::default(), Latencies::new());
        let mut plans = Vec::new();
        if folder.sample.throughput().is_some() {
            slices = folder.json(part::SLICES)?.unwrap_or_default();
            histograms = folder.latencies()?;
            if folder.sample.step().is_none() {
                rows = folder.lines(part::SECONDS)?;
            }
            plans = folder.json(part::PLANS)?.unwrap_or_else(|| kept.to_vec());
        }
        Ok(Some(Measured { sample: folder.sample, slices, histograms, seconds: rows, stalls, watch, plans, answers }))
    }

    /// Drops what is only needed once: histograms and what each second had, but for the rates.
    pub(crate) fn drop_bulk(&mut self) {
        if self.sample.record.is_none() {
            self.seconds = Vec::new();
        }
        self.histograms.clear();
        self.watch = Vec::new();
    }

    /// Whether the trial gave a number.
    pub(crate) fn has_number(&self) -> bool {
        self.sample.throughput().is_some()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use rqps_model::Interleave;
    use rqps_model::Unit;
    use rqps_model::sample::Score;

    /// A sample of one client with these counts and nothing else.
    pub(crate) fn measured(operations: u64, busy_ns: u64, slices: Slices) -> Measured {
        let sample = Sample {
            round: 1,
            treatment: "pg1711".to_owned(),
            suite: "sysbench".to_owned(),
            test: "point-query".to_owned(),
            clients: 1,
            started_at: "2026-11-21T06:00:00Z".to_owned(),
            interleave: Some(Interleave::Slices),
            server_start: "1.pg1711".to_owned(),
            data_copy: "a".to_owned(),
            rows: operations,
            busy_ns,
            seconds: busy_ns as f64 / 1e9,
            score: Score { unit: Unit::QueriesPerSecond, count: operations, factor: 1.0 },
            sessions: 1,
            ..Sample::default()
        };
        Measured {
            sample,
            slices,
            histograms: Latencies::new(),
            seconds: Vec::new(),
            stalls: Vec::new(),
            watch: Vec::new(),
            plans: Vec::new(),
            answers: None,
        }
    }

    #[test]
    fn a_failed_trial_has_no_number() {
        let mut trial = measured(10, 10, Slices::default());
        assert!(trial.has_number());
        trial.sample.failure = Some("connection lost".to_owned());
        assert!(!trial.has_number());
    }
}
