//! Sparse points: compressed rows, owned or borrowed (scipy.sparse's CSR is used as it is).

use std::any::Any;
use std::borrow::Cow;
use std::ops::Range;

use super::{AnyPoints, Packed, Points, Seen, Shape, Sums, Turned, digest_words, look_closely};
use crate::error::{Error, Result};
use crate::matrix::kernels::{Real, lanes, run, sparse, vector};
use crate::matrix::{Mat, room, threads};

mod sealed {
    /// Kernels rely on what [`super::Index`] says without checking again: nobody else implements it.
    pub trait Sealed {}
}

/// A column index: 32 or 64 bits, as scipy writes them.
pub trait Index: sealed::Sealed + Copy + Send + Sync + std::fmt::Debug + PartialEq + Sized + 'static {
    /// As a position in memory. Only called on indices that were checked to be in range.
    fn at(self) -> usize;
    /// Whether the index lies in `0..features`.
    fn within(self, features: usize) -> bool;
    /// From a position that is known to fit.
    fn from_position(position: usize) -> Self;
    /// Points with such columns among the kinds of points.
    fn any<T: Real>(points: Csr<'_, T, Self>) -> AnyPoints<'_>;
}

macro_rules! index {
    ($($t:ty, $any:ident);*) => { $(impl sealed::Sealed for $t {} impl Index for $t {
        #[inline(always)]
        fn at(self) -> usize { self as usize }
        #[inline(always)]
        fn within(self, features: usize) -> bool { self >= 0 && (self as u64) < features as u64 }
        #[inline(always)]
        fn from_position(position: usize) -> Self { position as $t }
        fn any<T: Real>(points: Csr<'_, T, Self>) -> AnyPoints<'_> { T::$any(points) }
    })* };
}
index!(i32, narrow; i64, wide);

/// Points in compressed rows: the entries of point `j` are `offsets[j]..offsets[j + 1]`,
/// with strictly increasing columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Csr<'a, T: Clone, I: Clone = i32> {
    points: usize,
    features: usize,
    offsets: Cow<'a, [usize]>,
    columns: Cow<'a, [I]>,
    values: Cow<'a, [T]>,
}

impl<'a, T: Copy, I: Index> Csr<'a, T, I> {
    /// Checks that offsets rise from 0 to the number of entries, and that the columns of every
    /// point are in range and strictly increasing.
    pub fn new(
        features: usize,
        offsets: impl Into<Cow<'a, [usize]>>,
        columns: impl Into<Cow<'a, [I]>>,
        values: impl Into<Cow<'a, [T]>>,
    ) -> Result<Self> {
        let (offsets, columns, values) = (offsets.into(), columns.into(), values.into());
        let broken = |problem: String| Err(Error::Data(problem));
        let Some(points) = offsets.len().checked_sub(1) else {
            return broken("a sparse matrix needs at least one row offset".into());
        };
        if offsets[0] != 0 || offsets[points] != values.len() || columns.len() != values.len() {
            return broken(format!(
                "row offsets span {}..{}, but there are {} columns and {} values",
                offsets[0],
                offsets[points],
                columns.len(),
                values.len()
            ));
        }
        for j in 0..points {
            if offsets[j] > offsets[j + 1] || offsets[j + 1] > values.len() {
                return broken(format!("row offsets decrease at row {j}"));
            }
            let row = &columns[offsets[j]..offsets[j + 1]];
            if let Some(column) = row.iter().find(|c| !c.within(features)) {
                return broken(format!("row {j} has column {column:?}, but there are {features} columns"));
            }
            if row.windows(2).any(|pair| pair[0].at() >= pair[1].at()) {
                return broken(format!(
                    "the columns of row {j} are not strictly increasing: sort them and sum duplicates"
                ));
            }
        }
        Ok(Csr { points, features, offsets, columns, values })
    }

