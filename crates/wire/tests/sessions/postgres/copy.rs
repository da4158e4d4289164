//! COPY ... FROM STDIN: an error of the server comes in the middle of the feed, and the session works on.

use std::io::Write;

use rqps_wire::WireError;

use super::shared;
use crate::copy::{count, session_with_table};

#[test]
fn an_error_of_the_server_ends_the_feed() {
    let mut session = session_with_table(shared(), "c");
    let mut fed = 0_u64;
    let error = session
        .copy_in("copy c from stdin", |writer| {
            writer.write(b"1\tgood\nbad\trow\n")?;
            for id in 2..u64::MAX {
                writeln!(writer, "{id}\tmore").map_err(|error| {
                    *error
                        .into_inner()
                        .expect("it carries the cause")
                        .downcast::<WireError>()
                        .expect("the cause is ours")
                })?;
                fed = id;
            }
            Ok(())
        })
        .unwrap_err();
    assert_eq!(error.sql_state().unwrap().as_str(), "22P02", "{error}");
    let WireError::Server { error, .. } = error else { panic!("{error}") };
    assert!(error.context().is_some_and(|context| context.starts_with("COPY c, line 2")), "{error}");
    assert!(fed < 5_000_000, "the feed went on to {fed}");
    assert_eq!(count(&mut session, "c"), "0 0");
}

#[test]
fn a_key_that_exists_refuses_all_rows() {
    let mut session = session_with_table(shared(), "twice");
    let error = session.copy_in("copy twice from stdin", |writer| writer.write(b"1\tx\n1\ty\n")).unwrap_err();
    assert_eq!(error.sql_state().unwrap().as_str(), "23505");
    assert_eq!(count(&mut session, "twice"), "0 0");
}
