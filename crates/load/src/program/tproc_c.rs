//! The transactions of TPROC-C, a workload derived from TPC-C: what virtual users do.
//!
//! In: profile, form and quirks of a plan, warehouses, virtual users, servers. Out: programs for the timed loop, and
//! the routines that some forms call. Types of transactions are the kinds of events, so that response times and counts
//! are by type; a new order that its user wishes to be rolled back is of a kind of its own. Every form and engine gets
//! the same inputs from the same stream.

mod arm;
mod client;
mod deck;
mod homes;
mod inputs;
mod pause;
mod routines;
mod script;
mod session;
mod statement_work;
mod values;

pub use routines::provide_routines;
pub use session::Session;
pub use statement_work::statement_work;

use super::Workload;
use crate::error::LoadError;
use arm::Arm;
use client::Statement;
use homes::Homes;
use inputs::Transaction;
use rqps_model::tproc_c::TprocC;
use rqps_wire::{Endpoint, Protocol};
use std::sync::atomic::{AtomicU64, Ordering};

/// The kind of event that a new order is that was rolled back, as its user wished.
const ROLLED_BACK: &str = "new-order-rolled-back";

/// The most warehouses: their numbers have six digits.
const WAREHOUSES_MAX: u32 = 999_999;

/// The transactions of a test, compiled for every server.
#[derive(Debug)]
pub struct Transactions {
    arms: Vec<(Protocol, Arm)>,
}

/// What a server has acknowledged since the beginning, in counted time or not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Acknowledged {
    /// Committed new orders.
    pub new_orders: u64,
    /// New orders that were rolled back, as their users wished.
    pub rolled_back: u64,
    /// Committed payments.
    pub payments: u64,
    /// Orders that were delivered.
    pub delivered: u64,
    /// New orders whose answer never came: they may have been committed or not.
    pub unknown_new_orders: u64,
    /// Payments of which that is so.
    pub unknown_payments: u64,
    /// Deliveries of which that is so.
    pub unknown_deliveries: u64,
}

impl Transactions {
    /// Compiles what is run on so many warehouses with so many virtual users.
    pub fn compile(
        shape: &TprocC,
        warehouses: u32,
        clients: u32,
        arms: &[Endpoint],
    ) -> Result<Transactions, LoadError> {
        if !(1..=WAREHOUSES_MAX).contains(&warehouses) || clients == 0 {
            return Err(LoadError::Shape(format!(
                "{clients} virtual users on {warehouses} warehouses cannot be run: give at least one of each, and at most \
                 {WAREHOUSES_MAX} warehouses"
            )));
        }
        let homes = Homes { warehouses, clients, is_drawn: false, is_all: shape.all_warehouses };
        let compile = |arm: &Endpoint| Ok((arm.protocol(), Arm::compile(shape, homes, arm)?));
        Ok(Transactions { arms: arms.iter().map(compile).collect::<Result<_, LoadError>>()? })
    }

    /// What a server has acknowledged so far.
    pub fn acknowledged(&self, arm: usize) -> Acknowledged {
        let counts = &self.arms[arm].1.counts;
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let unknown = |transaction: Transaction| of(&counts.unknown[transaction as usize]);
        Acknowledged {
            new_orders: of(&counts.succeeded[Transaction::NewOrder as usize]),
            rolled_back: of(&counts.succeeded[session::ROLLED_BACK]),
            payments: of(&counts.succeeded[Transaction::Payment as usize]),
            delivered: of(&counts.delivered),
            unknown_new_orders: unknown(Transaction::NewOrder),
            unknown_payments: unknown(Transaction::Payment),
            unknown_deliveries: unknown(Transaction::Delivery),
        }
    }
}

impl Workload for Transactions {
    type Program<'w> = Session<'w>;

    fn kinds(&self) -> Vec<String> {
        // Those of all forms, so that they have the same names on every engine.
        Statement::ALL.map(|statement| statement.name().to_owned()).to_vec()
    }

    fn events(&self) -> Vec<String> {
        Transaction::ALL.iter().map(|transaction| transaction.name()).chain([ROLLED_BACK]).map(str::to_owned).collect()
    }

    fn program(&self, arm: usize, client: u32, _: usize) -> Session<'_> {
        Session::new(&self.arms[arm].1, client)
    }

    /// PostgreSQL settles on a plan at the sixth execution; the rarest types come once in a deck.
    fn events_to_settle(&self, arm: usize) -> u32 {
        match self.arms[arm].0 {
            Protocol::Postgres => 6 * deck::DECK,
            Protocol::Mysql => deck::DECK,
        }
    }
}

#[cfg(test)]
mod tests;
