//! What happens in a campaign, as it happens: owned, with a time, in one form for whoever watches.
//!
//! `conduct` makes events, `store` appends those that are kept to `events.jsonl`, a screen and `rqps status` read them.
//! Watching never changes a run: events are values that are not answered.

use crate::insert::Sla;
use crate::plan::Aged;
use crate::{Interleave, RoundSeconds, Unit};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Something that happened, or is about to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// UTC time, RFC 3339.
    pub at: String,
    /// What it is.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// What became of a treatment in a test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TestResult {
    /// The treatment.
    pub treatment: String,
    /// Its throughput; `None` where it failed.
    pub throughput: Option<f64>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Whether background writes kept up, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sla: Option<Sla>,
    /// Seconds in which next to nothing was written, where writes are counted by the second.
    #[serde(default)]
    pub stalled_seconds: u32,
}

/// A test at a number of clients, in a round, on the treatments that run it together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TestPlace {
    /// From 1.
    pub round: u32,
    /// Planned or expected rounds; `None` where results decide how many there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
    /// Published name; `rest` for a rest before a test.
    pub test: String,
    /// Concurrency.
    pub clients: u32,
    /// All treatments that are up, or the one whose turn it is.
    pub treatments: Vec<String>,
    /// How builds alternate in it; `None` where one follows the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interleave: Option<Interleave>,
}

/// The kinds of events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum EventKind {
    /// Leftovers of an earlier rqps that was killed were cleared.
    Cleared {
        /// What was stopped or removed, one line each.
        what: Vec<String>,
    },
    /// Making the data folder that a treatment's copies are taken from.
    Loading {
        /// Treatment whose build loads it.
        treatment: String,
        /// Number of tables.
        tables: u32,
        /// Rows of each table.
        rows: u64,
        /// What is loaded, where its tables are not all alike.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        what: Option<String>,
    },
    /// Data that take long are being loaded.
    LoadingAdvances {
        /// Share of the rows that has been sent, 0 to 1.
        fraction: f64,
    },
    /// The data folder is ready.
    Loaded {
        /// Treatment whose build loaded it.
        treatment: String,
        /// Rows in all tables.
        rows: u64,
        /// Seconds for rows and indexes.
        seconds: f64,
    },
    /// Loaded data are being aged, for the tests that begin with such.
    Aging {
        /// Treatment whose build does it.
        treatment: String,
        /// By what.
        by: Aged,
    },
    /// The aged data folder is ready.
    Aged {
        /// Treatment whose build made it.
        treatment: String,
        /// Seconds that it took.
        seconds: f64,
    },
    /// Data folders are made and servers started.
    ServersStart {
        /// From 1.
        round: u32,
        /// Planned or expected rounds; `None` where results decide how many there are.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rounds: Option<u32>,
        /// Tests that the round measures, where results decide which.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tests: Option<u32>,
        /// Numbers of clients of the tests to come.
        clients: Vec<u32>,
        /// Whose servers they are.
        treatments: Vec<String>,
    },
    /// A test begins.
    TestBegins {
        /// Which.
        #[serde(flatten)]
        place: TestPlace,
        /// Whether its samples are kept. A test that writes and is measured already runs again without: a resumed round
        /// begins with fresh data, and what follows is to find what it would have found in an unbroken round.
        is_recorded: bool,
    },
    /// A test is under way.
    TestAdvances {
        /// Share of its own time or work that has passed, 0 to 1.
        fraction: f64,
        /// Share of the campaign that is done, 0 to 1.
        campaign: f64,
        /// Expected seconds to the end of the campaign, once they are known.
        left_seconds: Option<f64>,
    },
    /// A test ended, and its samples are published.
    TestEnded {
        /// Which.
        #[serde(flatten)]
        place: TestPlace,
        /// Unit of the numbers.
        unit: Unit,
        /// By treatment, base first.
        results: Vec<TestResult>,
        /// Expected seconds to the end of the campaign, once they are known.
        left_seconds: Option<f64>,
    },
    /// Servers were stopped after their tests, and their copies removed.
    ServersEnd {
        /// From 1.
        round: u32,
        /// What the time since their data were copied went to.
        seconds: RoundSeconds,
    },
    /// The user asked to stop: nothing is measured any more, all servers have ended, and what was measured before is
    /// safe. Data folders are still to be removed, which may take a while.
    Interrupted {
        /// The results folder.
        folder: PathBuf,
    },
    /// Something the user must know now; it also stands in the results.
    Warning {
        /// A sentence.
        message: String,
    },
}

impl EventKind {
    /// Whether it stands in `events.jsonl`: progress inside a test or a load is for those who watch, and nothing to
    /// keep.
    pub const fn is_kept(&self) -> bool {
        !matches!(self, EventKind::TestAdvances { .. } | EventKind::LoadingAdvances { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_line_that_reads_back() {
        let place = TestPlace {
            round: 1,
            rounds: Some(3),
            test: "scan".to_owned(),
            clients: 4,
            treatments: vec!["a".to_owned()],
            interleave: Some(Interleave::Turns),
        };
        let result = TestResult {
            treatment: "a".to_owned(),
            throughput: Some(1.5),
            failure: None,
            sla: None,
            stalled_seconds: 0,
        };
        let ended = EventKind::TestEnded {
            place: place.clone(),
            unit: Unit::QueriesPerSecond,
            results: vec![result],
            left_seconds: None,
        };
        let begins = EventKind::TestBegins { place, is_recorded: true };
        let interrupted = EventKind::Interrupted { folder: "results/x".into() };
        let seconds = RoundSeconds { counted: 1.5, ..RoundSeconds::default() };
        for kind in [begins, ended, EventKind::ServersEnd { round: 1, seconds }, interrupted] {
            let event = Event { at: "2026-11-22T05:12:00Z".to_owned(), kind };
            let line = serde_json::to_string(&event).expect("JSON");
            assert!(line.starts_with(r#"{"at":"2026-11-22T05:12:00Z","event":""#) && !line.contains('\n'), "{line}");
            assert_eq!(serde_json::from_str::<Event>(&line).expect("read"), event);
            assert!(event.kind.is_kept());
        }
        assert!(!EventKind::TestAdvances { fraction: 0.0, campaign: 0.0, left_seconds: None }.is_kept());
    }
}
