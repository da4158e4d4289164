//! The text files of sysbench as published: `tables/qps.{abs,rel}.c<clients>.{tsv,csv,txt}` and
//! `tables/o.met.c<clients>`.

mod met;
mod qps;

use crate::order::Level;
use qps::Kind;
use rqps_analysis::findings::Findings;

/// All files of one number of clients: path and content.
pub(super) fn files(findings: &Findings, level: &Level<'_>) -> Vec<(String, String)> {
    let tag = format!("c{}", level.clients);
    let mut files = Vec::new();
    for kind in [Kind::Absolute, Kind::Relative] {
        let stem = format!("tables/qps.{}.{tag}", kind.word());
        files.push((format!("{stem}.tsv"), qps::tsv(findings, level, kind)));
        files.push((format!("{stem}.csv"), qps::csv(findings, level, kind)));
        files.push((format!("{stem}.txt"), qps::grouped(findings, level, kind)));
    }
    files.push((format!("tables/o.met.{tag}"), met::met(findings, level)));
    files
}
