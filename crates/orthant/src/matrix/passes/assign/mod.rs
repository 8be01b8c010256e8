//! Assigns every point to a cluster by a rule, for one run or several, and sums what the points add: the pass of EM-ONMF,
//! KL-ONMF, k-means and spherical k-means.

mod bounds;
mod choose;

pub use bounds::Bounds;
pub(super) use choose::largest;

use super::{NOWHERE, column};
use crate::bytes::bytes_of;
use crate::error::Result;
use crate::matrix::engine::{ArrayMut, Strip};
use crate::matrix::seam::{Adds, Part, Pass, Slot, Use};
use crate::matrix::rule::{Formulas, by};
use crate::matrix::{Mat, Rule};
use bounds::ScoreError;
use choose::{choose, choose_roughly};

/// The pass.
#[derive(Debug, Clone)]
pub struct Assign {
    /// How points choose, and what they add.
    pub rule: Rule,
    /// Centroids of each run, features × k.
    pub u: Vec<Mat>,
    /// The runs, whose labels are read and written.
    pub runs: Vec<usize>,
    /// Which runs know the sums of their old labels: their points add only where they change their cluster, to the new
    /// one, and take themselves away from the old.
    pub follows: Vec<bool>,
    /// What a single run knows of its points: those whose cluster cannot have changed are not scored.
    pub bounds: Option<Bounds>,
    /// Squared norms of the centroids of all runs, where the rule or the bounds need them.
    pub norms2: Vec<f64>,
}
bytes_of!(Assign { rule, u, runs, follows, bounds, norms2 });

/// What [`Assign`] tells; columns of all runs side by side.
#[derive(Debug, Clone)]
pub struct Assigned {
    /// `Σw` of each cluster's points.
    pub weight: Vec<f64>,
    /// Each cluster's share of the value: see [`Rule`].
    pub value: Vec<f64>,
    /// How many points changed their cluster, of each run.
    pub changed: Vec<usize>,
}
bytes_of!(Assigned { weight, value, changed });

impl Part for Assigned {
    fn merge(&mut self, after: Self) {
        self.weight.iter_mut().zip(&after.weight).for_each(|(a, b)| *a += b);
        self.value.iter_mut().zip(&after.value).for_each(|(a, b)| *a += b);
        self.changed.iter_mut().zip(&after.changed).for_each(|(a, b)| *a += b);
    }
}

/// Room for one tile. An entry is a point for one run.
#[derive(Default)]
struct Room {
    scores: Vec<f64>,
    rough: Vec<f32>,
    /// Points of the tile that are to be scored, where not all are.
    scored: Vec<u32>,
    /// For each entry its column, or [`NOWHERE`], and the product with it.
    to: Vec<u32>,
    strength: Vec<f64>,
    /// Whether the points have been added to the sums.
    added: bool,
    /// Labels before the pass, where sums follow those that change.
    before: Vec<i32>,
    /// What the points add, to which columns.
    columns: Vec<u32>,
    factors: Vec<f64>,
}

impl Assign {
    /// For runs of which nothing is known.
    pub fn new(rule: Rule, u: Vec<Mat>, runs: Vec<usize>) -> Self {
        let norms2 = if rule.adds_the_same { u.iter().flat_map(Mat::column_norms2).collect() } else { vec![] };
        Assign { rule, follows: vec![false; runs.len()], u, runs, bounds: None, norms2 }
    }

    fn k(&self) -> usize {
        self.u.first().map_or(0, |u| u.cols)
    }

    /// Columns that a point adds to, in each run.
    fn entries(&self) -> usize {
        if self.follows.contains(&true) { 2 } else { 1 }
    }
}

impl Pass for Assign {
    const NAME: &'static str = "assign";
    type Part = Assigned;

    fn empty(&self) -> Assigned {
        let width = self.runs.len() * self.k();
        Assigned { weight: vec![0.0; width], value: vec![0.0; width], changed: vec![0; self.runs.len()] }
    }

    fn slots(&self) -> Vec<Use> {
        let leads = self.bounds.iter().map(|_| Use::Numbers(Slot::Leads(self.runs[0]), 1));
        self.runs.iter().map(|&run| Use::Labels(run)).chain(leads).collect()
    }

    fn scored(&self) -> &[Mat] {
        &self.u
    }

    fn adds(&self) -> Adds {
        Adds::Few { entries: self.entries() * self.runs.len(), width: self.runs.len() * self.k() }
    }

