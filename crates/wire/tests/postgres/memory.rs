//! The timed path allocates nothing after warm-up, and results of any size pass through a bounded buffer.

use allocation_counter::measure;
use rqps_wire::{ParameterType, Poller, Session, Statement, wait_readable};

use crate::shared;

/// One statement as the load runs it.
fn run(session: &mut Session, statement: &Statement) -> u64 {
    session.submit(statement).unwrap();
    loop {
        wait_readable(&*session, None).unwrap();
        if let Some(reply) = session.receive().unwrap() {
            return reply.rows;
        }
    }
}

#[test]
fn submit_and_receive_allocate_nothing_after_warm_up() {
    let mut session = shared().session();
    let begin = session.prepare("begin", &[]).unwrap();
    let commit = session.prepare("commit", &[]).unwrap();
    let mut rows = session
        .prepare("select g, repeat('x', 300) from generate_series(1, $1::int4) g", &[ParameterType::Int4])
        .unwrap();
    let mut text = session.prepare("select $1::text", &[ParameterType::Text { len: 5 }]).unwrap();
    let fail = session.prepare("select 1 / 0", &[]);
    assert!(fail.is_ok(), "only its execution fails");
    let fail = fail.unwrap();
    let mut simple = session.text_statement(100);
    let poller_source = session.prepare("select 1", &[]).unwrap();
    let mut poller = Poller::new().unwrap();
    poller.add(&session, 1).unwrap();

    let mut transaction = |number: i32| {
        run(&mut session, &begin);
        // Up to 60 KB, so that frames are cut by the end of a read.
        rows.set_i32(0, number);
        assert_eq!(run(&mut session, &rows), u64::from(number.cast_unsigned()));
        text.set_text(0, b"hello");
        run(&mut session, &text);
        simple.set_sql(if number % 2 == 0 { b"select 17" } else { b"select 'seventeen'" });
        run(&mut session, &simple);
        run(&mut session, &fail);
        run(&mut session, &commit);
        session.submit(&poller_source).unwrap();
        while poller.wait(None).unwrap().len() == 0 {}
        while session.receive().unwrap().is_none() {}
    };
    for number in 0..200 {
        transaction(number);
    }
    let allocations = measure(|| {
        for number in 0..200 {
            transaction(number);
        }
    });
    assert_eq!(allocations.count_total, 0, "{allocations:?}");
}

#[test]
fn a_result_of_100_mb_passes_through_little_memory() {
    let mut session = shared().session();
    let mut large = session.text_statement(200);
    large.set_sql(b"select repeat('x', 100000) from generate_series(1, 1000)");
    let mut rows = 0;
    let allocations = measure(|| rows = run(&mut session, &large));
    assert_eq!(rows, 1000);
    assert!(allocations.bytes_max < 64 * 1024, "{allocations:?}");
    let allocations = measure(|| {
        let counted = session.execute("select repeat('x', 100000) from generate_series(1, 100)");
        assert_eq!(counted.unwrap(), 100);
    });
    assert!(allocations.bytes_max < 64 * 1024, "{allocations:?}");
}

#[test]
fn a_session_with_its_statements_is_small() {
    let mut session = None;
    let endpoint = shared().unix("bench");
    let allocations = measure(|| {
        let mut connected = Session::connect(&endpoint, rqps_live::PATIENCE).unwrap();
        let statements: Vec<_> =
            (0..20).map(|_| connected.prepare("select $1::int4 + 1", &[ParameterType::Int4]).unwrap()).collect();
        session = Some((connected, statements));
    });
    assert!(allocations.bytes_current < 16 * 1024, "{allocations:?}");
    assert!(std::mem::size_of::<Session>() < 1024);
}
