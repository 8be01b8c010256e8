//! Sparse rows times a skinny matrix. Arithmetic is float64, whatever the values' format: the time goes into fetching
//! rows of the skinny matrix, not into multiplying. (Where only the largest of a row's products matters, a float32 copy
//! of that matrix is fetched in half the time, and the products that are too close to tell are made again.)
//!
//! The same kernel serves both directions: with compressed rows it gives the scores of points, with
//! the transposed copy the sums of features; neither writes to a place that another row writes to.

use super::dense::NOWHERE;
use super::{Aligned, Kernel, Real, add, add_times, holds, load, put, vector};
use crate::matrix::{Csr, Index, Mat};

/// Rows of a skinny matrix, padded with zeros to whole vectors of this machine.
pub(crate) struct Packed<A = f64> {
    pub rows: Aligned<A>,
    pub pitch: usize,
    pub width: usize,
}

impl<A: Real> Packed<A> {
    /// `scale`, a power of two, is multiplied in here once instead of into every entry of the data.
    pub(crate) fn new(u: &Mat, scale: f64) -> Self {
        Self::from_rows(&u.data, u.cols, scale)
    }

    pub(crate) fn from_rows(data: &[f64], width: usize, scale: f64) -> Self {
        let pitch = width.next_multiple_of(vector() * size_of::<f64>() / size_of::<A>());
        let count = data.len().checked_div(width).unwrap_or(0);
        let mut packed = Packed { rows: Aligned::zeros(count * pitch), pitch, width };
        packed.fill(data, scale);
        packed
    }

    /// Whether it has `count` rows that whole vectors of L numbers cover.
    #[inline(always)]
    fn covers<const L: usize>(&self, count: usize) -> bool {
        self.pitch >= self.width && self.pitch.is_multiple_of(L) && holds(self.rows.len(), count, self.pitch)
    }

    /// Other numbers for the same shape; what pads the rows stays zero.
    pub(crate) fn fill(&mut self, data: &[f64], scale: f64) {
        if self.pitch == self.width {
            self.rows.iter_mut().zip(data).for_each(|(out, x)| *out = A::of(x * scale));
            return;
        }
        for (out, row) in self.rows.chunks_exact_mut(self.pitch).zip(data.chunks_exact(self.width)) {
            out.iter_mut().zip(row).for_each(|(out, x)| *out = A::of(x * scale));
        }
    }
}

/// `out[p, :] = Σ_f x[p, f] · u[f, :]` for the rows from `from` on, or for those that `list` names, counted from there.
pub(crate) struct Product<'a, 'd, T: Clone, I: Clone, A = f64> {
    pub x: &'a Csr<'d, T, I>,
    pub from: usize,
    pub list: Option<&'a [u32]>,
    pub u: &'a Packed<A>,
    pub out: &'a mut [A],
}

/// Adds x times Q vectors of u from position `at` on.
///
/// # Safety
/// `at + Q·L <= u.len()`.
#[inline(always)]
unsafe fn add_row<A: Real, const L: usize, const FMA: bool, const Q: usize>(
    sums: &mut [[A; L]; Q],
    x: A,
    u: &[A],
    at: usize,
) {
    for q in 0..Q {
        // SAFETY: the q-th of Q vectors.
        let vector: [A; L] = unsafe { load(u, at + q * L) };
        add_times::<A, L, FMA>(&mut sums[q], x, vector);
    }
}

/// Q vectors of columns for one row, with W sums of each side by side: entry after entry into the same
/// sum would wait for the multiplication before. What the last vector has too much goes over into `out`, as far as it
/// reaches: a copy of fewer numbers would be a call for each row.
///
/// # Safety
/// From each column times `pitch` on, `u` holds Q·L numbers.
#[inline(always)]
unsafe fn gather<
    T: Real,
    I: Index,
    A: Real,
    const L: usize,
    const FMA: bool,
    const Q: usize,
    const W: usize,
