//! A rough iteration of several runs in one pass: see `matrix/rough.rs`.

use super::{NOWHERE, column};
use crate::bytes::bytes_of;
use crate::error::Result;
use crate::matrix::engine::{ArrayMut, Strip};
use crate::matrix::rough::{RoughTold, adds_slot};
use crate::matrix::rule::Rough;
use crate::matrix::seam::{Adds, Part, Pass, Use};
use crate::matrix::{Mat, Rule};

/// Assigns points in float32 and sums what they add.
#[derive(Debug, Clone)]
pub struct Roughly {
    /// How points choose.
    pub rule: Rule,
    /// Number of clusters.
    pub k: usize,
    /// The runs, whose labels are read and written.
    pub runs: Vec<usize>,
    /// What points are multiplied with in each run, features × k.
    pub u: Vec<Mat>,
    /// For each cluster of all runs: its products are multiplied by this,
    pub inverse: Vec<f32>,
    /// and count less this times a number that is each point's own.
    pub offset: Vec<f32>,
}
bytes_of!(Roughly { rule, k, runs, u, inverse, offset });

impl Part for RoughTold {
    fn merge(&mut self, after: Self) {
        self.weight.iter_mut().zip(&after.weight).for_each(|(a, b)| *a += b);
        self.value += after.value;
        self.changed += after.changed;
    }
}

/// What [`Roughly`] tells of each run.
#[derive(Debug, Clone)]
pub struct RoughlyTold {
    /// In their order.
    pub runs: Vec<RoughTold>,
}
bytes_of!(RoughlyTold { runs });

impl Part for RoughlyTold {
    fn merge(&mut self, after: Self) {
        self.runs.iter_mut().zip(after.runs).for_each(|(a, b)| a.merge(b));
    }
}

fn uses(rule: Rule, runs: &[usize]) -> Vec<Use> {
    let adds = runs.iter().filter_map(|&run| adds_slot(rule, run)).map(|slot| Use::Numbers(slot, 1));
    runs.iter().map(|&run| Use::Labels(run)).chain(adds).collect()
}

/// The number of a point that its offsets are multiplied by.
fn shift(rule: Rule, strip: &Strip, p: usize) -> f32 {
    if rule.rough() != Rough::Distributions {
        return 1.0;
    }
    let mut total = 0.0;
    strip.entries(p, &mut |_, x| total += f64::from(x as f32));
    total as f32
}

impl Pass for Roughly {
    const NAME: &'static str = "roughly";
    type Part = RoughlyTold;

    fn empty(&self) -> RoughlyTold {
        let told = RoughTold { weight: vec![0.0; self.k], value: 0.0, changed: 0 };
        RoughlyTold { runs: vec![told; self.runs.len()] }
    }

    fn slots(&self) -> Vec<Use> {
        uses(self.rule, &self.runs)
    }

    fn scored(&self) -> &[Mat] {
        &self.u
    }

    fn adds(&self) -> Adds {
        Adds::Roughly { width: self.runs.len() * self.k }
    }

    fn strip(&self, strip: &mut Strip, arrays: &mut [ArrayMut], part: &mut RoughlyTold) -> Result<()> {
        let (k, rule, runs) = (self.k, self.rule, self.runs.len());
        let (labels, keeps) = arrays.split_at_mut(runs);
        let mut scores = vec![0.0f32; strip.most() * k];
        for tile in strip.tiles() {
            let (mut to, mut factor) = (vec![NOWHERE; tile.len() * runs], vec![0.0f32; tile.len() * runs]);
            for run in 0..runs {
                let told = &mut part.runs[run];
                let (inverse, offset) = (&self.inverse[run * k..], &self.offset[run * k..]);
                strip.scores_in_order(run, tile.clone(), &mut scores);
                for (at, p) in tile.clone().enumerate() {
                    let label = &mut labels[run].labels()[p];
                    let entry = at * runs + run;
                    let new = if strip.norm2(p) == 0.0 && !rule.distance {
                        -1
                    } else {
                        let shift = shift(rule, strip, p);
                        let (mut best, mut nearest) = (f32::NEG_INFINITY, 0);
                        for i in 0..k {
                            let score = scores[at * k + i] * inverse[i] - shift * offset[i];
                            if score > best {
                                (best, nearest) = (score, i);
                            }
                        }
                        let adds = rule.adds(strip.weight(p), strip.norm2(p));
                        factor[entry] = rule.rough_adds(adds as f32, best);
                        to[entry] = (run * k + nearest) as u32;
                        told.weight[nearest] += strip.weight(p);
                        told.value += rule.rough_value(adds, f64::from(best));
                        nearest as i32
                    };
                    told.changed += usize::from(*label != new);
                    *label = new;
                    if let Some(kept) = keeps.get_mut(run) {
                        kept.numbers()[p] = f64::from(factor[entry]);
                    }
                }
            }
            strip.add_roughly(tile, &to, &factor);
        }
        Ok(())
    }
}

/// The sums that the last rough iteration of a run has left.
#[derive(Debug, Clone)]
pub struct RoughSums {
    /// How points chose.
    pub rule: Rule,
    /// Number of clusters.
    pub k: usize,
    /// The run whose labels they are.
    pub run: usize,
}
bytes_of!(RoughSums { rule, k, run });

impl Pass for RoughSums {
    const NAME: &'static str = "rough sums";
    type Part = ();

    fn empty(&self) {}

    fn slots(&self) -> Vec<Use> {
        uses(self.rule, &[self.run])
    }

    fn adds(&self) -> Adds {
        Adds::Roughly { width: self.k }
    }

    fn strip(&self, strip: &mut Strip, arrays: &mut [ArrayMut], _: &mut ()) -> Result<()> {
        let (labels, keeps) = arrays.split_at_mut(1);
        for tile in strip.tiles() {
            let to: Vec<u32> = labels[0].labels()[tile.clone()].iter().map(|&label| column(label, 0)).collect();
            let factor: Vec<f32> = match keeps.first_mut() {
                Some(kept) => kept.numbers()[tile.clone()].iter().map(|&x| x as f32).collect(),
                None => {
                    let adds = |p| self.rule.adds(strip.weight(p), strip.norm2(p)) as f32;
                    tile.clone().map(adds).collect()
                }
            };
            strip.add_roughly(tile, &to, &factor);
        }
        Ok(())
    }
}
