//! Everything about a partition with given directions, recomputed from the data.

use super::column;
use crate::bytes::bytes_of;
use crate::error::Result;
use crate::matrix::engine::{ArrayMut, Strip};
use crate::matrix::seam::{Each, Part, Pass, Sum, Use};
use crate::matrix::{Mat, Shape};

/// What unit directions leave of the points of a run.
#[derive(Debug, Clone)]
pub struct Residual {
    /// k × features: a direction is contiguous.
    pub(super) directions: Mat,
    /// Their squared norms, summed in the order in which a point's own share of them is, so that what is explained whole
    /// leaves nothing.
    pub(super) norms2: Vec<f64>,
    run: usize,
}
bytes_of!(Residual { directions, norms2, run });

impl Residual {
    /// For directions, features × k.
    pub fn new(u: &Mat, run: usize) -> Self {
        let directions = u.transpose();
        let norms2 = (0..u.cols).map(|i| directions.row(i).iter().map(|u| u * u).sum()).collect();
        Residual { directions, norms2, run }
    }
}

/// What [`Residual`] tells.
#[derive(Debug, Clone)]
pub struct Left {
    /// `Σⱼ wⱼ‖mⱼ − uv‖²` over each cluster, point by point.
    pub clusters: Vec<f64>,
    /// What points without a cluster have.
    pub outside: f64,
    /// Of each cluster the point of which most is left, and how much; zero points and those without weight aside.
    pub worst: Vec<Option<(usize, f64)>>,
    /// `Σ w(mᵀu)²` of each cluster.
    pub energy: Vec<f64>,
    /// Number of points of each cluster.
    pub sizes: Vec<usize>,
}
bytes_of!(Left { clusters, outside, worst, energy, sizes });

impl Left {
    /// `Σⱼ wⱼ‖mⱼ − uv‖²`.
    pub fn total(&self) -> f64 {
        self.clusters.iter().sum::<f64>() + self.outside
    }

    /// The point of which most is left, among those that are in a cluster with others.
    pub fn worst(&self) -> Option<usize> {
        self.worst_of_each(1).first().copied()
    }

    /// The same of several clusters, no two of one: at most so many, the worst first.
    pub fn worst_of_each(&self, most: usize) -> Vec<usize> {
        let others = self.worst.iter().zip(&self.sizes).filter(|(_, size)| **size > 1);
        let mut candidates: Vec<(usize, f64)> = others.filter_map(|(worst, _)| *worst).collect();
        candidates.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        candidates.into_iter().take(most).map(|(point, _)| point).collect()
    }
}

/// The candidate of which more is left, the first of equals.
fn later_if_more(best: Option<(usize, f64)>, new: (usize, f64)) -> Option<(usize, f64)> {
    match best {
        Some(best) if best.1 > new.1 || (best.1 == new.1 && best.0 < new.0) => Some(best),
        _ => Some(new),
    }
}

impl Part for Left {
    fn merge(&mut self, after: Self) {
        self.clusters.iter_mut().zip(&after.clusters).for_each(|(a, b)| *a += b);
        self.energy.iter_mut().zip(&after.energy).for_each(|(a, b)| *a += b);
        self.sizes.iter_mut().zip(&after.sizes).for_each(|(a, b)| *a += b);
        self.outside += after.outside;
        for (a, b) in self.worst.iter_mut().zip(after.worst) {
            *a = b.map_or(*a, |b| later_if_more(*a, b));
        }
    }
}

impl Pass for Residual {
    const NAME: &'static str = "residual";
    type Part = Left;

    fn empty(&self) -> Left {
        let k = self.directions.rows;
        let zeros = || vec![0.0; k];
        Left { clusters: zeros(), outside: 0.0, worst: vec![None; k], energy: zeros(), sizes: vec![0; k] }
    }

    fn slots(&self) -> Vec<Use> {
        vec![Use::Labels(self.run)]
    }

    fn cost(&self, shape: &Shape) -> usize {
        2 * shape.nonzeros
    }

    fn strip(&self, strip: &mut Strip, arrays: &mut [ArrayMut], part: &mut Left) -> Result<()> {
        for (p, &label) in arrays[0].labels().iter().enumerate() {
            let (w, norm2, i) = (strip.weight(p), strip.norm2(p), column(label, 0) as usize);
            if i >= self.directions.rows {
                part.outside += w * norm2;
                continue;
            }
            let direction = self.directions.row(i);
            let v = strip.dot(p, direction).max(0.0);
            let left = w * strip.residual2(p, direction, self.norms2[i], v);
            part.clusters[i] += left;
            part.energy[i] += w * v * v;
            part.sizes[i] += 1;
            if w > 0.0 && norm2 > 0.0 {
                part.worst[i] = later_if_more(part.worst[i], (strip.first + p, left));
            }
        }
        Ok(())
    }
}

/// Tells `max(0, mⱼᵀu)` of each point's own direction, without the weight; 0 without a cluster.
#[derive(Debug, Clone)]
pub struct Strengths {
    /// k × features.
    directions: Mat,
    run: usize,
}
bytes_of!(Strengths { directions, run });

impl Strengths {
    /// For directions, features × k.
    pub fn new(u: &Mat, run: usize) -> Self {
        Strengths { directions: u.transpose(), run }
    }
}

impl Pass for Strengths {
    const NAME: &'static str = "strengths";
    type Part = Each<f64>;

    fn empty(&self) -> Each<f64> {
        Each(vec![])
    }

    fn slots(&self) -> Vec<Use> {
        vec![Use::Labels(self.run)]
    }

    fn strip(&self, strip: &mut Strip, arrays: &mut [ArrayMut], strengths: &mut Each<f64>) -> Result<()> {
        for (p, &label) in arrays[0].labels().iter().enumerate() {
            let i = column(label, 0) as usize;
            let known = i < self.directions.rows;
            strengths.0.push(if known { strip.dot(p, self.directions.row(i)).max(0.0) } else { 0.0 });
        }
        Ok(())
    }
}

/// Tells `Σ wⱼvⱼ²` over each cluster of a run, for given numbers of all points.
#[derive(Debug, Clone)]
pub struct Squares {
    /// One for each point.
    pub v: Vec<f64>,
    /// Number of clusters.
    pub k: usize,
    /// The run.
    pub run: usize,
}
bytes_of!(Squares { v, k, run });

impl Pass for Squares {
    const NAME: &'static str = "squares";
    type Part = Sum;

    fn empty(&self) -> Sum {
        Sum(vec![0.0; self.k])
    }

    fn slots(&self) -> Vec<Use> {
        vec![Use::Labels(self.run)]
    }

    fn reads_points(&self) -> bool {
        false
    }

    fn cost(&self, shape: &Shape) -> usize {
        shape.points
    }

    fn strip(&self, strip: &mut Strip, arrays: &mut [ArrayMut], squares: &mut Sum) -> Result<()> {
        for (p, &label) in arrays[0].labels().iter().enumerate() {
            if let Some(sum) = usize::try_from(label).ok().and_then(|i| squares.0.get_mut(i)) {
                let v = self.v[strip.first + p];
                *sum += strip.weight(p) * v * v;
            }
        }
        Ok(())
    }
}
