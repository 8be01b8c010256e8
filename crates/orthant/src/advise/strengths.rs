//! The strengths of a cluster: any law with one peak.
//!
//! The likeliest of four that differ in their edges and tails: normal, lognormal, uniform and shifted exponential.

use crate::ellipsoids::LN_2PI;
use crate::matrix::Mat;

/// A cluster of fewer points is taken for exponential: that needs the mean alone.
const OWN_LAW: usize = 8;

/// Smallest relative width of a law: values that are all the same would have an infinite density.
const NARROW: f64 = 1e-3;

/// A law of positive numbers.
#[derive(Debug, Clone, Copy)]
pub(super) enum Law {
    Normal {
        mean: f64,
        deviation: f64,
    },
    /// Of the logarithm.
    Lognormal {
        mean: f64,
        deviation: f64,
    },
    Uniform {
        low: f64,
        high: f64,
    },
    Exponential {
        low: f64,
        scale: f64,
    },
}

impl Law {
    pub(super) fn ln_density(self, x: f64) -> f64 {
        let normal = |x: f64, mean: f64, deviation: f64| {
            -0.5 * (LN_2PI + ((x - mean) / deviation).powi(2)) - deviation.ln()
        };
        match self {
            Law::Normal { mean, deviation } => normal(x, mean, deviation),
            Law::Lognormal { mean, deviation } => normal(x.ln(), mean, deviation) - x.ln(),
            Law::Uniform { low, high } if (low..=high).contains(&x) => -(high - low).ln(),
            Law::Exponential { low, scale } if x >= low => -scale.ln() - (x - low) / scale,
            _ => f64::NEG_INFINITY,
        }
    }
}

/// Mean and standard deviation of weighted values.
fn moments(values: &[(f64, f64)]) -> (f64, f64) {
    let whole: f64 = values.iter().map(|(_, w)| w).sum();
    let mean = values.iter().map(|(x, w)| w * x).sum::<f64>() / whole;
    let variance = values.iter().map(|(x, w)| w * (x - mean).powi(2)).sum::<f64>() / whole;
    (mean, variance.sqrt())
}

/// The likeliest law of the strengths of cluster i, where points belong to clusters by weight. Edges are those of the
/// points that belong to it most: beyond them the law says that others are not of this cluster.
pub(super) fn likeliest(strength: &Mat, weights: &Mat, i: usize) -> Law {
    let (mut all, mut own) = (vec![], vec![]);
    for j in 0..strength.rows {
        let (x, row) = (strength.row(j)[i], weights.row(j));
        if row[i] > 0.0 {
            all.push((x, row[i]));
            if row.iter().all(|w| *w <= row[i]) {
                own.push(x);
            }
        }
    }
    let (mean, deviation) = if all.is_empty() { (1.0, 1.0) } else { moments(&all) };
    if own.len() < OWN_LAW {
        return Law::Exponential { low: 0.0, scale: mean };
    }
    let logs: Vec<(f64, f64)> = all.iter().map(|(x, w)| (x.ln(), *w)).collect();
    let (log_mean, log_deviation) = moments(&logs);
    let (low, high) = own.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &x| (l.min(x), h.max(x)));
    let n = own.len() as f64;
    // The range that is likely to lie behind the range seen.
    let beyond = ((high - low) / (n - 1.0)).max(0.5 * NARROW * mean);
    let beyond_low = (own.iter().sum::<f64>() / n - low).max(NARROW * mean) / n;
    let laws = [
        Law::Normal { mean, deviation: deviation.max(NARROW * mean) },
        Law::Lognormal { mean: log_mean, deviation: log_deviation.max(NARROW) },
        Law::Uniform { low: low - beyond, high: high + beyond },
        Law::Exponential {
            low: low - beyond_low,
            scale: (own.iter().sum::<f64>() / n - low).max(NARROW * mean),
        },
    ];
    let total = |law: &Law| own.iter().map(|&x| law.ln_density(x)).sum::<f64>();
    laws.into_iter().max_by(|a, b| total(a).total_cmp(&total(b))).expect("there are four")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Normal, stream, uniform};

    #[test]
    fn the_likeliest_law_has_the_entropy_of_the_one_that_made_the_strengths() {
        let mut rng = stream(1, 0);
        let mut normals = Normal::default();
        let draws: Vec<Vec<f64>> = vec![
            (0..400).map(|_| 1.0 + 0.2 * normals.draw(&mut rng)).collect(),
            (0..400).map(|_| (0.5 * normals.draw(&mut rng)).exp()).collect(),
            (0..400).map(|_| 0.1 + uniform(&mut rng)).collect(),
            (0..400).map(|_| 0.1 - (1.0 - uniform(&mut rng)).ln()).collect(),
        ];
        // The mean of ln f is minus the entropy, for which each law has a formula.
        let entropies = [0.5 * (LN_2PI + 1.0) + 0.2f64.ln(), 0.5 * (LN_2PI + 1.0) + 0.5f64.ln(), 0.0, 1.0];
        for (x, entropy) in draws.iter().zip(entropies) {
            let strength = Mat { rows: x.len(), cols: 1, data: x.clone() };
            let law = likeliest(&strength, &Mat::from_fn(x.len(), 1, |_, _| 1.0), 0);
            let found = -x.iter().map(|&x| law.ln_density(x)).sum::<f64>() / x.len() as f64;
            assert!((found - entropy).abs() < 0.12, "{found} for {entropy}");
        }
    }

    #[test]
    fn every_law_integrates_to_one() {
        let laws = [
            Law::Normal { mean: 5.0, deviation: 0.7 },
            Law::Lognormal { mean: 0.5, deviation: 0.4 },
            Law::Uniform { low: 1.0, high: 4.0 },
            Law::Exponential { low: 0.5, scale: 0.8 },
        ];
        for law in laws {
            let step = 1e-3;
            let whole: f64 = (1..20_000).map(|i| law.ln_density(i as f64 * step).exp() * step).sum();
            assert!((whole - 1.0).abs() < 2e-3, "{law:?}: {whole}");
        }
    }

    #[test]
    fn few_points_have_an_exponential_law() {
        let strength = Mat { rows: 3, cols: 1, data: vec![1.0, 1.0, 1.0] };
        let law = likeliest(&strength, &Mat::from_fn(3, 1, |_, _| 1.0), 0);
        assert!((law.ln_density(1.0) + 1.0).abs() < 1e-12, "{law:?}");
    }
}