>(
    columns: &[I],
    values: &[T],
    u: &[A],
    pitch: usize,
    out: &mut [A],
) {
    let mut sums = [[[A::default(); L]; Q]; W];
    let entries = columns.len().min(values.len());
    let whole = entries / W * W;
    // SAFETY: for rows of `u` as promised; W entries follow each `at`, since both slices are `entries` ≥ `whole` long.
    unsafe {
        for at in whole..entries {
            add_row::<A, L, FMA, Q>(&mut sums[0], A::of(values[at].into()), u, columns[at].at() * pitch);
        }
        for at in (0..whole).step_by(W) {
            let (c, x): ([I; W], [T; W]) = (load(columns, at), load(values, at));
            for way in 0..W {
                add_row::<A, L, FMA, Q>(&mut sums[way], A::of(x[way].into()), u, c[way].at() * pitch);
            }
        }
    }
    for q in 0..Q {
        for way in 1..W {
            let more = sums[way][q];
            add::<A, L, FMA>(&mut sums[0][q], more);
        }
        match out[q * L..].first_chunk_mut::<L>() {
            Some(out) => *out = sums[0][q],
            None => {
                let left = out.len() - q * L;
                out[q * L..].copy_from_slice(&sums[0][q][..left]);
            }
        }
    }
}

/// As many vectors as fill the registers, with so many columns left: a row's entries are walked once for each group.
#[inline(always)]
fn vectors<const L: usize>(left: usize) -> usize {
    match left.div_ceil(L) {
        few @ 0..=4 => few,
        5..=7 => 4,
        _ => 8,
    }
}

impl<T: Real, I: Index, A: Real> Kernel for Product<'_, '_, T, I, A> {
    type T = A;
    type Out = ();

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) {
        let Product { x, from, list, u, out } = self;
        let Packed { rows, pitch, width } = u;
        if *width == 0 {
            return;
        }
        assert!(u.covers::<L>(x.features()));
        for p in 0..out.len() / *width {
            let (columns, values) = x.point(from + list.map_or(p, |list| list[p] as usize));
            let mut c = 0;
            while c < *width {
                let vectors = vectors::<L>(*width - c);
                let u = &rows[c..];
                // Beyond this row's numbers are those of the next, which are still to come.
                let (begin, end) = (p * *width + c, p * *width + c + vectors * L);
                let end = end.min(out.len());
                let out = &mut out[begin..end];
                // SAFETY: `Csr` holds only columns below `features`, and as many rows of `u` were asked for; c and so
                // many vectors more are at most its pitch, which is a multiple of L no smaller than the width.
                unsafe {
                    match vectors {
                        1 => gather::<T, I, A, L, FMA, 1, 4>(columns, values, u, *pitch, out),
                        2 => gather::<T, I, A, L, FMA, 2, 4>(columns, values, u, *pitch, out),
                        3 => gather::<T, I, A, L, FMA, 3, 2>(columns, values, u, *pitch, out),
                        4 => gather::<T, I, A, L, FMA, 4, 2>(columns, values, u, *pitch, out),
                        _ => gather::<T, I, A, L, FMA, 8, 1>(columns, values, u, *pitch, out),
                    }
                }
                c += vectors * L;
            }
        }
    }
}

/// `out[f, :] = Σ_j x[f, j] · u[j, :]` over the entries of transposed rows, each in the order of the points: what [`Add`]
/// computes point by point, to the same bits. One sum alone would wait for its last addition: so several rows, of about
/// the same length, go side by side.
pub(crate) struct SumRows<'a, 'd, T: Clone, I: Clone> {
    pub transposed: &'a Csr<'d, T, I>,
    pub from: usize,
    /// The rows of each window, the longest first, counted from its first.
    pub order: &'a [u8],
    pub window: usize,
    pub u: &'a Packed,
    /// rows × width.
    pub out: &'a mut [f64],
}

