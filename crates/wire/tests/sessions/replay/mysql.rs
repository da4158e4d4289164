//! What the recorded sessions with MySQL and MariaDB do.
//!
//! In: a session. Out: one line for each call. The statements are those that every version since 5.5 knows.

use rqps_wire::{ParameterType, Session, Table, WireError};

use super::tell;

pub(crate) fn control(session: &mut Session, lines: &mut Vec<String>) -> Result<(), WireError> {
    for sql in [
        "select 1 as one, null as nothing, 'text' as text, '' as blank",
        "select 1; set @x = 5; select @x union all select 2",
        "do 1",
        "select * from absent",
        "select 1; select * from absent; select 3",
        "",
    ] {
        let table = session.query(sql).map(|Table { columns, rows }| (columns, rows));
        lines.push(tell(table)?);
    }
    lines.push(tell(
        session.execute("create temporary table c (id int); insert into c values (1), (2); delete from c"),
    )?);
    Ok(())
}

pub(crate) fn load(session: &mut Session, lines: &mut Vec<String>) -> Result<(), WireError> {
    lines.push(tell(session.execute("create temporary table c (id int primary key, note text)"))?);
    let sql = "load data local infile 'rqps' into table c";
    lines.push(tell(session.copy_in(sql, |rows| rows.write(b"1\tone\n2\t\\N\n")))?);
    lines.push(tell(session.copy_in(sql, |rows| rows.write(b"2\ttwo\n3\tthree\n")))?);
    lines.push(tell(session.copy_in("load data local infile 'rqps' into table absent", |_| Ok(())))?);
    match session.execute("load data local infile 'other' into table c") {
        Err(refused @ WireError::Misuse(_)) => lines.push(refused.to_string()),
        other => lines.push(tell(other)?),
    }
    lines.push(tell(session.query("select * from c order by id"))?);
    Ok(())
}

pub(crate) fn timed(session: &mut Session, lines: &mut Vec<String>) -> Result<(), WireError> {
    session.execute("create temporary table t (id int primary key, big bigint, c char(4))")?;
    let begin = session.prepare("begin", &[])?;
    let commit = session.prepare("commit", &[])?;
    let types = [ParameterType::Int4, ParameterType::Int8, ParameterType::Text { len: 4 }];
    let mut insert = session.prepare("insert into t values (?, ?, ?)", &types)?;
    let mut rows = session.prepare("select id, big, c from t where id < ? order by id", &[ParameterType::Int4])?;
    let mut text = session.text_statement(64);

    lines.push(tell(session.run(&begin))?);
    for id in [1, 2, 2, 3] {
        insert.set_i32(0, id);
        insert.set_i64(1, i64::from(id) << 40);
        insert.set_text(2, b"text");
        lines.push(tell(session.run(&insert))?);
    }
    lines.push(format!("{:?}", session.last_error().map(ToString::to_string)));
    for bound in [0, 2, 9] {
        rows.set_i32(0, bound);
        lines.push(tell(session.run(&rows))?);
    }
    lines.push(tell(session.run(&commit))?);
    lines.push(tell(session.prepare("select ?", &[]).map(|_| ()))?);
    for sql in ["select 1; select 2", "update t set big = 0 where id > 1", "nonsense", ""] {
        text.set_sql(sql.as_bytes());
        lines.push(tell(session.run(&text))?);
    }
    Ok(())
}
