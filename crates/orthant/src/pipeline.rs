//! The whole flow on one screen: prepare → start → iterate → finish → certify.

use std::time::{Duration, Instant};

use crate::algorithms::{Algorithm, Effort, Method, Polish, Values, method};
use crate::certificate::{Certificate, Level, certify};
use crate::checkpoint::{Checkpoint, Saved, digest};
use crate::error::{Error, Result};
use crate::finish::{Solution, finish};
use crate::matrix::{Data, Mat, Rule};
use crate::prepare::Problem;
use crate::run::{Event, Go, Mark, Observer, Progress, Running, Stop, Trace, iterate};
use crate::singular::{dominant, dominant_within};
use crate::start::{Start, Stream};

/// The method that the program and the Python package use unless told otherwise.
pub const DEFAULT_METHOD: &str = "best";

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
    /// What goes on from what the method found, in order.
    pub polish: Vec<Polish>,
    /// Seconds after which to end with the best so far. The result then depends on the machine.
    pub time: Option<f64>,
    /// How much work to put into the lower bound.
    pub certificate: Level,
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
            polish: vec![],
            time: None,
            certificate: Level::default(),
        })
    }

    /// What identifies this work on these data.
    pub fn fingerprint(&self, data: &dyn Data) -> String {
        let (shape, facts) = (data.shape(), data.facts());
        let given = match &self.start {
            Some(Start::Labels(labels)) => format!(" {:x}", digest(labels.iter().map(|&l| l as u64))),
            Some(Start::Centroids(u)) => format!(" {:x}", digest(u.data.iter().map(|x| x.to_bits()))),
            _ => String::new(),
        };
        let values: Vec<String> = self.values.iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!(
            "{} k={} {} start={}{given} runs={} seed={} polish={} on {} x {} ({} entries, {:x})",
            self.method.name,
            self.k,
            values.join(" "),
            self.start().name(),
            self.runs,
            self.seed,
            self.polish.iter().map(|p| p.name()).collect::<Vec<_>>().join(","),
            shape.points,
            shape.features,
            shape.nonzeros,
            facts.digest
        )
    }

    /// The method whose objective and rule the answer has: after a polish by EM or moves that of ONMF.
    pub fn aim(&self) -> &'static Method {
        let onmf = self.polish.iter().any(|p| p.is_onmf());
        if onmf || (self.method.rule == Rule::Power && !self.polish.is_empty()) {
            method("em-onmf").expect("the table has it")
        } else {
            self.method
        }
    }

    /// The values of the parameters; a search with a time limit ends by that alone unless its effort is set.
    fn values(&self) -> Values {
        let searches = self.method.parameters.iter().any(|p| p.name == "effort");
        if self.time.is_some() && searches && self.values.get("effort").is_none() {
            return self.values.clone().set("effort", Effort::Endless as usize as f64);
        }
        self.values.clone()
    }

    /// The start that will be used.
    pub fn start(&self) -> Start {
        self.start
            .clone()
            .unwrap_or_else(|| Start::named(self.method.starts[0]).expect("the table names known starts"))
    }
}

/// A stage of a run: the method itself (or one of its own stages), or a polish.
#[derive(Debug, Clone)]
pub struct Stage {
    /// What it is called.
    pub name: String,
    /// The method whose objective it lowers.
    pub aim: &'static Method,
    /// `‖M − UV‖/‖M‖` of the best partition when it had ended.
    pub relative_error: f64,
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
        let unfinished = self.stages.iter().find(|s| s.stop == Stop::OutOfTime);
        unfinished.or(self.stages.last()).map_or(Stop::Converged, |s| s.stop)
    }
}

/// What came out.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Every run, in order.
    pub runs: Vec<Run>,
    /// Why there are fewer than were asked for, or not all to their end.
    pub stopped: Option<Stop>,
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

    /// Why the work ended: before its time, or as the best run did.
    pub fn stop(&self) -> Stop {
        self.stopped.unwrap_or(self.best().stop())
    }
}

/// As many columns side by side as measure fastest in one pass: more no longer fit the cache.
const COLUMNS: usize = 256;

