//! Dense points times a skinny matrix, in both directions.
//!
//! `scores` has two forms. Few columns: dot products along the features, a tile of points × columns
//! at a time, so that every number loaded is used several times. Many columns (restarts side by
//! side) or very short points: a vector of columns at a time, no horizontal sums.

use super::{Kernel, Real, lanes, load, load_part, put};
use crate::matrix::Mat;

/// U (features × width), laid out for the form of `scores` that will read it.
pub(crate) enum Packed<T> {
    /// `width` rows of `pitch ≥ features` numbers, padded with zeros.
    Dots { rows: Vec<T>, pitch: usize, width: usize },
    /// `features` rows of `pitch ≥ width` numbers, padded with zeros.
    Outer { rows: Vec<T>, pitch: usize, width: usize },
}

/// Vectors are at most 64 bytes long.
const fn longest<T>() -> usize {
    64 / size_of::<T>()
}

impl<T: Real> Packed<T> {
    /// `scale`, a power of two, is multiplied in here once instead of into every entry of the data.
    pub(crate) fn new(u: &Mat, scale: f64) -> Self {
        let (features, width, l) = (u.rows, u.cols, longest::<T>());
        if width >= l || features < 2 * l {
            let pitch = width.next_multiple_of(l);
            let mut rows = vec![T::default(); features * pitch];
            for f in 0..features {
                for (out, &x) in rows[f * pitch..].iter_mut().zip(u.row(f)) {
                    *out = T::of(x * scale);
                }
            }
            Packed::Outer { rows, pitch, width }
        } else {
            let pitch = features.next_multiple_of(l);
            let mut rows = vec![T::default(); width * pitch];
            for f in 0..features {
                for (i, &x) in u.row(f).iter().enumerate() {
                    rows[i * pitch + f] = T::of(x * scale);
                }
            }
            Packed::Dots { rows, pitch, width }
        }
    }
}

/// `out[p, i] = x_pᵀuᵢ` for the points of one block; the scale of the data is in `u`.
pub(crate) struct Scores<'a, T> {
    /// Points, `features` numbers each.
    pub x: &'a [T],
    pub features: usize,
    pub u: &'a Packed<T>,
    /// points × width.
    pub out: &'a mut [f64],
}

/// P points against C columns along the features, from the first of each.
#[inline(always)]
fn dots<T: Real, const L: usize, const FMA: bool, const P: usize, const C: usize>(
    x: &[T],
    features: usize,
    u: &[T],
    pitch: usize,
    out: &mut [f64],
    width: usize,
) {
    let mut sums = [[[T::default(); L]; C]; P];
    let whole = features / L * L;
    let mut f = 0;
    while f < whole {
        let mut points = [[T::default(); L]; P];
        for p in 0..P {
            points[p] = load(x, p * features + f);
        }
        for c in 0..C {
            let column: [T; L] = load(u, c * pitch + f);
            for p in 0..P {
                for l in 0..L {
                    sums[p][c][l] = sums[p][c][l].plus::<FMA>(points[p][l], column[l]);
                }
            }
        }
        f += L;
    }
    if whole < features {
        for p in 0..P {
            let point: [T; L] = load_part(x, p * features + whole, features - whole);
            for c in 0..C {
                let column: [T; L] = load(u, c * pitch + whole);
                for l in 0..L {
                    sums[p][c][l] = sums[p][c][l].plus::<FMA>(point[l], column[l]);
                }
            }
        }
    }
    for p in 0..P {
        for c in 0..C {
            out[p * width + c] = lanes(sums[p][c]).into();
        }
    }
}