    fn strip(&self, strip: &mut Strip, arrays: &mut [ArrayMut], part: &mut Assigned) -> Result<()> {
        let (runs, k, rule) = (self.runs.len(), self.k(), self.rule);
        let (labels, leads) = arrays.split_at_mut(runs);
        let mut leads = leads.first_mut().map_or(&mut [][..], |leads| leads.numbers());
        let half: Vec<f64> =
            if rule.distance { self.norms2.iter().map(|n| n / 2.0).collect() } else { vec![] };
        let choosing = Choosing {
            rule,
            k,
            half: &half,
            score_error: ScoreError::new(rule.distance, strip.tie(), strip.rounding(), self.u[0].rows, &self.norms2),
            drops: self.bounds.as_ref().and_then(|bounds| bounds.drops.as_deref()),
        };
        // Weight and value of each column: of the points at even places of their tile, then of the others. One alone would
        // wait for itself where points of a cluster follow each other.
        let mut tallies = vec![[0.0; 2]; 2 * runs * k];
        let mut room = Room::default();
        for tile in strip.tiles() {
            room.to.resize(tile.len() * runs, NOWHERE);
            room.strength.resize(tile.len() * runs, 0.0);
            if self.entries() == 2 {
                room.before.clear();
                for p in tile.clone() {
                    room.before.extend(labels.iter_mut().map(|labels| labels.labels()[p]));
                }
            }
            room.added = false;
            for group in 0..strip.groups() {
                choosing.label(strip, group, &tile, labels, &mut leads, part, &mut room);
            }
            self.add(strip, &tile, &mut tallies, &mut room);
            if !room.added {
                let columns = if self.entries() == 1 { &room.to } else { &room.columns };
                strip.add_few(tile, columns, &room.factors);
            }
        }
        let (even, odd) = tallies.split_at(runs * k);
        for (at, (even, odd)) in even.iter().zip(odd).enumerate() {
            part.weight[at] += even[0] + odd[0];
            part.value[at] += even[1] + odd[1];
        }
        Ok(())
    }
}

impl Assign {
    /// What the points of a tile add to their clusters, and are worth there.
    fn add(&self, strip: &Strip, tile: &std::ops::Range<usize>, tallies: &mut [[f64; 2]], room: &mut Room) {
        by!(self.rule, rule => {
            self.add_by(strip, tile, tallies, room, |p, w, s| rule.gives(w, s, || strip.norm2(p)))
        })
    }

    /// `of` a point, its weight and its score: what it adds and what it is worth.
    #[inline(always)]
    fn add_by(
        &self,
        strip: &Strip,
        tile: &std::ops::Range<usize>,
        tallies: &mut [[f64; 2]],
        room: &mut Room,
        of: impl Fn(usize, f64, f64) -> (f64, f64),
    ) {
        let (runs, k, entries) = (self.runs.len(), self.k(), self.entries());
        let Room { to, strength, before, columns, factors, .. } = room;
        let (first, second) = tallies.split_at_mut(runs * k);
        let tallies = [first, second];
        factors.resize(tile.len() * runs * entries, 0.0);
        if entries == 2 {
            columns.resize(tile.len() * runs * entries, NOWHERE);
        }
        for (at, p) in tile.clone().enumerate() {
            let w = strip.weight(p);
            let tally = &mut *tallies[at % 2];
            for r in 0..runs {
                let entry = at * runs + r;
                let mut adds = 0.0;
                if let Some([weight, value]) = tally.get_mut(to[entry] as usize) {
                    let (own, worth) = of(p, w, strength[entry]);
                    *weight += w;
                    *value += worth;
                    adds = own;
                }
                if entries == 1 {
                    factors[entry] = adds;
                    continue;
                }
                let old = if self.follows[r] { column(before[entry], r * k) } else { NOWHERE };
                let same = old == to[entry];
                columns[2 * entry] = if same { NOWHERE } else { to[entry] };
                columns[2 * entry + 1] = if same { NOWHERE } else { old };
                // Only rules whose points add the same in every pass are followed.
                factors[2 * entry] = adds;
                factors[2 * entry + 1] = -adds;
            }
        }
    }
}

/// How the points of a tile find their clusters.
struct Choosing<'a> {
    rule: Rule,
    k: usize,
    /// Half the squared norms of the centres (k-means).
    half: &'a [f64],
    score_error: ScoreError,
    /// What the leads of each cluster's points lose; none where all points are to be scored.
    drops: Option<&'a [f64]>,
}

