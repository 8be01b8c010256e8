//! What CHNMF and O-PNMF share: V ← V ∘ UᵀM / (Q·V) in one fused pass, and how V ends as a partition.

use crate::error::Result;
use crate::matrix::{Mat, Store};
use crate::run::Conclusion;

/// Parameters of a multiplicative method.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub tolerance: f64,
    pub max_iterations: Option<usize>,
    pub floor: f64,
}

impl Limits {
    pub(super) fn from_setting(s: &super::Setting) -> Self {
        Limits {
            tolerance: s.get("tolerance"),
            max_iterations: s.given("max-iterations").map(|x| x as usize),
            floor: s.get("floor"),
        }
    }

    /// 5000 iterations from random starts, 20000 from SVD-based ones. [P, Sec. 4]
    pub(super) fn max_iterations(&self, start: &crate::start::Start) -> usize {
        use crate::start::Start;
        let usual = if matches!(start, Start::Svd | Start::Nndsvd) { 20000 } else { 5000 };
        self.max_iterations.unwrap_or(usual)
    }
}

/// Labels are the largest entries of each column of V.
pub(super) fn conclude(store: &mut dyn Store, run: usize) -> Result<Conclusion> {
    store.label_by_v(run)?;
    let (mvt, vvt) = store.sum()?;
    let k = vvt.rows;
    let cosines =
        Mat::from_fn(
            k,
            k,
            |i, j| if i == j { 0.0 } else { vvt[(i, j)] / (vvt[(i, i)] * vvt[(j, j)]).sqrt() },
        );
    Ok(Conclusion { centroids: mvt, negativity: 0.0, orthogonality: cosines.norm2().sqrt() })
}
