//! EM-ONMF: ONMF as a weighted variant of spherical k-means. [P, Sec. 2.4, Alg. 1]
//!
//! Problem: `max Σᵢ Σ_{j∈πᵢ} (mⱼᵀuᵢ)²` over partitions π and unit uᵢ ≥ 0. [P, eq. (JoNMFcos)]
//! Updates: `πᵢ = {j : i = argmax mⱼᵀu}`; `uᵢ` = dominant left singular vector of `Mᵢ = M(:, πᵢ)`.
//! Cost of an iteration: one pass over M, nnz·(k + 1) multiplications.
//!
//! Departure: within a pass a direction takes one power step, `uᵢ ← Σ (mⱼᵀuᵢ)mⱼ`, which raises the
//! objective as well and needs no pass of its own. When labels repeat under it, the exact vectors are
//! computed and the points reassigned; only labels that are stable under exact vectors end a run. Points that
//! belong to two clusters equally well may change between them for ever: a run also ends when exact vectors explain
//! no more than the last time.

use std::sync::Arc;

use super::lloyd::Model;
use super::parameters::{declare, whole};
use super::{Algorithm, ONMF, rough};
use crate::error::Result;
use crate::matrix::{Mat, Rule, Slot, Slots, rule};
use crate::prepare::Problem;
use crate::run::State;
use crate::singular::{dominant_of_strengths, dominant_within};
use crate::start::{Start, Stream};

declare! {
    name: "em-onmf",
    title: "EM-ONMF",
    summary: "assign points to directions, directions are dominant singular vectors (Alg. 1 of the paper)",
    batched: true,
    starts: &["random", "residual"],
    ..ONMF;

    /// EM-ONMF with its parameters.
    pub struct EmOnmf {
        /// stop after this many iterations
        max_iterations: usize = whole(100.0, 1.0),
    }
}

/// How exact "exact" directions are: labels hang on them, but no figure that is reported.
const EXACT: f64 = 1e-7;

pub(super) struct Directions;

impl Model for Directions {
    fn rule(&self) -> Rule {
        rule::Power.into()
    }

    fn objective(&self, problem: &Problem, value: f64) -> f64 {
        // ‖M − UV‖² = ‖M‖² − Σ(mⱼᵀuᵢ)² at the optimal v. [P, proof of Theorem 1]
        (problem.facts().norm2 - value).max(0.0)
    }

    fn exact(
        &self,
        problem: &Problem,
        slots: &mut dyn Slots,
        runs: &[usize],
        guesses: &[&Mat],
    ) -> Result<Option<Vec<Mat>>> {
        let found = dominant_within(problem.data, slots, runs, guesses, EXACT, &|| problem.is_to_stop())?;
        Ok(Some(found.into_iter().map(|found| found.u).collect()))
    }

    fn exact_of_adds(
        &self,
        problem: &Problem,
        slots: &mut dyn Slots,
        runs: &[usize],
    ) -> Result<Option<Vec<Mat>>> {
        let mut strengths = vec![];
        for &run in runs {
            let mut adds = slots.numbers(Slot::Adds(run))?;
            // What a point adds is w·mᵀu.
            for (x, w) in adds.iter_mut().zip(problem.data.weights().unwrap_or(&[])) {
                *x = if *w > 0.0 { *x / w.sqrt() } else { 0.0 };
            }
            strengths.push(adds);
        }
        let (data, stop) = (problem.data, || problem.is_to_stop());
        let found =
            dominant_of_strengths(data, slots, runs, problem.k, strengths, EXACT, &stop).transpose()?;
        Ok(found.map(|found| found.into_iter().map(|found| found.u).collect()))
    }
}

impl Algorithm for EmOnmf {
    fn begin<'a>(
        &self,
        problem: &'a Problem<'a>,
        start: &Start,
        streams: &[Stream],
    ) -> Result<Box<dyn State + 'a>> {
        rough::begin(Arc::new(Directions), problem, start, streams, self.max_iterations)
    }

    fn max_iterations(&self, _start: &Start) -> usize {
        self.max_iterations
    }

    fn goes_by_products(&self, race: bool) -> bool {
        race
    }
}
