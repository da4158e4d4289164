//! What HammerDB does otherwise than the specification says, quirk by quirk, as the tables show it afterwards.

use super::{SEED, WAREHOUSES, broken, comes_about, forms, loaded, play, shape};
use crate::servers::{MYSQL_AND_MARIADB, Product};
use rqps_load::program::tproc_c::provide_routines;
use rqps_load::warehouses::{Expectation, check};
use rqps_model::Engine;
use rqps_model::tproc_c::{Check, Form, Profile, Quirk, TprocC};
use rqps_testkit::{LiveServer, on_each};
use rqps_wire::Session;

/// Customers, as many as all warehouses have.
const CUSTOMERS: u64 = 30_000 * WAREHOUSES as u64;

#[test]
fn hammerdb_departs_from_the_specification_as_it_is_known_to() {
    check_departures(Product::Postgres);
}

#[test]
#[ignore = "long: scripts/nightly runs it"]
fn on_mysql_and_mariadb_too_hammerdb_departs_from_the_specification() {
    on_each(&MYSQL_AND_MARIADB, check_departures);
}

fn check_departures(product: Product) {
    let server = loaded(product, &Quirk::ALL);
    let is_postgres = server.engine() == Engine::Postgres;
    for form in forms(server.engine()) {
        let shape = shape(Profile::Hammerdb, server.engine(), form, &Quirk::ALL);
        let played = play(&server, &shape, 8, 150, SEED + form as u64);
        let what = format!("{product:?} {form}: {:?} {:?}", played.arm.accounting, played.arm.errors);
        assert_eq!(played.arm.accounting.retried, 0, "{what}");
        played.assert_counted(&what);
        // Drawn, so that no type comes exactly as often as in decks.
        let succeeded = |event| played.succeeded(event);
        assert!(succeeded("payment").abs_diff(522) < 150 && succeeded("stock-level") > 0, "{what}");
        assert_eq!(succeeded("new-order-rolled-back") == 0, is_postgres, "{what}");
    }
    let invalid = server.number("SELECT count(*) FROM order_line WHERE ol_amount IS NULL AND ol_i_id = 100001");
    assert_eq!(invalid > 0, is_postgres, "{product:?}: {invalid}");
    let kept = "SELECT sum(c_payment_cnt), sum(c_delivery_cnt) FROM customer";
    assert_eq!(server.ask(kept), [format!("{CUSTOMERS} 0")], "{product:?}");
    assert_eq!(server.number("SELECT sum(s_order_cnt) + sum(s_remote_cnt) FROM stock"), 0, "{product:?}");
    assert_eq!(server.number("SELECT sum(s_ytd) FROM stock"), 0, "{product:?}");
    let cents = "SELECT count(*) FROM history WHERE h_amount <> floor(h_amount)";
    assert_eq!(server.number(cents), 0, "{product:?}");
    // No condition is broken but those that quirks break.
    let shape = shape(Profile::Hammerdb, server.engine(), Form::ClientSql, &Quirk::ALL);
    let found = check(&server.target(), &shape.data(WAREHOUSES), &shape.quirks, Check::Full, SEED).unwrap();
    assert!(found.iter().all(|broken| broken.expectation != Expectation::Holds), "{product:?}: {found:?}");
    let always = |condition| found.iter().any(|broken| broken.condition == condition);
    assert!(always("C10") && always("C12"), "{product:?}: {found:?}");
}

/// Orders since the load of which each line has an amount, and those of them that cost what price and this factor say.
/// Where lines are worked on at once, an order may have its amounts at other lines; where one is missing, it is of a
/// line whose item is not there or comes twice.
fn priced(server: &LiveServer, factor: &str) -> [u64; 2] {
    let orders = |condition: &str| {
        server.number(&format!(
            "SELECT count(*) FROM (SELECT o_w_id, o_d_id, o_id FROM orders \
             JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id \
             JOIN customer ON c_w_id = o_w_id AND c_d_id = o_d_id AND c_id = o_c_id \
             JOIN district ON d_w_id = o_w_id AND d_id = o_d_id JOIN warehouse ON w_id = o_w_id \
             LEFT JOIN item ON i_id = ol_i_id WHERE o_id > 3000 GROUP BY o_w_id, o_d_id, o_id \
             HAVING count(ol_amount) = count(*){condition}) whole"
        ))
    };
    let is_right = format!(" AND sum(ol_amount) = sum(round(ol_quantity * i_price * {factor}, 2))");
    ["", &is_right].map(orders)
}

