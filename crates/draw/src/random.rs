//! Numbers as pgbench draws them from version 15 on: the same from the same seed.
//!
//! In: a seed. Out: 64 random bits, and numbers of pgbench's distributions. The generator is xoroshiro128**, seeded by
//! splitmix64, as in PostgreSQL's pg_prng.c; the distributions are those of pgbench.c. Arguments are the caller's to
//! check.

/// A stream of random numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Random {
    s0: u64,
    s1: u64,
}

impl Random {
    /// The stream of a seed.
    pub fn seeded(seed: u64) -> Random {
        let mut state = seed;
        let (s0, s1) = (splitmix(&mut state), splitmix(&mut state));
        Random { s0, s1 }
    }

    /// 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let out = self.s0.wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let x = self.s1 ^ self.s0;
        self.s0 = self.s0.rotate_left(24) ^ x ^ (x << 16);
        self.s1 = x.rotate_left(37);
        out
    }

    /// A number from 0 on, below 1.
    #[inline]
    pub fn next_f64(&mut self) -> f64 {
        (self.next_u64() >> 12) as f64 / (1_u64 << 52) as f64
    }

    /// A number from 0 to `range`, both included. Nothing is drawn where there is no choice.
    #[inline]
    pub fn up_to(&mut self, range: u64) -> u64 {
        if range == 0 {
            return 0;
        }
        let shift = range.leading_zeros();
        loop {
            let drawn = self.next_u64() >> shift;
            if drawn <= range {
                return drawn;
            }
        }
    }

    /// Each number from `lo` to `hi` alike; `lo` is not above `hi`.
    #[inline]
    pub fn uniform(&mut self, lo: i64, hi: i64) -> i64 {
        debug_assert!(lo <= hi);
        lo.wrapping_add(self.up_to(hi.wrapping_sub(lo) as u64) as i64)
    }

    /// Numbers that become rarer towards `hi`, by `parameter` above 0.
    pub fn exponential(&mut self, lo: i64, hi: i64, parameter: f64) -> i64 {
        debug_assert!(parameter > 0.0);
        let cut = (-parameter).exp();
        let uniform = 1.0 - self.next_f64();
        let place = -(cut + (1.0 - cut) * uniform).ln() / parameter;
        lo.wrapping_add((count(lo, hi) * place) as i64)
    }

    /// Numbers around the middle, of a normal distribution that is cut at `parameter` deviations, 2 at least.
    pub fn gaussian(&mut self, lo: i64, hi: i64, parameter: f64) -> i64 {
        debug_assert!(parameter >= 2.0);
        let normal = loop {
            let (one, two) = (1.0 - self.next_f64(), 1.0 - self.next_f64());
            let normal = (-2.0 * one.ln()).sqrt() * (2.0 * std::f64::consts::PI * two).sin();
            if normal >= -parameter && normal < parameter {
                break normal;
            }
        };
        let place = (normal + parameter) / (parameter * 2.0);
        lo.wrapping_add((count(lo, hi) * place) as i64)
    }

    /// Numbers whose k-th, from `lo` on, has a probability that is proportional to k to the minus `skew`, which is
    /// above 1. The rejection method of Devroye, Non-Uniform Random Variate Generation, page 551.
    pub fn zipfian(&mut self, lo: i64, hi: i64, skew: f64) -> i64 {
        debug_assert!(skew > 1.0);
        let range = hi.wrapping_sub(lo).wrapping_add(1);
        if range <= 1 {
            return lo;
        }
        let b = (skew - 1.0).exp2();
        loop {
            let (u, v) = (self.next_f64(), self.next_f64());
            let x = u.powf(-1.0 / (skew - 1.0)).floor();
            let t = (1.0 + 1.0 / x).powf(skew - 1.0);
            if v * x * (t - 1.0) / (b - 1.0) <= t / b && x <= range as f64 {
                return lo.wrapping_sub(1).wrapping_add(x as i64);
            }
        }
    }
}

fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

fn count(lo: i64, hi: i64) -> f64 {
    debug_assert!(lo <= hi);
    (hi.wrapping_sub(lo).wrapping_add(1)) as f64
}

