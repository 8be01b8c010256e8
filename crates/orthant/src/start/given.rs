//! Starts from labels or centroids that the user has.

use super::{Start, Stream, directions};
use crate::error::{Error, Result};
use crate::matrix::passes::{FillRandom, Indicate, Products, SumOfLabels, Transform};
use crate::matrix::{Mat, Rule, Slots};
use crate::prepare::Problem;

pub(super) fn check(start: &Start, problem: &Problem) -> Result<()> {
    let shape = problem.data.shape();
    match start {
        Start::Labels(labels) => {
            if labels.len() != shape.points {
                return Err(Error::parameter(
                    "start",
                    format!("{} labels for {} points: give one for each point", labels.len(), shape.points),
                ));
            }
            if let Some(j) = labels.iter().position(|&l| l < -1 || l >= problem.k as i32) {
                return Err(Error::parameter(
                    "start",
                    format!(
                        "the label of point {j} (counted from 0) is {}: labels run from 0 to {} (-1: none)",
                        labels[j],
                        problem.k - 1
                    ),
                ));
            }
            Ok(())
        }
        Start::Centroids(u) => {
            if (u.rows, u.cols) != (shape.features, problem.k) {
                return Err(Error::parameter(
                    "start",
                    format!(
                        "{} centroids of {} features were given, {} of {} are needed",
                        u.cols, u.rows, problem.k, shape.features
                    ),
                ));
            }
            match u.data.iter().find(|x| !x.is_finite()) {
                Some(x) => Err(Error::parameter("start", format!("a centroid has the entry {x}"))),
                None => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

/// Centroids in the units of the scaled data.
pub(super) fn scaled(problem: &Problem, u: &Mat) -> Mat {
    u.clone().map(|x| x * problem.facts().scale)
}

/// Centroids of a partition: dominant vectors, or what the rule makes of sums.
pub(super) fn means(problem: &Problem, slots: &mut dyn Slots, labels: &[i32], rule: Rule) -> Result<Mat> {
    slots.set_labels(0, labels)?;
    if rule.onmf {
        return directions(problem, slots);
    }
    let (weight, sums) = slots.sweep(&SumOfLabels { k: problem.k, rule, run: 0 })?;
    Ok(rule.centroids(sums, &weight.0))
}

/// V from the labels of run 0: one nonzero for each point, rows of norm 1. Clusters without a point
/// are an error, or get random rows where there is a stream to draw them from.
pub(super) fn indicator(problem: &Problem, slots: &mut dyn Slots, stream: Option<Stream>) -> Result<()> {
    let k = problem.k;
    slots.tell(&Indicate { k, run: 0 })?;
    let mut vvt = slots.tell(&Products { k })?;
    let empty: Vec<usize> = (0..k).filter(|&i| vvt[(i, i)] <= 0.0).collect();
    match (empty.first(), stream) {
        (None, _) => {}
        (Some(i), None) => {
            return Err(Error::parameter("start", format!("cluster {i} of the start has no nonzero point")));
        }
        (Some(_), Some(stream)) => {
            for i in empty {
                slots.tell(&FillRandom { rows: i..i + 1, k, seed: stream.seed, stream: stream.run })?;
            }
            vvt = slots.tell(&Products { k })?;
        }
    }
    let inverse = |i: usize, j: usize| if i == j { 1.0 / vvt[(i, i)].sqrt() } else { 0.0 };
    slots.tell(&Transform { a: Mat::from_fn(k, k, inverse) })
}