pub(super) fn only_a_quirk_puts_taxes_and_discount_into_amounts(server: &LiveServer) {
    use Quirk::{CommittedInvalidItem, DistrictTexts, ServerDraws, TaxedAmounts, TypedArrays};
    let taxed = "(1 + w_tax + d_tax) * (1 - c_discount)";
    let of_many: &[Quirk] = &[TaxedAmounts, TypedArrays, DistrictTexts, CommittedInvalidItem, ServerDraws];
    let mut seed = SEED;
    for form in forms(server.engine()) {
        for (quirks, factor) in [(&[][..], "1"), (&[TaxedAmounts], taxed), (of_many, taxed)] {
            let shape = shape(Profile::Tpcc, server.engine(), form, quirks);
            let before = priced(server, factor);
            let played = play(server, &shape, 4, 46, seed);
            let after = priced(server, factor);
            let what = format!("{} {form} {quirks:?}", server.engine());
            let [whole, right] = [0, 1].map(|index| after[index] - before[index]);
            assert!(whole > 70 && whole == right, "{what}: {before:?} {after:?}");
            assert!(shape.quirks.contains(&CommittedInvalidItem) || whole == played.acknowledged.new_orders, "{what}");
            seed += 1;
        }
        assert_eq!(broken(server, &shape(Profile::Tpcc, server.engine(), form, of_many)), [""; 0], "{form}");
    }
    assert_eq!(server.number(&with_text_of_another_district()), 0, "{}", server.engine());
}

/// New orders' lines that have the text of another district than their own from the stock. A server that draws the
/// items of an order may draw one twice. HammerDB's arrays are then a line short, so that lines have the texts of
/// others and the last one has no amount; such orders are left out.
fn with_text_of_another_district() -> String {
    let texts = (1..=10).map(|district| format!(" WHEN {district} THEN s_dist_{district:02}")).collect::<String>();
    format!(
        "SELECT count(*) FROM order_line line JOIN stock ON s_i_id = ol_i_id AND s_w_id = ol_supply_w_id \
         WHERE ol_o_id > 3000 AND ol_dist_info <> CASE ol_d_id{texts} END AND NOT EXISTS \
         (SELECT 1 FROM order_line short WHERE short.ol_amount IS NULL AND short.ol_w_id = line.ol_w_id \
          AND short.ol_d_id = line.ol_d_id AND short.ol_o_id = line.ol_o_id)"
    )
}

/// The call of a routine of this form.
fn routine(form: Form, name: &str, values: &str) -> String {
    match form {
        Form::Function => format!("SELECT tproc.{name}({values})"),
        Form::Procedure => format!("CALL tproc.{name}({values}, NULL)"),
        _ => format!("CALL tproc_{name}({values}, @out)"),
    }
}

fn call(server: &LiveServer, form: Form, name: &str, values: &str) {
    server.session().execute(&routine(form, name, values)).unwrap();
}

/// A last name that so many customers of a district have, and their numbers in order.
fn namesakes(server: &LiveServer, count: usize) -> (String, Vec<u64>) {
    let names = "FROM customer WHERE c_w_id = 1 AND c_d_id = 3 GROUP BY c_last";
    let name =
        server.ask(&format!("SELECT c_last {names} HAVING count(*) = {count} ORDER BY c_last LIMIT 1")).remove(0);
    let ids =
        format!("SELECT c_id FROM customer WHERE c_w_id = 1 AND c_d_id = 3 AND c_last = '{name}' ORDER BY c_first");
    let ids = server.ask(&ids).iter().map(|id| id.parse().unwrap()).collect();
    (name, ids)
}

/// Pays one, and says to whom it was noted.
fn payee(server: &LiveServer, form: Form, name: &str) -> u64 {
    call(server, form, "payment", &format!("1, 3, 1, 3, 7, 1, '{name}', 4321"));
    let id = server.number("SELECT h_c_id FROM history WHERE h_amount = 43.21");
    server.session().execute("DELETE FROM history WHERE h_amount = 43.21").unwrap();
    id
}

