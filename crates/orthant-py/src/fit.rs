//! Fitting, and applying what was fitted to other samples.

use std::sync::Arc;
use std::time::Duration;

use numpy::{IntoPyArray, PyReadonlyArray1, PyReadonlyArray2};
use orthant::algorithms::{Polish, Values, method};
use orthant::certificate::Rigour;
use orthant::finish::predict;
use orthant::matrix::passes::{Assign, Residual, Strengths};
use orthant::matrix::{Mat, Rule};
use orthant::pipeline::Stage;
use orthant::run::Stop;
use orthant::start::Start;
use orthant::{Error, Job, Outcome, cluster};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::arrays::{Samples, factor, transposed};
use crate::errors::raise;
use crate::work::{Watch, detached};

/// Clusters samples; see `_orthant.pyi` for what comes back.
#[pyfunction]
#[pyo3(signature = (x, k, method, *, values, start=None, labels=None, centroids=None, runs=1, seed=0,
    polish=vec![], time=None, certificate="singular", weights=None, threads=1, watch=None, interval=0.0))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn fit<'py>(
    py: Python<'py>,
    x: Samples<'py>,
    k: usize,
    method: &str,
    values: Vec<(String, f64)>,
    start: Option<&str>,
    labels: Option<PyReadonlyArray1<'py, i32>>,
    centroids: Option<PyReadonlyArray2<'py, f64>>,
    runs: usize,
    seed: u64,
    polish: Vec<String>,
    time: Option<f64>,
    certificate: &str,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    threads: usize,
    watch: Option<Bound<'py, PyAny>>,
    interval: f64,
) -> PyResult<Bound<'py, PyDict>> {
    let method = self::method(method).map_err(raise)?;
    let start = match (labels, centroids, start) {
        (Some(labels), _, _) => Some(Start::Labels(Arc::new(labels.as_array().to_vec()))),
        (None, Some(centroids), _) => Some(Start::Centroids(Arc::new(factor(&centroids)))),
        (None, None, Some(name)) => Some(Start::named(name).map_err(raise)?),
        (None, None, None) => None,
    };
    let values = values.iter().fold(Values::new(), |values, (name, value)| values.set(name, *value));
    let polish = polish.iter().map(|p| Polish::named(p)).collect::<orthant::Result<_>>().map_err(raise)?;
    let certificate = Rigour::named(certificate).map_err(raise)?;
    let job = Job { method, k, values, start, runs, seed, polish, time, certificate };
    let weights = weights.map(|w| w.as_array().to_vec());
    let view = x.view()?;
    let watch = Watch { call: watch, interval: Duration::from_secs_f64(interval.max(0.0)) };
    let done = detached(py, threads, watch, |watcher| {
        let data = view.open(weights, job.method.signed)?;
        let outcome = cluster(&*data, &job, watcher)?;
        check_finite(&outcome)?;
        let facts = data.facts();
        Ok((outcome, facts.scale, facts.norm2.sqrt() / facts.scale, facts.zero_points.len()))
    })?;
    let (outcome, scale, norm, zero_points) = done.result;
    let fitted = fitted(py, &job, outcome, scale)?;
    fitted.set_item("norm", norm)?;
    fitted.set_item("zero_points", zero_points)?;
    fitted.set_item("exception", done.exception.map(|e| e.into_value(py)))?;
    Ok(fitted)
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

/// What an estimator keeps of an outcome; `report` makes an outcome of it again.
fn fitted<'py>(py: Python<'py>, job: &Job, outcome: Outcome, scale: f64) -> PyResult<Bound<'py, PyDict>> {
    let best = outcome.best();
    let fitted = PyDict::new(py);
    fitted.set_item("method", job.method.name)?;
    fitted.set_item("values", job.values.iter().collect::<Vec<_>>())?;
    fitted.set_item("start", job.start.as_ref().map(Start::name))?;
    fitted.set_item("n_init", job.runs)?;
    fitted.set_item("seed", job.seed)?;
    fitted.set_item("polish", job.polish.iter().map(|p| p.name()).collect::<Vec<_>>())?;
    fitted.set_item("time", job.time)?;
    fitted.set_item("certificate", job.certificate.name())?;
    fitted.set_item("rule", rule_name(job.aim().rule))?;
    fitted.set_item("scale", scale)?;
    fitted.set_item("objective", best.objective)?;
    fitted.set_item("n_iter", best.iterations())?;
    fitted.set_item("stop", outcome.stop().name())?;
    fitted.set_item("converged", outcome.stop() == Stop::Converged)?;
    fitted.set_item("best_run", outcome.best)?;
    fitted.set_item("seconds", outcome.seconds)?;
    fitted.set_item("certificate_seconds", outcome.certificate_seconds)?;

    let solution = outcome.solution;
    fitted.set_item("labels", solution.labels.into_pyarray(py))?;
    fitted.set_item("strengths", solution.v.into_pyarray(py))?;
    fitted.set_item("components", transposed(py, &solution.u)?)?;
    fitted.set_item("lengths", lengths(&solution.u, &solution.directions).into_pyarray(py))?;
    fitted.set_item("directions", transposed(py, &solution.directions)?)?;
    fitted.set_item("centroids", transposed(py, &solution.centroids)?)?;
    fitted.set_item("energy", solution.energy.into_pyarray(py))?;
    fitted.set_item("refilled", solution.refilled)?;
    fitted.set_item("relabelled", solution.relabelled)?;

    let certificate = outcome.certificate;
    fitted.set_item("relative_error", certificate.relative_error)?;
    fitted.set_item("lower_bound", certificate.lower_bound)?;
    fitted.set_item("bound", certificate.bound.name())?;
    fitted.set_item("at_most_above_best", certificate.at_most_above_best())?;
    fitted.set_item("energy_share", certificate.energy_share)?;
    fitted.set_item("orthogonality_residual", certificate.orthogonality_residual)?;
    fitted.set_item("smallest_entry", certificate.smallest_entry)?;
    fitted.set_item("singular_values", certificate.singular_values.into_pyarray(py))?;

    let runs = PyList::empty(py);
    for run in outcome.runs {
        let entry = PyDict::new(py);
        let stages = run.stages.iter().map(|s| stage(py, s)).collect::<PyResult<Vec<_>>>()?;
        entry.set_item("stages", stages)?;
        entry.set_item("objective", run.objective)?;
        entry.set_item("relative_error", run.relative_error)?;
        entry.set_item("negativity", run.iterate_negativity)?;
        entry.set_item("orthogonality", run.iterate_orthogonality)?;
        entry.set_item("labels", run.labels.into_pyarray(py))?;
        runs.append(entry)?;
    }
    fitted.set_item("runs", runs)?;
    Ok(fitted)
}

