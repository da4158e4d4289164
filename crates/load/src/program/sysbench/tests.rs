//! Every test's events as a session would send them.

use super::*;
use crate::program::Literals;
use crate::random::{Purpose, stream};
use rqps_suites::Suite;
use std::collections::BTreeMap;

const DATA: DataShape = DataShape { tables: 4, rows: 1000 };

/// One statement as sent.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Sent {
    kind: String,
    table: u32,
    values: Vec<String>,
    sql: String,
}

/// A client that sends to nobody.
struct Sender {
    program: Script,
    event: Event,
    random: Pcg64,
    at_start: Pcg64,
}

impl Sender {
    fn new(test: &str, client: u32) -> Sender {
        Sender::to(Protocol::Postgres, test, client)
    }

    fn to(protocol: Protocol, test: &str, client: u32) -> Sender {
        let program = Script::compile(Suite::sysbench().test(test).unwrap(), DATA, protocol).unwrap();
        let event = Event::new(client, &program);
        let random = stream(1, Purpose::Keys, u64::from(client), 0);
        Sender { program, event, at_start: random.clone(), random }
    }

    fn rest(&mut self) -> Vec<Sent> {
        let mut sent = Vec::new();
        while self.event.step() < self.program.steps() {
            let kind = self.program.kind(&self.event);
            let number = self.program.statement(&self.event);
            let mut literals = Literals::default();
            self.program.fill(&mut self.event, &mut self.random, &mut literals);
            let form = &self.program.statements()[number];
            let sql = if literals.sql.is_empty() { form.sql.clone() } else { literals.sql };
            assert_eq!(form.parameters.len(), literals.list.len());
            let table = sql
                .split_once("sbtest")
                .map_or(0, |(_, rest)| rest.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap());
            let kind = self.program.kind_names().nth(kind).unwrap().to_owned();
            sent.push(Sent { kind, table, values: literals.list, sql });
            self.event.advance();
        }
        sent
    }

    fn event(&mut self) -> Vec<Sent> {
        self.at_start = self.random.clone();
        self.program.begin(&mut self.event, &mut self.random);
        self.rest()
    }

    fn again(&mut self) -> Vec<Sent> {
        self.random = self.at_start.clone();
        self.program.begin(&mut self.event, &mut self.random);
        self.rest()
    }

    fn prepared_statements(&self) -> usize {
        self.program.statements().iter().filter(|form| form.capacity.is_none()).count()
    }
}

fn number(sent: &Sent, index: usize) -> i64 {
    sent.values[index].parse().unwrap()
}

