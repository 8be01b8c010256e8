//! Both ends of data that many workers hold: what a worker keeps, and the driver's way to the workers, which is an object of
//! Python with the five methods of `orthant::matrix::Transport`.

use std::ops::Range;
use std::path::PathBuf;

use numpy::{PyArray1, PyReadonlyArray1};
use orthant::matrix::{
    self, AnyPoints, Data, Format, Handle, Load, Sending, Shape, Source, Transport, shards,
};
use orthant::read::blocks::Blocks;
use orthant::{Error, Result};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::arrays::Samples;
use crate::disk::budget;
use crate::errors::{OrthantError, raise};

/// The shards that a worker has of one fit.
#[pyclass(frozen, module = "orthant._orthant")]
pub(crate) struct Holder {
    shards: matrix::Holder,
    pool: ThreadPool,
}

/// Points of a shard, which knows them by their numbers in the whole.
struct Run {
    points: AnyPoints<'static>,
    first: usize,
    shape: Shape,
}

impl Source for Run {
    fn shape(&self) -> Shape {
        self.shape
    }
    fn points(&self, rows: Range<usize>) -> Result<AnyPoints<'_>> {
        let here = self.first..self.first + self.points.shape().points;
        if rows.start < here.start || rows.end > here.end {
            return Err(Error::Computation(format!("points {rows:?} were asked of who has {here:?}")));
        }
        Ok(self.points.range(rows.start - self.first..rows.end - self.first))
    }
    fn in_memory(&self) -> bool {
        true
    }
}

#[pymethods]
impl Holder {
    #[new]
    fn new(threads: usize) -> PyResult<Self> {
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .map_err(|e| OrthantError::new_err(format!("threads could not be started: {e}")))?;
        Ok(Holder { shards: matrix::Holder::default(), pool })
    }

    /// Takes a copy of the samples of a shard, the first of which has this number in the whole.
    fn load<'py>(
        &self,
        py: Python<'py>,
        spec: &[u8],
        first: usize,
        x: Samples<'py>,
    ) -> PyResult<Bound<'py, PyArray1<u8>>> {
        let view = x.view()?;
        let answer = py.detach(|| {
            let points = view.kept()?;
            let shape = points.shape();
            self.shards.load(spec, Box::new(Run { points, first, shape }))
        });
        Ok(PyArray1::from_vec(py, answer.map_err(raise)?))
    }

    /// Holds a shard of a block folder, which is read in every pass.
    fn load_folder<'py>(
        &self,
        py: Python<'py>,
        spec: &[u8],
        path: PathBuf,
    ) -> PyResult<Bound<'py, PyArray1<u8>>> {
        let answer = py.detach(|| self.shards.load(spec, Box::new(Blocks::open(&path)?)));
        Ok(PyArray1::from_vec(py, answer.map_err(raise)?))
    }

    /// Answers an order, to which these other answers belong. (Bytes as arrays: these go from process to process without
    /// being copied on the way.)
    fn answer<'py>(
        &self,
        py: Python<'py>,
        order: PyReadonlyArray1<'py, u8>,
        inputs: Vec<PyReadonlyArray1<'py, u8>>,
    ) -> PyResult<Bound<'py, PyArray1<u8>>> {
        let order = order.as_slice()?;
        let inputs: Vec<&[u8]> = inputs.iter().map(|bytes| Ok(bytes.as_slice()?)).collect::<PyResult<_>>()?;
        let answer = py.detach(|| self.pool.install(|| self.shards.answer(order, &inputs)));
        Ok(PyArray1::from_vec(py, answer))
    }

    fn unload(&self, py: Python<'_>, spec: PyBackedBytes) {
        py.detach(|| self.shards.unload(&spec));
    }

    fn __len__(&self) -> usize {
        self.shards.shards()
    }

    /// What somebody answers who was to load a shard and did not.
    #[staticmethod]
    fn not_loaded<'py>(py: Python<'py>, spec: &[u8]) -> Bound<'py, PyArray1<u8>> {
        PyArray1::from_vec(py, matrix::Holder::not_loaded(spec))
    }
}

