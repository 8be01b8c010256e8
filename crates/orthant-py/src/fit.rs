//! Fitting, and what is asked of samples without a fit.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use numpy::{PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use orthant::checkpoint::Checkpoint;
use orthant::matrix::passes::Assign;
use orthant::matrix::{Rule, rule};
use orthant::pipeline::resume;
use orthant::read::Kept;
use orthant::run::Stop;
use orthant::start::Start;
use orthant::{Error, Outcome, Place, cluster};
use pyo3::exceptions::{PyBaseException, PyValueError};
use pyo3::prelude::*;

use crate::arrays::{Samples, View, factor, transposed};
use crate::errors::raise;
use crate::fitted::{Asked, Fitted};
use crate::work::{Saving, Watch, detached};

/// Clusters samples; also gives what ended the fit early, to be raised once the rest is stored, and why work under way
/// could not be saved.
#[pyfunction]
#[pyo3(signature = (x, asked, *, start=None, labels=None, centroids=None, weights=None, threads=1, watch=None,
    interval=0.0, checkpoint=None, checkpoint_every=30.0, goes_on=true))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn fit<'py>(
    py: Python<'py>,
    x: Samples<'py>,
    asked: Asked,
    start: Option<&str>,
    labels: Option<PyReadonlyArray1<'py, i32>>,
    centroids: Option<PyReadonlyArray2<'py, f64>>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    threads: usize,
    watch: Option<Bound<'py, PyAny>>,
    interval: f64,
    checkpoint: Option<PathBuf>,
    checkpoint_every: f64,
    goes_on: bool,
) -> PyResult<(Fitted, Option<Py<PyBaseException>>, Option<String>)> {
    let start = match (labels, centroids, start) {
        (Some(labels), _, _) => Some(Start::Labels(Arc::new(labels.as_array().to_vec()))),
        (None, Some(centroids), _) => Some(Start::Centroids(Arc::new(factor(&centroids)))),
        (None, None, Some(name)) => Some(Start::named(name).map_err(raise)?),
        (None, None, None) => None,
    };
    let mut job = asked.job(start).map_err(raise)?;
    let weights = weights.map(|w| w.as_array().to_vec());
    let view = x.view()?;
    if let View::Disk(disk) = &view {
        disk.check_room(&mut job).map_err(raise)?;
    }
    let watch = Watch { call: watch, interval: Duration::from_secs_f64(interval.max(0.0)) };
    let every = Duration::from_secs_f64(checkpoint_every.max(0.0));
    // Looked at before anything else: what appears there from now on is another program's.
    let (to, saved) =
        match checkpoint.as_deref().map(|path| kept(path, goes_on)).transpose().map_err(raise)? {
            Some((to, saved)) => (Some(to), saved),
            None => (None, None),
        };
    let done = detached(py, threads, watch, |watcher| {
        let data = view.open(weights, job.method.signed)?;
        watcher.saving = to.map(|to| Saving { to, every, last: Instant::now(), failed: None });
        let outcome = match saved {
            Some(saved) => resume(&*data, &job, saved, watcher)?,
            None => cluster(&*data, &job, watcher)?,
        };
        check_finite(&outcome)?;
        let facts = data.facts();
        Ok((outcome, facts.scale, facts.norm2.sqrt() / facts.scale, watcher.saving.take()))
    })?;
    let (outcome, scale, norm, saving) = done.result;
    let unsaved = saving.and_then(|saving| {
        if done.exception.is_none() && outcome.stop() != Stop::Cancelled {
            saving.to.remove();
        }
        saving.failed
    });
    Ok((Fitted { job, outcome, scale, norm }, done.exception.map(|e| e.into_value(py)), unsaved))
}

/// The file of work under way, and what it holds, if it is there and to be gone on from.
fn kept(path: &Path, goes_on: bool) -> orthant::Result<(Kept, Option<Checkpoint>)> {
    let to = Kept::going_on(path);
    match std::fs::read(path) {
        Ok(bytes) if goes_on => Ok((to, Some(Checkpoint::from_bytes(&bytes)?))),
        Ok(bytes) if Checkpoint::is_one(&bytes) => Ok((to, None)),
        Ok(_) => Err(Error::File {
            path: path.into(),
            place: Place::Whole,
            problem: "is no checkpoint, and is not replaced: name another file".into(),
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok((Kept::new(path), None)),
        Err(source) => Err(Error::Io { path: path.into(), source }),
    }
}

/// A result with anything that is not a finite number is none.
fn check_finite(outcome: &Outcome) -> orthant::Result<()> {
    let Outcome { solution, certificate, .. } = outcome;
    let mut numbers = solution.u.data.iter().chain(&solution.v).chain([&certificate.relative_error]);
    match numbers.all(|x| x.is_finite()) {
        true => Ok(()),
        false => Err(Error::Computation(
            "the factors are not finite: the entries of X differ too much in size, or X was changed during the fit"
                .into(),
        )),
    }
}

/// Puts in order what killed runs left in the folder of a result.
#[pyfunction]
pub(crate) fn settle(folder: PathBuf) -> PyResult<()> {
    orthant::read::settle(&folder).map_err(raise)
}

/// What new samples are compared with, from the file of a result that holds it, which may be an older one.
#[pyfunction]
pub(crate) fn centroids_of_file<'py>(
    py: Python<'py>,
    rule: &str,
    file: &str,
    read: PyReadonlyArray2<'py, f64>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    transposed(py, &named(rule)?.of_file(file, factor(&read)))
}

fn named(rule: &str) -> PyResult<Rule> {
    Rule::named(rule).ok_or_else(|| PyValueError::new_err(format!("there is no rule '{rule}'")))
}

/// `Σ w(1 − cosine)` between samples that are not zero and the nearest of the unit centroids.
#[pyfunction]
#[pyo3(signature = (x, centroids, *, weights=None, threads=1))]
pub(crate) fn angles<'py>(
    py: Python<'py>,
    x: Samples<'py>,
    centroids: PyReadonlyArray2<'py, f64>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    threads: usize,
) -> PyResult<f64> {
    let centroids = factor(&centroids);
    let weights = weights.map(|w| w.as_array().to_vec());
    let view = x.view()?;
    let watch = Watch { call: None, interval: Duration::ZERO };
    let done = detached(py, threads, watch, |_| {
        let data = view.open(weights, true)?;
        let pass = Assign::new(rule::Cosine.into(), vec![centroids.clone()], vec![0]);
        let (_, sums) = data.slots()?.sweep(&pass)?;
        let cosines: f64 = centroids.column_dots(&sums).iter().sum();
        Ok((data.facts().usable_weight - cosines).max(0.0))
    })?;
    done.exception.map_or(Ok(done.result), Err)
}

/// Refuses samples with an entry that no method, or none for nonnegative data, can use.
#[pyfunction]
#[pyo3(signature = (x, *, signed))]
pub(crate) fn check(py: Python<'_>, x: Samples<'_>, signed: bool) -> PyResult<()> {
    let view = x.view()?;
    py.detach(|| view.open(None, signed).map(drop)).map_err(raise)
}
