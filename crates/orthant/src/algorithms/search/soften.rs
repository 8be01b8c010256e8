//! A descent that begins softly: while the shares of points in clusters sharpen, all clusters see all points, and poor
//! starts find their way to better basins (deterministic annealing). Then the descent itself.

use std::sync::Arc;

use rand_chacha::ChaCha8Rng;

use super::super::lloyd::{Lloyd, Model};
use super::super::rough;
use crate::error::Result;
use crate::matrix::passes::{Soften, SumOfLabels};
use crate::matrix::{Mat, Rule};
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

impl Sharpening {
    /// From softer shares, at half the pace.
    pub(super) fn slowly(self) -> Self {
        Sharpening { from: 0.8 * self.from, steps: 2 * self.steps, ..self }
    }
}

pub(super) struct Softened<'a> {
    model: Arc<dyn Model>,
    problem: &'a Problem<'a>,
    /// How sharp shares are in each step, and how many of these are taken.
    soft: Vec<f64>,
    taken: usize,
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

/// Runs from these centroids that begin softly, at most `limit` steps of the descent each. Several on sparse data do all of it in
/// float32, as far as that leads.
pub(super) fn begin<'a>(
    model: Arc<dyn Model>,
    problem: &'a Problem<'a>,
    runs: Vec<(Mat, ChaCha8Rng)>,
    sharpening: Sharpening,
    limit: usize,
) -> Result<Box<dyn State + 'a>> {
    let soft = sharpening.in_units_of(unit(&*model, problem)?);
    if rough::better_from_centroids(problem, runs.len()) {
        return Ok(Box::new(rough::from_centroids(model, problem, runs, soft, limit)?));
    }
    Ok(Box::new(Softened { model, problem, soft, taken: 0, runs, descent: None }))
}

impl Sharpening {
    /// How sharp the shares are in each step.
    fn in_units_of(&self, unit: f64) -> Vec<f64> {
        let &Sharpening { from, to, steps } = self;
        let share = |step: usize| step as f64 / (steps.max(2) - 1) as f64;
        (0..steps).map(|step| from * (to / from).powf(share(step)) / unit).collect()
    }
}

impl<'a> Softened<'a> {
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
                Box::new(Lloyd::from_centroids(model, self.problem, runs)?)
            }
        };
        Ok(&mut **self.descent.insert(begun))
    }
}

impl State for Softened<'_> {
    fn step(&mut self, active: &[usize]) -> Result<Vec<Progress>> {
        let Some(&sharpness) = self.soft.get(self.taken) else { return self.descent()?.step(active) };
        let runs: Vec<&Mat> = self.runs.iter().map(|(u, _)| u).collect();
        let new = soften(self.problem, self.model.rule(), sharpness, &runs)?;
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
        let steps = self.soft.len();
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
