//! Tables, closed forms and the `statrs` crate against our distribution functions.

use super::*;
use statrs::function::{beta::beta_reg, gamma::ln_gamma};

fn assert_close(got: f64, expected: f64, relative: f64, what: &str) {
    assert!((got - expected).abs() <= relative * expected.abs(), "{what}: got {got:e}, expected {expected:e}");
}

/// Slow reference: P(T > t) for whole degrees of freedom as a finite sum
/// (Abramowitz and Stegun 26.7.3 and 26.7.4).
fn finite_sum_upper_tail(t: f64, degrees_of_freedom: u32) -> f64 {
    let nu = f64::from(degrees_of_freedom);
    let theta = (t / nu.sqrt()).atan();
    let (sine, cosine) = theta.sin_cos();
    let (first, start) = if degrees_of_freedom % 2 == 1 { (cosine, 3) } else { (1.0, 2) };
    let mut term = first;
    let mut sum = if degrees_of_freedom == 1 { 0.0 } else { term };
    for k in (start..degrees_of_freedom).step_by(2) {
        let k = f64::from(k);
        term *= (k - 1.0) / k * cosine * cosine;
        sum += term;
    }
    let within = if degrees_of_freedom % 2 == 1 { 2.0 / PI * (theta + sine * sum) } else { sine * sum };
    0.5 * (1.0 - within)
}

#[test]
fn t_tail_agrees_with_the_finite_sum() {
    for degrees_of_freedom in (1..=40).chain([101, 500]) {
        for t in [0.01, 0.5, 1.0, 2.0, 3.3] {
            let expected = finite_sum_upper_tail(t, degrees_of_freedom);
            let got = student_t_upper_tail(t, f64::from(degrees_of_freedom));
            assert_close(got, expected, 1e-11, &format!("t {t} df {degrees_of_freedom}"));
            assert_close(
                student_t_upper_tail(-t, f64::from(degrees_of_freedom)),
                1.0 - expected,
                1e-12,
                "the other side",
            );
        }
    }
}

/// Table values: Fisher and Yates, printed to the digits given; closed forms for 1 and 2.
#[test]
fn t_quantiles_agree_with_tables() {
    let check = |probability: f64, degrees_of_freedom: f64, expected: f64, relative: f64| {
        let got = student_t_quantile(probability, degrees_of_freedom);
        assert_close(got, expected, relative, &format!("quantile {probability} df {degrees_of_freedom}"));
    };
    check(0.975, 1.0, (0.475 * PI).tan(), 1e-12);
    check(0.999_5, 1.0, (0.499_5 * PI).tan(), 1e-9);
    check(0.975, 2.0, 0.95 / (2.0 * 0.975 * 0.025f64).sqrt(), 1e-12);
    check(0.975, 3.0, 3.182_446, 1e-6);
    check(0.95, 7.0, 1.894_579, 1e-6);
    check(0.975, 9.0, 2.262_157, 1e-6);
    check(0.995, 30.0, 2.749_996, 1e-6);
    check(0.025, 9.0, -2.262_157, 1e-6);
    check(0.975, 1e9, 1.959_963_984_540_054, 1e-8);
}

#[test]
fn quantile_and_tail_are_inverse() {
    for degrees_of_freedom in [0.7, 1.0, 2.0, 3.5, 7.0, 13.0, 99.0, 1e4, 1e6] {
        for tail in [1e-12, 1e-6, 6.9e-4, 0.025, 0.05, 0.3, 0.499] {
            let t = student_t_quantile(tail, degrees_of_freedom);
            assert_close(
                student_t_upper_tail(-t, degrees_of_freedom),
                tail,
                1e-11,
                &format!("df {degrees_of_freedom}"),
            );
        }
        assert_eq!(student_t_quantile(0.5, degrees_of_freedom), 0.0);
        assert_eq!(student_t_quantile(1.0, degrees_of_freedom), f64::INFINITY);
        assert_eq!(student_t_quantile(0.0, degrees_of_freedom), f64::NEG_INFINITY);
    }
}

#[test]
fn the_normal_limit_joins_without_a_step() {
    for t in [0.5, 2.0, 5.0] {
        let below = student_t_upper_tail(t, NORMAL_LIMIT_DEGREES_OF_FREEDOM);
        let above = student_t_upper_tail(t, NORMAL_LIMIT_DEGREES_OF_FREEDOM * (1.0 + 1e-12));
        assert_close(above, below, 2e-8, &format!("t {t}"));
    }
}

#[test]
fn normal_quantile_agrees_with_known_values() {
    for (probability, expected) in [
        (0.975, 1.959_963_984_540_054),
        (0.95, 1.644_853_626_951_472_7),
        (0.8, 0.841_621_233_572_914_2),
        (1e-10, -6.361_340_902_404_056),
    ] {
        assert_close(normal_quantile(probability), expected, 1e-14, &format!("{probability}"));
        assert_close(normal_cdf(expected), probability, 1e-13, &format!("{expected}"));
    }
    assert_eq!(normal_quantile(1.0), f64::INFINITY);
    assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
}

/// Student (1908), ten patients, gain in sleep by the second drug over the first: the
/// first paired t test ever printed, t = 4.062, p = 0.0028 on 9 degrees of freedom.
#[test]
fn student_sleep_data_p_value() {
    assert_close(student_t_two_sided_p(-4.062_127_683_382_037, 9.0), 0.002_832_890_197_384_255, 1e-9, "p");
    assert_eq!(student_t_two_sided_p(0.0, 9.0), 1.0);
    assert_eq!(student_t_two_sided_p(f64::INFINITY, 9.0), 0.0);
    assert!(student_t_two_sided_p(f64::NAN, 9.0).is_nan());
}

#[test]
fn t_tail_agrees_with_the_incomplete_beta_of_statrs() {
    for degrees_of_freedom in [0.5, 1.3, 4.7, 11.5, 39.2, 200.4] {
        for t in [1e-3, 0.2, 1.0, 1.9, 6.0, 40.0] {
            let x = degrees_of_freedom / (degrees_of_freedom + t * t);
            let expected = 0.5 * beta_reg(0.5 * degrees_of_freedom, 0.5, x);
            assert_close(
                student_t_upper_tail(t, degrees_of_freedom),
                expected,
                1e-11,
                &format!("t {t} df {degrees_of_freedom}"),
            );
        }
    }
}

#[test]
fn gamma_ratio_agrees_with_the_difference() {
    assert_close(gamma_ratio_ln(0.5).exp(), 1.0 / PI.sqrt(), 1e-15, "Γ(1) / Γ(1/2)");
    assert_close(gamma_ratio_ln(1.0).exp(), 0.5 * PI.sqrt(), 1e-15, "Γ(3/2) / Γ(1)");
    for a in [0.1, 0.7, 3.5, 14.9, 15.1, 90.0] {
        assert!((gamma_ratio_ln(a) - (ln_gamma(a + 0.5) - ln_gamma(a))).abs() < 1e-12, "{a}");
    }
}

#[test]
fn trigamma_has_its_closed_forms() {
    assert_close(trigamma(1.0), PI * PI / 6.0, 1e-12, "1");
    assert_close(trigamma(0.5), PI * PI / 2.0, 1e-12, "1/2");
    assert_close(trigamma(40.0), digamma(40.0 + 1e-4).mul_add(1e4, -1e4 * digamma(40.0)), 1e-4, "the slope of digamma");
}
