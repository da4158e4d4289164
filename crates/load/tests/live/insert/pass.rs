//! A whole pass of the small preset, with what each step did: for whoever works on the client or wants to see the
//! steps.

use super::{bench, is_held, stalls, start};
use crate::RUNNING;
use crate::servers::Product::{self, Mysql, Postgres};
use rqps_load::insert::{State, rest, run_step};
use rqps_model::insert::{Shape, steps};

#[expect(clippy::print_stdout, reason = "the figures are what it is run for")]
fn pass(product: Product) {
    let server = start(product);
    let endpoint = server.endpoint();
    let shape = Shape { seconds: 12.0, ..rqps_suites::Suite::insert().scales["small"].clone() };
    let bench = bench(&endpoint, &shape);
    let mut state = State::new();
    for step in steps(&shape) {
        let run = run_step(&bench, &step, &mut state, &RUNNING, &mut |_| ()).unwrap();
        let record = &run.record;
        assert_eq!(record.failure, None);
        let (inserts, queries) = (record.inserts, record.queries);
        let operations = if step.queries() { queries.accounting.succeeded } else { inserts.rows };
        println!(
            "{:7} {:6.1} s {:8.0} rows/s {:7.0} queries/s; longest insert {:.1} delete {:.1} query {:.1} ms; client {:.2} us a \
             row or query; {} min {} max; stalls {:?}; SLA held {:?}",
            step.name,
            record.seconds,
            record.inserts_per_s(),
            queries.accounting.succeeded as f64 / record.seconds,
            inserts.response.longest_ns as f64 / 1e6,
            record.deletes.response.longest_ns as f64 / 1e6,
            queries.response.longest_ns as f64 / 1e6,
            record.client_cpu_ns as f64 / 1e3 / operations as f64,
            record.min_probes.count,
            record.max_probes.count,
            stalls(&run),
            record.sla.as_ref().map(is_held),
        );
        if step.is_followed_by_rest() {
            println!("{:7} {:6.1} s", "rest", rest(&server.target(), &shape, &RUNNING).unwrap().seconds);
        }
    }
}

#[test]
#[ignore = "takes two minutes and prints what each step did: cargo test --release -p rqps-load --test live -- --ignored --nocapture pass"]
fn a_pass_of_the_small_preset() {
    pass(Postgres);
}

#[test]
#[ignore = "takes two minutes and prints what each step did: cargo test --release -p rqps-load --test live -- --ignored --nocapture pass"]
fn a_pass_of_the_small_preset_on_mysql() {
    pass(Mysql);
}
