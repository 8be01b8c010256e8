//! How well each of the three models explains the points, on one scale: the logarithm of a density.
//!
//! In coordinates along and across the direction of a cluster, each model is a law of the noise:
//!
//! - k-means: `m = c + σε`, round noise around a centre, along the direction as much as across it;
//! - spherical k-means: `m = s(u + σε)`, noise across that grows with the strength s, which may be anything;
//! - ONMF: `m = su + σε`, noise across that does not depend on s, which may be anything.
//!
//! "Anything" is a law with one peak for every cluster (`strengths`): strengths with several peaks are several clusters
//! of k-means, and that is what tells that scale matters. The noise has p dimensions across (see `measure`), so
//! p + 1 around a centre.
//!
//! The density of a point is that of the mixture `Σᵢ πᵢ fᵢ(m)`, not that of its own cluster alone: short points lie
//! between the directions, and noise that a partition cuts off there would seem to grow with the strength. Every
//! number that was estimated costs `½ ln n` nats (Schwarz): a centre has p + 1 and its noise, a direction p, its noise,
//! and two of the law of its strengths.

use super::strengths;
use crate::ellipsoids::LN_2PI;
use crate::matrix::Mat;

/// Steps of expectation and maximisation; the densities hardly change after a few.
const STEPS: usize = 30;

/// The points as a set of clusters sees them.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    /// `mᵀu` for directions, positive (points × k).
    pub(super) strength: Mat,
    /// `‖m − (mᵀu)u‖²` for directions, `‖m − c‖²` for centres (points × k).
    pub(super) distance2: Mat,
    /// The cluster each point was put into.
    pub(super) labels: Vec<usize>,
    /// Squared noise below this is rounding.
    pub(super) floor: f64,
}

/// k-means: noise in `dimensions` around centres.
pub(super) fn centres(seen: &Seen, dimensions: f64) -> Vec<f64> {
    let estimated = dimensions + 1.0;
    mixture(seen, estimated, |weights, density| {
        noise(&seen.distance2, weights, dimensions, seen.floor, density)
    })
}

/// ONMF (`power` 0) and spherical k-means (`power` 1): noise across of size `strength^power` in so many dimensions.
pub(super) fn directions(seen: &Seen, dimensions: f64, power: f64) -> Vec<f64> {
    let Seen { strength, distance2, floor, .. } = seen;
    let size = strength.clone().map(|s| s.powf(power));
    let relative2 = Mat::from_fn(size.rows, size.cols, |j, i| distance2[(j, i)] / size[(j, i)].powi(2));
    let typical = seen.labels.iter().enumerate().map(|(j, &i)| size[(j, i)]).sum::<f64>() / size.rows as f64;
    let estimated = dimensions + 3.0;
    mixture(seen, estimated, |weights, density| {
        noise(&relative2, weights, dimensions, floor / (typical * typical), density);
        for i in 0..weights.cols {
            let law = strengths::likeliest(strength, weights, i);
            for j in 0..weights.rows {
                // The density is that of m, not of m/s.
                density[(j, i)] += law.ln_density(strength[(j, i)]) - dimensions * size[(j, i)].ln();
            }
        }
    })
}

/// Log-densities of normal noise with squared lengths `q` in so many dimensions; its variance is estimated for each
/// cluster and drawn to the common one as if by two points more.
fn noise(q: &Mat, weights: &Mat, dimensions: f64, floor: f64, density: &mut Mat) {
    let k = q.cols;
    let (mut sums, mut counts) = (vec![0.0; k], vec![0.0; k]);
    for (at, (q, w)) in q.data.iter().zip(&weights.data).enumerate() {
        sums[at % k] += w * q;
        counts[at % k] += w;
    }
    let common = sums.iter().sum::<f64>() / (q.rows as f64 * dimensions);
    for i in 0..k {
        let variance = ((sums[i] + 2.0 * dimensions * common) / ((counts[i] + 2.0) * dimensions)).max(floor);
        let constant = -0.5 * dimensions * (variance.ln() + LN_2PI);
        for j in 0..q.rows {
            density[(j, i)] = constant - q[(j, i)] / (2.0 * variance);
        }
    }
}

