//! Real servers are asked what their sessions do: one waits for another's row, the others for their clients.

use crate::server::start;
use rqps_model::StorageEngine;
use rqps_model::waits::{Doing, Found, WaitFacts, Who};
use rqps_observe::WaitSampler;
use rqps_testkit::{LiveServer, PATIENCE};
use rqps_wire::{Protocol, Session};
use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

/// How many sessions now wait for a row.
fn waiting_for_row(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Postgres => "select count(*) from pg_catalog.pg_locks where not granted",
        Protocol::Mysql => "select count(*) from information_schema.innodb_trx where trx_state = 'LOCK WAIT'",
    }
}

fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

fn until(what: &str, mut is_met: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_met() {
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        // InnoDB tells of its transactions anew only when it was left alone for a while.
        std::thread::sleep(Duration::from_millis(120));
    }
}

/// A server with a row in a table.
fn with_row(spec: &str, storage: Option<StorageEngine>) -> LiveServer {
    let server = start(spec, storage);
    let mut session = server.session();
    session.execute("create table t (id int primary key, n int)").expect("created");
    session.execute("insert into t values (1, 0)").expect("inserted");
    // Closed, it is gone before others are counted.
    session.close();
    server
}

/// Asks a server at 20 moments while a session waits for a row that another one holds, and once more after its slice.
fn asked(server: &LiveServer) -> WaitFacts {
    let protocol = server.endpoint().protocol();
    let connect = || Session::connect(&server.endpoint(), PATIENCE).expect("connected");
    let (mut holder, mut waiter, mut watcher) = (connect(), connect(), connect());
    holder.execute("begin").expect("begun");
    holder.execute("update t set n = 1 where id = 1").expect("updated");
    let waiter = std::thread::spawn(move || waiter.execute("update t set n = 2 where id = 1").expect("updated"));
    until("a session that waits for a row", || {
        watcher.query(waiting_for_row(protocol)).expect("told").single() == Some("1")
    });
    let sampler = WaitSampler::start(connect(), protocol).expect("it can be asked");
    assert_eq!(sampler.moments(), 0, "before its slice a server is left alone");
    // What was asked before counted time is told apart.
    sampler.enter();
    until("a moment", || sampler.moments() > 0);
    let from = monotonic_ns();
    let before = sampler.moments();
    until("moments", || sampler.moments() >= before + 20);
    let counted = from..monotonic_ns();
    sampler.leave();
    holder.execute("commit").expect("committed");
    assert_eq!(waiter.join().expect("it waited"), 1);
    let (facts, failure) = sampler.end(std::slice::from_ref(&counted));
    assert_eq!(failure, None);
    assert!(facts.uncounted >= 1 && facts.moments >= 19, "{facts:?}");
    assert_eq!(facts.counted_ns, counted.end - counted.start);
    facts
}

fn check(spec: &str, storage: Option<StorageEngine>, lock: &str) {
    let facts = asked(&with_row(spec, storage));
    let of = |doing| {
        let of_sessions = facts.found.iter().filter(move |found| found.who == Who::Session && found.doing == doing);
        of_sessions.collect::<Vec<&Found>>()
    };
    let waits: Vec<(&str, u64)> = of(Doing::Waiting).iter().map(|found| (found.what.as_str(), found.count)).collect();
    assert_eq!(waits, [(lock, facts.moments)], "{spec}: {facts:#?}");
    let idle: u64 = of(Doing::Idle).iter().map(|found| found.count).sum();
    assert_eq!(idle, 2 * facts.moments, "{spec}: the one that holds the row and the watcher, {facts:#?}");
    assert_eq!(of(Doing::Working), [] as [&Found; 0], "{spec}: the session that asks is none of them");
}

#[test]
fn a_session_of_postgres_waits_for_a_row() {
    check("postgres:17.11", None, "Lock/transactionid");
}

#[test]
fn sessions_of_mysql_and_mariadb_wait_for_a_row() {
    check("mysql:8.0.15", Some(StorageEngine::Innodb), "Lock/row");
    check("mariadb:10.11.18", Some(StorageEngine::Innodb), "Lock/row");
}

#[test]
#[ignore = "these builds are 2 GB"]
fn sessions_of_every_other_release_wait_for_a_row() {
    for version in ["12.22", "13.23", "14.24", "15.19", "16.15", "18.6"] {
        check(&format!("postgres:{version}"), None, "Lock/transactionid");
    }
    for version in ["5.6.14", "5.7.22", "8.0.33"] {
        check(&format!("mysql:{version}"), Some(StorageEngine::Innodb), "Lock/row");
    }
    for version in ["10.2.11", "10.5.23", "11.4.5", "11.8.6"] {
        check(&format!("mariadb:{version}"), Some(StorageEngine::Innodb), "Lock/row");
    }
}

#[test]
fn a_server_that_is_gone_fails_nothing() {
    let server = with_row("postgres:17.11", None);
    let sampler = WaitSampler::start(server.session(), Protocol::Postgres).expect("it can be asked");
    sampler.enter();
    until("a moment", || sampler.moments() > 0);
    server.kill_all();
    let mut last = u64::MAX;
    until("the last moment", || std::mem::replace(&mut last, sampler.moments()) == sampler.moments());
    let (facts, failure) = sampler.end(std::slice::from_ref(&(0..u64::MAX)));
    assert!(failure.is_some() && facts.moments > 0, "{failure:?} {facts:?}");
}
