//! Averages with their uncertainty, and what can be said from them.
//!
//! A difference counts when zero lies outside its 95 % interval (Student's, from the standard error and the number of
//! sets or runs that the average is of); what lies inside decides nothing.

use crate::shown::Verdict;

/// An average and its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    pub value: f64,
    /// Zero where there is nothing random.
    pub error: f64,
    /// Of how many.
    pub count: usize,
}

/// On which side of zero a difference lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Above,
    /// Zero in every pair.
    Equal,
    Below,
    Unclear,
}

impl Estimate {
    /// Of independent values.
    pub fn of(values: &[f64]) -> Estimate {
        let n = values.len() as f64;
        let value = values.iter().sum::<f64>() / n;
        let squares = values.iter().map(|x| (x - value) * (x - value)).sum::<f64>();
        let error = if values.len() > 1 { (squares / (n - 1.0) / n).sqrt() } else { f64::INFINITY };
        Estimate { value, error, count: values.len() }
    }

    /// Of something without a random part.
    pub fn exact(value: f64) -> Estimate {
        Estimate { value, error: 0.0, count: usize::MAX }
    }

    /// The difference of two independent averages.
    pub fn minus(&self, other: &Estimate) -> Estimate {
        Estimate {
            value: self.value - other.value,
            error: self.error.hypot(other.error),
            count: self.count.min(other.count),
        }
    }

    /// Half the width of the 95 % interval.
    pub fn reach(&self) -> f64 {
        if self.error == 0.0 { 0.0 } else { student(self.count.saturating_sub(1)) * self.error }
    }

    /// Where it lies.
    pub fn side(&self) -> Side {
        let reach = self.reach();
        match self.value {
            x if x > reach => Side::Above,
            x if x < -reach => Side::Below,
            x if x == 0.0 && reach == 0.0 => Side::Equal,
            _ => Side::Unclear,
        }
    }

    /// Whether it is smaller than a margin: the whole interval inside holds, the whole outside does not.
    pub fn within(&self, margin: f64) -> Verdict {
        match (self.value.abs(), self.reach()) {
            (x, reach) if x + reach < margin => Verdict::Holds,
            (x, reach) if x - reach > margin => Verdict::Fails,
            _ => Verdict::Uncertain,
        }
    }

    /// `+1.3 ± 0.4` in percent points: the difference and its standard error.
    pub fn points(&self) -> String {
        format!("{:+.1} ± {:.1}", 100.0 * self.value, 100.0 * self.error)
    }
}

/// The 97.5 % quantile of Student's distribution, from the normal one (Fisher's expansion; 0.2 % from 4 degrees on).
fn student(degrees: usize) -> f64 {
    const Z: f64 = 1.959_963_985;
    if degrees == 0 {
        return f64::INFINITY;
    }
    let (v, z2) = (degrees as f64, Z * Z);
    let first = Z * (z2 + 1.0) / 4.0;
    let second = Z * ((5.0 * z2 + 16.0) * z2 + 3.0) / 96.0;
    let third = Z * (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) / 384.0;
    let fourth = Z * ((((79.0 * z2 + 776.0) * z2 + 1482.0) * z2 - 1920.0) * z2 - 945.0) / 92160.0;
    Z + first / v + second / (v * v) + third / v.powi(3) + fourth / v.powi(4)
}

/// A claim that something is above everywhere: ties do not speak against it, what is below does.
pub fn everywhere(sides: &[Side]) -> Verdict {
    at_least(sides, sides.len())
}

/// A claim that something is above in most cases.
pub fn mostly(sides: &[Side]) -> Verdict {
    at_least(sides, sides.len() / 2 + 1)
}

/// A claim that something is above, or equal, in at least so many cases.
pub fn at_least(sides: &[Side], cases: usize) -> Verdict {
    let count = |which: &[Side]| sides.iter().filter(|side| which.contains(side)).count();
    let (sure, possible) =
        (count(&[Side::Above, Side::Equal]), count(&[Side::Above, Side::Equal, Side::Unclear]));
    match cases {
        needed if sure >= needed => Verdict::Holds,
        needed if possible < needed => Verdict::Fails,
        _ => Verdict::Uncertain,
    }
}

