//! Published results as input: the ratios and costs that were published must come out.
//!
//! The data in `published/` are result files of the Small Datum benchmarks (sysbench, April 2026, 48 cores, 40
//! clients), cut to what is needed here. Absolute numbers go in as one round of samples, relative ones are compared.

use rqps_analysis::analyse;
use rqps_analysis::findings::{Cost, Findings};
use rqps_madeup::{Recipe, scratch_folder};
use rqps_model::sample::{HostUse, Resources, SecondRow};
use rqps_model::{Part, part};
use rqps_store::{Campaign, Start};

const QPS_ABSOLUTE: &str = include_str!("published/qps.abs.pg.latest.csv");
const QPS_RELATIVE: &str = include_str!("published/qps.rel.pg.latest.csv");
const COSTS: &str = include_str!("published/o.met.my.ma.pg.latest");

/// Long enough that whole operations hold all published digits.
const SECONDS: f64 = 100_000.0;
const CPUS: u32 = 48;

/// One published cell: operations per second and what they cost.
#[derive(Debug, Clone, Copy, Default)]
struct Published {
    cpu_per_op: f64,
    cs_per_op: f64,
    reads_per_op: f64,
    read_kb_per_op: f64,
    write_kb_per_op: f64,
    ops_per_s: f64,
}

/// A campaign of one round whose cells have these numbers, by test and treatment.
fn findings_of(tests: &[(String, Vec<Published>)]) -> Findings {
    let root = scratch_folder().unwrap();
    let treatments = tests[0].1.len();
    let recipe = Recipe { clients: vec![40], cycles: 0, seconds: 0, ..Recipe::new(1, treatments, 1, 1) };
    let pattern = Campaign::open(&recipe.write(&root.path().join("pattern")).unwrap()).unwrap();
    let mut plan = recipe.plan();
    let [stage] = plan.stages.as_mut_slice() else { panic!("one stage") };
    let test = |name: &String| rqps_model::plan::TestPlan { name: name.clone(), ..stage.tests[0].clone() };
    stage.tests = tests.iter().map(|(name, _)| test(name)).collect();
    let start = Start { at: "2026-04-10T00:00:00Z".to_owned(), rqps_version: "0".to_owned(), ..Start::default() };
    let writer = Campaign::create(root.path(), "published", &plan, pattern.host(), "", start).unwrap().without_sync();
    for (treatment, name) in recipe.treatment_names().iter().enumerate() {
        writer.write_build(name, &pattern.build(name).unwrap().unwrap()).unwrap();
        writer.write_settings(name, &pattern.settings(name).unwrap().unwrap()).unwrap();
        let made_up = pattern.sample(1, name, "hot-points", 40).unwrap().unwrap().parts().unwrap();
        for (test, cells) in tests {
            let mut parts = made_up.clone();
            parts.put(Part::lines::<SecondRow>(part::SECONDS, &[]));
            let cell = cells[treatment];
            parts.sample.test = test.clone();
            parts.sample.score.count = (cell.ops_per_s * SECONDS).round() as u64;
            parts.sample.busy_ns = (SECONDS * 40.0 * 1e9) as u64;
            parts.sample.resources = resources(cell);
            writer.publish(&parts).unwrap();
        }
    }
    analyse(&Campaign::open(writer.folder()).unwrap(), None).unwrap()
}

/// The use of the machine that `vmstat` and `iostat` would show for these costs.
fn resources(cell: Published) -> Resources {
    let operations = cell.ops_per_s * SECONDS;
    let counted = |per_op: f64| (per_op * operations).round() as u64;
    let host = HostUse {
        seconds: SECONDS,
        cpus: CPUS,
        cpu_user_s: cell.cpu_per_op * operations / 100.0 * f64::from(CPUS),
        context_switches: counted(cell.cs_per_op),
        disk_reads: counted(cell.reads_per_op),
        disk_read_bytes: counted(cell.read_kb_per_op * 1024.0),
        disk_write_bytes: counted(cell.write_kb_per_op * 1024.0),
        ..HostUse::default()
    };
    Resources { host, operations: operations.round() as u64, ..Resources::default() }
}

/// `name,1.23,4.56` → the name and the numbers.
fn csv(text: &str) -> Vec<(String, Vec<f64>)> {
    let row = |line: &str| {
        let (name, numbers) = line.split_once(',').unwrap();
        (name.to_owned(), numbers.split(',').map(|number| number.parse().unwrap()).collect())
    };
    text.lines().map(row).collect()
}

#[test]
fn relative_throughput_is_as_published() {
    let absolute: Vec<(String, Vec<Published>)> = csv(QPS_ABSOLUTE)
        .into_iter()
        .map(|(test, numbers)| {
            let cell = |&ops_per_s: &f64| Published { ops_per_s, ..Published::default() };
            (test, numbers.iter().map(cell).collect())
        })
        .collect();
    let found = findings_of(&absolute);
    let mut compared = 0;
    for (test, relative) in csv(QPS_RELATIVE) {
        let cells = &found.tests.iter().find(|findings| findings.name == test).unwrap().cells;
        for (cell, expected) in cells[1..].iter().zip(relative) {
            let rqps = cell.comparison.as_ref().unwrap().rqps;
            assert_eq!(format!("{rqps:.2}"), format!("{expected:.2}"), "{test}");
            compared += 1;
        }
    }
    assert_eq!(compared, 33 * 6);
}

