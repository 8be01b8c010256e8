//! The data and the one way through them: kinds of points, where they are, and the passes over them.
//!
//! ```text
//! points/    kinds of points in memory, and what can be asked of a block of them
//! seam.rs    Source (bring data in), Data and Slots (what algorithms see), Pass (one way over all points)
//! cut.rs     strips, blocks, and the tree in which parts are joined
//! engine/    runs passes: over memory, from a source, on others
//! passes/    one file each
//! kernels/   the inner loops
//! ```
//!
//! Rows of numbers, [`Dense`] and [`Csr`] are points in memory; so are arrays of the crates `ndarray` and `sprs`, with the features
//! of these names.
//!
//! ```
//! use orthant::matrix::{Csr, open};
//!
//! let rows = [[3.0, 0.0, 1.0], [0.0, 2.0, 0.0]];
//! let dense = open(&rows, None)?;
//! assert_eq!((dense.shape().points, dense.shape().features), (2, 3));
//!
//! // The same, where only entries that are not zero are stored; points may have weights.
//! let sparse = Csr::new(3, vec![0, 2, 3], vec![0, 2, 1], vec![3.0, 1.0, 2.0])?;
//! let sparse = open(sparse, Some(vec![1.0, 1.0]))?;
//! assert_eq!(sparse.shape().nonzeros, 3);
//! assert_eq!(sparse.facts().norm2, dense.facts().norm2);
//! # Ok::<(), orthant::Error>(())
//! ```

#[cfg(feature = "ndarray")]
mod arrays;
#[cfg(feature = "sprs")]
mod compressed;
mod cut;
mod engine;
pub(crate) mod fold;
pub(crate) mod kernels;
mod mat;
pub mod passes;
mod points;
pub(crate) mod room;
pub mod rough;
pub mod rule;
pub mod seam;
pub(crate) mod threads;

pub use cut::Cut;
pub use engine::{
    ArrayMut, Budget, Handle, Holder, Load, Sending, Spec, Strip, Transport, open, open_with, pick, shards,
    stream, stream_within,
};
pub use kernels::{Memory, Real, amount, machine};
pub use mat::Mat;
pub(crate) use mat::wide_times;
pub use points::{AnyPoints, Csr, Dense, Format, Index, Shape};
pub use rule::Rule;
pub use seam::{Array, Data, Facts, Pass, Slot, Slots, Source};

/// A matrix in memory with points in rows: what readers return and generators make.
#[derive(Debug, Clone, PartialEq)]
pub enum Matrix {
    /// Dense float32.
    DenseF32(Dense<'static, f32>),
    /// Dense float64.
    DenseF64(Dense<'static, f64>),
    /// Sparse float32.
    SparseF32(Csr<'static, f32, i32>),
    /// Sparse float64.
    SparseF64(Csr<'static, f64, i32>),
}

/// The same expression for whichever of the four kinds a [`Matrix`] holds.
#[macro_export]
macro_rules! for_matrix {
    ($matrix:expr, $x:ident => $body:expr) => {
        match $matrix {
            $crate::matrix::Matrix::DenseF32($x) => $body,
            $crate::matrix::Matrix::DenseF64($x) => $body,
            $crate::matrix::Matrix::SparseF32($x) => $body,
            $crate::matrix::Matrix::SparseF64($x) => $body,
        }
    };
}

impl Matrix {
    /// Points in memory of their own.
    ///
    /// # Errors
    /// Where there are more features than 32-bit columns can name.
    pub fn of(points: AnyPoints) -> crate::error::Result<Matrix> {
        let shape = points.shape();
        match points {
            AnyPoints::DenseF32(x) => Ok(Matrix::DenseF32(x.into_owned())),
            AnyPoints::DenseF64(x) => Ok(Matrix::DenseF64(x.into_owned())),
            AnyPoints::SparseF32(x) => Ok(Matrix::SparseF32(x.into_owned())),
            AnyPoints::SparseF64(x) => Ok(Matrix::SparseF64(x.into_owned())),
            wide => {
                let all: Vec<usize> = (0..shape.points).collect();
                match AnyPoints::joined(vec![wide], &shape, &all)? {
                    AnyPoints::SparseF32(x) => Ok(Matrix::SparseF32(x)),
                    AnyPoints::SparseF64(x) => Ok(Matrix::SparseF64(x)),
                    _ => {
                        Err(crate::error::Error::Data("more than 2147483647 features do not fit here".into()))
                    }
                }
            }
        }
    }

    /// How many points (rows).
    pub fn points(&self) -> usize {
        for_matrix!(self, x => x.points())
    }

    /// How many features (columns).
    pub fn features(&self) -> usize {
        for_matrix!(self, x => x.features())
    }

    /// Rows become columns.
    pub fn transposed(&self) -> Matrix {
        match self {
            Matrix::DenseF32(x) => Matrix::DenseF32(x.transposed()),
            Matrix::DenseF64(x) => Matrix::DenseF64(x.transposed()),
            Matrix::SparseF32(x) => Matrix::SparseF32(x.transposed()),
            Matrix::SparseF64(x) => Matrix::SparseF64(x.transposed()),
        }
    }

    /// Point and feature of one of the numbers.
    pub(crate) fn place(&self, number: usize) -> (usize, usize) {
        fn of<T: Copy>(x: &Csr<'_, T, i32>, number: usize) -> (usize, usize) {
            (x.offsets().partition_point(|&begin| begin <= number) - 1, x.columns()[number].at())
        }
        let features = self.features().max(1);
        match self {
            Matrix::SparseF32(x) => of(x, number),
            Matrix::SparseF64(x) => of(x, number),
            _ => (number / features, number % features),
        }
    }

    /// One point as float64, zeros included.
    pub fn point(&self, j: usize) -> Vec<f64> {
        fn spread<T: Copy + Into<f64>>(x: &Csr<'_, T, i32>, j: usize) -> Vec<f64> {
            let mut point = vec![0.0; x.features()];
            let (columns, values) = x.point(j);
            for (c, &value) in columns.iter().zip(values) {
                point[c.at()] = value.into();
            }
            point
        }
        match self {
            Matrix::DenseF32(x) => x.point(j).iter().map(|&v| v.into()).collect(),
            Matrix::DenseF64(x) => x.point(j).to_vec(),
            Matrix::SparseF32(x) => spread(x, j),
            Matrix::SparseF64(x) => spread(x, j),
        }
    }
}
