//! Groups of nearly collinear points, for data with more points than the dual bound can take one by one.

use crate::error::Result;
use crate::matrix::passes::{Assign, Group, Settle, Shares, Unsettle};
use crate::matrix::{Data, Mat, Slots, rule};
use crate::start::residual::left;

/// Passes that improve the groups' directions.
const ROUNDS: usize = 4;
/// Passes that score points against all groups, or nearly all.
pub(super) const PASSES: u128 = ROUNDS as u128 + 3;

/// Writes groups into the labels of run 0, and returns their directions, features × groups. No two points of
/// different `clusters` share a group.
///
/// Directions are seeded by what those so far leave unexplained, many at a time and at even fractions of it, so that
/// nothing here is random; then points choose the nearest and directions follow, as in EM-ONMF.
pub(super) fn group(data: &dyn Data, slots: &mut dyn Slots, clusters: &[i32], count: usize) -> Result<Mat> {
    let features = data.shape().features;
    slots.tell(&Unsettle { rule: rule::Power.into() })?;
    let mut u = Mat::zeros(features, 0);
    while u.cols < count {
        let batch = (u.cols / 4).max(8).min(count - u.cols);
        let fractions: Vec<f64> = (0..batch).map(|i| (i as f64 + 0.5) / batch as f64).collect();
        let mut points: Vec<usize> = left(slots, &fractions)?.into_iter().flatten().collect();
        points.dedup();
        if points.is_empty() {
            break;
        }
        let new = data.gather(&points)?.with_unit_columns();
        slots.tell(&Settle::new(new.clone(), rule::Power.into()))?;
        u = Mat::beside(&[&u, &new]);
    }
    for _ in 0..ROUNDS {
        let pass = Assign::new(rule::Power.into(), vec![u.clone()], vec![0]);
        let sums = slots.sweep(&pass)?.1.with_unit_columns();
        // A direction that no point chose stays where it is.
        let chosen: Vec<bool> = sums.column_norms2().iter().map(|&n| n > 0.0).collect();
        u = Mat::from_fn(features, u.cols, |f, i| if chosen[i] { sums[(f, i)] } else { u[(f, i)] });
    }
    slots.tell(&Assign::new(rule::Power.into(), vec![u.clone()], vec![0]))?;
    let mut labels = slots.labels(0)?;
    let mut parts: Vec<(i32, i32)> = labels.iter().copied().zip(clusters.iter().copied()).collect();
    parts.retain(|&(group, cluster)| group >= 0 && cluster >= 0);
    parts.sort_unstable();
    parts.dedup();
    for (label, &cluster) in labels.iter_mut().zip(clusters) {
        *label = parts.binary_search(&(*label, cluster)).map_or(-1, |at| at as i32);
    }
    slots.set_labels(0, &labels)?;
    Ok(Mat::from_fn(features, parts.len(), |f, i| u[(f, parts[i].0 as usize)]))
}

/// The points of every group as one point.
#[derive(Debug, Clone)]
pub(super) struct Grouped {
    /// `MR`, features × groups; zero for a group without points. R is points × groups with nonnegative unit columns, each
    /// nonzero on its own group only; M has its weights.
    pub(super) mr: Mat,
    /// `MMᵀ`, features × features.
    pub(super) mmt: Mat,
}

/// The groups that the labels of run 0 name: `mⱼ` has the share in its group's point that its product with the group's
/// direction (features × groups) says.
pub(super) fn grouped(data: &dyn Data, slots: &mut dyn Slots, u: &Mat) -> Result<Grouped> {
    let norms2 = slots.tell(&Shares::new(u))?;
    let (mr, mmt) = slots.tell(&Group::new(&norms2, &data.shape()))?;
    Ok(Grouped { mr: mr.transpose(), mmt })
}
