//! Servers that go away: in the middle of a result, between statements, by order or by force.

use rqps_live::{PATIENCE, Wanted};
use rqps_wire::{Session, WireError, wait_readable};

use crate::server::Server;
use crate::shared;

/// Receives until the connection ends.
fn receive_the_end(session: &mut Session) -> WireError {
    loop {
        assert!(wait_readable(&*session, Some(PATIENCE)).unwrap());
        match session.receive() {
            Ok(None) => {}
            Ok(Some(reply)) => panic!("the statement should not end: {reply:?}"),
            Err(error) => return error,
        }
    }
}

#[test]
fn a_session_terminated_in_mid_result_names_its_statement() {
    let mut session = shared().session();
    let endless = session.prepare("select repeat('x', 1000), generate_series(1, 100000000)", &[]).unwrap();
    session.submit(&endless).unwrap();
    assert!(wait_readable(&session, Some(PATIENCE)).unwrap());
    assert_eq!(session.receive().unwrap(), None);
    let terminate = format!("select pg_terminate_backend({})", session.backend_pid());
    shared().session().query(&terminate).unwrap();
    let error = receive_the_end(&mut session);
    // The server says why only if it isn't just blocked by a full socket.
    let WireError::Lost { endpoint, statement, .. } = &error else {
        panic!("{error}");
    };
    assert!(endpoint.contains(".s.PGSQL."), "{endpoint}");
    assert!(statement.starts_with("select repeat('x', 1000)"), "{statement}");
}

#[test]
fn a_session_terminated_while_idle_is_noticed_at_the_next_use() {
    let mut session = shared().session();
    session.execute("set work_mem = '6MB'").unwrap();
    let terminate = format!("select pg_terminate_backend({})", session.backend_pid());
    shared().session().query(&terminate).unwrap();
    assert!(wait_readable(&session, Some(PATIENCE)).unwrap());
    let error = session.query("select 1").unwrap_err();
    assert!(matches!(error, WireError::Lost { .. }), "{error}");
    assert!(error.to_string().contains("57P01"), "{error}");
}

#[test]
fn a_killed_server_is_a_lost_connection_for_all() {
    let server = Server::start(Wanted::postgres());
    let mut timed = server.session();
    let mut copying = server.session();
    let mut blocked = server.session();
    copying.execute("create temp table t (note text)").unwrap();
    let endless = timed.prepare("select repeat('x', 1000), generate_series(1, 100000000)", &[]).unwrap();
    timed.submit(&endless).unwrap();
    assert!(wait_readable(&timed, Some(PATIENCE)).unwrap());

    let blocked = std::thread::spawn(move || blocked.query("select pg_sleep(100)").unwrap_err());
    let error = copying
        .copy_in("copy t from stdin", |writer| {
            writer.write(b"first\n")?;
            server.kill();
            let row = [b'x'; 10_000];
            for _ in 0..u32::MAX {
                writer.write(&row)?;
                writer.write(b"\n")?;
            }
            Ok(())
        })
        .unwrap_err();
    assert!(matches!(error, WireError::Lost { .. }), "{error}");
    assert!(error.to_string().contains("copy t from stdin"), "{error}");
    let error = receive_the_end(&mut timed);
    assert!(matches!(error, WireError::Lost { .. }), "{error}");
    let error = blocked.join().unwrap();
    assert!(error.to_string().contains("pg_sleep"), "{error}");
    assert!(Session::connect(&server.unix("bench"), PATIENCE).is_err());
}
