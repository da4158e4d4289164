//! Cost per operation in the published metric file (`o.met`).
//!
//! `cpu/o` is percent of the machine times seconds per operation, as published.

use crate::number;
use crate::order::{self, Level};
use crate::text;
use rqps_analysis::findings::{Cost, Findings, TestFindings, clients_per_unit};

/// The published name of the load, which is driven by the test that follows it there.
const LOAD: &str = "sb.prepare.met.point-query.warm.range100.pk1";

/// The metric file: per test a block of absolute lines and a block relative to the first; the load, of those treatments
/// that loaded, before all tests.
pub(super) fn met(findings: &Findings, level: &Level<'_>) -> String {
    let tests = level.blocks.iter().flat_map(|block| &block.tests);
    let load = block(findings, LOAD, 1.0, |index| findings.treatments[index].load.as_ref());
    let of_test = |(_, test): &(usize, &TestFindings)| {
        let stem = text::plain(&test.label).replace("_range=", ".range");
        let title = format!("sb.met.{stem}.pk1.dop{}", test.clients);
        block(findings, &title, clients_per_unit(test.unit, test.clients), |index| test.cells[index].cost.as_ref())
    };
    std::iter::once(load).chain(tests.map(of_test)).collect()
}

/// One block; empty where no treatment has a cost. The published unit may be that of one of several clients.
fn block<'f>(
    findings: &'f Findings,
    title: &str,
    clients_per_unit: f64,
    cost: impl Fn(usize) -> Option<&'f Cost>,
) -> String {
    let measured: Vec<(String, [f64; 6])> = order::base_first(findings)
        .into_iter()
        .filter_map(|index| {
            let name = text::plain(&findings.treatments[index].name);
            Some((format!("x.{name}.pk1"), values(cost(index)?, clients_per_unit)))
        })
        .collect();
    let Some((first, rest)) = measured.split_first() else { return String::new() };
    let mut out = format!("{title}\n--- absolute\n");
    out.push_str("cpu/o\t\tcs/o\tr/o\trKB/o\twKB/o\to/s\tdbms\n");
    for (name, values) in &measured {
        out.push_str(&format!("{}\t{name}\n", absolute(*values).join("\t")));
    }
    out.push_str("--- relative to first result\n");
    for (name, values) in rest {
        let [cpu, others @ ..] = relative(*values, first.1);
        out.push_str(&format!("{cpu}\t\t{}\t{name}\n", others.join("\t")));
    }
    out.push('\n');
    out
}

fn values(cost: &Cost, clients_per_unit: f64) -> [f64; 6] {
    let [cpu, cs, r, rkb, wkb] = [cost.cpu_per_op, cost.cs_per_op, cost.r_per_op, cost.rkb_per_op, cost.wkb_per_op]
        .map(|per_op| per_op * clients_per_unit);
    [cpu, cs, r, rkb, wkb, cost.ops_per_s / clients_per_unit]
}

/// Six digits for CPU and three for the rest, as published; digits more where fewer than two would be left.
fn absolute([cpu, cs, r, rkb, wkb, ops]: [f64; 6]) -> [String; 6] {
    let fixed = |value: f64, decimals: usize| {
        let text = format!("{value:.decimals$}");
        if value > 0.0 && value < 9.5 * 0.1_f64.powi(decimals as i32) { number::significant(value, 2) } else { text }
    };
    let io = |value: f64| {
        let text = format!("{value:.3}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    [fixed(cpu, 6), fixed(cs, 3), io(r), io(rkb), io(wkb), number::throughput(ops)]
}

/// Zero against zero is 1, something against zero is inf; a value counts as zero where it prints as zero.
fn relative(these: [f64; 6], bases: [f64; 6]) -> [String; 6] {
    const SMALLEST: [f64; 6] = [0.0, 0.0, 0.0005, 0.0005, 0.0005, 0.0];
    std::array::from_fn(|at| {
        let zero = |value: f64| value <= SMALLEST[at];
        match (zero(these[at]), zero(bases[at])) {
            (true, true) => "1".to_owned(),
            (false, true) => "inf".to_owned(),
            (true, false) => "0.00".to_owned(),
            (false, false) => number::published_ratio(these[at] / bases[at]),
        }
    })
}
