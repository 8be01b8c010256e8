//! How well each of the three models explains the points, on one scale: the logarithm of a density.
//!
//! In coordinates along and across the direction of a point's cluster, each model is a law of the noise:
//!
//! - k-means: `m = c + σε`, round noise around a centre, along the direction as much as across it;
//! - spherical k-means: `m = s(u + σε)`, noise across that grows with the strength s, which may be anything;
//! - ONMF: `m = su + σε`, noise across that does not depend on s, which may be anything.
//!
//! "Anything" is a law with one peak for every cluster: a cluster of strengths with several peaks is several clusters
//! of k-means, and that is what tells that scale matters. All three pay for saying which cluster a point is in.
//! The noise has p dimensions across (see `measure`), so p + 1 around a centre.

/// `ln 2π`.
const LN_2PI: f64 = 1.837_877_066_409_345_5;

/// Smallest number of points for which a cluster has a law of strengths of its own.
const OWN_LAW: usize = 8;

/// The logarithm of each cluster's share, for each of its points.
fn shares(labels: &[usize], k: usize) -> Vec<f64> {
    let counts = counts(labels, k);
    labels.iter().map(|&i| (counts[i] as f64 / labels.len() as f64).ln()).collect()
}

fn counts(labels: &[usize], k: usize) -> Vec<usize> {
    let mut counts = vec![0; k];
    labels.iter().for_each(|&i| counts[i] += 1);
    counts
}

/// Log-densities of normal noise with squared lengths `q` in so many dimensions, its variance estimated for
/// each cluster (and drawn to the common one as if by two points more).
fn noise(q: &[f64], labels: &[usize], k: usize, dimensions: f64, floor: f64) -> Vec<f64> {
    let counts = counts(labels, k);
    let mut sums = vec![0.0; k];
    q.iter().zip(labels).for_each(|(q, &i)| sums[i] += q);
    let common = sums.iter().sum::<f64>() / (q.len() as f64 * dimensions);
    let variance: Vec<f64> = sums
        .iter()
        .zip(&counts)
        .map(|(sum, &count)| {
            ((sum + 2.0 * dimensions * common) / ((count + 2) as f64 * dimensions)).max(floor)
        })
        .collect();
    let density =
        |(q, &i): (&f64, &usize)| -0.5 * dimensions * (variance[i].ln() + LN_2PI) - q / (2.0 * variance[i]);
    q.iter().zip(labels).map(density).collect()
}

/// k-means: `distance2` are the squared distances from the centres.
pub(super) fn centres(distance2: &[f64], labels: &[usize], k: usize, across: f64, floor: f64) -> Vec<f64> {
    let mut density = noise(distance2, labels, k, across + 1.0, floor);
    density.iter_mut().zip(shares(labels, k)).for_each(|(d, s)| *d += s);
    density
}

/// ONMF (`power` 0) and spherical k-means (`power` 1): noise across of size `strength^power`.
pub(super) fn directions(
    polar: &Polar,
    labels: &[usize],
    k: usize,
    across: f64,
    power: f64,
    floor: f64,
) -> Vec<f64> {
    let Polar { strength, across2 } = polar;
    let size = |s: &f64| s.powf(power);
    let relative: Vec<f64> = across2.iter().zip(strength).map(|(q, s)| q / size(s).powi(2)).collect();
    let typical = strength.iter().map(size).sum::<f64>() / strength.len() as f64;
    let mut density = noise(&relative, labels, k, across, floor / typical.powi(2));
    let laws = laws(strength, labels, k);
    for (j, share) in shares(labels, k).into_iter().enumerate() {
        // The density is that of m, not of m/s.
        density[j] += share + laws[j] - across * size(&strength[j]).ln();
    }
    density
}

/// Points in coordinates along and across the direction of their cluster.
#[derive(Debug, Clone, Default)]
pub(super) struct Polar {
    /// `mᵀu`, positive.
    pub(super) strength: Vec<f64>,
    /// `‖m − (mᵀu)u‖²`.
    pub(super) across2: Vec<f64>,
}

/// Log-densities of the strengths under the likeliest of a few laws with one peak, for each cluster.
fn laws(strength: &[f64], labels: &[usize], k: usize) -> Vec<f64> {
    let counts = counts(labels, k);
    let mut sums = vec![0.0; k];
    strength.iter().zip(labels).for_each(|(s, &i)| sums[i] += s);
    let mean: Vec<f64> = sums.iter().zip(&counts).map(|(s, &c)| s / c.max(1) as f64).collect();
    let relative: Vec<f64> = strength.iter().zip(labels).map(|(s, &i)| s / mean[i]).collect();
    let small = |i: usize| counts[i] < OWN_LAW;
    // Small clusters share a law, each at its own mean.
    let mut groups: Vec<Vec<usize>> = vec![vec![]; k + 1];
    for (j, &i) in labels.iter().enumerate() {
        groups[if small(i) { k } else { i }].push(j);
    }
    let mut density = vec![0.0; strength.len()];
    for group in &groups {
        let values: Vec<f64> = group.iter().map(|&j| relative[j]).collect();
        for (&j, law) in group.iter().zip(likeliest(&values)) {
            density[j] = law - mean[labels[j]].ln();
        }
    }
    density
}

