//! The transactions of TPROC-C against real servers: every form keeps the tables consistent under the rules of the
//! specification, and departs from them as HammerDB does under those of its profile.
//!
//! What the client counted is compared with what the tables count.

use crate::servers::{ENGINES, Product};
use crate::{RUNNING, schedule};
use rqps_load::drive::{ArmRun, ClientCpus, Exercise, run_events};
use rqps_load::program::tproc_c::{Acknowledged, Transactions, provide_routines};
use rqps_load::warehouses::{Counters, check, count, load};
use rqps_model::Engine;
use rqps_model::plan::Arrival;
use rqps_model::tproc_c::{Check, Form, Isolation, Profile, Quirk, TprocC};
use rqps_testkit::{LiveServer, on_each};
use rqps_wire::Endpoint;
use std::collections::BTreeMap;

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
    let threads = clients.min(2);
    let cpus = ClientCpus::default();
    Exercise { arms, clients, threads, cpus, schedule: schedule(0.1), arrival: Arrival::Closed, seed }
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
        assert_eq!(before.undelivered + acknowledged.new_orders - acknowledged.delivered, after.undelivered, "{what}");
    }
}

/// The names of broken conditions.
fn broken(server: &LiveServer, shape: &TprocC) -> Vec<&'static str> {
    let found = check(&server.target(), &shape.data(WAREHOUSES), &shape.quirks, Check::Full, SEED).unwrap();
    found.into_iter().map(|broken| broken.condition).collect()
}

#[test]
fn every_form_keeps_the_tables_consistent_with_sixteen_users() {
    on_each(&ENGINES, |product| {
        let server = loaded(product, &[]);
        for (number, form) in forms(server.engine()).enumerate() {
            let shape = shape(Profile::Tpcc, server.engine(), form, &[]);
            let played = play(&server, &shape, 16, 46, SEED + number as u64);
            let accounting = played.arm.accounting;
            let what = format!("{product:?} {form}: {accounting:?} {:?}", played.arm.errors);
            assert_eq!((accounting.succeeded, accounting.failed), (16 * 46, 0), "{what}");
            // Two decks for each user, whatever was retried.
            let orders = played.succeeded("new-order") + played.succeeded("new-order-rolled-back");
            assert_eq!((orders, played.succeeded("payment"), played.succeeded("delivery")), (320, 320, 32), "{what}");
            assert!(played.succeeded("new-order-rolled-back") > 0, "{what}");
            played.assert_counted(&what);
            assert_eq!(broken(&server, &shape), [""; 0], "{what}");
        }
        // What no condition asks for.
        let orphans = "SELECT count(*) FROM order_line LEFT JOIN item ON i_id = ol_i_id WHERE i_id IS NULL";
        let sold = "SELECT sum(s_order_cnt), sum(s_ytd) FROM stock";
        let ordered = "SELECT count(*), sum(ol_quantity) FROM order_line WHERE ol_o_id > 3000";
        assert_eq!((server.number(orphans), server.ask(sold)), (0, server.ask(ordered)), "{product:?}");
    });
}
