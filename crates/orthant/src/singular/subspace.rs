//! The leading eigenpairs of a symmetric matrix at hand that changes a little from call to call.
//!
//! A block of vectors is kept. Every round multiplies it by a Chebyshev polynomial of the matrix, which is small
//! where the unwanted eigenvalues are, and takes the best combinations of what results (Rayleigh–Ritz). The
//! values are those of combinations, so they are never above the true ones: nothing is proven from above here.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::top::{Columns, orthonormalize, to_columns, to_mat};
use crate::matrix::Mat;
use crate::random::uniform;

/// Matrices up to this size are decomposed whole.
const WHOLE: usize = 96;

/// Degree of the polynomial.
const DEGREE: usize = 8;

/// Steps of Lanczos for the other end of the spectrum, which the polynomial needs to know.
const LANCZOS: usize = 12;

/// A symmetric matrix at hand, in whatever format.
pub(crate) trait Symmetric {
    /// How many rows it has.
    fn size(&self) -> usize;
    /// Its product with some columns.
    fn times(&self, x: &Mat) -> Mat;
    /// All of its eigenpairs, where it is small.
    fn eigen(&self) -> (Vec<f64>, Mat);
}

impl Symmetric for Mat {
    fn size(&self) -> usize {
        self.rows
    }
    fn times(&self, x: &Mat) -> Mat {
        self.wide_times(x)
    }
    fn eigen(&self) -> (Vec<f64>, Mat) {
        self.symmetric_eigen()
    }
}

/// Approximate leading eigenpairs.
#[derive(Debug, Clone)]
pub(crate) struct Subspace {
    /// Decreasing.
    pub values: Vec<f64>,
    /// size × values, orthonormal columns.
    pub vectors: Mat,
    /// What all eigenvalues are above, as far as known.
    floor: f64,
    /// Whether they have met no matrix yet.
    fresh: bool,
    random: ChaCha8Rng,
}

impl Subspace {
    /// Random vectors that know nothing yet.
    pub(crate) fn new(size: usize, count: usize) -> Self {
        let random = ChaCha8Rng::seed_from_u64(0x5AB5_9ACE);
        let mut empty =
            Subspace { values: vec![], vectors: Mat::zeros(size, 0), floor: 0.0, fresh: true, random };
        empty.resize(count);
        empty
    }

    fn is_whole(&self) -> bool {
        self.vectors.rows <= WHOLE
    }

    /// Keeps the first `count` vectors, or completes them by random ones.
    pub(crate) fn resize(&mut self, count: usize) {
        let size = self.vectors.rows;
        let count = if self.is_whole() { size } else { count.min(size) };
        let mut columns = to_columns(&self.vectors);
        columns.truncate(count);
        self.take(columns, count);
        let last = self.values.last().copied().unwrap_or(0.0);
        self.values.resize(self.vectors.cols, last);
    }

    /// Takes orthonormal columns, completed by random ones.
    fn take(&mut self, mut columns: Columns, count: usize) {
        let size = self.vectors.rows;
        let mut random = || (0..size).map(|_| uniform(&mut self.random) - 0.5).collect();
        let new = (columns.len()..count).map(|_| random()).collect();
        columns.extend(orthonormalize(&columns, new));
        self.vectors = to_mat(&columns, size);
    }