    /// The same points without owning them.
    pub fn borrowed(&self) -> Csr<'_, T, I> {
        Csr {
            points: self.points,
            features: self.features,
            offsets: Cow::Borrowed(&self.offsets),
            columns: Cow::Borrowed(&self.columns),
            values: Cow::Borrowed(&self.values),
        }
    }

    /// The same points in memory of their own.
    pub fn into_owned(self) -> Csr<'static, T, I> {
        Csr {
            points: self.points,
            features: self.features,
            offsets: Cow::Owned(self.offsets.into_owned()),
            columns: Cow::Owned(self.columns.into_owned()),
            values: Cow::Owned(self.values.into_owned()),
        }
    }

    /// Offsets, columns and values, where they are owned.
    pub(crate) fn into_parts(self) -> Option<(Vec<usize>, Vec<I>, Vec<T>)> {
        match (self.offsets, self.columns, self.values) {
            (Cow::Owned(offsets), Cow::Owned(columns), Cow::Owned(values)) => {
                Some((offsets, columns, values))
            }
            _ => None,
        }
    }

    /// How many points.
    pub fn points(&self) -> usize {
        self.points
    }

    /// How many features.
    pub fn features(&self) -> usize {
        self.features
    }

    /// How many stored entries.
    pub fn nonzeros(&self) -> usize {
        self.values.len()
    }

    /// Where each point's entries begin, and where the last one's end.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// All columns, point after point.
    pub fn columns(&self) -> &[I] {
        &self.columns
    }

    /// All values, point after point.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// The same by the name that dense points have for theirs.
    pub(crate) fn numbers(&self) -> &[T] {
        &self.values
    }

    /// To be changed.
    pub(crate) fn numbers_mut(&mut self) -> &mut [T] {
        self.values.to_mut()
    }

    /// Columns and values of one point.
    #[inline]
    pub fn point(&self, j: usize) -> (&[I], &[T]) {
        let range = self.offsets[j]..self.offsets[j + 1];
        (&self.columns[range.clone()], &self.values[range])
    }

    /// Some points that follow each other, borrowed.
    pub fn range(&self, rows: Range<usize>) -> Csr<'_, T, I> {
        if rows == (0..self.points) {
            return self.borrowed();
        }
        let (from, to) = (self.offsets[rows.start], self.offsets[rows.end]);
        Csr {
            points: rows.len(),
            features: self.features,
            offsets: self.offsets[rows.start..=rows.end].iter().map(|offset| offset - from).collect(),
            columns: Cow::Borrowed(&self.columns[from..to]),
            values: Cow::Borrowed(&self.values[from..to]),
        }
    }

    /// An owned copy of some points.
    pub fn select(&self, points: &[usize]) -> Csr<'static, T, I> {
        let (mut offsets, mut columns, mut values) = (vec![0], vec![], vec![]);
        for &j in points {
            let (row, entries) = self.point(j);
            columns.extend_from_slice(row);
            values.extend_from_slice(entries);
            offsets.push(values.len());
        }
        Csr {
            points: points.len(),
            features: self.features,
            offsets: offsets.into(),
            columns: columns.into(),
            values: values.into(),
        }
    }

    /// Whether an index can name every one of so many.
    fn names(count: usize) -> bool {
        I::from_position(count).at() == count
    }

    /// Features as points: an owned transposed copy. Panics if there are more points than an index can name.
    pub fn transposed(&self) -> Csr<'static, T, I> {
        assert!(Self::names(self.points), "{} points are too many for these indices", self.points);
        let mut offsets = vec![0usize; self.features + 1];
        for c in self.columns.iter() {
            offsets[c.at() + 1] += 1;
        }
        for f in 0..self.features {
            offsets[f + 1] += offsets[f];
        }
        let mut next = offsets.clone();
        let mut columns = vec![I::from_position(0); self.columns.len()];
        let mut values = self.values.to_vec();
        for j in 0..self.points {
            let (row, entries) = self.point(j);
            for (c, &x) in row.iter().zip(entries) {
                let at = &mut next[c.at()];
                columns[*at] = I::from_position(j);
                values[*at] = x;
                *at += 1;
            }
        }
        Csr {
            points: self.features,
            features: self.points,
            offsets: offsets.into(),
            columns: columns.into(),
            values: values.into(),
        }
    }
}

fn own<X: 'static>(any: &(dyn Any + Send + Sync)) -> &X {
    any.downcast_ref().expect("points of one kind have one layout")
}

/// Sums of sparse points: features × width.
fn own_sums(any: &mut Sums) -> &mut Vec<f64> {
    any.downcast_mut().expect("points of one kind have one layout")
}

