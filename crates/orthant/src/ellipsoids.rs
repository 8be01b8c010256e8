//! How well a partition describes points that were held out, if every cluster is an ellipsoid; whatever model found it.
//!
//! A model's own law of noise judges its clusters by itself. Real clusters are long in some directions and short in
//! others, and follow none of the laws; but a partition that cuts through a dense region, or joins two, describes points that
//! it has not seen worse than one that does not. So the same normal densities, a centre and a covariance for each
//! cluster, are fitted to the clusters on four fifths of the points, and tried on the last fifth. Covariances are drawn to the
//! common one as if by d + 2 points more.
//!
//! The points are seen in few dimensions, those of the largest singular values: of the data as they are, or, where nearly all
//! entries are 0, of unit points, counts as ln(1 + count) times the smooth idf, so that a few frequent words or long
//! texts are not all that is seen.

use nalgebra::{Cholesky, DMatrix, DVector};

use crate::entries::Entries;
use crate::error::Result;
use crate::matrix::{Csr, Data, Mat, Matrix, open};
use crate::random::below;
use crate::singular::top;
use crate::start::Stream;

/// `ln 2π`.
pub(crate) const LN_2PI: f64 = 1.837_877_066_409_345_5;
/// More dimensions than these hardly change which partition is the best.
const DIMENSIONS: usize = 10;
/// Parts of the points, each of which is held out once.
const FOLDS: usize = 5;

/// Points in few dimensions, and the part in which each is held out.
pub(crate) struct Seen {
    /// points × dimensions.
    points: Mat,
    folds: Vec<usize>,
    /// Whether nearly all entries are 0, as in texts.
    pub(crate) sparse: bool,
}

impl Seen {
    /// Looks at data that will be divided into up to k clusters.
    pub(crate) fn new(data: &dyn Data, k: usize, seed: u64) -> Result<Seen> {
        let (n, features) = (data.shape().points, data.shape().features);
        let dimensions = DIMENSIONS.min(features).min(n / (5 * k)).max(1);
        let entries = Entries::of(data)?;
        let points = match entries.sparse {
            true => {
                let weighted = weighted(data, entries.whole)?;
                in_few_dimensions(&*open(&weighted, None)?, dimensions)?
            }
            false => in_few_dimensions(data, dimensions)?,
        };
        let mut random = Stream { seed, run: 1 << 49 }.generator();
        Ok(Seen {
            points,
            folds: (0..n).map(|_| below(&mut random, FOLDS)).collect(),
            sparse: entries.sparse,
        })
    }

    /// The log-density of every point when it was held out, by a partition into at most k clusters.
    pub(crate) fn held_out(&self, labels: &[usize], k: usize) -> Vec<f64> {
        densities(&self.points, labels, &self.folds, k)
    }
}

/// Mean difference of two lists of log-densities, and how many of its standard errors it is from 0 (Vuong's test).
pub(crate) fn difference(a: &[f64], b: &[f64]) -> (f64, f64) {
    let n = a.len() as f64;
    let mean = a.iter().zip(b).map(|(a, b)| a - b).sum::<f64>() / n;
    let variance = a.iter().zip(b).map(|(a, b)| (a - b - mean).powi(2)).sum::<f64>() / n;
    (mean, mean / (variance / n).sqrt().max(1e-12))
}

/// Sparse points of unit norm; whole numbers are counts, of which rare ones tell more and many of one little more than few.
fn weighted(data: &dyn Data, counts: bool) -> Result<Matrix> {
    let (shape, scale) = (data.shape(), data.facts().scale);
    let (mut offsets, mut columns, mut values) = (vec![0], vec![], vec![]);
    let mut points_with = vec![0usize; shape.features];
    for j in 0..shape.points {
        data.entries(j, &mut |f, m| {
            if m > 0.0 {
                points_with[f] += 1;
                // Beyond 32 bits the matrix below is refused.
                columns.push(i32::try_from(f).unwrap_or(i32::MAX));
                values.push(if counts { (m / scale).ln_1p() } else { m });
            }
        })?;
        offsets.push(values.len());
    }
    if counts {
        let idf = |f: i32| ((1 + shape.points) as f64 / (1 + points_with[f as usize]) as f64).ln() + 1.0;
        values.iter_mut().zip(&columns).for_each(|(x, &f)| *x *= idf(f));
    }
    for pair in offsets.windows(2) {
        let point = &mut values[pair[0]..pair[1]];
        let norm = point.iter().map(|x| x * x).sum::<f64>().sqrt();
        point.iter_mut().for_each(|x| *x /= norm.max(f64::MIN_POSITIVE));
    }
    Ok(Matrix::SparseF64(Csr::new(shape.features, offsets, columns, values)?))
}

