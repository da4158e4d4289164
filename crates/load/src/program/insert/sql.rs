//! The Insert Benchmark's SQL, in the words of each engine.
//!
//! In: protocol, table, numbers. Out: text, into a buffer where it is sent often. Deletes and inserts are text on every
//! engine and queries are prepared on PostgreSQL and text on MySQL, as published: parsing and planning them is part of
//! what the servers are compared in.

use crate::text::push_number;
use rqps_model::StorageEngine;
use rqps_wire::{ParameterType, Protocol};

/// The secondary indexes: name after the table's, and columns.
pub(crate) const INDEXES: [(&str, &str); 3] = [
    ("marketsegment", "productid, customerid, price"),
    ("registersegment", "cashregisterid, customerid, price"),
    ("pdc", "price, dateandtime, customerid"),
];

/// Rows that a query returns at most.
pub(crate) const QUERY_ROWS: usize = 10;

/// The name of a table, counted from 0.
pub(crate) fn table_name(table: usize) -> String {
    format!("pi{}", table + 1)
}

/// Drops and makes a table without secondary indexes.
pub(crate) fn create_table(engine: Protocol, table: &str, storage: StorageEngine) -> Vec<String> {
    let drop = format!("DROP TABLE IF EXISTS {table}");
    match engine {
        Protocol::Postgres => vec![
            drop,
            format!(
                "CREATE TABLE {table} (transactionid bigserial PRIMARY KEY, dateandtime timestamp without time zone, \
                 cashregisterid int NOT NULL, customerid int NOT NULL, productid int NOT NULL, price int NOT NULL, \
                 data varchar(4000))"
            ),
            // Otherwise each row would log the sequence's next value.
            format!("ALTER SEQUENCE {table}_transactionid_seq CACHE 1000"),
        ],
        Protocol::Mysql => vec![
            drop,
            format!(
                "CREATE TABLE {table} (transactionid bigint NOT NULL AUTO_INCREMENT, dateandtime datetime, \
                 cashregisterid int NOT NULL, customerid int NOT NULL, productid int NOT NULL, price int NOT NULL, \
                 data varchar(4000), PRIMARY KEY (transactionid)) \
                 ENGINE={storage} DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci"
            ),
        ],
    }
}

/// Builds the secondary indexes: one statement for all on InnoDB, one for each elsewhere.
pub(crate) fn create_indexes(engine: Protocol, table: &str, storage: StorageEngine) -> Vec<String> {
    let add = |(name, columns): &(&str, &str)| format!("ADD INDEX {table}_{name} ({columns})");
    match (engine, storage) {
        (Protocol::Postgres, _) => INDEXES
            .iter()
            .map(|(name, columns)| format!("CREATE INDEX {table}_{name} ON {table} ({columns})"))
            .collect(),
        (Protocol::Mysql, StorageEngine::Innodb) => {
            vec![format!("ALTER TABLE {table} {}", INDEXES.each_ref().map(add).join(", "))]
        }
        (Protocol::Mysql, StorageEngine::Rocksdb) => {
            INDEXES.iter().map(|index| format!("ALTER TABLE {table} {}", add(index))).collect()
        }
    }
}

/// Deletes the `rows` oldest rows from `first` on.
pub(crate) fn push_delete(sql: &mut Vec<u8>, engine: Protocol, table: &str, first: u64, rows: u64) {
    let mut push = |text: &str| sql.extend_from_slice(text.as_bytes());
    push("DELETE FROM ");
    push(table);
    push(" WHERE transactionid ");
    if engine == Protocol::Postgres {
        push("IN (SELECT transactionid FROM ");
        push(table);
        push(" WHERE transactionid ");
    }
    push(">= ");
    push_number(sql, first);
    sql.extend_from_slice(b" ORDER BY transactionid LIMIT ");
    push_number(sql, rows);
    if engine == Protocol::Postgres {
        sql.push(b')');
    }
}

/// One of the three range queries: what stands before and after its one number, which is drawn below `domain`.
pub(crate) struct RangeQuery {
    pub(crate) before: String,
    pub(crate) after: &'static str,
    pub(crate) domain: u32,
}

/// The range queries. Each index covers its own.
pub(crate) fn range_queries(engine: Protocol, table: &str) -> [RangeQuery; 3] {
    let forms = [
        ("productid, customerid, price", "productid >= ", 10_000),
        ("cashregisterid, customerid, price", "cashregisterid > ", 1000),
        ("price, dateandtime, customerid", "price >= ", 500),
    ];
    let after = [
        " ORDER BY productid, customerid, price LIMIT 10",
        " ORDER BY cashregisterid, customerid, price LIMIT 10",
        " ORDER BY price, dateandtime, customerid LIMIT 10",
    ];
    std::array::from_fn(|index| {
        let (columns, condition, domain) = forms[index];
        let forced = match engine {
            Protocol::Postgres => String::new(),
            Protocol::Mysql => format!(" FORCE INDEX ({table}_{})", INDEXES[index].0),
        };
        let before = format!("SELECT {columns} FROM {table}{forced} WHERE {condition}");
        RangeQuery { before, after: after[index], domain }
    })
}

/// What stands before the ids of a point query; a closing bracket stands after them.
pub(crate) fn point_query(table: &str) -> String {
    format!("SELECT transactionid, productid, data FROM {table} WHERE transactionid IN (")
}

/// The point query with markers for a prepared statement, and the types of its parameters.
pub(crate) fn prepared_point_query(table: &str) -> (String, [ParameterType; QUERY_ROWS]) {
    let markers: [String; QUERY_ROWS] = std::array::from_fn(|index| format!("${}", index + 1));
    (format!("{}{})", point_query(table), markers.join(", ")), [ParameterType::Int8; QUERY_ROWS])
}