impl<T: Real, I: Index> Points for Csr<'_, T, I> {
    fn shape(&self) -> Shape {
        Shape {
            points: self.points,
            features: self.features,
            nonzeros: self.nonzeros(),
            format: T::FORMAT,
            sparse: true,
        }
    }

    fn select(&self, points: &[usize]) -> AnyPoints<'static> {
        I::any(Csr::select(self, points))
    }

    fn tile(&self) -> usize {
        64
    }

    fn tie(&self) -> f64 {
        T::TIE
    }

    fn rounding(&self) -> f64 {
        T::ROUNDING
    }

    fn pack(&self, old: Option<Packed>, u: &Mat, scale: f64) -> Packed {
        assert_eq!((u.rows, u.data.len()), (self.features, u.rows * u.cols), "one row for each feature");
        match old.and_then(|old| old.downcast::<sparse::Packed>().ok()) {
            Some(mut old) if old.width == u.cols && old.rows.len() == u.rows * old.pitch => {
                old.fill(&u.data, scale);
                old
            }
            _ => Box::new(sparse::Packed::<f64>::new(u, scale)),
        }
    }

    fn scores(&self, rows: Range<usize>, list: Option<&[u32]>, u: &Packed, out: &mut [f64]) {
        let u: &sparse::Packed = own(&**u);
        let count = list.map_or(rows.len(), <[u32]>::len);
        run(sparse::Product { x: self, from: rows.start, list, u, out: &mut out[..count * u.width] });
    }

    fn pack_rough(&self, u: &Mat, scale: f64) -> Option<Packed> {
        // A few columns fill one vector in either format.
        (u.cols > vector()).then(|| Box::new(sparse::Packed::<f32>::new(u, scale)) as Packed)
    }

    fn rough_scores(&self, rows: Range<usize>, list: Option<&[u32]>, u: &Packed, out: &mut [f32]) {
        let u: &sparse::Packed<f32> = own(&**u);
        let count = list.map_or(rows.len(), <[u32]>::len);
        run(sparse::Product { x: self, from: rows.start, list, u, out: &mut out[..count * u.width] });
    }

    fn roughness(&self, row: usize) -> f64 {
        // Each entry and number is rounded, each multiplication and addition once more.
        f32::ROUNDING * (self.point(row).0.len() + 4) as f64
    }

    fn in_lanes(&self, rows: Range<usize>, scale: f64) -> lanes::Rows {
        let (from, to) = (self.offsets[rows.start], self.offsets[rows.end]);
        let offsets = self.offsets[rows.start..=rows.end].iter().map(|offset| offset - from).collect();
        // As `rough::fits` has made sure of.
        let at = self.columns[from..to].iter().map(|c| c.at() as u32).collect();
        let x = self.values[from..to].iter().map(|&x| (x.into() * scale) as f32).collect();
        lanes::Rows::new(offsets, at, x, self.features)
    }

    // Sparse products are float64 anyway.
    fn pack_exact(&self, u: &Mat, scale: f64) -> Packed {
        self.pack(None, u, scale)
    }

    fn scores_exact(&self, rows: Range<usize>, u: &Packed, out: &mut [f64]) {
        self.scores(rows, None, u, out);
    }

    fn columns<'m>(&self, u: &'m Mat) -> Cow<'m, Mat> {
        Cow::Borrowed(u)
    }

    fn dots_one(&self, rows: Range<usize>, scale: f64, to: &[u32], u: &Mat, out: &mut [f64]) {
        run(sparse::DotOne { x: self, from: rows.start, scale, to, u: &u.data, width: u.cols, out });
    }

    fn sums(&self, width: usize) -> Sums {
        Box::new(room::zeros(self.features * width))
    }

    fn add(&self, sums: &mut Sums, rows: Range<usize>, scale: f64, b: &[f64]) {
        let width = b.len() / rows.len().max(1);
        run(sparse::Add { x: self, from: rows.start, scale, b, width, sums: own_sums(sums) });
    }

    fn add_few(
        &self,
        sums: &mut Sums,
        rows: Range<usize>,
        scale: f64,
        to: &[u32],
        factor: &[f64],
        width: usize,
    ) {
        let starts = to.len() / rows.len().max(1);
        let sums = own_sums(sums);
        run(sparse::AddOne { x: self, from: rows.start, scale, to, factor, starts, width, sums });
    }

    fn close(&self, sums: Sums) -> Vec<f64> {
        *sums.downcast().expect("points of one kind have one layout")
    }

    fn turned(&self, rows: Range<usize>) -> Option<Box<dyn Turned>> {
        Self::names(rows.len())
            .then(|| Box::new(TurnedRows::new(self.range(rows).transposed())) as Box<dyn Turned>)
    }

    fn look(&self, rows: Range<usize>) -> Seen {
        let range = self.offsets[rows.start]..self.offsets[rows.end];
        let lengths = rows.clone().map(|row| (self.offsets[row + 1] - self.offsets[row]) as u32);
        let columns = self.columns[range.clone()].iter().map(|c| c.at() as u32);
        let values = self.values[range].iter().map(|&x| {
            let bits = Into::<f64>::into(x).to_bits();
            (bits >> 32) as u32 ^ (bits as u32).rotate_left(7)
        });
        let digest = digest_words(lengths.chain(columns).chain(values));
        look_closely(self, rows, digest)
    }

    fn norm2(&self, row: usize, scale: f64) -> f64 {
        let (mut sum, mut zero) = (0.0f64, true);
        for &x in self.point(row).1 {
            let x: f64 = x.into();
            sum += (x * scale) * (x * scale);
            zero &= x == 0.0;
        }
        // Entries whose squares are too small for the format are not nothing.
        if zero { 0.0 } else { sum.max(f64::MIN_POSITIVE) }
    }

    fn for_each(&self, row: usize, f: &mut dyn FnMut(usize, f64)) {
        let (columns, values) = self.point(row);
        for (c, &x) in columns.iter().zip(values) {
            f(c.at(), x.into());
        }
    }

    fn dot(&self, row: usize, scale: f64, u: &[f64]) -> f64 {
        let (columns, values) = self.point(row);
        let product = |(c, &x): (&I, &T)| (x.into() * scale) * u[c.at()];
        columns.iter().zip(values).map(product).sum()
    }

    fn residual2(&self, row: usize, scale: f64, u: &[f64], u_norm2: f64, v: f64) -> f64 {
        let (mut sum, mut met) = (0.0, 0.0);
        let (columns, values) = self.point(row);
        for (c, &x) in columns.iter().zip(values) {
            let (x, u): (f64, f64) = (x.into(), u[c.at()]);
            let left = x * scale - v * u;
            sum += left * left;
            met += u * u;
        }
        sum + v * v * (u_norm2 - met).max(0.0)
    }
}

