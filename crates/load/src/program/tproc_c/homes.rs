//! Which warehouses a virtual user works in.
//!
//! In: numbers of users and warehouses. Out: a user's home. A user keeps one, or has several of which each transaction
//! draws one; then some have two owners where users don't divide warehouses.

use super::inputs::Home;
use rqps_model::tproc_c::DISTRICTS;

/// How warehouses are shared.
#[derive(Debug, Clone, Copy)]
pub(super) struct Homes {
    pub(super) warehouses: u32,
    pub(super) clients: u32,
    /// Whether a user draws its one warehouse, so that some have several users and others none.
    pub(super) is_drawn: bool,
    /// Whether a user owns as many as there are for each.
    pub(super) is_all: bool,
}

impl Homes {
    /// The home of a user that draws none.
    pub(super) fn first(&self, client: u32) -> Home {
        let level_district = client / self.warehouses % DISTRICTS + 1;
        Home { warehouse: self.of(client, 0), level_district }
    }

    /// How many warehouses a user owns, if each transaction is to draw one of them.
    #[inline]
    pub(super) fn owned(&self) -> Option<u32> {
        self.is_all.then(|| self.warehouses.div_ceil(self.clients))
    }

    /// The warehouse of that number, from 0, among those of a user.
    #[inline]
    pub(super) fn of(&self, client: u32, number: u32) -> u32 {
        (client + number * self.clients) % self.warehouses + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_spread_evenly_and_all_warehouses_have_one() {
        let homes = |clients, warehouses| Homes { warehouses, clients, is_drawn: false, is_all: true };
        let sixteen: Vec<(u32, u32)> = (0..6).map(|client| homes(6, 2).first(client)).map(told).collect();
        assert_eq!(sixteen, [(1, 1), (2, 1), (1, 2), (2, 2), (1, 3), (2, 3)]);
        let owned = homes(3, 8);
        assert_eq!(owned.owned(), Some(3));
        let of = |client| (0..3).map(|number| owned.of(client, number)).collect::<Vec<_>>();
        assert_eq!([of(0), of(1), of(2)], [[1, 4, 7], [2, 5, 8], [3, 6, 1]]);
        assert_eq!(homes(4, 1).of(3, 0), 1);
    }

    fn told(home: Home) -> (u32, u32) {
        (home.warehouse, home.level_district)
    }
}
