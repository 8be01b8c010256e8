//! Products of tall matrices (rows × k, row-major) with k × k results or factors: the algebra between
//! passes, and within them for blocks of V and D.
//!
//! Rows are rarely whole vectors long. `Gram` loads vectors past a row's end into the next row and drops
//! the lanes beyond; of the last rows, where that would leave the array, it loads only what there is.

use super::{Kernel, Real, add, add_times, holds, load, load_first, put, put_first, run};
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

/// All rows of the tile of I × (J vectors) at (i, j), of which whole vectors can be loaded from the first `rows`.
#[inline(always)]
fn gram_tile<const L: usize, const FMA: bool, const I: usize, const J: usize>(
    g: &mut Gram,
    all: usize,
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
            let (i, j) = (i + p, j + q * L);
            let width = L.min(g.l.saturating_sub(j));
            assert!(i < g.k);
            // SAFETY: numbers of row i of the result and of rows of b before their ends, of which there are so many as
            // `run` has asserted.
            unsafe {
                let mut total: [f64; L] = load_first::<f64, L, FMA>(g.gram, i * g.l + j, width);
                add::<f64, L, FMA>(&mut total, sums[p][q]);
                for f in rows..all {
                    let b = load_first::<f64, L, FMA>(g.b, f * g.l + j, width);
                    add_times::<f64, L, FMA>(&mut total, g.a[f * g.k + i], b);
                }
                put_first::<f64, L, FMA>(g.gram, i * g.l + j, width, total);
            }
        }
    }
}

/// All rows of the result, in tiles as equal as can be of at most six: as many sums as 16 registers hold.
#[inline(always)]
fn gram_columns<const L: usize, const FMA: bool, const J: usize>(
    g: &mut Gram,
    all: usize,
    rows: usize,
    j: usize,
) {
    let mut i = 0;
    while i < g.k {
        let left = g.k - i;
        let take = left.div_ceil(left.div_ceil(6));
        match take {
            6 => gram_tile::<L, FMA, 6, J>(g, all, rows, i, j),
            5 => gram_tile::<L, FMA, 5, J>(g, all, rows, i, j),
            4 => gram_tile::<L, FMA, 4, J>(g, all, rows, i, j),
            3 => gram_tile::<L, FMA, 3, J>(g, all, rows, i, j),
            2 => gram_tile::<L, FMA, 2, J>(g, all, rows, i, j),
            _ => gram_tile::<L, FMA, 1, J>(g, all, rows, i, j),
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
                gram_columns::<L, FMA, 2>(&mut self, all, whole, j);
                j += 2 * L;
            } else {
                gram_columns::<L, FMA, 1>(&mut self, all, whole, j);
                j += L;
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

/// P rows from f on and the vectors of columns from each j on.
///
/// # Safety
/// `a` holds these rows of k numbers, `padded` k rows of `pitch`, each j + L is at most `pitch`, and from there in the
/// last of these rows of `out` L numbers follow.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "the shapes of three arrays")]
unsafe fn times_tile<const L: usize, const FMA: bool, const P: usize, const J: usize>(
    a: &[f64],
    k: usize,
    padded: &[f64],
    pitch: usize,
    l: usize,
    out: &mut [f64],
    f: usize,
    j: [usize; J],
) {
    let mut sums = [[[0.0f64; L]; J]; P];
    for i in 0..k {
        let mut vectors = [[0.0f64; L]; J];
        for q in 0..J {
            // SAFETY: a vector of row i < k.
            vectors[q] = unsafe { load(padded, i * pitch + j[q]) };
        }
        for p in 0..P {
            // SAFETY: number i < k of one of these rows.
            let [x]: [f64; 1] = unsafe { load(a, (f + p) * k + i) };
            for q in 0..J {
                add_times::<f64, L, FMA>(&mut sums[p][q], x, vectors[q]);
            }
        }
    }
    for p in 0..P {
        for q in 0..J {
            // SAFETY: no further on than in the last row.
            unsafe { put(out, (f + p) * l + j[q], sums[p][q]) };
        }
    }
}

/// P rows from f on. A row's last vector reaches back into the one before it; of rows shorter than a vector it reaches
/// into the next row, which is written after it.
///
/// # Safety
/// `a` holds these rows of k numbers, `padded` k rows of `pitch`, the next multiple of L after l; `out` holds these rows of l,
/// and after the last one's beginning L numbers.
#[inline(always)]
unsafe fn times_rows<const L: usize, const FMA: bool, const P: usize>(
    a: &[f64],
    k: usize,
    padded: &[f64],
    pitch: usize,
    l: usize,
    out: &mut [f64],
    f: usize,
) {
    let last = l.saturating_sub(L);
    let mut j = 0;
    // SAFETY: every vector ends at max(l, L) ≤ `pitch` at the latest.
    unsafe {
        while l - j > 2 * L {
            times_tile::<L, FMA, P, 2>(a, k, padded, pitch, l, out, f, [j, j + L]);
            j += 2 * L;
        }
        if l - j > L {
            times_tile::<L, FMA, P, 2>(a, k, padded, pitch, l, out, f, [j, last]);
        } else {
            times_tile::<L, FMA, P, 1>(a, k, padded, pitch, l, out, f, [last]);
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
        assert!(holds(r.len(), k, l));
        // r with rows of whole vectors. Blocks are short: a few columns find room without asking for memory.
        let pitch = l.next_multiple_of(L);
        let (mut few, mut many);
        let padded = if k * pitch <= 256 {
            few = [0.0; 256];
            &mut few[..]
        } else {
            many = vec![0.0; k * pitch];
            &mut many[..]
        };
        for i in 0..k {
            for j in (0..l).step_by(L) {
                // SAFETY: what there is of row i < k, to where a whole vector has room.
                unsafe {
                    let vector: [f64; L] = load_first::<f64, L, FMA>(r, i * l + j, L.min(l - j));
                    put(padded, i * pitch + j, vector);
                }
            }
        }
        let all = a.len() / k;
        assert!(holds(out.len(), all, l));
        // Eight rows at a time, where there are registers for their sums, use every vector of r eight times. After the
        // last one's beginning there has to be room for a vector even where l < L.
        let mut f = 0;
        while L == 8 && f + 8 <= all && (f + 7) * l + l.max(L) <= out.len() {
            // SAFETY: so many rows are left of `a` and of `out`, and `padded` was made above.
            unsafe { times_rows::<L, FMA, 8>(a, k, padded, pitch, l, out, f) };
            f += 8;
        }
        while f + 4 <= all && (f + 3) * l + l.max(L) <= out.len() {
            // SAFETY: as above.
            unsafe { times_rows::<L, FMA, 4>(a, k, padded, pitch, l, out, f) };
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
