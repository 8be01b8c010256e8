//! A rough pass over the points of a block, up to eight runs side by side: what `lanes.rs` does with data in memory, iteration
//! after iteration, for those that are read anew in every pass or held by others.

use std::ops::Range;

use crate::matrix::Mat;
use crate::matrix::kernels::lanes::{Added, LANES, NONE, Nearest, Rows, Scored, Sums, TOGETHER};
use crate::matrix::kernels::run;
use crate::matrix::kernels::shares::Shares;
use crate::matrix::rough::Softness;

/// The columns of all runs of a pass, as kernels read them.
pub(crate) struct SideBySide {
    groups: Vec<Group>,
    runs: usize,
}

struct Group {
    runs: Range<usize>,
    /// features × k × lanes.
    u: Vec<f32>,
}

/// What makes up for columns that are not scaled: a score is `mᵀu·inverse − shift·offset`.
pub(crate) struct Scaled<'a> {
    pub(crate) k: usize,
    /// runs × k.
    pub(crate) inverse: &'a [f32],
    pub(crate) offset: &'a [f32],
    /// Of every point.
    pub(crate) shift: &'a [f32],
}

/// Runs that go side by side.
fn groups(runs: usize) -> impl Iterator<Item = Range<usize>> {
    (0..runs).step_by(LANES).map(move |from| from..(from + LANES).min(runs))
}

impl SideBySide {
    /// Of matrices of features × k, one for each run.
    pub(super) fn new(scored: &[Mat]) -> Self {
        let group = |runs: Range<usize>| {
            let given = &scored[runs.clone()];
            Group { u: in_lanes(given), runs }
        };
        SideBySide { groups: groups(scored.len()).map(group).collect(), runs: scored.len() }
    }

    /// For each point and run (points × runs) the cluster with the largest score, and that score.
    pub(crate) fn nearest(&self, rows: &Rows, scaled: &Scaled) -> (Vec<u8>, Vec<f32>) {
        let (count, runs) = (rows.len(), self.runs);
        let mut found = (vec![NONE; count * runs], vec![0.0; count * runs]);
        for group in &self.groups {
            let (inverse, offset) = group.scaling(scaled);
            let to = Scored { rows, k: scaled.k, u: &group.u, inverse: &inverse, offset: &offset };
            let (mut label, mut score) = (vec![0; count * LANES], vec![0.0; count * LANES]);
            let shift = scaled.shift;
            run(Nearest { to, from: 0, shift, label: &mut label, score: &mut score });
            group.out_of_lanes(&label, 1, &mut found.0, runs);
            group.out_of_lanes(&score, 1, &mut found.1, runs);
        }
        found
    }

    /// For each point and run what it adds to every cluster (points × runs × k), and its largest score (points × runs).
    pub(crate) fn shares(
        &self,
        rows: &Rows,
        scaled: &Scaled,
        squares: bool,
        softness: &[Softness],
    ) -> (Vec<f32>, Vec<f32>) {
        let (count, runs, k) = (rows.len(), self.runs, scaled.k);
        let mut found = (vec![0.0; count * runs * k], vec![0.0; count * runs]);
        for group in &self.groups {
            let (inverse, offset) = group.scaling(scaled);
            let to = Scored { rows, k, u: &group.u, inverse: &inverse, offset: &offset };
            let (mut shares, mut score) = (vec![0.0; count * k * LANES], vec![0.0; count * LANES]);
            let (from, shift) = (0, scaled.shift);
            run(Shares { to, from, squares, shift, softness, shares: &mut shares, score: &mut score });
            group.out_of_lanes(&shares, k, &mut found.0, runs);
            group.out_of_lanes(&score, 1, &mut found.1, runs);
        }
        found
    }
}

impl Group {
    /// Of k × lanes.
    fn scaling(&self, Scaled { k, inverse, offset, .. }: &Scaled) -> (Vec<f32>, Vec<f32>) {
        let (mut inverses, mut offsets) = (vec![0.0; k * LANES], vec![0.0; k * LANES]);
        for (l, run) in self.runs.clone().enumerate() {
            for i in 0..*k {
                (inverses[i * LANES + l], offsets[i * LANES + l]) =
                    (inverse[run * k + i], offset[run * k + i]);
            }
        }
        (inverses, offsets)
    }

    /// From points × each × lanes to points × runs × each.
    fn out_of_lanes<T: Copy>(&self, from: &[T], each: usize, to: &mut [T], runs: usize) {
        for (from, to) in from.chunks_exact(each * LANES).zip(to.chunks_exact_mut(runs * each)) {
            for (l, run) in self.runs.clone().enumerate() {
                (0..each).for_each(|i| to[run * each + i] = from[i * LANES + l]);
            }
        }
    }
}

fn in_lanes(given: &[Mat]) -> Vec<f32> {
    let mut u = vec![0.0; given[0].data.len() * LANES];
    for (l, given) in given.iter().enumerate() {
        u.iter_mut().skip(l).step_by(LANES).zip(&given.data).for_each(|(to, x)| *to = *x as f32);
    }
    u
}

/// What the points of a block add to the clusters of all runs.
#[derive(Clone, Copy)]
pub(super) enum RunsAdd<'a> {
    /// To one each (points × runs).
    ToOne { label: &'a [u8], factor: &'a [f32] },
    /// To all of them (points × runs × k).
    ToAll(&'a [f32]),
}

/// The sums of a block: features × (runs·k).
pub(super) fn sums(turned: &Rows, points: usize, k: usize, runs: usize, added: RunsAdd) -> Vec<f64> {
    let mut all = crate::matrix::room::zeros(turned.len() * runs * k);
    for group in groups(runs) {
        let mut u = vec![0.0; turned.len() * k * LANES];
        let lanes = group.len();
        let mut sum = |added: Added| {
            run(Sums {
                turned,
                k,
                // All of one.
                block: points.next_power_of_two(),
                lanes,
                added,
                from: 0,
                u: &mut u,
                squares: false,
                tally: &mut vec![0.0; turned.len().div_ceil(TOGETHER) * k * LANES],
            });
        };
        match added {
            RunsAdd::ToOne { label, factor } => {
                let label = into_lanes(label, &group, runs, 1, NONE);
                sum(Added::ToOne { label: &label, factor: &into_lanes(factor, &group, runs, 1, 0.0) });
            }
            RunsAdd::ToAll(shares) => sum(Added::ToAll(&into_lanes(shares, &group, runs, k, 0.0))),
        }
        for (from, to) in u.chunks_exact(k * LANES).zip(all.chunks_exact_mut(runs * k)) {
            for (l, run) in group.clone().enumerate() {
                (0..k).for_each(|i| to[run * k + i] = f64::from(from[i * LANES + l]));
            }
        }
    }
    all
}

/// From points × runs × each to points × each × lanes.
fn into_lanes<T: Copy>(from: &[T], group: &Range<usize>, runs: usize, each: usize, none: T) -> Vec<T> {
    let mut to = vec![none; from.len() / runs * LANES];
    for (from, to) in from.chunks_exact(runs * each).zip(to.chunks_exact_mut(each * LANES)) {
        for (l, run) in group.clone().enumerate() {
            (0..each).for_each(|i| to[i * LANES + l] = from[run * each + i]);
        }
    }
    to
}
