//! The transactions of TPROC-C against real servers: every form keeps the tables consistent under the rules of the
//! specification. What the client counted is compared with what the tables count.

mod quirks;
mod work;

use crate::servers::{MYSQL_AND_MARIADB, Product};
use crate::{RUNNING, schedule};
use rqps_load::drive::{ArmRun, Exercise, RowSink, Slices, Span, Switch, run_events, run_to_end};
use rqps_load::program::tproc_c::{Acknowledged, Transactions, provide_routines};
use rqps_load::warehouses::{Counters, check, count, load};
use rqps_model::sample::SecondRow;
use rqps_model::tproc_c::{Check, Form, Isolation, Profile, Quirk, TprocC};
use rqps_model::{Engine, StorageEngine};
use rqps_testkit::{LiveServer, PATIENCE, on_each};
use rqps_wire::{Endpoint, Target};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

const SEED: u64 = 42;

/// Warehouses: with one there is no elsewhere.
const WAREHOUSES: u32 = 2;

/// The forms of an engine.
fn forms(engine: Engine) -> impl Iterator<Item = Form> {
    Form::ALL.into_iter().filter(move |form| form.is_of(engine))
}

fn shape(profile: Profile, engine: Engine, form: Form, quirks: &[Quirk]) -> TprocC {
    TprocC {
        profile,
        warehouses: vec![WAREHOUSES],
        forms: BTreeMap::from([(engine, form)]),
        quirks: quirks.iter().copied().collect(),
        partitioned: false,
        isolation: Isolation::ServerDefault,
        all_warehouses: false,
        keying_and_thinking: false,
        check: Check::Full,
    }
}

/// A server with loaded warehouses.
fn loaded(product: Product, quirks: &[Quirk]) -> LiveServer {
    let server = product.start();
    let data = shape(Profile::Tpcc, server.engine(), Form::ClientSql, quirks).data(WAREHOUSES);
    load(&server.target(), &data, SEED, 2).unwrap();
    server
}

/// What came of a run.
struct Played {
    arm: ArmRun,
    acknowledged: Acknowledged,
    before: Counters,
    after: Counters,
}

/// Plays so many transactions with each of so many virtual users, all counted.
fn play(server: &LiveServer, shape: &TprocC, clients: u32, events: u32, seed: u64) -> Played {
    let target = server.target();
    provide_routines(&target, shape).unwrap();
    let arms = [server.endpoint()];
    let transactions = Transactions::compile(shape, WAREHOUSES, clients, &arms).unwrap();
    let before = count(&target).unwrap();
    let arm = run_events(&exercise(&arms, clients, seed), &transactions, events, &RUNNING).unwrap().remove(0);
    assert_eq!(arm.failure, None);
    Played { arm, acknowledged: transactions.acknowledged(0), before, after: count(&target).unwrap() }
}

fn exercise(arms: &[Endpoint], clients: u32, seed: u64) -> Exercise<'_> {
    Exercise { threads: clients.min(2), ..Exercise::new(arms, clients, schedule(0.1), seed) }
}

impl Played {
    fn succeeded(&self, event: &str) -> u64 {
        let found = self.arm.events.iter().find(|run| run.name == event);
        found.map_or(0, |run| run.accounting.succeeded)
    }

    /// What the client counts is what the tables have grown by.
    fn assert_counted(&self, what: &str) {
        let Played { acknowledged, before, after, .. } = self;
        assert_eq!(acknowledged.new_orders, after.next_orders - before.next_orders, "{what}");
        assert_eq!(acknowledged.payments, after.payments - before.payments, "{what}");
        assert_eq!(self.succeeded("new-order"), acknowledged.new_orders, "{what}");
        assert_eq!(self.succeeded("new-order-rolled-back"), acknowledged.rolled_back, "{what}");
    }
}

/// The names of broken conditions.
fn broken(server: &LiveServer, shape: &TprocC) -> Vec<&'static str> {
    let found = check(&server.target(), &shape.data(WAREHOUSES), &shape.quirks, Check::Full, SEED).unwrap();
    found.into_iter().map(|broken| broken.condition).collect()
}

