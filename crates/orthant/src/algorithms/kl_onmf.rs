//! KL-ONMF: ONMF with the Kullback–Leibler divergence, for counts. [P, Sec. 5 asks for it]
//!
//! Problem: `min D_KL(M | UV)` over U, V ≥ 0 with one nonzero in each column of V. With every uᵢ summing to 1
//! this is a hard mixture of multinomials, and all steps have closed forms:
//! `vⱼ = Σ_f m_fj`; a point goes to `argmaxᵢ Σ_f m_f log u_fi`; `uᵢ ∝` the sum of its points.
//! Cost of an iteration: one pass over M. (VVᵀ = I is a matter of scaling the rows of V, and comes at the finish.)
//!
//! Two things decide how good the answer is:
//! - A centroid that lacks a word forbids it (log 0), and points freeze where they are. In the loop a tenth of the
//!   mean entry is added to every centroid; the objective that is reported, and compared between runs, is the
//!   divergence of the final partition without it. With smoothing it need not fall at every step.
//! - Random starts go through spherical k-means: single points are poor distributions over words.

use rand_chacha::ChaCha8Rng;

use super::lloyd::{Lloyd, Model};
use super::spherical_k_means::Cosines;
use super::{Algorithm, apart};
use crate::error::Result;
use crate::matrix::passes::SumOfLabels;
use crate::matrix::{Mat, Rule, Slots, threads};
use crate::prepare::Problem;
use crate::run::State;
use crate::start::{Start, Stream};

/// KL-ONMF with its parameters.
#[derive(Debug, Clone, Copy)]
pub struct KlOnmf {
    /// Stop after this many iterations.
    pub max_iterations: usize,
    /// What is added to the centroids in the loop, relative to their mean entry.
    pub smoothing: f64,
}

#[derive(Clone)]
pub(super) struct Multinomials {
    /// `Σ w·Σ m log(m/Σm)`: the divergence is this less `Σ w·mᵀ log u`.
    information: f64,
    smoothing: f64,
}

impl Multinomials {
    pub(super) fn new(problem: &Problem, smoothing: f64) -> Result<Self> {
        Ok(Multinomials { information: problem.information()?, smoothing })
    }
}

/// What is added to the centroids unless said otherwise, relative to their mean entry.
pub(crate) const SMOOTHING: f64 = 0.1;

/// Logarithms of the clusters' sums as distributions, after adding `smoothing` times their mean entry to all; a
/// zero column becomes uniform. As the mean is over all clusters, small ones are smoothed more than large ones.
pub(crate) fn logarithms(mut sums: Mat, smoothing: f64) -> Mat {
    let mut totals = vec![0.0; sums.cols];
    // A feature that no point has is none: it must not change the mean.
    let mut used = 0;
    for row in sums.data.chunks_exact(sums.cols.max(1)) {
        totals.iter_mut().zip(row).for_each(|(total, x)| *total += x);
        used += usize::from(row.iter().any(|x| *x > 0.0));
    }
    let mean = totals.iter().sum::<f64>() / (used.max(1) * sums.cols) as f64;
    let added = if mean > 0.0 { smoothing * mean } else { 1.0 };
    let whole: Vec<f64> = totals.iter().map(|total| total + added * used.max(1) as f64).collect();
    // Most words are missing from most clusters: one logarithm for each cluster serves them all.
    let absent: Vec<f64> = whole.iter().map(|whole| (added / whole).ln()).collect();
    for row in sums.data.chunks_exact_mut(sums.cols.max(1)) {
        for ((x, whole), absent) in row.iter_mut().zip(&whole).zip(&absent) {
            *x = if *x > 0.0 { ((*x + added) / whole).ln() } else { *absent };
        }
    }
    sums
}

impl Model for Multinomials {
    const RULE: Rule = Rule::Kl;

    fn centroids(&self, sums: Mat, _weight: &[f64]) -> Mat {
        logarithms(sums, self.smoothing)
    }

