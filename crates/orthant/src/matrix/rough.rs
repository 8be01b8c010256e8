//! Rough iterations: those of Lloyd's kind in float32, a way to where iterations in float64 begin.
//!
//! A rough iteration is a function of a run's labels and what its points add, to the bit, whoever holds the points and
//! whichever runs are beside it: sums of a block are made in float32 in the order of its points, joined in float64 in the
//! tree of `cut.rs` and rounded to float32 again; products are summed in the order of a point's entries. So data in memory
//! may take eight runs side by side (`engine/lanes.rs`), while others go pass by pass (`passes/rough.rs`).
//!
//! The first iterations may be soft: a point belongs to all clusters, to each with a share (see `passes/soften.rs`). Between two
//! of them a run is its sums and weights.

use super::kernels::lanes::{NONE, TOGETHER, logarithm};
use super::passes::{Columns, RoughSums, Roughly, Sharpen};
use super::rule::Rough;
use super::{Data, Mat, Rule, Slot, Slots};
use crate::bytes::{Bytes, bytes_of};
use crate::error::Result;

/// Where a rough iteration finds its centroids.
#[derive(Debug, Clone)]
pub enum Origin {
    /// In these points.
    Points(Vec<usize>),
    /// In the labels of the last one and what points add (`Slot::Adds`), with the weights of the clusters.
    Labels(Vec<f64>),
    /// In sums that were made of these already (features × k), with the weights.
    Sums(Mat, Vec<f64>),
    /// In sums and weights by shares, of which nothing else is kept.
    Shares(Mat, Vec<f64>),
    /// In these, as points are multiplied with them.
    Centroids(Mat),
}

/// Sums of labels are made again, to the same bits.
impl Bytes for Origin {
    fn write(&self, to: &mut Vec<u8>) {
        match self {
            Origin::Points(points) => {
                0u8.write(to);
                points.write(to);
            }
            Origin::Labels(weight) | Origin::Sums(_, weight) => {
                1u8.write(to);
                weight.write(to);
            }
            Origin::Centroids(u) => {
                2u8.write(to);
                u.write(to);
            }
            Origin::Shares(sums, weight) => {
                3u8.write(to);
                sums.write(to);
                weight.write(to);
            }
        }
    }
    fn read(from: &mut &[u8]) -> Option<Self> {
        match u8::read(from)? {
            0 => Some(Origin::Points(Bytes::read(from)?)),
            1 => Some(Origin::Labels(Bytes::read(from)?)),
            2 => Some(Origin::Centroids(Bytes::read(from)?)),
            3 => Some(Origin::Shares(Bytes::read(from)?, Bytes::read(from)?)),
            _ => None,
        }
    }
}

/// A run that is to be iterated roughly.
#[derive(Debug, Clone)]
pub struct RoughRun {
    /// Whose labels are read and written.
    pub run: usize,
    /// Where it goes on from.
    pub origin: Origin,
    /// The value of its last rough iteration; −∞ before the first.
    pub value: f64,
    /// How many iterations in a row have changed no label.
    pub quiet: usize,
    /// No more iterations than this, besides the soft ones.
    pub most: usize,
}

/// Runs that are iterated roughly.
#[derive(Debug, Clone)]
pub struct RoughRuns {
    /// How sharp the shares are in each of the soft iterations that come first, none of which ends a run.
    pub soft: Vec<f64>,
    /// How points choose.
    pub rule: Rule,
    /// Number of clusters.
    pub k: usize,
    /// The runs.
    pub runs: Vec<RoughRun>,
}

/// What a rough iteration tells of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RoughTold {
    /// `Σw` of each cluster's points.
    pub weight: Vec<f64>,
    /// What they are worth: more is better.
    pub value: f64,
    /// How many points changed their cluster.
    pub changed: usize,
}
bytes_of!(RoughTold { weight, value, changed });

/// Directions come closer to exact ones while labels repeat, at a tenth of what it takes in float64: they go on for so long.
const QUIET: usize = 4;

