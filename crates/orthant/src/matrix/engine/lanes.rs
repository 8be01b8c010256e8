//! Rough iterations of up to eight runs side by side: see `matrix/rough.rs`. Pieces of features and of points go to whichever
//! thread is free; none of a run's numbers depends on how they were cut.

use std::sync::Mutex;

use super::Engine;
use crate::matrix::cut::{Cut, Joining};
use crate::matrix::kernels::lanes::{Added, LANES, Logarithms, NONE, Nearest, Rows, Scored, Sums, TOGETHER};
use crate::matrix::kernels::run;
use crate::matrix::kernels::shares::Shares;
use crate::matrix::points::Points;
use crate::matrix::rough::{
    Origin, Ready, RoughCourse, RoughRun, RoughRuns, RoughTold, Scaling, Softness, adds_at_start, tally,
};
use crate::matrix::rule::Rough;
use crate::matrix::seam::Part;
use crate::matrix::{Mat, Rule, threads};

/// Scaled copies of the entries, in both orders.
pub(super) struct Lanes {
    rows: Rows,
    turned: Rows,
    /// The total of each point's entries.
    totals: Vec<f32>,
    /// Memory that is used again.
    room: Mutex<Vec<Room>>,
}

#[derive(Default)]
struct Room {
    /// features × k × lanes.
    u: Vec<f32>,
    /// points × lanes.
    label: Vec<u8>,
    factor: Vec<f32>,
    /// points × k × lanes, for soft iterations.
    shares: Vec<f32>,
}

/// A run in a lane: labels, and what points add where the rule keeps that.
pub(super) struct Lane<'a> {
    pub(super) asked: &'a RoughRun,
    pub(super) labels: Option<Vec<i32>>,
    pub(super) adds: Option<Vec<f64>>,
}

impl Lanes {
    pub(super) fn of(points: &dyn Points, scale: f64) -> Self {
        let rows = points.in_lanes(0..points.shape().points, scale);
        let totals = (0..rows.len()).map(|row| rows.total(row)).collect();
        Lanes { turned: rows.turned(), totals, rows, room: Mutex::new(vec![]) }
    }

    /// Iterates some runs, no more than there are lanes; their labels are then the new ones.
    pub(super) fn iterate(&self, engine: &Engine, asked: &RoughRuns, lanes: &mut [Lane]) -> Vec<RoughCourse> {
        let mut room = self.room.lock().ok().and_then(|mut room| room.pop()).unwrap_or_default();
        let courses = Iterating::new(self, engine, asked, lanes, &mut room).iterate(&asked.soft, lanes);
        if let Ok(mut kept) = self.room.lock() {
            kept.push(room);
        }
        courses
    }
}

/// Features, a multiple of those whose squares are summed together, that a thread sums at a time.
const FEATURES: usize = 16 * TOGETHER;
/// Strips that a thread assigns at a time.
const STRIPS: usize = 4;

/// What points add themselves by.
#[derive(Clone, Copy)]
enum Adding {
    Labels,
    Shares,
}

struct Iterating<'a> {
    all: &'a Lanes,
    engine: &'a Engine,
    rule: Rule,
    k: usize,
    room: &'a mut Room,
    /// What each point adds, but for its score.
    adds: Vec<f64>,
    /// What offsets are multiplied by.
    shift: Vec<f32>,
    /// k × lanes.
    inverse: Vec<f32>,
    offset: Vec<f32>,
    /// Weights of the clusters, of lanes that go on from labels.
    weight: Vec<Vec<f64>>,
    /// Lanes that had no labels before.
    fresh: [bool; LANES],
}

impl<'a> Iterating<'a> {
    fn new(
        all: &'a Lanes,
        engine: &'a Engine,
        &RoughRuns { rule, k, ref soft, .. }: &RoughRuns,
        lanes: &[Lane],
        room: &'a mut Room,
    ) -> Self {
        let points = engine.shape.points;
        room.u.resize(engine.shape.features * k * LANES, 0.0);
        room.label.clear();
        room.label.resize(points * LANES, NONE);
        room.factor.resize(points * LANES, 0.0);
        room.shares.resize(if soft.is_empty() { 0 } else { points * k * LANES }, 0.0);
        let weight = |p: usize| engine.weights.as_ref().map_or(1.0, |w| w[p]);
        let adds: Vec<f64> = (0..points).map(|p| rule.adds(weight(p), engine.norms2[p])).collect();
        let shift = if rule.rough() == Rough::Distributions { all.totals.clone() } else { vec![1.0; points] };
        let mut fresh = [true; LANES];
        for (l, lane) in lanes.iter().enumerate() {
            fresh[l] = lane.labels.is_none();
            if let Some(labels) = &lane.labels {
                for (p, &label) in labels.iter().enumerate() {
                    room.label[p * LANES + l] = u8::try_from(label).unwrap_or(NONE);
                    room.factor[p * LANES + l] = lane.adds.as_ref().map_or(adds[p], |adds| adds[p]) as f32;
                }
            }
        }
        let (inverse, offset) = (vec![0.0; k * LANES], vec![0.0; k * LANES]);
        let weight = vec![vec![1.0; k]; lanes.len()];
        Iterating { all, engine, rule, k, room, adds, shift, inverse, offset, weight, fresh }
    }

