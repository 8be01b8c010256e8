//! Children of good partitions (HG-means: Gribel and Vidal, 2019): the clusters of two parents are matched, of every pair one
//! centroid is taken, and in many of the children one gives way to a badly explained point. What both parents have
//! found stays, what they differ in is tried in new combinations.

use rand_chacha::ChaCha8Rng;

use super::super::lloyd::Model;
use super::Candidate;
use crate::error::Result;
use crate::matrix::passes::{Information, Replace, Settle, Unsettle};
use crate::matrix::{Mat, Rule, threads};
use crate::prepare::Problem;
use crate::random::{below, uniform};
use crate::start::Stream;
use crate::start::residual::left;

/// Centroids of one child for each stream, as points are multiplied with them. `found` has the best first. With
/// `exchanging` all of them have a centroid that neither parent has, else half of them.
pub(super) fn children(
    model: &dyn Model,
    problem: &Problem,
    found: &[Candidate],
    streams: Vec<Stream>,
    exchanging: bool,
) -> Result<Vec<(Mat, ChaCha8Rng)>> {
    let child = |stream: Stream| {
        let mut generator = stream.generator();
        // Of two partitions at random the better one.
        let mut parent = || below(&mut generator, found.len()).min(below(&mut generator, found.len()));
        let (a, b) = (parent(), parent());
        let mut u = model.rule().scored(mixed(&found[a], &found[b], &mut generator));
        // One parent alone has nothing new.
        if exchanging || a == b || uniform(&mut generator) < 0.5 {
            exchange(model, problem, &mut u, &mut generator)?;
        }
        Ok((u, generator))
    };
    if problem.is_apart(streams.len()) {
        threads::apart(streams, child).into_iter().collect()
    } else {
        streams.into_iter().map(child).collect()
    }
}

/// Of every pair of matched clusters the centroid of one.
fn mixed(a: &Candidate, b: &Candidate, generator: &mut ChaCha8Rng) -> Mat {
    let mut u = a.directions.clone();
    for (own, other) in matched(&a.labels, &b.labels, u.cols) {
        if uniform(generator) < 0.5 {
            u.set_column(own, &b.directions.column(other));
        }
    }
    u
}

/// Pairs of clusters of two partitions, those that share most points first.
fn matched(a: &[i32], b: &[i32], k: usize) -> Vec<(usize, usize)> {
    let mut shared = vec![0usize; k * k];
    for (&a, &b) in a.iter().zip(b).filter(|(a, b)| **a >= 0 && **b >= 0) {
        shared[a as usize * k + b as usize] += 1;
    }
    let mut order: Vec<usize> = (0..k * k).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(shared[at]));
    let (mut of_a, mut of_b) = (vec![false; k], vec![false; k]);
    let mut pairs = vec![];
    for (own, other) in order.into_iter().map(|at| (at / k, at % k)) {
        if !of_a[own] && !of_b[other] {
            (of_a[own], of_b[other]) = (true, true);
            pairs.push((own, other));
        }
    }
    pairs
}

/// A centroid gives way to a point drawn by what is left of it: any, or the one whose loss costs least.
fn exchange(model: &dyn Model, problem: &Problem, u: &mut Mat, generator: &mut ChaCha8Rng) -> Result<()> {
    let rule = model.rule();
    let mut slots = problem.data.slots()?;
    if rule.information {
        slots.tell(&Information)?;
    }
    slots.tell(&Unsettle { rule })?;
    slots.tell(&Settle::new(u.clone(), rule))?;
    let Some(point) = left(&mut *slots, &[uniform(generator)])?[0] else { return Ok(()) };
    let candidate = rule.scored(halfway(rule, u, problem.data.gather(&[point])?));
    let out = if uniform(generator) < 0.5 {
        below(generator, u.cols)
    } else {
        let left = Replace::left(&slots.tell(&Replace::new(u, &candidate, rule))?);
        (1..u.cols).fold(0, |a, b| if left[(0, b)] < left[(0, a)] { b } else { a })
    };
    u.set_column(out, &candidate.data);
    Ok(())
}

/// A point as a centroid. One text has few of the words of its kind, and as a distribution hardly a point but itself would
/// come to it: so under the divergence it is halfway from the point to its present centroid.
fn halfway(rule: Rule, u: &Mat, point: Mat) -> Mat {
    if !rule.information {
        return rule.of_points(point);
    }
    let scores: Vec<f64> =
        (0..u.cols).map(|i| (0..u.rows).map(|f| point[(f, 0)] * u[(f, i)]).sum()).collect();
    let own = (1..u.cols).fold(0, |best, i| if scores[i] > scores[best] { i } else { best });
    let present = rule.unscored(u.columns(own..own + 1));
    let mut new = rule.of_points(point);
    new.data.iter_mut().zip(&present.data).for_each(|(x, present)| *x = 0.5 * (*x + present));
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_are_matched_by_the_points_that_they_share() {
        let (a, b) = ([0, 0, 0, 1, 1, 2, -1], [2, 2, 1, 0, 0, 1, 0]);
        assert_eq!(matched(&a, &b, 3), [(0, 2), (1, 0), (2, 1)]);
    }
}
