//! Rough iterations of up to eight runs side by side, on one thread that waits for nobody: see `matrix/rough.rs`.

use std::sync::Mutex;

use super::Engine;
use crate::matrix::cut::Joining;
use crate::matrix::kernels::lanes::{LANES, Logarithms, NONE, Nearest, Rows, Sums};
use crate::matrix::kernels::run;
use crate::matrix::points::Points;
use crate::matrix::rough::{Origin, RoughRun, RoughTold, Scaling, adds_at_start, tally};
use crate::matrix::rule::Rough;
use crate::matrix::seam::Part;
use crate::matrix::{Mat, Rule};

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
    /// The same of a strip.
    nearest: Vec<u8>,
    score: Vec<f32>,
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
        // Lanes that nobody uses cost as much as others.
        let told = match lanes.len() {
            0..=2 => Iterating::<2>::new(self, engine, rule, k, lanes, &mut room).iterate(lanes),
            3..=4 => Iterating::<4>::new(self, engine, rule, k, lanes, &mut room).iterate(lanes),
            _ => Iterating::<LANES>::new(self, engine, rule, k, lanes, &mut room).iterate(lanes),
        };
        if let Ok(mut kept) = self.room.lock() {
            kept.push(room);
        }
        told
    }
}

struct Iterating<'a, const N: usize> {
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
    fresh: [bool; N],
}

impl<'a, const N: usize> Iterating<'a, N> {
    fn new(
        all: &'a Lanes,
        engine: &'a Engine,
        rule: Rule,
        k: usize,
        lanes: &[Lane],
        room: &'a mut Room,
    ) -> Self {
        let points = engine.shape.points;
        room.u.resize(engine.shape.features * k * N, 0.0);
        room.label.clear();
        room.label.resize(points * N, NONE);
        room.factor.resize(points * N, 0.0);
        room.nearest.resize(engine.cut.strip * N, 0);
        room.score.resize(engine.cut.strip * N, 0.0);
        let weight = |p: usize| engine.weights.as_ref().map_or(1.0, |w| w[p]);
        let adds: Vec<f64> = (0..points).map(|p| rule.adds(weight(p), engine.norms2[p])).collect();
        let shift = if rule.rough() == Rough::Distributions { all.totals.clone() } else { vec![1.0; points] };
        let mut fresh = [true; N];
        for (l, lane) in lanes.iter().enumerate() {
            fresh[l] = lane.labels.is_none();
            if let Some(labels) = &lane.labels {
                for (p, &label) in labels.iter().enumerate() {
                    room.label[p * N + l] = u8::try_from(label).unwrap_or(NONE);
                    room.factor[p * N + l] = lane.adds.as_ref().map_or(adds[p], |adds| adds[p]) as f32;
                }
            }
        }
        let (inverse, offset) = (vec![0.0; k * N], vec![0.0; k * N]);
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
            for (l, new) in self.assign(lanes.len()).into_iter().enumerate() {
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
            (first, self.fresh) = (false, [false; N]);
        }
        told
    }

    /// Points that start the clusters of a lane: each is alone in its own.
    fn start(&mut self, l: usize, points: &[usize]) {
        for (i, &p) in points.iter().enumerate() {
            self.room.label[p * N + l] = i as u8;
            self.room.factor[p * N + l] = adds_at_start(self.rule, self.all.totals[p]);
        }
    }

    /// Starts are no labels: every point is new to its cluster.
    fn forget_starts(&mut self, lanes: &[Lane]) {
        for (l, lane) in lanes.iter().enumerate() {
            if let Origin::Points(points) = &lane.asked.origin {
                points.iter().for_each(|&p| self.room.label[p * N + l] = NONE);
            }
        }
    }

