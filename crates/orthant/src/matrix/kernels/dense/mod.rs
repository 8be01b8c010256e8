//! Dense points times a skinny matrix, in both directions.
//!
//! `scores` has two forms. Few columns: dot products along the features, a tile of points × columns
//! at a time, so that every number loaded is used several times. Many columns (restarts side by
//! side) or very short points: a vector of columns at a time, no horizontal sums.

mod sums;

pub(crate) use sums::{NOWHERE, Sum, SumOne};

use super::{
    Aligned, Kernel, Real, first_largest, lanes, last, load, load_last, prefetch, put, sums_of_lanes,
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
#[inline(always)]
fn add_products<T: Real, const L: usize, const FMA: bool, const P: usize, const C: usize>(
    sums: &mut [[[T; L]; C]; P],
    points: [[T; L]; P],
    u: &[T],
    pitch: usize,
    f: usize,
) {
    for c in 0..C {
        let column: [T; L] = load(u, c * pitch + f);
        for p in 0..P {
            for l in 0..L {
                sums[p][c][l] = sums[p][c][l].plus::<FMA>(points[p][l], column[l]);
            }
        }
    }
}

/// P points (from the given positions) against C ≤ 8 columns along the features, of which there are at least L.
#[inline(always)]
fn dots<T: Real, const L: usize, const FMA: bool, const P: usize, const C: usize>(
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
    while f < whole {
        for p in 0..P {
            points[p] = load(x, at[p] + f);
        }
        add_products::<T, L, FMA, P, C>(&mut sums, points, u, pitch, f);
        f += L;
    }
    if whole < features {
        let mask = last(features - whole);
        for p in 0..P {
            points[p] = load_last::<T, L, FMA>(x, at[p] + features, &mask);
        }
        add_products::<T, L, FMA, P, C>(&mut sums, points, u, pitch, features - L);
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
#[inline(always)]
fn dots_of_points<T: Real, const L: usize, const FMA: bool, const P: usize>(
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

/// P points against 1 to 6 columns.
#[inline(always)]
fn tile<T: Real, const L: usize, const FMA: bool, const P: usize>(
    x: &[T],
    at: [usize; P],
    features: usize,
    u: &[T],
    pitch: usize,
    columns: usize,
) -> [[T; 8]; P] {
    match columns {
        6 => dots::<T, L, FMA, P, 6>(x, at, features, u, pitch),
        5 => dots::<T, L, FMA, P, 5>(x, at, features, u, pitch),
        4 => dots::<T, L, FMA, P, 4>(x, at, features, u, pitch),
        3 => dots::<T, L, FMA, P, 3>(x, at, features, u, pitch),
        2 => dots::<T, L, FMA, P, 2>(x, at, features, u, pitch),
        _ => dots::<T, L, FMA, P, 1>(x, at, features, u, pitch),
    }
}

/// The first C numbers of each point, into rows of `width`.
#[inline(always)]
fn write<T: Real, const P: usize, const C: usize>(totals: [[T; 8]; P], out: &mut [f64], width: usize) {
    for p in 0..P {
        let mut scores = [0.0; C];
        for c in 0..C {
            scores[c] = totals[p][c].into();
        }
        put(out, p * width, scores);
    }
}

#[inline(always)]
fn write_tile<T: Real, const P: usize>(totals: [[T; 8]; P], columns: usize, out: &mut [f64], width: usize) {
    match columns {
        6 => write::<T, P, 6>(totals, out, width),
        5 => write::<T, P, 5>(totals, out, width),
        4 => write::<T, P, 4>(totals, out, width),
        3 => write::<T, P, 3>(totals, out, width),
        2 => write::<T, P, 2>(totals, out, width),
        _ => write::<T, P, 1>(totals, out, width),
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

/// All products of P points with up to 8 columns.
#[inline(always)]
fn products<T: Real, const L: usize, const FMA: bool, const P: usize>(
    x: &[T],
    at: [usize; P],
    features: usize,
    u: &[T],
    pitch: usize,
    width: usize,
) -> [[T; 8]; P] {
    let columns = columns_at_once(width);
    let mut all = tile::<T, L, FMA, P>(x, at, features, u, pitch, columns);
    if columns < width {
        let rest = tile::<T, L, FMA, P>(x, at, features, &u[columns * pitch..], pitch, width - columns);
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
        assert!(x.len() >= to.len() * features && strength.len() == to.len() && features >= L && *width <= 8);
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
            let mut all = products::<T, L, FMA, 2>(x, at, features, rows, *pitch, *width);
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
#[inline(always)]
fn outer<T: Real, const L: usize, const FMA: bool, const P: usize, const Q: usize>(
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
            vectors[q] = load(u, f * pitch + q * L);
        }
        for p in 0..P {
            let [point]: [T; 1] = load(x, at[p] + f);
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
        if left > 2 * L {
            spread(outer::<T, L, FMA, P, 3>(x, at, features, u, pitch), left, out, width);
            c += 3 * L;
        } else if left > L {
            spread(outer::<T, L, FMA, P, 2>(x, at, features, u, pitch), left, out, width);
            c += 2 * L;
        } else {
            spread(outer::<T, L, FMA, P, 1>(x, at, features, u, pitch), left, out, width);
            c += L;
        }
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
        assert!(out.len() >= points * width);
        assert!(list.is_none_or(|list| list.iter().all(|&p| (p as usize) < x.len() / features)));
        let at = |p: usize| features * list.map_or(p, |list| list[p] as usize);
        let mut p = 0;
        while p + 4 <= points {
            if list.is_none() {
                prefetch(x, p * features, 4 * features);
            }
            let (at, out) = ([at(p), at(p + 1), at(p + 2), at(p + 3)], &mut out[p * width..]);
            match u {
                Packed::Dots { rows, pitch, .. } => {
                    dots_of_points::<T, L, FMA, 4>(x, at, features, rows, *pitch, out, width)
                }
                Packed::Outer { rows, pitch, .. } => {
                    outer_of_points::<T, L, FMA, 4>(x, at, features, rows, *pitch, out, width)
                }
            }
            p += 4;
        }
        while p < points {
            let (at, out) = ([at(p)], &mut out[p * width..]);
            match u {
                Packed::Dots { rows, pitch, .. } => {
                    dots_of_points::<T, L, FMA, 1>(x, at, features, rows, *pitch, out, width)
                }
                Packed::Outer { rows, pitch, .. } => {
                    outer_of_points::<T, L, FMA, 1>(x, at, features, rows, *pitch, out, width)
                }
            }
            p += 1;
        }
    }
}

/// `out[p] = scale · x_pᵀu[to_p, :]` in float64, whatever the format of the points.
pub(crate) struct DotOne<'a, T> {
    pub x: &'a [T],
    pub features: usize,
    pub scale: f64,
    /// A row of `u` for each point, or [`NOWHERE`].
    pub to: &'a [u32],
    /// Rows of `features` numbers.
    pub u: &'a [f64],
    pub out: &'a mut [f64],
}

impl<T: Real> Kernel for DotOne<'_, T> {
    type T = f64;
    type Out = ();

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) {
        let DotOne { x, features, scale, to, u, out } = self;
        assert!(to.len() * features <= x.len());
        for (p, (&to, out)) in to.iter().zip(out).enumerate() {
            prefetch(x, p * features, features);
            if to == NOWHERE {
                *out = 0.0;
                continue;
            }
            let (point, u) = (&x[p * features..(p + 1) * features], &u[to as usize * features..][..features]);
            *out = scale * dot_wide::<T, L, FMA>(point, u);
        }
    }
}

/// `‖scale·x − v·u‖²` of one point in float64.
pub(crate) struct Left<'a, T> {
    pub x: &'a [T],
    pub scale: f64,
    pub u: &'a [f64],
    pub v: f64,
}

impl<T: Real> Kernel for Left<'_, T> {
    type T = f64;
    type Out = f64;

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) -> f64 {
        let Left { x, scale, u, v } = self;
        let u = &u[..x.len()];
        let mut sums = [0.0f64; L];
        let whole = x.len() / L * L;
        for f in (0..whole).step_by(L) {
            let (x, u): ([T; L], [f64; L]) = (load(x, f), load(u, f));
            for l in 0..L {
                let x: f64 = x[l].into();
                let left = x * scale - v * u[l];
                sums[l] = sums[l].plus::<FMA>(left, left);
            }
        }
        for f in whole..x.len() {
            let x: f64 = x[f].into();
            let left = x * scale - v * u[f];
            sums[f - whole] = sums[f - whole].plus::<FMA>(left, left);
        }
        lanes(sums)
    }
}

/// Between which numbers each feature lies.
pub(crate) struct Extent<T> {
    least: Vec<T>,
    most: Vec<T>,
    /// Zero, or NaN where an entry was not finite.
    nothing: Vec<T>,
}

impl<T: Real> Extent<T> {
    pub(crate) fn new(features: usize) -> Self {
        let zeros = || vec![T::default(); features];
        Extent { least: zeros(), most: zeros(), nothing: zeros() }
    }

    /// The largest entry of each feature, if all that were seen are finite and not negative.
    pub(crate) fn most(&self) -> Option<Vec<f64>> {
        let zero = T::default();
        let fine = self.least.iter().chain(&self.nothing).all(|x| *x == zero);
        fine.then(|| self.most.iter().map(|&x| x.into()).collect())
    }
}

/// Widens an extent to hold some points.
pub(crate) struct Extend<'a, T> {
    pub x: &'a [T],
    pub extent: &'a mut Extent<T>,
}

