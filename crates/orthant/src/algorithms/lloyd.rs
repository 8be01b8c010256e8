//! What EM-ONMF, KL-ONMF, k-means and spherical k-means share: assign every point to a centroid, sum the
//! points of each cluster in the same pass, make new centroids of the sums, until no label changes.
//!
//! All runs of a batch go through one pass: their centroids stand side by side.

use rand_chacha::ChaCha8Rng;

use crate::checkpoint::{Saved, Unpacking};
use crate::error::Result;
use crate::matrix::data::{Assigned, Followed, Remembered};
use crate::matrix::{Mat, Rule, Store, in_order};
use crate::prepare::Problem;
use crate::run::{Conclusion, Progress, State};
use crate::start::{Start, Stream, centroids};

/// What they differ in.
pub(super) trait Model: Send + Sync {
    const RULE: Rule;
    /// Whether a larger objective is better.
    const MOST: bool = false;
    /// New centroids (features × k) from the sums of one run; columns of empty clusters are mended after.
    fn centroids(&self, sums: Mat, weight: &[f64]) -> Mat;
    /// Points (columns) as centroids.
    fn of_points(&self, points: Mat) -> Mat {
        points.with_unit_columns()
    }
    /// What the centroids say of the clusters' directions: a guess for the finish.
    fn directions(&self, centroids: &Mat) -> Mat {
        centroids.clone()
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
        _store: &mut dyn Store,
        _runs: &[usize],
        _guesses: &[&Mat],
    ) -> Result<Option<Vec<Mat>>> {
        Ok(None)
    }
    /// The objective of a run's partition, where it is not that of the last pass.
    fn final_objective(
        &self,
        _problem: &Problem,
        _store: &mut dyn Store,
        _run: usize,
    ) -> Result<Option<f64>> {
        Ok(None)
    }
}

pub(super) struct Run {
    /// Centroids, features × k.
    pub(super) u: Mat,
    generator: ChaCha8Rng,
    /// Whether `u` is exact for the present labels.
    exact: bool,
    /// The objective when it was last exact; infinite before.
    settled: f64,
    /// What the partition explains in the sense of ONMF, once the run has ended under exact directions.
    explained: Option<f64>,
}

impl Run {
    fn new(u: Mat, generator: ChaCha8Rng) -> Self {
        Run { u, generator, exact: false, settled: f64::INFINITY, explained: None }
    }
}

pub(super) struct Lloyd<'a, M> {
    model: M,
    problem: &'a Problem<'a>,
    pub(super) store: Box<dyn Store + 'a>,
    pub(super) runs: Vec<Run>,
}

impl<'a, M: Model> Lloyd<'a, M> {
    pub(super) fn begin(
        model: M,
        problem: &'a Problem<'a>,
        start: &Start,
        streams: &[Stream],
    ) -> Result<Self> {
        start.check(problem)?;
        let mut store = problem.data.store()?;
        let mut runs = vec![];
        for stream in streams {
            let mut generator = stream.generator();
            let u = centroids(start, problem, &mut *store, M::RULE, &mut generator)?;
            runs.push(Run::new(u, generator));
        }
        Ok(Lloyd { model, problem, store: problem.data.store()?, runs })
    }

    /// From given centroids, one set for each run; the store may hold labels already.
    pub(super) fn from_centroids(
        model: M,
        problem: &'a Problem<'a>,
        store: Box<dyn Store + 'a>,
        runs: Vec<(Mat, ChaCha8Rng)>,
    ) -> Self {
        let runs = runs.into_iter().map(|(u, generator)| Run::new(u, generator)).collect();
        Lloyd { model, problem, store, runs }
    }

    /// Steps all runs until no label changes, at most so often; gives back the store with their labels.
    pub(super) fn into_labels(mut self, steps: usize) -> Result<Box<dyn Store + 'a>> {
        let mut active: Vec<usize> = (0..self.runs.len()).collect();
        for _ in 0..steps {
            let progress = self.step(&active)?;
            active =
                active.iter().zip(&progress).filter(|(_, p)| !p.converged).map(|(&run, _)| run).collect();
            if active.is_empty() {
                break;
            }
        }
        self.forget()?;
        Ok(self.store)
    }

    /// An empty cluster starts anew from a random point. [P, Alg. 1: "randomly transfer a point"]
    fn mend(&mut self, run: usize, weight: &[f64]) -> Result<()> {
        for (i, _) in weight.iter().enumerate().filter(|(_, w)| **w <= 0.0) {
            let point = self.problem.draw(1, M::RULE == Rule::Euclid, &mut self.runs[run].generator)?;
            let column = self.model.of_points(self.problem.data.gather(&point)?);
            self.runs[run].u.set_column(i, &column.data);
        }
        Ok(())
    }
}