#[test]
fn every_event_sends_its_statements_in_order() {
    let mut lines = String::new();
    for test in Suite::sysbench().tests {
        let sent = Sender::new(&test.name, 0).event();
        assert_eq!(sent.len(), test.statements_per_event());
        let mut counts: Vec<(String, usize)> = Vec::new();
        for statement in sent {
            match counts.last_mut() {
                Some((kind, count)) if *kind == statement.kind => *count += 1,
                _ => counts.push((statement.kind, 1)),
            }
        }
        let counts: Vec<String> = counts.iter().map(|(kind, count)| format!("{kind} x{count}")).collect();
        lines.push_str(&format!("{}: {}\n", test.name, counts.join(", ")));
    }
    expect_test::expect![[r#"
        point-query.pre: point-select x1
        random-points.pre_range=10: random-points x1
        random-points.pre_range=100: random-points x1
        random-points.pre_range=1000: random-points x1
        read-only.pre_range=10: begin x1, point-select x10, simple-range x1, sum-range x1, order-range x1, distinct-range x1, commit x1
        read-only.pre_range=100: begin x1, point-select x10, simple-range x1, sum-range x1, order-range x1, distinct-range x1, commit x1
        read-only.pre_range=10000: begin x1, point-select x10, simple-range x1, sum-range x1, order-range x1, distinct-range x1, commit x1
        points-covered-pk.pre: points-covered-pk x1
        points-notcovered-pk.pre: points-notcovered-pk x1
        points-covered-si.pre: points-covered-si x1
        points-notcovered-si.pre: points-notcovered-si x1
        range-covered-pk.pre: range-covered-pk x1
        range-notcovered-pk.pre: range-notcovered-pk x1
        range-covered-si.pre: range-covered-si x1
        range-notcovered-si.pre: range-notcovered-si x1
        update-inlist: update-inlist x1
        update-index: update-index x1
        update-nonindex: update-nonindex x1
        update-one: update-one x1
        update-zipf: update-zipf x1
        write-only: begin x1, update-index x1, update-nonindex x1, delete x1, insert-deleted x1, commit x1
        read-write_range=10: begin x1, point-select x10, simple-range x1, sum-range x1, order-range x1, distinct-range x1, update-index x1, update-nonindex x1, delete x1, insert-deleted x1, commit x1
        read-write_range=100: begin x1, point-select x10, simple-range x1, sum-range x1, order-range x1, distinct-range x1, update-index x1, update-nonindex x1, delete x1, insert-deleted x1, commit x1
        scan: scan x1
        read-only_range=10: begin x1, point-select x10, simple-range x1, sum-range x1, order-range x1, distinct-range x1, commit x1
        read-only_range=100: begin x1, point-select x10, simple-range x1, sum-range x1, order-range x1, distinct-range x1, commit x1
        read-only_range=10000: begin x1, point-select x10, simple-range x1, sum-range x1, order-range x1, distinct-range x1, commit x1
        read-only-simple: begin x1, point-select x10, simple-range x1, commit x1
        read-only-sum: begin x1, point-select x10, sum-range x1, commit x1
        read-only-order: begin x1, point-select x10, order-range x1, commit x1
        read-only-distinct: begin x1, point-select x10, distinct-range x1, commit x1
        read-only-count: count-range x1
        point-query: point-select x1
        random-points_range=10: random-points x1
        random-points_range=100: random-points x1
        random-points_range=1000: random-points x1
        hot-points: hot-points x1
        points-covered-pk: points-covered-pk x1
        points-notcovered-pk: points-notcovered-pk x1
        range-covered-pk: range-covered-pk x1
        range-notcovered-pk: range-notcovered-pk x1
        points-covered-si: points-covered-si x1
        points-notcovered-si: points-notcovered-si x1
        range-covered-si: range-covered-si x1
        range-notcovered-si: range-notcovered-si x1
        delete: delete x1
        insert: insert x1
    "#]].assert_eq(&lines);
}

#[test]
fn every_protocol_is_sent_the_same_values_for_the_same_tables() {
    for test in Suite::sysbench().tests {
        let senders = [Protocol::Postgres, Protocol::Mysql].map(|protocol| Sender::to(protocol, &test.name, 1));
        let [mut postgres, mut mysql] = senders;
        for _ in 0..5 {
            for (one, other) in postgres.event().iter().zip(mysql.event()) {
                let same = |sent: &Sent| (sent.kind.clone(), sent.table, sent.values.clone());
                assert_eq!(same(one), same(&other), "{}", test.name);
                assert_eq!(other.sql.matches('?').count(), other.values.len(), "{}", other.sql);
                assert!(!other.sql.contains('$'), "{}", other.sql);
                let forced = test.kinds.iter().any(|kind| kind.kind == other.kind && kind.mysql.is_some());
                assert_eq!(forced, test.name == "insert");
                if forced {
                    let (_, values) = one.sql.split_once("VALUES (").unwrap();
                    assert!(other.sql.ends_with(&format!("(id, k, c, pad) VALUES (0, {values}")), "{}", other.sql);
                } else if one.values.is_empty() {
                    assert_eq!(one.sql, other.sql);
                }
            }
        }
    }
    let list = Sender::to(Protocol::Mysql, "update-inlist", 0).event().remove(0);
    assert!(list.sql.ends_with(" SET c=? WHERE id IN (?,?,?,?,?,?,?,?,?,?)"), "{}", list.sql);
}

#[test]
fn mysql_gets_begin_as_text_and_commit_prepared() {
    let sender = Sender::to(Protocol::Mysql, "write-only", 0);
    let as_text: Vec<&str> =
        sender.program.statements().iter().filter(|f| f.capacity.is_some()).map(|f| f.sql.as_str()).collect();
    assert_eq!(as_text, ["BEGIN", "ROLLBACK"]);
    assert_eq!(sender.prepared_statements(), 4 * 4 + 1);
    assert_eq!(Sender::new("write-only", 0).prepared_statements(), 4 * 4 + 3);
}

#[test]
fn parameters_are_what_the_words_say() {
    let first = |test: &str| Sender::new(test, 0).event().remove(0);
    let range = first("range-covered-pk");
    assert_eq!(number(&range, 1) - number(&range, 0), 100);
    let count = first("read-only-count");
    assert_eq!(number(&count, 1) - number(&count, 0), 999);
    assert_eq!(first("random-points_range=1000").values.len(), 1000);
    assert!((1..=1000).contains(&number(&first("point-query"), 0)));
    let hot = first("hot-points");
    assert_eq!((hot.values.len(), number(&hot, 0), number(&hot, 99)), (100, 501, 600));
    let one = first("update-one");
    assert_eq!((one.values[0].len(), number(&one, 1)), (C_BYTES + 2, 1));
    let list = first("update-inlist");
    assert_eq!(list.values.len(), 11);
    assert!(list.sql.ends_with("IN ($2,$3,$4,$5,$6,$7,$8,$9,$10,$11)"), "{}", list.sql);
    let insert = first("insert");
    assert!(insert.values.is_empty());
    let (_, values) = insert.sql.split_once(" (k, c, pad) VALUES (").unwrap();
    let values: Vec<&str> = values.trim_end_matches(')').split(", ").collect();
    assert!((1..=1000).contains(&values[0].parse::<i64>().unwrap()));
    assert_eq!((values[1].len(), values[2].len()), (C_BYTES + 2, PAD_BYTES + 2));
}

#[test]
fn a_deleted_row_is_inserted_again_into_its_table() {
    let mut sender = Sender::new("read-write_range=10", 0);
    for _ in 0..50 {
        let sent = sender.event();
        let delete = sent.iter().find(|statement| statement.kind == "delete").unwrap();
        let insert = sent.iter().find(|statement| statement.kind == "insert-deleted").unwrap();
        assert_eq!((delete.table, &delete.values[0]), (insert.table, &insert.values[0]));
        assert_ne!(insert.values[0], insert.values[1], "k is drawn anew");
    }
}

#[test]
fn each_kind_draws_one_table_for_an_event() {
    let mut sender = Sender::new("read-only_range=10", 0);
    let mut seen: BTreeMap<(String, u32), u32> = BTreeMap::new();
    let mut differs = false;
    for _ in 0..400 {
        let sent = sender.event();
        let points: Vec<&Sent> = sent.iter().filter(|statement| statement.kind == "point-select").collect();
        assert!(points.iter().all(|statement| statement.table == points[0].table));
        assert!(points.windows(2).any(|pair| pair[0].values != pair[1].values));
        differs |= sent.iter().any(|statement| statement.table > 0 && statement.table != points[0].table);
        for statement in sent {
            *seen.entry((statement.kind, statement.table)).or_default() += 1;
        }
    }
    assert!(differs);
    for ((kind, table), count) in &seen {
        let expected = if kind == "point-select" { 1000 } else { 100 };
        // Five standard deviations of 400 draws of one in four are 43.
        assert!(*table == 0 || count.abs_diff(expected) <= expected * 43 / 100, "{kind} {table}: {count}");
    }
}

#[test]
fn scans_stay_with_their_table() {
    for client in 0..6 {
        let mut sender = Sender::new("scan", client);
        for _ in 0..3 {
            assert_eq!(sender.event()[0].table, client % 4 + 1);
        }
    }
}

#[test]
fn an_event_tried_again_is_the_same() {
    for test in ["read-write_range=10", "update-zipf", "insert", "random-points_range=100"] {
        let mut sender = Sender::new(test, 1);
        let first = sender.event();
        let second = sender.event();
        assert_ne!(first, second, "{test}");
        // Broken off in the middle, then again from the start.
        assert_eq!(sender.again(), second, "{test}");
        let third = sender.event();
        assert_ne!(third, second, "{test}");
        // Trying again changes nothing for what follows.
        let mut other = Sender::new(test, 1);
        other.event();
        other.event();
        assert_eq!(other.event(), third, "{test}");
    }
}

#[test]
fn the_same_seed_gives_the_same_keys_and_clients_differ() {
    assert_eq!(Sender::new("point-query", 3).event(), Sender::new("point-query", 3).event());
    assert_ne!(Sender::new("point-query", 3).event(), Sender::new("point-query", 4).event());
    let mut sender = Sender::new("point-query", 0);
    let keys: Vec<String> =
        (0..8).map(|_| sender.event().remove(0)).map(|s| format!("{}:{}", s.table, s.values[0])).collect();
    expect_test::expect!["1:921 4:944 1:52 4:272 1:278 1:571 1:220 4:243"].assert_eq(&keys.join(" "));
}

#[test]
fn data_that_cannot_be_addressed_is_refused() {
    let suite = Suite::sysbench();
    let test = suite.test("range-covered-pk").unwrap();
    for (tables, rows) in [(0, 1), (1, 0), (1, i32::MAX as u64)] {
        assert!(Script::compile(test, DataShape { tables, rows }, Protocol::Postgres).is_err());
    }
    assert!(Script::compile(test, DataShape { tables: 1, rows: 2_000_000_000 }, Protocol::Mysql).is_ok());
}
