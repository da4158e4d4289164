//! What each form sends for each type of transaction: statements counted against a server that is not there.
//!
//! In: answers as a script. Out: the statements' kinds and SQL. That the transactions are right, real servers show
//! (tests/live/tproc_c.rs).

use super::*;
use crate::program::{Cue, Ended, Outcome, Parameters, Program, Step, Turn};
use crate::random::{Pcg64, Purpose, stream};
use rqps_model::Engine;
use rqps_model::tproc_c::{Check, Form, Isolation, Profile, Quirk};
use rqps_wire::{AnyValue, Rows, Transport};
use std::collections::{BTreeMap, BTreeSet};

/// What was set, by slot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Set(BTreeMap<usize, String>);

impl Parameters for Set {
    fn set_i32(&mut self, slot: usize, value: i32) {
        self.0.insert(slot, value.to_string());
    }
    fn set_i64(&mut self, slot: usize, value: i64) {
        self.0.insert(slot, value.to_string());
    }
    fn set_text(&mut self, slot: usize, value: &[u8]) {
        self.0.insert(slot, String::from_utf8_lossy(value).trim_end().to_owned());
    }
    fn set_sql(&mut self, sql: &[u8]) {
        self.0.insert(0, String::from_utf8_lossy(sql).into_owned());
    }
    fn set_any<'v>(&mut self, _: impl Fn(usize) -> AnyValue<'v>) {}
}

/// A statement as sent: its kind and what was filled in.
type Sent = (String, Set);

fn shape(profile: Profile, engine: Engine, form: Form) -> TprocC {
    let quirks: BTreeSet<Quirk> = match profile {
        Profile::Tpcc => BTreeSet::new(),
        Profile::Hammerdb => Quirk::ALL.into(),
    };
    TprocC {
        profile,
        warehouses: vec![2],
        forms: BTreeMap::from([(engine, form)]),
        quirks,
        partitioned: false,
        isolation: Isolation::ServerDefault,
        all_warehouses: false,
        keying_and_thinking: false,
        check: Check::Quick,
    }
}

fn endpoint(engine: Engine) -> Endpoint {
    Endpoint {
        engine,
        transport: Transport::Unix { path: "nowhere".into() },
        user: "u".into(),
        password: None,
        database: "d".into(),
        options: Vec::new(),
    }
}

fn compile(shape: &TprocC, engine: Engine) -> Transactions {
    Transactions::compile(shape, 2, 4, &[endpoint(engine)]).unwrap()
}

/// What a server answers.
fn answer(kind: &str, sent: &Set) -> Rows {
    let text = Some("x");
    match kind {
        "select-tax-and-discount" => Rows::of(&[&[Some("0.2000"), text, text, Some("0.0500")]]),
        "select-next-order" | "select-order-count" => Rows::of(&[&[Some("3001"), Some("0.1000")]]),
        "select-item" if sent.0[&0] == "100001" => Rows::default(),
        "select-item" => Rows::of(&[&[Some("12.34"), text, text]]),
        "select-stock" => Rows::of(&[&[
            Some("20"),
            text,
            Some("d1"),
            Some("d2"),
            Some("d3"),
            Some("d4"),
            Some("d5"),
            Some("d6"),
            Some("d7"),
            Some("d8"),
            Some("d9"),
            Some("d10"),
        ]]),
        "select-warehouse" => Rows::of(&[&[Some("Here")]]),
        "select-district" => Rows::of(&[&[Some("There")]]),
        "select-customers-by-name" => Rows::of(&[&[Some("11")], &[Some("12")], &[Some("13")], &[Some("14")]]),
        "select-customer" if sent.0[&2].ends_with('7') => Rows::of(&[&[Some("-10.00"), Some("BC"), Some("old")]]),
        "select-customer" => Rows::of(&[&[Some("-10.00"), Some("GC"), Some("old")]]),
        "select-last-order" => Rows::of(&[&[Some("7"), None, text]]),
        "select-oldest-new-order" if sent.0[&1] == "4" => Rows::default(),
        "select-oldest-new-order" => Rows::of(&[&[Some("2101")]]),
        "select-customer-of-order" => Rows::of(&[&[Some("9")]]),
        "select-amount" => Rows::of(&[&[Some("100.5")]]),
        "call" | "results" => Rows::of(&[&[Some("10")]]),
        _ => Rows::default(),
    }
}

