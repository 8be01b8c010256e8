//! A descent that begins softly: while the shares of points in clusters sharpen, all clusters see all points, and poor
//! starts find their way to better basins (deterministic annealing). Then the descent itself.

use std::sync::Arc;

use rand_chacha::ChaCha8Rng;

use super::super::lloyd::Model;
use super::super::rough;
use crate::error::Result;
use crate::matrix::passes::{Soften, SumOfLabels};
use crate::matrix::{Mat, Rule, threads};
use crate::prepare::Problem;
use crate::run::{Conclusion, Progress, State};
use crate::saved::{Saved, misfit};

/// How shares sharpen: from, to, in so many steps, by the same factor each.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sharpening {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) steps: usize,
}

pub(super) struct Softened<'a> {
    model: Arc<dyn Model>,
    problem: &'a Problem<'a>,
    sharpening: Sharpening,
    /// What sharpness is relative to.
    unit: f64,
    taken: usize,
    /// Steps of the descent at most.
    limit: usize,
    /// Centroids as points are multiplied with them.
    runs: Vec<(Mat, ChaCha8Rng)>,
    descent: Option<Box<dyn State + 'a>>,
}

/// What all points have on the average: sharpness means the same whatever the data.
fn unit(model: &dyn Model, problem: &Problem) -> Result<f64> {
    let (rule, facts) = (model.rule(), problem.facts());
    if rule.information || model.most() {
        // A point's own size, or the largest cosine.
        return Ok(1.0);
    }
    if !rule.distance {
        return Ok(facts.norm2 / facts.usable_weight);
    }
    // What one centre leaves.
    let mut slots = problem.data.slots()?;
    slots.set_labels(0, &vec![0; problem.data.shape().points])?;
    let weight = match problem.data.weights() {
        Some(weights) => weights.iter().sum(),
        None => problem.data.shape().points as f64,
    };
    let mean2 = slots.sweep(&SumOfLabels { k: 1, rule, run: 0 })?.1.norm2() / (weight * weight);
    let variance = facts.norm2 / weight - mean2;
    Ok(if variance > 0.0 { variance } else { 1.0 })
}

/// One step of some runs in one pass: their new centroids, and what the old ones leave.
fn soften(problem: &Problem, rule: Rule, sharpness: f64, runs: &[&Mat]) -> Result<Vec<(Mat, f64)>> {
    let pass = Soften::new(rule, runs, sharpness);
    let ((weight, left), sums) = problem.data.slots()?.sweep(&pass)?;
    let new = |(run, left): (usize, f64)| {
        let columns = run * problem.k..(run + 1) * problem.k;
        let sums = sums.columns(columns.clone());
        (rule.scored(rule.centroids(sums, &weight.0[columns])), left)
    };
    Ok(left.0.into_iter().enumerate().map(new).collect())
}

impl<'a> Softened<'a> {
    pub(super) fn begin(
        model: Arc<dyn Model>,
        problem: &'a Problem<'a>,
        runs: Vec<(Mat, ChaCha8Rng)>,
        sharpening: Sharpening,
        limit: usize,
    ) -> Result<Self> {
        let unit = unit(&*model, problem)?;
        Ok(Softened { model, problem, sharpening, unit, taken: 0, limit, runs, descent: None })
    }

    fn sharpness(&self) -> f64 {
        let Sharpening { from, to, steps } = self.sharpening;
        let share = self.taken as f64 / (steps.max(2) - 1) as f64;
        from * (to / from).powf(share) / self.unit
    }

    /// The objective of what the nearest centroids leave.
    fn objective(&self, left: f64) -> Result<f64> {
        Ok(match self.model.most() {
            true => self.problem.facts().usable_weight - left,
            false if self.model.rule().information => self.problem.information()? + left,
            false => left,
        })
    }

    /// The descent itself, which begins when it is first asked for.
    fn descent(&mut self) -> Result<&mut (dyn State + 'a)> {
        let begun = match self.descent.take() {
            Some(begun) => begun,
            None => {
                let (model, runs) = (self.model.clone(), self.runs.clone());
                rough::from_centroids(model, self.problem, runs, self.limit)?
            }
        };
        Ok(&mut **self.descent.insert(begun))
    }
}

impl State for Softened<'_> {
    fn step(&mut self, active: &[usize]) -> Result<Vec<Progress>> {
        if self.taken == self.sharpening.steps {
            return self.descent()?.step(active);
        }
        let (problem, rule, sharpness) = (self.problem, self.model.rule(), self.sharpness());
        let runs: Vec<&Mat> = self.runs.iter().map(|(u, _)| u).collect();
        let new = if problem.is_apart(runs.len()) {
            let each = threads::apart(runs, |u| soften(problem, rule, sharpness, &[u]));
            each.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect()
        } else {
            soften(problem, rule, sharpness, &runs)?
        };
        self.taken += 1;
        let mut progress = vec![];
        for (run, (u, left)) in new.into_iter().enumerate() {
            self.runs[run].0 = u;
            progress.push(Progress { objective: self.objective(left)?, residual: 1.0, converged: false });
        }
        Ok(progress)
    }

    fn conclude(&mut self, run: usize) -> Result<Conclusion> {
        self.descent()?.conclude(run)
    }

    fn save(&mut self) -> Result<Saved> {
        let mut saved = Saved::default();
        saved.put("taken", &self.taken);
        let centroids: Vec<Mat> = self.runs.iter().map(|(u, _)| u.clone()).collect();
        saved.put("centroids", &centroids);
        let descent = self.descent.as_mut().map(|descent| descent.save()).transpose()?;
        saved.put("descent", &descent);
        Ok(saved)
    }

    fn restore(&mut self, mut saved: Saved) -> Result<()> {
        let steps = self.sharpening.steps;
        self.taken = saved.take_if("taken", |&taken: &usize| taken <= steps)?;
        let centroids: Vec<Mat> = saved.take("centroids")?;
        let fits = |(new, (old, _)): (&Mat, &(Mat, ChaCha8Rng))| {
            (new.rows, new.cols) == (old.rows, old.cols) && new.data.iter().all(|x| x.is_finite())
        };
        if centroids.len() != self.runs.len() || !centroids.iter().zip(&self.runs).all(fits) {
            return Err(misfit());
        }
        self.runs.iter_mut().zip(centroids).for_each(|((u, _), new)| *u = new);
        self.descent = None;
        match saved.take::<Option<Saved>>("descent")? {
            Some(descent) => self.descent()?.restore(descent),
            None => Ok(()),
        }
    }
}