    /// What the vectors are worth for another matrix, and where its spectrum begins.
    pub(crate) fn meet(&mut self, a: &dyn Symmetric) {
        if self.is_whole() {
            return self.improve(a, 0.0, 1);
        }
        self.combine(a);
        if std::mem::take(&mut self.fresh) {
            // Random vectors know too little for a polynomial: it would see the largest eigenvalue alone.
            (0..3).for_each(|_| self.replace(a, a.times(&self.vectors)));
        }
        let mut column: Vec<f64> = (0..a.size()).map(|_| uniform(&mut self.random) - 0.5).collect();
        let mut basis = orthonormalize(&[], vec![column]);
        let mut images: Vec<Vec<f64>> = vec![];
        for _ in 0..LANCZOS {
            let Some(last) = basis.last() else { break };
            column = a.times(&Mat { rows: a.size(), cols: 1, data: last.clone() }).data;
            images.push(column.clone());
            let next = orthonormalize(&basis, vec![column]);
            if next.is_empty() {
                break;
            }
            basis.extend(next);
        }
        basis.truncate(images.len());
        let (q, aq) = (to_mat(&basis, a.size()), to_mat(&images, a.size()));
        let (values, _) = q.transpose_times(&aq).symmetric_eigen();
        // The true end lies beyond what few steps have seen of it.
        self.floor = values.last().map_or(0.0, |lowest| lowest - 0.2 * lowest.abs());
    }

    /// Some rounds for a matrix that was met, or a similar one. Eigenvalues above `ceiling` need not be told apart.
    pub(crate) fn improve(&mut self, a: &dyn Symmetric, ceiling: f64, rounds: usize) {
        if self.is_whole() {
            (self.values, self.vectors) = a.eigen();
            return;
        }
        for _ in 0..rounds {
            // Vectors above the ceiling gain little by the polynomial, which is told not to see them, but most by
            // a plain product.
            let high = self.values.iter().take_while(|&&v| v > ceiling).count();
            let high = a.times(&self.vectors.columns(0..high));
            self.replace(a, Mat::beside(&[&high, &self.filtered(a, ceiling)]));
        }
    }

    /// The best combinations of other vectors.
    fn replace(&mut self, a: &dyn Symmetric, vectors: Mat) {
        let count = self.vectors.cols;
        let kept = orthonormalize(&[], to_columns(&vectors.with_unit_columns()));
        self.take(kept, count);
        self.combine(a);
        self.resize(count);
    }

    /// Rayleigh–Ritz: the best combinations of the vectors.
    fn combine(&mut self, a: &dyn Symmetric) {
        let image = a.times(&self.vectors);
        let rough = self.vectors.transpose_times(&image);
        let projected = Mat::from_fn(rough.rows, rough.rows, |i, j| 0.5 * (rough[(i, j)] + rough[(j, i)]));
        let (values, rotation) = projected.symmetric_eigen();
        (self.values, self.vectors) = (values, self.vectors.times(&rotation));
    }

    /// The polynomial of the matrix times the vectors.
    fn filtered(&self, a: &dyn Symmetric, ceiling: f64) -> Mat {
        let top = self.values.first().copied().unwrap_or(0.0);
        let last = self.values.last().copied().unwrap_or(0.0);
        let floor = self.floor.min(last);
        // Not so narrow that what is wanted grows beyond all bounds.
        let radius = (0.5 * (last - floor)).max(0.05 * (ceiling.min(top) - last)).max(f64::MIN_POSITIVE);
        let centre = last - radius;
        // Large eigenvalues would drown the others: those known are lowered to the ceiling.
        let high = self.values.iter().take_while(|&&v| v > ceiling).count();
        let known = self.vectors.columns(0..high);
        let excess: Vec<f64> = self.values[..high].iter().map(|v| v - ceiling).collect();
        let times = |x: &Mat| {
            let ax = a.times(x).plus(-centre, x);
            if high == 0 {
                return ax;
            }
            let mut share = known.transpose_times(x).transpose();
            share.scale_columns(&excess);
            ax.plus(-1.0, &known.times(&share.transpose()))
        };
        // T₀ = x, T₁ = ax/r, Tᵢ₊₁ = 2ax/r − Tᵢ₋₁.
        let mut before = self.vectors.clone();
        let mut now = times(&before).map(|x| x / radius);
        for _ in 1..DEGREE {
            let next = times(&now).map(|x| 2.0 * x / radius).plus(-1.0, &before);
            (before, now) = (now, next);
        }
        now
    }
}
