//! COPY ... FROM STDIN: rows arrive, errors of either side leave nothing behind and a session that works.

use std::io::Write;

use rqps_wire::{Session, WireError};

use crate::shared;

fn session_with_table() -> Session {
    let mut session = shared().session();
    session.execute("create temp table c (id int primary key, note text)").unwrap();
    session
}

fn count(session: &mut Session) -> String {
    let table = session.query("select count(*) || ' ' || coalesce(sum(length(note)), 0) from c");
    table.unwrap().single().unwrap().to_owned()
}

#[test]
fn rows_arrive_whatever_the_pieces() {
    let mut session = session_with_table();
    // Enough for several messages, in pieces that fit no boundary.
    let copied = session
        .copy_in("copy c from stdin", |writer| {
            let mut text = String::new();
            for id in 0..20_000 {
                text.push_str(&format!("{id}\t{}\n", "x".repeat(id % 50)));
            }
            for piece in text.as_bytes().chunks(777) {
                writer.write(piece)?;
            }
            Ok(text.len())
        })
        .unwrap();
    assert_eq!(copied.1, 20_000);
    assert!(copied.0 > 512 * 1024);
    assert_eq!(count(&mut session), "20000 490000");

    let large = format!("-1\t{}\n", "y".repeat(3_000_000));
    let one = session.copy_in("copy c from stdin", |writer| writer.write(large.as_bytes()));
    assert_eq!(one.unwrap().1, 1);
    assert_eq!(count(&mut session), "20001 3490000");

    let none = session.copy_in("copy c from stdin", |_| Ok("nothing"));
    assert_eq!(none.unwrap(), ("nothing", 0));
}

#[test]
fn an_error_of_the_server_ends_the_feed() {
    let mut session = session_with_table();
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
    assert!(error.to_string().contains("COPY c, line 2"), "{error}");
    assert!(fed < 5_000_000, "the feed went on to {fed}");
    assert_eq!(count(&mut session), "0 0");
}

#[test]
fn an_error_of_the_feed_copies_nothing() {
    let mut session = session_with_table();
    let error = session
        .copy_in("copy c from stdin", |writer| {
            writer.write(b"7\tseven\n")?;
            Err::<(), _>(WireError::Misuse("the feed had enough"))
        })
        .unwrap_err();
    assert_eq!(error.to_string(), "the feed had enough");
    assert_eq!(count(&mut session), "0 0");
}

#[test]
fn what_is_no_copy_is_refused() {
    let mut session = session_with_table();
    let error = session.copy_in("select 1", |_| Ok(())).unwrap_err();
    assert!(matches!(error, WireError::Misuse(_)), "{error}");
    let error = session.copy_in("copy absent from stdin", |_| Ok(())).unwrap_err();
    assert_eq!(error.sql_state().unwrap().as_str(), "42P01");
    let error = session.copy_in("copy c from stdin", |writer| writer.write(b"1\tx\n1\ty\n")).unwrap_err();
    assert_eq!(error.sql_state().unwrap().as_str(), "23505");
    assert_eq!(count(&mut session), "0 0");
}