/// Of several that must all hold.
pub fn all(verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
    let (mut fails, mut uncertain) = (false, false);
    for verdict in verdicts {
        match verdict {
            Verdict::Holds => {}
            Verdict::Fails => fails = true,
            Verdict::Uncertain => uncertain = true,
            why @ Verdict::Untestable(_) => return why,
        }
    }
    if fails {
        Verdict::Fails
    } else if uncertain {
        Verdict::Uncertain
    } else {
        Verdict::Holds
    }
}

/// Of all draws of so many sets from these, the share in which every set is perfect.
pub fn share_of_perfect_draws(accuracies: &[f64], draw: usize) -> f64 {
    let (all, perfect) = (accuracies.len(), accuracies.iter().filter(|a| **a == 1.0).count());
    if draw > all {
        return f64::NAN;
    }
    // C(perfect, draw) / C(all, draw).
    (0..draw).map(|i| perfect.saturating_sub(i) as f64 / (all - i) as f64).product()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (degrees, printed) in [(4, 2.776), (9, 2.262), (29, 2.045), (49, 2.010), (1000, 1.962)] {
            assert!((student(degrees) / printed - 1.0).abs() < 0.003, "{degrees}: {}", student(degrees));
        }
    }

    #[test]
    fn a_difference_counts_when_its_interval_leaves_zero_out() {
        // Mean 1, deviation 1: with n values the standard error is about 1/√n.
        let spread = |n: usize| -> Vec<f64> { (0..n).map(|i| 2.0 * (i % 2) as f64).collect() };
        assert_eq!(Estimate::of(&spread(4)).side(), Side::Unclear);
        assert_eq!(Estimate::of(&spread(10)).side(), Side::Above);
        assert_eq!(Estimate::of(&[0.0; 5]).side(), Side::Equal);
        assert_eq!(Estimate::of(&[0.3]).side(), Side::Unclear);
        assert_eq!(Estimate::exact(0.3).minus(&Estimate::exact(0.4)).side(), Side::Below);
        let noisy = Estimate::of(&spread(10));
        assert_eq!(Estimate::exact(1.1).minus(&noisy).side(), Side::Unclear);
        assert_eq!(Estimate::exact(9.0).minus(&noisy).side(), Side::Above);
    }

    #[test]
    fn similar_is_what_lies_inside_the_margin_with_its_whole_interval() {
        let about = |value: f64, error: f64| Estimate { value, error, count: 1000 };
        assert_eq!(about(0.01, 0.005).within(0.05), Verdict::Holds);
        assert_eq!(about(-0.04, 0.01).within(0.05), Verdict::Uncertain);
        assert_eq!(about(-0.08, 0.01).within(0.05), Verdict::Fails);
    }

    #[test]
    fn what_is_unclear_decides_only_where_it_does_not_matter() {
        use Side::*;
        assert_eq!(mostly(&[Above, Above, Unclear]), Verdict::Holds);
        assert_eq!(mostly(&[Above, Unclear, Below]), Verdict::Uncertain);
        assert_eq!(mostly(&[Above, Below, Below]), Verdict::Fails);
        assert_eq!(everywhere(&[Above, Equal]), Verdict::Holds);
        assert_eq!(everywhere(&[Above, Unclear]), Verdict::Uncertain);
        assert_eq!(everywhere(&[Above, Unclear, Below]), Verdict::Fails);
        assert_eq!(all([Verdict::Uncertain, Verdict::Fails]), Verdict::Fails);
    }

    #[test]
    fn draws_are_counted_without_putting_back() {
        let sets = [1.0, 1.0, 1.0, 0.5];
        assert_eq!(share_of_perfect_draws(&sets, 3), 0.25);
        assert_eq!(share_of_perfect_draws(&sets[..3], 3), 1.0);
        assert_eq!(share_of_perfect_draws(&sets[2..], 2), 0.0);
        assert!(share_of_perfect_draws(&sets, 5).is_nan());
    }
}
