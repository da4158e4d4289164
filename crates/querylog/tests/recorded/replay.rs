//! Each recording is read, and what is found in it is what the servers were asked.

use expect_test::{Expect, expect};
use rqps_querylog::{
    Choice, Dialect, Filter, Log, LogFault, choose, read_pg_stat_statements, read_postgres_log, read_slow_log, write,
};
use std::fmt::Write;
use std::fs;
use std::path::Path;

fn recording(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded").join(name)).unwrap()
}

fn try_read(name: &str, bytes: &[u8]) -> Result<Log, Vec<LogFault>> {
    let dialect = if name.contains("slow") { Dialect::Mysql } else { Dialect::Postgres };
    let mut log = Log::new(dialect, Filter::default());
    match name {
        name if name.contains("slow") => read_slow_log(name, bytes, &mut log)?,
        name if name.contains("log") => read_postgres_log(name, bytes, &mut log)?,
        _ => read_pg_stat_statements(name, bytes, &mut log)?,
    }
    Ok(log)
}

fn chosen(name: &str) -> Choice {
    let log = try_read(name, &recording(name)).unwrap_or_else(|faults| panic!("{faults:?}"));
    choose(&log, 50)
}

/// What was found, without times, in an order of its own.
fn told(choice: &Choice) -> String {
    let mut statements: Vec<String> = choice
        .statements
        .iter()
        .map(|statement| {
            let unknown = statement.unknown.iter().map(|unknown| format!(" {}=todo({})", unknown.name, unknown.what));
            let numbers = statement.columns.iter().filter(|column| column.is_number).map(|column| column.name.clone());
            let rows = statement.rows.iter().map(|row| {
                let values: Vec<&str> = row.iter().map(|value| value.as_deref().unwrap_or("NULL")).collect();
                format!("\n    {}", values.join(" | ").replace('\n', "\\n"))
            });
            let notes = statement.notes.iter().map(|note| format!("\n  ({note})"));
            format!(
                "{} x{}{}{}\n  {}{}{}\n",
                statement.name,
                statement.calls,
                unknown.collect::<String>(),
                numbers.map(|column| format!(" #{column}")).collect::<String>(),
                statement.sql.replace('\n', "\\n"),
                rows.collect::<String>(),
                notes.collect::<String>()
            )
        })
        .collect();
    statements.sort();
    let mut text = statements.concat();
    let mut left_out: Vec<_> = choice.left_out.iter().map(|left| (left.why, left.calls)).collect();
    left_out.sort_by_key(|(why, _)| *why);
    left_out.iter().for_each(|(why, calls)| writeln!(text, "- {} x{calls}", why.name()).unwrap());
    choice.notes.iter().for_each(|note| writeln!(text, "! {note}").unwrap());
    text
}

/// What is left out, and notes; they differ with what a server can be set.
fn is_left_out(line: &&str) -> bool {
    line.starts_with(['-', '!'])
}

fn statements(name: &str) -> String {
    told(&chosen(name)).lines().filter(|line| !is_left_out(line)).collect::<Vec<_>>().join("\n")
}

fn left_out(name: &str) -> String {
    told(&chosen(name)).lines().filter(is_left_out).collect::<Vec<_>>().join("\n")
}

fn check(name: &str, expected: Expect) {
    expected.assert_eq(&told(&chosen(name)));
}

