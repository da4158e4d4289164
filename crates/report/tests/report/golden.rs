//! Published results, read in and written out again: the tables must come out byte for byte.

use crate::world::{Size, findings};
use rqps_analysis::findings::{CellFindings, Comparison, Cost, Findings, TestFindings};
use rqps_model::Group;
use rqps_report::files;

const MYSQL_ABSOLUTE: &str = include_str!("../golden/qps.abs.all.tsv");
const POSTGRES_ABSOLUTE: &str = include_str!("../golden/qps.abs.pg.latest.tsv");
const METRICS: &str = include_str!("../golden/o.met.some");
const LOAD: &str = include_str!("../golden/o.met.load");

/// The file of this name among those that the report writes.
fn file(findings: &Findings, path: &str) -> String {
    let all = files(findings);
    let names: Vec<&String> = all.iter().map(|(name, _)| name).collect();
    let found = all.iter().find(|(name, _)| name == path);
    let (_, bytes) = found.unwrap_or_else(|| panic!("{path} is not among {names:?}"));
    String::from_utf8(bytes.clone()).expect("text")
}

fn group(label: &str) -> Group {
    match label {
        l if ["delete", "insert", "update", "write"].iter().any(|word| l.contains(word)) => Group::Write,
        l if l.contains("point") => Group::Point,
        l if l.starts_with("read-only") => Group::RangeAgg,
        _ => Group::Range,
    }
}

/// As published: the suffix stays only where it tells tests apart.
fn name(label: &str) -> String {
    let (stem, _) = label.split_once("_range=").expect("a raw label");
    let told_apart = ["random-points", "read-only", "read-write"].contains(&stem);
    if told_apart { label.to_owned() } else { stem.to_owned() }
}

/// Findings of a campaign with these treatments, without tests.
fn campaign(treatments: &[String]) -> Findings {
    let mut made = findings(Size { tests: 1, treatments: 3, rounds: 2 });
    let pattern = made.treatments[0].clone();
    let named = |name: &String| rqps_analysis::findings::TreatmentFindings { name: name.clone(), ..pattern.clone() };
    made.treatments = treatments.iter().map(named).collect();
    made.groups.clear();
    made.tests.clear();
    made
}

fn test(findings: &Findings, label: &str, throughputs: &[f64]) -> TestFindings {
    let base = throughputs[0];
    let cells = throughputs.iter().enumerate().map(|(index, t)| cell(*t, (index > 0).then(|| t / base)));
    let pattern = crate::world::findings(Size { tests: 1, treatments: 3, rounds: 2 });
    assert_eq!(findings.treatments.len(), throughputs.len());
    TestFindings {
        name: name(label),
        label: label.to_owned(),
        group: group(label),
        cells: cells.collect(),
        ..pattern.tests[0].clone()
    }
}

fn cell(throughput: f64, rqps: Option<f64>) -> CellFindings {
    let comparison = rqps.map(|rqps| Comparison::undecided(rqps, 1));
    CellFindings {
        rounds: 1,
        throughput: Some(throughput),
        throughput_by_round: vec![Some(throughput)],
        comparison,
        ..CellFindings::default()
    }
}

fn treatment(column: &str) -> String {
    column.trim_start_matches("x.").trim_end_matches(".pk1").to_owned()
}

/// Reads an absolute table.
fn read(table: &str) -> Findings {
    let legend = table.lines().take_while(|line| !line.is_empty());
    let names: Vec<String> = legend.map(|line| treatment(line.split(" : ").nth(1).expect("a legend"))).collect();
    let mut findings = campaign(&names);
    let rows = table.lines().skip(names.len() + 2);
    findings.tests = rows
        .map(|row| {
            let mut fields: Vec<&str> = row.split('\t').collect();
            let label = fields.pop().expect("a label");
            let values: Vec<f64> = fields.iter().map(|field| field.parse().expect("a number")).collect();
            test(&findings, label, &values)
        })
        .collect();
    findings
}

#[test]
fn raw_tables_of_mysql_are_as_published() {
    let findings = read(MYSQL_ABSOLUTE);
    assert_eq!(file(&findings, "tables/qps.abs.c1.tsv"), MYSQL_ABSOLUTE);
    assert_eq!(file(&findings, "tables/qps.rel.c1.tsv"), include_str!("../golden/qps.rel.all.tsv"));
    assert_eq!(file(&findings, "tables/qps.abs.c1.csv"), include_str!("../golden/qps.abs.all.csv"));
    assert_eq!(file(&findings, "tables/qps.rel.c1.csv"), include_str!("../golden/qps.rel.all.csv"));
}

#[test]
fn raw_order_does_not_depend_on_display_order() {
    let mut findings = read(MYSQL_ABSOLUTE);
    findings.tests.reverse();
    assert_eq!(file(&findings, "tables/qps.abs.c1.tsv"), MYSQL_ABSOLUTE);
}

#[test]
fn grouped_table_of_postgres_is_as_published() {
    let mut findings = read(POSTGRES_ABSOLUTE);
    findings.tests.retain(|test| test.name != "scan.warm");
    let expected = include_str!("../golden/qps.rel.pg.latest.tsv.edit");
    assert_eq!(file(&findings, "tables/qps.rel.c1.txt"), expected);
}

