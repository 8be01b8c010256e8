//! Swaps: a point that is badly explained replaces the centroid whose loss costs least; a short descent; kept if
//! better. So a partition leaves a basin in which two centroids share a cluster and one has to serve two.
//!
//! Several tries go side by side through the same passes: one pass tells what every (point, centroid) pair would
//! leave, and the descents are one product with tries·k columns.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::super::lloyd::{Lloyd, Model};
use crate::checkpoint::{Saved, Unpacking};
use crate::error::Result;
use crate::matrix::{Mat, Rule, Store};
use crate::prepare::Problem;
use crate::run::{Conclusion, Progress, State};
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
pub(crate) struct Swaps<'a, M> {
    model: M,
    problem: &'a Problem<'a>,
    /// Holds the best labels under 0.
    store: Box<dyn Store + 'a>,
    u: Mat,
    objective: f64,
    generator: ChaCha8Rng,
    patience: Patience,
    failures: usize,
}

impl<'a, M: Model + Clone + 'a> Swaps<'a, M> {
    pub(crate) fn begin(
        model: M,
        problem: &'a Problem<'a>,
        labels: &[i32],
        stream: Stream,
        patience: Patience,
    ) -> Result<Self> {
        let mut generator = stream.generator();
        let mut store = problem.data.store()?;
        let start = Start::Labels(std::sync::Arc::new(labels.to_vec()));
        let u = match M::RULE {
            Rule::Kl => {
                store.set_labels(0, labels)?;
                model.centroids(store.sum_of_labels(problem.k, Rule::Kl, 0)?.sums, &[])
            }
            rule => centroids(&start, problem, &mut *store, rule, &mut generator)?,
        };
        let mut swaps = Swaps {
            model,
            problem,
            store,
            u: u.clone(),
            objective: if M::MOST { f64::NEG_INFINITY } else { f64::INFINITY },
            generator,
            patience,
            failures: 0,
        };
        // From where the descent itself ends, so that what swaps gain is theirs.
        swaps.descend(vec![u])?;
        Ok(swaps)
    }

    fn better(a: f64, b: f64) -> bool {
        if M::MOST { a > b } else { a < b }
    }

    fn best(reached: &[f64]) -> usize {
        (1..reached.len())
            .fold(0, |best, run| if Self::better(reached[run], reached[best]) { run } else { best })
    }

    /// Runs all starts a few steps, the most promising to its end, and keeps that if it is better.
    fn descend(&mut self, starts: Vec<Mat>) -> Result<bool> {
        let runs = starts.into_iter().map(|u| (u, self.generator.clone())).collect::<Vec<_>>();
        let count = runs.len();
        let store = self.problem.data.store()?;
        let mut lloyd = Lloyd::from_centroids(self.model.clone(), self.problem, store, runs);
        let mut active: Vec<usize> = (0..count).collect();
        let mut reached = vec![f64::NAN; count];
        let mut ended = vec![false; count];
        for step in 0..LONG {
            if step == SHORT {
                let best = Self::best(&reached);
                active = if ended[best] { vec![] } else { vec![best] };
            }
            if active.is_empty() {
                break;
            }
            let progress = lloyd.step(&active)?;
            for (&run, p) in active.iter().zip(&progress) {
                (reached[run], ended[run]) = (p.objective, p.converged);
            }
            active.retain(|&run| !ended[run]);
        }
        let best = Self::best(&reached);
        let objective = lloyd.conclude(best)?.objective.unwrap_or(reached[best]);
        // A gain must be more than rounding.
        let gain = (objective - self.objective).abs();
        if !Self::better(objective, self.objective) || gain <= 1e-12 * objective.abs() {
            return Ok(false);
        }
        self.objective = objective;
        self.u = lloyd.runs.swap_remove(best).u;
        self.store.set_labels(0, &lloyd.store.labels(best)?)?;
        Ok(true)
    }
}

impl<'a, M: Model + Clone + 'a> State for Swaps<'a, M> {
    fn step(&mut self, _runs: &[usize]) -> Result<Vec<Progress>> {
        let count = self.patience.together;
        self.store.unsettle(M::RULE)?;
        self.store.settle(&self.u, M::RULE)?;
        let fractions: Vec<f64> = (0..count).map(|_| self.generator.random()).collect();
        let points: Vec<usize> = self.store.sample(&fractions)?.into_iter().flatten().collect();
        // Where every point is explained there is nothing to swap for.
        let mut found = false;
        if !points.is_empty() {
            let candidates = self.model.of_points(self.problem.data.gather(&points)?);
            let left = self.store.replace(&self.u, &candidates, M::RULE)?;
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

    fn conclude(&mut self, run: usize) -> Result<Conclusion> {
        let labels = self.store.labels(0)?;
        self.store.set_labels(run, &labels)?;
        let objective = Some(self.objective);
        Ok(Conclusion {
            centroids: self.model.directions(&self.u),
            objective,
            negativity: 0.0,
            orthogonality: 0.0,
        })
    }

    fn store(&mut self) -> &mut dyn Store {
        &mut *self.store
    }

    fn save(&mut self) -> Result<Saved> {
        let position = self.generator.get_word_pos();
        Ok(Saved {
            words: vec![position as u64, (position >> 64) as u64, self.failures as u64],
            numbers: vec![self.u.data.clone(), vec![self.objective]],
            labels: vec![self.store.labels(0)?],
        })
    }

    fn restore(&mut self, saved: Saved) -> Result<()> {
        let mut saved = Unpacking::new(saved);
        self.generator.set_word_pos(u128::from(saved.word()?) | u128::from(saved.word()?) << 64);
        self.failures = saved.word()? as usize;
        self.u.data = saved.numbers(self.u.data.len())?;
        self.objective = saved.number()?;
        self.store.set_labels(0, &saved.labels(self.problem.data.shape().points)?)
    }
}
