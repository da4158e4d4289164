//! Servers that go away: in the middle of a result, between statements, by order or by force.

use rqps_testkit::PATIENCE;
use rqps_wire::{Session, WireError, wait_readable};

use crate::server::Server;
use crate::{KINDS, on_each};

/// A session that has ten rows where MySQL needs them for [`endless`].
fn session(server: &Server) -> Session {
    let mut session = server.session();
    if !server.is_postgres() {
        session
            .execute("create table if not exists tens (id int primary key); replace into tens values (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)")
            .unwrap();
    }
    session
}

/// A result of a hundred million rows of a kilobyte.
fn endless(server: &Server) -> &'static str {
    server.either(
        "select repeat('x', 1000), generate_series(1, 100000000)",
        "select repeat('x', 1000) from tens a, tens b, tens c, tens d, tens e, tens f, tens g, tens h",
    )
}

/// Ends a session by the order of another.
fn terminate(server: &Server, session: &Session) {
    let pid = session.backend_pid();
    let order = server.either(format!("select pg_terminate_backend({pid})"), format!("kill {pid}"));
    server.session().execute(&order).unwrap();
}

/// Receives until the connection ends.
fn receive_the_end(session: &mut Session) -> WireError {
    loop {
        assert!(wait_readable(&*session, Some(PATIENCE)).unwrap());
        match session.receive() {
            Ok(None) => {}
            // MySQL may have the time to say that the statement was interrupted.
            Ok(Some(reply)) => assert_eq!(reply.error.map(|code| code.number), Some(1317)),
            Err(error) => return error,
        }
    }
}

#[test]
fn a_session_terminated_in_mid_result_names_its_statement() {
    on_each(|server| {
        let mut session = session(server);
        let endless = session.prepare(endless(server), &[]).unwrap();
        session.submit(&endless).unwrap();
        assert!(wait_readable(&session, Some(PATIENCE)).unwrap());
        assert_eq!(session.receive().unwrap(), None);
        terminate(server, &session);
        let error = receive_the_end(&mut session);
        // The server says why only if it isn't just blocked by a full socket.
        let WireError::Lost { endpoint, statement, .. } = &error else {
            panic!("{error}");
        };
        assert!(endpoint.contains(server.either(".s.PGSQL.", "/s, database sbtest")), "{endpoint}");
        assert!(statement.starts_with("select repeat('x', 1000)"), "{statement}");
    });
}

#[test]
fn a_session_terminated_while_idle_is_noticed_at_the_next_use() {
    on_each(|server| {
        let mut session = server.session();
        session.execute(server.either("set work_mem = '6MB'", "set @x = 6")).unwrap();
        terminate(server, &session);
        assert!(wait_readable(&session, Some(PATIENCE)).unwrap());
        let error = session.query("select 1").unwrap_err();
        assert!(matches!(error, WireError::Lost { .. }), "{error}");
        assert!(!server.is_postgres() || error.to_string().contains("57P01"), "{error}");
    });
}

#[test]
fn a_killed_server_is_a_lost_connection_for_all() {
    rqps_testkit::on_each(&KINDS, |kind| {
        let server = kind.start();
        let mut timed = session(&server);
        let mut copying = server.session();
        let mut blocked = server.session();
        copying.execute("create temporary table t (note text)").unwrap();
        let endless = timed.prepare(endless(&server), &[]).unwrap();
        timed.submit(&endless).unwrap();
        assert!(wait_readable(&timed, Some(PATIENCE)).unwrap());

        let sleep = server.either("select pg_sleep(100)", "select sleep(100)");
        let blocked = std::thread::spawn(move || blocked.query(sleep).unwrap_err());
        let load = server.copy_into("t");
        let error = copying
            .copy_in(&load, |writer| {
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
        assert!(matches!(&error, WireError::Lost { statement, .. } if *statement == load), "{error}");
        let error = receive_the_end(&mut timed);
        assert!(matches!(error, WireError::Lost { .. }), "{error}");
        let error = blocked.join().unwrap();
        assert!(matches!(&error, WireError::Lost { statement, .. } if statement == sleep), "{error}");
        assert!(Session::connect(&server.unix("bench"), PATIENCE).is_err());
    });
}
