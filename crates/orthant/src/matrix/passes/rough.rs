//! A rough iteration of several runs in one pass: see `matrix/rough.rs`.

use crate::bytes::bytes_of;
use crate::error::Result;
use crate::matrix::engine::{ArrayMut, Scaled, Strip};
use crate::matrix::kernels::lanes::{NONE, Rows};
use crate::matrix::rough::{RoughTold, Softness, adds_slot};
use crate::matrix::rule::Rough;
use crate::matrix::seam::{Adds, Part, Pass, Use};
use crate::matrix::{Mat, Rule};

/// What points are scored with, in float32.
#[derive(Debug, Clone)]
pub struct Columns {
    /// How points choose.
    pub rule: Rule,
    /// Number of clusters.
    pub k: usize,
    /// What points are multiplied with in each run, features × k.
    pub u: Vec<Mat>,
    /// For each cluster of all runs: its products are multiplied by this,
    pub inverse: Vec<f32>,
    /// and count less this times a number that is each point's own.
    pub offset: Vec<f32>,
}
bytes_of!(Columns { rule, k, u, inverse, offset });

impl Columns {
    /// What each point's offsets are multiplied with.
    fn shift(&self, rows: &Rows) -> Vec<f32> {
        let of_total = self.rule.rough() == Rough::Distributions;
        (0..rows.len()).map(|p| if of_total { rows.total(p) } else { 1.0 }).collect()
    }

    fn scaled<'a>(&'a self, shift: &'a [f32]) -> Scaled<'a> {
        Scaled { k: self.k, inverse: &self.inverse, offset: &self.offset, shift }
    }

    fn told(&self) -> RoughlyTold {
        let told = RoughTold { weight: vec![0.0; self.k], value: 0.0, changed: 0 };
        RoughlyTold { runs: vec![told; self.u.len()] }
    }
}

/// Assigns points in float32 and sums what they add.
#[derive(Debug, Clone)]
pub struct Roughly {
    /// What they are scored with in each run.
    pub to: Columns,
    /// The runs, whose labels are read and written.
    pub runs: Vec<usize>,
}
bytes_of!(Roughly { to, runs });

impl Part for RoughTold {
    fn merge(&mut self, after: Self) {
        self.weight.iter_mut().zip(&after.weight).for_each(|(a, b)| *a += b);
        self.value += after.value;
        self.changed += after.changed;
    }
}

/// What a rough pass tells of each run.
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
        self.to.told()
    }

    fn slots(&self) -> Vec<Use> {
        uses(self.to.rule, &self.runs)
    }

    fn scored(&self) -> &[Mat] {
        &self.to.u
    }

    fn adds(&self) -> Adds {
        Adds::Roughly { runs: self.runs.len(), k: self.to.k }
    }

    fn strip(&self, strip: &mut Strip, arrays: &mut [ArrayMut], part: &mut RoughlyTold) -> Result<()> {
        let (rule, runs) = (self.to.rule, self.runs.len());
        let (labels, keeps) = arrays.split_at_mut(runs);
        let rows = strip.in_lanes();
        let shift = self.to.shift(&rows);
        let (mut nearest, mut score) = strip.side_by_side().nearest(&rows, &self.to.scaled(&shift));
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

/// A soft iteration in float32: points belong to all clusters, and add themselves by their shares. [`super::Soften`] in float64.
#[derive(Debug, Clone)]
pub struct Sharpen {
    /// What they are scored with in each run.
    pub to: Columns,
    /// Shares are proportional to `exp(−sharpness·left)`.
    pub sharpness: f64,
}
bytes_of!(Sharpen { to, sharpness });

impl Pass for Sharpen {
    const NAME: &'static str = "sharpen";
    type Part = RoughlyTold;

    fn empty(&self) -> RoughlyTold {
        self.to.told()
    }

    fn slots(&self) -> Vec<Use> {
        vec![]
    }

    fn scored(&self) -> &[Mat] {
        &self.to.u
    }

    fn adds(&self) -> Adds {
        Adds::RoughlyMany { runs: self.to.u.len(), k: self.to.k }
    }

    fn strip(&self, strip: &mut Strip, _: &mut [ArrayMut], part: &mut RoughlyTold) -> Result<()> {
        let (rule, k, runs) = (self.to.rule, self.to.k, self.to.u.len());
        let rows = strip.in_lanes();
        let shift = self.to.shift(&rows);
        let known = |p: usize| (strip.weight(p), strip.norm2(p), rows.total(p));
        let softness: Vec<Softness> =
            (0..rows.len()).map(|p| Softness::of(rule, self.sharpness, known(p))).collect();
        let (shares, score) =
            strip.side_by_side().shares(&rows, &self.to.scaled(&shift), rule.onmf, &softness);
        for p in 0..rows.len() {
            let none = strip.norm2(p) == 0.0 && !rule.distance;
            let adds = rule.adds(strip.weight(p), strip.norm2(p));
            for (run, told) in part.runs.iter_mut().enumerate() {
                told.tell_soft(rule, adds, (!none).then_some(score[p * runs + run]));
                if rule.distance {
                    let own = &shares[(p * runs + run) * k..][..k];
                    told.weight.iter_mut().zip(own).for_each(|(weight, &share)| *weight += f64::from(share));
                }
            }
        }
        strip.share_roughly(&shares);
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