#[test]
fn transactions_keep_the_rules_of_the_specification_and_single_quirks_break_them() {
    check_rules_and_quirks(Product::Postgres);
}

#[test]
#[ignore = "long: scripts/nightly runs it"]
fn on_mysql_and_mariadb_too_transactions_keep_the_rules_and_single_quirks_break_them() {
    on_each(&MYSQL_AND_MARIADB, check_rules_and_quirks);
}

/// All on one server, since loading it takes long; the last ones break its data.
fn check_rules_and_quirks(product: Product) {
    let mut server = loaded(product, &[]);
    every_form_keeps_the_tables_consistent_with_sixteen_users(&server);
    isolation_is_set_and_conflicts_are_retried_until_they_pass(&server);
    more_transactions_allocate_no_more(&server);
    a_run_in_slices_keeps_none_of_them(&server);
    what_was_acknowledged_survives_the_servers_death(&mut server);
    quirks::only_a_quirk_puts_taxes_and_discount_into_amounts(&server);
    quirks::routines_find_the_customer_in_the_middle_or_one_row_off(&server);
    quirks::updates_are_lost_only_where_reads_are_unlocked(&server);
    match server.engine() {
        Engine::Postgres => {
            quirks::routines_work_in_a_subtransaction(&server);
            quirks::elements_of_arrays_are_converted_before_anything_is_written(&server);
            quirks::functions_find_nobody_by_name_and_overwrite_a_balance(&server);
        }
        _ => quirks::payments_are_added_and_what_is_not_there_is_delivered(&server),
    }
}

fn every_form_keeps_the_tables_consistent_with_sixteen_users(server: &LiveServer) {
    let product = server.engine();
    for (number, form) in forms(server.engine()).enumerate() {
        let shape = shape(Profile::Tpcc, server.engine(), form, &[]);
        let played = play(server, &shape, 16, 46, SEED + number as u64);
        let accounting = played.arm.accounting;
        let what = format!("{product} {form}: {accounting:?} {:?}", played.arm.errors);
        assert_eq!((accounting.succeeded, accounting.failed), (16 * 46, 0), "{what}");
        // Two decks for each user, whatever was retried.
        let orders = played.succeeded("new-order") + played.succeeded("new-order-rolled-back");
        assert_eq!((orders, played.succeeded("payment"), played.succeeded("delivery")), (320, 320, 32), "{what}");
        assert!(played.succeeded("new-order-rolled-back") > 0, "{what}");
        played.assert_counted(&what);
        let Played { acknowledged, before, after, .. } = played;
        let undelivered = before.undelivered + acknowledged.new_orders - acknowledged.delivered;
        assert_eq!(undelivered, after.undelivered, "{what}");
        assert_eq!(broken(server, &shape), [""; 0], "{what}");
    }
    // What no condition asks for.
    let orphans = "SELECT count(*) FROM order_line LEFT JOIN item ON i_id = ol_i_id WHERE i_id IS NULL";
    let sold = "SELECT sum(s_order_cnt), sum(s_ytd) FROM stock";
    let ordered = "SELECT count(*), sum(ol_quantity) FROM order_line WHERE ol_o_id > 3000";
    assert_eq!((server.number(orphans), server.ask(sold)), (0, server.ask(ordered)), "{product}");
}

