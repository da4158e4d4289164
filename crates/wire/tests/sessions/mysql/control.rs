//! MySQL's and MariaDB's own on the control plane: long and empty results, charsets, read-only servers, files, plans,
//! accounts.

use rqps_model::Engine;
use rqps_testkit::PATIENCE;
use rqps_wire::{Endpoint, Session, WireError};

use super::shared;
use crate::has_remedy;

#[test]
fn results_without_columns_long_ones_and_other_charsets() {
    for server in shared() {
        let mut session = server.session();
        assert_eq!(session.query("do 0").unwrap().columns.len(), 0);
        assert!(session.query("show variables").unwrap().rows.len() > 200);
        let version = session.query("select version()").unwrap();
        assert_eq!(session.parameter("server_version"), version.single());
        // Latin1 is the default, and its bytes above 127 are no UTF-8.
        assert_eq!(session.query("select x'e4'").unwrap().single(), Some("\u{fffd}"));
        let error = session.query("").unwrap_err();
        assert_eq!(error.code().unwrap().number, 1065);
        assert_eq!(session.query("select 1").unwrap().single(), Some("1"));
    }
}

#[test]
fn a_read_only_server_is_told_with_the_remedy() {
    for server in shared() {
        let mut session = server.session();
        // The read-only mode binds only accounts without privileges, and is global: a read-only transaction is the same
        // case.
        session.execute("create table if not exists sealed (id int)").unwrap();
        session.execute("start transaction read only").unwrap();
        let error = session.execute("insert into sealed values (1)").unwrap_err();
        assert_eq!(error.code().unwrap().number, 1792, "{error}");
        assert!(has_remedy(&error), "{error}");
        session.execute("rollback").unwrap();
    }
}

#[test]
fn a_server_gets_no_file_but_from_copy_in() {
    for server in shared() {
        let mut session = server.session();
        session.execute("create temporary table c (note text)").unwrap();
        let load = "load data local infile '/etc/passwd' into table c";
        let refused = |error: WireError| {
            assert!(matches!(error, WireError::Misuse(text) if text.contains("file")), "{error}");
        };
        refused(session.execute(load).unwrap_err());
        refused(session.copy_in(load, |_| Ok(())).unwrap_err());
        let mut text = session.text_statement(100);
        text.set_sql(load.as_bytes());
        refused(session.run(&text).unwrap_err());
        assert_eq!(session.query("select count(*) from c").unwrap().single(), Some("0"));
    }
}

#[test]
fn explain_is_a_table_like_others() {
    for server in shared() {
        let mut session = server.session();
        let table = session.query("explain select * from mysql.user").unwrap();
        assert!(table.columns.contains(&"select_type".to_owned()), "{:?}", table.columns);
        let format = match server.engine() {
            Engine::Mysql => "explain format=json select * from mysql.user",
            _ => "analyze format=json select * from mysql.user",
        };
        let json = session.query(format).unwrap();
        assert!(json.single().unwrap().trim_start().starts_with('{'));
    }
}

#[test]
fn a_refused_account_names_the_endpoint() {
    for server in shared() {
        let endpoint = Endpoint { password: None, ..server.unix("nobody_here") };
        let WireError::Login { endpoint: named, user, .. } =
            Session::connect(&endpoint, PATIENCE).map(|_| ()).unwrap_err()
        else {
            panic!("another error")
        };
        assert_eq!((named, user.as_str()), (endpoint.to_string(), "nobody_here"));
    }
}
