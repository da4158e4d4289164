//! A longer step takes no more memory than a short one.

use super::{bench, run, run_up_to, shape, shared, step};
use crate::servers::Product::{Mysql, Postgres};
use rqps_load::insert::{Bench, State};
use rqps_model::insert::Shape;
use rqps_testkit::on_each;

/// What is allocated in a step of so many seconds, all told.
fn allocations(bench: &Bench<'_>, name: &str, seconds: f64) -> u64 {
    let shape = Shape { seconds, ..bench.shape.clone() };
    let bench = Bench { shape: &shape, ..*bench };
    let mut state = State::read(bench.endpoint, &shape).unwrap();
    let step = step(&shape, name);
    let mut queries = 0;
    let counted = allocation_counter::measure(|| {
        queries = run(&bench, &step, &mut state).record.queries.accounting.succeeded;
    });
    assert!(queries > 20);
    counted.count_total
}

#[test]
fn a_step_allocates_only_before_it_begins_and_after_it_ends() {
    on_each(&[Postgres, Mysql], |product| {
        let server = shared(product);
        let endpoint = server.endpoint();
        let shape = Shape { rates_per_s: vec![500], ..shape() };
        let bench = bench(&endpoint, &shape);
        run_up_to(&bench, "l.i2");
        let [short, long] = [1.0, 3.0].map(|seconds| allocations(&bench, "qp500", seconds));
        assert!(long <= short + 2, "{short} in one second, {long} in three");
    });
}
