//! From labels to a feasible solution: U ≥ 0, V ≥ 0 and VVᵀ = I to rounding, whatever the method was.
//!
//! ```
//! use orthant::{Job, cluster, matrix::open};
//!
//! let points = [[8.0, 0.0], [6.0, 0.0], [0.0, 5.0]];
//! let solution = cluster(&*open(&points, None)?, &Job::new("best", 2)?, &mut ())?.solution;
//! assert_eq!((solution.labels.as_slice(), solution.sizes.as_slice()), ([0, 0, 1].as_slice(), [2, 1].as_slice()));
//! // A point is its strength times the column of U that belongs to its cluster.
//! assert!((solution.v[1] * solution.u[(0, 0)] - 6.0).abs() < 1e-12);
//!
//! // New points, and how strong they are.
//! let (labels, strengths) = solution.transform(&*open(&[[0.0, 10.0], [8.0, 1.0]], None)?)?;
//! assert_eq!(labels, [1, 0]);
//! assert!((strengths[0] - 2.0).abs() < 1e-12);
//! # Ok::<(), orthant::Error>(())
//! ```

use std::time::{Duration, Instant};

use crate::bytes::bytes_of;
use crate::error::{Error, Result};
use crate::matrix::passes::{Assign, Left, Power, Residual, Strengths, SumOfLabels};
use crate::matrix::{Data, Mat, Rule, Slots};
use crate::prepare::{Problem, check_finite};
use crate::singular::{Dominant, TOLERANCE, dominant_within};

/// A feasible solution.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Solution {
    /// Cluster of each point, from 0; −1 for a point without one. Clusters are numbered by decreasing energy.
    pub labels: Vec<i32>,
    /// U, features × k, in the data's own units, such that VVᵀ = I.
    pub u: Mat,
    /// The one nonzero of V for each point. (With weights: `Σ wⱼvⱼ² = 1` over a cluster.)
    pub v: Vec<f64>,
    /// Unit directions of the clusters, features × k.
    pub directions: Mat,
    /// What new points are compared with, by the method's own rule: directions, centres in the data's units, or
    /// distributions.
    pub centroids: Mat,
    /// Number of points in each cluster.
    pub sizes: Vec<usize>,
    /// `σ₁²(Mᵢ)/‖M‖²`: the share of the data that each cluster explains.
    pub energy: Vec<f64>,
    /// Points that were moved to clusters that had none.
    pub refilled: Vec<usize>,
    /// Points that [`predict`] would give another label, as it happens with methods that are not polished.
    pub relabelled: usize,
    /// How points belong to the clusters.
    pub rule: Rule,
}
bytes_of!(Solution { labels, u, v, directions, centroids, sizes, energy, refilled, relabelled, rule });

impl Solution {
    /// Labels of other points.
    pub fn predict(&self, data: &dyn Data) -> Result<Vec<i32>> {
        let (given, needed) = (data.shape().features, self.centroids.rows);
        if given != needed {
            return Err(Error::Data(format!("the points have {given} features, the clusters have {needed}")));
        }
        predict(data, &self.centroids, self.rule)
    }

    /// Labels of other points, and for each the one nonzero of its column of V: the point is about that times its
    /// cluster's column of U.
    pub fn transform(&self, data: &dyn Data) -> Result<(Vec<i32>, Vec<f64>)> {
        let labels = self.predict(data)?;
        let (lengths, scale) = (self.lengths(), data.facts().scale);
        let mut slots = data.slots()?;
        slots.set_labels(0, &labels)?;
        let mut strengths = slots.tell(&Strengths::new(&self.directions, 0))?.0;
        for (strength, &label) in strengths.iter_mut().zip(&labels) {
            let length = usize::try_from(label).map_or(1.0, |label| lengths[label]);
            // The product is near 1 for points like those of the fit, whatever their unit.
            *strength = if length > 0.0 { *strength / (length * scale) } else { 0.0 };
        }
        Ok((labels, strengths))
    }

    /// What the clusters leave of other points with the given labels: `Σ w‖m − UV‖²`, in the data's own units.
    pub fn left(&self, data: &dyn Data, labels: &[i32]) -> Result<f64> {
        let mut slots = data.slots()?;
        slots.set_labels(0, labels)?;
        let scale = data.facts().scale;
        Ok(slots.tell(&Residual::new(&self.directions, 0))?.total() / scale / scale)
    }

