//! Sparse points: compressed rows, owned or borrowed (scipy.sparse's CSR is used as it is).

use std::borrow::Cow;

use crate::error::{Error, Result};

/// A column index: 32 or 64 bits, as scipy writes them.
pub trait Index: Copy + Send + Sync + std::fmt::Debug + PartialEq + Sized + 'static {
    /// As a position in memory. Only called on indices that were checked to be in range.
    fn at(self) -> usize;
    /// Whether the index lies in `0..features`.
    fn within(self, features: usize) -> bool;
    /// From a position that is known to fit.
    fn from_position(position: usize) -> Self;
}

macro_rules! index {
    ($($t:ty),*) => { $(impl Index for $t {
        #[inline(always)]
        fn at(self) -> usize { self as usize }
        #[inline(always)]
        fn within(self, features: usize) -> bool { self >= 0 && (self as u64) < features as u64 }
        #[inline(always)]
        fn from_position(position: usize) -> Self { position as $t }
    })* };
}
index!(i32, i64);

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

    /// Columns and values of one point.
    #[inline]
    pub fn point(&self, j: usize) -> (&[I], &[T]) {
        let range = self.offsets[j]..self.offsets[j + 1];
        (&self.columns[range.clone()], &self.values[range])
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

    /// Features as points: an owned transposed copy.
    pub fn transposed(&self) -> Csr<'static, T, I> {
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
