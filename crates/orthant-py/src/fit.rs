//! Fitting, and applying what was fitted to other samples.

use std::sync::Arc;
use std::time::Duration;

use numpy::{IntoPyArray, PyReadonlyArray1, PyReadonlyArray2};
use orthant::algorithms::{Goal, Method, Values, method};
use orthant::finish::predict;
use orthant::matrix::Rule;
use orthant::pipeline::{DEFAULT_METHOD, DEFAULT_POLISH};
use orthant::run::Stop;
use orthant::start::Start;
use orthant::{Job, Outcome, cluster};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::arrays::{Samples, factor, transposed};
use crate::errors::raise;
use crate::work::{Watch, detached};

/// The name under which the default goes, also before the table has a method of that name.
const BEST: &str = "best";

/// A method by its name, and whether its result is polished unless told otherwise.
fn chosen(name: &str) -> PyResult<(&'static Method, bool)> {
    match method(name) {
        Err(_) if name == BEST => Ok((method(DEFAULT_METHOD).map_err(raise)?, DEFAULT_POLISH)),
        found => Ok((found.map_err(raise)?, false)),
    }
}

/// Clusters samples; see `_orthant.pyi` for what comes back.
#[pyfunction]
#[pyo3(signature = (x, k, method, *, values, start=None, labels=None, centroids=None, runs=1, seed=0,
    polish=None, weights=None, threads=1, watch=None, interval=0.0))]
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
    polish: Option<bool>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    threads: usize,
    watch: Option<Bound<'py, PyAny>>,
    interval: f64,
) -> PyResult<Bound<'py, PyDict>> {
    let (method, polished) = chosen(method)?;
    let start = match (labels, centroids, start) {
        (Some(labels), _, _) => Some(Start::Labels(Arc::new(labels.as_array().to_vec()))),
        (None, Some(centroids), _) => Some(Start::Centroids(Arc::new(factor(&centroids)))),
        (None, None, Some(name)) => Some(Start::named(name).map_err(raise)?),
        (None, None, None) => None,
    };
    let values = values.iter().fold(Values::new(), |values, (name, value)| values.set(name, *value));
    let job = Job { method, k, values, start, runs, seed, polish: polish.unwrap_or(polished) };
    let weights = weights.map(|w| w.as_array().to_vec());
    let view = x.view()?;
    let watch = Watch { call: watch, interval: Duration::from_secs_f64(interval.max(0.0)) };
    let done = detached(py, threads, watch, |watcher| {
        let data = view.open(weights)?;
        let outcome = cluster(&*data, &job, watcher)?;
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

/// What an estimator keeps of an outcome.
fn fitted<'py>(py: Python<'py>, job: &Job, outcome: Outcome, scale: f64) -> PyResult<Bound<'py, PyDict>> {
    let Outcome { solution, certificate, best, .. } = &outcome;
    let run = outcome.best();
    let fitted = PyDict::new(py);
    fitted.set_item("method", job.method.name)?;
    fitted.set_item("rule", rule_name(if job.polish { Rule::Power } else { job.method.rule }))?;
    fitted.set_item("labels", solution.labels.clone().into_pyarray(py))?;
    fitted.set_item("strengths", solution.v.clone().into_pyarray(py))?;
    fitted.set_item("components", transposed(py, &solution.u)?)?;
    fitted.set_item("directions", transposed(py, &solution.directions)?)?;
    fitted.set_item("centroids", transposed(py, &solution.centroids)?)?;
    fitted.set_item("energy", solution.energy.clone().into_pyarray(py))?;
    fitted.set_item("relabelled", solution.relabelled)?;
    fitted.set_item("refilled", solution.refilled.len())?;
    fitted.set_item("relative_error", certificate.relative_error)?;
    fitted.set_item("lower_bound", certificate.lower_bound)?;
    fitted.set_item("energy_share", certificate.energy_share)?;
    fitted.set_item("orthogonality_residual", certificate.orthogonality_residual)?;
    fitted.set_item("singular_values", certificate.singular_values.clone().into_pyarray(py))?;
    fitted.set_item("objective", run.objective)?;
    fitted.set_item("n_iter", run.iterations())?;
    fitted.set_item("stop", run.stop().name())?;
    fitted.set_item("converged", run.stop() == Stop::Converged)?;
    fitted.set_item("best_run", best)?;
    fitted.set_item(
        "objectives",
        outcome.runs.iter().map(|r| r.objective).collect::<Vec<_>>().into_pyarray(py),
    )?;
    fitted.set_item("seconds", outcome.seconds)?;
    let stages = PyList::empty(py);
    for stage in &run.stages {
        // Σ cos has no unit; the others are squares of the data's.
        let most = stage.method == job.method.name && job.method.goal == Goal::Most;
        let unit = if most { 1.0 } else { scale * scale };
        let column = |f: &dyn Fn(&orthant::run::Progress) -> f64| -> Vec<f64> {
            stage.history.iter().map(f).collect()
        };
        let entry = PyDict::new(py);
        entry.set_item("method", stage.method)?;
        entry.set_item("stop", stage.stop.name())?;
        entry.set_item("objective", column(&|p| p.objective / unit).into_pyarray(py))?;
        entry.set_item("residual", column(&|p| p.residual).into_pyarray(py))?;
        stages.append(entry)?;
    }
    fitted.set_item("stages", stages)?;
    Ok(fitted)
}

const RULES: &[(&str, Rule)] =
    &[("power", Rule::Power), ("cosine", Rule::Cosine), ("euclid", Rule::Euclid), ("kl", Rule::Kl)];

pub(crate) fn rule_name(rule: Rule) -> &'static str {
    RULES.iter().find(|(_, r)| *r == rule).map_or("", |(name, _)| name)
}

/// Labels of samples by a method's centroids and rule; the strength of each sample along its cluster's
/// direction; and `Σ w‖x − strength·direction‖²`. The last two only where directions are given.
#[pyfunction]
#[pyo3(signature = (x, centroids, rule, *, directions=None, weights=None, threads=1))]
pub(crate) fn apply<'py>(
    py: Python<'py>,
    x: Samples<'py>,
    centroids: PyReadonlyArray2<'py, f64>,
    rule: &str,
    directions: Option<PyReadonlyArray2<'py, f64>>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    threads: usize,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>, f64)> {
    let Some((_, rule)) = RULES.iter().find(|(name, _)| *name == rule) else {
        return Err(PyValueError::new_err(format!("there is no rule '{rule}'")));
    };
    let centroids = factor(&centroids);
    let directions = directions.as_ref().map(factor);
    let weights = weights.map(|w| w.as_array().to_vec());
    let view = x.view()?;
    let watch = Watch { call: None, interval: Duration::ZERO };
    let done = detached(py, threads, watch, |_| {
        let data = view.open(weights)?;
        let labels = predict(&*data, &centroids, *rule)?;
        let Some(directions) = directions else { return Ok((labels, vec![], f64::NAN)) };
        let scale = data.facts().scale;
        let mut store = data.store()?;
        store.set_labels(0, &labels)?;
        let strengths = store.strengths(&directions, 0)?.into_iter().map(|s| s / scale).collect();
        let residual = store.residual(&directions, 0)?.total / scale / scale;
        Ok((labels, strengths, residual))
    })?;
    if let Some(exception) = done.exception {
        return Err(exception);
    }
    let (labels, strengths, residual): (Vec<i32>, Vec<f64>, f64) = done.result;
    Ok((labels.into_pyarray(py).into_any(), strengths.into_pyarray(py).into_any(), residual))
}
