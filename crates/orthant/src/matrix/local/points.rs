//! The kinds of points in memory: how a block of them is multiplied, and how it adds to sums.

use std::borrow::Cow;
use std::ops::Range;

use super::{in_order, split};
use crate::matrix::data::{Entry, Shape};
use crate::matrix::kernels::{Real, dense, run, sparse, vector};
use crate::matrix::{Csr, Dense, Index, Mat};

/// Points in memory. `scale` multiplies every entry; `to`/`factor` are points × starts.
pub(crate) trait Points: Send + Sync {
    /// Format of the entries.
    type T: Real;
    /// Below this many multiplications a pass is not worth a second thread, which takes up to 0.1 ms to wake.
    const SMALL: usize;
    /// A skinny matrix, laid out for `scores`.
    type Packed: Send + Sync;
    /// Sums of features × width in the making.
    type Sums: Send;

    fn shape(&self) -> Shape;
    /// A copy of some of them.
    fn select(&self, points: &[usize]) -> Self;
    /// How many points fit into the cache together.
    fn block(&self) -> usize;
    fn pack(&self, u: &Mat, scale: f64) -> Self::Packed;
    /// The same, in the memory of an older one where that pays.
    fn pack_into(&self, _old: Option<Self::Packed>, u: &Mat, scale: f64) -> Self::Packed {
        self.pack(u, scale)
    }
    /// The products of points with all columns: of `rows`, or of those that `list` names, counted from the first.
    fn scores(&self, rows: Range<usize>, list: Option<&[u32]>, u: &Self::Packed, out: &mut [f64]);

    /// For each of `rows` the column with the largest score and that score; of those as large, up to the format's
    /// [`Real::TIE`], the first. False where it takes `scores` to tell.
    fn nearest(
        &self,
        _rows: Range<usize>,
        _u: &Self::Packed,
        _to: &mut [u32],
        _strength: &mut [f64],
    ) -> bool {
        false
    }

    /// A skinny matrix as a hasty `scores` reads it.
    type Rough: Send + Sync;
    /// None where `scores` is as fast.
    fn pack_rough(&self, _u: &Mat, _scale: f64) -> Option<Self::Rough> {
        None
    }
    /// `scores` in float32, for points that [`Self::roughness`] allows it for.
    fn rough_scores(&self, _rows: Range<usize>, _list: Option<&[u32]>, _u: &Self::Rough, _out: &mut [f32]) {
        unreachable!("only where there is a rough matrix")
    }
    /// How wrong a rough score may be, relative to the norms of point and column.
    fn roughness(&self, _row: usize) -> f64 {
        0.0
    }

    /// As `pack` and `scores`, but all in float64 whatever the entries' format: what a proof rests on.
    type Exact: Send + Sync;
    fn pack_exact(&self, u: &Mat, scale: f64) -> Self::Exact;
    fn scores_exact(&self, rows: Range<usize>, u: &Self::Exact, out: &mut [f64]);

    /// How many chunks may have sums of their own before these cost more than the pass.
    fn most_sums(&self, width: usize) -> usize;
    fn sums(&self, width: usize) -> Self::Sums;
    /// The same, in given memory where that pays.
    fn sums_in(&self, _room: Vec<f64>, width: usize) -> Self::Sums {
        self.sums(width)
    }
    /// `sums += Σ_p x_p ⊗ b_p`.
    fn add(&self, sums: &mut Self::Sums, rows: Range<usize>, scale: f64, b: &[f64]);
    /// `sums[to_p] += factor_p · x_p`.
    fn add_one(&self, sums: &mut Self::Sums, rows: Range<usize>, scale: f64, to: &[u32], factor: &[f64]);
    /// The parts added in order, as features × width.
    fn total(&self, parts: Vec<Self::Sums>, width: usize) -> Mat;

