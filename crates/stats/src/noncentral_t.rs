//! The noncentral t distribution, which is what a t statistic follows when there is a change.
//!
//! In: a critical value, degrees of freedom and noncentrality (change / standard error).
//! Out: the probability of a larger t, that is the power of a one-sided test, and its
//! slope. Quadrature, not a series: all terms are positive, so nothing cancels, whatever
//! the noncentrality. It solves for nothing: `mde` does.

use crate::distribution::{normal_cdf, normal_density};

/// P(T' > t) for T' noncentral t, to about 1e-12 absolute.
pub fn noncentral_t_upper_tail(t: f64, degrees_of_freedom: f64, noncentrality: f64) -> f64 {
    upper_tail_and_slope(t, degrees_of_freedom, noncentrality).0
}

/// P(T' > t) and its derivative by the noncentrality.
///
/// T' = (Z + noncentrality) / S with S² = χ²/ν, hence P(T' > t) = E Φ(noncentrality - t S).
/// The expectation is taken over u = ln S, whose density g is proportional to
/// exp(ν u - ν e^{2u} / 2): analytic and decaying on both sides, where the trapezoidal
/// rule converges exponentially (Trefethen and Weideman, SIAM Review 56, 2014). Dividing
/// by the sum of g on the same nodes spares the normalising constant and its rounding.
pub(crate) fn upper_tail_and_slope(t: f64, degrees_of_freedom: f64, noncentrality: f64) -> (f64, f64) {
    const NEGLIGIBLE: f64 = 1e-19;
    const WIDEST_STEP: f64 = 0.14;
    // Half of the narrowest scale on which the integrand can bend.
    let step = (0.5 / (2.0 * degrees_of_freedom + t * t + noncentrality * noncentrality).sqrt()).min(WIDEST_STEP);
    let weight = |u: f64| (degrees_of_freedom * (u - 0.5 * (2.0 * u).exp_m1())).exp();

    let (mut total, mut tail, mut slope) = (0.0, 0.0, 0.0);
    let mut add = |u: f64| {
        let g = weight(u);
        let z = noncentrality - t * u.exp();
        total += g;
        tail += g * normal_cdf(z);
        slope += g * normal_density(z);
        g > NEGLIGIBLE
    };
    add(0.0);
    for direction in [-step, step] {
        let mut node = 1.0;
        while add(node * direction) {
            node += 1.0;
        }
    }
    (tail / total, slope / total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::{student_t_quantile, student_t_upper_tail};
    use statrs::function::{beta::beta_reg, gamma::ln_gamma};

    /// Slow reference: the series of Lenth (1989), algorithm AS 243, for t > 0.
    fn series_upper_tail(t: f64, degrees_of_freedom: f64, noncentrality: f64) -> f64 {
        let x = t * t / (t * t + degrees_of_freedom);
        let half = 0.5 * noncentrality * noncentrality;
        let lower: f64 = (0..2000)
            .map(|j| {
                let j = f64::from(j);
                let poisson = (-half + j * half.ln() - ln_gamma(j + 1.0)).exp();
                let odd = (-half + j * half.ln() - ln_gamma(j + 1.5)).exp() * noncentrality / 2f64.sqrt();
                poisson * beta_reg(j + 0.5, 0.5 * degrees_of_freedom, x)
                    + odd * beta_reg(j + 1.0, 0.5 * degrees_of_freedom, x)
            })
            .sum();
        1.0 - (normal_cdf(-noncentrality) + 0.5 * lower)
    }

    #[test]
    fn agrees_with_the_series() {
        for degrees_of_freedom in [1.0, 2.5, 7.0, 13.0, 60.0, 400.0] {
            for noncentrality in [0.1, 1.0, 2.8, 5.0, 12.0] {
                for t in [0.3, 2.0, 4.3, 12.7] {
                    let fast = noncentral_t_upper_tail(t, degrees_of_freedom, noncentrality);
                    let slow = series_upper_tail(t, degrees_of_freedom, noncentrality);
                    assert!(
                        (fast - slow).abs() < 1e-11,
                        "t {t} df {degrees_of_freedom} nc {noncentrality}: {fast} {slow}"
                    );
                }
            }
        }
    }

    #[test]
    fn is_the_central_t_without_a_change() {
        for degrees_of_freedom in [1.0, 3.0, 7.0, 50.0, 3000.0] {
            for t in [-3.0, -0.5, 0.0, 1.0, 6.0] {
                let central = student_t_upper_tail(t, degrees_of_freedom);
                let noncentral = noncentral_t_upper_tail(t, degrees_of_freedom, 0.0);
                assert!((central - noncentral).abs() < 1e-12, "t {t} df {degrees_of_freedom}");
            }
        }
    }

    #[test]
    fn slope_is_the_derivative() {
        let (_, slope) = upper_tail_and_slope(2.3, 7.0, 3.0);
        let h = 1e-5;
        let difference = noncentral_t_upper_tail(2.3, 7.0, 3.0 + h) - noncentral_t_upper_tail(2.3, 7.0, 3.0 - h);
        assert!((slope - difference / (2.0 * h)).abs() < 1e-9);
    }

    /// Published power figures: R's `power.t.test` (n = 20 a group, delta = sd = 1), which
    /// counts the upper tail; the standard G*Power example of paired t (dz = 0.5, 34 pairs)
    /// and Wuensch's G*Power tutorial (one sample of 25, d = 1/3), which count both.
    #[test]
    fn reproduces_published_power() {
        let upper = |degrees_of_freedom: f64, noncentrality: f64| {
            let critical = student_t_quantile(0.975, degrees_of_freedom);
            noncentral_t_upper_tail(critical, degrees_of_freedom, noncentrality)
        };
        let both = |degrees_of_freedom: f64, noncentrality: f64| {
            upper(degrees_of_freedom, noncentrality) + upper(degrees_of_freedom, -noncentrality)
        };
        assert!((upper(38.0, 10f64.sqrt()) - 0.868_952_801_692).abs() < 1e-9);
        assert!((both(33.0, 0.5 * 34f64.sqrt()) - 0.807_777_501_3).abs() < 1e-9);
        assert!((both(24.0, 5.0 / 3.0) - 0.360).abs() < 5e-4);
    }
}