/// Features that are summed side by side: of about the same length, so that none waits for its own last addition.
const WINDOW: usize = 256;

/// A transposed copy.
struct TurnedRows<T: Clone + 'static, I: Clone + 'static> {
    rows: Csr<'static, T, I>,
    /// Features of every window, those with most entries first, counted from its first.
    order: Vec<u8>,
}

impl<T: Real, I: Index> TurnedRows<T, I> {
    fn new(rows: Csr<'static, T, I>) -> Self {
        let length = |f: usize| rows.offsets[f + 1] - rows.offsets[f];
        let mut order = Vec::with_capacity(rows.points);
        for from in (0..rows.points).step_by(WINDOW) {
            let mut window: Vec<usize> = (from..(from + WINDOW).min(rows.points)).collect();
            window.sort_by_key(|&f| std::cmp::Reverse(length(f)));
            order.extend(window.into_iter().map(|f| (f - from) as u8));
        }
        TurnedRows { rows, order }
    }

    /// Fills rows of features × width; features in parallel, each in the order of the points.
    fn over_features(&self, width: usize, fill: impl Fn(usize, &mut [f64]) + Sync + Send) -> Vec<f64> {
        let (features, entries) = (self.rows.points, self.rows.nonzeros());
        let mut sums = room::zeros(features * width);
        let count = if entries.saturating_mul(width) < threads::SMALL { 1 } else { 64 };
        // Equal shares of the entries, not of the features: words are as unequal as can be.
        let border = |c: usize| {
            let at = self.rows.offsets.partition_point(|&o| o < entries * c / count);
            if c == count { features } else { at.next_multiple_of(WINDOW).min(features) }
        };
        let mut left = &mut sums[..];
        let mut jobs = vec![];
        for c in 0..count {
            let (from, to) = (border(c), border(c + 1));
            let (part, rest) = std::mem::take(&mut left).split_at_mut((to - from) * width);
            jobs.push((from, part));
            left = rest;
        }
        threads::in_order(jobs, |(from, part)| fill(from, part));
        sums
    }
}

impl<T: Real, I: Index> Turned for TurnedRows<T, I> {
    fn sum(&self, scale: f64, b: &[f64], width: usize) -> Vec<f64> {
        let u: &sparse::Packed = &sparse::Packed::from_rows(b, width, scale);
        self.over_features(width, |from, out| {
            let order = &self.order[from..];
            run(sparse::SumRows { transposed: &self.rows, from, order, window: WINDOW, u, out });
        })
    }

    fn sum_few(&self, scale: f64, to: &[u32], factor: &[f64], starts: usize, width: usize) -> Vec<f64> {
        let transposed = &self.rows;
        self.over_features(width, |from, out| {
            run(sparse::ProductOne { transposed, from, scale, to, factor, starts, width, out });
        })
    }
}
