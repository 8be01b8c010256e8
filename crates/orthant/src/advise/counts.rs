//! Whether the entries are counts, and whether their noise is that of counts.
//!
//! Whole numbers alone say little: radiances, grey values and rounded measurements are whole numbers too. Counts of events
//! have a noise of their own, and where events are rare most entries are 0 and the others small.
//!
//! KL-ONMF is the likelihood of counts whose variance is proportional to their mean. So the entries m and what
//! the clusters of KL-ONMF expect, `μ = (Σm)·u`, are put into classes of μ, each twice the last, and
//! the slope of `ln mean (m − μ)²` over `ln mean μ` is measured: 1 for counts, 0 for noise of one size on all
//! entries, 2 for noise proportional to the entry.

use crate::error::Result;
use crate::matrix::{Data, Mat};

/// What was found on data whose entries are all whole numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Counts {
    /// How the variance of an entry grows with its mean: as `mean^slope`.
    pub slope: f64,
    /// `Σ(m − μ)²/Σμ`: 1 for counts of independent events, more where events come in bursts.
    pub dispersion: f64,
    /// The median of the entries that are not 0.
    pub typical: f64,
    /// The share of the entries that are 0.
    pub zeros: f64,
    /// Mean and variance of every class of entries.
    pub classes: Vec<(f64, f64)>,
}

impl Counts {
    /// Whether the noise is that of counts: the variance grows about like the mean; and either most entries are 0, the
    /// others small, and events come in bursts, as words do; or the variance also is about the mean. Whole numbers without
    /// zeros whose variance is many times their mean, or far below it, are measurements that were rounded.
    pub fn is_poisson_like(&self) -> bool {
        let rare = self.zeros >= 0.5 && self.typical <= 5.0 && self.dispersion <= 100.0;
        let poisson = (0.75..=1.3).contains(&self.slope) && (0.7..=2.5).contains(&self.dispersion);
        (0.6..=1.9).contains(&self.slope) && (rare || poisson)
    }
}

/// At most so many points are looked at, entry by entry.
const LOOKED_AT: usize = 500;

/// A class of entries needs so many of them.
const ENOUGH: usize = 50;

/// Measures the noise of counts around the clusters of KL-ONMF; `sums` (features × k) are those of the points, in
/// any units.
pub(super) fn measure(data: &dyn Data, sums: &Mat, labels: &[usize], zeros: f64) -> Result<Option<Counts>> {
    const LOWEST: i32 = -14;
    let scale = data.facts().scale;
    let rows = sums.transpose();
    let totals: Vec<f64> = (0..rows.rows).map(|i| rows.row(i).iter().sum()).collect();
    let mut classes = vec![(0usize, 0.0, 0.0); 64];
    let mut nonzero = vec![];
    let mut point = vec![0.0; rows.cols];
    for j in (0..labels.len()).step_by(labels.len().div_ceil(LOOKED_AT)) {
        point.fill(0.0);
        data.entries(j, &mut |f, m| point[f] = m / scale)?;
        let (cluster, total) = (rows.row(labels[j]), totals[labels[j]]);
        let length: f64 = point.iter().sum();
        nonzero.extend(point.iter().copied().filter(|x| *x > 0.0));
        for (m, s) in point.iter().zip(cluster) {
            let mean = length * s / total;
            if mean > 0.0 {
                let class = &mut classes[(mean.log2().floor() as i32 - LOWEST).clamp(0, 63) as usize];
                *class = (class.0 + 1, class.1 + mean, class.2 + (m - mean).powi(2));
            }
        }
    }
    nonzero.sort_by(f64::total_cmp);
    let typical = nonzero.get(nonzero.len() / 2).copied().unwrap_or(0.0);
    let (all, squares) = classes.iter().fold((0.0, 0.0), |(a, b), c| (a + c.1, b + c.2));
    // The lowest class holds everything below it.
    let used = classes.iter().skip(1).filter(|c| c.0 >= ENOUGH && c.2 > 0.0);
    let classes: Vec<(f64, f64)> = used.map(|c| (c.1 / c.0 as f64, c.2 / c.0 as f64)).collect();
    if classes.len() < 3 || all <= 0.0 {
        return Ok(None);
    }
    let n = classes.len() as f64;
    let (x, y): (Vec<f64>, Vec<f64>) = classes.iter().map(|c| (c.0.ln(), c.1.ln())).unzip();
    let (mx, my) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    let cross: f64 = x.iter().zip(&y).map(|(x, y)| (x - mx) * (y - my)).sum();
    let square: f64 = x.iter().map(|x| (x - mx).powi(2)).sum();
    Ok((square > 0.0).then(|| Counts {
        slope: cross / square,
        dispersion: squares / all,
        typical,
        zeros,
        classes,
    }))
}
