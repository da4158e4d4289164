//! The same seed writes the same rows, and the tables are as published.

use super::{bench, run_up_to, shape, shared};
use crate::servers::Product::{Mysql, Postgres};
use rqps_load::insert::Bench;
use rqps_model::insert::Shape;

#[test]
fn the_same_seed_writes_the_same_rows() {
    let server = shared(Postgres);
    let endpoint = server.endpoint();
    let shape = Shape { rates_per_s: vec![500], ..shape() };
    let mut seen = Vec::new();
    for (seed, threads) in [(5, 1), (5, 2), (6, 1)] {
        run_up_to(&Bench { seed, threads, ..bench(&endpoint, &shape) }, "qr500");
        let tables = (1..=2).flat_map(|table| {
            server
                .ask(&format!("SELECT md5(string_agg(t::text, '|' ORDER BY transactionid)), count(*) FROM pi{table} t"))
        });
        seen.push(tables.collect::<Vec<_>>());
    }
    assert_eq!(seen[0], seen[1]);
    assert!(seen[0].iter().zip(&seen[2]).all(|(one, other)| one != other) && seen[0][0] != seen[0][1]);
}

#[test]
fn every_engine_gets_the_same_rows() {
    let shape = Shape { rates_per_s: vec![500], ..shape() };
    let question = "SELECT dateandtime, cashregisterid, customerid, productid, price, data FROM pi2 \
                    ORDER BY customerid, cashregisterid, productid";
    let [postgres, mysql] = [Postgres, Mysql].map(|product| {
        let server = shared(product);
        run_up_to(&bench(&server.endpoint(), &shape), "l.i2");
        server.ask(question)
    });
    assert_eq!(postgres.len(), 3050);
    assert_eq!(postgres, mysql);
}

#[test]
fn tables_are_as_published() {
    let server = shared(Postgres);
    run_up_to(&bench(&server.endpoint(), &shape()), "l.x");
    let columns = server.ask(
        "SELECT column_name, data_type, character_maximum_length, is_nullable FROM information_schema.columns \
         WHERE table_name = 'pi2' ORDER BY ordinal_position",
    );
    expect_test::expect![[r#"
        [
            "transactionid bigint NULL NO",
            "dateandtime timestamp without time zone NULL YES",
            "cashregisterid integer NULL NO",
            "customerid integer NULL NO",
            "productid integer NULL NO",
            "price integer NULL NO",
            "data character varying 4000 YES",
        ]
    "#]]
    .assert_debug_eq(&columns);
    let indexes = server.ask("SELECT indexdef FROM pg_indexes WHERE tablename = 'pi2' ORDER BY indexname");
    expect_test::expect![[r#"
        [
            "CREATE INDEX pi2_marketsegment ON public.pi2 USING btree (productid, customerid, price)",
            "CREATE INDEX pi2_pdc ON public.pi2 USING btree (price, dateandtime, customerid)",
            "CREATE UNIQUE INDEX pi2_pkey ON public.pi2 USING btree (transactionid)",
            "CREATE INDEX pi2_registersegment ON public.pi2 USING btree (cashregisterid, customerid, price)",
        ]
    "#]]
    .assert_debug_eq(&indexes);
    assert_eq!(
        server.ask("SELECT seqcache FROM pg_sequence WHERE seqrelid = 'pi2_transactionid_seq'::regclass"),
        ["1000"]
    );
}
