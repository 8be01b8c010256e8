//! k-means by Lloyd's algorithm. [P, Sec. 2.1]
//!
//! Problem: `min Σᵢ Σ_{j∈πᵢ} ‖mⱼ − cᵢ‖²`. Updates: the nearest centre; `cᵢ` = mean of its points.
//! Cost of an iteration: one pass over M. Data of any sign; a zero point is a point like any other.

use std::sync::Arc;

use super::improve::Swaps;
use super::lloyd::Model;
use super::parameters::{declare, whole};
use super::{Algorithm, ONMF, rough};
use crate::error::Result;
use crate::matrix::{Rule, rule};
use crate::prepare::Problem;
use crate::run::State;
use crate::start::{Start, Stream};

declare! {
    name: "k-means",
    title: "k-means",
    summary: "Lloyd's algorithm: the nearest centre by Euclidean distance",
    signed: true,
    batched: true,
    starts: &["random", "residual"],
    objective: "inertia",
    rule: Rule::Euclid(rule::Euclid),
    ..ONMF;

    /// k-means with its parameters.
    pub struct KMeans {
        /// stop after this many iterations
        max_iterations: usize = whole(300.0, 1.0),
    }
}

pub(super) struct Means;

impl Model for Means {
    fn rule(&self) -> Rule {
        rule::Euclid.into()
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
        rough::begin(Arc::new(Means), problem, start, streams, self.max_iterations)
    }

    fn max_iterations(&self, _start: &Start) -> usize {
        self.max_iterations
    }

    fn goes_by_products(&self, race: bool) -> bool {
        race
    }

    fn rule(&self) -> Rule {
        Means.rule()
    }

    fn swaps<'a>(
        &self,
        problem: &'a Problem<'a>,
        labels: &[i32],
        stream: Stream,
    ) -> Result<Box<dyn State + 'a>> {
        Ok(Box::new(Swaps::of_labels(Arc::new(Means), problem, labels, stream)?))
    }
}