    /// Whether sums are taken over the transposed copy, after the pass, by the two functions below.
    fn has_transposed(&self) -> bool {
        false
    }
    fn transposed_sum(&self, _scale: f64, _b: &[f64], _width: usize) -> Mat {
        unreachable!("only where there is a transposed copy")
    }
    fn transposed_sum_one(
        &self,
        _scale: f64,
        _to: &[u32],
        _factor: &[f64],
        _starts: usize,
        _width: usize,
    ) -> Mat {
        unreachable!("only where there is a transposed copy")
    }

    /// Whether vectors of one number a point are so much shorter than the clusters' directions that singular
    /// vectors are better computed from that side.
    fn few_points(&self, _k: usize) -> bool {
        false
    }
    /// A matrix as `dots_one` reads it.
    fn columns<'m>(&self, u: &'m Mat) -> Cow<'m, Mat>;
    /// `out_p = x_pᵀu[:, to_p]` in float64, for a matrix from `columns`.
    fn dots_one(&self, rows: Range<usize>, scale: f64, to: &[u32], u: &Mat, out: &mut [f64]);

    /// A first look at some points.
    fn look(&self, rows: Range<usize>) -> Seen {
        look_closely(self, rows)
    }
    /// `‖scale·x‖²` in float64; zero for a point without entries only.
    fn norm2(&self, row: usize, scale: f64) -> f64 {
        let (mut sum, mut zero) = (0.0f64, true);
        self.for_each(row, |_, value| {
            sum += (value * scale) * (value * scale);
            zero &= value == 0.0;
        });
        // Entries whose squares are too small for the format are not nothing.
        if zero { 0.0 } else { sum.max(f64::MIN_POSITIVE) }
    }

    /// Calls `f` with every stored entry of a point.
    fn for_each(&self, row: usize, f: impl FnMut(usize, f64));
    /// `scale·xᵀu` in float64.
    fn dot(&self, row: usize, scale: f64, u: &[f64]) -> f64 {
        let mut dot = 0.0;
        self.for_each(row, |f, x| dot += (x * scale) * u[f]);
        dot
    }
    /// `‖scale·x − v·u‖²`, without cancellation.
    fn residual2(&self, row: usize, scale: f64, u: &[f64], u_norm2: f64, v: f64) -> f64;
}

/// What a first look finds.
pub(crate) struct Seen {
    pub(super) largest: f64,
    pub(super) not_finite: Option<Entry>,
    pub(super) negative: Option<Entry>,
    /// Features that are not zero everywhere.
    pub(super) used: Vec<bool>,
}

/// Looks at every entry by itself.
fn look_closely<P: Points + ?Sized>(points: &P, rows: Range<usize>) -> Seen {
    let used = vec![false; points.shape().features];
    let mut seen = Seen { largest: 0.0, not_finite: None, negative: None, used };
    for row in rows {
        points.for_each(row, |column, value| {
            if !value.is_finite() {
                seen.not_finite.get_or_insert(Entry { row, column, value });
                return;
            }
            if value < 0.0 && seen.negative.is_none() {
                seen.negative = Some(Entry { row, column, value });
            }
            seen.largest = seen.largest.max(value.abs());
            seen.used[column] |= value != 0.0;
        });
    }
    seen
}

/// Sums of dense points: in the data's own format for a while, then in float64. width × features.
pub(crate) struct DenseSums<T> {
    recent: Vec<T>,
    points: usize,
    total: Vec<f64>,
    factors: Vec<T>,
    order: Vec<(u32, T)>,
    ends: Vec<u32>,
}

impl<T: Real> DenseSums<T> {
    fn flush(&mut self) {
        for (total, recent) in self.total.iter_mut().zip(&mut self.recent) {
            let sum: f64 = (*recent).into();
            *total += sum;
            *recent = T::default();
        }
        self.points = 0;
    }

    /// Makes room for a further block.
    fn count(&mut self, points: usize) {
        if self.points.saturating_add(points) > T::SUMS {
            self.flush();
        }
        self.points += points;
    }
}

