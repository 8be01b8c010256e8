//! k-means by Lloyd's algorithm. [P, Sec. 2.1]
//!
//! Problem: `min Σᵢ Σ_{j∈πᵢ} ‖mⱼ − cᵢ‖²`. Updates: the nearest centre; `cᵢ` = mean of its points.
//! Cost of an iteration: one pass over M. Data of any sign; a zero point is a point like any other.

use super::lloyd::Model;
use super::{Algorithm, apart};
use crate::error::Result;
use crate::matrix::{Mat, Rule};
use crate::prepare::Problem;
use crate::run::State;
use crate::start::{Start, Stream};

/// k-means with its parameters.
#[derive(Debug, Clone, Copy)]
pub struct KMeans {
    /// Stop after this many iterations.
    pub max_iterations: usize,
}

#[derive(Clone)]
pub(super) struct Means;

impl Model for Means {
    const RULE: Rule = Rule::Euclid;

    fn centroids(&self, mut sums: Mat, weight: &[f64]) -> Mat {
        sums.scale_columns(&weight.iter().map(|w| if *w > 0.0 { 1.0 / w } else { 0.0 }).collect::<Vec<_>>());
        sums
    }

    fn of_points(&self, points: Mat) -> Mat {
        points
    }

    fn objective(&self, _problem: &Problem, value: f64) -> f64 {
        value
    }
}

impl Algorithm for KMeans {
    fn begin<'a>(
        &self,
        problem: &'a Problem<'a>,
        start: &Start,
        streams: &[Stream],
    ) -> Result<Box<dyn State + 'a>> {
        apart::begin(Means, problem, start, streams)
    }

    fn max_iterations(&self, _start: &Start) -> usize {
        self.max_iterations
    }
}
