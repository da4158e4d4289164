//! LOAD DATA LOCAL INFILE: rows arrive, errors of either side leave nothing behind.

use rqps_live::PATIENCE;
use rqps_wire::{Session, WireError};

use crate::server::Server;
use crate::shared;

const LOAD: &str = "load data local infile 'rqps' into table sbtest.";

/// A table of its own for each test, seen by all sessions.
fn session_with_table(server: &Server, name: &str) -> Session {
    let mut session = server.session();
    let sql = format!("create table {name} (id int primary key, note longtext) engine=innodb");
    session.execute(&sql).unwrap();
    session
}

fn count(session: &mut Session, name: &str) -> String {
    let sql = format!("select concat(count(*), ' ', coalesce(sum(length(note)), 0)) from {name}");
    session.query(&sql).unwrap().single().unwrap().to_owned()
}

#[test]
fn rows_arrive_whatever_the_pieces() {
    for server in shared() {
        let mut session = session_with_table(server, "pieces");
        let load = format!("{LOAD}pieces");
        // Enough for several packets, in pieces that fit no boundary.
        let copied = session
            .copy_in(&load, |writer| {
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
        let one = session.copy_in(&load, |writer| writer.write(large.as_bytes()));
        assert_eq!(one.unwrap().1, 1);
        assert_eq!(count(&mut session, "pieces"), "20001 3490000");

        let none = session.copy_in(&load, |_| Ok("nothing"));
        assert_eq!(none.unwrap(), ("nothing", 0));

        // Rows whose key is there are passed over, as with every LOAD DATA LOCAL.
        let again = session.copy_in(&load, |writer| writer.write(b"1\ta\n20000\tb\n"));
        assert_eq!(again.unwrap().1, 1);
    }
}

#[test]
fn an_error_of_the_server_comes_at_the_end() {
    for server in shared() {
        let mut session = session_with_table(server, "strict");
        let token = session.cancel_token();
        let error = session
            .copy_in(&format!("{LOAD}strict"), |writer| {
                for id in 0..100_000 {
                    writer.write(format!("{id}\tmore\n").as_bytes())?;
                    if id == 50_000 {
                        token.cancel(PATIENCE)?;
                    }
                }
                Ok(())
            })
            .unwrap_err();
        assert_eq!(error.code().unwrap().number, 1317, "{error}");
        assert_eq!(count(&mut session, "strict"), "0 0");
    }
}

#[test]
fn an_error_of_the_feed_copies_nothing_and_ends_the_session() {
    for server in shared() {
        let mut session = session_with_table(server, "broken");
        let error = session
            .copy_in(&format!("{LOAD}broken"), |writer| {
                for id in 0..100_000 {
                    writer.write(format!("{id}\tseven\n").as_bytes())?;
                }
                Err::<(), _>(WireError::Misuse("the feed had enough"))
            })
            .unwrap_err();
        assert_eq!(error.to_string(), "the feed had enough");
        assert!(matches!(session.query("select 1"), Err(WireError::Lost { .. })));
        assert_eq!(count(&mut server.session(), "broken"), "0 0");
    }
}

#[test]
fn what_is_no_load_is_refused() {
    for server in shared() {
        let mut session = session_with_table(server, "refused");
        let error = session.copy_in("select 1", |_| Ok(())).unwrap_err();
        assert!(matches!(error, WireError::Misuse(_)), "{error}");
        let error = session.copy_in(&format!("{LOAD}absent"), |_| Ok(())).unwrap_err();
        assert_eq!(error.code().unwrap().number, 1146);
        assert_eq!(count(&mut session, "refused"), "0 0");
    }
}
