//! Through TLS the timed path allocates a little, as its library wants, and keeps nothing of it.

use allocation_counter::measure;
use rqps_testkit::PATIENCE;
use rqps_wire::{ParameterType, Session};

use super::shared;
use crate::memory::run;

#[test]
fn through_tls_a_statement_takes_a_buffer_each_way_and_keeps_none() {
    const STATEMENTS: i32 = 200;
    let [_, mariadb] = shared();
    let mut session = Session::connect(&mariadb.tls("bench", "required"), PATIENCE).unwrap();
    let mut point = session.prepare("select ?", &[ParameterType::Int4]).unwrap();
    let mut all = || {
        for number in 0..STATEMENTS {
            point.set_i32(0, number);
            assert_eq!(run(&mut session, &point), 1);
        }
    };
    all();
    let allocations = measure(all);
    assert_eq!(allocations.count_total, 2 * u64::from(STATEMENTS.cast_unsigned()), "{allocations:?}");
    assert_eq!((allocations.count_current, allocations.bytes_current), (0, 0), "{allocations:?}");
}
