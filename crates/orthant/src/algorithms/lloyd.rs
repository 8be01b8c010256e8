//! What EM-ONMF, KL-ONMF, k-means and spherical k-means share: assign every point to a centroid, sum the
//! points of each cluster in the same pass, make new centroids of the sums, until no label changes.
//!
//! All runs of a batch go through one pass.

use std::sync::Arc;

use rand_chacha::ChaCha8Rng;

use crate::bytes::bytes_of;
use crate::error::Result;
use crate::matrix::passes::{Assign, Assigned as Passed, Bounds};
use crate::matrix::{Array, Mat, Rule, Slot, Slots, room, threads};
use crate::prepare::Problem;
use crate::run::{Conclusion, Progress, State, Trace, share};
use crate::saved::Saved;
use crate::start::{Start, Stream, centroids};

/// What they differ in. (A value, not a type parameter: every state below would be compiled once for each model.)
pub(super) trait Model: Send + Sync {
    /// How points choose, and what centroids are made of.
    fn rule(&self) -> Rule;
    /// Whether a larger objective is better.
    fn most(&self) -> bool {
        false
    }
    /// The objective from the summed values of one run.
    fn objective(&self, problem: &Problem, value: f64) -> f64;
    /// Whether the objective says that no centroid could do better.
    fn explains_all(&self, problem: &Problem, objective: f64) -> bool {
        objective <= 1e-14 * problem.facts().norm2
    }
    /// Whether repeated labels are the end, or the given runs' centroids must first be made exact.
    fn exact(
        &self,
        _problem: &Problem,
        _slots: &mut dyn Slots,
        _runs: &[usize],
        _guesses: &[&Mat],
    ) -> Result<Option<Vec<Mat>>> {
        Ok(None)
    }
    /// The same from what points add (`Slot::Adds`), where that is the shorter way.
    fn exact_of_adds(
        &self,
        _problem: &Problem,
        _slots: &mut dyn Slots,
        _runs: &[usize],
    ) -> Result<Option<Vec<Mat>>> {
        Ok(None)
    }
    /// The objective of a run's partition, where it is not that of the last pass.
    fn final_objective(
        &self,
        _problem: &Problem,
        _slots: &mut dyn Slots,
        _run: usize,
    ) -> Result<Option<f64>> {
        Ok(None)
    }
}

/// Sums of the clusters as of the last pass: where points add the same in every pass, the next one need only follow those
/// that change their label.
#[derive(Debug, Clone)]
struct Followed {
    /// features × k.
    sums: Mat,
    /// Since how many passes.
    passes: usize,
}
bytes_of!(Followed { sums, passes });

/// Sums that follow single points are made anew after so many passes: rounding does not pile up.
const FRESH: usize = 16;

/// What a pass has told of a run.
struct Assigned {
    /// features × k: the clusters' sums.
    sums: Mat,
    /// `Σw` of each cluster's points.
    weight: Vec<f64>,
    /// What all of them are worth.
    value: f64,
    /// How many points changed their cluster.
    changed: usize,
}

pub(super) struct Run {
    /// Centroids as points are multiplied with them, features × k.
    pub(super) u: Mat,
    /// Those that the points' leads refer to, where they have leads.
    before: Option<Mat>,
    followed: Option<Followed>,
    generator: ChaCha8Rng,
    /// Whether `u` is exact for the present labels.
    pub(super) exact: bool,
    /// The objective when it was last exact; infinite before.
    settled: f64,
    /// What the partition explains in the sense of ONMF, once the run has ended under exact directions.
    explained: Option<f64>,
}

impl Run {
    fn new(u: Mat, generator: ChaCha8Rng) -> Self {
        Run {
            u,
            before: None,
            followed: None,
            generator,
            exact: false,
            settled: f64::INFINITY,
            explained: None,
        }
    }
}

pub(super) struct Lloyd<'a> {
    pub(super) model: Arc<dyn Model>,
    problem: &'a Problem<'a>,
    pub(super) slots: Box<dyn Slots + 'a>,
    pub(super) runs: Vec<Run>,
}

impl<'a> Lloyd<'a> {
    pub(super) fn begin(
        model: Arc<dyn Model>,
        problem: &'a Problem<'a>,
        start: &Start,
        streams: &[Stream],
    ) -> Result<Self> {
        start.check(problem)?;
        let mut slots = problem.data.slots()?;
        let mut runs = vec![];
        for stream in streams {
            let mut generator = stream.generator();
            let u = centroids(start, problem, &mut *slots, model.rule(), &mut generator)?;
            runs.push(Run::new(model.rule().scored(u), generator));
        }
        Ok(Lloyd { model, problem, slots: problem.data.slots()?, runs })
    }

