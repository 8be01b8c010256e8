//! What CHNMF and O-PNMF share: V ← V ∘ UᵀM / (Q·V) in one fused pass, and how V ends as a partition.

use crate::error::Result;
use crate::matrix::passes::{Products, TakePositive};
use crate::matrix::{Mat, Slots};
use crate::prepare::Problem;
use crate::run::Conclusion;
use crate::start::{self, Start, Stream};

/// 5000 iterations from random starts, 20000 from SVD-based ones, unless set. [P, Sec. 4]
pub(super) fn most(set: Option<usize>, start: &Start) -> usize {
    set.unwrap_or(if matches!(start, Start::Svd | Start::Nndsvd) { 20000 } else { 5000 })
}

/// Slots with a positive V, and U where the start has one of its own.
pub(super) fn begin<'a>(
    problem: &'a Problem<'a>,
    start: &Start,
    streams: &[Stream],
) -> Result<(Box<dyn Slots + 'a>, Option<Mat>)> {
    start.check(problem)?;
    assert_eq!(streams.len(), 1, "the table says that runs of multiplicative methods are not batched");
    let mut slots = problem.data.slots()?;
    let own = start::v(start, problem, &mut *slots, streams[0])?;
    if !matches!(start, Start::Random | Start::Nndsvd) {
        // Zeros never change under multiplication.
        slots.tell(&TakePositive { factors: vec![1.0; problem.k], fill: 1e-10 })?;
    }
    Ok((slots, own))
}

/// Labels are the largest entries of each column of V, whose rows are multiplied by `factors` for it.
pub(super) fn conclude(problem: &Problem, slots: &mut dyn Slots, factors: Vec<f64>) -> Result<Conclusion> {
    let k = problem.k;
    let labels = problem.label_by_v(slots, factors)?;
    let (vvt, mvt) = slots.sweep(&Products { k })?;
    let cosines =
        Mat::from_fn(
            k,
            k,
            |i, j| if i == j { 0.0 } else { vvt[(i, j)] / (vvt[(i, i)] * vvt[(j, j)]).sqrt() },
        );
    Ok(Conclusion {
        labels,
        directions: mvt,
        explained: None,
        objective: None,
        negativity: 0.0,
        orthogonality: cosines.norm2().sqrt(),
    })
}
