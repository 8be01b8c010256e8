//! Products of tall matrices (rows × k, row-major) with k × k results or factors: the algebra between
//! passes, and within them for blocks of V and D.
//!
//! Rows are rarely whole vectors long. `Gram` loads vectors past a row's end into the next row and drops
//! the lanes beyond; only the last rows, where that would leave the array, go one number at a time.

use super::{Kernel, Real, load, put};

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
    for f in 0..rows {
        let mut vectors = [[0.0; L]; J];
        for q in 0..J {
            vectors[q] = load(g.b, f * g.l + j + q * L);
        }
        let a: [f64; I] = load(g.a, f * g.k + i);
        for p in 0..I {
            for q in 0..J {
                for t in 0..L {
                    sums[p][q][t] = sums[p][q][t].plus::<FMA>(a[p], vectors[q][t]);
                }
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

#[inline(always)]
fn gram_columns<const L: usize, const FMA: bool, const J: usize>(g: &mut Gram, rows: usize, j: usize) {
    let mut i = 0;
    while i + 8 <= g.k {
        gram_tile::<L, FMA, 8, J>(g, rows, i, j);
        i += 8;
    }
    if i + 4 <= g.k {
        gram_tile::<L, FMA, 4, J>(g, rows, i, j);
        i += 4;
    }
    while i < g.k {
        gram_tile::<L, FMA, 1, J>(g, rows, i, j);
        i += 1;
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
        assert!(self.b.len() >= all * l && self.gram.len() >= k * l);
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
        // Four rows at a time use every vector of r four times.
        let mut f = 0;
        while f + 4 <= all {
            let mut j = 0;
            while j < l {
                let mut sums = [[0.0f64; L]; 4];
                for i in 0..k {
                    let vector: [f64; L] = load(&padded, i * pitch + j);
                    for p in 0..4 {
                        let x = a[(f + p) * k + i];
                        for t in 0..L {
                            sums[p][t] = sums[p][t].plus::<FMA>(x, vector[t]);
                        }
                    }
                }
                if l - j >= L {
                    for p in 0..4 {
                        put(out, (f + p) * l + j, sums[p]);
                    }
                } else {
                    for p in 0..4 {
                        for t in 0..l - j {
                            out[(f + p) * l + j + t] = sums[p][t];
                        }
                    }
                }
                j += L;
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
