//! A symmetric matrix in a format of its own: there may be hundreds of millions of entries, and what only guides a search
//! may be float32.

use rayon::prelude::*;

use crate::matrix::{Mat, Real, wide_times};
use crate::singular::Symmetric;

pub(super) struct Square<T> {
    pub(super) size: usize,
    /// Row after row.
    pub(super) data: Vec<T>,
}

impl<T: Real> Square<T> {
    pub(super) fn zeros(size: usize) -> Self {
        Square { size, data: vec![T::default(); size * size] }
    }

    /// Makes it, row by row, of the same rows of two others.
    pub(super) fn make_of(&mut self, a: &Mat, b: &Square<T>, f: impl Fn(f64, f64) -> f64 + Sync) {
        let size = self.size;
        let rows = self.data.par_chunks_mut(size).zip(a.data.par_chunks(size)).zip(b.data.par_chunks(size));
        rows.for_each(|((c, a), b)| {
            for ((c, &a), &b) in c.iter_mut().zip(a).zip(b) {
                *c = T::of(f(a, b.into()));
            }
        });
    }
}

impl<T: Real> Symmetric for Square<T> {
    fn size(&self) -> usize {
        self.size
    }
    fn times(&self, x: &Mat) -> Mat {
        wide_times(&self.data, x)
    }
    fn eigen(&self) -> (Vec<f64>, Mat) {
        Mat::from_fn(self.size, self.size, |i, j| self.data[i * self.size + j].into()).symmetric_eigen()
    }
}
