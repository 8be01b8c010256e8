//! Clustering scores: how well labels agree with a known truth.
//!
//! Every score is a function of one table, the [`Confusion`] of clusters and classes, and one line of
//! [`SCORES`]. Points without a cluster (label −1) are left out of all of them; how many were scored
//! is part of the result.
//!
//! ```
//! let labels = [1, 1, 0, 0, -1];
//! let truth = [0, 0, 1, 0, 1];
//! let scores = orthant::evaluate::scores(&labels, &truth)?;
//! assert_eq!(scores.accuracy, 0.75);
//! assert_eq!(scores.scored_points, 4);
//! # Ok::<(), orthant::Error>(())
//! ```

mod accuracy;
mod ari;
mod classes;
mod confusion;
mod nmi;
mod purity;

pub use accuracy::{accuracy, best_matching, numbered_as};
pub use ari::ari;
pub use classes::classes;
pub use confusion::Confusion;
pub use nmi::nmi;
pub use purity::purity;

use crate::error::Result;

/// One line of the table of scores.
#[derive(Debug, Clone, Copy)]
pub struct Score {
    /// Its name, as in reports and on the command line.
    pub name: &'static str,
    /// What it says, in one line.
    pub description: &'static str,
    /// Its value for a table of clusters and classes.
    pub compute: fn(&Confusion) -> f64,
}

/// All scores, in the order in which reports show them; higher is better for every one.
pub const SCORES: &[Score] = &[
    Score {
        name: "accuracy",
        description: "share of points in the right cluster under the best matching of clusters with classes",
        compute: accuracy,
    },
    Score {
        name: "nmi",
        description: "mutual information of clusters and classes over the mean of their entropies",
        compute: nmi,
    },
    Score {
        name: "ari",
        description: "agreement on pairs of points, corrected for chance (Rand index; 0 = chance)",
        compute: ari,
    },
    Score {
        name: "purity",
        description: "share of points that belong to the majority class of their cluster",
        compute: purity,
    },
];

/// How well labels agree with the truth; fractions, not percent.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Scores {
    /// Share of points in the right cluster under the best matching, in (0, 1].
    pub accuracy: f64,
    /// Normalised mutual information, in [0, 1].
    pub nmi: f64,
    /// Adjusted Rand index, in [−½, 1].
    pub ari: f64,
    /// Share of points in the majority class of their cluster, in (0, 1].
    pub purity: f64,
    /// How many points have a cluster and were scored.
    pub scored_points: usize,
    /// Clusters × classes, in points.
    pub confusion: Confusion,
}

/// Scores `labels` (−1: no cluster, left out) against `truth` (class numbers from 0, see [`classes()`]).
///
/// # Errors
/// When the two differ in length, a label is below −1, no point has a cluster, or the numbers are so
/// large that a table of clusters and classes is out of the question.
pub fn scores(labels: &[i32], truth: &[usize]) -> Result<Scores> {
    let confusion = Confusion::new(labels, truth)?;
    Ok(Scores {
        accuracy: accuracy(&confusion),
        nmi: nmi(&confusion),
        ari: ari(&confusion),
        purity: purity(&confusion),
        scored_points: confusion.points() as usize,
        confusion,
    })
}

#[cfg(test)]
mod tests;
