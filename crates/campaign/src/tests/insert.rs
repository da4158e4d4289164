//! The Insert Benchmark as a plan.

use crate::testing::plan;
use rqps_model::plan::{Alternate, DataSet, SuitePlan, TestPlan};
use rqps_model::{Group, Interleave, Unit};

const TWO: [(&str, &str); 3] = [("suite", "insert"), ("build", "postgres:17.11"), ("build", "my8033")];

#[test]
fn every_step_is_a_test() {
    let plan = plan(&[&TWO[..], &[("write-rates", "100,20"), ("read-seconds", "60")]].concat(), false);
    let told: Vec<String> = plan
        .tests()
        .iter()
        .map(|test| format!("{} {} {}: {} s", test.rank, test.label, test.group, test.seconds))
        .collect();
    expect_test::expect![[r#"
        0 l.i0 write: 4.6 s
        1 l.x write: 2.1 s
        2 l.i1 write: 6.6 s
        3 l.i2 write: 4.4 s
        4 qr100.L1 range: 60 s
        5 qp100.L2 point: 60 s
        6 qr20.L3 range: 60 s
        7 qp20.L4 point: 60 s"#]]
    .assert_eq(&told.join("\n"));
    let [stage] = plan.stages.as_slice() else { panic!("{:?}", plan.stages) };
    assert_eq!((stage.alternate, &stage.data, stage.rows), (Alternate::SideBySide, &DataSet::Empty, 500_000));
    let in_slices = |test: &TestPlan| test.interleave == Some(Interleave::Slices) && test.before.is_empty();
    assert!(stage.tests.iter().all(in_slices));
    assert_eq!((stage.tests[0].unit, stage.tests[4].group), (Unit::RowsPerSecond, Group::Range));
    assert_eq!(plan.machine.map(|machine| machine.suffix()).as_deref(), Some("c2r24"), "what it would have alone");
}

#[test]
fn clients_tables_and_rows_come_as_asked() {
    let shape = |words: &[(&str, &str)]| {
        let plan = plan(&[&TWO[..], words].concat(), false);
        let SuitePlan::Insert(shape) = &plan.suite else { panic!("{:?}", plan.suite) };
        let data = rqps_suites::data(&plan.suite);
        let shared = if shape.shared_table { "shared" } else { "own" };
        let clients = plan.clients();
        let Some(small) = clients.first() else { panic!("some clients") };
        format!("{small}..{} {shared} {} x {}", shape.clients, data.tables, data.rows)
    };
    for (words, expected) in [
        (&[][..], "1..1 own 1 x 500000"),
        (&[("clients", "4,2"), ("rows", "10k")], "4..4 own 4 x 10000"),
        (&[("clients", "1,4"), ("tables", "1"), ("rows", "10k")], "1..4 shared 1 x 40000"),
        (&[("clients", "4"), ("tables", "4"), ("rows", "10k")], "4..4 own 4 x 10000"),
        (&[("tables", "1"), ("scale", "small:0.1")], "1..1 own 1 x 50000"),
    ] {
        assert_eq!(shape(words), expected, "{words:?}");
    }
}
