//! Dense points times a skinny matrix, in both directions.
//!
//! `scores` has two forms. Few columns: dot products along the features, a tile of points × columns
//! at a time, so that every number loaded is used several times. Many columns (restarts side by
//! side) or very short points: a vector of columns at a time, no horizontal sums.

mod alone;
mod sums;

pub(crate) use alone::{Digest, DotOne, Extend, Extent, Left, Norm2};
pub(crate) use sums::{Flush, NOWHERE, Sum, SumOne};

use super::{
    Aligned, Kernel, Real, add_products, add_times, first_largest_of_four, holds, last, load, load_first,
    load_last, prefetch, put, sums_of_points,
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
pub(crate) const fn longest<T>() -> usize {
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
) -> [[[T; 4]; P]; 2] {
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
    sums_of_points::<T, L, FMA, P, C>(sums)
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
) -> [[[T; 4]; P]; 2] {
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
unsafe fn write<T: Real, const P: usize, const C: usize>(
    totals: [[[T; 4]; P]; 2],
    out: &mut [f64],
    width: usize,
) {
    for p in 0..P {
        let mut scores = [0.0; C];
        for c in 0..C {
            scores[c] = totals[c / 4][p][c % 4].into();
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
    totals: [[[T; 4]; P]; 2],
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
    /// Where points add themselves to their columns at once, while they are in the nearest cache.
    pub step: Option<PowerStep<'a, T>>,
}

/// `sums[to[p], :] += scale · weight[p] · strength[p] · x_p`.
pub(crate) struct PowerStep<'a, T> {
    /// One for each point; none where all are 1.
    pub weight: Option<&'a [f64]>,
    pub scale: f64,
    /// A row of `pitch` numbers for each column.
    pub sums: &'a mut [T],
    pub pitch: usize,
}

impl<T> Nearest<'_, T> {
    /// Whether it knows how.
    pub(crate) fn can(u: &Packed<T>) -> bool {
        matches!(u, Packed::Dots { width: 1..=8, .. })
    }
}

/// All products of four points with 1 to 8 columns.
///
/// # Safety
/// As for [`dots`] with `width` columns.
#[inline(always)]
unsafe fn products<T: Real, const L: usize, const FMA: bool>(
    x: &[T],
    at: [usize; 4],
    features: usize,
    u: &[T],
    pitch: usize,
    width: usize,
) -> [[[T; 4]; 4]; 2] {
    let columns = columns_at_once(width);
    // SAFETY: no more columns than there are; seven or eight are four and the others.
    unsafe {
        let mut all = four::<T, L, FMA>(x, at, features, u, pitch, columns);
        if columns < width {
            let rest = four::<T, L, FMA>(x, at, features, &u[columns * pitch..], pitch, width - columns);
            all[1] = rest[0];
        }
        all
    }
}

/// [`tile`] of four points; two and two where their sums with more than three columns would not fit the registers.
///
/// # Safety
/// As for [`tile`].
#[inline(always)]
unsafe fn four<T: Real, const L: usize, const FMA: bool>(
    x: &[T],
    at: [usize; 4],
    features: usize,
    u: &[T],
    pitch: usize,
    columns: usize,
) -> [[[T; 4]; 4]; 2] {
    // SAFETY: what it asks for is promised.
    unsafe {
        if columns <= 3 || L * size_of::<T>() == 64 {
            return tile::<T, L, FMA, 4>(x, at, features, u, pitch, columns);
        }
        let mut all = [[[T::default(); 4]; 4]; 2];
        for half in [0, 2] {
            let two = tile::<T, L, FMA, 2>(x, [at[half], at[half + 1]], features, u, pitch, columns);
            for p in 0..2 {
                (all[0][half + p], all[1][half + p]) = (two[0][p], two[1][p]);
            }
        }
        all
    }
}

/// Where a point begins, its factor, and where the sum begins that it adds to.
type Adding<T> = (usize, T, usize);

/// N points that follow each other add to the sum of the first, in this order; what follows them is asked for.
///
/// # Safety
/// From where each point begins `x` holds `features` numbers; from where the sum begins `sums` holds as many, rounded up to
/// whole vectors.
#[inline(always)]
unsafe fn add_points<T: Real, const L: usize, const FMA: bool, const N: usize>(
    x: &[T],
    features: usize,
    points: [Adding<T>; N],
    sums: &mut [T],
) {
    let to = points[0].2;
    let whole = features / L * L;
    let mut f = 0;
    // SAFETY: vectors that begin before `features`, and of a point only what there is.
    unsafe {
        while f < whole {
            let mut sum: [T; L] = load(sums, to + f);
            for (at, factor, _) in points {
                prefetch(x, at + 4 * features + f, L);
                add_times::<T, L, FMA>(&mut sum, factor, load(x, at + f));
            }
            put(sums, to + f, sum);
            f += L;
        }
        if f < features {
            let mut sum: [T; L] = load(sums, to + f);
            for (at, factor, _) in points {
                prefetch(x, at + 4 * features + f, L);
                add_times::<T, L, FMA>(&mut sum, factor, load_first::<T, L, FMA>(x, at + f, features - f));
            }
            put(sums, to + f, sum);
        }
    }
}

impl<T: Real> Kernel for Nearest<'_, T> {
    type T = T;
    type Out = ();

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) {
        let Nearest { x, features, u, tie, to, strength, mut step } = self;
        let Packed::Dots { rows, pitch, width } = u else { unreachable!("asked by `can`") };
        assert!(holds(x.len(), to.len(), features) && strength.len() == to.len());
        assert!(u.fits::<L>(features) && matches!(width, 1..=8));
        if let Some(PowerStep { weight, sums, pitch, .. }) = &step {
            assert!(*pitch >= features.next_multiple_of(L) && holds(sums.len(), *width, *pitch));
            assert!(weight.is_none_or(|weight| weight.len() == to.len()));
        }
        // Points add themselves while the next four are multiplied: until their columns are found there is nothing else
        // to do for a while.
        let mut before: [Adding<T>; 4] = [(0, T::default(), 0); 4];
        let mut p = 0;
        loop {
            let (count, mut now) = (4.min(to.len() - p), [(0, T::default(), 0); 4]);
            if count > 0 {
                // Where fewer than four are left, the last one more than once.
                let mut at = [0; 4];
                for q in 0..4 {
                    at[q] = (p + q).min(to.len() - 1) * features;
                }
                let ahead = if step.is_none() { 2 * features } else { 0 };
                prefetch(x, p * features, ahead);
                // SAFETY: `u` fits, as asserted, and `x` holds as many points as `to`.
                let all = unsafe { products::<T, L, FMA>(x, at, features, rows, *pitch, *width) };
                prefetch(x, (p + 2) * features, ahead);
                let (columns, largest) = first_largest_of_four::<T, L, FMA>(all, *width, tie);
                for q in 0..count {
                    (to[p + q], strength[p + q]) = (columns[q], largest[q].into());
                    if let Some(PowerStep { weight, scale, pitch, .. }) = &step {
                        let factor = weight.map_or(1.0, |weight| weight[p + q]) * strength[p + q] * scale;
                        now[q] = (at[q], T::of(factor), columns[q] as usize * pitch);
                    }
                }
            }
            if let Some(PowerStep { sums, .. }) = step.as_mut().filter(|_| p > 0) {
                let one = before.iter().all(|point| point.2 == before[0].2);
                // SAFETY: points of `x`, or the first times nothing, and rows of `sums`, as asserted.
                unsafe {
                    if one {
                        add_points::<T, L, FMA, 4>(x, features, before, sums);
                    } else {
                        for point in before {
                            add_points::<T, L, FMA, 1>(x, features, [point], sums);
                        }
                    }
                }
            }
            if count == 0 {
                break;
            }
            before = now;
            p += count;
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
            let ahead = if list.is_none() { 2 * features } else { 0 };
            prefetch(x, p * features, ahead);
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
            prefetch(x, (p + 2) * features, ahead);
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
