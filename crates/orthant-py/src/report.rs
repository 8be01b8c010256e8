//! The report: what an estimator kept of its fit is made an outcome again.

use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use orthant::algorithms::{Polish, method};
use orthant::certificate::{Bound, Certificate, Rigour};
use orthant::evaluate::scores;
use orthant::finish::Solution;
use orthant::image::{ImageShape, Scan};
use orthant::pipeline::{Run, Stage};
use orthant::report::{Features, Made, Report, Truth, html};
use orthant::run::{Progress, Stop};
use orthant::start::Start;
use orthant::{Job, Outcome};
use pyo3::prelude::*;

use crate::arrays::{Samples, factor};
use crate::errors::raise;
use crate::work::{Watch, detached};

/// What `fit` returned and an estimator kept.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Fitted<'py> {
    method: String,
    values: Vec<(String, f64)>,
    start: Option<String>,
    n_init: usize,
    seed: u64,
    polish: Vec<String>,
    time: Option<f64>,
    certificate: String,
    best_run: usize,
    stop: String,
    seconds: f64,
    certificate_seconds: f64,
    labels: PyReadonlyArray1<'py, i32>,
    strengths: PyReadonlyArray1<'py, f64>,
    components: PyReadonlyArray2<'py, f64>,
    directions: PyReadonlyArray2<'py, f64>,
    centroids: PyReadonlyArray2<'py, f64>,
    energy: PyReadonlyArray1<'py, f64>,
    refilled: Vec<usize>,
    relabelled: usize,
    relative_error: f64,
    lower_bound: f64,
    bound: String,
    energy_share: f64,
    orthogonality_residual: f64,
    smallest_entry: f64,
    singular_values: PyReadonlyArray1<'py, f64>,
    runs: Vec<FittedRun<'py>>,
}

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct FittedRun<'py> {
    stages: Vec<FittedStage<'py>>,
    objective: f64,
    relative_error: f64,
    negativity: f64,
    orthogonality: f64,
    labels: CompactLabels<'py>,
}

/// In the smallest type that holds them.
#[derive(FromPyObject)]
enum CompactLabels<'py> {
    I8(PyReadonlyArray1<'py, i8>),
    I16(PyReadonlyArray1<'py, i16>),
    I32(PyReadonlyArray1<'py, i32>),
}

impl CompactLabels<'_> {
    fn to_vec(&self) -> Vec<i32> {
        match self {
            CompactLabels::I8(x) => x.as_array().iter().map(|&label| label.into()).collect(),
            CompactLabels::I16(x) => x.as_array().iter().map(|&label| label.into()).collect(),
            CompactLabels::I32(x) => x.as_array().to_vec(),
        }
    }
}

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct FittedStage<'py> {
    method: String,
    aim: String,
    relative_error: f64,
    stop: String,
    objective: PyReadonlyArray1<'py, f64>,
    residual: PyReadonlyArray1<'py, f64>,
}

/// How the result came about and what the data are, for the page.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct About {
    title: String,
    command: String,
    date: String,
    threads: usize,
    notes: Vec<String>,
    vocabulary: Option<Vec<String>>,
    names: Option<Vec<String>>,
    image: Option<(usize, usize)>,
    feature_image: Option<(usize, usize)>,
    by_columns: bool,
    wavelengths: Option<Vec<f64>>,
    truth: Option<(Vec<usize>, Vec<String>)>,
}

/// The page of a fit. `fitted` is what `fit` returned.
#[pyfunction]
#[pyo3(signature = (x, fitted, about, *, weights=None, threads=1))]
pub(crate) fn report<'py>(
    py: Python<'py>,
    x: Samples<'py>,
    fitted: Fitted<'py>,
    about: About,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    threads: usize,
) -> PyResult<String> {
    let job = job(&fitted)?;
    let outcome = outcome(&fitted, &job)?;
    let weights = weights.map(|w| w.as_array().to_vec());
    let view = x.view()?;
    let watch = Watch { call: None, interval: std::time::Duration::ZERO };
    let done = detached(py, threads, watch, |_| {
        let data = view.open(weights, job.method.signed)?;
        let scored = about.truth.as_ref().map(|t| scores(&outcome.solution.labels, &t.0)).transpose()?;
        let truth = about.truth.as_ref().zip(scored.as_ref());
        let scan = if about.by_columns { Scan::Columns } else { Scan::Rows };
        let image =
            |shape: Option<(usize, usize)>| shape.map(|(height, width)| ImageShape { height, width, scan });
        html(&Report {
            made: Made {
                command: Some(&about.command),
                version: None,
                date: Some(&about.date),
                threads: Some(about.threads),
                read_seconds: None,
                notes: &about.notes,
            },
            features: features(&about, data.shape().features),
            vocabulary: about.vocabulary.as_deref(),
            names: about.names.as_deref(),
            image: image(about.image),
            feature_image: image(about.feature_image),
            wavelengths: about.wavelengths.as_deref(),
            truth: truth.map(|(t, scores)| Truth { labels: &t.0, classes: &t.1, scores }),
            ..Report::new(&about.title, &*data, &job, &outcome)
        })
    })?;
    match done.exception {
        Some(exception) => Err(exception),
        None => Ok(done.result),
    }
}

