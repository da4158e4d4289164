//! LOAD DATA LOCAL INFILE: rows whose key exists are passed over, an error of the server comes at the end.

use super::shared;
use crate::copy::{count, session_with_table};

#[test]
fn rows_whose_key_is_there_are_passed_over() {
    for server in shared() {
        let mut session = session_with_table(server, "twice");
        let load = server.copy_into("twice");
        for (rows, taken) in [("1\tx\n2\ty\n", 2), ("1\ta\n3\tb\n", 1)] {
            assert_eq!(session.copy_in(&load, |writer| writer.write(rows.as_bytes())).unwrap().1, taken);
        }
        assert_eq!(count(&mut session, "twice"), "3 3");
    }
}

#[test]
fn an_error_of_the_server_comes_at_the_end() {
    for server in shared() {
        let mut session = session_with_table(server, "strict");
        let (mut other, kill) = (server.session(), format!("KILL QUERY {}", session.backend_pid()));
        let error = session
            .copy_in(&server.copy_into("strict"), |writer| {
                for id in 0..100_000 {
                    writer.write(format!("{id}\tmore\n").as_bytes())?;
                    if id == 50_000 {
                        other.execute(&kill)?;
                    }
                }
                Ok(())
            })
            .unwrap_err();
        assert_eq!(error.code().unwrap().number, 1317, "{error}");
        assert_eq!(count(&mut session, "strict"), "0 0");
    }
}
