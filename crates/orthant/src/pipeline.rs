//! The whole flow on one screen: prepare → start → iterate → finish → certify.

use std::sync::Arc;
use std::time::Instant;

use crate::algorithms::{Algorithm, Goal, Method, Values, method};
use crate::certificate::{Certificate, certify};
use crate::error::{Error, Result};
use crate::finish::{Solution, finish};
use crate::matrix::{Data, Mat, Rule};
use crate::prepare::Problem;
use crate::run::{Observer, Progress, Running, Stop, Trace, iterate};
use crate::singular::dominant;
use crate::start::{Start, Stream};

/// The method that the program and the Python package use unless told otherwise,
pub const DEFAULT_METHOD: &str = "onp-mf";
/// and whether EM-ONMF then goes on from what it found.
pub const DEFAULT_POLISH: bool = true;

/// What to do with the data.
#[derive(Debug, Clone)]
pub struct Job {
    /// The method.
    pub method: &'static Method,
    /// Number of clusters.
    pub k: usize,
    /// Values of the method's parameters, where they differ from the defaults.
    pub values: Values,
    /// Where to start; `None`: the method's usual start.
    pub start: Option<Start>,
    /// How many runs with different random numbers.
    pub runs: usize,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Whether EM-ONMF goes on from what the method found.
    pub polish: bool,
}

impl Job {
    /// A job with the method's defaults.
    pub fn new(name: &str, k: usize) -> Result<Job> {
        Ok(Job {
            method: method(name)?,
            k,
            values: Values::new(),
            start: None,
            runs: 1,
            seed: 0,
            polish: false,
        })
    }

    /// The start that will be used.
    pub fn start(&self) -> Start {
        self.start
            .clone()
            .unwrap_or_else(|| Start::named(self.method.starts[0]).expect("the table names known starts"))
    }
}

/// A stage of a run: the method itself, or a polish.
#[derive(Debug, Clone)]
pub struct Stage {
    /// Name of the method.
    pub method: &'static str,
    /// Objective and residual of every iteration (scaled data).
    pub history: Vec<Progress>,
    /// Why it ended.
    pub stop: Stop,
}

/// One run, finished.
#[derive(Debug, Clone)]
pub struct Run {
    /// Its stages, in order.
    pub stages: Vec<Stage>,
    /// The method's own objective at the end, in the data's own units.
    pub objective: f64,
    /// `‖M − UV‖/‖M‖` of the best feasible U and V for its partition.
    pub relative_error: f64,
    /// Cluster of each point; −1 for a point without one.
    pub labels: Vec<i32>,
    /// How far the last iterate was from nonnegative.
    pub iterate_negativity: f64,
    /// How far the last iterate was from orthogonal.
    pub iterate_orthogonality: f64,
}

impl Run {
    /// Iterations of all stages.
    pub fn iterations(&self) -> usize {
        self.stages.iter().map(|s| s.history.len()).sum()
    }

    /// Why the run ended: as its last stage, but cancelled if any was.
    pub fn stop(&self) -> Stop {
        if self.stages.iter().any(|s| s.stop == Stop::Cancelled) {
            return Stop::Cancelled;
        }
        self.stages.last().map_or(Stop::Converged, |s| s.stop)
    }
}

/// What came out.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Every run, in order.
    pub runs: Vec<Run>,
    /// Which of them has the best objective.
    pub best: usize,
    /// The feasible solution of that one.
    pub solution: Solution,
    /// How good that one is.
    pub certificate: Certificate,
    /// Seconds from the data in memory to the finished runs.
    pub seconds: f64,
    /// Seconds for the certificate.
    pub certificate_seconds: f64,
}

impl Outcome {
    /// The best run.
    pub fn best(&self) -> &Run {
        &self.runs[self.best]
    }
}

/// As many columns side by side as measure fastest in one pass: more no longer fit the cache.
const COLUMNS: usize = 256;

