//! The twelve consistency conditions (TPC-C, clause 3.3.2), and which quirks break them.
//!
//! In: an engine and the quirks of a run. Out: a query of the keys that violate a condition, and whether it must hold.
//! It sends nothing. `{o_w_id}` in a query is a condition on that column: only the warehouses that are checked. Words
//! in capitals stand for the parts below. They are written for PostgreSQL from 12 on, MySQL from 5.6 on and MariaDB
//! alike.

use rqps_model::Engine;
use rqps_model::tproc_c::Quirk::{
    self, AddedPayment, LiteralLastName, MissingCounters, NameRowOff, SwappedAmounts, UncheckedDelivery, UnlockedReads,
};
use std::collections::BTreeSet;

/// What is to be expected of a condition after a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Expectation {
    /// It must hold: where it doesn't, the server or the client is wrong.
    Holds,
    /// A quirk may have broken it.
    MayBreak,
    /// A quirk breaks it with the first transaction, or did so in the load.
    Breaks,
}

/// A consistency condition.
#[derive(Debug)]
pub(super) struct Condition {
    pub(super) name: &'static str,
    /// Columns of the keys that violate it.
    pub(super) keys: &'static str,
    /// What follows `SELECT keys FROM`.
    sql: &'static str,
    may_break: &'static [Quirk],
    breaks: &'static [Quirk],
}

impl Condition {
    /// What is to be expected of it.
    pub(super) fn expectation(&self, engine: Engine, quirks: &BTreeSet<Quirk>) -> Expectation {
        let has = |some: &[Quirk]| some.iter().any(|quirk| quirk.is_on(engine) && quirks.contains(quirk));
        match (has(self.breaks), has(self.may_break)) {
            (true, _) => Expectation::Breaks,
            (false, true) => Expectation::MayBreak,
            (false, false) => Expectation::Holds,
        }
    }

    /// The query of the keys that violate it, in some warehouses; in all, where they are `None`.
    pub(super) fn query(&self, warehouses: Option<&[u32]>) -> String {
        let mut sql = format!("SELECT {} FROM {}", self.keys, self.sql);
        for (word, part) in PARTS {
            sql = sql.replace(word, part);
        }
        for column in WAREHOUSE_COLUMNS {
            let among = match warehouses {
                None => "1 = 1".to_owned(),
                Some(some) => {
                    let numbers: Vec<String> = some.iter().map(u32::to_string).collect();
                    format!("{column} IN ({})", numbers.join(", "))
                }
            };
            sql = sql.replace(&format!("{{{column}}}"), &among);
        }
        sql
    }
}

const WAREHOUSE_COLUMNS: [&str; 8] = ["w_id", "d_w_id", "o_w_id", "no_w_id", "ol_w_id", "h_w_id", "c_w_id", "h_c_w_id"];

/// Sums and counts that several conditions compare; a word that ends like another comes before it.
const PARTS: [(&str, &str); 5] = [
    (
        "NEW_ORDERS_OF_DISTRICT",
        "(SELECT no_w_id, no_d_id, MAX(no_o_id) AS last_new_order, COUNT(*) AS new_orders \
          FROM new_order WHERE {no_w_id} GROUP BY no_w_id, no_d_id) n ON no_w_id = d_w_id AND no_d_id = d_id",
    ),
    (
        "ORDERS_OF_DISTRICT",
        "(SELECT o_w_id, o_d_id, MAX(o_id) AS last_order, COUNT(*) AS orders, SUM(o_ol_cnt) AS announced_lines \
          FROM orders WHERE {o_w_id} GROUP BY o_w_id, o_d_id) o ON o_w_id = d_w_id AND o_d_id = d_id",
    ),
    (
        "LINES_OF_DISTRICT",
        "(SELECT ol_w_id, ol_d_id, COUNT(*) AS order_lines \
          FROM order_line WHERE {ol_w_id} GROUP BY ol_w_id, ol_d_id) l ON ol_w_id = d_w_id AND ol_d_id = d_id",
    ),
    (
        "DELIVERED_TO_CUSTOMER",
        "(SELECT o_w_id, o_d_id, o_c_id, SUM(ol_amount) AS delivered \
          FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id \
          WHERE {o_w_id} AND {ol_w_id} AND ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) o \
         ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id",
    ),
    (
        "PAID_BY_CUSTOMER",
        "(SELECT h_c_w_id, h_c_d_id, h_c_id, SUM(h_amount) AS paid \
          FROM history WHERE {h_c_w_id} GROUP BY h_c_w_id, h_c_d_id, h_c_id) p \
         ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id",
    ),
];

