//! The tables on MySQL and MariaDB: made with their primary keys, filled by LOAD DATA in transactions of a warehouse,
//! then indexed.
//!
//! In: a target, the warehouses, rows. Out: streams, filled tables, statements that index them. Rows lie in the order
//! of the primary key, so a table can be filled from several places at once; it is where threads are left over.

use super::stream::{Source, Stream};
use super::table::{DECIMAL_AMOUNT, INTEGER_AMOUNT, Table};
use crate::error::LoadError;
use crate::load_data::{CHARSET, check_table, load_rows, prepare_session, set_bulk_load};
use crate::session::{connect, execute};
use rqps_model::StorageEngine;
use rqps_model::tproc_c::{Quirk, Warehouses};
use rqps_wire::{Session, Target};
use std::collections::BTreeSet;

/// Strings are compared by code point, as on PostgreSQL.
const COLLATION: &str = "latin1_bin";

/// Tables that hold most of the rows: so many threads have enough to do with a stream for each table.
const LARGE_TABLES: u32 = 3;

/// Drops and makes all tables, and says in which streams they are filled.
pub(super) fn create(
    target: &Target,
    data: &Warehouses,
    quirks: &BTreeSet<Quirk>,
    threads: u32,
) -> Result<Vec<Stream>, LoadError> {
    let mut session = connect(&target.endpoint)?;
    prepare_session(&mut session)?;
    let storage = target.mysql_storage();
    for table in Table::ALL {
        let (name, schema) = (table.name(), table.schema());
        let columns = match quirks.contains(&Quirk::IntegerAmounts) {
            true => schema.mysql.replace(DECIMAL_AMOUNT, INTEGER_AMOUNT),
            false => schema.mysql.to_owned(),
        };
        let key = if schema.key.is_empty() { String::new() } else { format!(", PRIMARY KEY ({})", schema.key) };
        let by = match table == Table::OrderLine && data.partitions > 1 {
            true => format!(" PARTITION BY HASH (ol_w_id) PARTITIONS {}", data.partitions),
            false => String::new(),
        };
        execute(&mut session, &format!("DROP TABLE IF EXISTS {name}"))?;
        execute(
            &mut session,
            &format!(
                "CREATE TABLE {name} ({columns}{key}) \
                 ENGINE={storage} DEFAULT CHARSET={CHARSET} COLLATE={COLLATION}{by}"
            ),
        )?;
        check_table(&mut session, name, storage, COLLATION)?;
    }
    let of_table = |table| {
        let whole = Stream::whole(table, data);
        let parts = match table {
            Table::Stock | Table::OrderLine | Table::Customer => threads.div_ceil(LARGE_TABLES),
            _ => 1,
        };
        let longest = whole.warehouses.len().div_ceil(parts as usize);
        let part = |warehouses: &[u32]| Stream { warehouses: warehouses.to_vec(), ..whole.clone() };
        whole.warehouses.chunks(longest).map(part).collect::<Vec<Stream>>()
    };
    Ok(Table::ALL.into_iter().flat_map(of_table).collect())
}

/// Fills a table, or a part of it.
pub(super) fn fill(
    session: &mut Session,
    stream: &Stream,
    source: &Source<'_>,
    storage: StorageEngine,
) -> Result<(), LoadError> {
    let Stream { table, into, warehouses } = stream;
    prepare_session(session)?;
    set_bulk_load(session, storage, true)?;
    for warehouse in warehouses.chunks(1) {
        load_rows(session, into, table.schema().fields, |writer| source.write(*table, warehouse, writer))?;
    }
    set_bulk_load(session, storage, false)
}

/// The statements that index all tables.
pub(super) fn indexes() -> Vec<String> {
    let index = |table: Table| {
        let name = table.name();
        table.schema().index.map(|columns| format!("ALTER TABLE {name} ADD INDEX {name}_i2 ({columns})"))
    };
    Table::ALL.into_iter().filter_map(index).collect()
}
