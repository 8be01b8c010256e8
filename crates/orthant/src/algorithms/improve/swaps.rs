//! Swaps: a point that is badly explained replaces the centroid whose loss costs least; a short descent; kept if
//! better. So a partition leaves a basin in which two centroids share a cluster and one has to serve two.
//!
//! Several tries go side by side through the same passes: one pass tells what every (point, centroid) pair would
//! leave, and the descents are one product with tries·k columns.

use std::sync::Arc;

use rand_chacha::ChaCha8Rng;

use super::super::lloyd::{Lloyd, Model};
use crate::error::Result;
use crate::matrix::passes::{Information, Replace, Settle, Unsettle};
use crate::matrix::{Mat, Slots};
use crate::prepare::Problem;
use crate::random::uniform;
use crate::run::{Conclusion, Progress, State};
use crate::saved::Saved;
use crate::start::residual::left;
use crate::start::{Start, Stream, centroids};

/// Passes of a descent before only the most promising try goes on.
const SHORT: usize = 6;
/// Limit of the descent that goes on to its end.
const LONG: usize = 100;

/// How long to go on trying.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// Tries side by side.
    pub together: usize,
    /// Tries in a row without success that end it.
    pub failures: usize,
}

impl Patience {
    /// About 4k tries that fail end it.
    pub(crate) fn normal(k: usize) -> Self {
        Patience { together: (128 / k).clamp(2, 8), failures: 4 * k }
    }
}

/// Swaps until so many in a row have failed.
pub(crate) struct Swaps<'a> {
    model: Arc<dyn Model>,
    problem: &'a Problem<'a>,
    /// What the best centroids leave of each point.
    slots: Box<dyn Slots + 'a>,
    /// The best so far.
    labels: Vec<i32>,
    u: Mat,
    objective: f64,
    generator: ChaCha8Rng,
    patience: Patience,
    failures: usize,
}

impl<'a> Swaps<'a> {
    /// With the usual patience.
    pub(crate) fn of_labels(
        model: Arc<dyn Model>,
        problem: &'a Problem<'a>,
        labels: &[i32],
        stream: Stream,
    ) -> Result<Self> {
        Self::begin(model, problem, labels, stream, Patience::normal(problem.k))
    }

    pub(crate) fn begin(
        model: Arc<dyn Model>,
        problem: &'a Problem<'a>,
        labels: &[i32],
        stream: Stream,
        patience: Patience,
    ) -> Result<Self> {
        let mut generator = stream.generator();
        let mut slots = problem.data.slots()?;
        let start = Start::Labels(Arc::new(labels.to_vec()));
        let rule = model.rule();
        if rule.information {
            slots.tell(&Information)?;
        }
        let u = rule.scored(centroids(&start, problem, &mut *slots, rule, &mut generator)?);
        let mut swaps = Swaps {
            objective: if model.most() { f64::NEG_INFINITY } else { f64::INFINITY },
            model,
            problem,
            slots,
            labels: labels.to_vec(),
            u: u.clone(),
            generator,
            patience,
            failures: 0,
        };
        // From where the descent itself ends, so that what swaps gain is theirs.
        swaps.descend(vec![u])?;
        Ok(swaps)
    }

    fn better(&self, a: f64, b: f64) -> bool {
        if self.model.most() { a > b } else { a < b }
    }

    fn best(&self, reached: &[f64]) -> usize {
        (1..reached.len())
            .fold(0, |best, run| if self.better(reached[run], reached[best]) { run } else { best })
    }

    /// Runs all starts a few steps, the most promising to its end, and keeps that if it is better.
    fn descend(&mut self, starts: Vec<Mat>) -> Result<bool> {
        let runs = starts.into_iter().map(|u| (u, self.generator.clone())).collect::<Vec<_>>();
        let count = runs.len();
        let mut lloyd = Lloyd::from_centroids(self.model.clone(), self.problem, runs)?;
        let mut active: Vec<usize> = (0..count).collect();
        let mut reached = vec![f64::NAN; count];
        let mut ended = vec![false; count];
        for step in 0..LONG {
            if step == SHORT {
                let best = self.best(&reached);
                active = if ended[best] { vec![] } else { vec![best] };
            }
            // After a pass there is something to compare with.
            if active.is_empty() || (step > 0 && self.problem.is_to_end()) {
                break;
            }
            let progress = lloyd.step(&active)?;
            for (&run, p) in active.iter().zip(&progress) {
                (reached[run], ended[run]) = (p.objective, p.converged);
            }
            active.retain(|&run| !ended[run]);
        }
        let best = self.best(&reached);
        let conclusion = lloyd.conclude(best)?;
        let objective = conclusion.objective.unwrap_or(reached[best]);
        // A gain must be more than rounding.
        let gain = (objective - self.objective).abs();
        if !self.better(objective, self.objective) || gain <= 1e-12 * objective.abs() {
            return Ok(false);
        }
        self.objective = objective;
        self.u = lloyd.runs.swap_remove(best).u;
        self.labels = conclusion.labels;
        Ok(true)
    }
}

impl State for Swaps<'_> {
    fn step(&mut self, _runs: &[usize]) -> Result<Vec<Progress>> {
        let count = self.patience.together;
        let rule = self.model.rule();
        self.slots.tell(&Unsettle { rule })?;
        self.slots.tell(&Settle::new(self.u.clone(), rule))?;
        let fractions: Vec<f64> = (0..count).map(|_| uniform(&mut self.generator)).collect();
        let points: Vec<usize> = left(&mut *self.slots, &fractions)?.into_iter().flatten().collect();
        // Where every point is explained there is nothing to swap for.
        let mut found = false;
        if !points.is_empty() {
            let candidates = rule.scored(rule.of_points(self.problem.data.gather(&points)?));
            let left = Replace::left(&self.slots.tell(&Replace::new(&self.u, &candidates, rule))?);
            let starts = (0..points.len()).map(|c| {
                let out = (1..self.problem.k).fold(0, |a, b| if left[(c, b)] < left[(c, a)] { b } else { a });
                let mut u = self.u.clone();
                u.set_column(out, &candidates.column(c));
                u
            });
            found = self.descend(starts.collect())?;
        }
        self.failures = if found { 0 } else { self.failures + count };
        let converged = points.is_empty() || self.failures >= self.patience.failures;
        let residual = 1.0 - (self.failures as f64 / self.patience.failures as f64).min(1.0);
        Ok(vec![Progress { objective: self.objective, residual, converged }])
    }

    fn conclude(&mut self, _run: usize) -> Result<Conclusion> {
        Ok(Conclusion {
            labels: self.labels.clone(),
            directions: self.model.rule().unscored(self.u.clone()),
            explained: None,
            objective: Some(self.objective),
            negativity: 0.0,
            orthogonality: 0.0,
        })
    }

    fn save(&mut self) -> Result<Saved> {
        let mut saved = Saved::default();
        saved.put("random", &self.generator.get_word_pos());
        saved.put("failures", &self.failures);
        saved.put("centroids", &self.u);
        saved.put("objective", &self.objective);
        saved.put("labels", &self.labels);
        Ok(saved)
    }

    fn restore(&mut self, mut saved: Saved) -> Result<()> {
        self.generator.set_word_pos(saved.take("random")?);
        self.failures = saved.take("failures")?;
        self.u = saved.take_mat("centroids", self.u.rows, self.u.cols)?;
        self.objective = saved.take_finite("objective")?;
        self.labels = saved.take_labels("labels", self.labels.len(), self.problem.k)?;
        Ok(())
    }
}
