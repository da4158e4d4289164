//! The tables of TPROC-C: made, filled, indexed, and checked for consistency.
//!
//! In: a target, [`Warehouses`](rqps_model::tproc_c::Warehouses), a seed. Out: loaded tables at rest. `draw` has the
//! draws that rows and transactions share.

pub mod draw;
