//! What the points say about the models' clusters: strengths, noise across, how it depends on the strength.

use super::likelihood::Seen;
use crate::error::Result;
use crate::matrix::{Data, Mat};
use crate::random::below;
use crate::start::Stream;

/// Points in coordinates along and across the direction of their cluster.
#[derive(Debug, Clone, Default)]
pub(super) struct Polar {
    /// `mᵀu`, positive.
    pub(super) strength: Vec<f64>,
    /// `‖m − (mᵀu)u‖²`.
    pub(super) across2: Vec<f64>,
}

/// What the points are to columns of x (features × k): unit directions, or centres of the scaled data.
pub(super) fn see(data: &dyn Data, x: &Mat, directions: bool, labels: &[usize]) -> Result<Seen> {
    let (n, k) = (labels.len(), x.cols);
    let rows = x.transpose();
    let norms2: Vec<f64> = (0..k).map(|i| rows.row(i).iter().map(|x| x * x).sum()).collect();
    let (mut strength, mut distance2) = (Mat::zeros(n, k), Mat::zeros(n, k));
    for j in 0..n {
        for i in 0..k {
            let x = rows.row(i);
            let mut dot = 0.0;
            data.entries(j, &mut |f, m| dot += m * x[f])?;
            // Zeros are not visited: what x has there counts at the end.
            let factor = if directions { dot } else { 1.0 };
            let (mut near, mut seen) = (0.0, 0.0);
            data.entries(j, &mut |f, m| {
                near += (m - factor * x[f]).powi(2);
                seen += x[f] * x[f];
            })?;
            strength[(j, i)] = dot;
            distance2[(j, i)] = near + factor * factor * (norms2[i] - seen).max(0.0);
        }
    }
    // A point at a right angle to a direction has no strength; the density needs one.
    let mean = labels.iter().enumerate().map(|(j, &i)| strength[(j, i)]).sum::<f64>() / n as f64;
    let strength = strength.map(|s| s.max(1e-9 * mean).max(f64::MIN_POSITIVE));
    // Noise below rounding is no noise.
    let floor = 1e-20 * data.facts().norm2 / n as f64;
    Ok(Seen { strength, distance2, labels: labels.to_vec(), floor })
}

/// Every point along and across the direction of its own cluster.
pub(super) fn polar(seen: &Seen) -> Polar {
    let own = |x: &Mat| seen.labels.iter().enumerate().map(|(j, &i)| x[(j, i)]).collect();
    Polar { strength: own(&seen.strength), across2: own(&seen.distance2) }
}

/// In how many dimensions the noise across is spread, from 1 to features − 1: the residuals r of two points of
/// a cluster have `E cos²(r, r′) = 1/p` where the noise is round in p dimensions. With `r = m − su` and a unit u,
/// `rᵀr′ = mᵀm′ − ss′`.
pub(super) fn dimensions(
    data: &dyn Data,
    polar: &Polar,
    labels: &[usize],
    k: usize,
    seed: u64,
) -> Result<f64> {
    const PAIRS: usize = 1000;
    let features = data.shape().features;
    let mut members: Vec<Vec<usize>> = vec![vec![]; k];
    labels.iter().enumerate().for_each(|(j, &i)| members[i].push(j));
    let mut random = Stream { seed, run: 1 << 51 }.generator();
    let (mut sum, mut count) = (0.0, 0usize);
    let mut spread_out = vec![0.0; features];
    for _ in 0..PAIRS {
        let first = below(&mut random, labels.len());
        let own = &members[labels[first]];
        let second = own[below(&mut random, own.len())];
        let lengths2 = polar.across2[first] * polar.across2[second];
        if first == second || lengths2 <= 0.0 {
            continue;
        }
        let mut product = -polar.strength[first] * polar.strength[second];
        data.entries(first, &mut |f, m| spread_out[f] = m)?;
        data.entries(second, &mut |f, m| product += m * spread_out[f])?;
        data.entries(first, &mut |f, _| spread_out[f] = 0.0)?;
        sum += product * product / lengths2;
        count += 1;
    }
    let most = (features as f64 - 1.0).max(1.0);
    Ok(if sum > 0.0 { (count as f64 / sum).clamp(1.0, most) } else { most })
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