/// All columns for P points, C at a time: as many sums as the registers hold. With 16 of them (32 for vectors of
/// 64 bytes) a tile of 4 × 3 or 2 × 6 sums leaves room for what is loaded.
#[inline(always)]
fn dots_of_points<T: Real, const L: usize, const FMA: bool, const P: usize>(
    x: &[T],
    features: usize,
    u: &[T],
    pitch: usize,
    out: &mut [f64],
    width: usize,
) {
    let wide = L * size_of::<T>() == 64;
    let mut c = 0;
    while c < width {
        let (u, rest) = (&u[c * pitch..], width - c);
        let columns = if rest <= 6 {
            rest
        } else if rest == 7 || rest == 8 {
            4
        } else {
            6
        };
        c += columns;
        if P == 4 && columns > 3 && !wide {
            for half in [0, 2] {
                let (x, out) = (&x[half * features..], &mut out[half * width + c - columns..]);
                tile::<T, L, FMA, 2>(x, features, u, pitch, out, width, columns);
            }
        } else {
            tile::<T, L, FMA, P>(x, features, u, pitch, &mut out[c - columns..], width, columns);
        }
    }
}

/// P points against 1 to 6 columns.
#[inline(always)]
fn tile<T: Real, const L: usize, const FMA: bool, const P: usize>(
    x: &[T],
    features: usize,
    u: &[T],
    pitch: usize,
    out: &mut [f64],
    width: usize,
    columns: usize,
) {
    match columns {
        6 => dots::<T, L, FMA, P, 6>(x, features, u, pitch, out, width),
        5 => dots::<T, L, FMA, P, 5>(x, features, u, pitch, out, width),
        4 => dots::<T, L, FMA, P, 4>(x, features, u, pitch, out, width),
        3 => dots::<T, L, FMA, P, 3>(x, features, u, pitch, out, width),
        2 => dots::<T, L, FMA, P, 2>(x, features, u, pitch, out, width),
        _ => dots::<T, L, FMA, P, 1>(x, features, u, pitch, out, width),
    }
}

/// P points against the first Q vectors of columns of u.
#[inline(always)]
fn outer<T: Real, const L: usize, const FMA: bool, const P: usize, const Q: usize>(
    x: &[T],
    features: usize,
    u: &[T],
    pitch: usize,
) -> [[[T; L]; Q]; P] {
    let mut sums = [[[T::default(); L]; Q]; P];
    for f in 0..features {
        let mut vectors = [[T::default(); L]; Q];
        for q in 0..Q {
            vectors[q] = load(u, f * pitch + q * L);
        }
        for p in 0..P {
            let point = x[p * features + f];
            for q in 0..Q {
                for l in 0..L {
                    sums[p][q][l] = sums[p][q][l].plus::<FMA>(point, vectors[q][l]);
                }
            }
        }
    }
    sums
}

/// The first `columns` of each point's sums, into rows of `width`.
#[inline(always)]
fn spread<T: Real, const L: usize, const P: usize, const Q: usize>(
    sums: [[[T; L]; Q]; P],
    columns: usize,
    out: &mut [f64],
    width: usize,
) {
    for p in 0..P {
        for q in 0..Q {
            for l in 0..L.min(columns.saturating_sub(q * L)) {
                out[p * width + q * L + l] = sums[p][q][l].into();
            }
        }
    }
}

#[inline(always)]
fn outer_of_points<T: Real, const L: usize, const FMA: bool, const P: usize>(
    x: &[T],
    features: usize,
    u: &[T],
    pitch: usize,
    out: &mut [f64],
    width: usize,
) {
    let mut c = 0;
    while c < width {
        let left = width - c;
        let (u, out) = (&u[c..], &mut out[c..]);
        if left > 2 * L {
            spread(outer::<T, L, FMA, P, 3>(x, features, u, pitch), left, out, width);
            c += 3 * L;
        } else if left > L {
            spread(outer::<T, L, FMA, P, 2>(x, features, u, pitch), left, out, width);
            c += 2 * L;
        } else {
            spread(outer::<T, L, FMA, P, 1>(x, features, u, pitch), left, out, width);
            c += L;
        }
    }
}

