//! Data on disk: block folders are written, and what can be read where it lies is streamed.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use orthant::matrix::{AnyPoints, Budget, Data, Format, Shape, Source, stream_within};
use orthant::pipeline::check_room;
use orthant::read::blocks::{With, Writer};
use orthant::read::{self, Options};
use orthant::{Error, Job, Result};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::Samples;
use crate::errors::raise;

/// Points that stay on disk, and the memory that may be used for them.
pub(crate) struct Disk {
    source: Box<dyn Source>,
    budget: Budget,
    weights: Option<Vec<f64>>,
}

impl Disk {
    /// A file or folder that can be read where it lies.
    pub(crate) fn open(path: &Path, memory: usize) -> Result<Disk> {
        let found = read::open_in_place(path, &Options::default(), false)?;
        let Some(found) = found else {
            let (from, to) = (path.display(), path.with_extension("").with_extension("blocks"));
            return Err(Error::Data(format!(
                "{from}: cannot be read from where it lies: write it into a block folder first, orthant convert {from} \
                 {}, or read it with orthant.read",
                to.display()
            )));
        };
        Ok(Disk::new(found.source, path, memory))
    }

    /// Rows of numbers from a byte of a file on.
    pub(crate) fn raw(path: &Path, at: u64, kind: &str, shape: [usize; 2], memory: usize) -> Result<Disk> {
        Ok(Disk::new(read::open_raw(path, at, kind, shape)?, path, memory))
    }

    fn new(source: Box<dyn Source>, path: &Path, memory: usize) -> Disk {
        let bytes = budget(memory);
        // Beside the data, where there is room; a folder for temporary files may be in memory.
        let folder = read::folder_of(path);
        let writable = !folder.metadata().is_ok_and(|about| about.permissions().readonly());
        let folder = if writable { folder.to_path_buf() } else { std::env::temp_dir() };
        Disk { source, budget: Budget { bytes, folder: Some(folder) }, weights: None }
    }

    /// Refuses what does not fit into the memory that may be used, before anything is read.
    pub(crate) fn check_room(&self, job: &mut Job) -> Result<()> {
        // Less than a few megabytes Python has taken before it begins.
        job.memory = Some(self.budget.bytes.max(8 << 20) as u64);
        check_room(&self.source.shape(), false, job)
    }

    /// As algorithms see it.
    pub(crate) fn into_data(self, weights: Option<Vec<f64>>) -> Result<Box<dyn Data>> {
        let budget = self.budget.clone();
        stream_within(Disk { weights, ..self }, budget)
    }
}

impl Source for Disk {
    fn shape(&self) -> Shape {
        self.source.shape()
    }
    fn points(&self, rows: Range<usize>) -> Result<AnyPoints<'_>> {
        self.source.points(rows)
    }
    fn weights(&self) -> Option<Vec<f64>> {
        self.weights.clone().or_else(|| self.source.weights())
    }
    fn take_back(&self, points: AnyPoints<'_>) {
        self.source.take_back(points);
    }
}

/// Bytes that may be used: so many, or for 0 six tenths of what is free.
pub(crate) fn budget(memory: usize) -> usize {
    let usual = || read::available_memory().map_or(usize::MAX, |free| (free / 10 * 6) as usize);
    if memory == 0 { usual() } else { memory }
}

/// Samples, features, the kind of numbers, and the bytes that all of it takes in memory.
#[pyfunction]
pub(crate) fn on_disk(path: PathBuf) -> PyResult<(usize, usize, &'static str, u64)> {
    let shape = Disk::open(&path, 0).map_err(raise)?.shape();
    let kind = if shape.format == Format::F32 { "float32" } else { "float64" };
    Ok((shape.points, shape.features, kind, read::bytes_held(&shape)))
}

/// Bytes that can be had, as far as the system tells.
#[pyfunction]
pub(crate) fn available_memory() -> Option<u64> {
    read::available_memory()
}

/// A block folder in the making; dropped without `finish`, it leaves nothing.
#[pyclass]
pub(crate) struct BlockWriter {
    path: PathBuf,
    force: bool,
    writer: Mutex<Option<Writer>>,
}

#[pymethods]
impl BlockWriter {
    #[new]
    #[pyo3(signature = (path, *, force=false))]
    fn new(path: PathBuf, force: bool) -> Self {
        BlockWriter { path, force, writer: Mutex::new(None) }
    }

    /// The next samples, with a class and a name for each where given.
    #[pyo3(signature = (x, *, target=None, names=None))]
    fn push(
        &self,
        py: Python<'_>,
        x: Samples<'_>,
        target: Option<Vec<String>>,
        names: Option<Vec<String>>,
    ) -> PyResult<()> {
        let view = x.view()?;
        py.detach(|| {
            let points = view.points()?;
            let shape = points.shape();
            let mut writer = self.writer.lock().expect("no panic while locked");
            if writer.is_none() {
                *writer = Some(Writer::begin(&self.path, shape.sparse, shape.format, "", self.force)?);
            }
            writer.as_mut().map_or(Ok(()), |writer| writer.push(&points, target.as_deref(), names.as_deref()))
        })
        .map_err(raise)
    }

    /// Puts the folder in its place; gives how many samples it has.
    #[pyo3(signature = (*, weights=None, feature_names=None))]
    fn finish(
        &self,
        py: Python<'_>,
        weights: Option<Vec<f64>>,
        feature_names: Option<Vec<String>>,
    ) -> PyResult<usize> {
        let Some(writer) = self.writer.lock().expect("no panic while locked").take() else {
            return Err(PyValueError::new_err("there was no block to write"));
        };
        let samples = writer.written();
        let with = With { weights, vocabulary: feature_names, ..With::default() };
        py.detach(|| writer.finish(None, &with)).map_err(raise)?;
        Ok(samples)
    }

    /// Removes what was written so far.
    fn abandon(&self) {
        self.writer.lock().expect("no panic while locked").take();
    }
}