impl Choosing<'_> {
    /// Labels the points of a tile for the runs of a group.
    #[allow(clippy::too_many_arguments)]
    fn label(
        &self,
        strip: &mut Strip,
        group: usize,
        tile: &std::ops::Range<usize>,
        labels: &mut [ArrayMut],
        leads: &mut &mut [f64],
        part: &mut Assigned,
        room: &mut Room,
    ) {
        let runs = strip.runs(group);
        let all = labels.len();
        if let Some(drops) = self.drops {
            self.select(&labels[0].labels()[tile.clone()], &mut leads[tile.clone()], drops, room);
        }
        // A power step needs the exact products anyway, and so does KL.
        let hasty = all == 1 && self.rule.adds_the_same && strip.is_rough(group);
        if hasty {
            self.roughly(strip, group, tile, labels[0].labels(), leads, part, room);
        }
        let some = hasty || self.drops.is_some();
        if some && room.scored.is_empty() {
            return;
        }
        let plain = !some && !self.rule.distance && leads.is_empty();
        let adds = self.rule.adds_scores;
        if plain && all == 1 && strip.nearest(group, tile.clone(), &mut room.to, &mut room.strength, adds) {
            room.added = adds;
            let labels = &mut labels[0].labels()[tile.clone()];
            let found = room.to.iter_mut().zip(&room.strength);
            for ((label, (to, &strength)), p) in labels.iter_mut().zip(found).zip(tile.clone()) {
                // Nothing has no cluster. (What it has added is nothing.)
                if strength == 0.0 && strip.norm2(p) == 0.0 {
                    *to = NOWHERE;
                }
                let new = *to as i32;
                part.changed[0] += usize::from(*label != new);
                *label = new;
            }
            return;
        }
        let width = runs.len() * self.k;
        room.scores.resize(tile.len() * width, 0.0);
        let list = Some(room.scored.as_slice()).filter(|_| some);
        strip.scores(group, tile.clone(), list, &mut room.scores);
        let scored = if some { room.scored.len() } else { tile.len() };
        for at in 0..scored {
            let p = tile.start + if some { room.scored[at] as usize } else { at };
            let norm2 = strip.norm2(p);
            for (r, run) in runs.clone().enumerate() {
                let entry = (p - tile.start) * all + run;
                let label = &mut labels[run].labels()[p];
                if norm2 == 0.0 && !self.rule.distance {
                    part.changed[run] += usize::from(*label != -1);
                    *label = -1;
                    room.to[entry] = NOWHERE;
                    leads.get_mut(p).into_iter().for_each(|lead| *lead = f64::INFINITY);
                    continue;
                }
                let scores = &room.scores[at * width + r * self.k..at * width + (r + 1) * self.k];
                let half = self.half.get(run * self.k..(run + 1) * self.k);
                let choice = match half {
                    Some(half) => choose(scores, |i| half[i], strip.tie()),
                    None => choose(scores, |_| 0.0, strip.tie()),
                };
                if let Some(lead) = leads.get_mut(p) {
                    *lead = match half {
                        Some(half) => {
                            self.score_error.of_distances(choice.score - half[choice.label], choice.other, norm2)
                        }
                        None => self.score_error.of_scores(choice.score, choice.other, norm2),
                    };
                }
                room.to[entry] = (run * self.k + choice.label) as u32;
                room.strength[entry] = choice.score;
                part.changed[run] += usize::from(*label != choice.label as i32);
                *label = choice.label as i32;
            }
        }
    }

    /// Lowers the leads of a tile's points and finds those to be scored.
    fn select(&self, labels: &[i32], leads: &mut [f64], drops: &[f64], room: &mut Room) {
        room.scored.clear();
        for (p, (lead, (label, to))) in leads.iter_mut().zip(labels.iter().zip(&mut room.to)).enumerate() {
            *to = column(*label, 0);
            *lead -= drops.get(*to as usize).copied().unwrap_or(0.0);
            if *lead <= 0.0 {
                room.scored.push(p as u32);
            }
        }
    }

    /// Labels those of the scored points for which float32 is enough; the others remain in the list.
    #[allow(clippy::too_many_arguments)]
    fn roughly(
        &self,
        strip: &Strip,
        group: usize,
        tile: &std::ops::Range<usize>,
        labels: &mut [i32],
        leads: &mut [f64],
        part: &mut Assigned,
        room: &mut Room,
    ) {
        let k = self.k;
        let all = self.drops.is_none();
        if all {
            room.scored.clear();
            room.scored.extend(0..tile.len() as u32);
        }
        room.rough.resize(tile.len() * k, 0.0);
        let list = Some(room.scored.as_slice()).filter(|_| !all);
        strip.rough_scores(group, tile.clone(), list, &mut room.rough);
        let mut unsure = 0;
        for at in 0..room.scored.len() {
            let (q, p) = (room.scored[at] as usize, tile.start + room.scored[at] as usize);
            let norm2 = strip.norm2(p);
            let (best, other, i) = choose_roughly(&room.rough[at * k..(at + 1) * k], self.half);
            let score_error = self.score_error.with(strip.roughness(p));
            let lead = if self.rule.distance {
                score_error.of_distances(best, other, norm2)
            } else {
                score_error.of_scores(best, other, norm2)
            };
            // Below this float32 has no digits left for a point's entries.
            if lead > 0.0 && norm2 > 1e-40 {
                leads.get_mut(p).into_iter().for_each(|place| *place = lead);
                part.changed[0] += usize::from(labels[p] != i as i32);
                labels[p] = i as i32;
                room.to[q] = i as u32;
            } else {
                room.scored[unsure] = q as u32;
                unsure += 1;
            }
        }
        room.scored.truncate(unsure);
    }
}