/// How exact the vectors need be from which the errors of all runs are told: σ² is exact to the square of it. The best
/// run has its own computed to rounding.
const TOLD: f64 = 1e-6;

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
    let algorithm = job.method.with(&job.values())?;
    let start = job.start();
    start.check(&problem)?;
    if let (Some(polish), Some(_)) = (job.polish.iter().find(|p| p.is_onmf()), data.facts().negative) {
        return Err(Error::parameter("polish", format!("{} needs nonnegative data", polish.name())));
    }
    let deadline = match job.time {
        Some(time) if !(time > 0.0 && time.is_finite()) => {
            return Err(Error::parameter("time", format!("{time} was given, seconds above 0 are needed")));
        }
        Some(time) => Duration::try_from_secs_f64(time).ok().and_then(|time| begun.checked_add(time)),
        None => None,
    };
    // Runs from a start that is not random would all be the same, unless the method is.
    let runs = if start.is_random() { job.runs } else { 1 };
    let batch = if job.method.batched { (COLUMNS / job.k).clamp(1, runs) } else { 1 };
    let mut stopped = None;
    let mut finished: Vec<Run> = saved.as_mut().map_or(vec![], |s| std::mem::take(&mut s.finished));
    while finished.len() < runs {
        let first = finished.len();
        let count = batch.min(runs - first);
        let streams: Vec<Stream> =
            (first..first + count).map(|run| Stream { seed: job.seed, run: run as u64 }).collect();
        let batch = Batch {
            problem: &problem,
            job,
            start: &start,
            streams: &streams,
            runs,
            finished: &finished,
            deadline,
        };
        let (ended, why) = batch.run(&*algorithm, saved.take(), observer)?;
        finished.extend(ended);
        // The best so far is what there is.
        if why.is_some() {
            let all = finished.iter().all(|run| !matches!(run.stop(), Stop::Cancelled | Stop::OutOfTime));
            stopped = why.filter(|_| finished.len() < runs || !all);
            break;
        }
    }
    let best = (1..finished.len()).fold(0, |best, run| {
        let (a, b) = (finished[run].scaled_objective, finished[best].scaled_objective);
        if job.aim().better(a, b) { run } else { best }
    });
    // Only the best run is worth factors of its own.
    let mut store = data.store()?;
    store.set_labels(0, &finished[best].labels)?;
    let guess = Mat::zeros(data.shape().features, job.k);
    let solution = finish(&problem, &mut *store, 0, &guess, job.aim().rule)?;
    finished[best].labels = solution.labels.clone();
    let seconds = begun.elapsed().as_secs_f64();
    let certifying = Instant::now();
    let certificate = certify(&problem, &mut *store, 0, &solution, job.certificate, observer)?;
    finished[best].relative_error = certificate.relative_error;
    Ok(Outcome {
        runs: finished,
        stopped,
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
    deadline: Option<Instant>,
}

impl Batch<'_> {
    /// The method, then the polish, then what each partition explains; and why it was stopped, if it was.
    fn run(
        &self,
        algorithm: &dyn Algorithm,
        saved: Option<Checkpoint>,
        observer: &mut dyn Observer,
    ) -> Result<(Vec<Run>, Option<Stop>)> {
        let Batch { problem, job, start, streams, .. } = *self;
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
        let running =
            self.running(job.method.name, job.method.rule, streams[0], algorithm.max_iterations(start));
        let of = job.fingerprint(problem.data);
        let checkpoint = |state: Saved, traces: &[Trace]| Checkpoint {
            of: of.clone(),
            finished: self.finished.to_vec(),
            traces: traces.to_vec(),
            state,
        };
        let (mut traces, mut stopped) = iterate(&mut *state, traces, running, observer, &checkpoint)?;
        let unfinished = |stop| matches!(stop, Stop::Cancelled | Stop::OutOfTime);
        if stopped.is_some() {
            // The last runs may not have begun.
            traces.truncate(traces.iter().take_while(|trace| !trace.history.is_empty()).count());
        }
        let begun = 0..traces.len();
        let conclusions = begun.clone().map(|run| state.conclude(run)).collect::<Result<Vec<_>>>()?;
        // What each partition explains, all runs in the same passes.
        let mut explained: Vec<Option<f64>> = begun.clone().map(|run| state.explained(run)).collect();
        let unknown: Vec<usize> = begun.filter(|&run| explained[run].is_none()).collect();
        if !unknown.is_empty() {
            let guesses: Vec<&Mat> = unknown.iter().map(|&run| &conclusions[run].centroids).collect();
            let store = state.store();
            let found = dominant_within(problem.data, store, &unknown, &guesses, TOLD)?;
            for (&run, found) in unknown.iter().zip(found) {
                explained[run] = Some(found.sigma2.iter().sum());
            }
        }
        let mut finished = vec![];
        for (run, (trace, conclusion)) in traces.into_iter().zip(conclusions).enumerate() {
            let last = trace.history.last().map_or(f64::NAN, |p| p.objective);
            let mut reached = Reached {
                labels: state.store().labels(run)?,
                explained: explained[run].unwrap_or(0.0),
                objective: conclusion.objective.unwrap_or(last),
            };
            let mut stages = stages(job.method, &trace, state.marks(), facts.norm2, reached.explained);
            for &polish in &job.polish {
                if stages.iter().any(|s| unfinished(s.stop)) {
                    break;
                }
                stages.push(self.polish(polish, &mut reached, streams[run], observer)?);
            }
            stopped = stopped.or(stages.iter().map(|s| s.stop).find(|&stop| unfinished(stop)));
            let aim = job.aim();
            if aim.rule == Rule::Power && !job.polish.is_empty() {
                reached.objective = (facts.norm2 - reached.explained).max(0.0);
            }
            finished.push(Run {
                stages,
                objective: reached.objective / facts.scale.powi(aim.degree),
                scaled_objective: reached.objective,
                relative_error: relative_error(facts.norm2, reached.explained),
                labels: reached.labels,
                iterate_negativity: conclusion.negativity,
                iterate_orthogonality: conclusion.orthogonality,
            });
        }
        Ok((finished, stopped))
    }

    fn running<'r>(&self, method: &'r str, rule: Rule, stream: Stream, max_iterations: usize) -> Running<'r> {
        Running {
            method,
            rule,
            first: stream.run as usize,
            runs: self.runs,
            max_iterations,
            norm2: self.problem.facts().norm2,
            deadline: self.deadline,
        }
    }

    /// Goes on from what was reached, and takes over what is better.
    fn polish(
        &self,
        polish: Polish,
        reached: &mut Reached,
        stream: Stream,
        observer: &mut dyn Observer,
    ) -> Result<Stage> {
        let Batch { problem, job, .. } = *self;
        // Swaps improve what the answer is to be judged by; EM and moves are about ONMF.
        let aim = job.aim();
        let (mut state, limit) = polish.begin(problem, aim, &reached.labels, stream)?;
        // A polish is short: what is saved is the work before it.
        let mut unsaved = Unsaved(observer);
        let checkpoint = |state: Saved, traces: &[Trace]| Checkpoint {
            of: String::new(),
            finished: vec![],
            traces: traces.to_vec(),
            state,
        };
        let running = self.running(polish.name(), aim.rule, stream, limit);
        let trace =
            iterate(&mut *state, vec![Trace::default()], running, &mut unsaved, &checkpoint)?.0.remove(0);
        let conclusion = state.conclude(0)?;
        let sigma2 = dominant(problem.data, state.store(), &[0], &conclusion.centroids)?.sigma2;
        let explained = sigma2.iter().sum();
        let last = trace.history.last().map_or(f64::NAN, |p| p.objective);
        let objective = conclusion.objective.unwrap_or(last);
        let better = match aim.rule {
            Rule::Power => explained >= reached.explained,
            _ => !aim.better(reached.objective, objective),
        };
        if better {
            *reached = Reached { labels: state.store().labels(0)?, explained, objective };
        }
        let norm2 = problem.facts().norm2;
        Ok(Stage {
            name: polish.name().to_string(),
            aim,
            relative_error: relative_error(norm2, reached.explained),
            history: trace.history,
            stop: trace.stop.unwrap_or(Stop::MaxIterations),
        })
    }
}

