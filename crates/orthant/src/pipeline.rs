//! The whole flow on one screen: prepare → start → iterate → polish → finish → certify.
//!
//! ```
//! use orthant::{Job, cluster, matrix::open};
//!
//! // Two directions; lengths do not matter.
//! let points = [[4.0, 0.0, 0.1], [1.0, 0.0, 0.0], [0.0, 3.0, 3.0], [0.0, 0.5, 0.6], [0.0, 0.0, 0.0]];
//! let job = Job { runs: 5, ..Job::new("em-onmf", 2)? };
//! let outcome = cluster(&*open(&points, None)?, &job, &mut ())?;
//! assert_eq!(outcome.solution.labels, [1, 1, 0, 0, -1]);
//! assert_eq!(outcome.runs.len(), 5);
//! assert!(outcome.certificate.relative_error < 0.05);
//! # Ok::<(), orthant::Error>(())
//! ```

use std::time::{Duration, Instant};

use crate::algorithms::{Algorithm, EmOnmf, METHODS, Method, Polish, Values};
use crate::certificate::{Certificate, certify};
use crate::checkpoint::{BatchSaved, Checkpoint, PolishSaved, Reached};
use crate::error::{Error, Result};
use crate::finish::{Solution, finish};
pub use crate::job::{DEFAULT_METHOD, Job};
use crate::matrix::fold::{self, fold};
use crate::matrix::{Data, Mat, Rule, Shape, kernels};
pub use crate::outcome::{Outcome, Run, Stage};
use crate::prepare::Problem;
use crate::run::{
    Event, Go, Mark, Observer, Progress, Race, Running, Stop, StopAsked, Trace, Unsaved, iterate,
};
use crate::saved::misfit;
use crate::start::{Start, Stream};
use crate::told::told;

/// As many columns side by side as measure fastest in one pass: more no longer fit the cache.
const COLUMNS: usize = 256;

/// The same on sparse data, whose runs wait for each other at the end of a batch only.
const SPARSE_COLUMNS: usize = 512;

/// How exact the vectors need be from which the errors of all runs are told: σ² is exact to the square of it. The best
/// run has its own computed to rounding.
const VECTOR_TOLERANCE: f64 = 1e-6;

