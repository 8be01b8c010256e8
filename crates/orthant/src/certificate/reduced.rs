//! What the dual bound sees of the data: the Gram matrix of the points, or of groups of them.
//!
//! R has nonnegative orthonormal columns, one for each group of points, and D = MR. A matrix N = RN'Rᵀ with N' ≥ 0 is
//! a multiplier like any other, and with C = MMᵀ − DDᵀ the inequality μI + W ⪰ MᵀM + N of all the points holds for
//! W = RW'Rᵀ where the smaller
//!
//! ```text
//! ⎡ μI + W' − N'    sDᵀ         ⎤
//! ⎣ sD              s²(I − C/μ) ⎦  ⪰ 0
//! ```
//!
//! does, for any s > 0 (docs/certificate.md). Points themselves are groups of one with C = 0, where D is eliminated.

use rayon::prelude::*;

use super::groups::Grouped;
use super::positive::{ROUNDOFF, factorise};
use crate::matrix::Mat;
use crate::matrix::kernels::axpy;

pub(super) struct Reduced {
    /// `DᵀD`.
    pub(super) gram: Mat,
    /// D (features × groups) and C (features × features), where groups have several points.
    rest: Option<(Mat, Mat)>,
    /// `‖M‖²` in the units here, which make it lie from 1 to 4.
    pub(super) norm2: f64,
    /// How many terms the sums behind the entries have.
    terms: usize,
}

/// The power of two whose square brings `norm2` into [1, 4).
fn unit(norm2: f64) -> f64 {
    2f64.powi(-(norm2.log2() / 2.0).floor() as i32)
}

impl Reduced {
    /// Every point by itself, from `MᵀM` (without zero points).
    pub(super) fn points(gram: Mat, norm2: f64, features: usize) -> Reduced {
        let unit2 = unit(norm2).powi(2);
        Reduced { gram: gram.map(|x| x * unit2), rest: None, norm2: norm2 * unit2, terms: features }
    }

    /// Groups of points.
    pub(super) fn groups(grouped: Grouped, norm2: f64, points: usize) -> Reduced {
        let unit = unit(norm2);
        let used: Vec<usize> = (0..grouped.mr.cols)
            .filter(|&g| (0..grouped.mr.rows).any(|f| grouped.mr[(f, g)] != 0.0))
            .collect();
        let d = Mat::from_fn(grouped.mr.rows, used.len(), |f, g| grouped.mr[(f, used[g])] * unit);
        let mmt = grouped.mmt.map(|x| x * unit * unit);
        let dt = d.transpose();
        let c = mmt.plus(-1.0, &d.wide_times(&dt));
        let gram = dt.wide_times(&d);
        let terms = 10 * points + d.rows + d.cols;
        Reduced { gram, rest: Some((d, c)), norm2: norm2 * unit * unit, terms }
    }

    pub(super) fn size(&self) -> usize {
        self.gram.rows
    }

    pub(super) fn is_grouped(&self) -> bool {
        self.rest.is_some()
    }

    /// `Dᵀ(I − C/μ)⁻¹D`, which takes the place of `DᵀD` for groups; `None` where μ is not above all of C.
    pub(super) fn gram_at(&self, mu: f64) -> Option<Mat> {
        let (d, c) = self.rest.as_ref().expect("points have the same for any μ");
        let m = c.rows;
        let mut l = Mat::from_fn(m, m, |i, j| f64::from(u8::from(i == j)) - c[(i, j)] / mu);
        if !factorise(&mut l, &mut || false) {
            return None;
        }
        // L⁻¹D, row after row.
        let mut x = d.clone();
        for i in 0..m {
            let (done, row) = x.data.split_at_mut(i * d.cols);
            let row = &mut row[..d.cols];
            done.chunks_exact(d.cols).enumerate().for_each(|(t, before)| axpy(-l[(i, t)], before, row));
            row.iter_mut().for_each(|x| *x /= l[(i, i)]);
        }
        Some(x.transpose().wide_times(&x))
    }

    /// The matrix to be proven positive semidefinite (its lower half), with W = Σ excess·qqᵀ, and how far
    /// rounding may have moved it. `less` is N for groups, G + N for points.
    pub(super) fn inequality(&self, mu: f64, q: &Mat, excess: &[f64], less: &Mat) -> (Mat, f64) {
        let size = less.rows;
        let mut weighted = q.clone();
        weighted.scale_columns(excess);
        let mut b = weighted.wide_times(&q.transpose());
        b.data.par_iter_mut().zip(&less.data).for_each(|(b, less)| *b -= less);
        (0..size).for_each(|i| b[(i, i)] += mu);
        let trace: f64 = q.column_norms2().iter().zip(excess).map(|(n, e)| n * e).sum();
        let own =
            (q.cols + 8) as f64 * (mu * (size as f64).sqrt() + trace + less.norm2().sqrt() + self.norm2);
        let data = (self.terms + 50) as f64 * self.norm2;
        let Some((d, c)) = &self.rest else {
            return (b, 2.0 * ROUNDOFF * (own + data));
        };
        // s ≈ √μ makes all parts of a size; a power of two makes it exact.
        let s = 2f64.powi((mu.log2() / 2.0).round() as i32);
        let (m, all) = (c.rows, c.rows + size);
        // C first: what is eliminated is then well above rounding.
        let block = Mat::from_fn(all, all, |i, j| match (i < m, j < m) {
            (true, true) => s * s * (f64::from(u8::from(i == j)) - c[(i, j)] / mu),
            (false, true) => s * d[(j, i - m)],
            (false, false) => b[(i - m, j - m)],
            // Not looked at.
            (true, false) => 0.0,
        });
        // |s²/μ| ≤ 2 and s ≤ 2√μ; the norm of M is at most 2.
        let share = 2.0 + 4.0 * mu.sqrt();
        (block, 2.0 * ROUNDOFF * (own + share * data + 4.0 * mu * m as f64))
    }
}
