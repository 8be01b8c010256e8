//! A rough iteration of several runs in one pass: see `matrix/rough.rs`.

use crate::bytes::bytes_of;
use crate::error::Result;
use crate::matrix::engine::{ArrayMut, Scaled, Strip};
use crate::matrix::kernels::lanes::NONE;
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
        Adds::Roughly { runs: self.runs.len(), k: self.k }
    }

    fn strip(&self, strip: &mut Strip, arrays: &mut [ArrayMut], part: &mut RoughlyTold) -> Result<()> {
        let (rule, runs) = (self.rule, self.runs.len());
        let (labels, keeps) = arrays.split_at_mut(runs);
        let rows = strip.in_lanes();
        let of_total = rule.rough() == Rough::Distributions;
        let shift: Vec<f32> =
            (0..strip.len()).map(|p| if of_total { rows.total(p) } else { 1.0 }).collect();
        let scaled = Scaled { k: self.k, inverse: &self.inverse, offset: &self.offset, shift: &shift };
        let (mut nearest, mut score) = strip.nearest_roughly(&rows, &scaled);
        for p in 0..strip.len() {
            let none = strip.norm2(p) == 0.0 && !rule.distance;
            let (w, adds) = (strip.weight(p), rule.adds(strip.weight(p), strip.norm2(p)));
            for (run, told) in part.runs.iter_mut().enumerate() {
                let (label, score) = (&mut nearest[p * runs + run], &mut score[p * runs + run]);
                if none {
                    (*label, *score) = (NONE, 0.0);
                } else {
                    told.weight[usize::from(*label)] += w;
                    told.value += rule.rough_value(adds, f64::from(*score));
                    *score = rule.rough_adds(adds as f32, *score);
                }
                let new = if none { -1 } else { i32::from(*label) };
                let old = std::mem::replace(&mut labels[run].labels()[p], new);
                told.changed += usize::from(old != new);
                if let Some(kept) = keeps.get_mut(run) {
                    kept.numbers()[p] = f64::from(*score);
                }
            }
        }
        strip.add_roughly(&nearest, &score);
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
        Adds::Roughly { runs: 1, k: self.k }
    }

    fn strip(&self, strip: &mut Strip, arrays: &mut [ArrayMut], _: &mut ()) -> Result<()> {
        let (labels, keeps) = arrays.split_at_mut(1);
        let label: Vec<u8> = labels[0].labels().iter().map(|&l| u8::try_from(l).unwrap_or(NONE)).collect();
        let factor: Vec<f32> = match keeps.first_mut() {
            Some(kept) => kept.numbers().iter().map(|&x| x as f32).collect(),
            None => {
                let adds = |p| self.rule.adds(strip.weight(p), strip.norm2(p)) as f32;
                (0..strip.len()).map(adds).collect()
            }
        };
        strip.add_roughly(&label, &factor);
        Ok(())
    }
}
