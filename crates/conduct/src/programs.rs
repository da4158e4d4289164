//! The programs that the servers of a setup run: those of the installations, or copies in huge pages.
//!
//! In: the plan, and the builds of a setup. Out: the builds as they are to be started. Before each setup they are drawn
//! anew: small pages by dropping the programs from the page cache, huge ones by a new copy. Copies are in the lease and
//! go when this is dropped, which must be after the servers have ended. Treatments of one build share its copy, as they
//! share its pages in the page cache.

use crate::ConductError;
use rqps_machine::Lease;
use rqps_machine::lease::LeasedFolder;
use rqps_machine::program_place;
use rqps_model::facts::BuildFacts;
use rqps_model::sample::ProgramText;
use rqps_model::{Plan, ProgramPages};
use rqps_server::{page_cache, program_copy};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// With less of a program in huge pages, what was asked for was not given.
const HUGE_SHARE_MIN: f64 = 0.5;

/// Refuses huge pages that this host does not have, before anything is loaded.
pub fn check(plan: &Plan) -> Result<(), ConductError> {
    place(plan).map(drop)
}

/// Where copies are made, if the plan asks for them.
fn place(plan: &Plan) -> Result<Option<&'static Path>, ConductError> {
    match plan.program_pages {
        ProgramPages::Small => Ok(None),
        ProgramPages::Huge => Ok(Some(program_place::find(Path::new(program_place::PLACE))?)),
    }
}

/// The programs of a setup.
#[derive(Debug, Default)]
pub(crate) struct Programs {
    /// Builds as they are started, by their installation.
    copies: BTreeMap<PathBuf, BuildFacts>,
    _folder: Option<LeasedFolder>,
}

impl Programs {
    /// Draws the pages of these builds anew; none of their servers runs.
    pub(crate) fn draw<'a>(
        plan: &Plan,
        builds: impl Iterator<Item = &'a BuildFacts>,
        lease: &Lease,
    ) -> Result<Programs, ConductError> {
        let builds: Vec<&BuildFacts> = builds.collect();
        // Of a copy also what is linked there.
        builds.iter().for_each(|build| _ = page_cache::renew(build));
        let Some(place) = place(plan)? else { return Ok(Programs::default()) };
        // Open for entering alone, as data folders are.
        let folder = lease.folder(place, "programs", 0o711).map_err(ConductError::server(COPYING))?;
        let mut copies = BTreeMap::new();
        for build in builds {
            if !copies.contains_key(&build.folder) {
                let to = folder.path().join(copies.len().to_string());
                let copied = program_copy::make(build, &to).map_err(ConductError::server(COPYING))?;
                copies.insert(build.folder.clone(), copied);
            }
        }
        Ok(Programs { copies, _folder: Some(folder) })
    }

    /// A build as it is to be started.
    pub(crate) fn of(&self, build: &BuildFacts) -> BuildFacts {
        let copied = self.copies.get(&build.folder);
        // Treatments name a build each as they like.
        copied.map_or_else(|| build.clone(), |copy| BuildFacts { folder: copy.folder.clone(), ..build.clone() })
    }
}

const COPYING: &str = "copying a program into huge pages";

/// What is to be known of a server whose program did not get the pages that the plan asks for.
pub(crate) fn shortfall(plan: &Plan, text: Option<ProgramText>) -> Option<String> {
    if plan.program_pages.is_small() {
        return None;
    }
    match text {
        None => Some("the program was to lie in huge pages, and the kernel does not tell whether it does".to_owned()),
        Some(text) if text.huge_share() < HUGE_SHARE_MIN => Some(format!(
            "the program was to lie in huge pages, and the kernel maps {:.1} of {:.1} MB of it so: its file may not be \
             laid out for them",
            text.huge_bytes as f64 / 1e6,
            text.bytes as f64 / 1e6
        )),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::plan;

    #[test]
    fn what_was_asked_for_and_not_given_is_told() {
        let small = plan(&["a", "b"], 0);
        let huge = Plan { program_pages: ProgramPages::Huge, ..small.clone() };
        let text = |huge_bytes| Some(ProgramText { bytes: 9_500_000, huge_bytes });
        assert_eq!((shortfall(&small, None), shortfall(&small, text(0))), (None, None));
        assert_eq!(shortfall(&huge, text(8_000_000)), None);
        let told = shortfall(&huge, text(2_097_152)).expect("a sentence");
        let expected = "the program was to lie in huge pages, and the kernel maps 2.1 of 9.5 MB of it so: its file may \
                        not be laid out for them";
        assert_eq!(told, expected);
        assert!(shortfall(&huge, None).is_some_and(|told| told.contains("does not tell")));
    }
}
