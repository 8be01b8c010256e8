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

use std::sync::Arc;

use rand_chacha::ChaCha8Rng;

use super::improve::Swaps;
use super::lloyd::{Lloyd, Model};
use super::parameters::{declare, real, whole};
use super::rough::Roughly;
use super::spherical_k_means::Cosines;
use super::{Algorithm, ONMF, rough};
use crate::error::Result;
use crate::matrix::passes::SumOfLabels;
use crate::matrix::rough::Origin;
use crate::matrix::{Mat, Rule, Slots, rule};
use crate::prepare::Problem;
use crate::run::State;
use crate::start::{Start, Stream};

declare! {
    name: "kl-onmf",
    title: "KL-ONMF",
    summary: "ONMF with the Kullback–Leibler divergence, for counts: a hard mixture of multinomials",
    batched: true,
    starts: &["random", "residual"],
    objective: "D_KL(M | UV)",
    degree: 1,
    rule: Rule::Kl(rule::Kl::USUAL),
    ..ONMF;

    /// KL-ONMF with its parameters.
    pub struct KlOnmf {
        /// stop after this many iterations
        max_iterations: usize = whole(100.0, 1.0),
        /// what is added to the centroids, relative to their mean entry
        smoothing: f64 = real(rule::Kl::USUAL.smoothing, 1e-12, 1e6),
    }
}

pub(super) struct Multinomials {
    /// `Σ w·Σ m log(m/Σm)`: the divergence is this less `Σ w·mᵀ log u`.
    information: f64,
    rule: rule::Kl,
}

impl Model for Multinomials {
    fn rule(&self) -> Rule {
        self.rule.into()
    }

    fn objective(&self, _problem: &Problem, value: f64) -> f64 {
        (self.information - value).max(0.0)
    }

    fn final_objective(&self, problem: &Problem, slots: &mut dyn Slots, run: usize) -> Result<Option<f64>> {
        let sums = slots.sweep(&SumOfLabels { k: problem.k, rule: self.rule.into(), run })?.1;
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
    pub(super) fn model(&self, problem: &Problem) -> Result<Arc<dyn Model>> {
        let rule = rule::Kl { smoothing: self.smoothing };
        Ok(Arc::new(Multinomials { information: problem.information()?, rule }))
    }

    /// The labels that runs begin with.
    fn labelled<'a>(
        &self,
        problem: &'a Problem<'a>,
        start: &Start,
        streams: &[Stream],
    ) -> Result<Box<dyn Slots + 'a>> {
        if let Start::Labels(labels) = start {
            let mut slots = problem.data.slots()?;
            (0..streams.len()).try_for_each(|run| slots.set_labels(run, labels))?;
            return Ok(slots);
        }
        let steps = if start.is_random() { self.max_iterations } else { 1 };
        if rough::better(problem, streams) {
            // One more is never made: it would be the one in float64.
            return Roughly::begin(Arc::new(Cosines), problem, start, streams, steps + 1)?.into_slots();
        }
        Lloyd::begin(Arc::new(Cosines), problem, start, streams)?.into_slots(steps)
    }

    /// Distributions of the labels that slots hold, as points are multiplied with them.
    pub(super) fn of_labels(
        &self,
        problem: &Problem,
        slots: &mut dyn Slots,
        streams: &[Stream],
    ) -> Result<Vec<(Mat, ChaCha8Rng)>> {
        let rule = self.rule();
        let mut runs: Vec<(Mat, ChaCha8Rng)> = vec![];
        for (run, stream) in streams.iter().enumerate() {
            let generator = after_start(stream);
            let sums = slots.sweep(&SumOfLabels { k: problem.k, rule, run })?.1;
            runs.push((rule.scored(rule.centroids(sums, &[])), generator));
        }
        Ok(runs)
    }
}

/// The random numbers of a run: the start took the first of its stream.
fn after_start(stream: &Stream) -> ChaCha8Rng {
    let mut generator = stream.generator();
    generator.set_word_pos(1 << 40);
    generator
}

impl Algorithm for KlOnmf {
    fn begin<'a>(
        &self,
        problem: &'a Problem<'a>,
        start: &Start,
        streams: &[Stream],
    ) -> Result<Box<dyn State + 'a>> {
        start.check(problem)?;
        let mut slots = self.labelled(problem, start, streams)?;
        if !rough::better(problem, streams) {
            let runs = self.of_labels(problem, &mut *slots, streams)?;
            return Ok(Box::new(
                Lloyd::from_centroids(self.model(problem)?, problem, runs)?.with_slots(slots),
            ));
        }
        // Distributions are made of the labels, several runs side by side; they do not depend on the clusters' weights.
        let runs = streams.iter().map(|stream| (Mat::zeros(0, 0), after_start(stream))).collect();
        let runs = Lloyd::from_centroids(self.model(problem)?, problem, runs)?.with_slots(slots);
        let origins = vec![Origin::Labels(vec![1.0; problem.k]); streams.len()];
        Ok(Box::new(Roughly::of(problem, runs, origins, self.max_iterations)))
    }

    fn max_iterations(&self, _start: &Start) -> usize {
        self.max_iterations
    }

    fn rule(&self) -> Rule {
        rule::Kl { smoothing: self.smoothing }.into()
    }

    fn swaps<'a>(
        &self,
        problem: &'a Problem<'a>,
        labels: &[i32],
        stream: Stream,
    ) -> Result<Box<dyn State + 'a>> {
        Ok(Box::new(Swaps::of_labels(self.model(problem)?, problem, labels, stream)?))
    }
}
