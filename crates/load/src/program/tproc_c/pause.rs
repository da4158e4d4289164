//! How long a virtual user keys before a transaction and thinks behind it.
//!
//! In: the transaction, a random stream. Out: nanoseconds. By the specification thinking times are drawn from an
//! exponential distribution, cut at ten times its mean; HammerDB rounds them to seconds and does not cut.

use super::inputs::Transaction;
use crate::random::{Pcg64, unit_interval};

const SECOND_NS: f64 = 1e9;

/// Seconds of keying, and the mean of thinking.
const fn seconds(transaction: Transaction) -> (f64, f64) {
    match transaction {
        Transaction::NewOrder => (18.0, 12.0),
        Transaction::Payment => (3.0, 12.0),
        Transaction::Delivery => (2.0, 5.0),
        Transaction::OrderStatus => (2.0, 10.0),
        Transaction::StockLevel => (2.0, 5.0),
    }
}

/// A mean round of a virtual user, over which the first events are spread.
const ROUND_SECONDS: f64 = 21.0;

/// Pauses of virtual users.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pauses {
    /// How many users there are.
    pub(super) clients: u32,
    /// Whether thinking is in whole seconds.
    pub(super) is_rounded: bool,
}

impl Pauses {
    /// Before a user's first event.
    pub(super) fn first_ns(&self, client: u32) -> u64 {
        (ROUND_SECONDS * SECOND_NS * f64::from(client) / f64::from(self.clients)) as u64
    }

    /// Before a transaction.
    pub(super) fn keying_ns(&self, transaction: Transaction) -> u64 {
        (seconds(transaction).0 * SECOND_NS) as u64
    }

    /// Behind a transaction.
    pub(super) fn thinking_ns(&self, transaction: Transaction, random: &mut Pcg64) -> u64 {
        let mean = seconds(transaction).1;
        let drawn = -unit_interval(random).ln() * mean;
        let seconds = if self.is_rounded { drawn.round() } else { drawn.min(10.0 * mean) };
        (seconds * SECOND_NS) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};

    #[test]
    fn users_think_as_long_as_they_should_on_average() {
        for is_rounded in [false, true] {
            let pauses = Pauses { clients: 2, is_rounded };
            let mut random = stream(1, Purpose::Cards, 0, 0);
            let all: Vec<u64> = (0..40_000).map(|_| pauses.thinking_ns(Transaction::NewOrder, &mut random)).collect();
            let mean = all.iter().sum::<u64>() as f64 / all.len() as f64 / SECOND_NS;
            // Five standard errors of an exponential distribution with mean 12 are 0.3.
            assert!((mean - 12.0).abs() < 0.3, "{mean}");
            assert_eq!(all.iter().all(|ns| ns % 1_000_000_000 == 0), is_rounded);
        }
        let pauses = Pauses { clients: 2, is_rounded: false };
        assert_eq!((pauses.first_ns(0), pauses.first_ns(1)), (0, 10_500_000_000));
        assert_eq!(pauses.keying_ns(Transaction::NewOrder), 18_000_000_000);
    }
}