impl<T: Real> Kernel for Extend<'_, T> {
    type T = T;
    type Out = ();

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) {
        let Extent { least, most, nothing } = self.extent;
        let features = least.len();
        // As slices: through the vectors each number would be stored before the next is loaded.
        let (least, most, nothing) = (&mut least[..], &mut most[..features], &mut nothing[..features]);
        for point in self.x.chunks_exact(features.max(1)) {
            for f in 0..features {
                let x = point[f];
                least[f] = if x < least[f] { x } else { least[f] };
                most[f] = if x > most[f] { x } else { most[f] };
                nothing[f] = nothing[f].plus::<FMA>(x, T::default());
            }
        }
    }
}

/// Tells other numbers from these, or the same in another order.
pub(crate) struct Digest<'a, T> {
    pub x: &'a [T],
}

impl<T: Real> Kernel for Digest<'_, T> {
    type T = T;
    type Out = u64;

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) -> u64 {
        // Words of 32 bits, of which vectors can multiply several at once.
        const LANES: usize = 32;
        let mut lanes = [0x811c_9dc5u32; LANES];
        let chunks = self.x.chunks_exact(LANES);
        let rest = chunks.remainder();
        for chunk in chunks {
            for l in 0..LANES {
                lanes[l] = (lanes[l] ^ chunk[l].word()).wrapping_mul(0x0100_0193).rotate_left(11);
            }
        }
        for (lane, x) in lanes.iter_mut().zip(rest) {
            *lane = (*lane ^ x.word()).wrapping_mul(0x0100_0193).rotate_left(11);
        }
        crate::bytes::digest(lanes.iter().map(|&lane| u64::from(lane)))
    }
}