/// Plays while conflicts come up: on PostgreSQL they come by themselves, on the others somebody holds the warehouses
/// until a transaction has waited too long.
fn play_with_conflicts(server: &LiveServer, shape: &TprocC, seed: u64) -> Played {
    if server.engine() == Engine::Postgres {
        return play(server, shape, 8, 23, seed);
    }
    let timeouts = "SELECT count FROM information_schema.innodb_metrics WHERE name = 'lock_timeouts'";
    let waiting = "SELECT trx_isolation_level FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT' LIMIT 1";
    let before = server.number(timeouts);
    let mut other = server.session();
    other.execute("BEGIN; UPDATE warehouse SET w_ytd = w_ytd").unwrap();
    std::thread::scope(|scope| {
        let playing = scope.spawn(|| play(server, shape, 8, 23, seed));
        let is_serializable = || server.ask(waiting) == ["SERIALIZABLE"];
        let has_given_up = || server.number(timeouts) > before;
        let has_conflicts = comes_about(&playing, is_serializable) && comes_about(&playing, has_given_up);
        other.execute("COMMIT").unwrap();
        assert!(has_conflicts, "no transaction waits until it gives up");
        playing.join().unwrap()
    })
}

/// Waits while something is played until this is so; `false` if that does not come about.
fn comes_about(playing: &ScopedJoinHandle<'_, Played>, is_so: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let is_over = playing.is_finished() || Instant::now() >= deadline;
        if is_so() {
            break true;
        }
        if is_over {
            break false;
        }
        // InnoDB shows its transactions as they were when somebody last asked, unless that is a tenth of a second ago.
        std::thread::sleep(Duration::from_millis(120));
    }
}

fn isolation_is_set_and_conflicts_are_retried_until_they_pass(server: &LiveServer) {
    let product = server.engine();
    let mut shape = shape(Profile::Tpcc, server.engine(), Form::ClientSql, &[]);
    shape.isolation = Isolation::Serializable;
    let played = play_with_conflicts(server, &shape, SEED);
    let accounting = played.arm.accounting;
    let what = format!("{product}: {accounting:?} {:?}", played.arm.errors);
    assert!(accounting.retried > 0 && accounting.failed == 0, "{what}");
    played.assert_counted(&what);
    assert_eq!(broken(server, &shape), [""; 0], "{what}");
    shape.quirks = [Quirk::NoRetry].into();
    let played = play_with_conflicts(server, &shape, SEED + 1);
    let accounting = played.arm.accounting;
    assert!(accounting.retried == 0 && accounting.failed > 0, "{product}: {accounting:?}");
    played.assert_counted(&what);
    // A user that owns all warehouses works in all of them.
    shape.all_warehouses = true;
    let taken = || server.ask("SELECT w_ytd FROM warehouse ORDER BY w_id");
    let before = taken();
    play(server, &shape, 1, 46, SEED + 2);
    assert!(taken().iter().zip(&before).all(|(after, before)| after != before), "{product}");
}

fn more_transactions_allocate_no_more(server: &LiveServer) {
    let product = server.engine();
    for form in forms(server.engine()) {
        let shape = shape(Profile::Tpcc, server.engine(), form, &[]);
        let allocations = |events| {
            let measured = allocation_counter::measure(|| {
                let played = play(server, &shape, 1, events, SEED);
                assert_eq!(played.arm.accounting.succeeded, u64::from(events));
            });
            measured.count_total
        };
        // The first use of the routines, and of what the server tells of them.
        allocations(23);
        let (few, many) = (allocations(6 * 23), allocations(18 * 23));
        // Buffers double with the longest answer so far, such as the rows of a name, or an answer in pieces; most of
        // the 276 transactions that there are more of have ten statements or more.
        assert!(many.abs_diff(few) <= 20, "{product} {form}: {few}, {many}");
    }
}