/// The same for many runs of methods that are not about σ².
const ROUGH_TOLERANCE: f64 = 1e-4;

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
    let deadline = match job.time {
        Some(time) if !(time > 0.0 && time.is_finite()) => {
            return Err(Error::parameter("time", format!("{time} was given, seconds above 0 are needed")));
        }
        Some(time) => Duration::try_from_secs_f64(time).ok().and_then(|time| begun.checked_add(time)),
        None => None,
    };
    let race = race_of(&data.shape(), job);
    let asked = observer.stop_asked();
    let of = |data| {
        let problem = Problem::new(data, job.k, job.method.needs())?;
        Ok::<_, Error>(problem.asking(asked.clone()).until(deadline).racing(race))
    };
    let given = of(data)?;
    let algorithm = job.method.with(&job.values())?;
    let other = EmOnmf::default();
    let aim: &dyn Algorithm = if job.aim().name == job.method.name { &*algorithm } else { &other };
    let start = job.start();
    start.check(&given)?;
    if let (Some(polish), Some(_)) = (job.polish.iter().find(|p| p.is_onmf()), data.facts().negative) {
        return Err(Error::parameter("polish", format!("{} needs nonnegative data", polish.name())));
    }
    let (runs, batch) = runs_of(&data.shape(), job);
    check_room(&data.shape(), data.in_memory(), job)?;
    if race.is_some() && fold::is_worth_it(data) {
        check_room_beside(&data.shape(), data.in_memory(), job, true)?;
    }
    // Searches and races go over data with the same products of points and fewer features; the answer is about those that were given.
    let folds = algorithm.goes_by_products(race.is_some()) && !start.is_about_features();
    let folded = if folds { fold(data)? } else { None };
    let alike = folded.as_ref().map(|folded| of(&*folded.data)).transpose()?;
    let problem = alike.as_ref().unwrap_or(&given);
    let features = problem.data.shape().features;
    if saved.as_ref().is_some_and(|saved| !saved.is_sound(data.shape().points, features, job.k, job.runs)) {
        return Err(misfit());
    }
    let mut stopped = None;
    let mut left_behind = saved.as_ref().map_or(0, |saved| saved.left_behind);
    let mut finished: Vec<Run> = saved.as_mut().map_or(vec![], |s| std::mem::take(&mut s.finished));
    let mut under_way = saved.and_then(|saved| saved.batch);
    while finished.len() + left_behind < runs {
        let first = finished.len() + left_behind;
        let count = batch.min(runs - first);
        let streams: Vec<Stream> =
            (first..first + count).map(|run| Stream { seed: job.seed, run: run as u64 }).collect();
        let batch = Batch {
            problem,
            data,
            job,
            aim,
            start: &start,
            streams: &streams,
            runs,
            finished: &finished,
            left_behind,
            deadline,
        };
        let Ended { runs: ended, left_behind: more, why, whole } =
            match batch.run(&*algorithm, under_way.take(), observer) {
                // Nothing of this batch is worth waiting for: what was before is there, or soon had.
                Err(Error::Stopped(_)) if !finished.is_empty() => {
                    stopped = Some(Stop::Cancelled);
                    break;
                }
                Err(Error::Stopped(_)) => batch.drawn(observer)?,
                ended => ended?,
            };
        finished.extend(ended);
        left_behind += more;
        // The best so far is what there is.
        if why.is_some() {
            stopped = why.filter(|_| finished.len() + left_behind < runs || !whole);
            break;
        }
    }
    let best = (1..finished.len()).fold(0, |best, run| {
        let (a, b) = (finished[run].scaled_objective, finished[best].scaled_objective);
        if job.aim().better(a, b) { run } else { best }
    });
    // Only the best run is worth factors of its own.
    let mut slots = data.slots()?;
    // Kept in the run too: a checkpoint of the certificate goes on from the same.
    let unfolded = |u: &Mat| folded.as_ref().map_or_else(|| u.clone(), |folded| folded.unfold(u));
    let directions = finished[best].directions.as_ref().map(unfolded);
    let guess = directions.unwrap_or_else(|| Mat::zeros(data.shape().features, job.k));
    alike.iter().for_each(|alike| given.is_cut_short_as(alike));
    let problem = &given;
    let (solution, left) = finish(problem, &mut *slots, &finished[best].labels, &guess, aim.rule())?;
    let checkpoint = Checkpoint { of: job.fingerprint(data), finished, left_behind, batch: None };
    let seconds = begun.elapsed().as_secs_f64();
    let certifying = Instant::now();
    // A search has found them already. What a race reaches is certified as the same runs are without one.
    let found = alike.as_ref().filter(|_| algorithm.goes_by_products(false));
    found.iter().try_for_each(|alike| given.knows_singular(alike, unfolded))?;
    let whole = stopped.is_none() && !problem.was_cut_short();
    let mut saving = Saving { observer, checkpoint: whole.then_some(&checkpoint) };
    let iterations: usize = checkpoint.finished.iter().map(Run::iterations).sum();
    let spent = data.shape().nonzeros as u128 * (job.k * iterations) as u128;
    let level = job.certificate.after(problem, aim.rule().onmf, spent);
    let certificate = certify(problem, &mut *slots, &solution, &left, level, &mut saving)?;
    check_finite(&solution, &certificate)?;
    let mut finished = checkpoint.finished;
    finished[best].labels = solution.labels.clone();
    finished[best].relative_error = certificate.relative_error;
    finished.iter_mut().for_each(|run| run.directions = None);
    Ok(Outcome {
        runs: finished,
        left_behind,
        stopped,
        best,
        solution,
        certificate,
        seconds,
        certificate_seconds: certifying.elapsed().as_secs_f64(),
    })
}

