//! Dense points: a row-major array, owned or borrowed (a numpy array, a memory map).

use std::borrow::Cow;
use std::ops::Range;

use super::kernels::with_room;
use crate::error::{Error, Result};

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

    /// The same points without owning them.
    pub fn borrowed(&self) -> Dense<'_, T> {
        Dense { points: self.points, features: self.features, data: Cow::Borrowed(&self.data) }
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