    fn of_points(&self, mut points: Mat) -> Mat {
        // Long and short points alike.
        let totals = (0..points.cols).map(|i| points.column(i).iter().sum::<f64>());
        let inverse: Vec<f64> = totals.map(|total| if total > 0.0 { 1.0 / total } else { 0.0 }).collect();
        points.scale_columns(&inverse);
        logarithms(points, self.smoothing)
    }

    fn directions(&self, centroids: &Mat) -> Mat {
        centroids.clone().map(f64::exp)
    }

    fn objective(&self, _problem: &Problem, value: f64) -> f64 {
        (self.information - value).max(0.0)
    }

    fn final_objective(&self, problem: &Problem, slots: &mut dyn Slots, run: usize) -> Result<Option<f64>> {
        let sums = slots.sweep(&SumOfLabels { k: problem.k, rule: Rule::Kl, run })?.1;
        // Σ_{j∈πᵢ} mⱼᵀ log uᵢ = Σ_f s log(s/Σs) for the cluster's sum s.
        let log = |x: f64| if x > 0.0 { x * x.ln() } else { 0.0 };
        let explained: f64 = (0..sums.cols)
            .map(|i| {
                let column = sums.column(i);
                column.iter().map(|&x| log(x)).sum::<f64>() - log(column.iter().sum())
            })
            .sum();
        Ok(Some((self.information - explained).max(0.0)))
    }
}

impl KlOnmf {
    /// Runs side by side.
    fn begin_runs<'a>(
        &self,
        problem: &'a Problem<'a>,
        start: &Start,
        streams: &[Stream],
    ) -> Result<Lloyd<'a, Multinomials>> {
        let mut slots = match start {
            Start::Labels(labels) => {
                let mut slots = problem.data.slots()?;
                for run in 0..streams.len() {
                    slots.set_labels(run, labels)?;
                }
                slots
            }
            _ => {
                let steps = if start.is_random() { self.max_iterations } else { 1 };
                Lloyd::begin(Cosines, problem, start, streams)?.into_slots(steps)?
            }
        };
        let model = Multinomials::new(problem, self.smoothing)?;
        let mut runs: Vec<(Mat, ChaCha8Rng)> = vec![];
        for (run, stream) in streams.iter().enumerate() {
            let mut generator = stream.generator();
            // The start took the first numbers of the stream.
            generator.set_word_pos(1 << 40);
            let sums = slots.sweep(&SumOfLabels { k: problem.k, rule: Rule::Kl, run })?.1;
            runs.push((logarithms(sums, self.smoothing), generator));
        }
        Ok(Lloyd::from_centroids(model, problem, runs)?.with_slots(slots))
    }
}

impl Algorithm for KlOnmf {
    fn begin<'a>(
        &self,
        problem: &'a Problem<'a>,
        start: &Start,
        streams: &[Stream],
    ) -> Result<Box<dyn State + 'a>> {
        start.check(problem)?;
        if !apart::better(problem, streams) {
            return Ok(Box::new(self.begin_runs(problem, start, streams)?));
        }
        // Their starts are runs as well; what they all need is found before.
        problem.information()?;
        let runs = threads::apart(streams.to_vec(), |stream| self.begin_runs(problem, start, &[stream]));
        apart::of(problem, runs.into_iter().collect::<Result<_>>()?)
    }

    fn max_iterations(&self, _start: &Start) -> usize {
        self.max_iterations
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smoothed_logarithms_are_of_distributions() {
        let columns = Mat::from_fn(4, 3, |f, i| if i == 2 { 0.0 } else { (f * i + 1) as f64 });
        let logs = logarithms(columns, 0.1);
        for i in 0..3 {
            let sum: f64 = logs.column(i).iter().map(|x| x.exp()).sum();
            assert!((sum - 1.0).abs() < 1e-14, "column {i} sums to {sum}");
            assert!(logs.column(i).iter().all(|x| x.is_finite()));
        }
    }
}
