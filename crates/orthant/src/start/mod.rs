//! Starting points. Every start can be had in two forms: as k centroids, for the methods that assign
//! points, and as V beside the data, for those that update factors.

mod given;
mod nndsvd;
pub(crate) mod random;
pub(crate) mod residual;
mod svd;

use std::sync::Arc;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::bytes::Bytes;
use crate::error::{Error, Result};
use crate::matrix::passes::{Assign, FillRandom};
use crate::matrix::{Mat, Rule, Slots, rule};
use crate::prepare::Problem;
use crate::singular::dominant;

/// Where a run begins.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Start {
    /// Random points as centroids; uniform random factors.
    Random,
    /// Points drawn by what is not yet explained, the best of 2 + ⌊ln k⌋ each time.
    Residual,
    /// The k largest singular vectors, with the paper's rule for their signs.
    Svd,
    /// NNDSVD: the nonnegative parts of the singular vectors, zeros filled with a small number.
    Nndsvd,
    /// Given labels, from 0; −1 for a point without one.
    Labels(Arc<Vec<i32>>),
    /// Given centroids, features × k, in the data's own units.
    Centroids(Arc<Mat>),
}

/// The named starts, for help texts and parsers.
pub const STARTS: &[(&str, &str)] = &[
    ("random", "random points, or random factors; depends on the seed and the run"),
    ("residual", "points drawn by what is not yet explained (greedy D²); depends on the seed and the run"),
    ("svd", "the singular vectors of the data, with the paper's rule for their signs"),
    ("nndsvd", "nonnegative parts of the singular vectors, zeros filled with 1e-10"),
];

/// Its name, and the labels or centroids that were given.
impl Bytes for Start {
    fn write(&self, to: &mut Vec<u8>) {
        self.name().to_string().write(to);
        match self {
            Start::Labels(labels) => labels.write(to),
            Start::Centroids(u) => u.write(to),
            _ => {}
        }
    }
    fn read(from: &mut &[u8]) -> Option<Self> {
        match String::read(from)?.as_str() {
            "labels" => Some(Start::Labels(Arc::new(Bytes::read(from)?))),
            "centroids" => Some(Start::Centroids(Arc::new(Bytes::read(from)?))),
            name => Start::named(name).ok(),
        }
    }
}

impl Start {
    /// A start by its name.
    pub fn named(name: &str) -> Result<Start> {
        match name {
            "random" => Ok(Start::Random),
            "residual" => Ok(Start::Residual),
            "svd" => Ok(Start::Svd),
            "nndsvd" => Ok(Start::Nndsvd),
            _ => {
                let known: Vec<&str> = STARTS.iter().map(|s| s.0).collect();
                Err(Error::parameter(
                    "start",
                    format!("there is no start '{name}'; there are {}", known.join(", ")),
                ))
            }
        }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Start::Random => "random",
            Start::Residual => "residual",
            Start::Svd => "svd",
            Start::Nndsvd => "nndsvd",
            Start::Labels(_) => "labels",
            Start::Centroids(_) => "centroids",
        }
    }

    /// Whether runs with different random streams differ.
    pub fn is_random(&self) -> bool {
        matches!(self, Start::Random | Start::Residual)
    }

    /// Whether it says something of single features.
    pub(crate) fn is_about_features(&self) -> bool {
        matches!(self, Start::Nndsvd | Start::Centroids(_))
    }

    /// Checks labels and centroids against the data.
    pub fn check(&self, problem: &Problem) -> Result<()> {
        given::check(self, problem)
    }
}

/// The random numbers of a run: they depend on the seed and the run alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stream {
    /// The user's seed.
    pub seed: u64,
    /// Number of the run, from 0.
    pub run: u64,
}

impl Stream {
    /// The run's generator.
    pub fn generator(self) -> ChaCha8Rng {
        let mut generator = ChaCha8Rng::seed_from_u64(self.seed);
        generator.set_stream(self.run);
        generator
    }
}

/// Centroids (features × k) for a method that assigns by `rule`.
pub fn centroids(
    start: &Start,
    problem: &Problem,
    slots: &mut dyn Slots,
    rule: Rule,
    generator: &mut ChaCha8Rng,
) -> Result<Mat> {
    Ok(match start {
        Start::Random => {
            let points = random::points(problem, rule, generator)?;
            rule.of_points(problem.data.gather(&points)?)
        }
        Start::Residual => residual::points(problem, slots, rule, generator)?,
        Start::Labels(labels) => given::means(problem, slots, labels, rule)?,
        Start::Centroids(u) => rule.of_points(given::scaled(problem, u)),
        Start::Svd | Start::Nndsvd => {
            // Each singular vector claims the points where it is largest.
            v(start, problem, slots, Stream { seed: 0, run: 0 })?;
            let labels = problem.label_by_v(slots, vec![1.0; problem.k])?;
            given::means(problem, slots, &labels, rule)?
        }
    })
}

/// V into its slot: orthonormal rows for `Svd` and `Labels`; the other starts are nonnegative instead, and
/// not all of their rows are orthogonal.
/// Returns U (features × k) where the start has one of its own.
pub fn v(start: &Start, problem: &Problem, slots: &mut dyn Slots, stream: Stream) -> Result<Option<Mat>> {
    let k = problem.k;
    match start {
        Start::Svd | Start::Nndsvd if problem.is_restoring() => v(&Start::Random, problem, slots, stream),
        Start::Random => {
            slots.tell(&FillRandom { rows: 0..k, k, seed: stream.seed, stream: stream.run })?;
            Ok(None)
        }
        Start::Svd => svd::signed(problem, slots).map(|_| None),
        Start::Nndsvd => nndsvd::factors(problem, slots).map(Some),
        Start::Labels(labels) => {
            slots.set_labels(0, labels)?;
            given::indicator(problem, slots, None)?;
            Ok(None)
        }
        Start::Residual | Start::Centroids(_) => {
            let u = centroids(start, problem, slots, rule::Power.into(), &mut stream.generator())?;
            slots.tell(&Assign::new(rule::Power.into(), vec![u], vec![0]))?;
            given::indicator(problem, slots, Some(stream))?;
            Ok(None)
        }
    }
}

/// Directions of the partition in the labels of run 0: the exact dominant vectors.
fn directions(problem: &Problem, slots: &mut dyn Slots) -> Result<Mat> {
    let guess = Mat::zeros(problem.data.shape().features, problem.k);
    Ok(dominant(problem.data, slots, &[0], &guess)?.u)
}
