//! Products of tall matrices (rows × k, row-major) with k × k results or factors: the algebra between
//! passes, and within them for blocks of V and D.
//!
//! Rows are rarely whole vectors long. `Gram` loads vectors past a row's end into the next row and drops
//! the lanes beyond; only the last rows, where that would leave the array, go one number at a time.

use super::{Kernel, Real, add_times, holds, load, put, run};
use crate::matrix::Mat;

/// `gram += Σ aᵢbⱼ` over rows a, b of k numbers.
pub(crate) fn add_gram(gram: &mut Mat, a: &[f64], b: &[f64]) {
    run(Gram { a, k: gram.rows, b, l: gram.cols, gram: &mut gram.data });
}

/// `gram[i, j] += Σ_f a[f, i]·b[f, j]`, for a with `k` and b with `l` columns.
pub(crate) struct Gram<'a> {
    pub a: &'a [f64],
    pub k: usize,
    pub b: &'a [f64],
    pub l: usize,
    pub gram: &'a mut [f64],
}

/// Rows `0..rows` of the tile of I × (J vectors) at (i, j).
#[inline(always)]
fn gram_tile<const L: usize, const FMA: bool, const I: usize, const J: usize>(
    g: &mut Gram,
    rows: usize,
    i: usize,
    j: usize,
) {
    let mut sums = [[[0.0f64; L]; J]; I];
    if let Some(last) = rows.checked_sub(1) {
        assert!(last * g.l + j + J * L <= g.b.len() && last * g.k + i + I <= g.a.len());
    }
    for f in 0..rows {
        let mut vectors = [[0.0; L]; J];
        // SAFETY: what the last row loads is within the slices, as asserted; rows before it load from before that.
        let a: [f64; I] = unsafe {
            for q in 0..J {
                vectors[q] = load(g.b, f * g.l + j + q * L);
            }
            load(g.a, f * g.k + i)
        };
        for p in 0..I {
            for q in 0..J {
                add_times::<f64, L, FMA>(&mut sums[p][q], a[p], vectors[q]);
            }
        }
    }
    for p in 0..I {
        for q in 0..J {
            let width = L.min(g.l.saturating_sub(j + q * L));
            for t in 0..width {
                g.gram[(i + p) * g.l + j + q * L + t] += sums[p][q][t];
            }
        }
    }
}

/// All rows of the result, in tiles as equal as can be of at most six: as many sums as 16 registers hold.
#[inline(always)]
fn gram_columns<const L: usize, const FMA: bool, const J: usize>(g: &mut Gram, rows: usize, j: usize) {
    let mut i = 0;
    while i < g.k {
        let left = g.k - i;
        let take = left.div_ceil(left.div_ceil(6));
        match take {
            6 => gram_tile::<L, FMA, 6, J>(g, rows, i, j),
            5 => gram_tile::<L, FMA, 5, J>(g, rows, i, j),
            4 => gram_tile::<L, FMA, 4, J>(g, rows, i, j),
            3 => gram_tile::<L, FMA, 3, J>(g, rows, i, j),
            2 => gram_tile::<L, FMA, 2, J>(g, rows, i, j),
            _ => gram_tile::<L, FMA, 1, J>(g, rows, i, j),
        }
        i += take;
    }
}

impl Kernel for Gram<'_> {
    type T = f64;
    type Out = ();

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(mut self) {
        let (k, l) = (self.k, self.l);
        if k == 0 || l == 0 {
            return;
        }
        let all = self.a.len() / k;
        assert!(holds(self.b.len(), all, l) && holds(self.gram.len(), k, l));
        // The last vector of a row may reach 2L − 1 numbers past the row's end.
        let whole = all.saturating_sub((2 * L).div_ceil(l));
        let mut j = 0;
        while j < l {
            if l - j > L {
                gram_columns::<L, FMA, 2>(&mut self, whole, j);
                j += 2 * L;
            } else {
                gram_columns::<L, FMA, 1>(&mut self, whole, j);
                j += L;
            }
        }
        for f in whole..all {
            for i in 0..k {
                let a = self.a[f * k + i];
                for j in 0..l {
                    let g = &mut self.gram[i * l + j];
                    *g = g.plus::<FMA>(a, self.b[f * l + j]);
                }
            }
        }
    }
}

