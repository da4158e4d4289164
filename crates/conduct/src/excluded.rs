//! Treatments that cannot be measured: their build makes no data folder, their server does not start on one, or does
//! not do as its settings say.
//!
//! In: errors from before the first round. Out: the reason for each treatment that is excluded, or the campaign's end:
//! when the base is excluded, when nothing is left to compare, when the fault is this machine's and not the
//! treatment's.

use crate::ConductError;
use rqps_builds::BuildError;
use rqps_machine::MachineError;
use rqps_machine::full_disk::tells_full_disk;
use rqps_model::Plan;
use rqps_server::ServerError;
use std::collections::BTreeMap;
use std::path::Path;

/// Lines of a server's log that each sample of a treatment repeats; all of it stands in the treatment's `server.log`.
const LOG_LINES_IN_SAMPLE: usize = 3;

/// Treatments excluded so far, by name.
#[derive(Debug, Default)]
pub(crate) struct Excluded {
    errors: BTreeMap<String, ConductError>,
}

impl Excluded {
    /// Excludes a treatment and returns the warning that says so; an error that is not the treatment's own is handed
    /// back. `folder` is where the data is.
    pub(crate) fn note(&mut self, treatment: &str, error: ConductError, folder: &Path) -> Result<String, ConductError> {
        // On a full disk the next treatment would only meet the same.
        if !is_of_the_treatment(&error) || tells_full_disk(&error.to_string(), folder) {
            return Err(error);
        }
        let message = is_excluded(treatment, &error);
        self.errors.insert(treatment.to_owned(), error);
        Ok(message)
    }

    /// Whether a treatment was excluded.
    pub(crate) fn has(&self, treatment: &str) -> bool {
        self.errors.contains_key(treatment)
    }

    /// Ends the campaign if there is nothing to measure: the base is excluded, or there is nothing beside it.
    pub(crate) fn check(&mut self, plan: &Plan) -> Result<(), ConductError> {
        if self.errors.is_empty() {
            return Ok(());
        }
        let base = &plan.treatments[plan.base].name;
        let others = plan.treatments.iter().filter(|treatment| treatment.name != *base);
        if !self.has(base) && others.clone().any(|other| !self.has(&other.name)) {
            return Ok(());
        }
        // A warning gave the reason for each when it was found, with its server's log.
        let excluded = self.errors.keys().filter(|treatment| !self.has(base) || *treatment == base);
        Err(ConductError::NothingToCompare { base: base.clone(), excluded: excluded.cloned().collect() })
    }

    /// The reason for each excluded treatment, as it stands in every sample of it.
    pub(crate) fn reasons(&self) -> BTreeMap<String, String> {
        let reason = |(treatment, error)| (String::clone(treatment), in_short(&is_excluded(treatment, error)));
        self.errors.iter().map(reason).collect()
    }
}

fn is_excluded(treatment: &str, error: &ConductError) -> String {
    format!("{treatment} is excluded: {error}")
}

/// An error without most of the log that it quotes: the lines that tell of errors, else the last ones.
fn in_short(message: &str) -> String {
    // A tab says that a line goes on from the one before.
    let mut lines = message.lines().map(|line| line.trim_end().trim_start_matches(' ')).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let log: Vec<&str> = lines.collect();
    let is_error = |line: &&str| ["ERROR", "FATAL", "PANIC"].iter().any(|word| line.contains(word));
    let errors: Vec<&str> = log.iter().copied().filter(is_error).take(LOG_LINES_IN_SAMPLE).collect();
    let kept = match errors.is_empty() {
        true => &log[log.len().saturating_sub(LOG_LINES_IN_SAMPLE)..],
        false => &errors[..],
    };
    [&[first], kept].concat().join("\n")
}