/// How many of the conditions, the first ones, are checked quickly.
pub(super) const QUICK: usize = 4;

/// All conditions, in the order of the specification.
pub(super) const CONDITIONS: [Condition; 12] = [
    // What the districts of a warehouse took in is what the warehouse did.
    Condition {
        name: "C1",
        keys: "w_id",
        sql: "warehouse LEFT JOIN (SELECT d_w_id, SUM(d_ytd) AS taken FROM district WHERE {d_w_id} GROUP BY d_w_id) d \
              ON d_w_id = w_id WHERE {w_id} AND w_ytd <> COALESCE(taken, 0)",
        may_break: &[],
        breaks: &[],
    },
    // The last order, and the last new order if there is one, is the one before the next.
    Condition {
        name: "C2",
        keys: "d_w_id, d_id",
        sql: "district LEFT JOIN ORDERS_OF_DISTRICT LEFT JOIN NEW_ORDERS_OF_DISTRICT WHERE {d_w_id} AND \
              (COALESCE(last_order, 0) <> d_next_o_id - 1 OR \
               COALESCE(last_new_order, d_next_o_id - 1) <> d_next_o_id - 1)",
        may_break: &[],
        breaks: &[],
    },
    // New orders of a district have no gap.
    Condition {
        name: "C3",
        keys: "no_w_id, no_d_id",
        sql: "new_order WHERE {no_w_id} GROUP BY no_w_id, no_d_id HAVING MAX(no_o_id) - MIN(no_o_id) + 1 <> COUNT(*)",
        may_break: &[UncheckedDelivery],
        breaks: &[],
    },
    // A district has as many lines as its orders say.
    Condition {
        name: "C4",
        keys: "d_w_id, d_id",
        sql: "district LEFT JOIN ORDERS_OF_DISTRICT LEFT JOIN LINES_OF_DISTRICT WHERE {d_w_id} AND \
              COALESCE(announced_lines, 0) <> COALESCE(order_lines, 0)",
        may_break: &[],
        breaks: &[],
    },
    // An order has no carrier as long as it is a new order.
    Condition {
        name: "C5",
        keys: "o_w_id, o_d_id, o_id",
        sql: "orders LEFT JOIN new_order ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id \
              WHERE {o_w_id} AND (o_carrier_id IS NULL) <> (no_o_id IS NOT NULL)",
        may_break: &[UncheckedDelivery],
        breaks: &[],
    },
    // An order has as many lines as it says.
    Condition {
        name: "C6",
        keys: "o_w_id, o_d_id, o_id",
        sql: "orders LEFT JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, COUNT(*) AS order_lines FROM order_line \
              WHERE {ol_w_id} GROUP BY ol_w_id, ol_d_id, ol_o_id) l \
              ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id \
              WHERE {o_w_id} AND o_ol_cnt <> COALESCE(order_lines, 0)",
        may_break: &[],
        breaks: &[],
    },
    // A line is delivered when its order is.
    Condition {
        name: "C7",
        keys: "ol_w_id, ol_d_id, ol_o_id, ol_number",
        sql: "order_line JOIN orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id \
              WHERE {o_w_id} AND {ol_w_id} AND (ol_delivery_d IS NULL) <> (o_carrier_id IS NULL)",
        may_break: &[UncheckedDelivery],
        breaks: &[],
    },
    // What a warehouse took in is what was paid there.
    Condition {
        name: "C8",
        keys: "w_id",
        sql: "warehouse LEFT JOIN (SELECT h_w_id, SUM(h_amount) AS paid FROM history WHERE {h_w_id} GROUP BY h_w_id) h \
              ON h_w_id = w_id WHERE {w_id} AND w_ytd <> COALESCE(paid, 0)",
        may_break: &[],
        breaks: &[],
    },
    // What a district took in is what was paid there.
    Condition {
        name: "C9",
        keys: "d_w_id, d_id",
        sql: "district LEFT JOIN (SELECT h_w_id, h_d_id, SUM(h_amount) AS paid FROM history WHERE {h_w_id} \
              GROUP BY h_w_id, h_d_id) h ON h_w_id = d_w_id AND h_d_id = d_id \
              WHERE {d_w_id} AND d_ytd <> COALESCE(paid, 0)",
        may_break: &[],
        breaks: &[],
    },
    // A customer owes what was delivered and not paid.
    Condition {
        name: "C10",
        keys: "c_w_id, c_d_id, c_id",
        sql: "customer LEFT JOIN DELIVERED_TO_CUSTOMER LEFT JOIN PAID_BY_CUSTOMER WHERE {c_w_id} AND \
              c_balance <> COALESCE(delivered, 0) - COALESCE(paid, 0)",
        may_break: &[LiteralLastName, NameRowOff, UnlockedReads, UncheckedDelivery],
        breaks: &[SwappedAmounts, AddedPayment],
    },
    // Orders that are no new orders are those that were loaded as delivered, and those that were delivered since. The
    // specification counts only the first, and only before the first delivery.
    Condition {
        name: "C11",
        keys: "d_w_id, d_id",
        sql: "district LEFT JOIN ORDERS_OF_DISTRICT LEFT JOIN NEW_ORDERS_OF_DISTRICT \
              LEFT JOIN (SELECT c_w_id, c_d_id, SUM(c_delivery_cnt) AS deliveries FROM customer WHERE {c_w_id} \
              GROUP BY c_w_id, c_d_id) c ON c_w_id = d_w_id AND c_d_id = d_id WHERE {d_w_id} AND \
              COALESCE(orders, 0) - COALESCE(new_orders, 0) <> 2100 + COALESCE(deliveries, 0)",
        may_break: &[UncheckedDelivery, LiteralLastName, NameRowOff],
        breaks: &[MissingCounters],
    },
    // What a customer owes and has paid is what was delivered.
    Condition {
        name: "C12",
        keys: "c_w_id, c_d_id, c_id",
        sql: "customer LEFT JOIN DELIVERED_TO_CUSTOMER WHERE {c_w_id} AND \
              c_balance + c_ytd_payment <> COALESCE(delivered, 0)",
        may_break: &[LiteralLastName, NameRowOff, UnlockedReads, UncheckedDelivery],
        breaks: &[SwappedAmounts, AddedPayment, MissingCounters],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_whole() {
        for condition in CONDITIONS {
            for warehouses in [None, Some(&[3, 17][..])] {
                let sql = condition.query(warehouses);
                assert!(!sql.contains('{') && !PARTS.iter().any(|(word, _)| sql.contains(word)), "{sql}");
                assert_eq!(sql.contains(" IN (3, 17)"), warehouses.is_some(), "{sql}");
            }
        }
        expect_test::expect!["SELECT d_w_id, d_id FROM district LEFT JOIN (SELECT o_w_id, o_d_id, MAX(o_id) AS last_order, COUNT(*) AS orders, SUM(o_ol_cnt) AS announced_lines FROM orders WHERE o_w_id IN (3, 17) GROUP BY o_w_id, o_d_id) o ON o_w_id = d_w_id AND o_d_id = d_id LEFT JOIN (SELECT no_w_id, no_d_id, MAX(no_o_id) AS last_new_order, COUNT(*) AS new_orders FROM new_order WHERE no_w_id IN (3, 17) GROUP BY no_w_id, no_d_id) n ON no_w_id = d_w_id AND no_d_id = d_id WHERE d_w_id IN (3, 17) AND (COALESCE(last_order, 0) <> d_next_o_id - 1 OR COALESCE(last_new_order, d_next_o_id - 1) <> d_next_o_id - 1)"].assert_eq(&CONDITIONS[1].query(Some(&[3, 17])));
    }

    #[test]
    fn only_quirks_break_a_condition() {
        let expected = |engine: Engine, quirks: &[Quirk], what: Expectation| -> Vec<&str> {
            let quirks = quirks.iter().copied().collect();
            let some = CONDITIONS.iter().filter(|one| one.expectation(engine, &quirks) == what);
            some.map(|one| one.name).collect()
        };
        for engine in [Engine::Postgres, Engine::Mysql, Engine::Mariadb] {
            assert_eq!(expected(engine, &[], Expectation::Holds).len(), 12);
        }
        let all = Quirk::ALL;
        let of_all = |engine| {
            let by = |what| expected(engine, &all, what).join(" ");
            [by(Expectation::Holds), by(Expectation::MayBreak), by(Expectation::Breaks)]
        };
        assert_eq!(of_all(Engine::Postgres), ["C1 C2 C3 C4 C5 C6 C7 C8 C9", "", "C10 C11 C12"]);
        assert_eq!(of_all(Engine::Mariadb), ["C1 C2 C4 C6 C8 C9", "C3 C5 C7", "C10 C11 C12"]);
        assert_eq!(of_all(Engine::Mysql), of_all(Engine::Mariadb));
        assert_eq!(expected(Engine::Postgres, &[UnlockedReads], Expectation::MayBreak), ["C10", "C12"]);
        assert_eq!(expected(Engine::Postgres, &[AddedPayment], Expectation::Holds).len(), 12);
    }
}