/// `out[f, :] = Σ_i a[f, i]·r[i, :]`, for a with `k` columns and r of k × `l`.
pub(crate) struct Times<'a> {
    pub a: &'a [f64],
    pub k: usize,
    pub r: &'a [f64],
    pub l: usize,
    pub out: &'a mut [f64],
}

/// Rows f to f + 3 and the vectors of columns from each j on.
///
/// # Safety
/// `a` holds these rows of k numbers, `padded` k rows of `pitch`, each j + L is at most `pitch`, and from there in row
/// f + 3 of `out` L numbers follow.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "the shapes of three arrays")]
unsafe fn times_tile<const L: usize, const FMA: bool, const J: usize>(
    a: &[f64],
    k: usize,
    padded: &[f64],
    pitch: usize,
    l: usize,
    out: &mut [f64],
    f: usize,
    j: [usize; J],
) {
    let mut sums = [[[0.0f64; L]; J]; 4];
    for i in 0..k {
        let mut vectors = [[0.0f64; L]; J];
        for q in 0..J {
            // SAFETY: a vector of row i < k.
            vectors[q] = unsafe { load(padded, i * pitch + j[q]) };
        }
        for p in 0..4 {
            // SAFETY: number i < k of one of the four rows.
            let [x]: [f64; 1] = unsafe { load(a, (f + p) * k + i) };
            for q in 0..J {
                add_times::<f64, L, FMA>(&mut sums[p][q], x, vectors[q]);
            }
        }
    }
    for p in 0..4 {
        for q in 0..J {
            // SAFETY: no further on than in row f + 3.
            unsafe { put(out, (f + p) * l + j[q], sums[p][q]) };
        }
    }
}

impl Kernel for Times<'_> {
    type T = f64;
    type Out = ();

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) {
        let Times { a, k, r, l, out } = self;
        if k == 0 || l == 0 {
            return;
        }
        // r with rows of whole vectors.
        let pitch = l.next_multiple_of(L);
        let mut padded = vec![0.0; k * pitch];
        for i in 0..k {
            padded[i * pitch..i * pitch + l].copy_from_slice(&r[i * l..(i + 1) * l]);
        }
        let all = a.len() / k;
        assert!(holds(out.len(), all, l));
        // Four rows at a time use every vector of r four times. A row's last vector reaches back into the one before it;
        // of rows shorter than a vector it reaches into the next row, which is written after it, and only at the end of
        // all rows there is no room for that.
        let mut f = 0;
        while f + 4 <= all && (f + 3) * l + l.max(L) <= out.len() {
            let last = l.saturating_sub(L);
            let mut j = 0;
            // SAFETY: four rows are left of `a` and of `out`, and after the last one's beginning there is room for a
            // vector even where l < L. `padded` was made above; every vector ends at max(l, L) ≤ `pitch` at the latest.
            unsafe {
                while l - j > 2 * L {
                    times_tile::<L, FMA, 2>(a, k, &padded, pitch, l, out, f, [j, j + L]);
                    j += 2 * L;
                }
                if l - j > L {
                    times_tile::<L, FMA, 2>(a, k, &padded, pitch, l, out, f, [j, last]);
                } else {
                    times_tile::<L, FMA, 1>(a, k, &padded, pitch, l, out, f, [last]);
                }
            }
            f += 4;
        }
        for f in f..all {
            for j in 0..l {
                let mut sum = 0.0f64;
                for i in 0..k {
                    sum = sum.plus::<FMA>(a[f * k + i], r[i * l + j]);
                }
                out[f * l + j] = sum;
            }
        }
    }
}