impl<M: Model> State for Lloyd<'_, M> {
    fn step(&mut self, active: &[usize]) -> Result<Vec<Progress>> {
        let points = self.problem.data.shape().points;
        let norm2 = self.problem.facts().norm2;
        let u: Vec<&Mat> = active.iter().map(|&run| &self.runs[run].u).collect();
        let assigned = self.store.assign_and_sum(&u, M::RULE, active)?;
        let mut progress = vec![];
        let (mut moving, mut repeated) = (vec![], vec![]);
        for (Assigned { sums, weight, value, changed }, &run) in assigned.into_iter().zip(active) {
            let changed = changed[0];
            let value: f64 = value.iter().sum();
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
                state.explained = (M::RULE == Rule::Power).then_some(value);
                continue;
            }
            state.exact = false;
            if settled {
                repeated.push((progress.len() - 1, run, weight.clone()));
            }
            moving.push((run, sums, weight));
        }
        // Runs do not depend on each other.
        let model = &self.model;
        let new = in_order(moving, |(run, sums, weight)| (run, model.centroids(sums, &weight), weight));
        for (run, u, weight) in new {
            let old = std::mem::replace(&mut self.runs[run].u, u);
            self.store.recycle(run, old);
            self.mend(run, &weight)?;
        }
        // Labels that repeat under approximate centroids are not yet those of the method.
        if !repeated.is_empty() {
            let runs: Vec<usize> = repeated.iter().map(|(_, run, _)| *run).collect();
            let guesses: Vec<&Mat> = runs.iter().map(|&run| &self.runs[run].u).collect();
            match self.model.exact(self.problem, &mut *self.store, &runs, &guesses)? {
                Some(exact) => {
                    for (exact, (_, run, weight)) in exact.into_iter().zip(&repeated) {
                        self.runs[*run].u = exact;
                        self.runs[*run].exact = true;
                        self.mend(*run, weight)?;
                    }
                }
                None => repeated.iter().for_each(|(r, ..)| progress[*r].converged = true),
            }
        }
        Ok(progress)
    }

    fn conclude(&mut self, run: usize) -> Result<Conclusion> {
        let objective = self.model.final_objective(self.problem, &mut *self.store, run)?;
        let centroids = self.model.directions(&self.runs[run].u);
        Ok(Conclusion { centroids, objective, negativity: 0.0, orthogonality: 0.0 })
    }

    fn explained(&self, run: usize) -> Option<f64> {
        self.runs[run].explained
    }

    fn store(&mut self) -> &mut dyn Store {
        &mut *self.store
    }

    fn save(&mut self) -> Result<Saved> {
        let mut saved = Saved::default();
        for (at, run) in self.runs.iter().enumerate() {
            let position = run.generator.get_word_pos();
            saved.words.extend([u64::from(run.exact), position as u64, (position >> 64) as u64]);
            saved.numbers.push(run.u.data.clone());
            saved.numbers.push(vec![run.settled, run.explained.unwrap_or(f64::NAN)]);
            saved.labels.push(self.store.labels(at)?);
            let memory = self.store.remembered(at)?;
            let followed = memory.as_ref().and_then(|m| m.followed.as_ref());
            saved.words.extend([u64::from(memory.is_some()), followed.map_or(u64::MAX, |f| f.passes as u64)]);
            if let Some(Remembered { u, leads, followed, .. }) = memory {
                saved.numbers.push(u.data);
                saved.numbers.extend(followed.map(|f| f.sums.data));
                saved.numbers.push(leads);
            }
        }
        Ok(saved)
    }

    fn restore(&mut self, saved: Saved) -> Result<()> {
        self.unpack(&mut Unpacking::new(saved))
    }
}

impl<M: Model> Lloyd<'_, M> {
    /// Drops what passes remember of the points, when there will be no further one.
    pub(super) fn forget(&mut self) -> Result<()> {
        for run in 0..self.runs.len() {
            let labels = self.store.labels(run)?;
            self.store.set_labels(run, &labels)?;
        }
        Ok(())
    }

    pub(super) fn unpack(&mut self, saved: &mut Unpacking) -> Result<()> {
        let points = self.problem.data.shape().points;
        for (at, run) in self.runs.iter_mut().enumerate() {
            run.exact = saved.word()? == 1;
            run.generator.set_word_pos(u128::from(saved.word()?) | u128::from(saved.word()?) << 64);
            run.u.data = saved.numbers(run.u.data.len())?;
            let reached = saved.numbers(2)?;
            run.settled = reached[0];
            run.explained = Some(reached[1]).filter(|x| !x.is_nan());
            self.store.set_labels(at, &saved.labels(points)?)?;
            let (known, passes) = (saved.word()? == 1, saved.word()?);
            if known {
                let (rows, cols) = (run.u.rows, run.u.cols);
                let mut mat = || -> Result<Mat> { Ok(Mat { rows, cols, data: saved.numbers(rows * cols)? }) };
                let (u, sums) = (mat()?, if passes == u64::MAX { None } else { Some(mat()?) });
                let followed = sums.map(|sums| Followed { sums, passes: passes as usize });
                let leads = saved.numbers(points)?;
                self.store.remember(at, Remembered { rule: M::RULE, u, leads, followed })?;
            }
        }
        Ok(())
    }
}
