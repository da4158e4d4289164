//! Distribution functions: normal, Student t, noncentral t.
//!
//! In: a point or a probability and degrees of freedom. Out: tails and quantiles, to about
//! 1e-12 relative for the central distributions and 1e-12 absolute for the noncentral t.
//! It is our own code, because verdicts are compared to twelve digits: the error function
//! of `statrs` is good to 1e-11, its incomplete beta at 10,000 degrees of freedom to 1e-10.
//! It serves in the tests as an oracle. Degrees of freedom are positive, not necessarily
//! whole; a NaN comes out as it went in.

pub use crate::noncentral_t::noncentral_t_upper_tail;
use std::f64::consts::PI;

/// Beyond this the t is its first-order normal expansion to all digits that matter.
const NORMAL_LIMIT_DEGREES_OF_FREEDOM: f64 = 1e8;
/// A term this much smaller than the sum no longer changes it.
const NEGLIGIBLE: f64 = 1e-17;

/// d/dx ln Γ(x) for x > 0: by the recurrence up to where the asymptotic series is exact to 1e-13 (Abramowitz and Stegun
/// 6.3.5 and 6.3.18).
pub(crate) fn digamma(x: f64) -> f64 {
    const SERIES_FROM: f64 = 12.0;
    let (mut x, mut sum) = (x, 0.0);
    while x < SERIES_FROM {
        sum -= 1.0 / x;
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let series = square * (1.0 / 12.0 - square * (1.0 / 120.0 - square * (1.0 / 252.0 - square / 240.0)));
    sum + x.ln() - 0.5 / x - series
}

/// d²/dx² ln Γ(x) for x > 0, in the same way (6.4.6 and 6.4.12).
pub(crate) fn trigamma(x: f64) -> f64 {
    const SERIES_FROM: f64 = 12.0;
    let (mut x, mut sum) = (x, 0.0);
    while x < SERIES_FROM {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let series = square * (1.0 / 6.0 - square * (1.0 / 30.0 - square * (1.0 / 42.0 - square / 30.0)));
    sum + (1.0 + 0.5 / x + series) / x
}

/// P(Z <= z) of the standard normal distribution.
pub fn normal_cdf(z: f64) -> f64 {
    if z < 0.0 { normal_upper_tail(-z) } else { 1.0 - normal_upper_tail(z) }
}

/// Density of the standard normal distribution.
pub fn normal_density(z: f64) -> f64 {
    (-0.5 * z * z).exp() / (2.0 * PI).sqrt()
}

/// P(Z > z) for z >= 0, with its relative precision far out in the tail.
fn normal_upper_tail(z: f64) -> f64 {
    const SERIES_LIMIT: f64 = 2.5;
    if z < SERIES_LIMIT {
        // Positive terms only: z + z³/3 + z⁵/(3·5) + ... (Abramowitz and Stegun 26.2.11).
        let (mut term, mut sum, mut odd) = (z, z, 1.0);
        while term > NEGLIGIBLE * sum {
            odd += 2.0;
            term *= z * z / odd;
            sum += term;
        }
        return 0.5 - normal_density(z) * sum;
    }
    // The Laplace continued fraction (26.2.14), from the bottom up: z + 1/(z + 2/(z + 3/...)).
    let levels = (30.0 + 500.0 / (z * z)) as u32;
    let fraction = (1..=levels).rev().fold(z, |below, level| z + f64::from(level) / below);
    normal_density(z) / fraction
}

/// The z with P(Z <= z) = `probability`, infinite at 0 and 1.
pub fn normal_quantile(probability: f64) -> f64 {
    if probability < 0.5 { -normal_upper_quantile(probability) } else { normal_upper_quantile(1.0 - probability) }
}

/// The z >= 0 that leaves `tail` <= 1/2 above it.
fn normal_upper_quantile(tail: f64) -> f64 {
    if tail == 0.0 {
        return f64::INFINITY;
    }
    // Hastings' approximation, good to 5e-4 (26.2.23); each Halley step triples the digits.
    let r = (-2.0 * tail.ln()).sqrt();
    let above = 2.515_517 + r * (0.802_853 + r * 0.010_328);
    let below = 1.0 + r * (1.432_788 + r * (0.189_269 + r * 0.001_308));
    (0..3).fold((r - above / below).max(0.0), |z, _| {
        let newton = (normal_upper_tail(z) - tail) / normal_density(z);
        z + newton / (1.0 - 0.5 * z * newton)
    })
}

/// P(T > t) of Student's t, with its relative precision far out in the tail.
pub fn student_t_upper_tail(t: f64, degrees_of_freedom: f64) -> f64 {
    if t < 0.0 {
        return 1.0 - student_t_upper_tail(-t, degrees_of_freedom);
    }
    if t == f64::INFINITY {
        return 0.0;
    }
    if degrees_of_freedom > NORMAL_LIMIT_DEGREES_OF_FREEDOM {
        return normal_upper_tail(t) + normal_density(t) * t * (t * t + 1.0) / (4.0 * degrees_of_freedom);
    }
    // Half of the regularised incomplete beta function I_x(ν/2, 1/2) at x = ν / (ν + t²),
    // with 1 - x kept apart, since x itself rounds to 1 when ν is large.
    let half = 0.5 * degrees_of_freedom;
    let square = t * t / degrees_of_freedom;
    let complement = square / (1.0 + square);
    let power = (gamma_ratio_ln(half) - half * square.ln_1p()).exp() * (complement / PI).sqrt();
    if complement > 0.5 || complement * (half + 0.5) > 1.5 {
        0.5 * power / beta_fraction(half, complement)
    } else {
        0.5 - power * beta_series(half, complement)
    }
}

/// ln Γ(a + 1/2) - ln Γ(a), without the cancellation that subtracting them brings.
fn gamma_ratio_ln(a: f64) -> f64 {
    const ASYMPTOTIC_FROM: f64 = 15.0;
    let (mut a, mut product) = (a, 1.0);
    while a < ASYMPTOTIC_FROM {
        product *= a / (a + 0.5);
        a += 1.0;
    }
    let r = 1.0 / (a * a);
    let series = -1.0 / 8.0 + r * (1.0 / 192.0 - r * (1.0 / 640.0 - r * (17.0 / 14_336.0 - r * 31.0 / 18_432.0)));
    0.5 * a.ln() + series / a + product.ln()
}

/// The denominator of I_x(a, 1/2), x = 1 - `complement`: the continued fraction of Didonato
/// and Morris (ACM TOMS 18, 1992, eq. 9), which stays accurate for large a, by the modified
/// Lentz method.
fn beta_fraction(a: f64, complement: f64) -> f64 {
    const B: f64 = 0.5;
    const MOST_TERMS: u32 = 100_000;
    let x = 1.0 - complement;
    let centre = (a + B) * complement - B + 1.0;
    let first = a / (a + 1.0) * centre;
    let (mut value, mut c, mut d) = (first, first, 0.0);
    for n in 1..MOST_TERMS {
        let n = f64::from(n);
        let odd = a + 2.0 * n - 1.0;
        let alpha = (a + n - 1.0) / odd * ((a + B + n - 1.0) / odd) * n * (B - n) * x * x;
        let beta = n + n * (B - n) * x / odd + (a + n) / (odd + 2.0) * (centre + n * (1.0 + complement));
        d = 1.0 / (beta + alpha * d);
        c = beta + alpha / c;
        let change = c * d;
        value *= change;
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

/// The series of I_y(1/2, a) / 2, y = `complement`, over its leading factor: positive terms
/// only (Abramowitz and Stegun 26.5.4).
fn beta_series(a: f64, complement: f64) -> f64 {
    let (mut term, mut sum, mut n) = (1.0, 1.0, 0.0);
    while term > NEGLIGIBLE * sum {
        term *= (a + 0.5 + n) * complement / (1.5 + n);
        sum += term;
        n += 1.0;
    }
    sum
}

/// Probability of a |T| at least as large as |t| when there is no change.
pub fn student_t_two_sided_p(t: f64, degrees_of_freedom: f64) -> f64 {
    // `clamp`, unlike `min`, lets a NaN through.
    (2.0 * student_t_upper_tail(t.abs(), degrees_of_freedom)).clamp(0.0, 1.0)
}

/// The t with P(T <= t) = `probability`, infinite at 0 and 1.
pub fn student_t_quantile(probability: f64, degrees_of_freedom: f64) -> f64 {
    if probability < 0.5 {
        -upper_tail_quantile(probability, degrees_of_freedom)
    } else {
        upper_tail_quantile(1.0 - probability, degrees_of_freedom)
    }
}

/// The t >= 0 that leaves `tail` <= 1/2 above it.
fn upper_tail_quantile(tail: f64, degrees_of_freedom: f64) -> f64 {
    if tail == 0.5 {
        return 0.0;
    }
    let z = normal_upper_quantile(tail);
    if !z.is_finite() {
        return z;
    }
    let mut t = z + z * (z * z + 1.0) / (4.0 * degrees_of_freedom);
    let density = StudentDensity::new(degrees_of_freedom);
    for _ in 0..200 {
        let step = (student_t_upper_tail(t, degrees_of_freedom) - tail) / density.at(t);
        // The tail is convex and the t quantile lies above the normal one, so that Newton's
        // method, kept above z, climbs to the root without ever passing it twice.
        let next = (t + step).max(z);
        if (next - t).abs() <= 1e-14 * next.abs() {
            return next;
        }
        t = next;
    }
    t
}

/// Density of Student's t with its constant worked out once.
struct StudentDensity {
    degrees_of_freedom: f64,
    peak: f64,
}

impl StudentDensity {
    fn new(degrees_of_freedom: f64) -> Self {
        let half = 0.5 * degrees_of_freedom;
        let peak = gamma_ratio_ln(half).exp() / (degrees_of_freedom * PI).sqrt();
        Self { degrees_of_freedom, peak }
    }

    fn at(&self, t: f64) -> f64 {
        let exponent = -0.5 * (self.degrees_of_freedom + 1.0);
        self.peak * (exponent * (t * t / self.degrees_of_freedom).ln_1p()).exp()
    }
}

#[cfg(test)]
mod tests;