#[test]
fn what_is_absent_stays_absent() {
    let mut findings = read(MYSQL_ABSOLUTE);
    let cell = &mut findings.tests[0].cells[2];
    (cell.throughput, cell.comparison) = (None, None);
    let table = file(&findings, "tables/qps.rel.c1.tsv");
    assert!(table.contains("\n0.87\tNA\t0.65\t0.65\thot-points_range=100\n"), "{table}");
}

#[test]
fn metric_file_is_as_published() {
    let mut findings = campaign(&names_in(METRICS));
    for block in METRICS.trim_end().split("\n\n") {
        let mut lines = block.lines();
        let stem = lines.next().expect("a title").trim_start_matches("sb.met.").trim_end_matches(".pk1.dop1");
        let costs: Vec<Cost> = lines.skip(2).take_while(|line| !line.starts_with("---")).map(cost).collect();
        let throughputs: Vec<f64> = costs.iter().map(|cost| cost.ops_per_s).collect();
        let mut made = test(&findings, &stem.replace(".range", "_range="), &throughputs);
        made.cells.iter_mut().zip(costs).for_each(|(cell, cost)| cell.cost = Some(cost));
        findings.tests.push(made);
    }
    let written = file(&findings, "tables/o.met.c1");
    let sorted = |text: &str| {
        let mut blocks: Vec<String> = text.trim_end().split("\n\n").map(str::to_owned).collect();
        blocks.sort();
        blocks
    };
    assert_eq!(sorted(&written), sorted(METRICS));
    assert!(written.ends_with("\n\n"));
}

#[test]
fn a_scan_costs_by_all_rows_but_in_the_published_file_by_a_clients() {
    let mut findings = campaign(&["a".to_owned(), "b".to_owned()]);
    let mut scan = test(&findings, "scan_range=100", &[1000.0, 1100.0]);
    (scan.unit, scan.clients) = (rqps_model::Unit::KiloRowsPerSecond, 4);
    let cost = Cost { cpu_per_op: 0.02, cs_per_op: 1.5, ops_per_s: 4000.0, server_cpu_us: 400.0, ..Cost::default() };
    scan.cells[0].cost = Some(cost);
    findings.tests = vec![scan];
    findings.campaign.clients = vec![4];
    let published = file(&findings, "tables/o.met.c4");
    assert!(published.contains("\n0.080000\t6.000\t0\t0\t0\t1000\tx.a.pk1\n"), "{published}");
    let table = file(&findings, "tables/cost.c4.tsv");
    let row = table.lines().find(|line| line.starts_with("scan\t4\ta\t1000 rows\t400\t"));
    assert!(row.is_some(), "{table}");
}

#[test]
fn the_load_comes_first_and_is_as_published() {
    let mut findings = campaign(&names_in(LOAD));
    let costs = LOAD.lines().skip(3).take_while(|line| !line.starts_with("---")).map(cost);
    findings.treatments.iter_mut().zip(costs).for_each(|(treatment, cost)| treatment.load = Some(cost));
    let mut made = test(&findings, "point-query_range=100", &[1.0; 7]);
    made.cells.iter_mut().for_each(|cell| cell.cost = Some(Cost::default()));
    findings.tests.push(made);
    let written = |findings: &Findings| file(findings, "tables/o.met.c1");
    let (load, tests) = (written(&findings), "sb.met.point-query.range100.pk1.dop1\n");
    assert!(load.strip_prefix(LOAD).is_some_and(|rest| rest.starts_with(tests)), "{load}");
    // One loaded for the others too, or nobody told.
    findings.treatments[1..].iter_mut().for_each(|treatment| treatment.load = None);
    let first: Vec<&str> = LOAD.lines().take(4).chain(["--- relative to first result", "", tests.trim_end()]).collect();
    assert!(written(&findings).starts_with(&first.join("\n")), "{}", written(&findings));
    findings.treatments[0].load = None;
    assert!(written(&findings).starts_with(tests));
}

/// The treatments of a metric file's first block.
fn names_in(metrics: &str) -> Vec<String> {
    let lines = metrics.lines().skip(3).take_while(|line| !line.starts_with("---"));
    lines.map(|line| treatment(line.rsplit('\t').next().expect("a name"))).collect()
}

fn cost(line: &str) -> Cost {
    let values: Vec<f64> = line.split('\t').take(6).map(|field| field.parse().expect("a number")).collect();
    let [cpu_per_op, cs_per_op, r_per_op, rkb_per_op, wkb_per_op, ops_per_s] = values[..] else {
        panic!("six numbers in {line:?}");
    };
    Cost { cpu_per_op, cs_per_op, r_per_op, rkb_per_op, wkb_per_op, ops_per_s, ..Cost::default() }
}

#[test]
fn small_ratios_keep_two_digits() {
    let mut findings = read(MYSQL_ABSOLUTE);
    let comparison = findings.tests[0].cells[1].comparison.as_mut().expect("compared");
    comparison.rqps = 0.0123;
    assert!(file(&findings, "tables/qps.rel.c1.csv").contains("hot-points_range=100,0.012,"));
}
