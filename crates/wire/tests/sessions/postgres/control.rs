//! PostgreSQL's own on the control plane: results without columns, notices, parameters, COPY where there is nothing to
//! copy.

use rqps_wire::WireError;

use super::shared;

#[test]
fn results_without_rows_and_without_columns() {
    let mut session = shared().session();
    assert_eq!(session.query("").unwrap().rows.len(), 0);
    assert_eq!(session.query("select").unwrap().rows, [vec![]]);
    assert!(matches!(session.query("select '\0'"), Err(WireError::Nul { .. })));
    assert_eq!(session.query("select 1").unwrap().single(), Some("1"));
}

#[test]
fn notices_and_parameters_are_kept() {
    let mut session = shared().session();
    session.execute("do $$ begin raise notice 'hear, hear'; end $$").unwrap();
    let notices = session.take_notices();
    assert_eq!(notices.len(), 1);
    assert_eq!(notices[0].message(), "hear, hear");
    session.execute("set timezone = 'Asia/Tokyo'").unwrap();
    assert_eq!(session.parameter("TimeZone"), Some("Asia/Tokyo"));
}

#[test]
fn copy_statements_do_not_hang_a_session_that_has_no_data() {
    let mut session = shared().session();
    session.execute("create temp table c (id int)").unwrap();
    let error = session.execute("copy c from stdin").unwrap_err();
    assert_eq!(error.sql_state().unwrap().as_str(), "57014", "{error}");
    let mut copy = session.text_statement(100);
    copy.set_sql(b"copy c from stdin");
    assert_eq!(session.run(&copy).unwrap().error.unwrap().state.as_str(), "57014");
    copy.set_sql(b"copy (select generate_series(1, 1000)) to stdout");
    assert_eq!(session.run(&copy).unwrap().affected, 1000);
    assert_eq!(session.execute("copy (select 1) to stdout").unwrap(), 1);
}
