//! ONMF: the largest projection on a direction.

use super::{About, Formulas, Mat, Measure, Rough};

/// The largest `mᵀu`; adds `w·(mᵀu)·m`, so that the sum is a power step. Value: `Σ w(mᵀu)²`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Power;

impl Power {
    pub(super) const USUAL: Self = Power;
}

impl Formulas for Power {
    const ABOUT: About = About {
        name: "power",
        words: "the largest projection mᵀu/‖u‖",
        file: "components.npy",
        measure: Measure::Squares,
        onmf: true,
        distance: false,
        adds_the_same: false,
        adds_scores: true,
        information: false,
    };
    const ROUGH: Rough = Rough::Directions;

    #[inline(always)]
    fn rough_adds(self, adds: f32, score: f32) -> f32 {
        adds * score
    }

    #[inline(always)]
    fn rough_value(self, adds: f64, score: f64) -> f64 {
        adds * score * score
    }

    #[inline(always)]
    fn gives(self, w: f64, s: f64, _norm2: impl Fn() -> f64) -> (f64, f64) {
        (w * s, w * s * s)
    }

    #[inline(always)]
    fn all_of(self, w: f64, norm2: f64) -> f64 {
        w * norm2
    }

    #[inline(always)]
    fn left(self, w: f64, norm2: f64, s: f64, _half: f64, _information: f64) -> f64 {
        w * (norm2 - s * s).max(0.0)
    }

    /// The file has U: directions up to their lengths.
    fn of_file(self, _file: &str, read: Mat) -> Mat {
        read.with_unit_columns()
    }
}
