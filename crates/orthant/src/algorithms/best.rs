//! `best` and its like: one search for the lowest objective of ONMF, and of the three other models that assign points to
//! centroids. What they do is in `search/`; here is what the table says of them.

use std::sync::Arc;

use rand_chacha::ChaCha8Rng;

use super::em_onmf::{Directions, EmOnmf};
use super::k_means::{KMeans, Means};
use super::kl_onmf::KlOnmf;
use super::lloyd::{Lloyd, Model};
use super::parameters::{Declared, declare, named, whole};
use super::search::{Effort, Search, Task};
use super::spherical_k_means::{Cosines, SphericalKMeans};

use super::ONMF;
use crate::error::Result;
use crate::matrix::Mat;
use crate::prepare::Problem;
use crate::start::{Start, Stream, centroids};

/// Centroids drawn by what is left.
fn drawn(model: &dyn Model, problem: &Problem, stream: Stream) -> Result<(Mat, ChaCha8Rng)> {
    let mut generator = stream.generator();
    let mut slots = problem.data.slots()?;
    let u = centroids(&Start::Residual, problem, &mut *slots, model.rule(), &mut generator)?;
    Ok((model.rule().scored(u), generator))
}

/// Distributions of the points that are nearest, by their angle, to points drawn so: single points are poor ones.
fn nearest(problem: &Problem, stream: Stream) -> Result<(Mat, ChaCha8Rng)> {
    let mut slots = Lloyd::begin(Arc::new(Cosines), problem, &Start::Residual, &[stream])?.into_slots(1)?;
    Ok(KlOnmf::default().of_labels(problem, &mut *slots, &[stream])?.remove(0))
}

/// Declares the search for a model: what is particular to it in the table, then its descent, its model and its starts.
macro_rules! search {
    ($name:ident, $title:literal, $summary:literal, $starts:expr, $base:expr, $descent:ident, $called:literal, $model:expr, $seed:expr) => {
        declare! {
            name: $title,
            title: $title,
            summary: $summary,
            batched: false,
            starts: $starts,
            ..$base;

            #[doc = concat!("`", $title, "` with its parameters.")]
            pub struct $name {
                /// how much work to put in (endless: until the time is over or it is stopped)
                effort: Effort = named(Effort::Normal as usize, Effort::NAMES),
                /// stop after this many iterations (of all stages; unless set: no limit)
                max_iterations: Option<usize> = whole(f64::NAN, 1.0),
            }
        }

        impl Search for $name {
            fn task(&self) -> Task {
                Task {
                    method: const { &$name::METHOD },
                    descent: Arc::new($descent::default()),
                    name: $descent::METHOD.name,
                    called: $called,
                    model: $model,
                    seed: $seed,
                    effort: self.effort,
                    most_iterations: self.max_iterations.unwrap_or(usize::MAX),
                }
            }
        }
    };
}

search! {
    Best, "best",
    "starts that sharpen, a continuation, children of the best of them, moves of single points",
    &["svd"], ONMF, EmOnmf, "em", |_| Ok(Arc::new(Directions)), |problem, stream| drawn(&Directions, problem, stream)
}
search! {
    BestKlOnmf, "best-kl-onmf",
    "the lowest divergence that a search finds: starts that sharpen, children of the best of them, swaps",
    &["svd"], KlOnmf::METHOD, KlOnmf, "kl-onmf", |problem| KlOnmf::default().model(problem), nearest
}
search! {
    BestSphericalKMeans, "best-spherical-k-means",
    "the largest Σ cos that a search finds: starts that sharpen, children of the best of them, swaps",
    &["svd"], SphericalKMeans::METHOD, SphericalKMeans, "spherical k-means", |_| Ok(Arc::new(Cosines)), |problem, stream| drawn(&Cosines, problem, stream)
}
search! {
    BestKMeans, "best-k-means",
    "the lowest inertia that a search finds: starts that sharpen, children of the best of them, swaps",
    &["svd"], KMeans::METHOD, KMeans, "k-means", |_| Ok(Arc::new(Means)), |problem, stream| drawn(&Means, problem, stream)
}
