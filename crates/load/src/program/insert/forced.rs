//! What cannot be the same on every engine in the Insert Benchmark, with the reason: the counterpart of the suites' `forced`.
//!
//! In: what `sql` and `table` do for each engine. Out: lists for plan and report. It decides nothing.

use super::sql::INDEXES;
use crate::forced::ForcedForm;
use rqps_model::StorageEngine;

/// A difference between storage engines, and PostgreSQL, which has no choice of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorageForm {
    /// What differs.
    pub what: &'static str,
    /// The step in which it does.
    pub step: &'static str,
    /// The form on each.
    pub forms: [(Option<StorageEngine>, &'static str); 3],
    /// Why.
    pub because: &'static str,
}

/// The differences between engines, whatever stores their tables.
pub fn forced_forms() -> Vec<ForcedForm> {
    let form = |what: &str, common: &str, mysql: &str, because: &str| {
        let [what, common, mysql, because] = [what, common, mysql, because].map(str::to_owned);
        ForcedForm { what, common, mysql, because }
    };
    let query = |(index, _): &(&str, &str)| {
        form(
            &format!("statement query-{index}"),
            "as it is",
            "with FORCE INDEX of the index that covers it",
            "MySQL and MariaDB may take another index otherwise, and the published client forces it",
        )
    };
    let mut forms = vec![
        form(
            "column transactionid",
            "bigserial PRIMARY KEY, its sequence with CACHE 1000",
            "bigint NOT NULL AUTO_INCREMENT, PRIMARY KEY",
            "each engine has its own way to number rows",
        ),
        form("column dateandtime", "timestamp without time zone", "datetime", "each engine has its own type for it"),
        form(
            "column data",
            "as the database: encoding and collation of the data folder",
            "CHARSET=latin1 COLLATE=latin1_swedish_ci",
            "each engine has its own character sets",
        ),
        form(
            "statement delete",
            "WHERE transactionid IN (SELECT ... ORDER BY transactionid LIMIT n)",
            "WHERE transactionid >= m ORDER BY transactionid LIMIT n",
            "PostgreSQL's DELETE has no ORDER BY and no LIMIT",
        ),
        form(
            "queries, as sent",
            "prepared",
            "as text",
            "the published client sends them so: planning them is a part of what MySQL is measured in",
        ),
        form(
            "rest after l.i2",
            "VACUUM (ANALYZE, INDEX_CLEANUP ON), CHECKPOINT",
            "ANALYZE TABLE, then what is dirty is written back",
            "each engine puts off other work while it writes",
        ),
    ];
    forms.extend(INDEXES.iter().map(query));
    forms
}

/// The differences between storage engines.
pub fn storage_forms() -> Vec<StorageForm> {
    vec![StorageForm {
        what: "secondary indexes",
        step: "l.x",
        forms: [
            (None, "three CREATE INDEX"),
            (Some(StorageEngine::Innodb), "one ALTER TABLE for all three"),
            (Some(StorageEngine::Rocksdb), "an ALTER TABLE for each of three"),
        ],
        because: "InnoDB builds several indexes in one scan of the table, and each engine gets its best, as published",
    }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::insert::sql::{create_indexes, create_table, push_delete, range_queries};
    use rqps_wire::Protocol::{self, Mysql, Postgres};

    /// What is told is what is sent.
    #[test]
    fn forms_are_those_of_the_statements() {
        let form = |what: &str| forced_forms().into_iter().find(|form| form.what == what).unwrap();
        let deleted = |protocol: Protocol| {
            let mut sql = Vec::new();
            push_delete(&mut sql, protocol, "pi1", 7, 5);
            String::from_utf8(sql).unwrap()
        };
        assert!(deleted(Postgres).contains("IN (SELECT") && form("statement delete").common.contains("IN (SELECT"));
        assert!(!deleted(Mysql).contains("SELECT") && !form("statement delete").mysql.contains("SELECT"));
        let created = |protocol| create_table(protocol, "pi1", StorageEngine::Innodb).join(";");
        assert!(created(Postgres).contains("bigserial") && created(Postgres).contains("CACHE 1000"));
        assert!(created(Mysql).contains(&form("column data").mysql), "{}", created(Mysql));
        let is_forced = |protocol| range_queries(protocol, "pi1")[0].before.contains("FORCE INDEX");
        assert_eq!([is_forced(Postgres), is_forced(Mysql)], [false, true]);
        assert!(form("statement query-pdc").mysql.contains("FORCE INDEX"));
        for (storage, told) in storage_forms()[0].forms {
            let protocol = if storage.is_none() { Postgres } else { Mysql };
            let statements = create_indexes(protocol, "pi1", storage.unwrap_or(StorageEngine::Innodb));
            assert_eq!(statements.len(), if told.starts_with("one ") { 1 } else { 3 }, "{told}");
        }
    }
}