/// `‖scale·x‖²` of one point in float64.
pub(crate) struct Norm2<'a, T> {
    pub x: &'a [T],
    pub scale: f64,
}

impl<T: Real> Kernel for Norm2<'_, T> {
    type T = f64;
    type Out = f64;

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) -> f64 {
        let Norm2 { x, scale } = self;
        const WAYS: usize = 4;
        let mut sums = [[0.0f64; L]; WAYS];
        let whole = x.len() / (WAYS * L) * (WAYS * L);
        for f in (0..whole).step_by(WAYS * L) {
            for way in 0..WAYS {
                let x: [T; L] = load(x, f + way * L);
                for l in 0..L {
                    let x = x[l].into() * scale;
                    sums[way][l] = sums[way][l].plus::<FMA>(x, x);
                }
            }
        }
        for l in 0..L {
            sums[0][l] = (sums[0][l] + sums[1][l]) + (sums[2][l] + sums[3][l]);
        }
        let mut total = lanes(sums[0]);
        for f in whole..x.len() {
            let x = x[f].into() * scale;
            total = total.plus::<FMA>(x, x);
        }
        total
    }
}

/// `xᵀu` in float64.
#[inline(always)]
fn dot_wide<T: Real, const L: usize, const FMA: bool>(x: &[T], u: &[f64]) -> f64 {
    const WAYS: usize = 4;
    let mut sums = [[0.0f64; L]; WAYS];
    let mut f = 0;
    while f + WAYS * L <= x.len() {
        for way in 0..WAYS {
            let (x, u): ([T; L], [f64; L]) = (load(x, f + way * L), load(u, f + way * L));
            for l in 0..L {
                sums[way][l] = sums[way][l].plus::<FMA>(x[l].into(), u[l]);
            }
        }
        f += WAYS * L;
    }
    while f + L <= x.len() {
        let (x, u): ([T; L], [f64; L]) = (load(x, f), load(u, f));
        for l in 0..L {
            sums[0][l] = sums[0][l].plus::<FMA>(x[l].into(), u[l]);
        }
        f += L;
    }
    for l in 0..L {
        sums[0][l] = (sums[0][l] + sums[1][l]) + (sums[2][l] + sums[3][l]);
    }
    let mut total = lanes(sums[0]);
    for f in f..x.len() {
        total = total.plus::<FMA>(x[f].into(), u[f]);
    }
    total
}