/// The best partition of a run so far.
struct Reached {
    labels: Vec<i32>,
    /// Σσ₁² of its clusters.
    explained: f64,
    /// The objective of the method, or of the last polish.
    objective: f64,
}

fn relative_error(norm2: f64, explained: f64) -> f64 {
    (1.0 - explained / norm2).max(0.0).sqrt()
}

/// The stages of a method: those that it marked, or one for all.
fn stages(method: &'static Method, trace: &Trace, marks: &[Mark], norm2: f64, explained: f64) -> Vec<Stage> {
    let stop = trace.stop.unwrap_or(Stop::MaxIterations);
    let stage = |name: &str, history: &[Progress], relative_error: f64, stop: Stop| Stage {
        name: name.to_string(),
        aim: method,
        relative_error,
        history: history.to_vec(),
        stop,
    };
    if marks.is_empty() {
        return vec![stage(method.name, &trace.history, relative_error(norm2, explained), stop)];
    }
    let mut from = 0;
    let of = |(at, mark): (usize, &Mark)| {
        let history = &trace.history[from..(from + mark.iterations).min(trace.history.len())];
        from += history.len();
        let last = at + 1 == marks.len();
        let stop = if last { stop } else { Stop::Converged };
        stage(mark.name, history, (mark.objective / norm2).max(0.0).sqrt(), stop)
    };
    marks.iter().enumerate().map(of).collect()
}

/// An observer that sees everything but saves nothing.
pub(crate) struct Unsaved<'a>(pub(crate) &'a mut dyn Observer);

impl Observer for Unsaved<'_> {
    fn iteration(&mut self, event: &Event) -> Go {
        self.0.iteration(event)
    }
}
