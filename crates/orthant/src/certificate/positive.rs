//! Proof that a symmetric matrix is positive semidefinite, in floating-point arithmetic.
//!
//! If Cholesky's factorisation of a matrix B of size n runs to completion, its factor satisfies LLᵀ = B + Δ with
//! ‖Δ‖ ≤ γ/(1 − γ)·tr B, where γ = ju/(1 − ju) for u = 2⁻⁵³ and j ≥ n + 1 roundings on the way to any entry, in
//! whatever order the sums are taken, fused or not (Demmel 1989). So B ⪰ −‖Δ‖I: factorise B less a multiple of I that
//! covers ‖Δ‖ and the errors of its entries, and the matrix that was meant is positive semidefinite.

use rayon::prelude::*;

use crate::matrix::Mat;
use crate::matrix::kernels::{dense, dot, run};

/// Unit roundoff of float64.
pub(super) const ROUNDOFF: f64 = f64::EPSILON / 2.0;

/// Whether a matrix is proven positive semidefinite, of which the lower half of `b` is an approximation with an
/// error of at most `error` in the spectral norm. `false` proves nothing: perhaps it was to stop.
pub(super) fn is_positive(mut b: Mat, error: f64, is_to_stop: &mut dyn FnMut() -> bool) -> bool {
    let n = b.rows;
    let trace: f64 = (0..n).map(|i| b[(i, i)].abs()).sum();
    // Twice the roundings that there are; then the subtraction here, and γ against u.
    let shift = 1.01 * (error + ROUNDOFF * (2 * n + 10) as f64 * trace);
    if !shift.is_finite() {
        return false;
    }
    (0..n).for_each(|i| b[(i, i)] -= shift);
    factorise(&mut b, is_to_stop)
}

/// Columns that are eliminated together.
const PANEL: usize = 64;
/// Columns of what is left that are updated together.
const STRIP: usize = 256;

/// Panels after which it is asked whether to stop.
const ASKED: usize = 8;

/// Cholesky's factorisation of the lower half, in place; `false` where a pivot is not positive, or it is to stop.
pub(super) fn factorise(b: &mut Mat, is_to_stop: &mut dyn FnMut() -> bool) -> bool {
    let n = b.rows;
    for from in (0..n).step_by(PANEL) {
        if from / PANEL % ASKED == ASKED - 1 && is_to_stop() {
            return false;
        }
        let to = (from + PANEL).min(n);
        let width = to - from;
        for j in from..to {
            for i in j..to {
                let rest = b[(i, j)] - dot(&b.row(i)[from..j], &b.row(j)[from..j]);
                if i > j {
                    b[(i, j)] = rest / b[(j, j)];
                } else if rest > 0.0 {
                    b[(j, j)] = rest.sqrt();
                } else {
                    return false;
                }
            }
        }
        // Rows below the panel, then what they take from the columns after it.
        let (above, below) = b.data.split_at_mut(to * n);
        let mut panel = vec![0.0; (n - to) * width];
        below.par_chunks_mut(n).zip(panel.par_chunks_mut(width)).for_each(|(row, panel)| {
            for j in from..to {
                let factor = &above[j * n..(j + 1) * n];
                let rest = row[j] - dot(&row[from..j], &factor[from..j]);
                row[j] = rest / factor[j];
            }
            panel.copy_from_slice(&row[from..to]);
        });
        for strip in (to..n).step_by(STRIP) {
            let columns = strip..(strip + STRIP).min(n);
            let count = columns.len();
            let right = Mat::from_fn(width, count, |t, c| panel[(columns.start - to + c) * width + t]);
            let right = &dense::Packed::new(&right, 1.0);
            let rows = below[(strip - to) * n..].par_chunks_mut(PANEL * n);
            rows.zip(panel[(strip - to) * width..].par_chunks(PANEL * width)).for_each(|(rows, left)| {
                let mut product = vec![0.0; left.len() / width * count];
                run(dense::Scores { x: left, features: width, list: None, u: right, out: &mut product });
                for (row, product) in rows.chunks_exact_mut(n).zip(product.chunks_exact(count)) {
                    row[columns.clone()].iter_mut().zip(product).for_each(|(x, p)| *x -= p);
                }
            });
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(n: usize, rank: usize) -> Mat {
        let wave = |i: usize, j: usize| ((i * 37 + j * 101 + i * j) % 97) as f64 / 97.0 - 0.5;
        let x = Mat::from_fn(n, rank, wave);
        x.wide_times(&x.transpose())
    }

    #[test]
    fn factors_multiply_to_the_matrix() {
        for n in [1, 3, 63, 64, 65, 130, 400] {
            let mut a = some(n, n);
            (0..n).for_each(|i| a[(i, i)] += 1.0);
            let mut l = a.clone();
            assert!(factorise(&mut l, &mut || false), "{n}");
            let l = Mat::from_fn(n, n, |i, j| if j <= i { l[(i, j)] } else { 0.0 });
            let product = l.wide_times(&l.transpose());
            let worst = a.data.iter().zip(&product.data).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
            assert!(worst < 1e-12 * n as f64, "{n}: {worst}");
        }
    }

    #[test]
    fn what_is_to_stop_proves_nothing() {
        let identity = || Mat::identity(ASKED * PANEL);
        assert!(is_positive(identity(), 0.0, &mut || false));
        assert!(!is_positive(identity(), 0.0, &mut || true));
    }

    #[test]
    fn a_matrix_that_is_barely_indefinite_is_refused_and_a_barely_definite_one_accepted() {
        for n in [5, 100, 300] {
            let a = some(n, n - 1);
            let moved = |by: f64| {
                let mut b = a.clone();
                (0..n).for_each(|i| b[(i, i)] += by);
                b
            };
            let is_positive = |b: Mat, error: f64| is_positive(b, error, &mut || false);
            assert!(!is_positive(moved(-1e-9), 0.0), "{n}");
            assert!(!is_positive(a.clone(), 0.0), "singular: not provable ({n})");
            assert!(is_positive(moved(1e-9), 0.0), "{n}");
            assert!(!is_positive(moved(1e-9), 2e-9), "the error of the entries counts ({n})");
            assert!(!is_positive(moved(f64::NAN), 0.0));
        }
    }
}
