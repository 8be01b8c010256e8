//! The data: what it looks like in memory, and the one small trait that algorithms see.

pub mod data;
mod dense;
pub(crate) mod dominant;
pub(crate) mod kernels;
mod local;
mod small;
mod sparse;

pub use data::{Data, Facts, Precision, Rule, Shape, Store};
pub use dense::Dense;
pub use kernels::{Real, machine};
pub use local::{AnyPoints, open, open_any};
pub(crate) use local::{change, in_order};
pub use small::Mat;
pub use sparse::{Csr, Index};

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
