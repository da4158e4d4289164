//! The timed path allocates nothing after warm-up, and results of any size pass through a bounded buffer.

use allocation_counter::measure;
use rqps_wire::{ParameterType, Poller, Session, Statement, wait_readable};

use crate::on_each;

/// One statement as the load runs it.
pub(crate) fn run(session: &mut Session, statement: &Statement) -> u64 {
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
    on_each(|server| {
        let mut session = server.session();
        session.execute("create temporary table t (id int primary key, note varchar(300))").unwrap();
        let ids = (0..200).map(|id| format!("({id}, repeat('x', 300))")).collect::<Vec<_>>().join(",");
        session.execute(&format!("insert into t values {ids}")).unwrap();
        let mut prepare = |sql: &str, types: &[ParameterType]| session.prepare(&server.marked(sql), types).unwrap();
        let begin = prepare("begin", &[]);
        let commit = prepare("commit", &[]);
        let mut rows = prepare("select * from t where id < ?", &[ParameterType::Int4]);
        let mut text = prepare("select ?", &[ParameterType::Text { len: 5 }]);
        let mut fail = prepare("insert into t (id) values (?)", &[ParameterType::Int4]);
        let last = prepare("select 1", &[]);
        let mut simple = session.text_statement(100);
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
            fail.set_i32(0, number);
            run(&mut session, &fail);
            run(&mut session, &commit);
            session.submit(&last).unwrap();
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
        assert!(session.last_error().unwrap().message().to_lowercase().starts_with("duplicate"), "the one that fails");
    });
}

#[test]
fn a_result_of_100_mb_passes_through_little_memory() {
    on_each(|server| {
        let mut session = server.session();
        let many = server.either(
            "select repeat('x', 1000000) from generate_series(1, 100)",
            "select repeat('x', 1000000) from information_schema.collations limit 100",
        );
        let mut large = session.text_statement(200);
        // A row of two packets is not kept either.
        for (sql, count) in [(many, 100), ("select repeat('x', 30000000)", 1)] {
            large.set_sql(sql.as_bytes());
            let mut rows = 0;
            let allocations = measure(|| rows = run(&mut session, &large));
            assert_eq!(rows, count);
            assert!(allocations.bytes_max < 64 * 1024, "{allocations:?}");
        }
        let allocations = measure(|| assert_eq!(session.execute(many).unwrap(), 100));
        assert!(allocations.bytes_max < 64 * 1024, "{allocations:?}");
    });
}

#[test]
fn a_session_with_its_statements_is_small() {
    on_each(|server| {
        let mut session = None;
        let endpoint = server.unix("bench");
        let sql = server.marked("select ? + 1");
        let allocations = measure(|| {
            let mut connected = Session::connect(&endpoint, rqps_testkit::PATIENCE).unwrap();
            let statements: Vec<_> =
                (0..20).map(|_| connected.prepare(&sql, &[ParameterType::Int4]).unwrap()).collect();
            session = Some((connected, statements));
        });
        assert!(allocations.bytes_current < 16 * 1024, "{allocations:?}");
        assert!(std::mem::size_of::<Session>() < 1024);
    });
}
