//! A whole pass of the small preset, with what each step did: for whoever works on the client or wants to see the
//! steps.

use super::{bench, start};
use crate::RUNNING;
use crate::servers::Product::{self, Mysql, Postgres};
use rqps_load::insert::{State, rest, run_step};
use rqps_model::insert::{Shape, per_second, rate_held_in, steps};

#[expect(clippy::print_stdout, reason = "the figures are what it is run for")]
fn pass(product: Product) {
    let server = start(product);
    let endpoint = server.endpoint();
    let shape = Shape { seconds: 12.0, ..rqps_suites::Suite::insert().scales["small"].clone() };
    let bench = bench(&endpoint, &shape);
    let mut state = State::new();
    for step in steps(&shape) {
        let run = run_step(&bench, &step, &mut state, &RUNNING, &|_| ()).unwrap();
        let record = &run.record;
        assert_eq!(record.failure, None);
        let (inserts, queries) = (record.inserts, record.queries);
        let rates = per_second(&run.seconds, record.seconds, |row| match step.queries() {
            true => row.queries,
            false => row.inserted,
        });
        let operations = if step.queries() { queries.accounting.succeeded } else { inserts.rows };
        println!(
            "{:7} {:6.1} s {:8.0} rows/s {:7.0} queries/s held by half and 99 % of seconds: {:?} {:?}; longest insert {:.1} \
             delete {:.1} query {:.1} ms; client {:.2} us a row or query; {} min {} max; stalls {:?}; SLA {:?}",
            step.name,
            record.seconds,
            record.inserts_per_s(),
            record.queries_per_s(),
            rate_held_in(0.5, &rates),
            rate_held_in(0.99, &rates),
            inserts.response.longest_ns as f64 / 1e6,
            record.deletes.response.longest_ns as f64 / 1e6,
            queries.response.longest_ns as f64 / 1e6,
            record.client_cpu_ns as f64 / 1e3 / operations as f64,
            record.min_questions.count,
            record.max_questions.count,
            record.stalls(&run.seconds),
            record.sla.map(|sla| sla.is_held()),
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