impl<T: Real> Points for Dense<'_, T> {
    type T = T;
    const SMALL: usize = 1 << 22;
    type Packed = dense::Packed<T>;
    type Rough = ();
    type Sums = DenseSums<T>;

    fn shape(&self) -> Shape {
        Shape {
            points: self.points(),
            features: self.features(),
            nonzeros: self.data().len(),
            precision: T::PRECISION,
        }
    }

    fn select(&self, points: &[usize]) -> Self {
        Dense::select(self, points)
    }

    fn block(&self) -> usize {
        // 64 KiB of points: what a pass reads twice is still near the second time.
        (64 * 1024 / (self.features() * size_of::<T>()).max(1) / 8 * 8).clamp(8, 256)
    }

    fn pack(&self, u: &Mat, scale: f64) -> Self::Packed {
        assert_eq!((u.rows, u.data.len()), (self.features(), u.rows * u.cols), "one row for each feature");
        dense::Packed::new(u, scale)
    }

    fn scores(&self, rows: Range<usize>, list: Option<&[u32]>, u: &Self::Packed, out: &mut [f64]) {
        run(dense::Scores { x: self.slice(rows), features: self.features(), list, u, out });
    }

    fn nearest(&self, rows: Range<usize>, u: &Self::Packed, to: &mut [u32], strength: &mut [f64]) -> bool {
        let can = dense::Nearest::can(u);
        if can {
            let (x, features) = (self.slice(rows), self.features());
            run(dense::Nearest { x, features, u, tie: T::TIE, to, strength });
        }
        can
    }

    fn columns<'m>(&self, u: &'m Mat) -> Cow<'m, Mat> {
        Cow::Owned(u.transpose())
    }

    fn dots_one(&self, rows: Range<usize>, scale: f64, to: &[u32], u: &Mat, out: &mut [f64]) {
        assert_eq!(u.cols, self.features(), "one column for each feature");
        let (x, features) = (self.slice(rows), self.features());
        run(dense::DotOne { x, features, scale, to, u: &u.data, out });
    }

    type Exact = dense::Packed<f64>;

    fn pack_exact(&self, u: &Mat, scale: f64) -> Self::Exact {
        assert_eq!((u.rows, u.data.len()), (self.features(), u.rows * u.cols), "one row for each feature");
        dense::Packed::new(u, scale)
    }

    fn scores_exact(&self, rows: Range<usize>, u: &Self::Exact, out: &mut [f64]) {
        let features = self.features();
        let x = self.slice(rows);
        let x: Vec<f64> = x.iter().map(|&x| x.into()).collect();
        run(dense::Scores { x: &x, features, list: None, u, out });
    }

    fn most_sums(&self, width: usize) -> usize {
        self.points() / (8 * width.max(1))
    }

    fn sums(&self, width: usize) -> DenseSums<T> {
        let size = width * self.features();
        DenseSums {
            recent: vec![T::default(); size],
            points: 0,
            total: vec![0.0; size],
            factors: vec![],
            order: vec![],
            ends: vec![],
        }
    }

    fn add(&self, sums: &mut DenseSums<T>, rows: Range<usize>, scale: f64, b: &[f64]) {
        let (features, width) = (self.features(), b.len() / rows.len().max(1));
        sums.count(rows.len());
        sums.factors.clear();
        sums.factors.extend(b.iter().map(|&x| T::of(x * scale)));
        let x = self.slice(rows);
        run(dense::Sum { x, features, b: &sums.factors, width, sums: &mut sums.recent });
    }

    fn add_one(&self, sums: &mut DenseSums<T>, rows: Range<usize>, scale: f64, to: &[u32], factor: &[f64]) {
        let (features, starts) = (self.features(), to.len() / rows.len().max(1));
        sums.count(rows.len());
        let x = self.slice(rows);
        let DenseSums { recent, order, ends, .. } = sums;
        run(dense::SumOne { x, features, to, factor, scale, starts, sums: recent, order, ends });
    }

    fn total(&self, parts: Vec<DenseSums<T>>, width: usize) -> Mat {
        let features = self.features();
        let mut total = vec![0.0; width * features];
        for mut part in parts {
            part.flush();
            total.iter_mut().zip(&part.total).for_each(|(t, p)| *t += p);
        }
        Mat { rows: width, cols: features, data: total }.transpose()
    }

    fn look(&self, rows: Range<usize>) -> Seen {
        let mut extent = dense::Extent::new(self.features());
        for x in self.slice(rows.clone()).chunks((self.block() * self.features()).max(1)) {
            run(dense::Extend { x, extent: &mut extent });
        }
        match extent.most() {
            Some(most) => Seen {
                largest: most.iter().copied().fold(0.0, f64::max),
                not_finite: None,
                negative: None,
                used: most.iter().map(|&most| most > 0.0).collect(),
            },
            // The first entry that is wrong is to be named.
            None => look_closely(self, rows),
        }
    }

    fn norm2(&self, row: usize, scale: f64) -> f64 {
        let x = self.point(row);
        let norm2 = run(dense::Norm2 { x, scale });
        if norm2 == 0.0 && x.iter().all(|x| *x == T::default()) { 0.0 } else { norm2.max(f64::MIN_POSITIVE) }
    }

    fn for_each(&self, row: usize, mut f: impl FnMut(usize, f64)) {
        for (column, &x) in self.point(row).iter().enumerate() {
            f(column, x.into());
        }
    }

    fn residual2(&self, row: usize, scale: f64, u: &[f64], _u_norm2: f64, v: f64) -> f64 {
        run(dense::Left { x: self.point(row), scale, u, v })
    }

    fn dot(&self, row: usize, scale: f64, u: &[f64]) -> f64 {
        let mut dot = [0.0];
        run(dense::DotOne { x: self.point(row), features: u.len(), scale, to: &[0], u, out: &mut dot });
        dot[0]
    }
}