/// How many runs a job has, and how many of them go side by side.
fn runs_of(shape: &Shape, job: &Job) -> (usize, usize) {
    // Runs from a start that is not random would all be the same, unless the method is.
    let runs = if job.start().is_random() { job.runs } else { 1 };
    let columns = if shape.sparse { SPARSE_COLUMNS } else { COLUMNS };
    (runs, if job.method.batched { (columns / job.k.max(1)).clamp(1, runs.max(1)) } else { 1 })
}

/// How its runs race, if they do.
fn race_of(shape: &Shape, job: &Job) -> Option<Race> {
    // A polish may bring up what was behind; a search has its own ways to give up what is.
    let races = job.polish.is_empty() && job.method.batched && runs_of(shape, job).1 >= Race::FEWEST;
    job.race.filter(|_| races)
}

/// Refuses a job that cannot fit into the memory it may use ([`Job::memory`]) beside points of this shape, before any of
/// them is looked at.
///
/// # Errors
/// What it needs and what there is, or parameters that the method does not take.
pub fn check_room(shape: &Shape, in_memory: bool, job: &Job) -> Result<()> {
    // Whether the data of a race are folded is not known before they are looked at.
    let folds = job.method.with(&job.values())?.goes_by_products(false);
    check_room_beside(shape, in_memory, job, folds)
}

/// The same, beside a folded copy of the points if so.
fn check_room_beside(shape: &Shape, in_memory: bool, job: &Job, folds: bool) -> Result<()> {
    let [points, features, k] = [shape.points, shape.features, job.k].map(|count| count as u128);
    let batch = runs_of(shape, job).1 as u128;
    // Directions of the runs in progress and what is summed for them; of sparse points what eight side by side have, and where
    // they are read anew sums of blocks that wait for each other. At the end the basis of the singular values and its
    // images, beside the factors. As many of each as was measured.
    let each = match (in_memory, shape.sparse) {
        (true, false) => 2,
        (true, true) => 3,
        (false, _) => 12,
    };
    const END: u128 = 28;
    let directions = features * k * (each * batch + END) * size_of::<f64>() as u128;
    let algorithm = job.method.with(&job.values())?;
    // Beside points in memory what the method holds, and labels of the runs in progress. Beside points on a disk those
    // arrays may be there too, but not a norm, a label and a strength of each.
    let of_point = match in_memory {
        true => k * algorithm.arrays() as u128 * size_of::<f64>() as u128,
        false => 20,
    };
    let folded = if folds { fold::bytes(shape, in_memory) } else { 0 };
    let bytes = directions + folded + points * (of_point + batch * size_of::<i32>() as u128);
    let work = format!("{} for k = {k} on {points} points of {features} features", job.method.title);
    kernels::check_room(&work, bytes, job.memory, "fewer clusters, runs at once or features need less")?;
    // The rest is over by then.
    let level = job.certificate;
    let work = format!("the {} certificate of {points} points", level.name());
    kernels::check_room(&work, level.bytes(shape, job.k), job.memory, "a lower level needs less")
}

/// A result that holds anything else than numbers is none.
fn check_finite(solution: &Solution, certificate: &Certificate) -> Result<()> {
    let Certificate { relative_error, lower_bound, energy_share, orthogonality_residual, .. } = certificate;
    let claims = [*relative_error, *lower_bound, *energy_share, *orthogonality_residual];
    let all = [
        &solution.u.data,
        &solution.v,
        &solution.directions.data,
        &solution.centroids.data,
        &solution.energy,
        &certificate.singular_values,
        &claims[..],
    ];
    if all.iter().any(|numbers| numbers.iter().any(|x| !x.is_finite())) {
        return Err(Error::Computation(
            "the result would hold numbers that are not finite: multiply the data by a power of ten that brings \
             their largest entry near 1, and remove points that are far smaller"
                .into(),
        ));
    }
    Ok(())
}

