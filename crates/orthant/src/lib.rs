//! Orthogonal nonnegative matrix factorization (ONMF) and clustering of nonnegative data.
//!
//! Given M ≥ 0 and k, find U ≥ 0 and V ≥ 0 with VVᵀ = I such that ‖M − UV‖ is small. Every point (a
//! column of M; a row of the data in memory) then belongs to one cluster, with a direction uᵢ and a
//! strength v.
//!
//! ```
//! use orthant::{Job, cluster, generate::{Generator, Synthetic}, matrix::open};
//!
//! let made = Synthetic { noise: 0.01, ..Synthetic::default() }.generate()?;
//! let data = open(&made.matrix, None)?;
//! let outcome = cluster(&*data, &Job::new("onp-mf", 6)?, &mut ())?;
//! let scores = orthant::evaluate::scores(&outcome.solution.labels, &made.truth)?;
//! assert!(scores.accuracy > 0.99);
//! assert!(outcome.certificate.relative_error < 0.1);
//! # Ok::<(), orthant::Error>(())
//! ```
//!
//! The way of the data: [`matrix`] (what is in memory, the passes over it) → [`prepare`] (checks) →
//! [`start`] → [`algorithms`], stepped by [`run`] → [`finish`] (feasible factors) → [`certificate`] →
//! [`evaluate`] → `report` (pages and pictures). [`pipeline`] is the whole flow on one screen, [`generate`] makes data to try it on.

pub mod advise;
pub mod algorithms;
pub mod auto;
pub mod bytes;
pub mod called;
pub mod certificate;
pub mod checkpoint;
pub mod choose_k;
pub mod contender;
mod ellipsoids;
pub mod entries;
pub mod error;
pub mod evaluate;
pub mod findings;
pub mod finish;
pub mod generate;
pub mod image;
pub mod job;
pub mod matrix;
pub mod model;
pub mod observed;
pub mod orientation;
pub mod outcome;
pub mod pipeline;
pub mod prepare;
mod random;
#[cfg(feature = "read")]
pub mod read;
pub mod recipe;
#[cfg(feature = "report")]
pub mod report;
mod resample;
pub mod run;
pub mod saved;
pub mod singular;
pub mod start;
#[cfg(feature = "read")]
pub mod texts;
mod told;
pub mod weighting;

/// What the package shows first must run too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub use error::{Error, Place, Result};
pub use image::{ImageShape, Scan};
pub use matrix::Matrix;
pub use pipeline::{Job, Outcome, cluster};
