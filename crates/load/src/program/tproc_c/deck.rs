//! Which transaction comes next.
//!
//! In: a random stream of its own. Out: one transaction after the other. The deck holds 23 cards; it is dealt to its
//! end and then shuffled again, which makes the mix exact. With the quirk that draws, each transaction is one of 23 as
//! well.

use super::inputs::Transaction;
use crate::random::{Pcg64, below, shuffle};

/// A deck: as many cards of a type as the specification wants at least, which come to 43.5, 43.5, 4.3, 4.3 and 4.3 %.
const CARDS: [Transaction; 23] = {
    let mut cards = [Transaction::NewOrder; 23];
    let mut index = 10;
    while index < 20 {
        cards[index] = Transaction::Payment;
        index += 1;
    }
    cards[20] = Transaction::Delivery;
    cards[21] = Transaction::StockLevel;
    cards[22] = Transaction::OrderStatus;
    cards
};

/// Cards of a deck.
pub(super) const DECK: u32 = CARDS.len() as u32;

/// The deck of a session.
#[derive(Debug, Clone)]
pub(super) struct Deck {
    cards: [Transaction; CARDS.len()],
    left: usize,
    is_drawn: bool,
}

impl Deck {
    /// A deck, or cards that are drawn each from a whole one.
    pub(super) const fn new(is_drawn: bool) -> Deck {
        Deck { cards: CARDS, left: 0, is_drawn }
    }

    /// The next transaction.
    #[inline]
    pub(super) fn deal(&mut self, random: &mut Pcg64) -> Transaction {
        if self.is_drawn {
            return CARDS[below(random, CARDS.len() as u64) as usize];
        }
        if self.left == 0 {
            shuffle(random, &mut self.cards);
            self.left = self.cards.len();
        }
        self.left -= 1;
        self.cards[self.left]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};

    fn dealt(is_drawn: bool, count: u32) -> [u32; 5] {
        let mut random = stream(1, Purpose::Cards, 0, 0);
        let mut deck = Deck::new(is_drawn);
        let mut counts = [0; 5];
        (0..count).for_each(|_| counts[deck.deal(&mut random) as usize] += 1);
        counts
    }

    #[test]
    fn a_deck_is_exact_and_draws_are_not() {
        assert_eq!(dealt(false, 100 * DECK), [1000, 1000, 100, 100, 100]);
        assert_ne!(dealt(true, 100 * DECK), [1000, 1000, 100, 100, 100]);
        // Five standard deviations of a binomial with n = 23,000 and p = 10/23 are 376, with 1/23 they are 155.
        let [orders, payments, deliveries, ..] = dealt(true, 1000 * DECK);
        assert!(orders.abs_diff(10_000) < 376 && payments.abs_diff(10_000) < 376 && deliveries.abs_diff(1000) < 155);
    }
}