impl RoughRun {
    /// How many iterations in a row have changed no label, with these that it has made now.
    pub fn quiet_after(&self, told: &[RoughTold]) -> usize {
        let new = told.iter().rev().take_while(|told| told.changed == 0).count();
        if new == told.len() { self.quiet + new } else { new }
    }

    /// Whether float32 can say no more after these iterations: labels repeat, a cluster is empty, or nothing was gained.
    pub fn is_settled(&self, rule: Rule, told: &[RoughTold]) -> bool {
        let Some(last) = told.last() else { return false };
        let before = told.len().checked_sub(2).map_or(self.value, |at| told[at].value);
        let empty = last.weight.iter().any(|w| *w <= 0.0);
        match last.changed {
            0 => empty || self.quiet_after(told) >= if rule.onmf { QUIET } else { 1 },
            _ => empty || last.value <= before,
        }
    }

    /// Whether it has made its iterations.
    pub(crate) fn has_ended(&self, rule: Rule, told: &[RoughTold]) -> bool {
        told.len() >= self.most || self.is_settled(rule, told)
    }
}

/// Whether rough iterations can stand for exact ones on these data: nothing that counts is lost in float32, labels fit a byte
/// and positions four.
pub fn fits(data: &dyn Data, k: usize) -> bool {
    let weights = data.weights().unwrap_or(&[]).iter();
    let shape = data.shape();
    shape.sparse
        && k < usize::from(NONE)
        && u32::try_from(shape.features.max(shape.points)).is_ok()
        && data.facts().least_norm2 > 1e-24
        && weights.into_iter().all(|w| *w == 0.0 || (1e-9..1e9).contains(w))
}

/// What rough iterations told of a run.
#[derive(Debug, Clone, Default)]
pub struct RoughCourse {
    /// Each of the soft ones.
    pub soft: Vec<RoughTold>,
    /// Each of the others.
    pub hard: Vec<RoughTold>,
    /// The sums where none of the others was asked for: after the last soft one, or of the labels that the run came with.
    pub(crate) sums: Option<Mat>,
}

/// Iterates until each run has [settled](RoughRun::is_settled) or made its number of iterations: what every one of them told.
/// Where a run is to go on from is then its new origin.
pub fn roughly(data: &dyn Data, slots: &mut dyn Slots, asked: &mut RoughRuns) -> Result<Vec<RoughCourse>> {
    let mut courses = match slots.in_lanes(asked) {
        Some(courses) => courses?,
        None => return by_passes(data, slots, asked),
    };
    for (run, course) in asked.runs.iter_mut().zip(&mut courses) {
        if let Some(last) = course.hard.last() {
            run.origin = Origin::Labels(last.weight.clone());
        } else if let (Some(last), Some(sums)) = (course.soft.last(), course.sums.take()) {
            run.origin = Origin::Shares(sums, last.weight.clone());
        }
    }
    Ok(courses)
}

/// The sums that the last iterations of some runs have left, from their labels, features × k each.
pub fn sums_left(slots: &mut dyn Slots, rule: Rule, k: usize, runs: &[usize]) -> Result<Vec<Mat>> {
    let ask = |&run: &usize| {
        let origin = Origin::Labels(vec![1.0; k]);
        RoughRun { run, origin, value: f64::NEG_INFINITY, quiet: 0, most: 0 }
    };
    let asked = RoughRuns { soft: vec![], rule, k, runs: runs.iter().map(ask).collect() };
    if let Some(courses) = slots.in_lanes(&asked) {
        return Ok(courses?.into_iter().filter_map(|course| course.sums).collect());
    }
    let single = |sums: Mat| sums.map(|x| f64::from(x as f32));
    runs.iter().map(|&run| Ok(single(slots.sweep(&RoughSums { rule, k, run })?.1))).collect()
}