/// Keeps all runs, which have ended, while the certificate is at work.
struct Saving<'a> {
    observer: &'a mut dyn Observer,
    /// None where they were stopped: what was saved before goes further.
    checkpoint: Option<&'a Checkpoint>,
}

impl Observer for Saving<'_> {
    fn iteration(&mut self, event: &Event) -> Go {
        let go = self.observer.iteration(event);
        match self.checkpoint.filter(|_| self.observer.wants_to_save()) {
            Some(checkpoint) if self.observer.save(&checkpoint.to_bytes()).is_err() => Go::Stop,
            _ => go,
        }
    }
    fn stop_asked(&self) -> Option<StopAsked> {
        self.observer.stop_asked()
    }
}

/// Some runs side by side.
struct Batch<'a> {
    problem: &'a Problem<'a>,
    /// The data that were given, which may have other features than those of the problem.
    data: &'a dyn Data,
    job: &'a Job,
    /// Whose objective and rule the answer has.
    aim: &'a dyn Algorithm,
    start: &'a Start,
    streams: &'a [Stream],
    runs: usize,
    /// Runs that have ended before.
    finished: &'a [Run],
    /// And how many were given up.
    left_behind: usize,
    deadline: Option<Instant>,
}

/// What became of a batch.
struct Ended {
    runs: Vec<Run>,
    /// How many others were left behind.
    left_behind: usize,
    /// Why no further one is to begin, if so.
    why: Option<Stop>,
    /// Whether all of its runs came to their own end, and none missed a polish.
    whole: bool,
}

fn unfinished(stop: Stop) -> bool {
    matches!(stop, Stop::Cancelled | Stop::OutOfTime)
}