    fn iterate(mut self, soft: &[f64], lanes: &mut [Lane]) -> Vec<RoughCourse> {
        let mut courses = vec![RoughCourse::default(); lanes.len()];
        for (l, lane) in lanes.iter().enumerate() {
            match &lane.asked.origin {
                Origin::Points(points) => self.start(l, points),
                Origin::Labels(weight) | Origin::Sums(_, weight) | Origin::Shares(_, weight) => {
                    self.weight[l].clone_from(weight);
                }
                Origin::Centroids(_) => {}
            }
        }
        self.begin(soft.is_empty(), lanes, &mut courses);
        for (at, &sharpness) in soft.iter().enumerate() {
            for (l, new) in self.sharpen(sharpness).into_iter().enumerate() {
                self.weight[l].clone_from(&new.weight);
                courses[l].soft.push(new);
            }
            let tallies = self.sum(Adding::Shares);
            self.tell_sums(at + 1 == soft.len(), lanes, &mut courses);
            self.make_ready(&tallies);
        }
        let mut active: Vec<usize> = (0..lanes.len()).filter(|&l| lanes[l].asked.most > 0).collect();
        let mut ready = true;
        while !active.is_empty() {
            if !std::mem::take(&mut ready) {
                let tallies = self.sum(Adding::Labels);
                self.make_ready(&tallies);
            }
            for (l, new) in self.assign().into_iter().enumerate() {
                if active.contains(&l) {
                    self.weight[l].clone_from(&new.weight);
                    courses[l].hard.push(new);
                }
            }
            active.retain(|&l| {
                let ended = lanes[l].asked.has_ended(self.rule, &courses[l].hard);
                if ended {
                    self.take_out(l, &mut lanes[l]);
                }
                !ended
            });
            self.fresh = [false; LANES];
        }
        courses
    }

    /// What points are first multiplied with.
    fn begin(&mut self, ends: bool, lanes: &[Lane], courses: &mut [RoughCourse]) {
        let given = |lane: &Lane| matches!(lane.asked.origin, Origin::Centroids(_) | Origin::Shares(..));
        if !lanes.iter().all(given) {
            let tallies = self.sum(Adding::Labels);
            self.tell_sums(ends, lanes, courses);
            self.make_ready(&tallies);
        }
        for (l, lane) in lanes.iter().enumerate() {
            match &lane.asked.origin {
                Origin::Centroids(u) => {
                    self.place(l, u);
                    self.scale(l, Scaling::of_centroids(self.rule, &tally(u, true)));
                }
                Origin::Shares(sums, weight) => {
                    let Ready { u, scaling } = Ready::of_sums(self.rule, sums.clone(), weight);
                    self.place(l, &u);
                    self.scale(l, scaling);
                }
                _ => {}
            }
        }
        self.forget_starts(lanes);
    }

    /// The sums of lanes that are asked for no iteration from them, where these are the last.
    fn tell_sums(&self, last: bool, lanes: &[Lane], courses: &mut [RoughCourse]) {
        for l in (0..lanes.len()).filter(|&l| last && lanes[l].asked.most == 0) {
            courses[l].sums = Some(self.sums_of(l));
        }
    }

    /// Points that start the clusters of a lane: each is alone in its own.
    fn start(&mut self, l: usize, points: &[usize]) {
        for (i, &p) in points.iter().enumerate() {
            self.room.label[p * LANES + l] = i as u8;
            self.room.factor[p * LANES + l] = adds_at_start(self.rule, self.all.totals[p]);
        }
    }

    /// Starts are no labels: every point is new to its cluster.
    fn forget_starts(&mut self, lanes: &[Lane]) {
        for (l, lane) in lanes.iter().enumerate() {
            if let Origin::Points(points) = &lane.asked.origin {
                points.iter().for_each(|&p| self.room.label[p * LANES + l] = NONE);
            }
        }
    }

