//! The tables on PostgreSQL: made empty, filled by COPY, then indexed.
//!
//! In: an endpoint, the warehouses, rows. Out: streams, filled tables, statements that index them. Rows are frozen as
//! they come, which needs a table that was emptied in the same transaction: so there is one stream for each table, and
//! for each partition.

use super::stream::{Source, Stream};
use super::table::{ITEM_FIRST_KEY, Table};
use crate::error::LoadError;
use crate::session::{connect, execute};
use rqps_model::tproc_c::{Quirk, Warehouses};
use rqps_wire::{Endpoint, Session};
use std::collections::BTreeSet;

/// Memory for sorting while an index is built, for each that is built at once.
const INDEX_MEMORY: &str = "256MB";

/// Drops and makes all tables, and says in which streams they are filled.
pub(super) fn create(endpoint: &Endpoint, data: &Warehouses) -> Result<Vec<Stream>, LoadError> {
    let mut session = connect(endpoint)?;
    let mut streams = Vec::new();
    for table in Table::ALL {
        let name = table.name();
        let is_partitioned = table == Table::OrderLine && data.partitions > 1;
        let by = if is_partitioned { " PARTITION BY HASH (ol_w_id)" } else { "" };
        let columns = table.schema().postgres;
        execute(&mut session, &format!("DROP TABLE IF EXISTS {name}; CREATE TABLE {name} ({columns}){by}"))?;
        match is_partitioned {
            true => streams.extend(create_partitions(&mut session, data)?),
            false => streams.push(Stream::whole(table, data)),
        }
    }
    Ok(streams)
}

fn create_partitions(session: &mut Session, data: &Warehouses) -> Result<Vec<Stream>, LoadError> {
    let partitions = data.partitions;
    let streams = (0..partitions).map(|partition| {
        let into = format!("ol_{partition}");
        execute(
            session,
            &format!(
                "CREATE TABLE {into} PARTITION OF order_line \
                 FOR VALUES WITH (MODULUS {partitions}, REMAINDER {partition})"
            ),
        )?;
        let sql = format!(
            "SELECT w FROM generate_series(1, {}) w \
             WHERE satisfies_hash_partition('order_line'::regclass, {partitions}, {partition}, w) ORDER BY w",
            data.warehouses
        );
        let held = session.query(&sql).map_err(LoadError::wire("asking for the warehouses of a partition"))?;
        let number = |row: Vec<Option<String>>| row.into_iter().next()??.parse().ok();
        Ok(Stream { table: Table::OrderLine, into, warehouses: held.rows.into_iter().filter_map(number).collect() })
    });
    streams.collect()
}

/// Fills a table or partition.
pub(super) fn fill(session: &mut Session, stream: &Stream, source: &Source<'_>) -> Result<(), LoadError> {
    let Stream { table, into, warehouses } = stream;
    // Dates have no zone in the rows.
    execute(session, "SET TIME ZONE 'UTC'")?;
    execute(session, &format!("BEGIN; TRUNCATE {into}"))?;
    let copy = format!("COPY {into} ({}) FROM STDIN (FREEZE)", table.schema().fields);
    let copied = session.copy_in(&copy, |writer| source.write(*table, warehouses, writer));
    let (sent, taken) = copied.map_err(LoadError::wire(format!("loading table {into}")))?;
    if taken != sent {
        return Err(LoadError::Shape(format!("{sent} rows were sent to table {into} and {taken} taken")));
    }
    execute(session, "COMMIT")
}

/// The statements that index all tables. They come after the rows because building an index at once is faster than
/// growing it.
pub(super) fn indexes(quirks: &BTreeSet<Quirk>) -> Vec<String> {
    let mut statements = Vec::new();
    for table in Table::ALL {
        let (name, schema) = (table.name(), table.schema());
        let is_item_first = table == Table::Stock && quirks.contains(&Quirk::ItemFirstStock);
        let key = if is_item_first { ITEM_FIRST_KEY } else { schema.key };
        if !key.is_empty() {
            statements.push(format!("ALTER TABLE {name} ADD CONSTRAINT {name}_i1 PRIMARY KEY ({key})"));
        }
        if let Some(columns) = schema.index {
            statements.push(format!("CREATE UNIQUE INDEX {name}_i2 ON {name} ({columns})"));
        }
    }
    statements.iter().map(|sql| format!("SET maintenance_work_mem = '{INDEX_MEMORY}'; {sql}")).collect()
}