/// What the features of pixels are: fewer than there are pixels, they are taken for bands of a spectrum,
/// otherwise for pictures of a collection. (As the program does.)
fn features(about: &About, features: usize) -> Features {
    match about.image {
        _ if about.wavelengths.is_some() => Features::Bands,
        Some(_) if about.vocabulary.is_some() => Features::Named,
        Some((height, width)) if features < height * width => Features::Bands,
        Some(_) => Features::Pictures,
        None => Features::Named,
    }
}

fn job(fitted: &Fitted) -> PyResult<Job> {
    let start = match fitted.start.as_deref() {
        // The page names the start; what it held is not kept.
        Some("labels") => Some(Start::Labels(fitted.labels.as_array().to_vec().into())),
        Some("centroids") => Some(Start::Centroids(factor(&fitted.centroids).into())),
        Some(name) => Some(Start::named(name).map_err(raise)?),
        None => None,
    };
    let job = Job::new(&fitted.method, fitted.energy.as_array().len()).map_err(raise)?;
    Ok(Job {
        values: fitted.values.iter().fold(job.values, |values, (name, value)| values.set(name, *value)),
        start,
        runs: fitted.n_init,
        seed: fitted.seed,
        polish: fitted
            .polish
            .iter()
            .map(|p| Polish::named(p))
            .collect::<orthant::Result<_>>()
            .map_err(raise)?,
        time: fitted.time,
        certificate: Rigour::named(&fitted.certificate).map_err(raise)?,
        ..job
    })
}

fn outcome(fitted: &Fitted, job: &Job) -> PyResult<Outcome> {
    let labels = fitted.labels.as_array().to_vec();
    let mut sizes = vec![0usize; job.k];
    labels.iter().filter_map(|&label| usize::try_from(label).ok()).for_each(|label| sizes[label] += 1);
    Ok(Outcome {
        runs: fitted.runs.iter().map(run).collect::<PyResult<Vec<_>>>()?,
        stopped: Some(stop(&fitted.stop)).filter(|stop| matches!(stop, Stop::Cancelled | Stop::OutOfTime)),
        best: fitted.best_run,
        solution: Solution {
            labels,
            u: factor(&fitted.components),
            v: fitted.strengths.as_array().to_vec(),
            directions: factor(&fitted.directions),
            centroids: factor(&fitted.centroids),
            sizes,
            energy: fitted.energy.as_array().to_vec(),
            refilled: fitted.refilled.clone(),
            relabelled: fitted.relabelled,
        },
        certificate: Certificate {
            relative_error: fitted.relative_error,
            lower_bound: fitted.lower_bound,
            bound: Bound::named(&fitted.bound).map_err(raise)?,
            energy_share: fitted.energy_share,
            orthogonality_residual: fitted.orthogonality_residual,
            smallest_entry: fitted.smallest_entry,
            singular_values: fitted.singular_values.as_array().to_vec(),
        },
        seconds: fitted.seconds,
        certificate_seconds: fitted.certificate_seconds,
    })
}

fn run(fitted: &FittedRun) -> PyResult<Run> {
    Ok(Run {
        stages: fitted.stages.iter().map(stage).collect::<PyResult<Vec<_>>>()?,
        objective: fitted.objective,
        // The page never ranks runs.
        scaled_objective: fitted.objective,
        relative_error: fitted.relative_error,
        labels: fitted.labels.to_vec(),
        directions: None,
        iterate_negativity: fitted.negativity,
        iterate_orthogonality: fitted.orthogonality,
    })
}

fn stop(name: &str) -> Stop {
    let stops = [Stop::Converged, Stop::MaxIterations, Stop::Cancelled, Stop::OutOfTime];
    stops.into_iter().find(|stop| stop.name() == name).unwrap_or(Stop::MaxIterations)
}

fn stage(fitted: &FittedStage) -> PyResult<Stage> {
    let aim = method(&fitted.aim).map_err(raise)?;
    let stop = stop(&fitted.stop);
    let (objective, residual) = (fitted.objective.as_array(), fitted.residual.as_array());
    let steps = objective.len().min(residual.len());
    let progress = |i: usize| Progress {
        objective: objective[i],
        residual: residual[i],
        converged: i + 1 == steps && stop == Stop::Converged,
    };
    let (name, relative_error) = (fitted.method.clone(), fitted.relative_error);
    Ok(Stage { name, aim, relative_error, history: (0..steps).map(progress).collect(), stop })
}
