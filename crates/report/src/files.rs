//! Every text file that belongs beside a report, as relative path and bytes; the caller writes them.
//!
//! `tables/qps.{abs,rel}.c<clients>.{tsv,csv,txt}`, `tables/o.met.c<clients>` and `tables/cost.c<clients>.tsv` for each
//! number of clients, of the Insert Benchmark its own tables in place of `qps` and `o.met`; `tables/summary.txt` (the terminal's table without colour), `tables/summary.md` and `compare.json`.

use crate::qps_table::{self, Kind};
use crate::{compare_json, cost_table, insert, markdown, order, terminal};
use rqps_analysis::findings::Findings;

/// Width of the table that is kept as a file.
const SUMMARY_WIDTH: usize = 100;

/// Path relative to the campaign's folder, and content.
pub fn files(findings: &Findings) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for level in order::levels(findings) {
        let tag = format!("c{}", level.clients);
        let cost = (format!("tables/cost.{tag}.tsv"), cost_table::true_units(findings, &level));
        if insert::is_insert(findings) {
            files.extend(insert::files(findings, &level));
            files.push(cost);
            continue;
        }
        for kind in [Kind::Absolute, Kind::Relative] {
            let stem = format!("tables/qps.{}.{tag}", kind.word());
            files.push((format!("{stem}.tsv"), qps_table::tsv(findings, &level, kind)));
            files.push((format!("{stem}.csv"), qps_table::csv(findings, &level, kind)));
            files.push((format!("{stem}.txt"), qps_table::grouped(findings, &level, kind)));
        }
        files.push((format!("tables/o.met.{tag}"), cost_table::published(findings, &level)));
        files.push(cost);
    }
    files.push(("tables/summary.txt".to_owned(), terminal(findings, SUMMARY_WIDTH, false)));
    files.push(("tables/summary.md".to_owned(), markdown(findings)));
    files.push(("compare.json".to_owned(), compare_json(findings)));
    files.into_iter().map(|(path, content)| (path, content.into_bytes())).collect()
}
