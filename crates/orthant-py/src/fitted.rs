//! What a fit gave: the library's own outcome, which estimators keep and ask.

use std::time::Duration;

use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1};
use orthant::algorithms::{Polish, Values};
use orthant::bytes::Bytes;
use orthant::certificate::Rigour;
use orthant::matrix::Mat;
use orthant::pipeline::{Run, Stage};
use orthant::run::{Race, Stop};
use orthant::start::Start;
use orthant::{Job, Outcome};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::arrays::{Samples, transposed};
use crate::errors::raise;
use crate::work::{Watch, detached};

/// What was asked for, as Python says it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Asked {
    method: String,
    k: usize,
    values: Vec<(String, f64)>,
    runs: usize,
    race: bool,
    seed: u64,
    polish: Vec<String>,
    time: Option<f64>,
    certificate: String,
}

impl Asked {
    pub(crate) fn job(self, start: Option<Start>) -> orthant::Result<Job> {
        Ok(Job {
            values: self.values.iter().fold(Values::new(), |values, (name, value)| values.set(name, *value)),
            start,
            runs: self.runs,
            race: self.race.then(Race::default),
            seed: self.seed,
            polish: self.polish.iter().map(|p| Polish::named(p)).collect::<orthant::Result<_>>()?,
            time: self.time,
            certificate: Rigour::named(&self.certificate)?,
            ..Job::new(self.method.as_str(), self.k)?
        })
    }
}

/// Labels of many runs are most of a pickle: a byte each where that is enough, behind a byte that says so.
fn narrowed(labels: &[i32]) -> Vec<u8> {
    match labels.iter().map(|&label| i8::try_from(label)).collect::<Result<Vec<i8>, _>>() {
        Ok(small) => std::iter::once(1).chain(small.into_iter().map(|label| label as u8)).collect(),
        Err(_) => std::iter::once(4).chain(labels.iter().flat_map(|label| label.to_le_bytes())).collect(),
    }
}

fn widened(bytes: &[u8]) -> Option<Vec<i32>> {
    match bytes.split_first()? {
        (1, small) => Some(small.iter().map(|&byte| i32::from(byte as i8)).collect()),
        (4, wide) => wide.chunks(4).map(|four| Some(i32::from_le_bytes(four.try_into().ok()?))).collect(),
        _ => None,
    }
}

/// A job and its outcome. Factors and labels are handed out as new arrays.
#[pyclass(frozen, module = "orthant._orthant")]
pub(crate) struct Fitted {
    pub(crate) job: Job,
    pub(crate) outcome: Outcome,
    /// What the library multiplied the data by.
    pub(crate) scale: f64,
    /// ‖X‖.
    #[pyo3(get)]
    pub(crate) norm: f64,
}

#[pymethods]
impl Fitted {
    /// From what `__getnewargs__` gives.
    #[new]
    fn new(state: &[u8]) -> PyResult<Self> {
        let misfit = || PyValueError::new_err("these bytes are not those of a fit");
        type Kept = (((Job, Outcome), (f64, f64)), Vec<Vec<u8>>);
        let (((job, mut outcome), (scale, norm)), labels): Kept =
            Bytes::from_bytes(state).ok_or_else(misfit)?;
        if labels.len() != outcome.runs.len() {
            return Err(misfit());
        }
        for (run, labels) in outcome.runs.iter_mut().zip(labels) {
            run.labels = widened(&labels).ok_or_else(misfit)?;
        }
        if outcome.solution.centroids.rows == 0 {
            outcome.solution.centroids = outcome.solution.directions.clone();
        }
        Ok(Fitted { job, outcome, scale, norm })
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyBytes>,) {
        let mut state = vec![];
        self.job.write(&mut state);
        let mut outcome = self.outcome.clone();
        let labels: Vec<Vec<u8>> =
            outcome.runs.iter_mut().map(|run| narrowed(&std::mem::take(&mut run.labels))).collect();
        // The centroids of ONMF are its directions: once is enough.
        if outcome.solution.centroids == outcome.solution.directions {
            outcome.solution.centroids = Mat { rows: 0, cols: 0, data: vec![] };
        }
        outcome.write(&mut state);
        self.scale.write(&mut state);
        self.norm.write(&mut state);
        labels.write(&mut state);
        (PyBytes::new(py, &state),)
    }

    /// From a result that the program wrote: `outcome` is JSON.
    #[staticmethod]
    fn of_result(asked: Asked, start: Option<&str>, outcome: &str, norm: f64) -> PyResult<Self> {
        let outcome: Outcome =
            serde_json::from_str(outcome).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let solution = &outcome.solution;
        // What a given start held is not kept; its name is.
        let start = match start {
            Some("labels") => Some(Start::Labels(solution.labels.clone().into())),
            Some("centroids") => Some(Start::Centroids(solution.centroids.clone().into())),
            Some(name) => Some(Start::named(name).map_err(raise)?),
            None => None,
        };
        Ok(Fitted { job: asked.job(start).map_err(raise)?, outcome, scale: 1.0, norm })
    }

    #[getter]
    fn method(&self) -> &str {
        self.job.method.name
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.job.seed
    }

    #[getter]
    fn stop(&self) -> &str {
        self.outcome.stop().name()
    }

    #[getter]
    fn converged(&self) -> bool {
        self.outcome.stop() == Stop::Converged
    }

    #[getter]
    fn n_iter(&self) -> usize {
        self.outcome.best().iterations()
    }

    #[getter]
    fn objective(&self) -> f64 {
        self.outcome.best().objective
    }

    #[getter]
    fn best_run(&self) -> usize {
        self.outcome.best
    }