    /// Sums of all lanes, and what makes up for using them as they are.
    fn sum(&mut self, wanted: bool) {
        if !wanted {
            return;
        }
        let (k, Room { u, label, factor, .. }) = (self.k, &mut *self.room);
        let distributions = self.rule.rough() == Rough::Distributions;
        let mut tallies = vec![0.0; k * N];
        run(Sums::<N> {
            turned: &self.all.turned,
            k,
            block: self.engine.cut.strip * self.engine.cut.block,
            label,
            factor,
            u,
            squares: !distributions,
            tally: &mut tallies,
        });
        let mut used = [0; N];
        if distributions {
            for row in u.chunks_exact(k * N) {
                for (l, used) in used.iter_mut().enumerate() {
                    *used += usize::from(row.iter().skip(l).step_by(N).any(|x| *x > 0.0));
                }
            }
        }
        let mut added = [1.0; N];
        for l in 0..self.weight.len() {
            let own: Vec<f64> = (0..k).map(|i| tallies[i * N + l]).collect();
            let scaling = Scaling::of_sums(self.rule, &own, &self.weight[l], used[l]);
            added[l] = scaling.added;
            self.scale(l, scaling);
        }
        if distributions {
            run(Logarithms::<N> { x: &mut self.room.u, added });
        }
    }

    fn scale(&mut self, l: usize, scaling: Scaling) {
        for i in 0..self.k {
            self.inverse[i * N + l] = scaling.inverse[i];
            self.offset[i * N + l] = scaling.offset[i];
        }
    }

    /// Given centroids into a lane.
    fn place(&mut self, l: usize, u: &Mat) {
        for (to, x) in self.room.u.iter_mut().skip(l).step_by(N).zip(&u.data) {
            *to = *x as f32;
        }
        let squares = tally(u, true);
        self.scale(l, Scaling::of_centroids(self.rule, &squares));
    }

    /// Every point to its nearest cluster.
    fn assign(&mut self, lanes: usize) -> Vec<RoughTold> {
        let (engine, k) = (self.engine, self.k);
        let mut joining = Joining::new(engine.cut.strips());
        let mut join = |left: &mut Vec<RoughTold>, right: Vec<RoughTold>| {
            left.iter_mut().zip(right).for_each(|(a, b)| a.merge(b));
        };
        for strip in 0..engine.cut.strips() {
            let rows = engine.cut.points_of(&(strip..strip + 1));
            let count = rows.len() * N;
            let Room { u, nearest, score, .. } = &mut *self.room;
            run(Nearest::<N> {
                rows: &self.all.rows,
                from: rows.start,
                k,
                u,
                inverse: &self.inverse,
                offset: &self.offset,
                shift: &self.shift[rows.clone()],
                label: &mut nearest[..count],
                score: &mut score[..count],
            });
            joining.push(strip..strip + 1, self.settle(rows, lanes), &mut join);
        }
        joining.end(&mut join).unwrap_or_default()
    }

    /// Labels of a strip and what its points add from now on.
    fn settle(&mut self, rows: std::ops::Range<usize>, lanes: usize) -> Vec<RoughTold> {
        let (k, rule) = (self.k, self.rule);
        let Room { label, factor, nearest, score, .. } = &mut *self.room;
        let mut told = vec![RoughTold { weight: vec![0.0; k], value: 0.0, changed: 0 }; lanes];
        let weights = self.engine.weights.as_deref();
        for (at, p) in rows.enumerate() {
            let none = self.engine.norms2[p] == 0.0 && !rule.distance;
            let (w, adds) = (weights.map_or(1.0, |w| w[p]), self.adds[p]);
            for (l, told) in told.iter_mut().enumerate() {
                let (place, own) = (p * N + l, at * N + l);
                let new = if none { NONE } else { nearest[own] };
                told.changed += usize::from(self.fresh[l] || label[place] != new);
                label[place] = new;
                factor[place] = 0.0;
                if !none {
                    factor[place] = rule.rough_adds(adds as f32, score[own]);
                    told.weight[usize::from(new)] += w;
                    told.value += rule.rough_value(adds, f64::from(score[own]));
                }
            }
        }
        told
    }

    /// What a lane has reached.
    fn take_out(&self, l: usize, lane: &mut Lane) {
        let of_label = |&label: &u8| if label == NONE { -1 } else { i32::from(label) };
        lane.labels = Some(self.room.label.iter().skip(l).step_by(N).map(of_label).collect());
        if self.rule.onmf {
            lane.adds = Some(self.room.factor.iter().skip(l).step_by(N).map(|&x| f64::from(x)).collect());
        }
    }
}