/// Plays a transaction: the kind of its event, and what was sent.
fn play(
    transactions: &Transactions,
    session: &mut Session<'_>,
    random: &mut Pcg64,
    cue: Cue<'_>,
) -> (String, Vec<Sent>) {
    let kinds = transactions.kinds();
    let mut statements = vec![Set::default(); session.statements().len()];
    let mut sent = Vec::new();
    let mut step = session.next(cue, random, &mut statements);
    while let Step::Send { statement, kind } = step {
        sent.push((kinds[kind].clone(), statements[statement].clone()));
        let rows = answer(&kinds[kind], &statements[statement]);
        step = session.next(Cue::Answer(&rows), random, &mut statements);
    }
    (transactions.events()[session.event()].clone(), sent)
}

fn ended(outcome: Outcome, at_ns: u64) -> Ended<'static> {
    Ended { outcome, at_ns, took_ns: 1, from_plan_ns: None, rows: 0, reason: "" }
}

/// Kinds in a row, with how often each comes.
fn told(sent: &[Sent]) -> String {
    let kinds: Vec<&str> = sent.iter().map(|(kind, _)| kind.as_str()).collect();
    kinds.join(" ")
}

/// The first transaction of each kind of event that a session plays.
fn firsts(transactions: &Transactions) -> BTreeMap<String, Vec<Sent>> {
    let mut session = transactions.program(0, 1, 0);
    let mut random = stream(1, Purpose::Keys, 1, 0);
    let mut firsts = BTreeMap::new();
    for _ in 0..2000 {
        let (event, sent) = play(transactions, &mut session, &mut random, Cue::Begin);
        session.ended(&ended(Outcome::Succeeded, 1));
        firsts.entry(event).or_insert(sent);
    }
    firsts
}

#[test]
fn clients_send_the_same_statements_to_every_engine() {
    let [postgres, mysql] = [Engine::Postgres, Engine::Mysql]
        .map(|engine| firsts(&compile(&shape(Profile::Tpcc, engine, Form::ClientSql), engine)));
    assert_eq!(postgres, mysql);
    let lines = |event: &str| postgres[event].iter().filter(|(kind, _)| kind == "insert-line").count();
    assert!((5..=15).contains(&lines("new-order")));
    assert_eq!(postgres["new-order"].len(), 7 + 4 * lines("new-order"));
    assert_eq!(postgres["new-order-rolled-back"].len(), 7 + 4 * lines("new-order-rolled-back") + 1);
    assert_eq!(postgres["new-order-rolled-back"].last().unwrap().0, "rollback");
    // Nine districts have an order, one has none.
    assert_eq!(postgres["delivery"].len(), 2 + 9 * 7 + 1);
    let sent = |event: &str| told(&postgres[event]);
    let by_number = "select-customer update-customer insert-history commit";
    let payment = format!("begin update-warehouse select-warehouse update-district select-district {by_number}");
    assert_eq!(sent("payment"), payment);
    assert_eq!(sent("order-status"), "begin select-customers-by-name select-last-order select-lines commit");
    assert_eq!(sent("stock-level"), "begin select-order-count select-low-stock commit");
}

#[test]
fn values_of_answers_feed_the_statements_behind_them() {
    let firsts = firsts(&compile(&shape(Profile::Tpcc, Engine::Postgres, Form::ClientSql), Engine::Postgres));
    let find = |event: &str, kind: &str| {
        let sent = firsts[event].iter().find(|(sent, _)| sent == kind).unwrap();
        sent.1.0.values().cloned().collect::<Vec<_>>()
    };
    let order = find("new-order", "insert-order");
    assert_eq!(order[0], "3001");
    let line = find("new-order", "insert-line");
    let quantity: i64 = line[6].parse().unwrap();
    assert_eq!((&line[0], &line[3]), (&"3001".to_owned(), &"1".to_owned()));
    assert_eq!((line[7].parse::<i64>().unwrap(), &line[8]), (1234 * quantity, &format!("d{}", line[1])));
    assert_eq!(line.len(), 9);
    let stock = find("new-order", "update-stock");
    let left = 20 - quantity;
    assert_eq!(stock[0].parse::<i64>().unwrap(), if left >= 10 { left } else { left + 91 });
    let history = find("payment", "insert-history");
    assert_eq!(history[6], "Here    There");
    let paid = find("payment", "update-customer");
    assert_eq!(paid[0].parse::<i64>().unwrap(), -1000 - paid[1].parse::<i64>().unwrap());
    assert_eq!(find("delivery", "update-balance")[0], "10050");
}

