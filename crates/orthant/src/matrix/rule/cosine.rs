//! Spherical k-means: the smallest angle with a direction.

use super::{About, Formulas, Measure, Rough};

/// The largest `mᵀu/‖m‖`; adds `w·m/‖m‖`. Value: `Σ w·mᵀu/‖m‖`, the sum times the direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cosine;

impl Cosine {
    pub(super) const USUAL: Self = Cosine;
}

impl Formulas for Cosine {
    const ABOUT: About = About {
        name: "cosine",
        words: "the smallest angle",
        file: "centers.npy",
        measure: Measure::Cosines,
        onmf: false,
        distance: false,
        adds_the_same: true,
        adds_scores: false,
        information: false,
    };
    const ROUGH: Rough = Rough::Directions;

    #[inline(always)]
    fn adds(self, w: f64, norm2: f64) -> f64 {
        if norm2 > 0.0 { w / norm2.sqrt() } else { 0.0 }
    }

    #[inline(always)]
    fn gives(self, w: f64, _s: f64, norm2: impl Fn() -> f64) -> (f64, f64) {
        (self.adds(w, norm2()), 0.0)
    }

    fn rough_closeness(self, norm2: f64, _total: f64) -> f64 {
        if norm2 > 0.0 { 1.0 / norm2.sqrt() } else { 0.0 }
    }

    fn worth(self, _value: f64, product: f64, _weight: f64, _norm2: f64) -> f64 {
        product
    }

    #[inline(always)]
    fn all_of(self, w: f64, norm2: f64) -> f64 {
        w * f64::from(u8::from(norm2 > 0.0))
    }

    #[inline(always)]
    fn left(self, w: f64, norm2: f64, s: f64, _half: f64, _information: f64) -> f64 {
        if norm2 > 0.0 { w * (1.0 - s / norm2.sqrt()).max(0.0) } else { 0.0 }
    }
}
