//! numpy and scipy.sparse → the library's borrowed matrices, and its results → numpy.

use std::path::PathBuf;

use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, ToPyArray};
use orthant::matrix::seam::Entry;
use orthant::matrix::{AnyPoints, Csr, Data, Dense, Index, Mat, Matrix, open_with};
use orthant::{Error, Result};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::disk::Disk;
use crate::errors::raise;
use crate::shards::Fleet;

/// Samples in rows, borrowed from Python: a C-contiguous array, or the parts of a canonical CSR matrix
/// as the tuple `(indptr, indices, data, n_features)`.
#[derive(FromPyObject)]
pub(crate) enum Samples<'py> {
    DenseF64(PyReadonlyArray2<'py, f64>),
    DenseF32(PyReadonlyArray2<'py, f32>),
    Sparse((Indices<'py>, Indices<'py>, Values<'py>, usize)),
    /// A file or folder, and the memory that may be used (0: the usual).
    Path((PathBuf, usize)),
    /// Rows in a file: from which byte on, of which kind, how many rows and columns, the memory that may be used.
    Raw((PathBuf, u64, String, usize, usize, usize)),
    /// Not in this process: what workers hold.
    Elsewhere(PyRef<'py, Fleet>),
}

#[derive(FromPyObject)]
pub(crate) enum Indices<'py> {
    I32(PyReadonlyArray1<'py, i32>),
    I64(PyReadonlyArray1<'py, i64>),
}

#[derive(FromPyObject)]
pub(crate) enum Values<'py> {
    F64(PyReadonlyArray1<'py, f64>),
    F32(PyReadonlyArray1<'py, f32>),
}

/// The same as slices, which may leave the interpreter's lock behind.
pub(crate) enum View<'a> {
    DenseF64([usize; 2], &'a [f64]),
    DenseF32([usize; 2], &'a [f32]),
    Sparse { features: usize, indptr: IndexSlice<'a>, indices: IndexSlice<'a>, values: ValueSlice<'a> },
    Disk(Disk),
    Elsewhere(&'a Fleet),
}

#[derive(Clone, Copy)]
pub(crate) enum IndexSlice<'a> {
    I32(&'a [i32]),
    I64(&'a [i64]),
}

#[derive(Clone, Copy)]
pub(crate) enum ValueSlice<'a> {
    F32(&'a [f32]),
    F64(&'a [f64]),
}

fn not_contiguous<E>(_: E) -> PyErr {
    PyTypeError::new_err("arrays must be C-contiguous")
}

impl Indices<'_> {
    fn view(&self) -> PyResult<IndexSlice<'_>> {
        Ok(match self {
            Indices::I32(x) => IndexSlice::I32(x.as_slice().map_err(not_contiguous)?),
            Indices::I64(x) => IndexSlice::I64(x.as_slice().map_err(not_contiguous)?),
        })
    }
}

impl Samples<'_> {
    pub(crate) fn view(&self) -> PyResult<View<'_>> {
        fn shape<T: numpy::Element>(x: &PyReadonlyArray2<'_, T>) -> [usize; 2] {
            let array = x.as_array();
            [array.nrows(), array.ncols()]
        }
        Ok(match self {
            Samples::Elsewhere(fleet) => View::Elsewhere(fleet),
            Samples::DenseF64(x) => View::DenseF64(shape(x), x.as_slice().map_err(not_contiguous)?),
            Samples::DenseF32(x) => View::DenseF32(shape(x), x.as_slice().map_err(not_contiguous)?),
            Samples::Path((path, memory)) => View::Disk(Disk::open(path, *memory).map_err(raise)?),
            Samples::Raw((path, at, kind, rows, columns, memory)) => {
                View::Disk(Disk::raw(path, *at, kind, [*rows, *columns], *memory).map_err(raise)?)
            }
            Samples::Sparse((indptr, indices, values, features)) => View::Sparse {
                features: *features,
                indptr: indptr.view()?,
                indices: indices.view()?,
                values: match values {
                    Values::F32(x) => ValueSlice::F32(x.as_slice().map_err(not_contiguous)?),
                    Values::F64(x) => ValueSlice::F64(x.as_slice().map_err(not_contiguous)?),
                },
            },
        })
    }
}

/// Columns of entries, owned: in 32 bits wherever these suffice.
enum Columns {
    Narrow(Vec<i32>),
    Wide(Vec<i64>),
}

impl<'a> View<'a> {
    /// The data without a copy of their values. Offsets and columns are copied: they are what memory is
    /// addressed by, and Python may change its arrays while the work goes on.
    pub(crate) fn points(self) -> Result<AnyPoints<'a>> {
        use Columns::*;
        use ValueSlice::*;
        Ok(match self {
            View::Elsewhere(_) => return Err(Error::Data("the samples are held by others".into())),
            View::DenseF64([n, m], x) => AnyPoints::DenseF64(Dense::new(n, m, x)?),
            View::DenseF32([n, m], x) => AnyPoints::DenseF32(Dense::new(n, m, x)?),
            View::Disk(_) => {
                return Err(Error::Data("this needs data in memory: read them with orthant.read".into()));
            }
            View::Sparse { features, indptr, indices, values } => {
                let offsets = indptr.offsets()?;
                match (indices.columns(features)?, values) {
                    (Narrow(i), F32(x)) => AnyPoints::SparseF32(Csr::new(features, offsets, i, x)?),
                    (Narrow(i), F64(x)) => AnyPoints::SparseF64(Csr::new(features, offsets, i, x)?),
                    (Wide(i), F32(x)) => AnyPoints::SparseF32I64(Csr::new(features, offsets, i, x)?),
                    (Wide(i), F64(x)) => AnyPoints::SparseF64I64(Csr::new(features, offsets, i, x)?),
                }
            }
        })
    }

    /// Opens the data. An entry that is not finite, or negative where that is not welcome, is an error
    /// whose `problem` is the entry itself: Python says the rest.
    pub(crate) fn open(self, weights: Option<Vec<f64>>, signed: bool) -> Result<Box<dyn Data + 'a>> {
        let data: Box<dyn Data + 'a> = match self {
            View::Disk(disk) => disk.into_data(weights)?,
            View::Elsewhere(fleet) => fleet.open(weights)?,
            held => open_with(held.points()?, weights, None)?,
        };
        let facts = data.facts();
        match facts.not_finite.or(facts.negative.filter(|_| !signed)) {
            Some(Entry { row, column, value }) => {
                Err(Error::Entry { problem: value.to_string(), row, column, advice: "" })
            }
            None => Ok(data),
        }
    }

    /// A copy that is the library's own.
    pub(crate) fn kept(self) -> Result<AnyPoints<'static>> {
        Ok(match self.points()? {
            AnyPoints::DenseF32(x) => Dense::new(x.points(), x.features(), x.data().to_vec())?.into(),
            AnyPoints::DenseF64(x) => Dense::new(x.points(), x.features(), x.data().to_vec())?.into(),
            AnyPoints::SparseF32(x) => owned(&x)?.into(),
            AnyPoints::SparseF64(x) => owned(&x)?.into(),
            AnyPoints::SparseF32I64(x) => owned(&x)?.into(),
            AnyPoints::SparseF64I64(x) => owned(&x)?.into(),
        })
    }

    /// A copy for what changes its values.
    pub(crate) fn owned(self) -> Result<Matrix> {
        Ok(match self.kept()? {
            AnyPoints::DenseF32(x) => Matrix::DenseF32(x),
            AnyPoints::DenseF64(x) => Matrix::DenseF64(x),
            AnyPoints::SparseF32(x) => Matrix::SparseF32(x),
            AnyPoints::SparseF64(x) => Matrix::SparseF64(x),
            AnyPoints::SparseF32I64(_) | AnyPoints::SparseF64I64(_) => {
                return Err(Error::Data("more than 2147483647 features cannot be weighted".into()));
            }
        })
    }
}

fn owned<T: Copy, I: Index>(x: &Csr<'_, T, I>) -> Result<Csr<'static, T, I>> {
    Csr::new(x.features(), x.offsets().to_vec(), x.columns().to_vec(), x.values().to_vec())
}

impl IndexSlice<'_> {
    fn offsets(self) -> Result<Vec<usize>> {
        fn all<I: Copy + TryInto<usize>>(indptr: &[I]) -> Option<Vec<usize>> {
            indptr.iter().map(|&x| x.try_into().ok()).collect()
        }
        match self {
            IndexSlice::I32(x) => all(x),
            IndexSlice::I64(x) => all(x),
        }
        .ok_or_else(|| Error::Data("a row offset of the sparse matrix is negative".into()))
    }

    fn columns(self, features: usize) -> Result<Columns> {
        match self {
            IndexSlice::I32(x) => Ok(Columns::Narrow(x.to_vec())),
            IndexSlice::I64(x) if i32::try_from(features).is_ok() => {
                let narrow: Option<Vec<i32>> = x.iter().map(|&c| c.try_into().ok()).collect();
                narrow.map(Columns::Narrow).ok_or_else(|| {
                    Error::Data(format!("a column of the sparse matrix is not within its {features} columns"))
                })
            }
            IndexSlice::I64(x) => Ok(Columns::Wide(x.to_vec())),
        }
    }
}

/// k × features of Python → features × k of the library.
pub(crate) fn factor(array: &PyReadonlyArray2<'_, f64>) -> Mat {
    Mat::from(array.as_array().t())
}

/// features × k of the library → k × features of Python.
pub(crate) fn transposed<'py>(py: Python<'py>, mat: &Mat) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (k, features) = (mat.cols, mat.rows);
    reshaped(mat.transpose().data.into_pyarray(py), k, features)
}

fn reshaped<'py, T: numpy::Element>(
    array: Bound<'py, PyArray1<T>>,
    rows: usize,
    columns: usize,
) -> PyResult<Bound<'py, PyArray2<T>>> {
    use numpy::PyArrayMethods;
    array.reshape([rows, columns])
}

/// A matrix that the library made, dense or as the parts of a CSR matrix.
pub(crate) fn matrix<'py>(py: Python<'py>, matrix: Matrix) -> PyResult<Bound<'py, PyAny>> {
    let (n, m) = (matrix.points(), matrix.features());
    Ok(match matrix {
        Matrix::DenseF32(x) => reshaped(x.data().to_pyarray(py), n, m)?.into_any(),
        Matrix::DenseF64(x) => reshaped(x.data().to_pyarray(py), n, m)?.into_any(),
        Matrix::SparseF32(x) => parts(py, &x)?,
        Matrix::SparseF64(x) => parts(py, &x)?,
    })
}

fn parts<'py, T: Copy + numpy::Element>(py: Python<'py>, x: &Csr<'_, T, i32>) -> PyResult<Bound<'py, PyAny>> {
    let indptr: Vec<i64> = x.offsets().iter().map(|&o| o as i64).collect();
    let parts =
        (indptr.into_pyarray(py), x.columns().to_pyarray(py), x.values().to_pyarray(py), x.features());
    Ok(parts.into_pyobject(py)?.into_any())
}