    /// Sums of all lanes, and their squares (of distributions: totals), k × lanes.
    fn sum(&mut self, adding: Adding) -> Vec<f64> {
        let (k, lanes, width) = (self.k, self.weight.len(), self.k * LANES);
        let Room { u, label, factor, shares } = &mut *self.room;
        let added = match adding {
            Adding::Labels => Added::ToOne { label, factor },
            Adding::Shares => Added::ToAll(shares),
        };
        let block = self.engine.cut.strip * self.engine.cut.block;
        let (turned, squares) = (&self.all.turned, self.rule.rough() != Rough::Distributions);
        let pieces: Vec<_> = u.chunks_mut(FEATURES * width).enumerate().collect();
        let told = threads::in_order(pieces, |(at, u)| {
            let mut tally = vec![0.0; u.len().div_ceil(TOGETHER * width) * width];
            let (from, own) = (at * FEATURES, &mut tally[..]);
            run(Sums { turned, k, block, lanes, added, from, u, squares, tally: own });
            tally
        });
        // One after the other, wherever the pieces were made.
        let mut tallies = vec![0.0; width];
        for tally in told.iter().flat_map(|told| told.chunks_exact(width)) {
            tallies.iter_mut().zip(tally).for_each(|(sum, tally)| *sum += tally);
        }
        tallies
    }

    /// What makes up for using sums as they are; points are multiplied with logarithms of distributions.
    fn make_ready(&mut self, tallies: &[f64]) {
        let (k, distributions) = (self.k, self.rule.rough() == Rough::Distributions);
        let mut used = [0; LANES];
        if distributions {
            for row in self.room.u.chunks_exact(k * LANES) {
                for (l, used) in used.iter_mut().enumerate() {
                    *used += usize::from(row.iter().skip(l).step_by(LANES).any(|x| *x > 0.0));
                }
            }
        }
        let mut added = [1.0; LANES];
        for l in 0..self.weight.len() {
            let own: Vec<f64> = (0..k).map(|i| tallies[i * LANES + l]).collect();
            let scaling = Scaling::of_sums(self.rule, &own, &self.weight[l], used[l]);
            added[l] = scaling.added;
            self.scale(l, scaling);
        }
        if distributions {
            run(Logarithms { x: &mut self.room.u, added });
        }
    }

    fn scale(&mut self, l: usize, scaling: Scaling) {
        for i in 0..self.k {
            self.inverse[i * LANES + l] = scaling.inverse[i];
            self.offset[i * LANES + l] = scaling.offset[i];
        }
    }

    /// A matrix of features × k into a lane.
    fn place(&mut self, l: usize, u: &Mat) {
        for (to, x) in self.room.u.iter_mut().skip(l).step_by(LANES).zip(&u.data) {
            *to = *x as f32;
        }
    }

    /// And out of it.
    fn sums_of(&self, l: usize) -> Mat {
        let data = self.room.u.iter().skip(l).step_by(LANES).map(|&x| f64::from(x)).collect();
        Mat { rows: self.engine.shape.features, cols: self.k, data }
    }

    /// Shares of every point in all clusters.
    fn sharpen(&mut self, sharpness: f64) -> Vec<RoughTold> {
        let cut = self.engine.cut;
        let mut shares = std::mem::take(&mut self.room.shares);
        let strips = self.strips();
        let pieces = shares.chunks_mut(cut.strip * self.k * LANES).collect();
        let told = in_strips(&cut, pieces, |from, shares| strips.sharpen(from, sharpness, shares));
        self.room.shares = shares;
        told
    }

    /// Every point to its nearest cluster.
    fn assign(&mut self) -> Vec<RoughTold> {
        let cut = self.engine.cut;
        let (mut label, mut factor) =
            (std::mem::take(&mut self.room.label), std::mem::take(&mut self.room.factor));
        let strips = self.strips();
        let pieces = label.chunks_mut(cut.strip * LANES).zip(factor.chunks_mut(cut.strip * LANES)).collect();
        let told = in_strips(&cut, pieces, |from, (label, factor)| strips.assign(from, label, factor));
        (self.room.label, self.room.factor) = (label, factor);
        told
    }

    fn strips(&self) -> Strips<'_> {
        Strips {
            all: self.all,
            engine: self.engine,
            rule: self.rule,
            to: Scored {
                rows: &self.all.rows,
                k: self.k,
                u: &self.room.u,
                inverse: &self.inverse,
                offset: &self.offset,
            },
            adds: &self.adds,
            shift: &self.shift,
            lanes: self.weight.len(),
            fresh: &self.fresh,
        }
    }

    /// What a lane has reached.
    fn take_out(&self, l: usize, lane: &mut Lane) {
        let of_label = |&label: &u8| if label == NONE { -1 } else { i32::from(label) };
        lane.labels = Some(self.room.label.iter().skip(l).step_by(LANES).map(of_label).collect());
        if self.rule.onmf {
            lane.adds = Some(self.room.factor.iter().skip(l).step_by(LANES).map(|&x| f64::from(x)).collect());
        }
    }
}

