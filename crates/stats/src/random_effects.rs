//! Estimates of alike things, each made better by what all of them say.
//!
//! In: effects with their standard errors, such as what each test says of something that all tests share. Out: their
//! mean, how much they truly differ, and what each is likely to be: its own estimate where that is precise or effects
//! differ much, else the mean of all. Method of moments of DerSimonian and Laird (1986), each effect then by empirical
//! Bayes.

/// An estimate and its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effect {
    /// The estimate.
    pub value: f64,
    /// Its standard error; above 0.
    pub standard_error: f64,
}

impl Effect {
    fn is_usable(&self) -> bool {
        self.value.is_finite() && self.standard_error.is_finite() && self.standard_error > 0.0
    }

    fn variance(&self) -> f64 {
        self.standard_error * self.standard_error
    }

    /// What several estimates of one thing say together, each weighed by its precision; `None` without any that has a
    /// standard error.
    pub fn together(effects: &[Effect]) -> Option<Effect> {
        weighed(effects, 0.0)
    }
}

/// The mean with weights of 1 / (variance + between).
fn weighed(effects: &[Effect], between: f64) -> Option<Effect> {
    let weights = effects.iter().filter(|effect| effect.is_usable()).map(|effect| {
        let weight = 1.0 / (effect.variance() + between);
        (weight, weight * effect.value)
    });
    let (weight, sum) = weights.fold((0.0, 0.0), |sums, one| (sums.0 + one.0, sums.1 + one.1));
    (weight > 0.0).then(|| Effect { value: sum / weight, standard_error: weight.sqrt().recip() })
}

/// What a number of effects have in common.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RandomEffects {
    /// Their mean.
    pub mean: Effect,
    /// The variance of the true effects around it.
    pub between: f64,
}

impl RandomEffects {
    /// Of effects of alike things; `None` without any that has a standard error.
    pub fn new(effects: &[Effect]) -> Option<RandomEffects> {
        let fixed = Effect::together(effects)?;
        let usable: Vec<&Effect> = effects.iter().filter(|effect| effect.is_usable()).collect();
        let weights = || usable.iter().map(|effect| effect.variance().recip());
        let (sum, squares) = (weights().sum::<f64>(), weights().map(|weight| weight * weight).sum::<f64>());
        let apart = usable.iter().map(|effect| (effect.value - fixed.value).powi(2) / effect.variance()).sum::<f64>();
        let beyond_chance = apart - (usable.len() - 1) as f64;
        // A single effect says nothing of how much they differ.
        let between = if usable.len() > 1 { (beyond_chance / (sum - squares / sum)).max(0.0) } else { 0.0 };
        Some(RandomEffects { mean: weighed(effects, between)?, between })
    }

    /// What one of them is likely to be, given its own estimate or without one.
    pub fn of(&self, own: Option<Effect>) -> f64 {
        match own.filter(Effect::is_usable) {
            Some(own) => {
                let weight = self.between / (self.between + own.variance());
                weight * own.value + (1.0 - weight) * self.mean.value
            }
            None => self.mean.value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(value: f64, variance: f64) -> Effect {
        Effect { value, standard_error: variance.sqrt() }
    }

    /// Thirteen trials of the BCG vaccine (Colditz et al. 1994): log relative risks and their variances, as in the R
    /// package metadat; metafor's `rma(yi, vi, method = "DL")`.
    #[test]
    fn agrees_with_metafor() {
        let trials = [
            (-0.8893, 0.3256),
            (-1.5854, 0.1946),
            (-1.3481, 0.4154),
            (-1.4416, 0.0200),
            (-0.2175, 0.0512),
            (-0.7861, 0.0069),
            (-1.6209, 0.2230),
            (0.0120, 0.0040),
            (-0.4694, 0.0564),
            (-1.3713, 0.0730),
            (-0.3394, 0.0124),
            (0.4459, 0.5325),
            (-0.0173, 0.0714),
        ]
        .map(|(value, variance)| effect(value, variance));
        let all = RandomEffects::new(&trials).expect("thirteen");
        assert!((all.between - 0.3088).abs() < 5e-4, "{}", all.between);
        assert!((all.mean.value + 0.7141).abs() < 5e-4, "{:?}", all.mean);
        assert!((all.mean.standard_error - 0.1787).abs() < 5e-4, "{:?}", all.mean);
        // Precise trials keep what they found, others come closer to the mean.
        assert!((all.of(Some(trials[7])) - 0.0027).abs() < 1e-3, "{}", all.of(Some(trials[7])));
        assert!(all.of(Some(trials[11])) < 0.1 && all.of(Some(trials[11])) > all.mean.value);
        assert_eq!(all.of(None), all.mean.value);
    }

    #[test]
    fn effects_that_differ_by_chance_alone_are_one() {
        let all = RandomEffects::new(&[effect(0.9, 1.0), effect(1.1, 1.0), effect(1.3, 4.0)]).expect("three");
        assert_eq!(all.between, 0.0);
        assert_eq!(all.of(Some(effect(1.3, 4.0))), all.mean.value);
        let together = Effect::together(&[effect(1.0, 1.0), effect(3.0, 1.0)]).expect("two");
        assert!((together.value - 2.0).abs() < 1e-12 && (together.standard_error - 0.5f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn what_has_no_standard_error_is_left_out() {
        let odd = [effect(5.0, 0.0), Effect { value: f64::NAN, standard_error: 1.0 }];
        assert_eq!((RandomEffects::new(&odd), RandomEffects::new(&[]), Effect::together(&odd)), (None, None, None));
        let one = RandomEffects::new(&[odd[0], odd[1], effect(0.2, 0.01)]).expect("one");
        assert_eq!(one.between, 0.0);
        assert!((one.mean.value - 0.2).abs() < 1e-12 && (one.of(Some(odd[0])) - 0.2).abs() < 1e-12);
    }
}
