//! Dense points times a skinny matrix, in both directions.
//!
//! `scores` has two forms. Few columns: dot products along the features, a tile of points × columns
//! at a time, so that every number loaded is used several times. Many columns (restarts side by
//! side) or very short points: a vector of columns at a time, no horizontal sums.

mod alone;
mod sums;

pub(crate) use alone::{Digest, DotOne, Extend, Extent, Left, Norm2};
pub(crate) use sums::{NOWHERE, Sum, SumOne};

use super::{
    Aligned, Kernel, Real, add_products, add_times, first_largest, holds, last, load, load_last, prefetch,
    put, sums_of_lanes,
};
use crate::matrix::Mat;

/// U (features × width), laid out for the form of `scores` that will read it.
pub(crate) enum Packed<T> {
    /// `width` rows of `pitch ≥ features` numbers, padded with zeros.
    Dots { rows: Aligned<T>, pitch: usize, width: usize },
    /// `features` rows of `pitch ≥ width` numbers, padded with zeros.
    Outer { rows: Aligned<T>, pitch: usize, width: usize },
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
            let mut rows = Aligned::zeros(features * pitch);
            for f in 0..features {
                for (out, &x) in rows[f * pitch..].iter_mut().zip(u.row(f)) {
                    *out = T::of(x * scale);
                }
            }
            Packed::Outer { rows, pitch, width }
        } else {
            let pitch = features.next_multiple_of(l);
            let mut rows = Aligned::zeros(width * pitch);
            for f in 0..features {
                for (i, &x) in u.row(f).iter().enumerate() {
                    rows[i * pitch + f] = T::of(x * scale);
                }
            }
            Packed::Dots { rows, pitch, width }
        }
    }

    /// Whether points of so many features can be multiplied with it in vectors of L numbers.
    #[inline(always)]
    fn fits<const L: usize>(&self, features: usize) -> bool {
        match self {
            Packed::Dots { rows, pitch, width } => {
                features >= L && *pitch >= features && holds(rows.len(), *width, *pitch)
            }
            Packed::Outer { rows, pitch, width } => {
                *pitch >= *width && pitch.is_multiple_of(L) && holds(rows.len(), features, *pitch)
            }
        }
    }
}

/// `out[p, i] = x_pᵀuᵢ` for the points of one block; the scale of the data is in `u`.
pub(crate) struct Scores<'a, T> {
    /// Points, `features` numbers each.
    pub x: &'a [T],
    pub features: usize,
    /// Only these points of the block, in this order; else all.
    pub list: Option<&'a [u32]>,
    pub u: &'a Packed<T>,
    /// points × width.
    pub out: &'a mut [f64],
}

/// One vector of P points times the same of C columns.
///
/// # Safety
/// `u` holds C rows of `pitch` numbers, and `f + L <= pitch`.
#[inline(always)]
unsafe fn add_tile<T: Real, const L: usize, const FMA: bool, const P: usize, const C: usize>(
    sums: &mut [[[T; L]; C]; P],
    points: [[T; L]; P],
    u: &[T],
    pitch: usize,
    f: usize,
) {
    for c in 0..C {
        // SAFETY: a vector of the c-th row.
        let column: [T; L] = unsafe { load(u, c * pitch + f) };
        for p in 0..P {
            add_products::<T, L, FMA>(&mut sums[p][c], points[p], column);
        }
    }
}