fn a_run_in_slices_keeps_none_of_them(server: &LiveServer) {
    let product = server.engine();
    let shape = shape(Profile::Tpcc, server.engine(), Form::ClientSql, &[]);
    let arms = [server.endpoint(), server.endpoint()];
    let transactions = Transactions::compile(&shape, WAREHOUSES, 4, &arms).unwrap();
    let given: Mutex<[Vec<SecondRow>; 2]> = Mutex::default();
    let give = |arm: usize, row: &SecondRow| given.lock().unwrap()[arm].push(row.clone());
    let span = Span { from: Duration::from_millis(100), until: Some(Duration::from_millis(1300)) };
    let slices = Slices::OwnTime(Duration::from_millis(10));
    let mut entered = 0;
    let mut hook = |switch| {
        entered += u32::from(matches!(switch, Switch::Enter { .. }));
        Ok(())
    };
    let exercise = Exercise { rows: RowSink::to(&give), ..exercise(&arms, 4, SEED) };
    let ended = run_to_end(&exercise, &transactions, true, (span, slices), &mut hook, &RUNNING, &|_, _| ()).unwrap();
    // There were many slices; how many depends on how late a busy machine ends each of them.
    assert!(entered >= 2 * 20, "{product}: {entered}");
    for ((arm, _), rows) in ended.iter().zip(given.into_inner().unwrap()) {
        assert_eq!(arm.failure, None);
        assert!(arm.slices.operations.is_empty() && arm.counted.is_empty(), "{product}");
        assert!(arm.operations > 0 && arm.operations == rows.iter().map(|row| row.operations).sum::<u64>(), "{rows:?}");
        let seconds: Vec<f64> = rows.iter().map(|row| row.second).collect();
        assert_eq!(seconds, [1.0, 1.2], "{product}");
        assert_eq!(rows.iter().map(|row| row.busy_ns).collect::<Vec<_>>(), [4_000_000_000, 800_000_000], "{product}");
    }
}

fn what_was_acknowledged_survives_the_servers_death(server: &mut LiveServer) {
    let product = server.engine();
    let shape = shape(Profile::Tpcc, server.engine(), Form::ClientSql, &[]);
    let arms = [server.endpoint()];
    let transactions = Transactions::compile(&shape, WAREHOUSES, 8, &arms).unwrap();
    let before = count(&server.target()).unwrap();
    let endless = std::thread::scope(|scope| {
        let playing = scope.spawn(|| run_events(&exercise(&arms, 8, SEED), &transactions, u32::MAX, &RUNNING));
        let deadline = Instant::now() + PATIENCE;
        while transactions.acknowledged(0).new_orders < 200 {
            assert!(Instant::now() < deadline && !playing.is_finished(), "no orders");
            std::thread::sleep(Duration::from_millis(2));
        }
        server.kill_all();
        playing.join().unwrap().unwrap().remove(0)
    });
    assert!(endless.failure.is_some() && endless.accounting.is_balanced(), "{product}");
    let Acknowledged { new_orders, payments, unknown_new_orders, unknown_payments, .. } = transactions.acknowledged(0);
    server.start_again();
    let after = count(&server.target()).unwrap();
    let orders = after.next_orders - before.next_orders;
    let paid = after.payments - before.payments;
    let what = format!("{product}: {orders} of {new_orders} + {unknown_new_orders}, {paid} of {payments}");
    assert!((new_orders..=new_orders + unknown_new_orders).contains(&orders), "{what}");
    assert!((payments..=payments + unknown_payments).contains(&paid), "{what}");
    assert_eq!(broken(server, &shape), [""; 0], "{what}");
}

/// RocksDB refuses what changed since a transaction's snapshot, and leaves the transaction open.
#[test]
#[ignore = "long: scripts/nightly runs it"]
fn conflicts_on_rocksdb_are_rolled_back_whole() {
    let server = Product::Rocksdb.start();
    let shape = shape(Profile::Tpcc, server.engine(), Form::ClientSql, &[]);
    let data = shape.data(WAREHOUSES);
    let target = Target { storage: Some(StorageEngine::Rocksdb), ..server.target() };
    load(&target, &data, SEED, 2).unwrap();
    let played = play(&server, &shape, 8, 60, 3);
    let conflicts = played.arm.errors.iter().filter(|error| error.message.contains("snapshot conflict"));
    assert!(conflicts.map(|error| error.count).sum::<u64>() > 0, "{:?}", played.arm.errors);
    assert_eq!(played.after.next_orders - played.before.next_orders, played.acknowledged.new_orders);
    assert_eq!(check(&target, &data, &shape.quirks, Check::Full, SEED).unwrap(), []);
}
