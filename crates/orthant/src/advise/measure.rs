//! What the points say about the models' clusters: strengths, noise across, how it depends on the strength.

use rand::RngExt;

use super::likelihood::Polar;
use crate::error::Result;
use crate::matrix::{Data, Mat};
use crate::start::Stream;

/// `mᵀx` and `‖m − cx‖²` for the factor c that `factor` makes of `(mᵀx, ‖x‖²)`; zeros are not visited, so the second
/// is a sum over the entries and what x has elsewhere.
fn against(data: &dyn Data, j: usize, x: &[f64], factor: impl Fn(f64) -> f64) -> Result<(f64, f64)> {
    let mut dot = 0.0;
    data.entries(j, &mut |f, m| dot += m * x[f])?;
    let c = factor(dot);
    let (mut near, mut seen) = (0.0, 0.0);
    data.entries(j, &mut |f, m| {
        near += (m - c * x[f]).powi(2);
        seen += x[f] * x[f];
    })?;
    let all: f64 = x.iter().map(|x| x * x).sum();
    Ok((dot, near + c * c * (all - seen).max(0.0)))
}

/// Along and across unit directions (features × k).
pub(super) fn polar(data: &dyn Data, u: &Mat, labels: &[usize]) -> Result<Polar> {
    let rows = u.transpose();
    let mut polar = Polar::default();
    for (j, &i) in labels.iter().enumerate() {
        let (s, across2) = against(data, j, rows.row(i), |s| s)?;
        polar.strength.push(s);
        polar.across2.push(across2);
    }
    // A point at a right angle to its direction has no strength; the density needs one.
    let least = 1e-9 * polar.strength.iter().sum::<f64>() / labels.len() as f64;
    polar.strength.iter_mut().for_each(|s| *s = s.max(least).max(f64::MIN_POSITIVE));
    Ok(polar)
}

/// Squared distances from centres (features × k, of the scaled data).
pub(super) fn distances2(data: &dyn Data, centres: &Mat, labels: &[usize]) -> Result<Vec<f64>> {
    let rows = centres.transpose();
    let distance = |(j, &i): (usize, &usize)| Ok(against(data, j, rows.row(i), |_| 1.0)?.1);
    labels.iter().enumerate().map(distance).collect()
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
        let first = random.random_range(0..labels.len());
        let own = &members[labels[first]];
        let second = own[random.random_range(0..own.len())];
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