/// Q vectors of columns for each of W rows.
///
/// # Safety
/// From each column of the rows times `pitch` on, `u` holds Q·L numbers.
#[inline(always)]
unsafe fn gather_rows<T: Real, I: Index, const L: usize, const FMA: bool, const Q: usize, const W: usize>(
    rows: [(&[I], &[T]); W],
    u: &[f64],
    pitch: usize,
) -> [[[f64; L]; Q]; W] {
    let mut sums = [[[0.0f64; L]; Q]; W];
    let mut common = usize::MAX;
    for way in 0..W {
        common = common.min(rows[way].0.len()).min(rows[way].1.len());
    }
    // Cut to one length, so that no index has to be looked at below.
    let both: [(&[I], &[T]); W] = std::array::from_fn(|way| (&rows[way].0[..common], &rows[way].1[..common]));
    for at in 0..common {
        for way in 0..W {
            let (columns, values) = both[way];
            // SAFETY: as promised for every column.
            unsafe {
                add_row::<f64, L, FMA, Q>(&mut sums[way], values[at].into(), u, columns[at].at() * pitch);
            }
        }
    }
    for way in 0..W {
        for (c, &x) in rows[way].0.iter().zip(rows[way].1).skip(common) {
            // SAFETY: as above.
            unsafe { add_row::<f64, L, FMA, Q>(&mut sums[way], x.into(), u, c.at() * pitch) };
        }
    }
    sums
}

impl<T: Real, I: Index> SumRows<'_, '_, T, I> {
    /// Q vectors of columns from c on, for all rows, W at a time.
    #[inline(always)]
    fn columns<const L: usize, const FMA: bool, const Q: usize, const W: usize>(&mut self, c: usize) {
        let SumRows { transposed, from, order, window, u, out } = self;
        let (width, count) = (u.width, out.len() / u.width);
        assert!(u.covers::<L>(transposed.features()) && c + Q * L <= u.pitch);
        let end = (c + Q * L).min(width);
        let mut at = 0;
        while at < count {
            let size = (*window).min(count - at);
            let mut next = 0;
            while next < size {
                // The last rows of a window once more where fewer are left over; single where there are fewer.
                let first = if size < W { next } else { next.min(size - W) };
                let rows: [usize; W] =
                    std::array::from_fn(|way| at + order[at + (first + way).min(size - 1)] as usize);
                // A plain loop: what maps arrays stays a call here.
                let mut entries = [transposed.point(*from + rows[0]); W];
                for way in 1..W {
                    entries[way] = transposed.point(*from + rows[way]);
                }
                // SAFETY: `Csr` holds only columns below `features`: the assertion above is about their rows of `u`.
                let sums = unsafe { gather_rows::<T, I, L, FMA, Q, W>(entries, &u.rows[c..], u.pitch) };
                for way in 0..W {
                    let out = &mut out[rows[way] * width + c..rows[way] * width + end];
                    for (l, out) in out.iter_mut().enumerate() {
                        *out = sums[way][l / L][l % L];
                    }
                }
                next = first + W;
            }
            at += size;
        }
    }
}

impl<T: Real, I: Index> Kernel for SumRows<'_, '_, T, I> {
    type T = f64;
    type Out = ();

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(mut self) {
        let width = self.u.width;
        let mut c = 0;
        while c < width {
            let vectors = vectors::<L>(width - c);
            match vectors {
                1 => self.columns::<L, FMA, 1, 8>(c),
                2 => self.columns::<L, FMA, 2, 4>(c),
                3 => self.columns::<L, FMA, 3, 4>(c),
                4 => self.columns::<L, FMA, 4, 2>(c),
                _ => self.columns::<L, FMA, 8, 1>(c),
            }
            c += vectors * L;
        }
    }
}