pub(super) fn routines_find_the_customer_in_the_middle_or_one_row_off(server: &LiveServer) {
    let product = server.engine();
    let is_postgres = product == Engine::Postgres;
    for form in forms(server.engine()).filter(|form| *form != Form::ClientSql) {
        for quirks in [&[][..], &[Quirk::NameRowOff]] {
            provide_routines(&server.target(), &shape(Profile::Tpcc, server.engine(), form, quirks)).unwrap();
            for count in 1..=4 {
                let (name, ids) = namesakes(server, count);
                let place = match (quirks.is_empty(), is_postgres) {
                    (true, _) => count.div_ceil(2),
                    (false, true) => count / 2,
                    (false, false) => (count.div_ceil(2) + 1).min(count),
                };
                // The number that came along, where nobody is fetched.
                let expected = place.checked_sub(1).map_or(7, |index| ids[index]);
                assert_eq!(payee(server, form, &name), expected, "{product} {form} {quirks:?} {name} {ids:?}");
            }
        }
    }
}

pub(super) fn functions_find_nobody_by_name_and_overwrite_a_balance(server: &LiveServer) {
    let quirks = [Quirk::LiteralLastName, Quirk::EvenIds];
    // Whoever has paid once since the load: the balance was -10 before.
    let paid = "(SELECT h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) AS paid FROM history GROUP BY 1, 2, 3 \
                HAVING count(*) = 2) p ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id";
    let overwritten = format!("SELECT count(*) FROM customer JOIN {paid} WHERE c_balance = 10 - paid");
    play(server, &shape(Profile::Tpcc, Engine::Postgres, Form::Procedure, &quirks), 4, 46, SEED);
    assert_eq!(server.number(&overwritten), 0);
    play(server, &shape(Profile::Tpcc, Engine::Postgres, Form::Function, &quirks), 4, 46, SEED + 1);
    // 80 payments, of which 60 % are by name.
    let count = server.number(&overwritten);
    assert!((30..66).contains(&count), "{count}");
}

/// How many numbers of transactions this takes, each answer here being one. Others may take some as well, but not each
/// time.
fn numbers_spent(server: &LiveServer, act: impl Fn()) -> u64 {
    let number = || server.number("SELECT txid_current()");
    let one = || {
        let before = number();
        act();
        number() - before - 1
    };
    (0..5).map(|_| one()).min().unwrap()
}

pub(super) fn routines_work_in_a_subtransaction(server: &LiveServer) {
    for form in [Form::Function, Form::Procedure] {
        // What is written in a subtransaction has a number more.
        let spent = [&[][..], &[Quirk::Subtransactions]].map(|quirks| {
            provide_routines(&server.target(), &shape(Profile::Tpcc, Engine::Postgres, form, quirks)).unwrap();
            numbers_spent(server, || _ = payee(server, form, "nobody"))
        });
        assert_eq!(spent[1], spent[0] + 1, "{form}: {spent:?}");
    }
}

pub(super) fn elements_of_arrays_are_converted_before_anything_is_written(server: &LiveServer) {
    for form in [Form::Function, Form::Procedure] {
        // No column has room for such a quantity: an order that has written something before it fails has a number.
        let order = routine(form, "new_order", "1, 3, 7, 1, 1, ARRAY[1, 1, 40000]");
        for (quirks, is_written) in [(&[][..], true), (&[Quirk::TypedArrays], false)] {
            provide_routines(&server.target(), &shape(Profile::Tpcc, Engine::Postgres, form, quirks)).unwrap();
            let spent = numbers_spent(server, || assert!(server.session().execute(&order).is_err()));
            assert_eq!(spent > 0, is_written, "{form} {quirks:?}: {spent}");
        }
    }
}

