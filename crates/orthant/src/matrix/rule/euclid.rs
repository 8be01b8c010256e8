//! k-means: the nearest centre.

use super::{About, Formulas, Mat, Measure, Rough};

/// The smallest `‖m − c‖²`; adds `w·m`. Value: `Σ w‖m‖²`, the part of `Σ w‖m − c‖²` that no centre changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Euclid;

impl Euclid {
    pub(super) const USUAL: Self = Euclid;
}

impl Formulas for Euclid {
    const ABOUT: About = About {
        name: "euclid",
        words: "the smallest Euclidean distance",
        file: "centers.npy",
        measure: Measure::Squares,
        onmf: false,
        distance: true,
        adds_the_same: true,
        adds_scores: false,
        information: false,
    };
    const ROUGH: Rough = Rough::Centres;

    #[inline(always)]
    fn rough_value(self, adds: f64, score: f64) -> f64 {
        2.0 * adds * score
    }

    fn of_rough_value(self, value: f64, norm2: f64) -> f64 {
        // Σ w‖m − c‖² = Σ w‖m‖² − 2Σ w(mᵀc − ‖c‖²/2)
        norm2 - value
    }

    #[inline(always)]
    fn gives(self, w: f64, _s: f64, norm2: impl Fn() -> f64) -> (f64, f64) {
        (w, w * norm2())
    }

    fn rough_closeness(self, _norm2: f64, _total: f64) -> f64 {
        2.0
    }

    fn worth(self, value: f64, product: f64, weight: f64, norm2: f64) -> f64 {
        // Σ w‖m − c‖² = Σ w‖m‖² − 2(Σ wm)ᵀc + Σ w‖c‖²
        (value - 2.0 * (product - weight * norm2 / 2.0)).max(0.0)
    }

    #[inline(always)]
    fn all_of(self, _w: f64, _norm2: f64) -> f64 {
        f64::INFINITY
    }

    #[inline(always)]
    fn left(self, w: f64, norm2: f64, s: f64, half: f64, _information: f64) -> f64 {
        w * (norm2 - 2.0 * (s - half)).max(0.0)
    }

    fn of_observed(self, seen: impl Iterator<Item = (f64, f64)> + Clone) -> (f64, f64) {
        (seen.map(|(m, c)| (m - c).powi(2)).sum(), 1.0)
    }

    fn centroids(self, mut sums: Mat, weight: &[f64]) -> Mat {
        sums.scale_columns(&weight.iter().map(|w| if *w > 0.0 { 1.0 / w } else { 0.0 }).collect::<Vec<_>>());
        sums
    }

    fn of_points(self, points: Mat) -> Mat {
        points
    }
}
