//! Dense points: a row-major array, owned or borrowed (a numpy array, a memory map).

use std::any::Any;
use std::borrow::Cow;
use std::ops::Range;

use super::{AnyPoints, Packed, Points, PowerStep, Seen, Shape, Sums, look_closely};
use crate::error::{Error, Result};
use crate::matrix::Mat;
use crate::matrix::kernels::{Aligned, Real, dense, run, with_room};

/// Points in rows, features in columns, a point contiguous in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Dense<'a, T: Clone> {
    points: usize,
    features: usize,
    data: Cow<'a, [T]>,
}

impl<'a, T: Clone> Dense<'a, T> {
    /// `data` holds `points` rows of `features` numbers each.
    pub fn new(points: usize, features: usize, data: impl Into<Cow<'a, [T]>>) -> Result<Self> {
        let data = data.into();
        if points.checked_mul(features) != Some(data.len()) {
            return Err(Error::Data(format!(
                "{points} points of {features} features need {points} x {features} numbers, {} were given",
                data.len()
            )));
        }
        Ok(Dense { points, features, data })
    }

    /// How many points.
    pub fn points(&self) -> usize {
        self.points
    }

    /// How many features.
    pub fn features(&self) -> usize {
        self.features
    }

    /// All numbers, point after point.
    pub fn data(&self) -> &[T] {
        &self.data
    }

    /// The same by the name that sparse points have for theirs.
    pub(crate) fn numbers(&self) -> &[T] {
        &self.data
    }

    /// To be changed.
    pub(crate) fn numbers_mut(&mut self) -> &mut [T] {
        self.data.to_mut()
    }

    /// All numbers, where they are owned.
    pub(crate) fn into_data(self) -> Option<Vec<T>> {
        match self.data {
            Cow::Owned(data) => Some(data),
            Cow::Borrowed(_) => None,
        }
    }

    /// The same points without owning them.
    pub fn borrowed(&self) -> Dense<'_, T> {
        Dense { points: self.points, features: self.features, data: Cow::Borrowed(&self.data) }
    }

    /// Some points that follow each other, borrowed.
    pub fn range(&self, rows: Range<usize>) -> Dense<'_, T> {
        Dense { points: rows.len(), features: self.features, data: Cow::Borrowed(self.slice(rows)) }
    }

    /// Some points, one after the other.
    pub fn slice(&self, points: Range<usize>) -> &[T] {
        &self.data[points.start * self.features..points.end * self.features]
    }

    /// One point.
    pub fn point(&self, j: usize) -> &[T] {
        &self.data[j * self.features..(j + 1) * self.features]
    }
}

impl<T: Copy> Dense<'_, T> {
    /// The same points in memory of their own.
    pub fn into_owned(self) -> Dense<'static, T> {
        Dense { points: self.points, features: self.features, data: Cow::Owned(self.data.into_owned()) }
    }

    /// An owned copy of some points.
    pub fn select(&self, points: &[usize]) -> Dense<'static, T> {
        let mut data = with_room(points.len() * self.features);
        points.iter().for_each(|&j| data.extend_from_slice(self.point(j)));
        Dense { points: points.len(), features: self.features, data: Cow::Owned(data) }
    }

    /// Features as points: an owned transposed copy.
    pub fn transposed(&self) -> Dense<'static, T> {
        let (n, m) = (self.points, self.features);
        let mut data = with_room(n * m);
        // Tiles keep both sides in cache.
        const TILE: usize = 32;
        if let Some(&fill) = self.data.first() {
            data.resize(n * m, fill);
        }
        for j0 in (0..n).step_by(TILE) {
            for f0 in (0..m).step_by(TILE) {
                for j in j0..(j0 + TILE).min(n) {
                    for f in f0..(f0 + TILE).min(m) {
                        data[f * n + j] = self.data[j * m + f];
                    }
                }
            }
        }
        Dense { points: m, features: n, data: Cow::Owned(data) }
    }
}

