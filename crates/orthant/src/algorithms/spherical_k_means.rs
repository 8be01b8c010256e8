//! Spherical k-means (Banerjee et al.). [P, eq. (Jspkm)]
//!
//! Problem: `max Σᵢ Σ_{j∈πᵢ} mⱼᵀuᵢ/‖mⱼ‖` over unit uᵢ. Updates: the smallest angle; `uᵢ` = direction of
//! the sum of the cluster's normalised points. Cost of an iteration: one pass over M. Data of any sign.

use std::sync::Arc;

use super::improve::Swaps;
use super::lloyd::Model;
use super::parameters::{declare, whole};
use super::{Algorithm, Goal, ONMF, rough};
use crate::error::Result;
use crate::matrix::{Rule, rule};
use crate::prepare::Problem;
use crate::run::State;
use crate::start::{Start, Stream};

declare! {
    name: "spherical-k-means",
    title: "spherical k-means",
    summary: "the smallest angle; every point counts the same, whatever its norm",
    signed: true,
    batched: true,
    starts: &["residual", "random"],
    objective: "Σ cos",
    goal: Goal::Most,
    degree: 0,
    rule: Rule::Cosine(rule::Cosine),
    ..ONMF;

    /// Spherical k-means with its parameters.
    pub struct SphericalKMeans {
        /// stop after this many iterations
        max_iterations: usize = whole(300.0, 1.0),
    }
}

pub(super) struct Cosines;

impl Model for Cosines {
    fn most(&self) -> bool {
        true
    }

    fn rule(&self) -> Rule {
        rule::Cosine.into()
    }

    fn objective(&self, _problem: &Problem, value: f64) -> f64 {
        value
    }

    fn explains_all(&self, problem: &Problem, objective: f64) -> bool {
        let facts = problem.facts();
        objective >= facts.usable_weight * (1.0 - 1e-14)
    }
}

impl Algorithm for SphericalKMeans {
    fn begin<'a>(
        &self,
        problem: &'a Problem<'a>,
        start: &Start,
        streams: &[Stream],
    ) -> Result<Box<dyn State + 'a>> {
        rough::begin(Arc::new(Cosines), problem, start, streams, self.max_iterations)
    }

    fn max_iterations(&self, _start: &Start) -> usize {
        self.max_iterations
    }

    fn goes_by_products(&self, race: bool) -> bool {
        race
    }

    fn rule(&self) -> Rule {
        Cosines.rule()
    }

    fn swaps<'a>(
        &self,
        problem: &'a Problem<'a>,
        labels: &[i32],
        stream: Stream,
    ) -> Result<Box<dyn State + 'a>> {
        Ok(Box::new(Swaps::of_labels(Arc::new(Cosines), problem, labels, stream)?))
    }
}