    /// From given centroids, as points are multiplied with them, one set for each run.
    pub(super) fn from_centroids(
        model: Arc<dyn Model>,
        problem: &'a Problem<'a>,
        runs: Vec<(Mat, ChaCha8Rng)>,
    ) -> Result<Self> {
        let runs = runs.into_iter().map(|(u, generator)| Run::new(u, generator)).collect();
        Ok(Lloyd { model, problem, slots: problem.data.slots()?, runs })
    }

    /// Steps all runs until no label changes, at most so often; gives back what their labels are in.
    pub(super) fn into_slots(mut self, steps: usize) -> Result<Box<dyn Slots + 'a>> {
        let mut active: Vec<usize> = (0..self.runs.len()).collect();
        for _ in 0..steps {
            let progress = self.step(&active)?;
            active =
                active.iter().zip(&progress).filter(|(_, p)| !p.converged).map(|(&run, _)| run).collect();
            if active.is_empty() || self.problem.is_to_end() {
                break;
            }
        }
        (0..self.runs.len()).try_for_each(|run| self.forget(run))?;
        Ok(self.slots)
    }

    /// Goes on from the labels that some slots hold, where a start has left them.
    pub(super) fn with_slots(mut self, slots: Box<dyn Slots + 'a>) -> Self {
        self.slots = slots;
        self
    }

    /// Goes on with centroids of a run's labels that were found elsewhere.
    pub(super) fn take_over(&mut self, run: usize, u: Mat) -> Result<()> {
        self.runs[run].u = u;
        self.runs[run].exact = false;
        self.forget(run)
    }

    /// Goes on with the exact centroids of the labels of some runs, from what their points add; false where it takes other
    /// centroids to find them.
    pub(super) fn take_over_exact(&mut self, runs: &[usize]) -> Result<bool> {
        let exact = self.model.exact_of_adds(self.problem, &mut *self.slots, runs)?;
        let found = exact.is_some();
        for (u, &run) in exact.into_iter().flatten().zip(runs) {
            self.take_over(run, u)?;
            self.runs[run].exact = true;
        }
        Ok(found)
    }

    /// Makes the centroids of some runs exact, where the model has more exact ones.
    pub(super) fn make_exact(&mut self, runs: &[usize]) -> Result<()> {
        let guesses: Vec<&Mat> = runs.iter().map(|&run| &self.runs[run].u).collect();
        let exact = self.model.exact(self.problem, &mut *self.slots, runs, &guesses)?;
        for (u, &run) in exact.into_iter().flatten().zip(runs) {
            self.runs[run].u = u;
            self.runs[run].exact = true;
        }
        Ok(())
    }

    /// Drops what passes remember of the points, when there will be no further one.
    pub(super) fn forget(&mut self, run: usize) -> Result<()> {
        let state = &mut self.runs[run];
        state.before.take().into_iter().for_each(|mat| room::give(mat.data));
        state.followed.take().into_iter().for_each(|followed| room::give(followed.sums.data));
        self.slots.forget(Slot::Leads(run))
    }

    /// What a pass tells of each of its runs, and their sums.
    fn sweep(&mut self, pass: &mut Assign) -> Result<Vec<(Passed, Mat)>> {
        let (k, runs) = (self.problem.k, pass.runs.len());
        if runs == 1 {
            return Ok(vec![self.slots.sweep(pass)?]);
        }
        if !self.problem.is_apart(runs) {
            let (all, sums) = self.slots.sweep(pass)?;
            let of = |at: usize| {
                let columns = at * k..(at + 1) * k;
                let (weight, value) =
                    (all.weight[columns.clone()].to_vec(), all.value[columns.clone()].to_vec());
                (Passed { weight, value, changed: vec![all.changed[at]] }, sums.columns(columns))
            };
            return Ok((0..runs).map(of).collect());
        }
        // Sums of several runs lie too far apart for the cache: each has a pass of its own, on a thread of its own.
        let mut jobs = vec![];
        for (at, &run) in pass.runs.iter().enumerate() {
            let alone = Assign {
                rule: pass.rule,
                u: vec![std::mem::replace(&mut pass.u[at], Mat::zeros(0, 0))],
                runs: vec![0],
                follows: vec![pass.follows[at]],
                bounds: None,
                norms2: pass.norms2.get(at * k..(at + 1) * k).unwrap_or(&[]).to_vec(),
            };
            jobs.push((alone, self.slots.read(Slot::Labels(run))?));
        }
        let data = self.problem.data;
        let told = threads::apart(jobs, |(mut alone, labels)| {
            let mut slots = data.slots()?;
            labels.into_iter().try_for_each(|labels| slots.write(Slot::Labels(0), labels))?;
            let told = slots.sweep(&alone)?;
            Ok((told, alone.u.remove(0), slots.read(Slot::Labels(0))?))
        });
        let mut all = vec![];
        for (at, told) in told.into_iter().enumerate() {
            let (told, u, labels) = told?;
            pass.u[at] = u;
            labels
                .into_iter()
                .try_for_each(|labels| self.slots.write(Slot::Labels(pass.runs[at]), labels))?;
            all.push(told);
        }
        Ok(all)
    }

    /// One pass for the given runs.
    fn assign(&mut self, active: &[usize]) -> Result<Vec<Assigned>> {
        let (k, rule) = (self.problem.k, self.model.rule());
        let u: Vec<Mat> =
            active.iter().map(|&run| std::mem::replace(&mut self.runs[run].u, Mat::zeros(0, 0))).collect();
        let mut pass = Assign::new(rule, u, active.to_vec());
        if rule.adds_the_same {
            for (follows, &run) in pass.follows.iter_mut().zip(active) {
                let known = &mut self.runs[run].followed;
                *known = known.take().filter(|followed| followed.passes < FRESH);
                *follows = known.is_some();
            }
            // Several runs that share a product are scored together, whatever is known of them.
            if let ([run], [u]) = (active, &pass.u[..]) {
                let before = self.runs[*run].before.take();
                pass.bounds = Some(before.map_or_else(Bounds::nothing, |before| {
                    let moved = Bounds::moved(&before, u);
                    room::give(before.data);
                    moved
                }));
            }
        }
        let passed = self.sweep(&mut pass)?;
        let Assign { u, follows, norms2, .. } = pass;
        let mut told = vec![];
        for (at, ((&run, u), (part, mut sums))) in active.iter().zip(u).zip(passed).enumerate() {
            let (weight, mut value) = (part.weight, part.value);
            let state = &mut self.runs[run];
            if rule.adds_the_same {
                let followed = state.followed.take().filter(|_| follows[at]);
                state.followed = Some(match followed {
                    Some(mut followed) => {
                        // What changed is added to what was, in one go for both that need it.
                        for (new, known) in sums.data.iter_mut().zip(&mut followed.sums.data) {
                            *known += *new;
                            *new = *known;
                        }
                        Followed { passes: followed.passes + 1, ..followed }
                    }
                    None => {
                        let mut known = room::zeros(sums.data.len());
                        known.copy_from_slice(&sums.data);
                        Followed { sums: Mat { data: known, ..sums }, passes: 0 }
                    }
                });
                let products = u.column_dots(&sums);
                for (i, value) in value.iter_mut().enumerate() {
                    *value = rule.worth(*value, products[i], weight[i], norms2[at * k + i]);
                }
            }
            state.u = u;
            told.push(Assigned { sums, weight, value: value.iter().sum(), changed: part.changed[0] });
        }
        Ok(told)
    }

    /// An empty cluster starts anew from a random point. [P, Alg. 1: "randomly transfer a point"]
    pub(super) fn mend(&mut self, run: usize, weight: &[f64]) -> Result<()> {
        for (i, _) in weight.iter().enumerate().filter(|(_, w)| **w <= 0.0) {
            let rule = self.model.rule();
            let point = self.problem.draw(1, rule.distance, &mut self.runs[run].generator)?;
            let column = rule.scored(rule.of_points(self.problem.data.gather(&point)?));
            self.runs[run].u.set_column(i, &column.data);
        }
        Ok(())
    }

    /// All that one run needs to go on to the same bits. (Its leads are not among it: without them all points are scored.)
    pub(super) fn save_run(&mut self, run: usize) -> Result<Saved> {
        let state = &self.runs[run];
        let mut saved = Saved::default();
        saved.put("centroids", &state.u);
        saved.put("sums", &state.followed);
        saved.put("random", &state.generator.get_word_pos());
        saved.put("exact", &(state.exact, (state.settled, state.explained)));
        if let Some(Array::Labels(labels)) = self.slots.read(Slot::Labels(run))? {
            saved.put("labels", &labels);
        }
        Ok(saved)
    }

    pub(super) fn restore_run(&mut self, run: usize, mut saved: Saved) -> Result<()> {
        let (points, k) = (self.problem.data.shape().points, self.problem.k);
        let state = &mut self.runs[run];
        let (rows, cols) = (self.problem.data.shape().features, k);
        state.u = saved.take_if("centroids", |u: &Mat| {
            let none = (u.rows, u.cols) == (0, 0);
            (none || (u.rows, u.cols) == (rows, cols)) && u.data.iter().all(|x| x.is_finite())
        })?;
        state.followed = saved.take_if("sums", |followed: &Option<Followed>| {
            followed.as_ref().is_none_or(|f| {
                (f.sums.rows, f.sums.cols) == (rows, cols) && f.sums.data.iter().all(|x| x.is_finite())
            })
        })?;
        state.generator.set_word_pos(saved.take("random")?);
        (state.exact, (state.settled, state.explained)) = saved.take("exact")?;
        state.before = None;
        self.slots.forget(Slot::Leads(run))?;
        saved.take_labels_into(&mut *self.slots, run, points, k)
    }
}