/// The length of each column of U, from the entry where its direction is largest: no square is taken.
fn lengths(u: &Mat, directions: &Mat) -> Vec<f64> {
    let length = |i: usize| {
        let largest =
            (0..u.rows).max_by(|&a, &b| directions[(a, i)].abs().total_cmp(&directions[(b, i)].abs()));
        largest.map_or(0.0, |f| u[(f, i)] / directions[(f, i)]).max(0.0)
    };
    (0..u.cols).map(length).collect()
}

fn stage<'py>(py: Python<'py>, stage: &Stage) -> PyResult<Bound<'py, PyDict>> {
    let entry = PyDict::new(py);
    entry.set_item("method", &stage.name)?;
    entry.set_item("aim", stage.aim.name)?;
    entry.set_item("degree", stage.aim.degree)?;
    entry.set_item("relative_error", stage.relative_error)?;
    entry.set_item("stop", stage.stop.name())?;
    let objective: Vec<f64> = stage.history.iter().map(|p| p.objective).collect();
    let residual: Vec<f64> = stage.history.iter().map(|p| p.residual).collect();
    entry.set_item("objective", objective.into_pyarray(py))?;
    entry.set_item("residual", residual.into_pyarray(py))?;
    Ok(entry)
}

const RULES: &[(&str, Rule)] =
    &[("power", Rule::Power), ("cosine", Rule::Cosine), ("euclid", Rule::Euclid), ("kl", Rule::Kl)];

pub(crate) fn rule_name(rule: Rule) -> &'static str {
    RULES.iter().find(|(_, r)| *r == rule).map_or("", |(name, _)| name)
}

/// Labels of samples by a method's centroids and rule; the strength of each sample along its cluster's direction,
/// in units of `lengths`; and `Σ w‖x − strength·direction‖²`. The last two only where directions are given.
#[pyfunction]
#[pyo3(signature = (x, centroids, rule, *, signed, directions=None, lengths=None, weights=None, threads=1))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn apply<'py>(
    py: Python<'py>,
    x: Samples<'py>,
    centroids: PyReadonlyArray2<'py, f64>,
    rule: &str,
    signed: bool,
    directions: Option<PyReadonlyArray2<'py, f64>>,
    lengths: Option<PyReadonlyArray1<'py, f64>>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    threads: usize,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>, f64)> {
    let Some((_, rule)) = RULES.iter().find(|(name, _)| *name == rule) else {
        return Err(PyValueError::new_err(format!("there is no rule '{rule}'")));
    };
    let centroids = factor(&centroids);
    let directions = directions.as_ref().map(factor);
    let lengths = lengths.map(|l| l.as_array().to_vec());
    let weights = weights.map(|w| w.as_array().to_vec());
    let view = x.view()?;
    let watch = Watch { call: None, interval: Duration::ZERO };
    let done = detached(py, threads, watch, |_| {
        let data = view.open(weights, signed)?;
        let labels = predict(&*data, &centroids, *rule)?;
        let (Some(directions), Some(lengths)) = (directions, lengths) else {
            return Ok((labels, vec![], f64::NAN));
        };
        let scale = data.facts().scale;
        let mut slots = data.slots()?;
        slots.set_labels(0, &labels)?;
        let mut strengths = slots.tell(&Strengths::new(&directions, 0))?.0;
        for (strength, &label) in strengths.iter_mut().zip(&labels) {
            let length = usize::try_from(label).map_or(1.0, |label| lengths[label]);
            // The product is near 1 for samples like those of the fit, whatever their unit.
            *strength /= length * scale;
        }
        let residual = slots.tell(&Residual::new(&directions, 0))?.total() / scale / scale;
        Ok((labels, strengths, residual))
    })?;
    if let Some(exception) = done.exception {
        return Err(exception);
    }
    let (labels, strengths, residual): (Vec<i32>, Vec<f64>, f64) = done.result;
    Ok((labels.into_pyarray(py).into_any(), strengths.into_pyarray(py).into_any(), residual))
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
        let pass = Assign::new(Rule::Cosine, vec![centroids.clone()], vec![0]);
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