/// Whether another treatment may well do where this one failed.
fn is_of_the_treatment(error: &ConductError) -> bool {
    match error {
        ConductError::Server { error, .. } => matches!(
            **error,
            ServerError::Machine(MachineError::Program { .. })
                | ServerError::Build(BuildError::NotAnInstallation { .. })
                | ServerError::DidNotStart { .. }
                | ServerError::NotReady { .. }
                | ServerError::Died { .. }
                | ServerError::Wire(_)
                | ServerError::Answer { .. }
        ),
        ConductError::Loading { .. } | ConductError::Load { .. } => true,
        ConductError::Setting { .. } | ConductError::StorageEngine { .. } | ConductError::NotStopped { .. } => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::plan;

    fn failing(build: &str) -> ConductError {
        let log = vec!["unknown variable 'query_cache_size=1'".to_owned()];
        let error = ServerError::DidNotStart { build: build.to_owned(), status: "exit status: 1".to_owned(), log };
        ConductError::server(format!("starting {build} for the first time"))(error)
    }

    fn noted(treatments: &[&str]) -> (Excluded, Vec<String>) {
        let mut excluded = Excluded::default();
        let note = |treatment: &&str| {
            excluded.note(treatment, failing(treatment), Path::new("/")).expect("the treatment's own")
        };
        let messages = treatments.iter().map(note).collect();
        (excluded, messages)
    }

    #[test]
    fn one_of_three_is_left_out_and_the_reason_told() {
        let (mut excluded, told) = noted(&["b"]);
        excluded.check(&plan(&["a", "b", "c"], 0)).expect("the rest goes on");
        assert!(excluded.has("b") && !excluded.has("a"));
        assert_eq!(told.len(), 1);
        assert!(excluded.reasons()["b"].contains("unknown variable"), "{:?}", excluded.reasons());
        assert!(told[0].contains("b is excluded: starting b for the first time"), "{told:?}");
        assert!(told[0].contains("unknown variable"), "{told:?}");
    }

    #[test]
    fn samples_repeat_what_matters_of_a_log() {
        let told =
            "b is excluded: it ended; its log ends with:\n  1 [Note] a\n  2 [ERROR] x\n\n  3 [Note] b\n  4 [ERROR] y";
        assert_eq!(in_short(told), "b is excluded: it ended; its log ends with:\n2 [ERROR] x\n4 [ERROR] y");
        let told = "b is excluded: it ended:\n1\n2\n3\n4";
        assert_eq!(in_short(told), "b is excluded: it ended:\n2\n3\n4");
        assert_eq!(in_short("b is excluded: no reason"), "b is excluded: no reason");
    }

    #[test]
    fn without_a_base_or_without_others_the_campaign_ends() {
        let ended = |plan: &Plan, treatments: &[&str]| {
            let (mut excluded, told) = noted(treatments);
            assert!(
                told.iter().all(|told| told.contains("unknown variable")),
                "the reasons are told once, here: {told:?}"
            );
            excluded.check(plan).expect_err("the campaign ends").to_string()
        };
        let base = "b is excluded (see above); without a baseline there is nothing to compare";
        assert_eq!(ended(&plan(&["a", "b", "c"], 1), &["b"]), base);
        assert_eq!(ended(&plan(&["a", "b", "c"], 1), &["a", "b", "c"]), base);
        let other = "there is nothing to compare a with: b is excluded (see above)";
        assert_eq!(ended(&plan(&["a", "b"], 0), &["b"]), other);
        let both = "there is nothing to compare a with: b and c are excluded (see above)";
        assert_eq!(ended(&plan(&["a", "b", "c"], 0), &["b", "c"]), both);
        assert!(ended(&plan(&["a"], 0), &["a"]).starts_with("a is excluded"));
        Excluded::default().check(&plan(&["a"], 0)).expect("one treatment alone is what was asked for");
    }

    #[test]
    fn a_fault_of_this_machine_is_no_exclusion() {
        let full = MachineError::Program {
            program: "initdb".to_owned(),
            status: "exit status: 1".to_owned(),
            output: "could not write: No space left on device".to_owned(),
        };
        let unreachable = MachineError::Unreachable { uid: 65534, folder: "/root".into(), remedy: "RQPS_DATA" };
        let faults = [
            ConductError::server("initialising")(full),
            ConductError::server("starting")(unreachable),
            ConductError::Interrupted,
        ];
        for fault in faults {
            let told = fault.to_string();
            let back = Excluded::default().note("a", fault, Path::new("/"));
            assert_eq!(back.expect_err("handed back").to_string(), told);
        }
    }
}
