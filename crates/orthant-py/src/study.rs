//! The studies before a result: which model, and how many clusters.

use std::time::Duration;

use numpy::{IntoPyArray, PyReadonlyArray1};
use orthant::advise::{Advise, advise as ask_for_advice};
use orthant::auto;
use orthant::choose_k::{ChooseK, choose_k as ask_for_k, middle};
use orthant::model::Model;
use orthant::report::{self, Advised, Chosen, Made};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::arrays::Samples;
use crate::errors::raise;
use crate::work::{Watch, detached};

/// Which model the samples ask for; see `_orthant.pyi` for what comes back.
#[pyfunction]
#[pyo3(signature = (x, k=None, *, runs=10, divisions=3, seed=0, weights=None, threads=1, title="X"))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn advise<'py>(
    py: Python<'py>,
    x: Samples<'py>,
    k: Option<usize>,
    runs: usize,
    divisions: usize,
    seed: u64,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    threads: usize,
    title: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let weights = weights.map(|w| w.as_array().to_vec());
    let view = x.view()?;
    let ask = Advise { k, runs, divisions, seed, ..Advise::default() };
    let watch = Watch { call: None, interval: Duration::ZERO };
    let done = detached(py, threads, watch, |watcher| {
        let data = view.open(weights, false)?;
        let advice = ask_for_advice(&*data, &ask, watcher)?;
        let made = Made { threads: Some(threads), ..Made::default() };
        let page = report::advice(&Advised {
            title,
            made,
            advice: &advice,
            names: None,
            accuracy: &[],
            next: None,
            maps: None,
        })?;
        Ok((advice, page))
    })?;
    if let Some(exception) = done.exception {
        return Err(exception);
    }
    let (advice, page) = done.result;
    let out = PyDict::new(py);
    out.set_item("answer", advice.answer())?;
    out.set_item("method", advice.verdict.recommended.map(|m| m.to_use()))?;
    out.set_item("best", advice.verdict.best.name())?;
    out.set_item("between", advice.verdict.between.iter().map(|m| m.name()).collect::<Vec<_>>())?;
    out.set_item("reasons", &advice.verdict.reasons)?;
    out.set_item("summary", advice.summary())?;
    out.set_item("k", advice.k)?;
    out.set_item("norm_spread", advice.spread)?;
    out.set_item("noise_slope", advice.slope.map(|s| s.slope))?;
    out.set_item("noise_slope_error", advice.slope.map(|s| s.error))?;
    out.set_item("noise_dimensions", advice.dimensions)?;
    out.set_item("counts", advice.counts.as_ref().map(|c| (c.slope, c.dispersion, c.is_poisson_like())))?;
    let models = PyList::empty(py);
    for model in &advice.models {
        let entry = PyDict::new(py);
        entry.set_item("name", model.model.name())?;
        entry.set_item("log_density", Some(model.density).filter(|d| !d.is_nan()))?;
        entry.set_item("held_out", model.held_out)?;
        entry.set_item("stability", model.stability())?;
        let labels: Vec<i64> = model.labels.iter().map(|&l| l as i64).collect();
        entry.set_item("labels", labels.into_pyarray(py))?;
        models.append(entry)?;
    }
    out.set_item("models", models)?;
    let agreements: Vec<(&str, &str, f64)> =
        advice.agreements.iter().map(|(a, b, x)| (a.name(), b.name(), *x)).collect();
    out.set_item("agreements", agreements)?;
    let points: Vec<i64> = advice.points.iter().map(|&j| j as i64).collect();
    out.set_item("points", points.into_pyarray(py))?;
    out.set_item("disagreeing", advice.disagreeing)?;
    out.set_item("disagreements", advice.disagreements.iter().map(|d| d.point).collect::<Vec<_>>())?;
    out.set_item("page", page)?;
    Ok(out)
}

/// The model that the samples ask for, the method that searches for its clusters, and why.
#[pyfunction]
#[pyo3(signature = (x, k, *, seed=0, weights=None, threads=1))]
pub(crate) fn choose_model(
    py: Python<'_>,
    x: Samples<'_>,
    k: usize,
    seed: u64,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    threads: usize,
) -> PyResult<(&'static str, &'static str, String)> {
    let weights = weights.map(|w| w.as_array().to_vec());
    let view = x.view()?;
    let watch = Watch { call: None, interval: Duration::ZERO };
    let done = detached(py, threads, watch, |watcher| {
        let data = view.open(weights, false)?;
        auto::choose(&*data, k, seed, watcher)
    })?;
    let chosen = done.result;
    done.exception.map_or(Ok((chosen.model.name(), chosen.model.to_use(), chosen.reason)), Err)
}

/// Several numbers of clusters; see `_orthant.pyi` for what comes back.
#[pyfunction]
#[pyo3(signature = (x, least, most, *, model=None, runs=8, divisions=3, seed=0, weights=None, threads=1, title="X"))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn choose_k<'py>(
    py: Python<'py>,
    x: Samples<'py>,
    least: usize,
    most: usize,
    model: Option<&str>,
    runs: usize,
    divisions: usize,
    seed: u64,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    threads: usize,
    title: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let weights = weights.map(|w| w.as_array().to_vec());
    let view = x.view()?;
    let model = model.map(Model::named).transpose().map_err(raise)?;
    let ask = ChooseK { least, most, runs, divisions, seed, ..ChooseK::default() };
    let watch = Watch { call: None, interval: Duration::ZERO };
    let done = detached(py, threads, watch, |watcher| {
        let data = view.open(weights, false)?;
        let model = match model {
            Some(model) => model,
            None => auto::choose(&*data, middle(&*data, least, most), seed, watcher)?.model,
        };
        let choice = ask_for_k(&*data, &ChooseK { model, ..ask }, watcher)?;
        let made = Made { threads: Some(threads), ..Made::default() };
        let page = report::choice(&Chosen { title, made, choice: &choice, image: None, words: &[] })?;
        Ok((choice, page))
    })?;
    if let Some(exception) = done.exception {
        return Err(exception);
    }
    let (choice, page) = done.result;
    let out = PyDict::new(py);
    let candidates: Vec<(usize, Vec<String>)> =
        choice.candidates.iter().map(|c| (c.k, c.reasons.clone())).collect();
    out.set_item("candidates", candidates)?;
    out.set_item("model", choice.model.name())?;
    out.set_item(
        "held_out",
        choice.levels.iter().map(|l| l.held_out()).collect::<Vec<f64>>().into_pyarray(py),
    )?;
    let column = |f: &dyn Fn(&orthant::choose_k::KResult) -> f64| {
        choice.levels.iter().map(f).collect::<Vec<f64>>().into_pyarray(py)
    };
    let k: Vec<i64> = choice.levels.iter().map(|l| l.k as i64).collect();
    out.set_item("k", k.into_pyarray(py))?;
    out.set_item("relative_error", column(&|l| l.relative_error))?;
    out.set_item("lower_bound", column(&|l| l.lower_bound))?;
    out.set_item("gain", column(&|l| l.gain.unwrap_or(f64::NAN)))?;
    out.set_item("stability", column(&|l| l.stability().unwrap_or(f64::NAN)))?;
    out.set_item("consensus", column(&|l| l.consensus.unwrap_or(f64::NAN)))?;
    out.set_item("notes", &choice.notes)?;
    out.set_item("summary", choice.summary())?;
    out.set_item("page", page)?;
    Ok(out)
}