pub(super) fn payments_are_added_and_what_is_not_there_is_delivered(server: &LiveServer) {
    let product = server.engine();
    for (number, form) in forms(server.engine()).enumerate() {
        let shape = shape(Profile::Tpcc, server.engine(), form, &[Quirk::AddedPayment]);
        let sums = || {
            let cents = |of: &str, table: &str| {
                let sum = format!("SELECT CAST(100 * sum({of}) AS SIGNED) FROM {table}");
                server.ask(&sum)[0].parse::<i64>().unwrap()
            };
            let delivered = cents("ol_amount", "order_line WHERE ol_delivery_d IS NOT NULL");
            (cents("h_amount", "history"), delivered, cents("c_balance", "customer"))
        };
        let before = sums();
        play(server, &shape, 4, 23, SEED + number as u64);
        let after = sums();
        assert_eq!(after.2 - before.2, after.0 - before.0 + after.1 - before.1, "{product} {form}");
    }
    // The second district has no new order: the first one's is delivered there too.
    let oldest = "SELECT min(no_o_id) FROM new_order WHERE no_w_id = 1 AND no_d_id = 1";
    let carrier = |order| format!("SELECT o_carrier_id FROM orders WHERE o_w_id = 1 AND o_d_id = 2 AND o_id = {order}");
    let mut session = server.session();
    session.execute("DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = 2").unwrap();
    for (quirks, is_delivered) in [(&[][..], false), (&[Quirk::UncheckedDelivery], true)] {
        provide_routines(&server.target(), &shape(Profile::Tpcc, server.engine(), Form::Call, quirks)).unwrap();
        let order = server.number(oldest);
        session.execute(&format!("UPDATE orders SET o_carrier_id = NULL WHERE o_d_id = 2 AND o_id = {order}")).unwrap();
        call(server, Form::Call, "delivery", "1, 77");
        assert_eq!(server.ask(&carrier(order)) == ["77"], is_delivered, "{product} {quirks:?}");
    }
}

/// Whether a payment waits for a customer's row. One that reads it without a lock has read it then, since it waits
/// where it writes; a delivery adds to the balance. That a session is at such a statement is not enough: it may still
/// prepare it.
fn is_paying(server: &LiveServer) -> bool {
    let sql = match server.engine() {
        Engine::Postgres => {
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND \
             (query LIKE 'UPDATE customer SET c_balance = $1%' OR query LIKE 'SELECT c_balance, c_credit%')"
        }
        _ => {
            "SELECT count(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT' AND \
             (trx_query LIKE 'UPDATE customer SET c_balance = %' OR trx_query LIKE 'SELECT c_balance, c_credit%') \
             AND trx_query NOT LIKE '%c_balance + %'"
        }
    };
    server.number(sql) > 0
}

/// Somebody takes one from every balance while payments are under way; how much of that is lost.
fn lost(server: &LiveServer, shape: &TprocC, seed: u64) -> i64 {
    let sum = |sql: &str| server.ask(&format!("SELECT {sql}"))[0].parse::<f64>().unwrap();
    let expected = || {
        let delivered = "coalesce(sum(ol_amount), 0) FROM order_line WHERE ol_delivery_d IS NOT NULL";
        sum(delivered) - sum("sum(h_amount) FROM history") - sum("sum(c_balance) FROM customer")
    };
    let before = expected();
    let mut other: Session = server.session();
    other.execute("BEGIN").unwrap();
    other.execute("UPDATE customer SET c_balance = c_balance - 1").unwrap();
    std::thread::scope(|scope| {
        let playing = scope.spawn(|| play(server, shape, 6, 4, seed));
        let has_waited = comes_about(&playing, || is_paying(server));
        other.execute("COMMIT").unwrap();
        assert!(has_waited, "no payment waits");
        let played = playing.join().unwrap();
        assert_eq!(played.arm.accounting.failed, 0);
    });
    let lost = CUSTOMERS as f64 - (expected() - before);
    lost.round() as i64
}

pub(super) fn updates_are_lost_only_where_reads_are_unlocked(server: &LiveServer) {
    let product = server.engine();
    let of = |quirks| shape(Profile::Tpcc, server.engine(), Form::ClientSql, quirks);
    if product != Engine::Postgres {
        // One that gives up and is tried again reads what is there by then.
        server.ask("SET GLOBAL innodb_lock_wait_timeout = 100");
    }
    assert_eq!(lost(server, &of(&[]), SEED), 0, "{product}");
    let count = lost(server, &of(&[Quirk::UnlockedReads]), SEED + 1);
    assert!((1..=6).contains(&count), "{product}: {count}");
    assert!(broken(server, &of(&[])).contains(&"C10"), "{product}");
}
