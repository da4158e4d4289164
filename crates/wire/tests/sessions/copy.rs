//! Rows in, through COPY or LOAD DATA: they arrive, and errors of either side leave nothing behind.

use rqps_wire::{Session, WireError};

use crate::on_each;
use crate::server::Server;

/// A session with a table of this name, which all sessions see.
pub(crate) fn session_with_table(server: &Server, name: &str) -> Session {
    let mut session = server.session();
    let (text, engine) = server.either(("text", ""), ("longtext", "engine=innodb"));
    session.execute(&format!("create table {name} (id int primary key, note {text}) {engine}")).unwrap();
    session
}

/// The number of rows, and the bytes of their notes.
pub(crate) fn count(session: &mut Session, name: &str) -> String {
    let sql = format!("select concat(count(*), ' ', coalesce(sum(length(note)), 0)) from {name}");
    session.query(&sql).unwrap().single().unwrap().to_owned()
}

#[test]
fn rows_arrive_whatever_the_pieces() {
    on_each(|server| {
        let mut session = session_with_table(server, "pieces");
        let copy = server.copy_into("pieces");
        // Enough for several messages, in pieces that fit no boundary.
        let copied = session
            .copy_in(&copy, |writer| {
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
        assert_eq!(count(&mut session, "pieces"), "20000 490000");

        let large = format!("-1\t{}\n", "y".repeat(3_000_000));
        let one = session.copy_in(&copy, |writer| writer.write(large.as_bytes()));
        assert_eq!(one.unwrap().1, 1);
        assert_eq!(count(&mut session, "pieces"), "20001 3490000");

        let none = session.copy_in(&copy, |_| Ok("nothing"));
        assert_eq!(none.unwrap(), ("nothing", 0));
    });
}

#[test]
fn an_error_of_the_feed_copies_nothing() {
    on_each(|server| {
        for (rows, name) in [(1, "broken_soon"), (100_000, "broken_late")] {
            let mut session = session_with_table(server, name);
            let error = session
                .copy_in(&server.copy_into(name), |writer| {
                    for id in 0..rows {
                        writer.write(format!("{id}\tseven\n").as_bytes())?;
                    }
                    Err::<(), _>(WireError::Misuse("the feed had enough"))
                })
                .unwrap_err();
            assert_eq!(error.to_string(), "the feed had enough");
            // MySQL forgets the rows only when the session ends.
            match session.query("select 1") {
                Ok(table) => assert!(server.is_postgres() && table.single() == Some("1")),
                Err(error) => assert!(!server.is_postgres() && matches!(error, WireError::Lost { .. }), "{error}"),
            }
            assert_eq!(count(&mut server.session(), name), "0 0");
        }
    });
}

#[test]
fn what_takes_no_rows_is_refused() {
    on_each(|server| {
        let mut session = session_with_table(server, "refused");
        let error = session.copy_in("select 1", |_| Ok(())).unwrap_err();
        assert!(matches!(error, WireError::Misuse(_)), "{error}");
        let error = session.copy_in(&server.copy_into("absent"), |_| Ok(())).unwrap_err();
        assert_eq!(error.code().unwrap().to_string(), server.either("42P01", "1146 (42S02)"));
        assert_eq!(count(&mut session, "refused"), "0 0");
    });
}