impl<T: Real> Kernel for Scores<'_, T> {
    type T = T;
    type Out = ();

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) {
        let Scores { x, features, u, out } = self;
        let width = match u {
            Packed::Dots { width, .. } | Packed::Outer { width, .. } => *width,
        };
        if width == 0 || features == 0 {
            out.fill(0.0);
            return;
        }
        let points = x.len() / features;
        let mut p = 0;
        while p + 4 <= points {
            let (x, out) = (&x[p * features..], &mut out[p * width..]);
            match u {
                Packed::Dots { rows, pitch, .. } => {
                    dots_of_points::<T, L, FMA, 4>(x, features, rows, *pitch, out, width)
                }
                Packed::Outer { rows, pitch, .. } => {
                    outer_of_points::<T, L, FMA, 4>(x, features, rows, *pitch, out, width)
                }
            }
            p += 4;
        }
        while p < points {
            let (x, out) = (&x[p * features..], &mut out[p * width..]);
            match u {
                Packed::Dots { rows, pitch, .. } => {
                    dots_of_points::<T, L, FMA, 1>(x, features, rows, *pitch, out, width)
                }
                Packed::Outer { rows, pitch, .. } => {
                    outer_of_points::<T, L, FMA, 1>(x, features, rows, *pitch, out, width)
                }
            }
            p += 1;
        }
    }
}

/// `sums[i, :] += Σ_p b[p, i] · x_p` for the points of one block; `sums` is width × features.
pub(crate) struct Sum<'a, T> {
    pub x: &'a [T],
    pub features: usize,
    /// points × width.
    pub b: &'a [T],
    pub width: usize,
    pub sums: &'a mut [T],
}

/// P points at once, so that a sum is loaded and stored once for P multiplications.
#[inline(always)]
fn sum_points<T: Real, const L: usize, const FMA: bool, const P: usize>(
    x: &[T],
    features: usize,
    b: &[T],
    width: usize,
    sums: &mut [T],
) {
    let whole = features / L * L;
    let mut f = 0;
    while f < whole {
        let mut points = [[T::default(); L]; P];
        for p in 0..P {
            points[p] = load(x, p * features + f);
        }
        for i in 0..width {
            let mut sum: [T; L] = load(sums, i * features + f);
            for p in 0..P {
                let factor = b[p * width + i];
                for l in 0..L {
                    sum[l] = sum[l].plus::<FMA>(factor, points[p][l]);
                }
            }
            put(sums, i * features + f, sum);
        }
        f += L;
    }
    for f in whole..features {
        for i in 0..width {
            let mut sum = sums[i * features + f];
            for p in 0..P {
                sum = sum.plus::<FMA>(b[p * width + i], x[p * features + f]);
            }
            sums[i * features + f] = sum;
        }
    }
}

impl<T: Real> Kernel for Sum<'_, T> {
    type T = T;
    type Out = ();

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) {
        let Sum { x, features, b, width, sums } = self;
        if features == 0 {
            return;
        }
        let points = x.len() / features;
        let mut p = 0;
        while p + 8 <= points {
            sum_points::<T, L, FMA, 8>(&x[p * features..], features, &b[p * width..], width, sums);
            p += 8;
        }
        while p < points {
            sum_points::<T, L, FMA, 1>(&x[p * features..], features, &b[p * width..], width, sums);
            p += 1;
        }
    }
}

/// `sums[to[p, r], :] += scale · factor[p, r] · x_p`: every point adds to one row for each of `starts` starts.
pub(crate) struct SumOne<'a, T> {
    pub x: &'a [T],
    pub features: usize,
    /// points × starts: a row of `sums`, or [`NOWHERE`].
    pub to: &'a [u32],
    /// points × starts.
    pub factor: &'a [f64],
    pub scale: f64,
    pub starts: usize,
    pub sums: &'a mut [T],
}

/// A point that adds to no row.
pub(crate) const NOWHERE: u32 = u32::MAX;

impl<T: Real> Kernel for SumOne<'_, T> {
    type T = T;
    type Out = ();

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) {
        let SumOne { x, features, to, factor, scale, starts, sums } = self;
        if features == 0 {
            return;
        }
        for (p, point) in x.chunks_exact(features).enumerate() {
            for r in p * starts..(p + 1) * starts {
                if to[r] == NOWHERE {
                    continue;
                }
                let at = to[r] as usize * features;
                let a = T::of(factor[r] * scale);
                for (sum, &x) in sums[at..at + features].iter_mut().zip(point) {
                    *sum = sum.plus::<FMA>(a, x);
                }
            }
        }
    }
}
