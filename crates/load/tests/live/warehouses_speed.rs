//! How fast warehouses are loaded, beside the server's own bulk load of the same rows from files; and how long checks
//! take. It measures, so it runs alone and when it is asked for.

use crate::servers::{ENGINES, Product};
use rqps_load::warehouses::{check, load};
use rqps_model::tproc_c::{Check, Warehouses};
use rqps_testkit::{LiveServer, PATIENCE};
use rqps_wire::Session;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Tables and whether they have a key and a second index, those that take long first.
const TABLES: [(&str, bool, bool); 9] = [
    ("stock", true, false),
    ("order_line", true, false),
    ("customer", true, true),
    ("orders", true, true),
    ("history", false, false),
    ("new_order", true, false),
    ("item", true, false),
    ("district", true, false),
    ("warehouse", true, false),
];

const WAREHOUSES: u32 = 10;
const THREADS: usize = 2;
const ROUNDS: usize = 3;

/// Loading takes at most so many times as long as the server's own.
const RATIO_MAX: f64 = 1.3;

fn execute(session: &mut Session, sql: &str) {
    session.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
}

/// Writes every table to a file of the server.
fn export(server: &LiveServer, product: Product) {
    let mut session = server.session();
    for (table, ..) in TABLES {
        let file = server.data_dir().join(format!("{table}.rows"));
        let file = file.display();
        execute(
            &mut session,
            &product
                .either(format!("COPY {table} TO '{file}'"), format!("SELECT * INTO OUTFILE '{file}' FROM {table}")),
        );
    }
}

/// The server's own load of those files, into the tables as they are when rqps fills them, and its seconds.
fn load_own(server: &LiveServer, product: Product) -> f64 {
    let mut session = server.session();
    for (table, has_key, has_index) in TABLES {
        if has_key {
            let drop = product.either(format!("ALTER TABLE {table} DROP CONSTRAINT {table}_i1"), "DO 0".to_owned());
            execute(&mut session, &drop);
        }
        if has_index {
            let drop =
                product.either(format!("DROP INDEX {table}_i2"), format!("ALTER TABLE {table} DROP INDEX {table}_i2"));
            execute(&mut session, &drop);
        }
    }
    let next = AtomicUsize::new(0);
    let begun = Instant::now();
    let work = || {
        let mut session = Session::connect(&server.endpoint(), PATIENCE).unwrap();
        if product != Product::Postgres {
            execute(&mut session, "SET sql_log_bin = 0, unique_checks = 0, foreign_key_checks = 0");
        }
        while let Some((table, ..)) = TABLES.get(next.fetch_add(1, Ordering::Relaxed)) {
            let file = server.data_dir().join(format!("{table}.rows"));
            let file = file.display();
            match product {
                Product::Postgres => execute(
                    &mut session,
                    &format!("BEGIN; TRUNCATE {table}; COPY {table} FROM '{file}' (FREEZE); COMMIT"),
                ),
                _ => {
                    execute(&mut session, &format!("TRUNCATE TABLE {table}"));
                    execute(
                        &mut session,
                        &format!("LOAD DATA INFILE '{file}' INTO TABLE {table} CHARACTER SET latin1"),
                    );
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(work);
        }
    });
    begun.elapsed().as_secs_f64()
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[test]
#[ignore = "measures for minutes: run it alone, with --release and --nocapture"]
fn warehouses_load_nearly_as_fast_as_own_bulk_load() {
    let data = Warehouses { warehouses: WAREHOUSES, partitions: 1, quirks: BTreeSet::new() };
    for product in ENGINES {
        let wanted = product.wanted();
        let wanted = product.either(
            wanted.clone().with("shared_buffers=512MB").with("max_wal_size=8GB"),
            wanted.with("secure-file-priv=").with("innodb-buffer-pool-size=512M").with("innodb-log-file-size=512M"),
        );
        let server = LiveServer::start(&wanted);
        let (mut ours, mut own) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            let report = load(&server.target(), &data, 7, THREADS).unwrap();
            println!("{product:?} {report:?}");
            ours.push(report.load_seconds - report.index_seconds);
            if round == 0 {
                export(&server, product);
                for how in Check::ALL {
                    let begun = Instant::now();
                    let broken = check(&server.target(), &data, &BTreeSet::new(), how, 7).unwrap();
                    println!("{product:?} {how} check: {:.2} s, {broken:?}", begun.elapsed().as_secs_f64());
                }
            }
            own.push(load_own(&server, product));
        }
        println!("{product:?} filled in {ours:.2?} s; the server's own load of the same rows from files {own:.2?} s");
        let ratio = median(&mut ours) / median(&mut own);
        println!("{product:?} ratio of medians {ratio:.3}");
        assert!(ratio <= RATIO_MAX, "{product:?}: {ratio}");
    }
}