/// Sums of dense points: in the data's own format for a while, then in float64.
struct DenseSums<T> {
    /// width rows of `pitch` numbers: whole vectors.
    recent: Aligned<T>,
    pitch: usize,
    features: usize,
    points: usize,
    /// width × features; empty until there is something.
    total: Vec<f64>,
    factors: Vec<T>,
    order: Vec<(u32, T)>,
    ends: Vec<u32>,
}

impl<T: Real> DenseSums<T> {
    fn flush(&mut self) {
        let Self { recent, pitch, features, total, .. } = self;
        let (pitch, features) = (*pitch, *features);
        total.resize(recent.len() / pitch * features, 0.0);
        run(dense::Flush { recent, pitch, total, features });
        self.points = 0;
    }

    /// Makes room for a further tile.
    fn count(&mut self, points: usize) {
        if self.points.saturating_add(points) > T::SUMS {
            self.flush();
        }
        self.points += points;
    }
}

/// What this kind of points has packed or begun itself.
fn own<X: 'static>(any: &(dyn Any + Send + Sync)) -> &X {
    any.downcast_ref().expect("points of one kind have one layout")
}

fn own_sums<X: 'static>(any: &mut Sums) -> &mut X {
    any.downcast_mut().expect("points of one kind have one layout")
}

