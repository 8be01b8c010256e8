//! A rough pass over the points of a block, up to eight runs side by side: what `lanes.rs` does with data in memory, iteration
//! after iteration, for those that are read anew in every pass or held by others.

use std::ops::Range;

use crate::matrix::Mat;
use crate::matrix::kernels::lanes::{LANES, NONE, Nearest, Rows, Sums, TOGETHER};
use crate::matrix::kernels::run;

/// The columns of all runs of a pass, as kernels read them.
pub(super) struct SideBySide {
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
    pub(super) fn nearest(&self, rows: &Rows, scaled: &Scaled) -> (Vec<u8>, Vec<f32>) {
        let mut found = (vec![NONE; rows.len() * self.runs], vec![0.0; rows.len() * self.runs]);
        for group in &self.groups {
            nearest(group, self.runs, rows, scaled, &mut found);
        }
        found
    }
}

fn in_lanes(given: &[Mat]) -> Vec<f32> {
    let mut u = vec![0.0; given[0].data.len() * LANES];
    for (l, given) in given.iter().enumerate() {
        u.iter_mut().skip(l).step_by(LANES).zip(&given.data).for_each(|(to, x)| *to = *x as f32);
    }
    u
}

fn nearest(group: &Group, runs: usize, rows: &Rows, scaled: &Scaled, found: &mut (Vec<u8>, Vec<f32>)) {
    let Scaled { k, inverse, offset, shift } = *scaled;
    let (mut inverses, mut offsets) = (vec![0.0; k * LANES], vec![0.0; k * LANES]);
    for (l, run) in group.runs.clone().enumerate() {
        for i in 0..k {
            (inverses[i * LANES + l], offsets[i * LANES + l]) = (inverse[run * k + i], offset[run * k + i]);
        }
    }
    let (mut label, mut score) = (vec![0; rows.len() * LANES], vec![0.0; rows.len() * LANES]);
    run(Nearest {
        rows,
        from: 0,
        k,
        u: &group.u,
        inverse: &inverses,
        offset: &offsets,
        shift,
        label: &mut label,
        score: &mut score,
    });
    for p in 0..rows.len() {
        for (l, run) in group.runs.clone().enumerate() {
            (found.0[p * runs + run], found.1[p * runs + run]) = (label[p * LANES + l], score[p * LANES + l]);
        }
    }
}

/// What the points of a block add to their clusters in all runs (`label` and `factor` are points × runs): features × (runs·k).
pub(super) fn sums(turned: &Rows, k: usize, runs: usize, label: &[u8], factor: &[f32]) -> Vec<f64> {
    let mut all = crate::matrix::room::zeros(turned.len() * runs * k);
    for group in groups(runs) {
        sums_of_group(turned, k, (runs, group), label, factor, &mut all);
    }
    all
}

fn sums_of_group(
    turned: &Rows,
    k: usize,
    (runs, group): (usize, Range<usize>),
    label: &[u8],
    factor: &[f32],
    all: &mut [f64],
) {
    let points = label.len() / runs;
    let (mut labels, mut factors) = (vec![NONE; points * LANES], vec![0.0; points * LANES]);
    for p in 0..points {
        for (l, run) in group.clone().enumerate() {
            (labels[p * LANES + l], factors[p * LANES + l]) = (label[p * runs + run], factor[p * runs + run]);
        }
    }
    let mut u = vec![0.0; turned.len() * k * LANES];
    run(Sums {
        turned,
        k,
        // All of one.
        block: points.max(1),
        lanes: group.len(),
        label: &labels,
        factor: &factors,
        from: 0,
        u: &mut u,
        squares: false,
        tally: &mut vec![0.0; turned.len().div_ceil(TOGETHER) * k * LANES],
    });
    for (from, to) in u.chunks_exact(k * LANES).zip(all.chunks_exact_mut(runs * k)) {
        for (l, run) in group.clone().enumerate() {
            (0..k).for_each(|i| to[run * k + i] = f64::from(from[i * LANES + l]));
        }
    }
}