#[test]
fn statements_of_postgres_12() {
    check(
        "pg12-statements.csv",
        expect![[r#"
            count-orders-customers-by-email-placed x1 customers_email=todo(customers.email) orders_placed=todo(orders.placed)
              SELECT count(*)\nFROM orders o\n  JOIN customers c ON c.id = o.customer\nWHERE c.email = :customers_email\n  AND o.placed >= :orders_placed
            customers-by-email x2 customers_email=todo(customers.email)
              SELECT id FROM customers WHERE email = :customers_email
            customers-by-id x1 customers_id=todo(customers.id)
              SELECT email FROM customers WHERE id = :customers_id
            insert-orders x2 orders_id=todo(orders.id) orders_customer=todo(orders.customer) orders_placed=todo(orders.placed) orders_state=todo(orders.state) orders_total=todo(orders.total)
              INSERT INTO orders (id, customer, placed, state, total) VALUES (:orders_id, :orders_customer, :orders_placed, :orders_state, :orders_total)
              (a row whose key is there already is refused: give the key { uniform = [1_000_000_000, 2_000_000_000] })
              (50.0 % of its calls have lists of other lengths, or came without their values)
            orders-by-customer-placed x2 orders_customer=todo(orders.customer) orders_placed=todo(orders.placed) orders_state=todo(orders.state)
              SELECT id FROM orders WHERE customer = :orders_customer AND placed >= :orders_placed AND state <> :orders_state
            orders-by-customer-state x3 orders_customer=todo(orders.customer) orders_state=todo(orders.state) orders_state_2=todo(orders.state) orders_by_customer_state_limit=todo(limit)
              SELECT id, total FROM orders WHERE customer = :orders_customer AND state IN (:orders_state, :orders_state_2) ORDER BY 1 DESC LIMIT :orders_by_customer_state_limit
              (33.3 % of its calls have lists of other lengths, or came without their values)
            orders-by-id x2 orders_id=todo(orders.id)
              SELECT * FROM orders WHERE id = :orders_id
            update-customers-by-id x1 customers_credit=todo(customers.credit) customers_id=todo(customers.id)
              UPDATE customers SET credit = credit - :customers_credit WHERE id = :customers_id
            - transactions, settings, SHOW x4
            - the server's own tables x2
        "#]],
    );
}

#[test]
fn statements_of_postgres_15_are_those_of_12() {
    assert_eq!(statements("pg15-statements.csv"), statements("pg12-statements.csv"));
}

#[test]
fn statements_of_postgres_18_have_lists_of_unknown_length() {
    check(
        "pg18-statements.csv",
        expect![[r#"
            count-orders-customers-by-email-placed x1 customers_email=todo(customers.email) orders_placed=todo(orders.placed)
              SELECT count(*)\nFROM orders o\n  JOIN customers c ON c.id = o.customer\nWHERE c.email = :customers_email\n  AND o.placed >= :orders_placed
            customers-by-email x2 customers_email=todo(customers.email)
              SELECT id FROM customers WHERE email = :customers_email
            customers-by-id x1 customers_id=todo(customers.id)
              SELECT email FROM customers WHERE id = :customers_id
            insert-orders x2 orders_id=todo(orders.id) orders_customer=todo(orders.customer) orders_placed=todo(orders.placed) orders_state=todo(orders.state) orders_total=todo(orders.total)
              INSERT INTO orders (id, customer, placed, state, total) VALUES (:orders_id, :orders_customer, :orders_placed, :orders_state, :orders_total)
              (a row whose key is there already is refused: give the key { uniform = [1_000_000_000, 2_000_000_000] })
              (50.0 % of its calls have lists of other lengths, or came without their values)
            orders-by-customer-placed x2 orders_customer=todo(orders.customer) orders_placed=todo(orders.placed) orders_state=todo(orders.state)
              SELECT id FROM orders WHERE customer = :orders_customer AND placed >= :orders_placed AND state <> :orders_state
            orders-by-customer-state x3 orders_customer=todo(orders.customer) orders_state=todo(orders.state) orders_by_customer_state_limit=todo(limit)
              SELECT id, total FROM orders WHERE customer = :orders_customer AND state IN (:orders_state) ORDER BY 1 DESC LIMIT :orders_by_customer_state_limit
              (how long its list is PostgreSQL does not tell: write as many names as yours has values)
            orders-by-id x2 orders_id=todo(orders.id)
              SELECT * FROM orders WHERE id = :orders_id
            update-customers-by-id x1 customers_credit=todo(customers.credit) customers_id=todo(customers.id)
              UPDATE customers SET credit = credit - :customers_credit WHERE id = :customers_id
            - transactions, settings, SHOW x6
            - the server's own tables x2
        "#]],
    );
}

#[test]
fn statements_that_a_role_may_not_see_are_told() {
    check(
        "pg15-other-role.csv",
        expect![[r#"
        - transactions, settings, SHOW x1
        - texts hidden from the role that exported them x25
    "#]],
    );
}

#[test]
fn log_of_postgres_12() {
    check(
        "pg12-log.csv",
        expect![[r#"
            count-orders-customers-by-email-placed x1
              SELECT count(*)\nFROM orders o\n  JOIN customers c ON c.id = o.customer\nWHERE c.email = :count_orders_customers_by_email_placed.email\n  AND o.placed >= :count_orders_customers_by_email_placed.placed
                o'neil@example.org | 2025-01-01
            customers-by-email x2
              SELECT id FROM customers WHERE email = :customers_by_email.email
                xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx's
              (50.0 % of its calls have lists of other lengths, or came without their values)
            customers-by-id x1
              SELECT email FROM customers WHERE id = :customers_by_id.id
                2
            insert-customers x1 #p #p_3 #p_4 #p_6
              INSERT INTO customers VALUES (:insert_customers.p, :insert_customers.p_2, :insert_customers.p_3), (:insert_customers.p_4, :insert_customers.p_5, CAST(:insert_customers.p_6 AS numeric))
                1 | ann@example.org | 5 | 2 | o'neil@example.org | 7.5
              (a row whose key is there already is refused: give the key { uniform = [1_000_000_000, 2_000_000_000] })
            insert-orders x1 #p #p_2 #p_5 #p_6 #p_7 #p_10
              INSERT INTO orders VALUES (:insert_orders.p, :insert_orders.p_2, :insert_orders.p_3, :insert_orders.p_4, CAST(:insert_orders.p_5 AS numeric)), (:insert_orders.p_6, :insert_orders.p_7, :insert_orders.p_8, :insert_orders.p_9, CAST(:insert_orders.p_10 AS numeric))
                10 | 1 | 2025-01-02 | new | 9.99 | 11 | 2 | 2025-02-03 | paid | 19.5
              (a row whose key is there already is refused: give the key { uniform = [1_000_000_000, 2_000_000_000] })
            insert-orders-2 x2 #id #customer #total
              INSERT INTO orders (id, customer, placed, state, total) VALUES (:insert_orders_2.id, :insert_orders_2.customer, :insert_orders_2.placed, :insert_orders_2.state, CAST(:insert_orders_2.total AS numeric))
                12 | 1 | NULL | new | -1.5
              (a row whose key is there already is refused: give the key { uniform = [1_000_000_000, 2_000_000_000] })
              (50.0 % of its calls have lists of other lengths, or came without their values)
            orders-by-customer-placed x2
              SELECT id FROM orders WHERE customer = :orders_by_customer_placed.customer AND placed >= :orders_by_customer_placed.placed AND state <> 'gone'
                1 | 2025-01-01
                2 | NULL
            orders-by-customer-state x3 #customer
              SELECT id, total FROM orders WHERE customer = :orders_by_customer_state.customer AND state IN (:orders_by_customer_state.state, :orders_by_customer_state.state_2) ORDER BY 1 DESC LIMIT 10
                1 | new | paid
                2 | new | paid
              (33.3 % of its calls have lists of other lengths, or came without their values)
            orders-by-id x2 #id
              SELECT * FROM orders WHERE id = :orders_by_id.id
                10
                11
            update-customers-by-id x1 #credit #id
              UPDATE customers SET credit = credit - CAST(:update_customers_by_id.credit AS numeric) WHERE id = :update_customers_by_id.id
                0.25 | 1
            - transactions, settings, SHOW x5
            - DDL and maintenance x4
            - COPY, LOAD and cursors x1
            - the server's own tables x2
        "#]],
    );
}

#[test]
fn logs_of_postgres_15_and_18_say_the_same_in_both_forms() {
    check(
        "pg18-log.json",
        expect![[r#"
            count-orders-customers-by-email-placed x1
              SELECT count(*)\nFROM orders o\n  JOIN customers c ON c.id = o.customer\nWHERE c.email = :count_orders_customers_by_email_placed.email\n  AND o.placed >= :count_orders_customers_by_email_placed.placed
                o'neil@example.org | 2025-01-01
            customers-by-email x2
              SELECT id FROM customers WHERE email = :customers_by_email.email
                a;\n# Time: 1\n# User@Host: b;\n# c
              (50.0 % of its calls have lists of other lengths, or came without their values)
            customers-by-id x1
              SELECT email FROM customers WHERE id = :customers_by_id.id
                2
            insert-customers x1 #p #p_3 #p_4 #p_6
              INSERT INTO customers VALUES (:insert_customers.p, :insert_customers.p_2, :insert_customers.p_3), (:insert_customers.p_4, :insert_customers.p_5, CAST(:insert_customers.p_6 AS numeric))
                1 | ann@example.org | 5 | 2 | o'neil@example.org | 7.5
              (a row whose key is there already is refused: give the key { uniform = [1_000_000_000, 2_000_000_000] })
            insert-orders x1 #p #p_2 #p_5 #p_6 #p_7 #p_10
              INSERT INTO orders VALUES (:insert_orders.p, :insert_orders.p_2, :insert_orders.p_3, :insert_orders.p_4, CAST(:insert_orders.p_5 AS numeric)), (:insert_orders.p_6, :insert_orders.p_7, :insert_orders.p_8, :insert_orders.p_9, CAST(:insert_orders.p_10 AS numeric))
                10 | 1 | 2025-01-02 | new | 9.99 | 11 | 2 | 2025-02-03 | paid | 19.5
              (a row whose key is there already is refused: give the key { uniform = [1_000_000_000, 2_000_000_000] })
            insert-orders-2 x2 #id #customer #total
              INSERT INTO orders (id, customer, placed, state, total) VALUES (:insert_orders_2.id, :insert_orders_2.customer, :insert_orders_2.placed, :insert_orders_2.state, CAST(:insert_orders_2.total AS numeric))
                12 | 1 | NULL | new | -1.5
              (a row whose key is there already is refused: give the key { uniform = [1_000_000_000, 2_000_000_000] })
              (50.0 % of its calls have lists of other lengths, or came without their values)
            orders-by-customer-placed x2
              SELECT id FROM orders WHERE customer = :orders_by_customer_placed.customer AND placed >= :orders_by_customer_placed.placed AND state <> 'gone'
                1 | 2025-01-01
                2 | NULL
            orders-by-customer-state x3 #customer
              SELECT id, total FROM orders WHERE customer = :orders_by_customer_state.customer AND state IN (:orders_by_customer_state.state, :orders_by_customer_state.state_2) ORDER BY 1 DESC LIMIT 10
                1 | new | paid
                2 | new | paid
              (33.3 % of its calls have lists of other lengths, or came without their values)
            orders-by-id x2 #id
              SELECT * FROM orders WHERE id = :orders_by_id.id
                10
                11
            update-customers-by-id x1 #credit #id
              UPDATE customers SET credit = credit - CAST(:update_customers_by_id.credit AS numeric) WHERE id = :update_customers_by_id.id
                0.25 | 1
            - transactions, settings, SHOW x7
            - DDL and maintenance x4
            - COPY, LOAD and cursors x1
            - the server's own tables x2
            ! pg18-log.json: calls whose values are not used, since the log has them cut off: 1; log_parameter_max_length = -1 logs them whole
        "#]],
    );
    for other in ["pg18-log.csv", "pg15-log.csv", "pg15-log.json"] {
        assert_eq!(statements(other), statements("pg18-log.json"), "{other}");
    }
}

#[test]
fn slow_log_of_mysql_5_6() {
    check(
        "mysql56-slow.log",
        expect![[r#"
            call-pay x1 #p
              CALL pay(:call_pay.p)
                2
            count-orders-customers-by-email-placed x1
              SELECT count(*)\nFROM orders o\n  JOIN customers c ON c.id = o.customer\nWHERE c.email = :count_orders_customers_by_email_placed.email\n  AND o.placed >= :count_orders_customers_by_email_placed.placed
                o'neil@example.org | 2025-01-01
            customers-by-email x1
              SELECT id FROM customers WHERE email = :customers_by_email.email
                a;\n# Time: 1\n# User@Host: b;\n# c
            customers-by-email-credit x1
              SELECT id FROM customers WHERE email = :customers_by_email_credit.email AND credit > 0x10
                say "hi"; it's
            insert-orders x2 #id #customer #total
              INSERT INTO orders (id, customer, placed, state, total) VALUES (:insert_orders.id, :insert_orders.customer, :insert_orders.placed, :insert_orders.state, :insert_orders.total)
                12 | 1 | NULL | new | -1.5
              (a row whose key is there already is refused: give the key { uniform = [1_000_000_000, 2_000_000_000] })
              (50.0 % of its calls have lists of other lengths, or came without their values)
            orders-by-customer x1 #customer
              SELECT id FROM orders WHERE customer = :orders_by_customer.customer LIMIT 5, 10
                1
            orders-by-customer-placed x2 #customer #total
              SELECT id FROM orders WHERE customer = :orders_by_customer_placed.customer AND placed >= :orders_by_customer_placed.placed AND total > :orders_by_customer_placed.total
                1 | 2025-01-01 | 1.5
                2 | NULL | 2.5
            orders-by-customer-state x3 #customer
              SELECT id, total FROM orders WHERE customer = :orders_by_customer_state.customer AND state IN (:orders_by_customer_state.state, :orders_by_customer_state.state_2) ORDER BY 1 DESC LIMIT 10
                1 | new | paid
                2 | new | paid
              (33.3 % of its calls have lists of other lengths, or came without their values)
            orders-by-id x2 #id
              SELECT * FROM orders WHERE id = :orders_by_id.id
                10
                11
            orders-by-placed x1
              SELECT `id` FROM orders\nWHERE placed < CAST(:orders_by_placed.placed AS DATE)
                2025-02-01
            update-customers-by-id x1 #credit #id
              UPDATE customers SET credit = credit - :update_customers_by_id.credit WHERE id = :update_customers_by_id.id
                0.25 | 1
            - transactions, settings, SHOW x5
            - administrator commands x3
            - the server's own tables x2
            ! these are statements of several databases (mysql, sbtest); --database takes those of one
        "#]],
    );
}

#[test]
fn slow_logs_of_later_mysql_and_of_mariadb_say_what_that_of_5_6_does() {
    for other in ["mysql57-slow.log", "mysql80-slow.log", "mariadb1011-slow.log"] {
        assert_eq!(statements(other), statements("mysql56-slow.log"), "{other}");
    }
    assert_eq!(left_out("mysql57-slow.log"), left_out("mysql56-slow.log"));
    assert_eq!(left_out("mysql80-slow.log"), left_out("mysql56-slow.log"));
    expect![[r#"
        - transactions, settings, SHOW x5
        - DDL and maintenance x1
        - the server's own tables x2
        ! these are statements of several databases (mysql, sbtest); --database takes those of one"#]]
    .assert_eq(&left_out("mariadb1011-slow.log"));
}

#[test]
fn the_workload_is_toml_and_the_same_each_time() {
    let choice = chosen("mysql57-slow.log");
    let workload = write(&choice, "shop", "mysql57-slow.log", "shop-values");
    let table: toml::Table = workload.toml.parse().unwrap_or_else(|error| panic!("{error}\n{}", workload.toml));
    let tests = table["test"].as_array().unwrap();
    assert_eq!(tests.len(), choice.statements.len() + 1, "and the mix");
    assert_eq!(write(&chosen("mysql57-slow.log"), "shop", "mysql57-slow.log", "shop-values").toml, workload.toml);
}

/// A file that was copied while it was written ends anywhere.
#[test]
fn a_log_that_ends_anywhere_is_read_up_to_there() {
    for name in ["mysql57-slow.log", "mariadb1011-slow.log", "pg12-log.csv", "pg18-log.json"] {
        let whole = recording(name);
        let all: f64 = count(&try_read(name, &whole).unwrap());
        let mut before = 0.0;
        for end in (whole.len() / 2..whole.len()).step_by(97) {
            let log = try_read(name, &whole[..end]).unwrap_or_else(|faults| panic!("{name} {end}: {faults:?}"));
            let found = count(&log);
            assert!(found >= before && found <= all + 1.0, "{name} {end}: {found}");
            before = found - 1.0;
        }
    }
}

/// Whatever a file holds, it is read or refused with a line; what is read makes TOML.
#[test]
fn a_damaged_file_is_read_or_refused() {
    let marks = b"'\"`$(),;:#-=[]?\\\n\0\xff1aE*/";
    let mut state = 7_u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for name in ["pg18-statements.csv", "pg12-log.csv", "pg18-log.json", "mysql57-slow.log", "mariadb1011-slow.log"] {
        let whole = recording(name);
        for _ in 0..60 {
            let mut bytes = whole.clone();
            for _ in 0..=next(20) {
                let at = next(bytes.len());
                bytes[at] = marks[next(marks.len())];
            }
            match try_read(name, &bytes) {
                Err(faults) => assert!(faults.iter().all(|fault| fault.line > 0), "{faults:?}"),
                Ok(log) => {
                    let workload = write(&choose(&log, 50), "shop", name, "shop-values");
                    let table = workload.toml.parse::<toml::Table>();
                    assert!(table.is_ok(), "{table:?}\n{}", workload.toml);
                }
            }
        }
    }
}

/// Executions, whatever becomes of them.
fn count(log: &Log) -> f64 {
    let choice = choose(log, usize::MAX);
    let left_out: f64 = choice.left_out.iter().map(|left| left.calls).sum();
    choice.statements.iter().map(|statement| statement.calls).sum::<f64>() + left_out
}
