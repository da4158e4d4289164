//! The values with which statements are explained.
//!
//! In: a test and one of its kinds. Out: literals from a fixed seed, the same on all builds.

use crate::error::LoadError;
use crate::program::Literals;
use crate::program::sysbench::render_parameters;
use crate::random::{Purpose, stream};
use rqps_model::plan::DataShape;
use rqps_suites::Test;
use rqps_wire::Protocol;

/// The seed of the values; the same for all campaigns, so that plans can be compared between them.
pub(crate) const SEED: u64 = 1;

/// The values of one execution of a kind.
pub(super) fn draw(
    test: &Test,
    data: DataShape,
    index: usize,
    protocol: Protocol,
    execution: u64,
) -> Result<Literals, LoadError> {
    let mut random = stream(SEED, Purpose::Plans, index as u64, execution);
    render_parameters(test, data, index, protocol, &mut random)
}