fn by_passes(data: &dyn Data, slots: &mut dyn Slots, asked: &mut RoughRuns) -> Result<Vec<RoughCourse>> {
    let RoughRuns { rule, k, .. } = *asked;
    let mut all: Vec<RoughCourse> = vec![RoughCourse::default(); asked.runs.len()];
    let every: Vec<usize> = (0..all.len()).collect();
    for sharpness in asked.soft.clone() {
        let to = columns(data, slots, asked, &every)?;
        let (told, sums) = slots.sweep(&Sharpen { to, sharpness })?;
        for (at, told) in told.runs.into_iter().enumerate() {
            asked.runs[at].origin = Origin::Shares(sums.columns(at * k..(at + 1) * k), told.weight.clone());
            all[at].soft.push(told);
        }
    }
    let mut active: Vec<usize> = every.into_iter().filter(|&at| asked.runs[at].most > 0).collect();
    while !active.is_empty() {
        let runs: Vec<usize> = active.iter().map(|&at| asked.runs[at].run).collect();
        let to = columns(data, slots, asked, &active)?;
        let (told, sums) = slots.sweep(&Roughly { to, runs })?;
        for (i, (&at, told)) in active.iter().zip(told.runs).enumerate() {
            asked.runs[at].origin = Origin::Sums(sums.columns(i * k..(i + 1) * k), told.weight.clone());
            all[at].hard.push(told);
        }
        active.retain(|&at| !asked.runs[at].has_ended(rule, &all[at].hard));
    }
    Ok(all)
}

/// What the points are multiplied with in some runs; their origins are used up.
fn columns(data: &dyn Data, slots: &mut dyn Slots, asked: &mut RoughRuns, runs: &[usize]) -> Result<Columns> {
    let RoughRuns { rule, k, .. } = *asked;
    let mut to = Columns { rule, k, u: vec![], inverse: vec![], offset: vec![] };
    for &at in runs {
        let RoughRun { run, origin, .. } = &mut asked.runs[at];
        let ready = match std::mem::replace(origin, Origin::Points(vec![])) {
            Origin::Centroids(u) => Ready::of_centroids(rule, u),
            Origin::Sums(sums, weight) | Origin::Shares(sums, weight) => Ready::of_sums(rule, sums, &weight),
            Origin::Points(points) => {
                Ready::of_sums(rule, sums_of_points(data, rule, &points)?, &vec![1.0; k])
            }
            Origin::Labels(weight) => {
                let sums = slots.sweep(&RoughSums { rule, k, run: *run })?.1;
                Ready::of_sums(rule, sums, &weight)
            }
        };
        to.u.push(ready.u);
        to.inverse.extend(ready.scaling.inverse);
        to.offset.extend(ready.scaling.offset);
    }
    Ok(to)
}

/// What decides about the shares of a point.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Softness {
    /// What its closeness to a cluster is multiplied with.
    pub(crate) each: f32,
    /// What it adds to all of them together.
    pub(crate) adds: f32,
}

impl Softness {
    /// Of a point with this weight, squared norm and total.
    pub(crate) fn of(rule: Rule, sharpness: f64, (w, norm2, total): (f64, f64, f32)) -> Self {
        let each = sharpness * rule.rough_closeness(norm2, f64::from(total));
        Softness { each: each as f32, adds: rule.adds(w, norm2) as f32 }
    }
}

impl RoughTold {
    /// What a point tells in a soft iteration, from its largest score; none of a point without a cluster. All may have changed.
    pub(crate) fn tell_soft(&mut self, rule: Rule, adds: f64, score: Option<f32>) {
        self.changed += 1;
        self.value += score.map_or(0.0, |score| rule.rough_value(adds, f64::from(score)));
    }
}

/// What a point that starts a cluster adds to it, from the total of its entries.
pub(crate) fn adds_at_start(rule: Rule, total: f32) -> f32 {
    // Distributions of long and short points alike.
    if rule.rough() == Rough::Distributions && total > 0.0 { 1.0 / total } else { 1.0 }
}

fn sums_of_points(data: &dyn Data, rule: Rule, points: &[usize]) -> Result<Mat> {
    let mut sums = Mat::zeros(data.shape().features, points.len());
    for (i, &point) in points.iter().enumerate() {
        let mut total = 0.0;
        data.entries(point, &mut |_, x| total += f64::from(x as f32))?;
        let adds = adds_at_start(rule, total as f32);
        data.entries(point, &mut |f, x| sums[(f, i)] = f64::from(adds * x as f32))?;
    }
    Ok(sums)
}

