//! The first rows of an answer: values of every type, prepared and as text, on every protocol.

use rqps_wire::{ParameterType, Rows};

use crate::memory::run;
use crate::on_each;

const COLUMNS: &str = "id, big, small, note, missing, price, ratio, day";

/// A row as text.
fn texts(rows: &Rows, row: usize) -> Vec<Option<String>> {
    (0..8).map(|column| rows.text(row, column).map(|text| String::from_utf8_lossy(text).into_owned())).collect()
}

#[test]
fn the_first_rows_are_kept_where_a_statement_asks() {
    on_each(|server| {
        let mut session = server.session();
        session
            .execute(
                "create temporary table t (id int primary key, big bigint, small smallint, note varchar(300), missing int, \
                 price decimal(8, 2), ratio double precision, day date)",
            )
            .unwrap();
        for id in 1..=3_i64 {
            let values = format!("{id}, {}, {}, repeat('x', 300), null, 12.50, 0.25, '2026-11-22'", id << 33, -id);
            session.execute(&format!("insert into t values ({values})")).unwrap();
        }
        let sql = format!("select {COLUMNS} from t where id >= ? order by id");
        let mut prepared = session.prepare(&server.marked(&sql), &[ParameterType::Int4]).unwrap();
        let mut text = session.text_statement(200);
        text.set_sql(sql.replace('?', "2").as_bytes());
        prepared.set_i32(0, 2);
        // Nothing is kept unless it is asked for.
        assert_eq!((run(&mut session, &prepared), session.kept_rows().count()), (2, 0));
        prepared.keep_rows(5);
        text.keep_rows(1);
        let note = "x".repeat(300);
        for statement in [&prepared, &text] {
            assert_eq!(run(&mut session, statement), 2);
            let rows = session.kept_rows();
            assert_eq!(rows.count(), if std::ptr::eq(statement, &text) { 1 } else { 2 });
            let expected = [Some("2"), Some("17179869184"), Some("-2"), Some(&note), None, Some("12.50"), Some("0.25")];
            let mut expected: Vec<_> = expected.map(|text| text.map(str::to_owned)).into();
            expected.push(Some("2026-11-22".to_owned()));
            assert_eq!(texts(rows, 0), expected);
            assert_eq!(
                (rows.integer(0, 1), rows.integer(0, 2), rows.float(0, 6)),
                (Some(2_i64 << 33), Some(-2), Some(0.25))
            );
            assert_eq!(
                (rows.integer(0, 4), rows.integer(0, 3), rows.text(2, 0), rows.text(0, 8)),
                (None, None, None, None)
            );
        }
        // The next answer takes the place of the last, and its memory.
        run(&mut session, &prepared);
        let counted = allocation_counter::measure(|| assert_eq!(run(&mut session, &prepared), 2));
        assert_eq!(counted.count_total, 0);
        prepared.set_i32(0, 4);
        assert_eq!((run(&mut session, &prepared), session.kept_rows().count()), (0, 0));
    });
}