/// P points (from the given positions) against C ≤ 8 columns along the features.
///
/// # Safety
/// `L <= features <= pitch`; from each position on `x` holds `features` numbers; `u` holds C rows of `pitch`.
#[inline(always)]
unsafe fn dots<T: Real, const L: usize, const FMA: bool, const P: usize, const C: usize>(
    x: &[T],
    at: [usize; P],
    features: usize,
    u: &[T],
    pitch: usize,
) -> [[T; 8]; P] {
    let mut sums = [[[T::default(); L]; C]; P];
    let whole = features / L * L;
    let mut points = [[T::default(); L]; P];
    let mut f = 0;
    // SAFETY: the vectors of a point and of a row from f on end at `features`, or before; so does the last one, which
    // reaches back.
    unsafe {
        while f < whole {
            for p in 0..P {
                points[p] = load(x, at[p] + f);
            }
            add_tile::<T, L, FMA, P, C>(&mut sums, points, u, pitch, f);
            f += L;
        }
        if whole < features {
            let mask = last(features - whole);
            for p in 0..P {
                points[p] = load_last::<T, L, FMA>(x, at[p] + features, &mask);
            }
            add_tile::<T, L, FMA, P, C>(&mut sums, points, u, pitch, features - L);
        }
    }
    let mut totals = [[T::default(); 8]; P];
    for p in 0..P {
        totals[p] = sums_of_lanes::<T, L, FMA, C>(sums[p]);
    }
    totals
}

/// How many of the columns that are left one tile takes: as many sums as the registers hold. With 16 of them (32 for
/// vectors of 64 bytes) 4 × 3 or 2 × 6 sums leave room for what is loaded.
#[inline(always)]
fn columns_at_once(left: usize) -> usize {
    match left {
        0..=6 => left,
        7 | 8 => 4,
        _ => 6,
    }
}

/// All columns for 4 points or one, some at a time.
///
/// # Safety
/// As for [`dots`] with `width` columns; and `out` holds P rows of `width` numbers.
#[inline(always)]
unsafe fn dots_of_points<T: Real, const L: usize, const FMA: bool, const P: usize>(
    x: &[T],
    at: [usize; P],
    features: usize,
    u: &[T],
    pitch: usize,
    out: &mut [f64],
    width: usize,
) {
    let wide = L * size_of::<T>() == 64;
    let mut c = 0;
    while c < width {
        let (u, out, columns) = (&u[c * pitch..], &mut out[c..], columns_at_once(width - c));
        c += columns;
        // SAFETY: no more columns than are left; `u` and `out` begin at the first of them, `out` at that of these points.
        unsafe {
            if P == 4 && columns > 3 && !wide {
                for half in [0, 2] {
                    let (at, out) = ([at[half], at[half + 1]], &mut out[half * width..]);
                    write_tile(tile::<T, L, FMA, 2>(x, at, features, u, pitch, columns), columns, out, width);
                }
            } else {
                write_tile(tile::<T, L, FMA, P>(x, at, features, u, pitch, columns), columns, out, width);
            }
        }
    }
}

/// P points against 1 to 6 columns.
///
/// # Safety
/// As for [`dots`] with so many columns.
#[inline(always)]
unsafe fn tile<T: Real, const L: usize, const FMA: bool, const P: usize>(
    x: &[T],
    at: [usize; P],
    features: usize,
    u: &[T],
    pitch: usize,
    columns: usize,
) -> [[T; 8]; P] {
    // SAFETY: what it asks for is promised.
    unsafe {
        match columns {
            6 => dots::<T, L, FMA, P, 6>(x, at, features, u, pitch),
            5 => dots::<T, L, FMA, P, 5>(x, at, features, u, pitch),
            4 => dots::<T, L, FMA, P, 4>(x, at, features, u, pitch),
            3 => dots::<T, L, FMA, P, 3>(x, at, features, u, pitch),
            2 => dots::<T, L, FMA, P, 2>(x, at, features, u, pitch),
            _ => dots::<T, L, FMA, P, 1>(x, at, features, u, pitch),
        }
    }
}

/// The first C numbers of each point, into rows of `width`.
///
/// # Safety
/// From the beginning of each of P rows on, `out` holds C numbers.
#[inline(always)]
unsafe fn write<T: Real, const P: usize, const C: usize>(totals: [[T; 8]; P], out: &mut [f64], width: usize) {
    for p in 0..P {
        let mut scores = [0.0; C];
        for c in 0..C {
            scores[c] = totals[p][c].into();
        }
        // SAFETY: at the beginning of the p-th row.
        unsafe { put(out, p * width, scores) };
    }
}