    #[getter]
    fn relabelled(&self) -> usize {
        self.outcome.solution.relabelled
    }

    #[getter]
    fn relative_error(&self) -> f64 {
        self.outcome.certificate.relative_error
    }

    #[getter]
    fn lower_bound(&self) -> f64 {
        self.outcome.certificate.lower_bound
    }

    #[getter]
    fn bound(&self) -> &str {
        self.outcome.certificate.bound.name()
    }

    #[getter]
    fn at_most_above_best(&self) -> Option<f64> {
        self.outcome.certificate.at_most_above_best()
    }

    #[getter]
    fn certificate_seconds(&self) -> f64 {
        self.outcome.certificate_seconds
    }

    #[getter]
    fn energy_share(&self) -> f64 {
        self.outcome.certificate.energy_share
    }

    #[getter]
    fn labels<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i32>> {
        self.outcome.solution.labels.clone().into_pyarray(py)
    }

    #[getter]
    fn strengths<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.outcome.solution.v.clone().into_pyarray(py)
    }

    #[getter]
    fn components<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        transposed(py, &self.outcome.solution.u)
    }

    #[getter]
    fn directions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        transposed(py, &self.outcome.solution.directions)
    }

    #[getter]
    fn centroids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        transposed(py, &self.outcome.solution.centroids)
    }

    #[getter]
    fn lengths<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.outcome.solution.lengths().into_pyarray(py)
    }

    #[getter]
    fn energy<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.outcome.solution.energy.clone().into_pyarray(py)
    }

    /// Labels, error, objective, iterations and stages of every run.
    #[getter]
    fn runs<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        self.outcome.runs.iter().map(|run| self.run(py, run)).collect()
    }

    /// The stages of the best run.
    #[getter]
    fn history<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        self.outcome.best().stages.iter().map(|stage| self.stage(py, stage)).collect()
    }

    /// The same for other samples, small enough to be sent to those who have them: nothing is left of the samples of the fit.
    fn without_samples(&self) -> Self {
        let (mut job, mut outcome) = (self.job.clone(), self.outcome.clone());
        job.start = None;
        (outcome.solution.labels, outcome.solution.v) = (vec![], vec![]);
        outcome.runs.iter_mut().for_each(|run| run.labels = vec![]);
        Fitted { job, outcome, scale: self.scale, norm: self.norm }
    }

    /// Labels of other samples, by the method's own rule.
    #[pyo3(signature = (x, *, signed, threads=1))]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        x: Samples<'py>,
        signed: bool,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<i32>>> {
        let view = x.view()?;
        let watch = Watch { call: None, interval: Duration::ZERO };
        let done = detached(py, threads, watch, |_| self.outcome.predict(&*view.open(None, signed)?))?;
        done.exception.map_or(Ok(done.result.into_pyarray(py)), Err)
    }

    /// Labels of other samples, the strength of each in units of its cluster's component, and what is left of all:
    /// `Σ w‖x − strength·component‖²`.
    #[pyo3(signature = (x, *, signed, weights=None, threads=1))]
    #[allow(clippy::type_complexity)]
    fn transform<'py>(
        &self,
        py: Python<'py>,
        x: Samples<'py>,
        signed: bool,
        weights: Option<PyReadonlyArray1<'py, f64>>,
        threads: usize,
    ) -> PyResult<(Bound<'py, PyArray1<i32>>, Bound<'py, PyArray1<f64>>, f64)> {
        let weights = weights.map(|w| w.as_array().to_vec());
        let view = x.view()?;
        let watch = Watch { call: None, interval: Duration::ZERO };
        let done = detached(py, threads, watch, |_| {
            let data = view.open(weights, signed)?;
            let (labels, strengths) = self.outcome.transform(&*data)?;
            let left = self.outcome.solution.left(&*data, &labels)?;
            Ok((labels, strengths, left))
        })?;
        if let Some(exception) = done.exception {
            return Err(exception);
        }
        let (labels, strengths, left) = done.result;
        Ok((labels.into_pyarray(py), strengths.into_pyarray(py), left))
    }
}

impl Fitted {
    fn run<'py>(&self, py: Python<'py>, run: &Run) -> PyResult<Bound<'py, PyDict>> {
        let entry = PyDict::new(py);
        entry.set_item("labels", run.labels.clone().into_pyarray(py))?;
        entry.set_item("relative_error", run.relative_error)?;
        entry.set_item("objective", run.objective)?;
        entry.set_item("n_iter", run.iterations())?;
        let history = run.stages.iter().map(|s| self.stage(py, s)).collect::<PyResult<Vec<_>>>()?;
        entry.set_item("history", history)?;
        Ok(entry)
    }

    /// A stage, its objectives in the data's own units.
    fn stage<'py>(&self, py: Python<'py>, stage: &Stage) -> PyResult<Bound<'py, PyDict>> {
        let entry = PyDict::new(py);
        entry.set_item("method", &stage.name)?;
        entry.set_item("stop", stage.stop.name())?;
        entry.set_item("relative_error", stage.relative_error)?;
        let residual: Vec<f64> = stage.history.iter().map(|p| p.residual).collect();
        entry.set_item("residual", residual.into_pyarray(py))?;
        // One division at a time: the square of the scale may be out of range where the quotient is not.
        let own = |x: f64| (0..stage.aim.degree).fold(x, |x, _| x / self.scale);
        let objective: Vec<f64> = stage.history.iter().map(|p| own(p.objective)).collect();
        entry.set_item("objective", objective.into_pyarray(py))?;
        Ok(entry)
    }
}