/// Asks for the oldest row.
pub(crate) fn min_id(table: &str) -> String {
    format!("SELECT min(transactionid) FROM {table}")
}

/// Asks for the newest row.
pub(crate) fn max_id(table: &str) -> String {
    format!("SELECT max(transactionid) FROM {table}")
}

/// Counts the rows that are there.
pub(crate) fn count(table: &str) -> String {
    format!("SELECT count(*) FROM {table}")
}

/// What brings a table to rest after the heavy writes.
pub(crate) fn rest(engine: Protocol, table: &str) -> String {
    match engine {
        Protocol::Postgres => format!("VACUUM (ANALYZE, INDEX_CLEANUP ON) {table}"),
        Protocol::Mysql => format!("ANALYZE NO_WRITE_TO_BINLOG TABLE {table}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_read_as_each_engine_needs_them() {
        let mut shown = Vec::new();
        for (engine, storage) in [
            (Protocol::Postgres, StorageEngine::Innodb),
            (Protocol::Mysql, StorageEngine::Innodb),
            (Protocol::Mysql, StorageEngine::Rocksdb),
        ] {
            shown.extend(create_indexes(engine, "pi7", storage));
            let mut delete = Vec::new();
            push_delete(&mut delete, engine, "pi7", 1234, 50);
            shown.push(String::from_utf8(delete).unwrap());
            let query = &range_queries(engine, "pi7")[2];
            shown.push(format!("{}17{}", query.before, query.after));
        }
        expect_test::expect![[r#"
            [
                "CREATE INDEX pi7_marketsegment ON pi7 (productid, customerid, price)",
                "CREATE INDEX pi7_registersegment ON pi7 (cashregisterid, customerid, price)",
                "CREATE INDEX pi7_pdc ON pi7 (price, dateandtime, customerid)",
                "DELETE FROM pi7 WHERE transactionid IN (SELECT transactionid FROM pi7 WHERE transactionid >= 1234 ORDER BY transactionid LIMIT 50)",
                "SELECT price, dateandtime, customerid FROM pi7 WHERE price >= 17 ORDER BY price, dateandtime, customerid LIMIT 10",
                "ALTER TABLE pi7 ADD INDEX pi7_marketsegment (productid, customerid, price), ADD INDEX pi7_registersegment (cashregisterid, customerid, price), ADD INDEX pi7_pdc (price, dateandtime, customerid)",
                "DELETE FROM pi7 WHERE transactionid >= 1234 ORDER BY transactionid LIMIT 50",
                "SELECT price, dateandtime, customerid FROM pi7 FORCE INDEX (pi7_pdc) WHERE price >= 17 ORDER BY price, dateandtime, customerid LIMIT 10",
                "ALTER TABLE pi7 ADD INDEX pi7_marketsegment (productid, customerid, price)",
                "ALTER TABLE pi7 ADD INDEX pi7_registersegment (cashregisterid, customerid, price)",
                "ALTER TABLE pi7 ADD INDEX pi7_pdc (price, dateandtime, customerid)",
                "DELETE FROM pi7 WHERE transactionid >= 1234 ORDER BY transactionid LIMIT 50",
                "SELECT price, dateandtime, customerid FROM pi7 FORCE INDEX (pi7_pdc) WHERE price >= 17 ORDER BY price, dateandtime, customerid LIMIT 10",
            ]
        "#]]
        .assert_debug_eq(&shown);
    }

    /// What is told is what is sent.
    #[test]
    fn forced_forms_are_those_of_the_statements() {
        use rqps_model::Engine;
        let forced = rqps_suites::Suite::insert().forced;
        let form = |what: &str, engine, storage| {
            let form = forced.iter().find(|form| form.what == what).unwrap();
            form.form(engine, storage).unwrap().to_owned()
        };
        let deleted = |protocol: Protocol| {
            let mut sql = Vec::new();
            push_delete(&mut sql, protocol, "pi1", 7, 5);
            String::from_utf8(sql).unwrap()
        };
        for (protocol, engine) in [(Protocol::Postgres, Engine::Postgres), (Protocol::Mysql, Engine::Mysql)] {
            let is_nested = form("statement delete", engine, None).contains("IN (SELECT");
            assert_eq!(deleted(protocol).contains("IN (SELECT"), is_nested, "{engine}");
            let is_forced = form("statement query-pdc", engine, None).contains("FORCE INDEX");
            assert_eq!(range_queries(protocol, "pi1")[0].before.contains("FORCE INDEX"), is_forced, "{engine}");
        }
        let created = |protocol| create_table(protocol, "pi1", StorageEngine::Innodb).join(";");
        assert!(
            created(Protocol::Postgres).contains("bigserial") && created(Protocol::Postgres).contains("CACHE 1000")
        );
        assert!(created(Protocol::Mysql).contains(&form("column data", Engine::Mysql, None)));
        for (name, _) in INDEXES {
            assert!(forced.iter().any(|form| form.what == format!("statement query-{name}")), "{name}");
        }
        for (engine, storage) in [
            (Engine::Postgres, None),
            (Engine::Mysql, Some(StorageEngine::Innodb)),
            (Engine::Mariadb, Some(StorageEngine::Rocksdb)),
        ] {
            let protocol = if storage.is_none() { Protocol::Postgres } else { Protocol::Mysql };
            let statements = create_indexes(protocol, "pi1", storage.unwrap_or(StorageEngine::Innodb));
            let told = form("secondary indexes", engine, storage);
            assert_eq!(statements.len(), if told.starts_with("one ") { 1 } else { 3 }, "{told}");
        }
    }
}
