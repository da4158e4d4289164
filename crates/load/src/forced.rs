//! What cannot be the same on every engine: the forms of statements and tables that an engine forces, with the reason.
//!
//! In: the workload file's `mysql = { sql, because }`, and what this crate itself must do differently. Out: a list for the
//! report, so that a comparison across engines says in what it isn't like with like. It decides nothing.

use crate::suite::{StatementKind, Suite, Test};

/// One difference that an engine forces. MySQL stands for MariaDB too.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ForcedForm {
    /// What differs, such as `statement insert`.
    pub what: String,
    /// The form on PostgreSQL.
    pub common: String,
    /// The form on MySQL and MariaDB.
    pub mysql: String,
    /// Why.
    pub because: String,
}

impl ForcedForm {
    fn new(what: &str, common: &str, mysql: &str, because: &str) -> ForcedForm {
        let [what, common, mysql, because] = [what, common, mysql, because].map(str::to_owned);
        ForcedForm { what, common, mysql, because }
    }
}

impl StatementKind {
    /// Whether an engine forces another form of it, which one and why.
    pub fn forced_forms(&self) -> Vec<ForcedForm> {
        let forced = self.mysql.iter().map(|forced| ForcedForm {
            what: format!("statement {}", self.kind),
            common: self.sql.clone(),
            mysql: forced.sql.clone(),
            because: forced.because.clone(),
        });
        forced.collect()
    }
}

impl Test {
    /// The differences that engines force on this test, its tables left aside.
    pub fn forced_forms(&self) -> Vec<ForcedForm> {
        let mut forms: Vec<ForcedForm> = self.kinds.iter().flat_map(|kind| kind.forced_forms()).collect();
        if self.transaction {
            forms.push(ForcedForm::new(
                "statement begin",
                "BEGIN, prepared",
                "BEGIN, as text",
                "MySQL refuses to prepare it (error 1295), MariaDB before 10.6 too",
            ));
        }
        forms
    }
}

impl Suite {
    /// Every difference that engines force, each once: those of the tables first.
    pub fn forced_forms(&self) -> Vec<ForcedForm> {
        let mut forms = table_forms();
        for form in self.tests.iter().flat_map(Test::forced_forms) {
            if !forms.contains(&form) {
                forms.push(form);
            }
        }
        forms
    }
}

fn table_forms() -> Vec<ForcedForm> {
    vec![
        ForcedForm::new(
            "column id",
            "id SERIAL",
            "id INTEGER NOT NULL AUTO_INCREMENT",
            "each engine has its own way to number rows",
        ),
        ForcedForm::new(
            "primary key",
            "built after the rows, beside the table",
            "declared with the table, which it holds",
            "the tables of InnoDB and RocksDB are their primary key",
        ),
        ForcedForm::new(
            "column c, ORDER BY",
            "as the database: encoding and collation of the data folder",
            "CHARSET=latin1 COLLATE=latin1_swedish_ci",
            "each engine has its own character sets",
        ),
        ForcedForm::new(
            "columns c and pad, as sent",
            "120 and 60 bytes, with the trailing blank",
            "119 and 59 bytes, without it",
            "each engine has its own way to return CHAR",
        ),
        ForcedForm::new(
            "load",
            "COPY ... (FORMAT binary, FREEZE)",
            "LOAD DATA LOCAL INFILE, a transaction for each 100,000 rows",
            "each engine has its own bulk load",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_engines_force_is_listed_once() {
        let suite = Suite::sysbench();
        let forms = suite.forced_forms();
        let lines: Vec<String> = forms.iter().map(|form| format!("{}: {}", form.what, form.mysql)).collect();
        expect_test::expect![[r#"
            column id: id INTEGER NOT NULL AUTO_INCREMENT
            primary key: declared with the table, which it holds
            column c, ORDER BY: CHARSET=latin1 COLLATE=latin1_swedish_ci
            columns c and pad, as sent: 119 and 59 bytes, without it
            load: LOAD DATA LOCAL INFILE, a transaction for each 100,000 rows
            statement begin: BEGIN, as text
            statement insert: INSERT INTO {table} (id, k, c, pad) VALUES (0, $1, $2, $3)"#]]
        .assert_eq(&lines.join("\n"));
        assert!(suite.test("point-query").unwrap().forced_forms().is_empty());
        assert_eq!(suite.test("insert").unwrap().forced_forms().len(), 1);
        assert_eq!(suite.test("write-only").unwrap().forced_forms().len(), 1);
    }
}