#[test]
fn taxes_of_warehouse_and_district_come_with_an_amount_that_has_them() {
    let mut shape = shape(Profile::Tpcc, Engine::Mysql, Form::ClientSql);
    shape.quirks = [Quirk::TaxedAmounts].into();
    let firsts = firsts(&compile(&shape, Engine::Mysql));
    let (_, line) = firsts["new-order"].iter().find(|(kind, _)| kind == "insert-line").unwrap();
    assert_eq!((line.0[&8].as_str(), line.0[&9].as_str()), ("1500", "2000"));
}

#[test]
fn lines_are_sorted_and_an_invalid_one_is_the_last() {
    let firsts = firsts(&compile(&shape(Profile::Tpcc, Engine::Mysql, Form::ClientSql), Engine::Mysql));
    let stock: Vec<[u32; 2]> = firsts["new-order"]
        .iter()
        .filter(|(kind, _)| kind == "select-stock")
        .map(|(_, set)| [&set.0[&1], &set.0[&0]].map(|number| number.parse().unwrap()))
        .collect();
    assert!(stock.len() >= 5 && stock.is_sorted(), "{stock:?}");
    let mut items = firsts["new-order-rolled-back"].iter().filter(|(kind, _)| kind == "select-item");
    assert_eq!(items.next_back().unwrap().1.0[&0], "100001");
}

#[test]
fn an_event_tried_again_is_the_same() {
    let transactions = compile(&shape(Profile::Tpcc, Engine::Postgres, Form::ClientSql), Engine::Postgres);
    let mut session = transactions.program(0, 0, 0);
    let mut random = stream(1, Purpose::Keys, 1, 0);
    for _ in 0..60 {
        let at_start = random.clone();
        let first = play(&transactions, &mut session, &mut random, Cue::Begin);
        let behind = random.clone();
        random = at_start;
        assert_eq!(play(&transactions, &mut session, &mut random, Cue::Again), first);
        assert_eq!(random, behind);
    }
}