impl State for Lloyd<'_> {
    fn step(&mut self, active: &[usize]) -> Result<Vec<Progress>> {
        let points = self.problem.data.shape().points;
        let norm2 = self.problem.facts().norm2;
        let assigned = self.assign(active)?;
        let mut progress = vec![];
        let (mut moving, mut repeated) = (vec![], vec![]);
        for (Assigned { sums, weight, value, changed }, &run) in assigned.into_iter().zip(active) {
            let objective = self.model.objective(self.problem, value);
            // A cluster that lost its points starts anew, and the run goes on: unless nothing is left to explain.
            let settled = changed == 0
                && (weight.iter().all(|w| *w > 0.0) || self.model.explains_all(self.problem, objective));
            let state = &mut self.runs[run];
            let mut converged = settled && state.exact;
            if state.exact && weight.iter().all(|w| *w > 0.0) {
                // Points that go to and fro between equals gain nothing.
                converged |= objective >= state.settled - 1e-12 * norm2;
                state.settled = objective;
            }
            progress.push(Progress { objective, residual: changed as f64 / points as f64, converged });
            if converged {
                state.explained = self.model.rule().onmf.then_some(value);
                continue;
            }
            state.exact = false;
            if settled {
                repeated.push((progress.len() - 1, run, weight.clone()));
            }
            moving.push((run, sums, weight));
        }
        // Runs do not depend on each other.
        let rule = self.model.rule();
        let new = threads::in_order(moving, |(run, sums, weight)| {
            (run, rule.scored(rule.centroids(sums, &weight)), weight)
        });
        for (run, u, weight) in new {
            let state = &mut self.runs[run];
            let old = std::mem::replace(&mut state.u, u);
            // Leads were told by a pass for this run alone.
            if rule.adds_the_same && active.len() == 1 {
                state.before = Some(old);
            } else {
                room::give(old.data);
            }
            self.mend(run, &weight)?;
        }
        // Labels that repeat under approximate centroids are not yet those of the method.
        if !repeated.is_empty() {
            let runs: Vec<usize> = repeated.iter().map(|(_, run, _)| *run).collect();
            self.make_exact(&runs)?;
            for (at, run, weight) in repeated {
                // Where there are no more exact ones, repeated labels are the end.
                if self.runs[run].exact {
                    self.mend(run, &weight)?;
                } else {
                    progress[at].converged = true;
                }
            }
        }
        Ok(progress)
    }

    /// The last to move is a single point.
    fn share(&self, traces: &[Trace]) -> Option<f64> {
        Some(share::by_residual(traces, 1.0 / self.problem.data.shape().points as f64))
    }

    fn conclude(&mut self, run: usize) -> Result<Conclusion> {
        // Stopped before its first pass: points go to the centroids that it was to begin with.
        if self.slots.read(Slot::Labels(run))?.is_none() {
            self.slots.tell(&Assign::new(self.model.rule(), vec![self.runs[run].u.clone()], vec![run]))?;
        }
        let objective = self.model.final_objective(self.problem, &mut *self.slots, run)?;
        Ok(Conclusion {
            labels: self.slots.labels(run)?,
            directions: self.model.rule().unscored(self.runs[run].u.clone()),
            explained: self.runs[run].explained,
            objective,
            negativity: 0.0,
            orthogonality: 0.0,
        })
    }

    fn save(&mut self) -> Result<Saved> {
        let mut saved = Saved::default();
        let runs = (0..self.runs.len()).map(|run| self.save_run(run)).collect::<Result<Vec<_>>>()?;
        saved.put("runs", &runs);
        Ok(saved)
    }

    fn restore(&mut self, mut saved: Saved) -> Result<()> {
        let count = self.runs.len();
        let runs: Vec<Saved> = saved.take_if("runs", |runs: &Vec<Saved>| runs.len() == count)?;
        runs.into_iter().enumerate().try_for_each(|(run, saved)| self.restore_run(run, saved))
    }
}