/// Sparse points with 32- or 64-bit columns. The choice is made here, once for each block, so that the
/// passes are compiled for each format of the values only.
pub(crate) enum Sparse<'a, T: Clone + 'static> {
    Narrow(Rows<'a, T, i32>),
    Wide(Rows<'a, T, i64>),
}

/// The same expression for either width.
macro_rules! either {
    ($sparse:expr, $rows:ident => $body:expr) => {
        match $sparse {
            Sparse::Narrow($rows) => $body,
            Sparse::Wide($rows) => $body,
        }
    };
}

/// Compressed rows, and a transposed copy where it was wanted.
pub(crate) struct Rows<'a, T: Clone + 'static, I: Clone + 'static> {
    rows: Csr<'a, T, I>,
    transposed: Option<Csr<'static, T, I>>,
}

/// Multiplications of a sparse pass that is not worth a second thread.
const SMALL: usize = 1 << 20;

/// From this many entries on, a single pass is worth all threads.
const LARGE: usize = 1 << 22;

/// Up to this many bytes the transposed copy is made without asking.
const TRANSPOSED: usize = 256 << 20;

impl<'a, T: Real, I: Index> Rows<'a, T, I> {
    pub(crate) fn new(rows: Csr<'a, T, I>, transposed: Option<bool>) -> Self {
        let bytes = rows.nonzeros() * (size_of::<T>() + size_of::<I>());
        // A 32-bit index must also be able to name every point.
        let fits = I::from_position(rows.points()).at() == rows.points();
        let wanted = fits && transposed.unwrap_or(bytes <= TRANSPOSED);
        Rows { transposed: wanted.then(|| rows.transposed()), rows }
    }

    fn select(&self, points: &[usize]) -> Self {
        Rows::new(self.rows.select(points), Some(self.transposed.is_some()))
    }

    fn copy(&self) -> &Csr<'static, T, I> {
        self.transposed.as_ref().expect("there is a transposed copy")
    }

