//! The same recipe for points that are streamed: what is learned from all of them takes passes of its own, the rest is
//! done to every block as it is read.

use std::ops::Range;

use super::{Learned, Missing, Recipe, Step};
use crate::error::{Error, Result};
use crate::matrix::seam::Source;
use crate::matrix::{AnyPoints, Matrix, Shape};
use crate::weighting::Learning;

/// A source whose points are prepared as they are read.
pub struct Prepared<S> {
    source: S,
    learned: Learned,
}

/// Entries that are read at a time while something is learned.
const ENTRIES: usize = 1 << 22;

impl Recipe {
    /// Follows the recipe on the points of a source (they are not turned here).
    ///
    /// # Errors
    /// Where entries are missing and that is not allowed, or the source fails.
    pub fn stream<S: Source>(&self, source: S) -> Result<Prepared<S>> {
        if self.missing == Missing::Ignore {
            let problem =
                "entries are ignored where all points are in memory: give it more, or count them as zero";
            return Err(Error::parameter("missing", problem));
        }
        let learned = Learned { orientation: self.orientation, missing: self.missing, ..Learned::default() };
        let mut prepared = Prepared { source, learned };
        let shape = prepared.source.shape();
        let each = (shape.nonzeros / shape.points.max(1)).max(1);
        for &weighting in &self.weighting {
            let mut learning = Learning::new(weighting, shape.features);
            if learning.needs_points() {
                let count = (ENTRIES / each).max(1);
                for from in (0..shape.points).step_by(count) {
                    learning.see(&prepared.matrix(from..(from + count).min(shape.points))?);
                }
            }
            prepared.learned.steps.push(Step { weighting, fitted: learning.end() });
        }
        Ok(prepared)
    }
}

impl<S: Source> Prepared<S> {
    /// New points, prepared as the first ones were.
    pub fn new(source: S, learned: Learned) -> Prepared<S> {
        Prepared { source, learned }
    }

    /// What was learned.
    pub fn learned(&self) -> &Learned {
        &self.learned
    }

    /// Some points as they are to be.
    fn matrix(&self, rows: Range<usize>) -> Result<Matrix> {
        let first = rows.start;
        let points = Matrix::of(self.source.points(rows)?)?;
        self.learned.apply(points).map_err(|error| match error {
            Error::Entry { problem, row, column, advice } => {
                Error::Entry { problem, row: row + first, column, advice }
            }
            other => other,
        })
    }
}

impl<S: Source> Source for Prepared<S> {
    fn shape(&self) -> Shape {
        self.source.shape()
    }

    fn points(&self, rows: Range<usize>) -> Result<AnyPoints<'_>> {
        Ok(match self.matrix(rows)? {
            Matrix::DenseF32(x) => x.into(),
            Matrix::DenseF64(x) => x.into(),
            Matrix::SparseF32(x) => x.into(),
            Matrix::SparseF64(x) => x.into(),
        })
    }

    fn weights(&self) -> Option<Vec<f64>> {
        self.source.weights()
    }
}