/// Log-densities under whichever of the laws makes the values likeliest.
fn likeliest(x: &[f64]) -> Vec<f64> {
    let laws = [normal(x), lognormal(x), uniform(x), exponential(x)];
    let total = |d: &Vec<f64>| d.iter().sum::<f64>();
    laws.into_iter().max_by(|a, b| total(a).total_cmp(&total(b))).unwrap_or_default()
}

/// Smallest relative width of a law: values that are all the same would have an infinite density.
const NARROW: f64 = 1e-3;

fn moments(x: &[f64]) -> (f64, f64) {
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
    (mean, variance.max(NARROW * NARROW))
}

fn normal(x: &[f64]) -> Vec<f64> {
    let (mean, variance) = moments(x);
    x.iter().map(|x| -0.5 * (LN_2PI + variance.ln() + (x - mean).powi(2) / variance)).collect()
}

fn lognormal(x: &[f64]) -> Vec<f64> {
    let logs: Vec<f64> = x.iter().map(|x| x.ln()).collect();
    normal(&logs).iter().zip(&logs).map(|(d, log)| d - log).collect()
}

fn uniform(x: &[f64]) -> Vec<f64> {
    let (low, high) = x.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &x| (l.min(x), h.max(x)));
    // The range that is likely to lie behind the range seen.
    let n = x.len() as f64;
    let width = (high - low).max(NARROW) * (n + 1.0) / (n - 1.0).max(1.0);
    vec![-width.ln(); x.len()]
}

fn exponential(x: &[f64]) -> Vec<f64> {
    let low = x.iter().fold(f64::INFINITY, |l, &x| l.min(x));
    let scale = (x.iter().map(|x| x - low).sum::<f64>() / x.len() as f64).max(NARROW);
    x.iter().map(|x| -scale.ln() - (x - low) / scale).collect()
}

/// Mean difference of two log-densities, and how many of its standard errors it is from 0 (Vuong's test).
pub(super) fn difference(a: &[f64], b: &[f64]) -> (f64, f64) {
    let n = a.len() as f64;
    let mean = a.iter().zip(b).map(|(a, b)| a - b).sum::<f64>() / n;
    let variance = a.iter().zip(b).map(|(a, b)| (a - b - mean).powi(2)).sum::<f64>() / n;
    (mean, mean / (variance / n).sqrt().max(1e-12))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Normal, stream, uniform as unit};

    #[test]
    fn densities_of_strengths_integrate_to_one() {
        let mut rng = stream(1, 0);
        let mut normals = Normal::default();
        let draws: Vec<Vec<f64>> = vec![
            (0..400).map(|_| 1.0 + 0.2 * normals.draw(&mut rng)).collect(),
            (0..400).map(|_| (0.5 * normals.draw(&mut rng)).exp()).collect(),
            (0..400).map(|_| 0.1 + unit(&mut rng)).collect(),
            (0..400).map(|_| 0.1 - (1.0 - unit(&mut rng)).ln()).collect(),
        ];
        // The mean of ln f is minus the entropy, for which each law has a formula.
        let entropies = [0.5 * (LN_2PI + 1.0) + 0.2f64.ln(), 0.5 * (LN_2PI + 1.0) + 0.5f64.ln(), 0.0, 1.0];
        for (x, entropy) in draws.iter().zip(entropies) {
            let law = likeliest(x);
            let found = -law.iter().sum::<f64>() / law.len() as f64;
            assert!((found - entropy).abs() < 0.12, "{found} for {entropy}");
        }
    }

    #[test]
    fn the_model_that_made_the_points_is_the_likeliest() {
        let mut rng = stream(2, 0);
        let mut normal = Normal::default();
        let n = 300;
        let strength: Vec<f64> = (0..n).map(|_| 0.1 + 0.9 * unit(&mut rng)).collect();
        let labels = vec![0; n];
        for power in [0.0, 1.0] {
            let across2 = strength
                .iter()
                .map(|s| (0..4).map(|_| (0.05 * s.powf(power) * normal.draw(&mut rng)).powi(2)).sum())
                .collect();
            let polar = Polar { strength: strength.clone(), across2 };
            let of = |p: f64| directions(&polar, &labels, 1, 4.0, p, 1e-30);
            let (gain, z) = difference(&of(power), &of(1.0 - power));
            assert!(gain > 0.1 && z > 3.0, "power {power}: {gain}, {z}");
            let distance2: Vec<f64> =
                polar.strength.iter().zip(&polar.across2).map(|(s, q)| (s - 0.55f64).powi(2) + q).collect();
            assert!(difference(&of(power), &centres(&distance2, &labels, 1, 4.0, 1e-30)).1 > 3.0);
        }
    }
}