impl Batch<'_> {
    /// The method, then the polish.
    fn run(
        &self,
        algorithm: &dyn Algorithm,
        saved: Option<BatchSaved>,
        observer: &mut dyn Observer,
    ) -> Result<Ended> {
        let mut left_behind = 0;
        let (mut reached, mut stopped, mut resumed) = match saved {
            Some(BatchSaved { traces, state, polish: Some(polish) }) => {
                if polish.reached.len() != self.streams.len() || traces.len() != 1 {
                    return Err(misfit());
                }
                (polish.reached, None, Some((polish.run, polish.polish, traces, state)))
            }
            saved => {
                let (reached, more, stopped) = self.iterate(algorithm, saved, observer)?;
                left_behind = more;
                (reached, stopped, None)
            }
        };
        let from = resumed.as_ref().map_or((0, 0), |r| (r.0, r.1));
        let mut whole = true;
        for run in from.0..reached.len() {
            let first = if run == from.0 { from.1 } else { 0 };
            for (at, &polish) in self.job.polish.iter().enumerate().skip(first) {
                if stopped.is_some() || reached[run].stages.iter().any(|s| unfinished(s.stop)) {
                    whole = false;
                    break;
                }
                let saved = resumed.take().map(|(_, _, traces, state)| (traces, state));
                self.polish(polish, at, &mut reached, run, saved, observer)?;
            }
            stopped = stopped.or(reached[run].stages.iter().map(|s| s.stop).find(|&stop| unfinished(stop)));
        }
        let runs: Vec<Run> = reached.into_iter().map(|reached| self.finished(reached)).collect();
        whole &= !runs.iter().any(|run| unfinished(run.stop()));
        Ok(Ended { runs, left_behind, why: stopped, whole })
    }

    /// The method on all runs of the batch, and what their partitions explain.
    fn iterate(
        &self,
        algorithm: &dyn Algorithm,
        saved: Option<BatchSaved>,
        observer: &mut dyn Observer,
    ) -> Result<(Vec<Reached>, usize, Option<Stop>)> {
        let Batch { problem, job, start, streams, .. } = *self;
        problem.set_restoring(saved.is_some());
        let mut state = algorithm.begin(problem, start, streams)?;
        let mut traces = vec![Trace::default(); streams.len()];
        if let Some(saved) = saved {
            if saved.traces.len() != traces.len() {
                return Err(misfit());
            }
            state.restore(saved.state)?;
            traces = saved.traces;
        }
        problem.set_restoring(false);
        let running =
            self.running(job.method.name, job.method.rule, streams[0], algorithm.max_iterations(start));
        let (mut traces, stopped) = iterate(&mut *state, traces, running, observer, &|state, traces| {
            self.checkpoint(BatchSaved { traces: traces.to_vec(), state, polish: None })
        })?;
        if stopped.is_some() {
            // The last runs may not have begun.
            traces.truncate(traces.iter().take_while(|trace| !trace.history.is_empty()).count());
            if traces.is_empty() {
                return Err(Error::Stopped("an iteration had ended"));
            }
        }
        let goes_on = |run: &usize| traces[*run].stop != Some(Stop::LeftBehind);
        let mut kept: Vec<usize> = (0..traces.len()).filter(goes_on).collect();
        let left_behind = traces.len() - kept.len();
        // Who stops the work waits for it: of the runs that were cut short only the furthest comes to a conclusion.
        let last = |run: usize| traces[run].history.last().map_or(f64::NAN, |p| p.objective);
        let cut_short = |run: usize| traces[run].stop.is_some_and(unfinished);
        let furthest = kept
            .iter()
            .copied()
            .filter(|&run| cut_short(run))
            .reduce(|best, run| if job.method.better(last(run), last(best)) { run } else { best });
        kept.retain(|&run| !cut_short(run) || Some(run) == furthest);
        let mut conclusions = kept.iter().map(|&run| state.conclude(run)).collect::<Result<Vec<_>>>()?;
        // What else it holds of its runs is not needed any more.
        let marks = state.marks().to_vec();
        drop(state);
        let traces = kept.into_iter().map(|run| std::mem::take(&mut traces[run])).collect::<Vec<_>>();
        let many = job.method.batched && conclusions.len() > 1;
        let tolerance = if many { ROUGH_TOLERANCE } else { VECTOR_TOLERANCE };
        let told = told(problem, &mut conclusions, tolerance)?;
        let norm2 = problem.facts().norm2;
        let mut reached = vec![];
        for ((trace, conclusion), (directions, explained)) in traces.into_iter().zip(conclusions).zip(told) {
            let last = trace.history.last().map_or(f64::NAN, |p| p.objective);
            let mut one = Reached::new(conclusion, directions, explained, last);
            one.stages = stages(job.method, &trace, &marks, norm2, explained);
            reached.push(one);
        }
        Ok((reached, left_behind, stopped))
    }

    /// What can be had at once, where the work was stopped before its first iteration had ended: one iteration of the
    /// plainest method under the same rule, from random points.
    fn drawn(&self, observer: &mut dyn Observer) -> Result<Ended> {
        let rule = self.aim.rule();
        let plain = METHODS.iter().find(|method| method.batched && method.rule.name == rule.name);
        let method = plain.unwrap_or(self.job.method);
        let values = if method.name == self.job.method.name { self.job.values() } else { Values::new() };
        let algorithm = method.with(&values)?;
        let mut state = algorithm.begin(self.problem, &Start::Random, &self.streams[..1])?;
        let running = self.running(method.name, rule, self.streams[0], 1);
        let (mut traces, _) =
            iterate(&mut *state, vec![Trace::default()], running, &mut Unsaved(observer), &|_, _| None)?;
        let mut trace = traces.remove(0);
        trace.stop = Some(Stop::Cancelled);
        let mut conclusion = state.conclude(0)?;
        let (directions, explained) =
            told(self.problem, std::slice::from_mut(&mut conclusion), VECTOR_TOLERANCE)?.remove(0);
        let last = trace.history.last().map_or(f64::NAN, |p| p.objective);
        let mut reached = Reached::new(conclusion, directions, explained, last);
        reached.stages = stages(method, &trace, &[], self.problem.facts().norm2, explained);
        let why = Some(Stop::Cancelled);
        Ok(Ended { runs: vec![self.finished(reached)], left_behind: 0, why, whole: false })
    }

    /// None of work that was cut short: what was saved before goes on to the same bits, this would not.
    fn checkpoint(&self, batch: BatchSaved) -> Option<Vec<u8>> {
        if self.problem.was_cut_short() {
            return None;
        }
        let of = self.job.fingerprint(self.data);
        let (finished, left_behind) = (self.finished.to_vec(), self.left_behind);
        Some(Checkpoint { of, finished, left_behind, batch: Some(batch) }.to_bytes())
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

    /// Goes on from what a run has reached, and takes over what is better.
    fn polish(
        &self,
        polish: Polish,
        at: usize,
        reached: &mut [Reached],
        run: usize,
        saved: Option<(Vec<Trace>, crate::saved::Saved)>,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let Batch { problem, job, .. } = *self;
        let stream = self.streams[run];
        // Swaps improve what the answer is to be judged by; EM and moves are about ONMF.
        let aim = job.aim();
        let (mut state, limit) =
            polish.begin(problem, self.aim, &reached[run].labels, &reached[run].directions, stream)?;
        let mut traces = vec![Trace::default()];
        if let Some((before, saved)) = saved {
            state.restore(saved)?;
            traces = before;
        }
        let running = self.running(polish.name(), aim.rule, stream, limit);
        let so_far = &*reached;
        let (mut traces, _) = iterate(&mut *state, traces, running, observer, &|state, traces| {
            let polish = Some(PolishSaved { reached: so_far.to_vec(), run, polish: at });
            self.checkpoint(BatchSaved { traces: traces.to_vec(), state, polish })
        })?;
        let trace = traces.remove(0);
        let mut conclusion = state.conclude(0)?;
        let (directions, explained) =
            told(problem, std::slice::from_mut(&mut conclusion), VECTOR_TOLERANCE)?.remove(0);
        let last = trace.history.last().map_or(f64::NAN, |p| p.objective);
        let objective = conclusion.objective.unwrap_or(last);
        let reached = &mut reached[run];
        let better = match aim.rule.onmf {
            true => explained >= reached.explained,
            false => !aim.better(reached.objective, objective),
        };
        if better {
            (reached.labels, reached.directions) = (conclusion.labels, directions);
            (reached.explained, reached.objective) = (explained, objective);
        }
        reached.stages.push(Stage {
            name: polish.name().to_string(),
            aim,
            relative_error: relative_error(problem.facts().norm2, reached.explained),
            history: trace.history,
            stop: trace.stop.unwrap_or(Stop::MaxIterations),
        });
        Ok(())
    }

    /// A run that has ended.
    fn finished(&self, reached: Reached) -> Run {
        let (facts, aim) = (self.problem.facts(), self.job.aim());
        let mut objective = reached.objective;
        if aim.rule.onmf && !self.job.polish.is_empty() {
            objective = (facts.norm2 - reached.explained).max(0.0);
        }
        Run {
            stages: reached.stages,
            // (The power may be 0 itself.)
            objective: if objective == 0.0 { 0.0 } else { objective / facts.scale.powi(aim.degree) },
            scaled_objective: objective,
            relative_error: relative_error(facts.norm2, reached.explained),
            labels: reached.labels,
            directions: Some(reached.directions),
            iterate_negativity: reached.negativity,
            iterate_orthogonality: reached.orthogonality,
        }
    }
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
    // Under another objective the error of ONMF is not told before the end.
    if marks.is_empty() || !method.rule.onmf {
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