    /// Fills rows of features × width over the transposed copy; features in parallel, each in order.
    fn over_features(&self, width: usize, fill: impl Fn(usize, &mut [f64]) + Sync + Send) -> Mat {
        let features = self.rows.features();
        let offsets = self.copy().offsets();
        let mut sums = Mat::zeros(features, width);
        let entries = self.rows.nonzeros();
        let count = if entries.saturating_mul(width) < SMALL { 1 } else { 64.min(features.max(1)) };
        // Equal shares of the entries, not of the features: words are as unequal as can be.
        let border = |c: usize| {
            if c == count { features } else { offsets.partition_point(|&o| o < entries * c / count) }
        };
        let chunks: Vec<Range<usize>> = (0..count).map(|c| border(c)..border(c + 1)).collect();
        let parts = split(&mut sums.data, &chunks, width);
        in_order(chunks.into_iter().zip(parts).collect(), |(chunk, part)| fill(chunk.start, part));
        sums
    }

    #[inline(always)]
    fn for_each(&self, row: usize, mut f: impl FnMut(usize, f64)) {
        let (columns, values) = self.rows.point(row);
        for (c, &x) in columns.iter().zip(values) {
            f(c.at(), x.into());
        }
    }

    fn add(&self, sums: &mut [f64], rows: Range<usize>, scale: f64, b: &[f64]) {
        let width = b.len() / rows.len().max(1);
        run(sparse::Add { x: &self.rows, from: rows.start, scale, b, width, sums });
    }

    fn add_one(&self, sums: &mut [f64], rows: Range<usize>, scale: f64, to: &[u32], factor: &[f64]) {
        let (starts, width) = (to.len() / rows.len().max(1), sums.len() / self.rows.features().max(1));
        run(sparse::AddOne { x: &self.rows, from: rows.start, scale, to, factor, starts, width, sums });
    }
}