/// The points by the leading singular vectors (points × dimensions).
fn in_few_dimensions(data: &dyn Data, dimensions: usize) -> Result<Mat> {
    let axes = top(data, dimensions)?.left;
    let mut seen = Mat::zeros(data.shape().points, dimensions);
    for j in 0..seen.rows {
        data.entries(j, &mut |f, m| (0..dimensions).for_each(|i| seen[(j, i)] += m * axes[(f, i)]))?;
    }
    Ok(seen)
}

fn densities(seen: &Mat, labels: &[usize], folds: &[usize], k: usize) -> Vec<f64> {
    let (n, d) = (seen.rows, seen.cols);
    let all: Vec<usize> = (0..n).collect();
    let within = scatters(seen, labels, &all, k).into_iter().fold(DMatrix::zeros(d, d), |sum, s| sum + s.2);
    // Rounding must not make it singular.
    let common = (&within + DMatrix::identity(d, d) * (1e-9 * within.trace() / d as f64)) / n as f64;
    let mut found = vec![0.0; n];
    for fold in 0..FOLDS {
        let (out, fitted): (Vec<usize>, Vec<usize>) = all.iter().partition(|&&j| folds[j] == fold);
        let drawn = d as f64 + 2.0;
        let clusters: Vec<(f64, DVector<f64>, Cholesky<f64, _>)> = scatters(seen, labels, &fitted, k)
            .into_iter()
            .filter_map(|(count, centre, scatter)| {
                let covariance = (scatter + &common * drawn) / (count as f64 + drawn);
                let factor = (count > 0).then(|| Cholesky::new(covariance)).flatten()?;
                let share = (count as f64 / fitted.len() as f64).ln();
                let constant =
                    share - factor.l_dirty().diagonal().map(f64::ln).sum() - 0.5 * d as f64 * LN_2PI;
                Some((constant, centre, factor))
            })
            .collect();
        for j in out {
            let point = DVector::from_row_slice(seen.row(j));
            let each = clusters.iter().map(|(constant, centre, factor)| {
                let scaled = factor.l_dirty().solve_lower_triangular(&(&point - centre));
                constant - 0.5 * scaled.map_or(f64::INFINITY, |s| s.norm_squared())
            });
            found[j] = ln_sum(&each.collect::<Vec<_>>());
        }
    }
    found
}

/// Size, centre and scatter `Σ(x − c)(x − c)ᵀ` of every cluster, of some of the points.
fn scatters(
    seen: &Mat,
    labels: &[usize],
    points: &[usize],
    k: usize,
) -> Vec<(usize, DVector<f64>, DMatrix<f64>)> {
    let d = seen.cols;
    let mut found = vec![(0, DVector::zeros(d), DMatrix::zeros(d, d)); k];
    for &j in points {
        let (count, centre, _) = &mut found[labels[j]];
        *count += 1;
        *centre += DVector::from_row_slice(seen.row(j));
    }
    found.iter_mut().for_each(|(count, centre, _)| *centre /= (*count).max(1) as f64);
    for &j in points {
        let (_, centre, scatter) = &mut found[labels[j]];
        let left = DVector::from_row_slice(seen.row(j)) - &*centre;
        scatter.ger(1.0, &left, &left, 1.0);
    }
    found
}

/// `ln Σ exp xᵢ`.
fn ln_sum(x: &[f64]) -> f64 {
    let most = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if most.is_finite() { most + x.iter().map(|x| (x - most).exp()).sum::<f64>().ln() } else { most }
}
