//! The whole flow on one screen: prepare → start → iterate → finish → certify.

use std::sync::Arc;
use std::time::Instant;

use crate::algorithms::{Algorithm, Goal, Method, Values, method};
use crate::certificate::{Certificate, certify};
use crate::checkpoint::{Checkpoint, Saved};
use crate::error::{Error, Result};
use crate::finish::{Solution, finish};
use crate::matrix::{Data, Mat, Rule};
use crate::prepare::Problem;
use crate::run::{Event, Go, Observer, Progress, Running, Stop, Trace, iterate};
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

    /// What identifies this work on these data.
    pub fn fingerprint(&self, data: &dyn Data) -> String {
        let (shape, facts) = (data.shape(), data.facts());
        let given = match &self.start {
            Some(Start::Labels(labels)) => format!(" {:x}", hash(labels.iter().map(|&l| l as u64))),
            Some(Start::Centroids(u)) => format!(" {:x}", hash(u.data.iter().map(|x| x.to_bits()))),
            _ => String::new(),
        };
        let values: Vec<String> = self.values.iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!(
            "{} k={} {} start={}{given} runs={} seed={} polish={} on {} x {} ({} entries, norm {:x})",
            self.method.name,
            self.k,
            values.join(" "),
            self.start().name(),
            self.runs,
            self.seed,
            self.polish,
            shape.points,
            shape.features,
            shape.nonzeros,
            facts.norm2.to_bits()
        )
    }

    /// The start that will be used.
    pub fn start(&self) -> Start {
        self.start
            .clone()
            .unwrap_or_else(|| Start::named(self.method.starts[0]).expect("the table names known starts"))
    }
}

fn hash(words: impl Iterator<Item = u64>) -> u64 {
    words
        .fold(0xcbf2_9ce4_8422_2325, |hash, word| (hash ^ word).wrapping_mul(0x100_0000_01b3).rotate_left(23))
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
    /// The same of the scaled data, which neither over- nor underflows: runs are compared by it.
    pub scaled_objective: f64,
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
    cluster_from(data, job, None, observer)
}

/// Goes on from saved work, to the same bits as if it had never stopped.
pub fn resume(data: &dyn Data, job: &Job, saved: Checkpoint, observer: &mut dyn Observer) -> Result<Outcome> {
    let of = job.fingerprint(data);
    if saved.of != of {
        return Err(Error::Data(format!(
            "the checkpoint is of other work: it has '{}', this is '{of}'",
            saved.of
        )));
    }
    cluster_from(data, job, Some(saved), observer)
}

fn cluster_from(
    data: &dyn Data,
    job: &Job,
    mut saved: Option<Checkpoint>,
    observer: &mut dyn Observer,
) -> Result<Outcome> {
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
    let mut finished: Vec<Run> = saved.as_mut().map_or(vec![], |s| std::mem::take(&mut s.finished));
    while finished.len() < runs {
        let first = finished.len();
        let count = batch.min(runs - first);
        let cancelled = finished.iter().any(|run| run.stop() == Stop::Cancelled);
        if cancelled {
            break;
        }
        let streams: Vec<Stream> =
            (first..first + count).map(|run| Stream { seed: job.seed, run: run as u64 }).collect();
        let batch =
            Batch { problem: &problem, job, start: &start, streams: &streams, runs, finished: &finished };
        let ended = batch.run(&*algorithm, saved.take(), observer)?;
        finished.extend(ended);
    }
    let best = (1..finished.len()).fold(0, |best, run| {
        let (a, b) = (finished[run].scaled_objective, finished[best].scaled_objective);
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

/// Some runs side by side.
struct Batch<'a> {
    problem: &'a Problem<'a>,
    job: &'a Job,
    start: &'a Start,
    streams: &'a [Stream],
    runs: usize,
    /// Runs that have ended before.
    finished: &'a [Run],
}

impl Batch<'_> {
    /// The method, then the polish, then what each partition explains.
    fn run(
        &self,
        algorithm: &dyn Algorithm,
        saved: Option<Checkpoint>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Run>> {
        let Batch { problem, job, start, streams, runs, .. } = *self;
        let facts = problem.facts();
        let mut state = algorithm.begin(problem, start, streams)?;
        let mut traces = vec![Trace::default(); streams.len()];
        if let Some(saved) = saved {
            state.restore(saved.state)?;
            if saved.traces.len() != traces.len() {
                return Err(Error::Data(
                    "the checkpoint has another number of runs: start without it".into(),
                ));
            }
            traces = saved.traces;
        }
        let running = Running {
            method: job.method.name,
            first: streams[0].run as usize,
            runs,
            max_iterations: algorithm.max_iterations(start),
            norm2: facts.norm2,
        };
        let of = job.fingerprint(problem.data);
        let checkpoint = |state: Saved, traces: &[Trace]| Checkpoint {
            of: of.clone(),
            finished: self.finished.to_vec(),
            traces: traces.to_vec(),
            state,
        };
        let traces = iterate(&mut *state, traces, running, observer, &checkpoint)?;
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
                stages.push(stage("em-onmf", trace));
            }
            if job.polish {
                objective = facts.norm2 - explained;
            }
            // Σ cos has no unit; the others are squares of the data's.
            let unit = if job.method.goal == Goal::Most && !job.polish { 1.0 } else { facts.scale };
            finished.push(Run {
                stages,
                objective: objective / unit / unit,
                scaled_objective: objective,
                relative_error: (1.0 - explained / facts.norm2).max(0.0).sqrt(),
                labels,
                iterate_negativity: conclusion.negativity,
                iterate_orthogonality: conclusion.orthogonality,
            });
        }
        Ok(finished)
    }
}

fn stage(method: &'static str, trace: Trace) -> Stage {
    Stage { method, history: trace.history, stop: trace.stop.unwrap_or(Stop::MaxIterations) }
}

/// An observer that sees everything but saves nothing.
struct Unsaved<'a>(&'a mut dyn Observer);

impl Observer for Unsaved<'_> {
    fn iteration(&mut self, event: &Event) -> Go {
        self.0.iteration(event)
    }
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
    // A polish is short: what is saved is the work before it.
    let mut quiet = Unsaved(observer);
    let checkpoint = |state: Saved, traces: &[Trace]| Checkpoint {
        of: String::new(),
        finished: vec![],
        traces: traces.to_vec(),
        state,
    };
    let mut traces = iterate(&mut *state, vec![Trace::default()], running, &mut quiet, &checkpoint)?;
    let guess = state.conclude(0)?.centroids;
    let sigma2 = dominant(problem.data, state.store(), &[0], &guess)?.sigma2;
    Ok((state.store().labels(0)?, sigma2.iter().sum(), traces.remove(0)))
}
