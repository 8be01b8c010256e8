//! What lets a pass leave points alone whose cluster cannot have changed.
//!
//! When a direction moves by Δu, a score mᵀu changes by at most ‖m‖·‖Δu‖; when a centre moves by Δc, a distance ‖m − c‖
//! by at most ‖Δc‖. So a point keeps its cluster as long as the lead that this had over all others when the point was
//! last scored is larger than what the cluster's centroid and the fastest other have moved since. Labels are those of a
//! pass that scores all points.
//!
//! (On text two thirds of the points are scored in a pass all the same. The power step of ONMF, in which every point adds
//! something else each time, gains nothing.)

use crate::bytes::bytes_of;
use crate::matrix::Mat;

/// What is known of the points of a run. Their leads are in a slot: in cosines, or for k-means in distances; not positive
/// where the point must be scored again.
#[derive(Debug, Clone)]
pub struct Bounds {
    /// By how much each cluster's points must lower their leads; none where all points are to be scored.
    pub drops: Option<Vec<f64>>,
}
bytes_of!(Bounds { drops });

impl Bounds {
    /// Nothing: the first pass scores all points.
    pub fn nothing() -> Self {
        Bounds { drops: None }
    }

    /// Centroids have moved from `before` to `u`.
    pub fn moved(before: &Mat, u: &Mat) -> Self {
        let mut moved = u.column_distances2(before);
        moved.iter_mut().for_each(|x| *x = x.sqrt() * (1.0 + 1e-12));
        let fastest = |but: usize| {
            moved.iter().enumerate().filter(|(i, _)| *i != but).map(|(_, x)| *x).fold(0.0, f64::max)
        };
        Bounds { drops: Some((0..u.cols).map(|i| moved[i] + fastest(i)).collect()) }
    }
}

/// How exactly scores are known: leads are stated less this.
#[derive(Clone, Copy)]
pub(super) struct ScoreError {
    /// Relative to the norms of point and centroid.
    relative: f64,
    /// The largest ‖c‖² (k-means), or the largest ‖u‖.
    largest: f64,
}

impl ScoreError {
    pub(super) fn new(distance: bool, tie: f64, rounding: f64, features: usize, norms2: &[f64]) -> Self {
        let largest2 = norms2.iter().copied().fold(0.0, f64::max);
        let largest = if distance { largest2 } else { largest2.sqrt() };
        // Ties, which go to the first of the clusters, and the rounding of a product.
        ScoreError { relative: 4.0 * tie + rounding * features as f64, largest }
    }

    /// For scores that are rougher by so much.
    #[inline(always)]
    pub(super) fn with(&self, roughness: f64) -> Self {
        ScoreError { relative: self.relative + roughness, ..*self }
    }

    /// The lead in cosines, from scores `mᵀu`.
    #[inline(always)]
    pub(super) fn of_scores(&self, best: f64, other: f64, norm2: f64) -> f64 {
        (best - other) / norm2.sqrt() - self.relative * self.largest
    }

    /// The lead in distances, from scores `mᵀc − ‖c‖²/2`.
    #[inline(always)]
    pub(super) fn of_distances(&self, best: f64, other: f64, norm2: f64) -> f64 {
        let error = self.relative * (norm2 + self.largest);
        (norm2 - 2.0 * other - error).max(0.0).sqrt() - ((norm2 - 2.0 * best).max(0.0) + error).sqrt()
    }
}
