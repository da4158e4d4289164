//! Servers that go away: in the middle of a result, between statements, by order or by force.

use rqps_live::PATIENCE;
use rqps_wire::{Session, WireError, wait_readable};

use crate::server::{MARIADB_BUILD, MYSQL_BUILD, Server};
use crate::shared;

/// A result of a hundred million rows of a kilobyte.
const ENDLESS: &str = "select repeat('x', 1000) from tens a, tens b, tens c, tens d, tens e, tens f, tens g, tens h";

/// A session that has what [`ENDLESS`] needs.
fn session(server: &Server) -> Session {
    let mut session = server.session();
    session
        .execute("create table if not exists tens (id int primary key); replace into tens values (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)")
        .unwrap();
    session
}

/// Receives until the connection ends.
fn receive_the_end(session: &mut Session) -> WireError {
    loop {
        assert!(wait_readable(&*session, Some(PATIENCE)).unwrap());
        match session.receive() {
            Ok(None) => {}
            // A killed statement may have the time to say that it was interrupted.
            Ok(Some(reply)) => assert_eq!(reply.error.unwrap().number, 1317),
            Err(error) => return error,
        }
    }
}

#[test]
fn a_session_killed_in_mid_result_names_its_statement() {
    for server in shared() {
        let mut session = session(server);
        let endless = session.prepare(ENDLESS, &[]).unwrap();
        session.submit(&endless).unwrap();
        assert!(wait_readable(&session, Some(PATIENCE)).unwrap());
        assert_eq!(session.receive().unwrap(), None);
        server.session().execute(&format!("kill {}", session.backend_pid())).unwrap();
        let error = receive_the_end(&mut session);
        let WireError::Lost { endpoint, statement, .. } = &error else {
            panic!("{error}");
        };
        assert!(endpoint.contains("/s, database sbtest"), "{endpoint}");
        assert!(statement.starts_with("select repeat('x', 1000)"), "{statement}");
    }
}

#[test]
fn a_session_killed_while_idle_is_noticed_at_the_next_use() {
    for server in shared() {
        let mut session = server.session();
        session.execute("set @x = 6").unwrap();
        server.session().execute(&format!("kill {}", session.backend_pid())).unwrap();
        assert!(wait_readable(&session, Some(PATIENCE)).unwrap());
        let error = session.query("select 1").unwrap_err();
        assert!(matches!(error, WireError::Lost { .. }), "{error}");
    }
}

#[test]
fn a_killed_server_is_a_lost_connection_for_all() {
    for word in [MYSQL_BUILD, MARIADB_BUILD] {
        let server = Server::start(word);
        let mut timed = session(&server);
        let mut copying = server.session();
        let mut blocked = server.session();
        copying.execute("create temporary table t (note text)").unwrap();
        let endless = timed.prepare(ENDLESS, &[]).unwrap();
        timed.submit(&endless).unwrap();
        assert!(wait_readable(&timed, Some(PATIENCE)).unwrap());

        let blocked = std::thread::spawn(move || blocked.query("select sleep(100)").unwrap_err());
        let error = copying
            .copy_in("load data local infile 'rqps' into table t", |writer| {
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
        assert!(error.to_string().contains("load data local infile"), "{error}");
        let error = receive_the_end(&mut timed);
        assert!(matches!(error, WireError::Lost { .. }), "{error}");
        let error = blocked.join().unwrap();
        assert!(error.to_string().contains("sleep(100)"), "{error}");
        assert!(Session::connect(&server.unix("bench"), PATIENCE).is_err());
    }
}
