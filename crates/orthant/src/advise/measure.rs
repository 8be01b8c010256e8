//! What the points say about the models' clusters: strengths, noise across, how it depends on the strength.

use rand::RngExt;

use super::likelihood::Polar;
use crate::error::Result;
use crate::matrix::{Data, Mat};
use crate::start::Stream;

/// Numbers gathered at a time.
const GATHERED: usize = 1 << 20;

/// Calls `f` with the number and the entries (scaled) of every point.
pub(super) fn for_each_point(data: &dyn Data, mut f: impl FnMut(usize, &[f64])) -> Result<()> {
    let shape = data.shape();
    let group = (GATHERED / shape.features.max(1)).clamp(1, shape.points.max(1));
    for from in (0..shape.points).step_by(group) {
        let numbers: Vec<usize> = (from..(from + group).min(shape.points)).collect();
        let points = data.gather(&numbers)?.transpose();
        numbers.iter().enumerate().for_each(|(at, &j)| f(j, points.row(at)));
    }
    Ok(())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Along and across unit directions (features × k).
pub(super) fn polar(data: &dyn Data, u: &Mat, labels: &[usize]) -> Result<Polar> {
    let rows = u.transpose();
    let mut polar = Polar::default();
    for_each_point(data, |j, m| {
        let u = rows.row(labels[j]);
        let norm2 = dot(m, m);
        let s = dot(m, u);
        // A point at a right angle to its direction has no strength; the density needs one.
        polar.strength.push(s.max(1e-9 * norm2.sqrt()));
        polar.across2.push(m.iter().zip(u).map(|(m, u)| (m - s * u).powi(2)).sum());
    })?;
    Ok(polar)
}

/// Squared distances from centres (features × k, of the scaled data).
pub(super) fn distances2(data: &dyn Data, centres: &Mat, labels: &[usize]) -> Result<Vec<f64>> {
    let rows = centres.transpose();
    let mut distances = vec![];
    for_each_point(data, |j, m| {
        let c = rows.row(labels[j]);
        distances.push(m.iter().zip(c).map(|(m, c)| (m - c).powi(2)).sum());
    })?;
    Ok(distances)
}

/// In how many dimensions the noise across is spread, from 1 to features − 1: the residuals r of two points of
/// a cluster have `E cos²(r, r′) = 1/p` where the noise is round in p dimensions.
pub(super) fn dimensions(data: &dyn Data, u: &Mat, labels: &[usize], seed: u64) -> Result<f64> {
    const PAIRS: usize = 1000;
    let features = data.shape().features;
    let mut members: Vec<Vec<usize>> = vec![vec![]; u.cols];
    labels.iter().enumerate().for_each(|(j, &i)| members[i].push(j));
    let mut random = Stream { seed, run: 1 << 51 }.generator();
    let mut pairs = vec![];
    for _ in 0..PAIRS {
        let first = random.random_range(0..labels.len());
        let own = &members[labels[first]];
        let second = own[random.random_range(0..own.len())];
        if first != second {
            pairs.push([first, second]);
        }
    }
    let rows = u.transpose();
    let (mut sum, mut count) = (0.0, 0usize);
    let group = (GATHERED / 2 / features.max(1)).max(1);
    for group in pairs.chunks(group) {
        let points = data.gather(group.as_flattened())?.transpose();
        for (at, [first, _]) in group.iter().enumerate() {
            let u = rows.row(labels[*first]);
            let residual = |m: &[f64]| {
                let s = dot(m, u);
                m.iter().zip(u).map(|(m, u)| m - s * u).collect::<Vec<f64>>()
            };
            let (a, b) = (residual(points.row(2 * at)), residual(points.row(2 * at + 1)));
            let lengths2 = dot(&a, &a) * dot(&b, &b);
            if lengths2 > 0.0 {
                sum += dot(&a, &b).powi(2) / lengths2;
                count += 1;
            }
        }
    }
    let most = (features as f64 - 1.0).max(1.0);
    if sum <= 0.0 {
        return Ok(most);
    }
    Ok((count as f64 / sum).clamp(1.0, most))
}

/// How the noise across grows with the strength: as `strength^slope`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slope {
    /// 0: independent of the strength; 1: proportional to it.
    pub slope: f64,
    /// Its standard error.
    pub error: f64,
}

/// Quasi-likelihood estimate of the slope, every cluster with noise of its own size: q has the mean
/// `exp(aᵢ + 2b ln s)`, and `Σ [ln mean_i(q s⁻²ᵇ) + 2b ln s]` is least at b. None where there is no noise, or all
/// strengths are alike.
pub(super) fn slope(polar: &Polar, labels: &[usize], k: usize) -> Option<Slope> {
    let Polar { strength, across2 } = polar;
    if across2.iter().sum::<f64>() <= 1e-24 * strength.iter().map(|s| s * s).sum::<f64>() {
        return None;
    }
    let logs: Vec<f64> = strength.iter().map(|s| s.ln()).collect();
    let mut members: Vec<Vec<usize>> = vec![vec![]; k];
    labels.iter().enumerate().for_each(|(j, &i)| members[i].push(j));
    members.retain(|m| m.len() >= 3 && m.iter().any(|&j| across2[j] > 0.0));
    // The derivative: Σᵢ Σⱼ 2(x_j − weighted mean of x), which falls in b.
    let derivative = |b: f64| -> f64 {
        members
            .iter()
            .map(|m| {
                let weight = |j: usize| across2[j] * (-2.0 * b * logs[j]).exp();
                let whole: f64 = m.iter().map(|&j| weight(j)).sum();
                let weighted = m.iter().map(|&j| weight(j) * logs[j]).sum::<f64>() / whole;
                let mean = m.iter().map(|&j| logs[j]).sum::<f64>() / m.len() as f64;
                (weighted - mean) * m.len() as f64
            })
            .sum()
    };
    let (mut low, mut high) = (-4.0, 6.0);
    if !(derivative(low) > 0.0 && derivative(high) < 0.0) {
        return None;
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if derivative(middle) > 0.0 { low = middle } else { high = middle }
    }
    let b = 0.5 * (low + high);
    // The sandwich: variance of the estimating function over its squared derivative.
    let (mut variance, mut information) = (0.0, 0.0);
    for m in &members {
        let ratio = |j: usize| across2[j] * (-2.0 * b * logs[j]).exp();
        let whole = m.iter().map(|&j| ratio(j)).sum::<f64>() / m.len() as f64;
        let mean = m.iter().map(|&j| logs[j]).sum::<f64>() / m.len() as f64;
        for &j in m {
            let x = logs[j] - mean;
            variance += ((ratio(j) / whole - 1.0) * x).powi(2);
            information += 2.0 * x * x * ratio(j) / whole;
        }
    }
    (information > 0.0).then(|| Slope { slope: b, error: variance.sqrt() / information })
}

/// Standard deviation of the logarithms of the strengths within the clusters.
pub(super) fn spread(polar: &Polar, labels: &[usize], k: usize) -> f64 {
    let mut sums = vec![(0usize, 0.0, 0.0); k];
    for (s, &i) in polar.strength.iter().zip(labels) {
        let x = s.ln();
        sums[i] = (sums[i].0 + 1, sums[i].1 + x, sums[i].2 + x * x);
    }
    let within: f64 = sums.iter().filter(|s| s.0 > 0).map(|s| s.2 - s.1 * s.1 / s.0 as f64).sum();
    (within / polar.strength.len() as f64).max(0.0).sqrt()
}
