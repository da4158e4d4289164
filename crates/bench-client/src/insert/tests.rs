//! The Python inserter on real servers: it inserts as many rows by as many statements as it says, with values drawn as
//! rqps draws them. That rqps does the same is tested where whole runs of the binary are.

use super::*;
use clap::Parser;
use rqps_model::Engine;

/// A last statement of half a batch is one, too.
const ROWS: u64 = 20_050;

fn check(build: &str, driver: &str) {
    let args = Args::parse_from(["rqps-bench-client", "--rows=100", "--build", build]);
    let cpus = rqps_server::placement::available().expect("the kernel reports them");
    let server = TestServer::start(&args, cpus).expect("a server");
    let engine = server.place.engine;
    let inserter = Inserter::find(engine, server.folder()).expect("written");
    let inserter = inserter.unwrap_or_else(|| panic!("{} (scripts/needs does)", kind(engine).how_to_install));
    assert_eq!(inserter.name, driver);
    let place = Place { rows: ROWS, ..server.place.clone() };
    let client = Client::Python(inserter);
    for _ in 0..2 {
        let result = insert(&server, &place, &client).expect("rows and statements are as they should be");
        assert!(result.cpu_s > 0.0 && result.cpu_s <= result.seconds && result.peak_kb > 0, "{result:?}");
    }
    let ask = |what: &str| -> u64 {
        let sql = format!("SELECT {what} FROM pi1");
        number(&server, &sql, 0).expect(what)
    };
    let uniform = [("cashregisterid", 1000), ("customerid", 100_000), ("productid", 10_000), ("price", 500)];
    for (column, values) in uniform {
        let (least, most) = (ask(&format!("min({column})")), ask(&format!("max({column})")));
        // With so many rows the extremes of a uniform distribution are within a hundredth of its ends.
        assert!(least < values / 100 && most < values && most >= values - values / 100, "{column}: {least} {most}");
    }
    assert_eq!((ask("min(length(data))"), ask("max(length(data))")), (10, 20));
    let half = if engine == Engine::Postgres { "length(data) / 2" } else { "length(data) DIV 2" };
    let half_filler = format!("sum(CASE WHEN left(data, {half}) = left('aaaaaaaaaa', {half}) THEN 1 ELSE 0 END)");
    assert_eq!(ask(&half_filler), ROWS);
    assert!(ask("count(DISTINCT data)") > ROWS * 9 / 10, "the other half is drawn");
    assert!(ask("count(DISTINCT dateandtime)") <= ROWS.div_ceil(BATCH));
}

#[test]
fn it_does_what_it_says_on_postgres() {
    check("postgres:/usr/lib/postgresql/15", "psycopg2");
}

#[test]
fn it_does_what_it_says_on_mysql() {
    check("mysql:8.0.15", "mysqlclient");
}