/// The blocks of a cost file: name of the test, absolute lines, relative lines (text, as published).
fn blocks(text: &str) -> Vec<(String, Vec<Published>, Vec<Vec<String>>)> {
    let block = |block: &str| {
        let mut lines = block.lines();
        let name = lines.next().unwrap().split('.').skip(2).collect::<Vec<_>>().join(".");
        let fields =
            |line: &str| line.split('\t').filter(|field| !field.is_empty()).map(str::to_owned).collect::<Vec<_>>();
        let is_value = |line: &&str| !line.starts_with("---") && !line.starts_with("cpu/o");
        let (absolute, relative): (Vec<_>, Vec<_>) = {
            let all: Vec<Vec<String>> = lines.filter(is_value).map(fields).collect();
            let treatments = all.len().div_ceil(2);
            (all[..treatments].to_vec(), all[treatments..].to_vec())
        };
        let cell = |fields: &Vec<String>| {
            let n: Vec<f64> = fields[..6].iter().map(|field| field.parse().unwrap()).collect();
            Published {
                cpu_per_op: n[0],
                cs_per_op: n[1],
                reads_per_op: n[2],
                read_kb_per_op: n[3],
                write_kb_per_op: n[4],
                ops_per_s: n[5],
            }
        };
        (name, absolute.iter().map(cell).collect(), relative)
    };
    text.split("\n\n").filter(|text| !text.trim().is_empty()).map(block).collect()
}

/// Whether a ratio of rounded numbers can be the published ratio of the exact ones.
fn agrees(published: &str, ratio: Option<f64>, (value, base): (f64, f64), half_digit: f64) -> bool {
    match (published, ratio) {
        ("inf", None) => true,
        // Both were 0 as published.
        ("1", Some(ratio)) => ratio == 1.0,
        (text, Some(ratio)) => {
            let expected: f64 = text.parse().unwrap();
            let (lowest, highest) =
                ((value - half_digit) / (base + half_digit), (value + half_digit) / (base - half_digit).max(1e-12));
            (value == 0.0 || (ratio - value / base).abs() < 1e-3 * ratio)
                && lowest - 0.005 <= expected
                && expected <= highest + 0.005
        }
        _ => false,
    }
}

#[test]
fn costs_are_as_published() {
    let blocks = blocks(COSTS);
    let tests: Vec<_> = blocks.iter().map(|(name, absolute, _)| (name.clone(), absolute.clone())).collect();
    let found = findings_of(&tests);
    for (name, absolute, relative) in &blocks {
        let cells = &found.tests.iter().find(|test| test.name == *name).unwrap().cells;
        for (cell, expected) in cells.iter().zip(absolute) {
            let Cost { cpu_per_op, cs_per_op, r_per_op, rkb_per_op, wkb_per_op, ops_per_s, .. } =
                cell.cost.clone().unwrap();
            let close = |got: f64, expected: f64| (got - expected).abs() <= 1e-4 * expected;
            assert!(close(cpu_per_op, expected.cpu_per_op) && close(cs_per_op, expected.cs_per_op), "{name}");
            assert!(close(r_per_op, expected.reads_per_op) && close(ops_per_s, expected.ops_per_s), "{name}");
            assert!(
                close(rkb_per_op, expected.read_kb_per_op) && close(wkb_per_op, expected.write_kb_per_op),
                "{name}"
            );
            // Microseconds of CPU are percent of the machine times its CPUs.
            let host_cpu_us = cell.cost.as_ref().unwrap().host_cpu_us;
            assert!(close(host_cpu_us, expected.cpu_per_op / 100.0 * f64::from(CPUS) * 1e6), "{name}");
        }
        for (at, published) in relative.iter().enumerate() {
            let ratios = &cells[at + 1].cost.as_ref().unwrap().relative;
            let (own, base) = (absolute[at + 1], absolute[0]);
            let columns = [
                ("cpu_per_op", own.cpu_per_op, base.cpu_per_op, 5e-7),
                ("cs_per_op", own.cs_per_op, base.cs_per_op, 5e-4),
                ("r_per_op", own.reads_per_op, base.reads_per_op, 5e-4),
                ("rkb_per_op", own.read_kb_per_op, base.read_kb_per_op, 5e-4),
                ("wkb_per_op", own.write_kb_per_op, base.write_kb_per_op, 5e-4),
                ("ops_per_s", own.ops_per_s, base.ops_per_s, 0.5),
            ];
            for (text, (column, value, base, half_digit)) in published.iter().zip(columns) {
                let ratio = ratios.get(column).copied();
                assert!(agrees(text, ratio, (value, base), half_digit), "{name} {column}: {text} published, {ratio:?}");
            }
        }
    }
    let random = &found.tests.iter().find(|test| test.name == "random-points.range1000.pk1.dop40").unwrap().cells[1];
    let relative = &random.cost.as_ref().unwrap().relative;
    assert_eq!(
        (format!("{:.2}", relative["cpu_per_op"]), format!("{:.2}", relative["cs_per_op"])),
        ("2.28".to_owned(), "23.41".to_owned())
    );
}
