//! The clock by which samples are dated.

/// Nanoseconds of CLOCK_MONOTONIC, which the kernel is asked to date samples by.
pub(crate) fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
