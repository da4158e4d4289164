//! Every text file that belongs beside a report, as relative path and bytes; the caller writes them.
//!
//! What the suite publishes and `tables/cost.c<clients>.tsv` for each number of clients; `tables/growth.tsv` where
//! builds went on with their data; `tables/summary.txt` (the terminal's table without colour), `tables/summary.md` and
//! `compare.json`.

use crate::metric::{self, Metric};
use crate::order::{self, Level};
use crate::{compare_json, growth, markdown, suite, terminal, text};
use rqps_analysis::findings::Findings;

/// Width of the table that is kept as a file.
const SUMMARY_WIDTH: usize = 100;

/// Path relative to the campaign's folder, and content.
pub fn files(findings: &Findings) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for level in order::levels(findings) {
        let path = format!("tables/cost.c{}.tsv", level.clients);
        files.extend(suite::files(findings, &level));
        files.push((path, costs(findings, &level)));
    }
    files.extend(growth::file(findings));
    files.push(("tables/summary.txt".to_owned(), terminal(findings, SUMMARY_WIDTH, false)));
    files.push(("tables/summary.md".to_owned(), markdown(findings)));
    files.push(("compare.json".to_owned(), compare_json(findings)));
    files.into_iter().map(|(path, content)| (path, content.into_bytes())).collect()
}

/// All costs in true units, full precision: one line per test and treatment, per statement or, for `scan`, per 1000
/// rows of all clients.
fn costs(findings: &Findings, level: &Level<'_>) -> String {
    let heads: Vec<&str> = metric::ALL.iter().map(|metric| metric.cost.name).collect();
    let mut out = format!("test\tclients\ttreatment\tper\t{}\n", heads.join("\t"));
    for (_, test) in level.blocks.iter().flat_map(|block| &block.tests) {
        let per = metric::per(findings, test);
        for index in order::base_first(findings) {
            let Some(cost) = &test.cells[index].cost else { continue };
            let value = |metric: &Metric| (metric.cost.of)(cost).to_string();
            let values: Vec<String> = metric::ALL.iter().map(value).collect();
            let (name, treatment) = (text::plain(&test.name), text::plain(&findings.treatments[index].name));
            out.push_str(&format!("{name}\t{}\t{treatment}\t{per}\t{}\n", test.clients, values.join("\t")));
        }
    }
    out
}