impl<T: Real> Points for Dense<'_, T> {
    fn shape(&self) -> Shape {
        Shape {
            points: self.points,
            features: self.features,
            nonzeros: self.data.len(),
            format: T::FORMAT,
            sparse: false,
        }
    }

    fn select(&self, points: &[usize]) -> AnyPoints<'static> {
        T::dense(Dense::select(self, points))
    }

    fn tile(&self) -> usize {
        // 64 KiB of points: what a pass reads twice is still near the second time.
        (64 * 1024 / (self.features * size_of::<T>()).max(1) / 8 * 8).clamp(8, 256)
    }

    fn tie(&self) -> f64 {
        T::TIE
    }

    fn rounding(&self) -> f64 {
        T::ROUNDING
    }

    fn pack(&self, _old: Option<Packed>, u: &Mat, scale: f64) -> Packed {
        assert_eq!((u.rows, u.data.len()), (self.features, u.rows * u.cols), "one row for each feature");
        Box::new(dense::Packed::<T>::new(u, scale))
    }

    fn scores(&self, rows: Range<usize>, list: Option<&[u32]>, u: &Packed, out: &mut [f64]) {
        let u = own(&**u);
        run(dense::Scores::<T> { x: self.slice(rows), features: self.features, list, u, out });
    }

    fn nearest(
        &self,
        rows: Range<usize>,
        u: &Packed,
        to: &mut [u32],
        strength: &mut [f64],
        step: Option<PowerStep>,
    ) -> bool {
        let u: &dense::Packed<T> = own(&**u);
        if !dense::Nearest::can(u) {
            return false;
        }
        let points = rows.len();
        let (x, features) = (self.slice(rows), self.features);
        let step = step.map(|PowerStep { sums, scale, weight }| {
            let sums: &mut DenseSums<T> = own_sums(sums);
            sums.count(points);
            let DenseSums { recent, pitch, .. } = sums;
            dense::PowerStep { weight, scale, sums: recent, pitch: *pitch }
        });
        run(dense::Nearest { x, features, u, tie: T::TIE, to, strength, step });
        true
    }

    fn pack_exact(&self, u: &Mat, scale: f64) -> Packed {
        assert_eq!((u.rows, u.data.len()), (self.features, u.rows * u.cols), "one row for each feature");
        Box::new(dense::Packed::<f64>::new(u, scale))
    }

    fn scores_exact(&self, rows: Range<usize>, u: &Packed, out: &mut [f64]) {
        let x: Vec<f64> = self.slice(rows).iter().map(|&x| x.into()).collect();
        run(dense::Scores::<f64> { x: &x, features: self.features, list: None, u: own(&**u), out });
    }

    fn columns<'m>(&self, u: &'m Mat) -> Cow<'m, Mat> {
        Cow::Owned(u.transpose())
    }

    fn dots_one(&self, rows: Range<usize>, scale: f64, to: &[u32], u: &Mat, out: &mut [f64]) {
        assert_eq!(u.cols, self.features, "one column for each feature");
        let (x, features) = (self.slice(rows), self.features);
        run(dense::DotOne { x, features, scale, to, u: &u.data, out });
    }

    fn sums(&self, width: usize) -> Sums {
        let pitch = self.features.max(1).next_multiple_of(dense::longest::<T>());
        Box::new(DenseSums {
            recent: Aligned::<T>::zeros(width * pitch),
            pitch,
            features: self.features,
            points: 0,
            total: vec![],
            factors: vec![],
            order: vec![],
            ends: vec![],
        })
    }

    fn add(&self, sums: &mut Sums, rows: Range<usize>, scale: f64, b: &[f64]) {
        let (features, width) = (self.features, b.len() / rows.len().max(1));
        let sums: &mut DenseSums<T> = own_sums(sums);
        sums.count(rows.len());
        sums.factors.clear();
        sums.factors.extend(b.iter().map(|&x| T::of(x * scale)));
        let x = self.slice(rows);
        let DenseSums { recent, pitch, factors, .. } = sums;
        run(dense::Sum { x, features, b: factors, width, sums: recent, pitch: *pitch });
    }

    fn add_few(
        &self,
        sums: &mut Sums,
        rows: Range<usize>,
        scale: f64,
        to: &[u32],
        factor: &[f64],
        _width: usize,
    ) {
        let (features, starts) = (self.features, to.len() / rows.len().max(1));
        let sums: &mut DenseSums<T> = own_sums(sums);
        sums.count(rows.len());
        let x = self.slice(rows);
        let DenseSums { recent, pitch, order, ends, .. } = sums;
        run(dense::SumOne {
            x,
            features,
            to,
            factor,
            scale,
            starts,
            sums: recent,
            pitch: *pitch,
            order,
            ends,
        });
    }

    fn close(&self, sums: Sums) -> Vec<f64> {
        let mut sums: Box<DenseSums<T>> = sums.downcast().expect("points of one kind have one layout");
        sums.flush();
        sums.total
    }

    fn look(&self, rows: Range<usize>) -> Seen {
        let mut extent = dense::Extent::new(self.features);
        let x = self.slice(rows.clone());
        for x in x.chunks((self.tile() * self.features).max(1)) {
            run(dense::Extend { x, extent: &mut extent });
        }
        let digest = run(dense::Digest { x });
        match extent.most() {
            Some(most) => Seen {
                largest: most.iter().copied().fold(0.0, f64::max),
                not_finite: None,
                negative: None,
                // Of dense points nobody asks for more.
                points_with: most.iter().map(|&most| if most > 0.0 { 2 } else { 0 }).collect(),
                digest,
            },
            // The first entry that is wrong is to be named.
            None => look_closely(self, rows, digest),
        }
    }

    fn norm2(&self, row: usize, scale: f64) -> f64 {
        let x = self.point(row);
        let norm2 = run(dense::Norm2 { x, scale });
        // Entries whose squares are too small for the format are not nothing.
        if norm2 == 0.0 && x.iter().all(|x| *x == T::default()) { 0.0 } else { norm2.max(f64::MIN_POSITIVE) }
    }

    fn for_each(&self, row: usize, f: &mut dyn FnMut(usize, f64)) {
        for (column, &x) in self.point(row).iter().enumerate() {
            f(column, x.into());
        }
    }

    fn dot(&self, row: usize, scale: f64, u: &[f64]) -> f64 {
        let mut dot = [0.0];
        run(dense::DotOne { x: self.point(row), features: u.len(), scale, to: &[0], u, out: &mut dot });
        dot[0]
    }

    fn residual2(&self, row: usize, scale: f64, u: &[f64], _u_norm2: f64, v: f64) -> f64 {
        run(dense::Left { x: self.point(row), scale, u, v })
    }
}