/// What [`tile`] has made of 1 to 6 columns.
///
/// # Safety
/// As for `write` with so many columns.
#[inline(always)]
unsafe fn write_tile<T: Real, const P: usize>(
    totals: [[T; 8]; P],
    columns: usize,
    out: &mut [f64],
    width: usize,
) {
    // SAFETY: what it asks for is promised.
    unsafe {
        match columns {
            6 => write::<T, P, 6>(totals, out, width),
            5 => write::<T, P, 5>(totals, out, width),
            4 => write::<T, P, 4>(totals, out, width),
            3 => write::<T, P, 3>(totals, out, width),
            2 => write::<T, P, 2>(totals, out, width),
            _ => write::<T, P, 1>(totals, out, width),
        }
    }
}

/// For each point which column has the largest product with it, and that product: what [`Scores`] and a look at them
/// would tell, but while they are in registers.
pub(crate) struct Nearest<'a, T> {
    pub x: &'a [T],
    pub features: usize,
    pub u: &'a Packed<T>,
    /// A product that is smaller than the largest by no more than this, relative to it, is as good: the first is taken.
    pub tie: f64,
    pub to: &'a mut [u32],
    pub strength: &'a mut [f64],
}

impl<T> Nearest<'_, T> {
    /// Whether it knows how.
    pub(crate) fn can(u: &Packed<T>) -> bool {
        matches!(u, Packed::Dots { width: 1..=8, .. })
    }
}

/// All products of P points with 1 to 8 columns.
///
/// # Safety
/// As for [`dots`] with `width` columns.
#[inline(always)]
unsafe fn products<T: Real, const L: usize, const FMA: bool, const P: usize>(
    x: &[T],
    at: [usize; P],
    features: usize,
    u: &[T],
    pitch: usize,
    width: usize,
) -> [[T; 8]; P] {
    let columns = columns_at_once(width);
    // SAFETY: no more columns than there are.
    let mut all = unsafe { tile::<T, L, FMA, P>(x, at, features, u, pitch, columns) };
    if columns < width {
        let u = &u[columns * pitch..];
        // SAFETY: as many as are left, from the first of them on.
        let rest = unsafe { tile::<T, L, FMA, P>(x, at, features, u, pitch, width - columns) };
        for p in 0..P {
            // Seven or eight columns: four and the others.
            let [a, b, c, d, ..] = rest[p];
            (all[p][4], all[p][5], all[p][6], all[p][7]) = (a, b, c, d);
        }
    }
    all
}

impl<T: Real> Kernel for Nearest<'_, T> {
    type T = T;
    type Out = ();

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) {
        let Nearest { x, features, u, tie, to, strength } = self;
        let Packed::Dots { rows, pitch, width } = u else { unreachable!("asked by `can`") };
        assert!(holds(x.len(), to.len(), features) && strength.len() == to.len());
        assert!(u.fits::<L>(features) && matches!(width, 1..=8));
        let mut nowhere = [T::default(); 8];
        for c in *width..8 {
            nowhere[c] = T::of(f64::NEG_INFINITY);
        }
        let mut p = 0;
        while p < to.len() {
            // The last two points once more where one is left over.
            let first = p.min(to.len().saturating_sub(2));
            let second = (first + 1).min(to.len() - 1);
            prefetch(x, first * features, 2 * features);
            let at = [first * features, second * features];
            // SAFETY: `u` fits, as asserted, and `x` holds as many points as `to`.
            let mut all = unsafe { products::<T, L, FMA, 2>(x, at, features, rows, *pitch, *width) };
            for (row, p) in [first, second].into_iter().enumerate() {
                for c in 0..8 {
                    all[row][c] = all[row][c].add(nowhere[c]);
                }
                let (column, product) = first_largest::<T, FMA>(all[row], tie);
                to[p] = column as u32;
                strength[p] = product.into();
            }
            p += 2;
        }
    }
}