/// What makes up for sums that are used as they are, for each cluster: a score is `mᵀu·inverse − shift·offset`.
pub(crate) struct Scaling {
    pub(crate) inverse: Vec<f32>,
    pub(crate) offset: Vec<f32>,
    /// What is added to sums before their logarithms are taken.
    pub(crate) added: f32,
}

impl Scaling {
    /// Of sums, from their squares (of distributions: their totals), weights, and how many features they have.
    pub(crate) fn of_sums(rule: Rule, tally: &[f64], weight: &[f64], used: usize) -> Self {
        let k = tally.len();
        let mut scaling = Scaling { inverse: vec![1.0; k], offset: vec![0.0; k], added: 0.0 };
        let inverse = |x: f64| if x > 0.0 { 1.0 / x } else { 0.0 };
        match (rule.rough(), rule) {
            (Rough::Directions, _) => {
                (0..k).for_each(|i| scaling.inverse[i] = inverse(tally[i].sqrt()) as f32);
            }
            (Rough::Centres, _) => {
                for i in 0..k {
                    scaling.inverse[i] = inverse(weight[i]) as f32;
                    scaling.offset[i] = (tally[i] * inverse(weight[i]).powi(2) / 2.0) as f32;
                }
            }
            (Rough::Distributions, rule) => {
                let used = used.max(1) as f64;
                let mean = tally.iter().sum::<f64>() / (used * k as f64);
                let added = if mean > 0.0 { rule.smoothing() * mean } else { 1.0 };
                scaling.added = added as f32;
                (0..k).for_each(|i| scaling.offset[i] = (tally[i] + added * used).ln() as f32);
            }
        }
        scaling
    }

    /// Of centroids, from their squares.
    pub(crate) fn of_centroids(rule: Rule, tally: &[f64]) -> Self {
        let offset = |norm2: &f64| if rule.distance { (norm2 / 2.0) as f32 } else { 0.0 };
        let offset = tally.iter().map(offset).collect();
        Scaling { inverse: vec![1.0; tally.len()], offset, added: 0.0 }
    }
}

/// Numbers or squares of every column, as the kernels sum them.
pub(crate) fn tally(u: &Mat, squares: bool) -> Vec<f64> {
    let mut all = vec![0.0; u.cols];
    for rows in u.data.chunks(TOGETHER * u.cols.max(1)) {
        for (i, all) in all.iter_mut().enumerate() {
            let own = |row: &[f64]| row[i] as f32;
            let add = |sum: f32, x: f32| sum + x * if squares { x } else { 1.0 };
            *all += f64::from(rows.chunks_exact(u.cols).map(own).fold(0.0, add));
        }
    }
    all
}

/// Centroids for a rough pass.
pub(crate) struct Ready {
    /// features × k, numbers of float32.
    pub(crate) u: Mat,
    pub(crate) scaling: Scaling,
}

impl Ready {
    fn of_centroids(rule: Rule, u: Mat) -> Self {
        let u = u.map(|x| f64::from(x as f32));
        Ready { scaling: Scaling::of_centroids(rule, &tally(&u, true)), u }
    }

    pub(crate) fn of_sums(rule: Rule, sums: Mat, weight: &[f64]) -> Self {
        let mut u = sums.map(|x| f64::from(x as f32));
        let distributions = rule.rough() == Rough::Distributions;
        let used = u.data.chunks_exact(u.cols.max(1)).filter(|row| row.iter().any(|x| *x > 0.0)).count();
        let scaling = Scaling::of_sums(rule, &tally(&u, !distributions), weight, used);
        if distributions {
            u = u.map(|x| f64::from(logarithm(x as f32 + scaling.added)));
        }
        Ready { u, scaling }
    }
}

/// The slot that a rule needs for what points add.
pub(crate) fn adds_slot(rule: Rule, run: usize) -> Option<Slot> {
    rule.onmf.then_some(Slot::Adds(run))
}