    /// The length of each column of U, from the entry where its direction is largest: no square is taken.
    pub fn lengths(&self) -> Vec<f64> {
        let Solution { u, directions, .. } = self;
        let length = |i: usize| {
            let largest =
                (0..u.rows).max_by(|&a, &b| directions[(a, i)].abs().total_cmp(&directions[(b, i)].abs()));
            let length = largest.map_or(0.0, |f| u[(f, i)] / directions[(f, i)]);
            if length > 0.0 { length } else { 0.0 }
        };
        (0..u.cols).map(length).collect()
    }
}

/// So long directions may take that are wanted by somebody who has asked to stop: most are exact by then.
const GRACE: Duration = Duration::from_secs(1);

/// The dominant vectors of the labels of run 0.
fn exact_directions(problem: &Problem, slots: &mut dyn Slots, guess: &Mat) -> Result<Dominant> {
    let begun = Instant::now();
    let is_to_stop = || begun.elapsed() >= GRACE && problem.is_to_stop();
    Ok(dominant_within(problem.data, slots, &[0], &[guess], TOLERANCE, &is_to_stop)?.remove(0))
}

/// Finishes a partition into the labels of run 0; `guess` are its directions as well as they are known. Comes with what
/// the solution leaves of the data, computed point by point.
pub fn finish(
    problem: &Problem,
    slots: &mut dyn Slots,
    labels: &[i32],
    guess: &Mat,
    rule: Rule,
) -> Result<(Solution, Left)> {
    let k = problem.k;
    let facts = problem.facts();
    let mut labels = labels.to_vec();
    // Without weight a point has no say in the directions; it is labelled by them at the end.
    let weightless: Vec<usize> = facts.weightless_points.clone();
    weightless.iter().for_each(|&j| labels[j] = -1);
    // k-means clusters zero points too, but they have no direction: set aside, and put back at the end.
    let zero_labels: Vec<i32> = facts.zero_points.iter().map(|&j| labels[j]).collect();
    facts.zero_points.iter().for_each(|&j| labels[j] = -1);
    slots.set_labels(0, &labels)?;

    let mut refilled = vec![];
    let mut found = exact_directions(problem, slots, guess)?;
    loop {
        let mut sizes = sizes(&labels, k);
        if rule.distance {
            // Zero points alone are a cluster of k-means, though one without a direction.
            sizes.iter_mut().zip(self::sizes(&zero_labels, k)).for_each(|(all, zero)| *all += zero);
        }
        let empty: Vec<usize> = (0..k).filter(|&i| sizes[i] == 0).collect();
        if empty.is_empty() {
            break;
        }
        // k does not exceed the number of usable points, so some cluster has two.
        let worst = slots.tell(&Residual::new(&found.u, 0))?.worst_of_each(empty.len());
        if worst.is_empty() {
            break;
        }
        for (to, point) in empty.into_iter().zip(worst) {
            labels[point] = to as i32;
            refilled.push(point);
        }
        slots.set_labels(0, &labels)?;
        found = exact_directions(problem, slots, &found.u)?;
    }

    // A power step more: features that no point of a cluster has get exactly 0.
    found.u = slots.sweep(&Power::new(vec![found.u], &[0]))?.1.with_unit_columns();

    // Number the clusters by decreasing energy, ties by the old number.
    let mut order: Vec<usize> = (0..k).collect();
    order.sort_by(|&a, &b| found.sigma2[b].total_cmp(&found.sigma2[a]).then(a.cmp(&b)));
    let mut number = vec![0i32; k];
    order.iter().enumerate().for_each(|(new, &old)| number[old] = new as i32);
    let renumber = |label: i32| usize::try_from(label).map_or(-1, |old| number[old]);
    labels.iter_mut().for_each(|l| *l = renumber(*l));
    let mut directions = Mat::from_fn(found.u.rows, k, |f, i| found.u[(f, order[i])]);
    slots.set_labels(0, &labels)?;
    if facts.negative.is_some() {
        // The sign of a singular vector is arbitrary: V ≥ 0 wants the one along which more of the cluster lies.
        let ahead = slots.tell(&Residual::new(&directions, 0))?.energy;
        let behind = slots.tell(&Residual::new(&directions.clone().map(|x| -x), 0))?.energy;
        let sign = |(a, b): (&f64, &f64)| if b > a { -1.0 } else { 1.0 };
        directions.scale_columns(&ahead.iter().zip(&behind).map(sign).collect::<Vec<_>>());
    }

    if rule.distance {
        for (&j, &label) in facts.zero_points.iter().zip(&zero_labels) {
            labels[j] = renumber(label);
        }
        slots.set_labels(0, &labels)?;
    }
    let centroids = if rule.onmf {
        directions.clone()
    } else {
        let (weight, sums) = slots.sweep(&SumOfLabels { k, rule, run: 0 })?;
        let centroids = rule.centroids(sums, &weight.0);
        if rule.distance { centroids.map(|x| x / facts.scale) } else { centroids }
    };
    let predicted = predict_into(slots, 1, facts.scale, &centroids, rule)?;
    let relabelled = labels.iter().zip(&predicted).filter(|(l, p)| **l >= 0 && l != p).count();
    // Points without weight had no say; now the clusters say where they belong.
    if !weightless.is_empty() {
        weightless.iter().for_each(|&j| labels[j] = predicted[j]);
        slots.set_labels(0, &labels)?;
    }

    // v = mᵀu for unit u [P, eq. (optCoeffs)], then (UD, D⁻¹V) with D = diag(‖V(i, :)‖). [P, Sec. 2.4]
    let left = slots.tell(&Residual::new(&directions, 0))?;
    let norms: Vec<f64> = left.energy.iter().map(|e| e.sqrt()).collect();
    let inverse: Vec<f64> = norms.iter().map(|&n| if n > 0.0 { 1.0 / n } else { 0.0 }).collect();
    let mut v = slots.tell(&Strengths::new(&directions, 0))?.0;
    for (v, &label) in v.iter_mut().zip(&labels) {
        if let Ok(i) = usize::try_from(label) {
            *v *= inverse[i];
        }
    }
    let mut u = directions.clone();
    u.scale_columns(&norms.iter().map(|n| n / facts.scale).collect::<Vec<_>>());
    let sizes = sizes(&labels, k);
    let solution = Solution {
        labels,
        u,
        v,
        directions,
        centroids,
        sizes,
        energy: left.energy.iter().map(|e| if facts.norm2 > 0.0 { e / facts.norm2 } else { 0.0 }).collect(),
        refilled,
        relabelled,
        rule,
    };
    Ok((solution, left))
}