/// P points against the first Q vectors of columns of u.
///
/// # Safety
/// From each position on `x` holds `features` numbers; from the beginning of each of `features` rows on, `u` holds Q·L.
#[inline(always)]
unsafe fn outer<T: Real, const L: usize, const FMA: bool, const P: usize, const Q: usize>(
    x: &[T],
    at: [usize; P],
    features: usize,
    u: &[T],
    pitch: usize,
) -> [[[T; L]; Q]; P] {
    let mut sums = [[[T::default(); L]; Q]; P];
    for f in 0..features {
        let mut vectors = [[T::default(); L]; Q];
        for q in 0..Q {
            // SAFETY: the q-th vector of row f < `features`.
            vectors[q] = unsafe { load(u, f * pitch + q * L) };
        }
        for p in 0..P {
            // SAFETY: number f of a point.
            let [point]: [T; 1] = unsafe { load(x, at[p] + f) };
            for q in 0..Q {
                add_times::<T, L, FMA>(&mut sums[p][q], point, vectors[q]);
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

/// All columns for 4 points or one, up to three vectors at a time.
///
/// # Safety
/// From each position on `x` holds `features` numbers; `u` holds `features` rows of `pitch`, a multiple of L no smaller
/// than `width`.
#[inline(always)]
unsafe fn outer_of_points<T: Real, const L: usize, const FMA: bool, const P: usize>(
    x: &[T],
    at: [usize; P],
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
        // SAFETY: the last vector begins before `width`, and so ends within `pitch`.
        c += unsafe {
            if left > 2 * L {
                spread(outer::<T, L, FMA, P, 3>(x, at, features, u, pitch), left, out, width);
                3 * L
            } else if left > L {
                spread(outer::<T, L, FMA, P, 2>(x, at, features, u, pitch), left, out, width);
                2 * L
            } else {
                spread(outer::<T, L, FMA, P, 1>(x, at, features, u, pitch), left, out, width);
                L
            }
        };
    }
}

impl<T: Real> Kernel for Scores<'_, T> {
    type T = T;
    type Out = ();

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) {
        let Scores { x, features, list, u, out } = self;
        let width = match u {
            Packed::Dots { width, .. } | Packed::Outer { width, .. } => *width,
        };
        if width == 0 || features == 0 {
            out.fill(0.0);
            return;
        }
        let points = list.map_or(x.len() / features, <[u32]>::len);
        assert!(u.fits::<L>(features) && holds(out.len(), points, width));
        assert!(list.is_none_or(|list| list.iter().all(|&p| (p as usize) < x.len() / features)));
        let at = |p: usize| features * list.map_or(p, |list| list[p] as usize);
        let mut p = 0;
        while p + 4 <= points {
            if list.is_none() {
                prefetch(x, p * features, 4 * features);
            }
            let (at, out) = ([at(p), at(p + 1), at(p + 2), at(p + 3)], &mut out[p * width..]);
            // SAFETY: `u` fits, points are within `x` and four rows of `out` are left, as asserted.
            unsafe {
                match u {
                    Packed::Dots { rows, pitch, .. } => {
                        dots_of_points::<T, L, FMA, 4>(x, at, features, rows, *pitch, out, width)
                    }
                    Packed::Outer { rows, pitch, .. } => {
                        outer_of_points::<T, L, FMA, 4>(x, at, features, rows, *pitch, out, width)
                    }
                }
            }
            p += 4;
        }
        while p < points {
            let (at, out) = ([at(p)], &mut out[p * width..]);
            // SAFETY: as above, with one row left or more.
            unsafe {
                match u {
                    Packed::Dots { rows, pitch, .. } => {
                        dots_of_points::<T, L, FMA, 1>(x, at, features, rows, *pitch, out, width)
                    }
                    Packed::Outer { rows, pitch, .. } => {
                        outer_of_points::<T, L, FMA, 1>(x, at, features, rows, *pitch, out, width)
                    }
                }
            }
            p += 1;
        }
    }
}