/// Clusters the data.
pub fn cluster(data: &dyn Data, job: &Job, observer: &mut dyn Observer) -> Result<Outcome> {
    let begun = Instant::now();
    if job.runs == 0 {
        return Err(Error::parameter("runs", "at least one run is needed"));
    }
    let problem = Problem::new(data, job.k, job.method)?;
    let algorithm = job.method.with(&job.values)?;
    let start = job.start();
    start.check(&problem)?;
    if job.polish && data.facts().negative.is_some() {
        return Err(Error::parameter("polish", "em needs nonnegative data"));
    }
    // Runs from a start that is not random would all be the same, unless the method is.
    let runs = if start.is_random() { job.runs } else { 1 };
    let batch = if job.method.batched { (COLUMNS / job.k).clamp(1, runs) } else { 1 };
    let mut finished: Vec<Run> = vec![];
    while finished.len() < runs {
        let first = finished.len();
        let count = batch.min(runs - first);
        let cancelled = finished.iter().any(|run| run.stop() == Stop::Cancelled);
        if cancelled {
            break;
        }
        let streams: Vec<Stream> =
            (first..first + count).map(|run| Stream { seed: job.seed, run: run as u64 }).collect();
        finished.extend(run_batch(&problem, job, &*algorithm, &start, &streams, runs, observer)?);
    }
    let best = (1..finished.len()).fold(0, |best, run| {
        let (a, b) = (finished[run].objective, finished[best].objective);
        if if job.polish { a < b } else { job.method.better(a, b) } { run } else { best }
    });
    // Only the best run is worth factors of its own.
    let mut store = data.store()?;
    store.set_labels(0, &finished[best].labels)?;
    let guess = Mat::zeros(data.shape().features, job.k);
    let rule = if job.polish { Rule::Power } else { job.method.rule };
    let solution = finish(&problem, &mut *store, 0, &guess, rule)?;
    finished[best].labels = solution.labels.clone();
    let seconds = begun.elapsed().as_secs_f64();
    let certifying = Instant::now();
    let certificate = certify(&problem, &mut *store, 0, &solution)?;
    finished[best].relative_error = certificate.relative_error;
    Ok(Outcome {
        runs: finished,
        best,
        solution,
        certificate,
        seconds,
        certificate_seconds: certifying.elapsed().as_secs_f64(),
    })
}

/// Some runs side by side: the method, then the polish, then the finish.
fn run_batch(
    problem: &Problem,
    job: &Job,
    algorithm: &dyn Algorithm,
    start: &Start,
    streams: &[Stream],
    runs: usize,
    observer: &mut dyn Observer,
) -> Result<Vec<Run>> {
    let facts = problem.facts();
    let mut state = algorithm.begin(problem, start, streams)?;
    let running = Running {
        method: job.method.name,
        first: streams[0].run as usize,
        runs,
        max_iterations: algorithm.max_iterations(start),
        norm2: facts.norm2,
    };
    let traces = iterate(&mut *state, streams.len(), running, observer)?;
    let conclusions = (0..streams.len()).map(|run| state.conclude(run)).collect::<Result<Vec<_>>>()?;
    // What each partition explains, all runs in the same passes.
    let all: Vec<usize> = (0..streams.len()).collect();
    let guess = Mat::beside(&conclusions.iter().map(|c| &c.centroids).collect::<Vec<_>>());
    let sigma2 = dominant(problem.data, state.store(), &all, &guess)?.sigma2;
    let mut finished = vec![];
    for (run, (trace, conclusion)) in traces.into_iter().zip(conclusions).enumerate() {
        let mut objective = trace.history.last().map_or(f64::NAN, |p| p.objective);
        let mut explained: f64 = sigma2[run * job.k..(run + 1) * job.k].iter().sum();
        let mut labels = state.store().labels(run)?;
        let mut stages = vec![stage(job.method.name, trace)];
        if job.polish && stages[0].stop != Stop::Cancelled {
            let (polished, better, trace) = polish(problem, &labels, streams[run], runs, observer)?;
            if better >= explained {
                (labels, explained) = (polished, better);
            }
            objective = facts.norm2 - explained;
            stages.push(stage("em-onmf", trace));
        }
        // Σ cos has no unit; the others are squares of the data's.
        let unit = if job.method.goal == Goal::Most && !job.polish { 1.0 } else { facts.scale * facts.scale };
        finished.push(Run {
            stages,
            objective: objective / unit,
            relative_error: (1.0 - explained / facts.norm2).max(0.0).sqrt(),
            labels,
            iterate_negativity: conclusion.negativity,
            iterate_orthogonality: conclusion.orthogonality,
        });
    }
    Ok(finished)
}

fn stage(method: &'static str, trace: Trace) -> Stage {
    Stage { method, history: trace.history, stop: trace.stop.unwrap_or(Stop::MaxIterations) }
}

/// EM-ONMF from given labels: its labels, what they explain, and its course.
fn polish(
    problem: &Problem,
    labels: &[i32],
    stream: Stream,
    runs: usize,
    observer: &mut dyn Observer,
) -> Result<(Vec<i32>, f64, Trace)> {
    let em = method("em-onmf")?;
    let algorithm = em.with(&Values::new())?;
    let start = Start::Labels(Arc::new(labels.to_vec()));
    let mut state = algorithm.begin(problem, &start, &[stream])?;
    let running = Running {
        method: em.name,
        first: stream.run as usize,
        runs,
        max_iterations: algorithm.max_iterations(&start),
        norm2: problem.facts().norm2,
    };
    let mut traces = iterate(&mut *state, 1, running, observer)?;
    let guess = state.conclude(0)?.centroids;
    let sigma2 = dominant(problem.data, state.store(), &[0], &guess)?.sigma2;
    Ok((state.store().labels(0)?, sigma2.iter().sum(), traces.remove(0)))
}
