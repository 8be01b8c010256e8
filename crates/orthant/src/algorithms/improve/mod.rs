//! What goes on from a partition: EM, moves of single points, swaps of centroids. Each never makes it worse.
//!
//! They are the stages of [`Best`](super::Best), and can follow any method (`--polish em,moves,swaps`).

mod moves;
mod swaps;

use std::sync::Arc;

use super::Algorithm;
use super::em_onmf::EmOnmf;
use crate::error::{Error, Result};
use crate::matrix::Mat;
use crate::prepare::Problem;
use crate::run::State;
use crate::start::{Start, Stream};

pub(super) use moves::Moves;
pub(super) use swaps::{Patience, Swaps};

/// A way to go on from a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Polish {
    /// EM-ONMF from the partition, until no label changes.
    Em,
    /// Single points to other clusters, wherever σ₁² of both together is certain to grow.
    Moves,
    /// Centroids replaced by points that are badly explained, followed by a short descent.
    Swaps,
}

/// All of them, with their names and what they do.
pub const POLISHES: &[(&str, Polish, &str)] = &[
    ("em", Polish::Em, "EM-ONMF goes on from the partition"),
    ("moves", Polish::Moves, "single points move where the error is certain to fall"),
    ("swaps", Polish::Swaps, "centroids give way to badly explained points"),
];

impl Polish {
    /// One by its name.
    pub fn named(name: &str) -> Result<Polish> {
        POLISHES.iter().find(|p| p.0 == name).map(|p| p.1).ok_or_else(|| {
            let known: Vec<&str> = POLISHES.iter().map(|p| p.0).collect();
            Error::parameter("polish", format!("there is no '{name}'; there are {}", known.join(", ")))
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        POLISHES.iter().find(|p| p.1 == self).map_or("", |p| p.0)
    }

    /// Whether the answer is then one of ONMF, whatever the method was.
    pub fn is_onmf(self) -> bool {
        self != Polish::Swaps
    }

    /// Goes on from labels and their directions, as well as they are known; `aim` is the algorithm whose objective is to
    /// improve.
    pub(crate) fn begin<'a>(
        self,
        problem: &'a Problem<'a>,
        aim: &dyn Algorithm,
        labels: &[i32],
        guess: &Mat,
        stream: Stream,
    ) -> Result<(Box<dyn State + 'a>, usize)> {
        let state: Box<dyn State + 'a> = match self {
            Polish::Em => {
                let em = EmOnmf::default();
                let start = Start::Labels(Arc::new(labels.to_vec()));
                return Ok((em.begin(problem, &start, &[stream])?, em.max_iterations));
            }
            Polish::Moves => Box::new(Moves::begin(problem, labels, guess)?),
            Polish::Swaps => aim.swaps(problem, labels, stream)?,
        };
        Ok((state, 1000))
    }
}