/// Where `value`, taken as unsigned modulo `size`, goes in a permutation of the numbers below `size` that the seed
/// chooses; `size` is above 0.
pub fn permute(value: i64, size: i64, seed: i64) -> i64 {
    const ROUNDS: usize = 6;
    debug_assert!(size > 0);
    let size = size as u64;
    let mut v = value as u64 % size;
    if size == 1 {
        return 0;
    }
    let mut random = Random::seeded(seed as u64);
    // Bits of the largest power of two that is not above the size: what is mixed, and turned by one bit.
    let bits = size.ilog2();
    let mask = (1_u64 << bits) - 1;
    let turned = |v: u64| match bits {
        0 => v,
        _ => ((v << 1) & mask) | (v >> (bits - 1)),
    };
    for _ in 0..ROUNDS {
        let mut mix = |v: u64| {
            let m = (random.next_u64() & mask) | 1;
            let x = random.next_u64() & mask;
            if v <= mask { turned((v.wrapping_mul(m) ^ x) & mask) } else { v }
        };
        v = mix(v);
        let t = mix(size - 1 - v);
        v = size - 1 - t;
        v = (v + random.up_to(size - 1)) % size;
    }
    v as i64
}

/// MurmurHash2 of a number's 8 bytes.
pub fn hash_murmur2(value: i64, seed: i64) -> i64 {
    const M: u64 = 0xc6a4_a793_5bd1_e995;
    const R: u32 = 47;
    let mut hash = seed as u64 ^ 8_u64.wrapping_mul(M);
    let mut k = (value as u64).wrapping_mul(M);
    k = (k ^ (k >> R)).wrapping_mul(M);
    hash = (hash ^ k).wrapping_mul(M);
    hash = (hash ^ (hash >> R)).wrapping_mul(M);
    (hash ^ (hash >> R)) as i64
}

/// FNV-1a of a number's 8 bytes, the lowest first.
pub fn hash_fnv1a(value: i64, seed: i64) -> i64 {
    let start = 0xcbf2_9ce4_8422_2325 ^ seed as u64;
    value.to_le_bytes().iter().fold(start, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_pgbench() {
        let mut random = Random::seeded(5432);
        // The base stream seeds each client first.
        let mut client = Random::seeded(random.next_u64());
        let drawn = [
            client.uniform(10, 19),
            client.exponential(100, 199, 10.0),
            client.gaussian(1000, 1999, 10.0),
            client.zipfian(1, 9, 1.3),
        ];
        assert_eq!(drawn, [17, 104, 1498, 3]);
    }

    #[test]
    fn clients_draw_what_tpcb_like_draws() {
        let mut base = Random::seeded(42);
        let mut clients = [base.next_u64(), base.next_u64()].map(Random::seeded);
        assert_eq!(base.next_u64() as i64, 4_482_733_528_210_176_216);
        let draw = |random: &mut Random| {
            [random.uniform(1, 100_000), random.uniform(1, 1), random.uniform(1, 10), random.uniform(-5000, 5000)]
        };
        assert_eq!(draw(&mut clients[0]), [83_532, 1, 1, -170]);
        assert_eq!(draw(&mut clients[0]), [86_390, 1, 5, -253]);
        assert_eq!(draw(&mut clients[0]), [452, 1, 2, 4776]);
        assert_eq!(draw(&mut clients[1]), [81_172, 1, 9, -348]);
        assert_eq!(draw(&mut clients[1]), [24_146, 1, 1, -1448]);
    }

    #[test]
    fn a_fresh_client_draws_what_pgbench_draws() {
        let fresh = || Random::seeded(Random::seeded(42).next_u64());
        let mut zipfian = fresh();
        assert_eq!([(); 8].map(|()| zipfian.zipfian(1, 1000, 1.5)), [2, 12, 1, 2, 10, 1, 1, 4]);
        let mut gaussian = fresh();
        assert_eq!([(); 4].map(|()| gaussian.gaussian(1, 1000, 3.0)), [718, 415, 618, 370]);
    }

    #[test]
    fn hashes_and_permutations_are_those_of_pgbench() {
        assert_eq!(hash_murmur2(10, 5432), -5_817_877_081_768_721_676);
        assert_eq!(hash_fnv1a(10, 5432), -7_793_829_335_365_542_153);
        let all: Vec<i64> = (0..10).map(|value| permute(value, 10, 42)).collect();
        assert_eq!(all, [1, 7, 0, 4, 3, 8, 6, 5, 9, 2]);
        assert_eq!(permute(-1, 10, 42), 8);
    }
}