#[test]
fn routines_take_the_round_trips_that_their_form_is_known_for() {
    let forms = [
        (Engine::Postgres, Form::Function),
        (Engine::Postgres, Form::Procedure),
        (Engine::Mysql, Form::Call),
        (Engine::Mariadb, Form::PreparedCall),
    ];
    let mut lines = String::new();
    for (engine, form) in forms {
        let [tpcc, hammerdb] = Profile::ALL.map(|profile| {
            let sent = firsts(&compile(&shape(profile, engine, form), engine));
            Transaction::ALL.map(|transaction| told(&sent[transaction.name()]))
        });
        assert_eq!(tpcc, hammerdb);
        lines.push_str(&format!("{form}: {}\n", tpcc.join(", ")));
    }
    expect_test::expect![[r#"
        function: call, call, call, call, call
        procedure: call, call, call, call, call
        call: set call results, set call results, call results, set call results, call results
        prepared-call: set call results, set call results, set call results, set call results, set call results
    "#]]
    .assert_eq(&lines);
}

#[test]
fn quirks_change_what_is_sent() {
    let sql = |quirks: &[Quirk], engine, form| {
        let mut shape = shape(Profile::Tpcc, engine, form);
        shape.quirks = quirks.iter().copied().collect();
        let transactions = compile(&shape, engine);
        let forms = transactions.program(0, 0, 0).statements().to_vec();
        forms.into_iter().map(|form| form.sql).collect::<Vec<_>>().join("\n")
    };
    let usual = sql(&[], Engine::Mysql, Form::ClientSql);
    for (quirk, gone) in [
        (Quirk::UnlockedReads, "s_w_id = ?\nFOR UPDATE"),
        (Quirk::MissingCounters, "c_payment_cnt"),
        (Quirk::UncheckedDelivery, "ORDER BY no_o_id"),
    ] {
        assert!(usual.contains(gone) && !sql(&[quirk], Engine::Mysql, Form::ClientSql).contains(gone), "{quirk}");
    }
    let taxed = "? * 0.01\n* (1 + ? * 0.0001) * (1 - ? * 0.0001)";
    assert!(!usual.contains(taxed) && sql(&[Quirk::TaxedAmounts], Engine::Mysql, Form::ClientSql).contains(taxed));
    let literal = sql(&[Quirk::LiteralLastName], Engine::Postgres, Form::Function);
    assert!(literal.contains("$6, '$7', $7)"), "{literal}");
    // It is none of MySQL's quirks.
    assert_eq!(sql(&[Quirk::LiteralLastName], Engine::Mysql, Form::Call), sql(&[], Engine::Mysql, Form::Call));
}

#[test]
fn users_with_pauses_begin_when_they_have_keyed() {
    let mut shape = shape(Profile::Tpcc, Engine::Postgres, Form::ClientSql);
    shape.keying_and_thinking = true;
    let transactions = compile(&shape, Engine::Postgres);
    let mut session = transactions.program(0, 2, 0);
    let mut random = stream(1, Purpose::Keys, 1, 0);
    session.started(1000);
    assert_eq!(session.turn(1000), Turn::NotBefore(1000 + 10_500_000_000));
    for _ in 0..40 {
        play(&transactions, &mut session, &mut random, Cue::Begin);
        session.ended(&ended(Outcome::Succeeded, 1_000_000_000));
        let Turn::NotBefore(due_ns) = session.turn(0) else { panic!("no pause") };
        // Keying alone takes two seconds.
        assert!(due_ns >= 3_000_000_000, "{due_ns}");
    }
}

#[test]
fn what_was_acknowledged_is_counted_and_what_was_lost_is_not_known() {
    let transactions = compile(&shape(Profile::Tpcc, Engine::Postgres, Form::ClientSql), Engine::Postgres);
    let mut session = transactions.program(0, 0, 0);
    let mut random = stream(1, Purpose::Keys, 1, 0);
    for _ in 0..23 {
        play(&transactions, &mut session, &mut random, Cue::Begin);
        session.ended(&ended(Outcome::Succeeded, 1));
    }
    let counted = transactions.acknowledged(0);
    assert_eq!((counted.new_orders + counted.rolled_back, counted.payments, counted.delivered), (10, 10, 9));
    for _ in 0..23 {
        play(&transactions, &mut session, &mut random, Cue::Begin);
        session.ended(&ended(Outcome::Lost, 1));
    }
    let unknown = Acknowledged { unknown_new_orders: 10, unknown_payments: 10, unknown_deliveries: 1, ..counted };
    assert_eq!(transactions.acknowledged(0), unknown);
}

#[test]
fn what_cannot_be_run_is_refused() {
    let sound = shape(Profile::Tpcc, Engine::Postgres, Form::ClientSql);
    let arms = [endpoint(Engine::Postgres)];
    assert!(Transactions::compile(&sound, 0, 1, &arms).is_err());
    assert!(Transactions::compile(&sound, 1_000_000, 1, &arms).is_err());
    assert!(Transactions::compile(&sound, 1, 0, &arms).is_err());
    assert!(Transactions::compile(&sound, 1, 1, &[endpoint(Engine::Mysql)]).is_err());
    let foreign = shape(Profile::Tpcc, Engine::Postgres, Form::Call);
    assert!(Transactions::compile(&foreign, 1, 1, &arms).is_err());
}

#[test]
fn users_are_spread_over_warehouses_unless_they_draw_their_own() {
    let homes = |quirks: &[Quirk]| {
        let mut shape = shape(Profile::Tpcc, Engine::Postgres, Form::ClientSql);
        shape.quirks = quirks.iter().copied().collect();
        let transactions = Transactions::compile(&shape, 8, 8, &[endpoint(Engine::Postgres)]).unwrap();
        let home = |client| {
            let mut session = transactions.program(0, client, 0);
            let mut random = stream(1, Purpose::Keys, client.into(), 0);
            let of = |sent: Vec<Sent>| sent.into_iter().find(|(kind, _)| kind == "update-warehouse");
            let mut play = || of(play(&transactions, &mut session, &mut random, Cue::Begin).1);
            let homes: BTreeSet<String> = (0..60).filter_map(|_| play()).map(|(_, set)| set.0[&1].clone()).collect();
            assert_eq!(homes.len(), 1, "a user keeps its home");
            homes.into_iter().next().unwrap()
        };
        (0..8).map(home).collect::<BTreeSet<_>>().len()
    };
    assert_eq!(homes(&[]), 8);
    assert!((2..8).contains(&homes(&[Quirk::DrawnHome])));
}