/// Number of points of each cluster.
fn sizes(labels: &[i32], k: usize) -> Vec<usize> {
    let mut sizes = vec![0usize; k];
    labels.iter().filter_map(|&l| usize::try_from(l).ok()).for_each(|l| sizes[l] += 1);
    sizes
}

/// Labels of other points by a method's rule: what its `centroids` say of them.
///
/// # Errors
/// When the centroids are of other features, or entries on either side are not finite.
pub fn predict(data: &dyn Data, centroids: &Mat, rule: Rule) -> Result<Vec<i32>> {
    let features = data.shape().features;
    if centroids.rows != features || centroids.cols == 0 {
        let (rows, k) = (centroids.rows, centroids.cols);
        let problem = format!("{k} of {rows} features, the points have {features} features");
        return Err(Error::parameter("centroids", problem));
    }
    if let Some(x) = centroids.data.iter().find(|x| !x.is_finite()) {
        return Err(Error::parameter("centroids", format!("{x} is no entry of a centroid")));
    }
    check_finite(data.facts())?;
    predict_into(&mut *data.slots()?, 0, data.facts().scale, centroids, rule)
}

/// The same, into the labels of a run.
fn predict_into(
    slots: &mut dyn Slots,
    run: usize,
    scale: f64,
    centroids: &Mat,
    rule: Rule,
) -> Result<Vec<i32>> {
    let scaled = if rule.distance { centroids.clone().map(|x| x * scale) } else { centroids.clone() };
    slots.tell(&Assign::new(rule, vec![rule.scored(scaled)], vec![run]))?;
    slots.labels(run)
}