/// Log-densities of the points under the mixture of clusters whose own log-densities `estimate` finds for weights
/// (points × k): expectation and maximisation, from the partition; the best step counts. So many numbers were
/// `estimated` for every cluster.
fn mixture(seen: &Seen, estimated: f64, estimate: impl Fn(&Mat, &mut Mat)) -> Vec<f64> {
    let (n, k) = (seen.labels.len(), seen.distance2.cols);
    let mut weights = Mat::zeros(n, k);
    seen.labels.iter().enumerate().for_each(|(j, &i)| weights[(j, i)] = 1.0);
    let mut density = Mat::zeros(n, k);
    let mut best: Option<(f64, Vec<f64>)> = None;
    for _ in 0..STEPS {
        estimate(&weights, &mut density);
        let shares: Vec<f64> =
            (0..k).map(|i| (0..n).map(|j| weights[(j, i)]).sum::<f64>() / n as f64).collect();
        let mut points = Vec::with_capacity(n);
        for j in 0..n {
            let row = density.row_mut(j);
            row.iter_mut().zip(&shares).for_each(|(d, share)| *d += share.ln());
            let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = row.iter().map(|d| (d - most).exp()).sum();
            weights.row_mut(j).iter_mut().zip(row).for_each(|(w, d)| *w = (*d - most).exp() / sum);
            points.push(most + sum.ln());
        }
        let total = points.iter().sum::<f64>() / n as f64;
        let last = best.as_ref().map_or(f64::NEG_INFINITY, |b| b.0);
        if total > last || best.is_none() {
            best = Some((total, points));
        }
        if (total - last).abs() < 1e-7 {
            break;
        }
    }
    let price = 0.5 * (n as f64).ln() * estimated * k as f64 / n as f64;
    best.map_or(vec![], |b| b.1.into_iter().map(|d| d - price).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ellipsoids::difference;
    use crate::random::{Normal, stream, uniform};

    fn along(strength: &[f64], distance2: Vec<f64>) -> Seen {
        let column = |data: Vec<f64>| Mat { rows: data.len(), cols: 1, data };
        Seen {
            strength: column(strength.to_vec()),
            distance2: column(distance2),
            labels: vec![0; strength.len()],
            floor: 1e-30,
        }
    }

    #[test]
    fn the_model_that_made_the_points_is_the_likeliest() {
        let mut rng = stream(2, 0);
        let mut normal = Normal::default();
        let strength: Vec<f64> = (0..300).map(|_| 0.1 + 0.9 * uniform(&mut rng)).collect();
        for power in [0.0, 1.0] {
            let mut across2 =
                |s: &f64| (0..4).map(|_| (0.05 * s.powf(power) * normal.draw(&mut rng)).powi(2)).sum();
            let across2: Vec<f64> = strength.iter().map(&mut across2).collect();
            let of = |p: f64| directions(&along(&strength, across2.clone()), 4.0, p);
            let (gain, z) = difference(&of(power), &of(1.0 - power));
            assert!(gain > 0.1 && z > 3.0, "power {power}: {gain}, {z}");
            let from_centre = strength.iter().zip(&across2).map(|(s, q)| (s - 0.55f64).powi(2) + q).collect();
            assert!(difference(&of(power), &centres(&along(&strength, from_centre), 5.0)).1 > 3.0);
        }
    }

    #[test]
    fn short_points_between_two_directions_are_no_sign_of_proportional_noise() {
        // The axes of the plane, and points s·u + noise with noise as large as the shortest s.
        let (mut rng, mut normal, n) = (stream(3, 0), Normal::default(), 600);
        let points: Vec<[f64; 2]> = (0..n)
            .map(|j| {
                let s = uniform(&mut rng);
                let mut noise = || 0.1 * normal.draw(&mut rng);
                if j % 2 == 0 { [s + noise(), noise()] } else { [noise(), s + noise()] }
            })
            .collect();
        let nearest = |p: &[f64; 2]| usize::from(p[1].abs() > p[0].abs());
        let seen = Seen {
            strength: Mat::from_fn(n, 2, |j, i| points[j][i].abs().max(1e-9)),
            distance2: Mat::from_fn(n, 2, |j, i| points[j][1 - i].powi(2)),
            labels: points.iter().map(nearest).collect(),
            floor: 1e-30,
        };
        let (gain, z) = difference(&directions(&seen, 1.0, 0.0), &directions(&seen, 1.0, 1.0));
        assert!(gain > 0.0 && z > 2.0, "{gain}, {z}");
    }
}
