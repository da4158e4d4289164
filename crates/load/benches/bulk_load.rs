//! How fast ten warehouses are loaded, beside the server's own bulk load of the same rows from files, in turn; and how
//! long checks take. `cargo bench -p rqps-load --bench bulk_load`, with nothing else running.

#![allow(clippy::print_stdout)]

use rqps_load::warehouses::{check, load};
use rqps_model::tproc_c::{Check, Warehouses};
use rqps_testkit::{LiveServer, PATIENCE, Wanted};
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Product {
    Postgres,
    Mysql,
    Mariadb,
}

impl Product {
    const ALL: [Product; 3] = [Product::Postgres, Product::Mysql, Product::Mariadb];

    fn either<T>(self, postgres: T, mysql: T) -> T {
        if self == Product::Postgres { postgres } else { mysql }
    }

    fn start(self) -> LiveServer {
        let wanted = match self {
            Product::Postgres => Wanted::postgres(),
            Product::Mysql => Wanted::mysql(),
            Product::Mariadb => Wanted::mariadb(),
        };
        LiveServer::start(&self.either(
            wanted.clone().with("shared_buffers=512MB").with("max_wal_size=8GB"),
            wanted.with("secure-file-priv=").with("innodb-buffer-pool-size=512M").with("innodb-log-file-size=512M"),
        ))
    }
}

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
        let mut session = Session::connect(&server.endpoint(), PATIENCE).expect("connected");
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

fn main() {
    let data = Warehouses { warehouses: WAREHOUSES, partitions: 1, quirks: BTreeSet::new() };
    for product in Product::ALL {
        let server = product.start();
        let (mut ours, mut own) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            let report = load(&server.target(), &data, 7, THREADS).expect("loaded");
            ours.push(report.load_seconds - report.index_seconds);
            if round == 0 {
                export(&server, product);
                for how in Check::ALL {
                    let begun = Instant::now();
                    let broken = check(&server.target(), &data, &BTreeSet::new(), how, 7).expect("checked");
                    println!("{product:?} {how} check: {:.2} s, {broken:?}", begun.elapsed().as_secs_f64());
                }
            }
            own.push(load_own(&server, product));
        }
        println!("{product:?} filled in {ours:.2?} s; the server's own load of the same rows from files {own:.2?} s");
        println!("{product:?} ratio of medians {:.3}", median(&mut ours) / median(&mut own));
    }
}
