//! Rough iterations of up to eight runs side by side: see `matrix/rough.rs`. Pieces of features and of points go to whichever
//! thread is free; none of a run's numbers depends on how they were cut.

use std::sync::Mutex;

use super::Engine;
use crate::matrix::cut::Joining;
use crate::matrix::kernels::lanes::{LANES, Logarithms, NONE, Nearest, Rows, Sums, TOGETHER};
use crate::matrix::kernels::run;
use crate::matrix::points::Points;
use crate::matrix::rough::{Origin, RoughRun, RoughTold, Scaling, adds_at_start, tally};
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
    pub(super) fn iterate(
        &self,
        engine: &Engine,
        rule: Rule,
        k: usize,
        lanes: &mut [Lane],
    ) -> Vec<Vec<RoughTold>> {
        let mut room = self.room.lock().ok().and_then(|mut room| room.pop()).unwrap_or_default();
        let told = Iterating::new(self, engine, rule, k, lanes, &mut room).iterate(lanes);
        if let Ok(mut kept) = self.room.lock() {
            kept.push(room);
        }
        told
    }
}

/// Features, a multiple of those whose squares are summed together, that a thread sums at a time.
const FEATURES: usize = 16 * TOGETHER;
/// Strips that a thread assigns at a time.
const STRIPS: usize = 4;

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
        rule: Rule,
        k: usize,
        lanes: &[Lane],
        room: &'a mut Room,
    ) -> Self {
        let points = engine.shape.points;
        room.u.resize(engine.shape.features * k * LANES, 0.0);
        room.label.clear();
        room.label.resize(points * LANES, NONE);
        room.factor.resize(points * LANES, 0.0);
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

    fn iterate(mut self, lanes: &mut [Lane]) -> Vec<Vec<RoughTold>> {
        let mut told: Vec<Vec<RoughTold>> = vec![vec![]; lanes.len()];
        let mut active: Vec<usize> = (0..lanes.len()).filter(|&l| lanes[l].asked.most > 0).collect();
        for (l, lane) in lanes.iter().enumerate() {
            match &lane.asked.origin {
                Origin::Points(points) => self.start(l, points),
                Origin::Labels(weight) | Origin::Sums(_, weight) => self.weight[l].clone_from(weight),
                Origin::Centroids(_) => {}
            }
        }
        let mut first = true;
        while !active.is_empty() {
            let given = |l: usize| match &lanes[l].asked.origin {
                Origin::Centroids(u) if first => Some(u),
                _ => None,
            };
            self.sum(active.iter().any(|&l| given(l).is_none()));
            active.iter().filter_map(|&l| Some((l, given(l)?))).for_each(|(l, u)| self.place(l, u));
            if first {
                self.forget_starts(lanes);
            }
            for (l, new) in self.assign().into_iter().enumerate() {
                if active.contains(&l) {
                    self.weight[l].clone_from(&new.weight);
                    told[l].push(new);
                }
            }
            active.retain(|&l| {
                let ended = lanes[l].asked.has_ended(self.rule, &told[l]);
                if ended {
                    self.take_out(l, &mut lanes[l]);
                }
                !ended
            });
            (first, self.fresh) = (false, [false; LANES]);
        }
        told
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

    /// Sums of all lanes, and what makes up for using them as they are.
    fn sum(&mut self, wanted: bool) {
        if !wanted {
            return;
        }
        let (k, lanes, width) = (self.k, self.weight.len(), self.k * LANES);
        let Room { u, label, factor } = &mut *self.room;
        let (label, factor) = (&label[..], &factor[..]);
        let block = self.engine.cut.strip * self.engine.cut.block;
        let distributions = self.rule.rough() == Rough::Distributions;
        let (turned, squares) = (&self.all.turned, !distributions);
        let pieces: Vec<_> = u.chunks_mut(FEATURES * width).enumerate().collect();
        let told = threads::in_order(pieces, |(at, u)| {
            let mut tally = vec![0.0; u.len().div_ceil(TOGETHER * width) * width];
            let (from, own) = (at * FEATURES, &mut tally[..]);
            run(Sums { turned, k, block, lanes, label, factor, from, u, squares, tally: own });
            tally
        });
        // One after the other, wherever the pieces were made.
        let mut tallies = vec![0.0; width];
        for tally in told.iter().flat_map(|told| told.chunks_exact(width)) {
            tallies.iter_mut().zip(tally).for_each(|(sum, tally)| *sum += tally);
        }
        let mut used = [0; LANES];
        if distributions {
            for row in u.chunks_exact(k * LANES) {
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

    /// Given centroids into a lane.
    fn place(&mut self, l: usize, u: &Mat) {
        for (to, x) in self.room.u.iter_mut().skip(l).step_by(LANES).zip(&u.data) {
            *to = *x as f32;
        }
        let squares = tally(u, true);
        self.scale(l, Scaling::of_centroids(self.rule, &squares));
    }

    /// Every point to its nearest cluster.
    fn assign(&mut self) -> Vec<RoughTold> {
        let cut = self.engine.cut;
        let Room { u, label, factor } = &mut *self.room;
        let assigning = Assigning {
            all: self.all,
            engine: self.engine,
            rule: self.rule,
            k: self.k,
            u,
            inverse: &self.inverse,
            offset: &self.offset,
            adds: &self.adds,
            shift: &self.shift,
            lanes: self.weight.len(),
            fresh: &self.fresh,
        };
        let strip = cut.strip * LANES;
        let pieces = label.chunks_mut(STRIPS * strip).zip(factor.chunks_mut(STRIPS * strip)).enumerate();
        let told = threads::in_order(pieces.collect(), |(at, (label, factor))| {
            let mut joining = Joining::new(cut.strips());
            let strips = label.chunks_mut(strip).zip(factor.chunks_mut(strip));
            for (number, (label, factor)) in (at * STRIPS..).zip(strips) {
                let told = assigning.strip(number * cut.strip, label, factor);
                joining.push(number..number + 1, told, &mut |left, right| join(left, right));
            }
            joining.into_nodes()
        });
        let mut joining = Joining::new(cut.strips());
        for (strips, told) in told.into_iter().flatten() {
            joining.push(strips, told, &mut |left, right| join(left, right));
        }
        joining.end(&mut |left, right| join(left, right)).unwrap_or_default()
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

/// Joins what neighbouring strips tell of all lanes.
fn join(left: &mut [RoughTold], right: Vec<RoughTold>) {
    left.iter_mut().zip(right).for_each(|(a, b)| a.merge(b));
}

/// What all strips share when their points are assigned.
struct Assigning<'a> {
    all: &'a Lanes,
    engine: &'a Engine,
    rule: Rule,
    k: usize,
    /// features × k × lanes.
    u: &'a [f32],
    inverse: &'a [f32],
    offset: &'a [f32],
    adds: &'a [f64],
    shift: &'a [f32],
    /// How many are used.
    lanes: usize,
    fresh: &'a [bool; LANES],
}

impl Assigning<'_> {
    /// Labels of a strip's points from `from` on, and what they add from now on.
    fn strip(&self, from: usize, label: &mut [u8], factor: &mut [f32]) -> Vec<RoughTold> {
        let (k, rule, u) = (self.k, self.rule, self.u);
        let count = label.len() / LANES;
        let (mut nearest, mut score) = (vec![0; label.len()], vec![0.0; label.len()]);
        run(Nearest {
            rows: &self.all.rows,
            from,
            k,
            u,
            inverse: self.inverse,
            offset: self.offset,
            shift: &self.shift[from..from + count],
            label: &mut nearest,
            score: &mut score,
        });
        let mut told = vec![RoughTold { weight: vec![0.0; k], value: 0.0, changed: 0 }; self.lanes];
        let weights = self.engine.weights.as_deref();
        for at in 0..count {
            let p = from + at;
            let none = self.engine.norms2[p] == 0.0 && !rule.distance;
            let (w, adds) = (weights.map_or(1.0, |w| w[p]), self.adds[p]);
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
}
