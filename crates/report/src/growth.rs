//! What data took on disk around each run, where builds went on with what earlier runs left, or wrote to the
//! user's own: `tables/growth.tsv`.
//!
//! In: findings. Out: a line for each sample, in the order of tests and rounds; nothing where there is none of it.

use crate::{order, suite, text};
use rqps_analysis::findings::Findings;

/// The file, where there is something to tell.
pub(crate) fn file(findings: &Findings) -> Option<(String, String)> {
    let mut out = "test\ttreatment\tround\ttables_before_bytes\ttables_after_bytes\tfolder_after_bytes\n".to_owned();
    let head = out.len();
    for test in &findings.tests {
        for index in order::base_first(findings) {
            let name = text::plain(&findings.treatments[index].name);
            for one in &test.cells[index].continued {
                let (row, before, after) = (suite::row(findings, test), one.growth.before, one.growth.after);
                let sizes = [before.database_bytes, after.database_bytes, after.folder_bytes];
                let sizes = sizes.map(|bytes| bytes.to_string()).join("\t");
                out.push_str(&format!("{row}\t{name}\t{}\t{sizes}\n", one.round));
            }
        }
    }
    (out.len() > head).then(|| ("tables/growth.tsv".to_owned(), out))
}