/// `out[f, to[j, r]] += (scale · x[f, j]) · factor[j, r]` over the entries of transposed rows: each
/// point adds to one column for each of `starts` starts.
pub(crate) struct ProductOne<'a, 'd, T: Clone, I: Clone> {
    pub transposed: &'a Csr<'d, T, I>,
    pub from: usize,
    pub scale: f64,
    /// points × starts: a column of `out`, or [`NOWHERE`].
    pub to: &'a [u32],
    /// points × starts.
    pub factor: &'a [f64],
    pub starts: usize,
    pub width: usize,
    pub out: &'a mut [f64],
}

impl<T: Real, I: Index> Kernel for ProductOne<'_, '_, T, I> {
    type T = f64;
    type Out = ();

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) {
        let ProductOne { transposed, from, scale, to, factor, starts, width, out } = self;
        if width == 0 {
            return;
        }
        for (f, out) in out.chunks_exact_mut(width).enumerate() {
            let (points, values) = transposed.point(from + f);
            for (j, &x) in points.iter().zip(values) {
                let x: f64 = x.into();
                let x = x * scale;
                let at = j.at() * starts;
                for (&to, &factor) in to[at..at + starts].iter().zip(&factor[at..at + starts]) {
                    if to != NOWHERE {
                        let sum = &mut out[to as usize];
                        *sum = sum.plus::<FMA>(x, factor);
                    }
                }
            }
        }
    }
}

/// `sums[f, to_p] += (scale · x[p, f]) · factor_p` over the entries of points: what [`ProductOne`] computes, in the
/// same order and to the same bits, but point by point, which on one thread takes half the time.
pub(crate) struct AddOne<'a, 'd, T: Clone, I: Clone> {
    pub x: &'a Csr<'d, T, I>,
    pub from: usize,
    pub scale: f64,
    /// For each point and start: a column of `sums`, or [`NOWHERE`].
    pub to: &'a [u32],
    pub factor: &'a [f64],
    pub starts: usize,
    pub width: usize,
    pub sums: &'a mut [f64],
}

impl<T: Real, I: Index> Kernel for AddOne<'_, '_, T, I> {
    type T = f64;
    type Out = ();

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) {
        let AddOne { x, from, scale, to, factor, starts, width, sums } = self;
        assert!(holds(sums.len(), x.features(), width));
        for (at, (&to, &factor)) in to.iter().zip(factor).enumerate() {
            if to as usize >= width {
                continue;
            }
            let (columns, values) = x.point(from + at / starts);
            for (c, &x) in columns.iter().zip(values) {
                let x: f64 = x.into();
                let at = c.at() * width + to as usize;
                // SAFETY: `Csr` holds only columns below `features`, for which there are rows of `width` > `to`.
                unsafe {
                    let [sum]: [f64; 1] = load(sums, at);
                    put(sums, at, [sum.plus::<FMA>(x * scale, factor)]);
                }
            }
        }
    }
}

/// `sums[f, :] += (scale · x[p, f]) · b[p, :]` over the entries of points: where there is no transposed copy.
pub(crate) struct Add<'a, 'd, T: Clone, I: Clone> {
    pub x: &'a Csr<'d, T, I>,
    pub from: usize,
    pub scale: f64,
    /// points × width.
    pub b: &'a [f64],
    pub width: usize,
    /// features × width.
    pub sums: &'a mut [f64],
}

/// Q vectors of columns from `column` on, for all entries of a point: what they are multiplied with stays in registers.
///
/// # Safety
/// `b` is a row of `width` numbers, `sums` holds one for each column of the point, and `column + Q·L <= width`.
#[inline(always)]
unsafe fn scatter<T: Real, I: Index, const L: usize, const FMA: bool, const Q: usize>(
    (columns, values): (&[I], &[T]),
    scale: f64,
    b: &[f64],
    sums: &mut [f64],
    width: usize,
    column: usize,
) {
    let mut vectors = [[0.0f64; L]; Q];
    for q in 0..Q {
        // SAFETY: the q-th vector from `column` on in a row.
        vectors[q] = unsafe { load(b, column + q * L) };
    }
    for (c, &x) in columns.iter().zip(values) {
        let x: f64 = x.into();
        for q in 0..Q {
            let at = c.at() * width + column + q * L;
            // SAFETY: the same vector in the row of this column.
            unsafe {
                let mut sum: [f64; L] = load(sums, at);
                add_times::<f64, L, FMA>(&mut sum, x * scale, vectors[q]);
                put(sums, at, sum);
            }
        }
    }
}