/// What strips tell of all lanes, joined as the tree says. `work` gets a strip's first point and what belongs to the strip.
fn in_strips<P: Send>(
    cut: &Cut,
    pieces: Vec<P>,
    work: impl Fn(usize, P) -> Vec<RoughTold> + Sync + Send,
) -> Vec<RoughTold> {
    let join = &mut |left: &mut Vec<RoughTold>, right: Vec<RoughTold>| {
        left.iter_mut().zip(right).for_each(|(a, b)| a.merge(b));
    };
    let (mut jobs, mut pieces) = (vec![], pieces.into_iter().enumerate().peekable());
    while pieces.peek().is_some() {
        jobs.push(pieces.by_ref().take(STRIPS).collect::<Vec<_>>());
    }
    let told = threads::in_order(jobs, |strips| {
        strips.into_iter().map(|(at, piece)| (at, work(at * cut.strip, piece))).collect::<Vec<_>>()
    });
    let mut joining = Joining::new(cut.strips());
    for (at, told) in told.into_iter().flatten() {
        joining.push(at..at + 1, told, join);
    }
    joining.end(join).unwrap_or_default()
}

/// What all strips share.
struct Strips<'a> {
    all: &'a Lanes,
    engine: &'a Engine,
    rule: Rule,
    to: Scored<'a>,
    adds: &'a [f64],
    shift: &'a [f32],
    /// How many are used.
    lanes: usize,
    fresh: &'a [bool; LANES],
}

impl Strips<'_> {
    fn weight(&self, p: usize) -> f64 {
        self.engine.weights.as_ref().map_or(1.0, |w| w[p])
    }

    /// Whether a point has no cluster.
    fn is_none(&self, p: usize) -> bool {
        self.engine.norms2[p] == 0.0 && !self.rule.distance
    }

    fn nothing(&self) -> Vec<RoughTold> {
        vec![RoughTold { weight: vec![0.0; self.to.k], value: 0.0, changed: 0 }; self.lanes]
    }

    /// Labels of a strip's points from `from` on, and what they add from now on.
    fn assign(&self, from: usize, label: &mut [u8], factor: &mut [f32]) -> Vec<RoughTold> {
        let (rule, count) = (self.rule, label.len() / LANES);
        let (mut nearest, mut score) = (vec![0; label.len()], vec![0.0; label.len()]);
        let shift = &self.shift[from..from + count];
        run(Nearest { to: self.to, from, shift, label: &mut nearest, score: &mut score });
        let mut told = self.nothing();
        for at in 0..count {
            let p = from + at;
            let (none, w, adds) = (self.is_none(p), self.weight(p), self.adds[p]);
            for (l, told) in told.iter_mut().enumerate() {
                let place = at * LANES + l;
                let new = if none { NONE } else { nearest[place] };
                told.changed += usize::from(self.fresh[l] || label[place] != new);
                label[place] = new;
                factor[place] = 0.0;
                if !none {
                    factor[place] = rule.rough_adds(adds as f32, score[place]);
                    told.weight[usize::from(new)] += w;
                    told.value += rule.rough_value(adds, f64::from(score[place]));
                }
            }
        }
        told
    }

    /// Shares of a strip's points from `from` on.
    fn sharpen(&self, from: usize, sharpness: f64, shares: &mut [f32]) -> Vec<RoughTold> {
        let (rule, width) = (self.rule, self.to.k * LANES);
        let points = from..from + shares.len() / width;
        let known = |p: usize| (self.weight(p), self.engine.norms2[p], self.all.totals[p]);
        let softness: Vec<Softness> =
            points.clone().map(|p| Softness::of(rule, sharpness, known(p))).collect();
        let mut score = vec![0.0; points.len() * LANES];
        let (to, shift, squares) = (self.to, &self.shift[points.clone()], rule.onmf);
        run(Shares { to, from, squares, shift, softness: &softness, shares, score: &mut score });
        let mut told = self.nothing();
        for (at, p) in points.enumerate() {
            for (l, told) in told.iter_mut().enumerate() {
                told.tell_soft(rule, self.adds[p], (!self.is_none(p)).then_some(score[at * LANES + l]));
                if rule.distance {
                    let own = shares[at * width..][..width].iter().skip(l).step_by(LANES);
                    told.weight.iter_mut().zip(own).for_each(|(weight, &share)| *weight += f64::from(share));
                }
            }
        }
        told
    }
}
