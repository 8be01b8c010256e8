//! What lets a pass leave points alone whose cluster cannot have changed.
//!
//! When a direction moves by Δu, a score mᵀu changes by at most ‖m‖·‖Δu‖; when a centre moves by Δc, a distance ‖m − c‖
//! by at most ‖Δc‖. So a point keeps its cluster as long as the lead that this had over all others when the point was
//! last scored is larger than what the cluster's centroid and the fastest other have moved since.
//!
//! In k-means and spherical k-means such a point also adds to its cluster's sum what it did: sums follow the points that
//! change their label. (On text two thirds of the points are scored in a pass all the same; what is gained is the sums.
//! The power step of ONMF, in which every point adds something else each time, gains nothing and has no memory.)

use crate::matrix::Mat;
use crate::matrix::data::{Followed, Remembered, Rule};
use crate::matrix::kernels::Real;

/// Sums that follow single points are made anew after so many passes: rounding does not pile up.
const FRESH: usize = 16;

impl Remembered {
    /// Before a first pass, which scores all points.
    pub(super) fn nothing(rule: Rule, points: usize) -> Self {
        Remembered { rule, u: Mat::zeros(0, 0), leads: vec![0.0; points], followed: None }
    }

    /// By how much each cluster's points must lower their leads now that the centroids are `u`; none where nothing
    /// is known of the points.
    pub(super) fn advance(&mut self, rule: Rule, u: &Mat) -> Option<Vec<f64>> {
        if self.rule != rule || self.u.rows != u.rows || self.u.cols != u.cols {
            (self.rule, self.followed) = (rule, None);
            self.u = u.clone();
            return None;
        }
        let mut moved = u.column_distances2(&self.u);
        self.u.data.copy_from_slice(&u.data);
        moved.iter_mut().for_each(|x| *x = x.sqrt() * (1.0 + 1e-12));
        let fastest = |but: usize| {
            moved.iter().enumerate().filter(|(i, _)| *i != but).map(|(_, x)| *x).fold(0.0, f64::max)
        };
        Some((0..u.cols).map(|i| moved[i] + fastest(i)).collect())
    }

    /// The sums of the last pass, if they may be brought up to date once more.
    pub(super) fn take_sums(&mut self) -> Option<Followed> {
        self.followed.take().filter(|followed| followed.passes < FRESH)
    }
}

/// How exactly scores are known: leads are stated less this.
#[derive(Clone, Copy)]
pub(super) struct Doubt {
    /// Relative to the norms of point and centroid.
    relative: f64,
    /// The largest ‖c‖² (k-means), or the largest ‖u‖.
    largest: f64,
}

impl Doubt {
    pub(super) fn new<T: Real>(rule: Rule, features: usize, norms2: &[f64]) -> Self {
        let largest2 = norms2.iter().copied().fold(0.0, f64::max);
        let largest = if rule == Rule::Euclid { largest2 } else { largest2.sqrt() };
        // Ties, which go to the first of the clusters, and the rounding of a product.
        Doubt { relative: 4.0 * T::TIE + T::ROUNDING * features as f64, largest }
    }

    /// For scores that are rougher by so much.
    #[inline(always)]
    pub(super) fn with(&self, roughness: f64) -> Self {
        Doubt { relative: self.relative + roughness, ..*self }
    }

    /// The lead in cosines, from scores `mᵀu`.
    #[inline(always)]
    pub(super) fn of_scores(&self, best: f64, other: f64, norm2: f64) -> f64 {
        (best - other) / norm2.sqrt() - self.relative * self.largest
    }

    /// The lead in distances, from scores `mᵀc − ‖c‖²/2`.
    #[inline(always)]
    pub(super) fn of_distances(&self, best: f64, other: f64, norm2: f64) -> f64 {
        let doubt = self.relative * (norm2 + self.largest);
        (norm2 - 2.0 * other - doubt).max(0.0).sqrt() - ((norm2 - 2.0 * best).max(0.0) + doubt).sqrt()
    }
}