impl<T: Real, I: Index> Kernel for Add<'_, '_, T, I> {
    type T = f64;
    type Out = ();

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) {
        let Add { x, from, scale, b, width, sums } = self;
        assert!(holds(sums.len(), x.features(), width));
        if width == 0 {
            return;
        }
        for (p, b) in b.chunks_exact(width).enumerate() {
            let entries = x.point(from + p);
            let mut column = 0;
            while column < width {
                let left = width - column;
                // SAFETY: `Csr` holds only columns below `features`, for which there are rows of `width` in `sums`;
                // no more vectors are taken than are left of a row.
                column += unsafe {
                    if left >= 3 * L {
                        scatter::<T, I, L, FMA, 3>(entries, scale, b, sums, width, column);
                        3 * L
                    } else if left >= 2 * L {
                        scatter::<T, I, L, FMA, 2>(entries, scale, b, sums, width, column);
                        2 * L
                    } else if left >= L {
                        scatter::<T, I, L, FMA, 1>(entries, scale, b, sums, width, column);
                        L
                    } else if left >= 2 {
                        scatter::<T, I, 2, FMA, 1>(entries, scale, b, sums, width, column);
                        2
                    } else {
                        scatter::<T, I, 1, FMA, 1>(entries, scale, b, sums, width, column);
                        1
                    }
                };
            }
        }
    }
}

/// `out[p] = Σ_f (scale · x[p, f]) · u[f, to_p]`: the score of each point with one column of its own.
pub(crate) struct DotOne<'a, 'd, T: Clone, I: Clone> {
    pub x: &'a Csr<'d, T, I>,
    pub from: usize,
    pub scale: f64,
    /// For each point a column of `u`, or [`NOWHERE`].
    pub to: &'a [u32],
    /// features × width.
    pub u: &'a [f64],
    pub width: usize,
    pub out: &'a mut [f64],
}

impl<T: Real, I: Index> Kernel for DotOne<'_, '_, T, I> {
    type T = f64;
    type Out = ();

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) {
        let DotOne { x, from, scale, to, u, width, out } = self;
        assert!(holds(u.len(), x.features(), width));
        for (p, (&to, out)) in to.iter().zip(out).enumerate() {
            if to as usize >= width {
                *out = 0.0;
                continue;
            }
            // Four sums side by side: one would wait for the multiplication before.
            const WAYS: usize = 4;
            let (columns, values) = x.point(from + p);
            let mut sums = [[[0.0f64; 1]; 1]; WAYS];
            let entries = columns.len().min(values.len());
            let whole = entries / WAYS * WAYS;
            let to = to as usize;
            // SAFETY: `Csr` holds only columns below `features`, for which there are rows of `width` > `to`; WAYS entries
            // follow each `at`.
            unsafe {
                for at in whole..entries {
                    let x: f64 = values[at].into();
                    add_row::<f64, 1, FMA, 1>(&mut sums[0], x * scale, u, columns[at].at() * width + to);
                }
                for at in (0..whole).step_by(WAYS) {
                    let (c, x): ([I; WAYS], [T; WAYS]) = (load(columns, at), load(values, at));
                    for way in 0..WAYS {
                        let x: f64 = x[way].into();
                        add_row::<f64, 1, FMA, 1>(&mut sums[way], x * scale, u, c[way].at() * width + to);
                    }
                }
            }
            let [[[a]], [[b]], [[c]], [[d]]] = sums;
            *out = (a + b) + (c + d);
        }
    }
}