/// What a block folder has: samples, features, stored entries, whether in float32, whether sparse, weights.
#[pyfunction]
#[allow(clippy::type_complexity)]
pub(crate) fn folder(
    py: Python<'_>,
    path: PathBuf,
) -> PyResult<(usize, usize, usize, bool, bool, Option<Vec<f64>>)> {
    let blocks = py.detach(|| Blocks::open(&path)).map_err(raise)?;
    let Shape { points, features, nonzeros, format, sparse } = blocks.shape();
    Ok((points, features, nonzeros, format == Format::F32, sparse, blocks.weights()))
}

/// Samples that workers hold, in place of an array: what a transport reaches, and their shape.
#[pyclass(frozen, module = "orthant._orthant")]
pub(crate) struct Fleet {
    transport: Py<PyAny>,
    shape: Shape,
    /// Bytes of the client that samples may take; 0: the usual.
    memory: usize,
}

#[pymethods]
impl Fleet {
    #[new]
    #[pyo3(signature = (transport, n_samples, n_features, *, nonzeros, single, sparse, memory))]
    fn new(
        transport: Py<PyAny>,
        n_samples: usize,
        n_features: usize,
        nonzeros: usize,
        single: bool,
        sparse: bool,
        memory: usize,
    ) -> Self {
        let format = if single { Format::F32 } else { Format::F64 };
        Fleet {
            transport,
            shape: Shape { points: n_samples, features: n_features, nonzeros, format, sparse },
            memory,
        }
    }
}

impl Fleet {
    pub(crate) fn open(&self, weights: Option<Vec<f64>>) -> Result<Box<dyn Data + '_>> {
        shards(Box::new(Way(&self.transport)), self.shape, weights, budget(self.memory))
    }
}

/// The way to the workers through Python.
struct Way<'a>(&'a Py<PyAny>);

impl Way<'_> {
    fn ask<R: Send>(
        &self,
        method: &str,
        call: impl FnOnce(Python<'_>, Bound<'_, PyAny>) -> PyResult<R>,
    ) -> Result<R> {
        Python::attach(|py| {
            let found = self.0.bind(py).getattr(method).and_then(|method| call(py, method));
            found.map_err(|error| {
                // One line, whatever it was; its type where that says more.
                let (value, kind) = (error.value(py).to_string(), error.get_type(py));
                let kind = kind.name().map_or_else(|_| String::new(), |name| name.to_string());
                if error.is_instance_of::<OrthantError>(py) {
                    Error::Computation(value)
                } else if error.is_instance_of::<PyValueError>(py) || error.is_instance_of::<PyOSError>(py) {
                    Error::Data(format!("{kind}: {value}"))
                } else {
                    Error::Computation(format!("{kind}: {value}"))
                }
            })
        })
    }
}

impl Transport for Way<'_> {
    fn workers(&self) -> Result<Vec<String>> {
        self.ask("workers", |_, method| method.call0()?.extract())
    }

    fn load(&self, loads: Vec<Load>) -> Result<Vec<Handle>> {
        self.ask("load", |py, method| {
            let loads: Vec<_> = loads
                .iter()
                .map(|load| (&load.worker, load.points.start, load.points.end, PyBytes::new(py, &load.spec)))
                .collect();
            method.call1((loads,))?.extract()
        })
    }

    fn call(&self, orders: Vec<Sending>) -> Result<Vec<Handle>> {
        self.ask("call", |py, method| {
            let orders: Vec<_> = orders
                .into_iter()
                .map(|o| (o.worker, o.name, PyArray1::from_vec(py, o.order), o.inputs))
                .collect();
            method.call1((orders,))?.extract()
        })
    }

    fn fetch(&self, handles: &[Handle]) -> Result<Vec<Vec<u8>>> {
        self.ask("fetch", |_, method| {
            let answers: Vec<PyReadonlyArray1<u8>> = method.call1((handles.to_vec(),))?.extract()?;
            answers.iter().map(|bytes| Ok(bytes.as_slice()?.to_vec())).collect()
        })
    }

    fn release(&self, handles: &[Handle]) {
        // Who cannot be reached has nothing left to let go of.
        let _ = self.ask("release", |_, method| method.call1((handles.to_vec(),)).map(drop));
    }
}
