//! Spherical k-means (Banerjee et al.). [P, eq. (Jspkm)]
//!
//! Problem: `max Σᵢ Σ_{j∈πᵢ} mⱼᵀuᵢ/‖mⱼ‖` over unit uᵢ. Updates: the smallest angle; `uᵢ` = direction of
//! the sum of the cluster's normalised points. Cost of an iteration: one pass over M. Data of any sign.

use super::lloyd::Model;
use super::{Algorithm, apart};
use crate::error::Result;
use crate::matrix::{Mat, Rule};
use crate::prepare::Problem;
use crate::run::State;
use crate::start::{Start, Stream};

/// Spherical k-means with its parameters.
#[derive(Debug, Clone, Copy)]
pub struct SphericalKMeans {
    /// Stop after this many iterations.
    pub max_iterations: usize,
}

#[derive(Clone)]
pub(super) struct Cosines;

impl Model for Cosines {
    const RULE: Rule = Rule::Cosine;
    const MOST: bool = true;

    fn centroids(&self, sums: Mat, _weight: &[f64]) -> Mat {
        sums.with_unit_columns()
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
        apart::begin(Cosines, problem, start, streams)
    }

    fn max_iterations(&self, _start: &Start) -> usize {
        self.max_iterations
    }
}