impl<T: Real> Points for Sparse<'_, T> {
    type T = T;
    const SMALL: usize = SMALL;
    type Packed = sparse::Packed;
    type Rough = sparse::Packed<f32>;
    /// features × width.
    type Sums = Vec<f64>;

    fn shape(&self) -> Shape {
        either!(self, x => Shape {
            points: x.rows.points(),
            features: x.rows.features(),
            nonzeros: x.rows.nonzeros(),
            precision: T::PRECISION,
        })
    }

    fn select(&self, points: &[usize]) -> Self {
        match self {
            Sparse::Narrow(rows) => Sparse::Narrow(rows.select(points)),
            Sparse::Wide(rows) => Sparse::Wide(rows.select(points)),
        }
    }

    fn block(&self) -> usize {
        64
    }

    fn pack(&self, u: &Mat, scale: f64) -> sparse::Packed {
        assert_eq!(
            (u.rows, u.data.len()),
            (self.shape().features, u.rows * u.cols),
            "one row for each feature"
        );
        sparse::Packed::new(u, scale)
    }

    fn pack_into(&self, old: Option<sparse::Packed>, u: &Mat, scale: f64) -> sparse::Packed {
        match old {
            Some(mut old) if old.width == u.cols && old.rows.len() == u.rows * old.pitch => {
                old.fill(&u.data, scale);
                old
            }
            _ => self.pack(u, scale),
        }
    }

    fn scores(&self, rows: Range<usize>, list: Option<&[u32]>, u: &sparse::Packed, out: &mut [f64]) {
        let count = list.map_or(rows.len(), <[u32]>::len);
        let (from, out) = (rows.start, &mut out[..count * u.width]);
        either!(self, x => run(sparse::Product { x: &x.rows, from, list, u, out }));
    }

    fn columns<'m>(&self, u: &'m Mat) -> Cow<'m, Mat> {
        Cow::Borrowed(u)
    }

    fn pack_rough(&self, u: &Mat, scale: f64) -> Option<sparse::Packed<f32>> {
        // A few columns fill one vector in either format.
        (u.cols > vector()).then(|| sparse::Packed::new(u, scale))
    }

    fn rough_scores(
        &self,
        rows: Range<usize>,
        list: Option<&[u32]>,
        u: &sparse::Packed<f32>,
        out: &mut [f32],
    ) {
        let count = list.map_or(rows.len(), <[u32]>::len);
        let (from, out) = (rows.start, &mut out[..count * u.width]);
        either!(self, x => run(sparse::Product { x: &x.rows, from, list, u, out }));
    }

    fn roughness(&self, row: usize) -> f64 {
        // Each entry and number is rounded, each multiplication and addition once more.
        let entries = either!(self, x => x.rows.point(row).0.len());
        f32::ROUNDING * (entries + 4) as f64
    }

    // Sparse products are float64 anyway.
    type Exact = sparse::Packed;

    fn pack_exact(&self, u: &Mat, scale: f64) -> sparse::Packed {
        self.pack(u, scale)
    }

    fn scores_exact(&self, rows: Range<usize>, u: &sparse::Packed, out: &mut [f64]) {
        self.scores(rows, None, u, out);
    }

    fn most_sums(&self, _width: usize) -> usize {
        let shape = self.shape();
        shape.nonzeros / (4 * shape.features.max(1))
    }

    fn sums(&self, width: usize) -> Vec<f64> {
        vec![0.0; self.shape().features * width]
    }

    fn sums_in(&self, mut room: Vec<f64>, width: usize) -> Vec<f64> {
        let size = self.shape().features * width;
        if room.capacity() < size {
            return self.sums(width);
        }
        room.clear();
        room.resize(size, 0.0);
        room
    }

    fn add(&self, sums: &mut Vec<f64>, rows: Range<usize>, scale: f64, b: &[f64]) {
        either!(self, x => x.add(sums, rows, scale, b));
    }

    fn add_one(&self, sums: &mut Vec<f64>, rows: Range<usize>, scale: f64, to: &[u32], factor: &[f64]) {
        either!(self, x => x.add_one(sums, rows, scale, to, factor));
    }

    fn total(&self, parts: Vec<Vec<f64>>, width: usize) -> Mat {
        let mut parts = parts.into_iter();
        let mut data = parts.next().unwrap_or_default();
        for part in parts {
            data.iter_mut().zip(&part).for_each(|(t, p)| *t += p);
        }
        Mat { rows: self.shape().features, cols: width, data }
    }

    fn has_transposed(&self) -> bool {
        either!(self, x => x.transposed.is_some())
    }

    fn transposed_sum(&self, scale: f64, b: &[f64], width: usize) -> Mat {
        let u: sparse::Packed = sparse::Packed::from_rows(b, width, scale);
        either!(self, s => s.over_features(width, |from, out| {
            run(sparse::Product { x: s.copy(), from, list: None, u: &u, out })
        }))
    }

    fn transposed_sum_one(&self, scale: f64, to: &[u32], factor: &[f64], starts: usize, width: usize) -> Mat {
        either!(self, s => s.over_features(width, |from, out| {
            run(sparse::ProductOne { transposed: s.copy(), from, scale, to, factor, starts, width, out })
        }))
    }

    fn few_points(&self, k: usize) -> bool {
        let shape = self.shape();
        // Such passes run on one thread for each start: large data are better off with all threads in each pass.
        shape.points < shape.features * k / 2 && shape.nonzeros < LARGE
    }

    fn dots_one(&self, rows: Range<usize>, scale: f64, to: &[u32], u: &Mat, out: &mut [f64]) {
        let (from, width, u) = (rows.start, u.cols, &u.data);
        either!(self, x => run(sparse::DotOne { x: &x.rows, from, scale, to, u, width, out }));
    }

    fn for_each(&self, row: usize, f: impl FnMut(usize, f64)) {
        either!(self, x => x.for_each(row, f))
    }

    fn residual2(&self, row: usize, scale: f64, u: &[f64], u_norm2: f64, v: f64) -> f64 {
        let (mut sum, mut met) = (0.0, 0.0);
        self.for_each(row, |f, x| {
            let left = x * scale - v * u[f];
            sum += left * left;
            met += u[f] * u[f];
        });
        sum + v * v * (u_norm2 - met).max(0.0)
    }
}
