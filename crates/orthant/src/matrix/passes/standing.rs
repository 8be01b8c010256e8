//! How every point stands among the clusters of a solution.

use super::column;
use super::residual::Residual;
use crate::bytes::bytes_of;
use crate::error::Result;
use crate::matrix::engine::{ArrayMut, Strip};
use crate::matrix::seam::{Part, Pass, Use, append};
use crate::matrix::{Mat, Shape};

/// Compares each point's own direction with the others, and with what is left of the point.
#[derive(Debug, Clone)]
pub struct Standings {
    /// Its directions and their norms.
    of: Residual,
    /// features × k.
    u: Vec<Mat>,
    /// Points whose scores are wanted, ascending.
    shown: Vec<usize>,
}
bytes_of!(Standings { of, u, shown });

impl Standings {
    /// For directions, features × k, the labels of a run, and points whose scores are wanted, ascending.
    pub fn new(u: &Mat, run: usize, shown: Vec<usize>) -> Self {
        Standings { of: Residual::new(u, run), u: vec![u.clone()], shown }
    }
}

/// How a point stands: single precision, because there are as many as points, and people read three digits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing {
    second: i32,
    margin: f32,
    misfit: f32,
}
bytes_of!(Standing { second, margin, misfit });

impl Standing {
    /// The best of the other clusters; none where there is one cluster only, or the point has none.
    pub fn second(&self) -> Option<usize> {
        usize::try_from(self.second).ok()
    }

    /// `(own − second)/max(own, second)` of the scores mᵀu; NaN where there is nothing to compare.
    pub fn margin(&self) -> f32 {
        self.margin
    }

    /// `‖m − uv‖/‖m‖` with its own direction; NaN without a cluster or a norm.
    pub fn misfit(&self) -> f32 {
        self.misfit
    }

    /// The cosine with its own direction, 0 where it has none.
    pub fn cosine(&self) -> f64 {
        // What is left of a point and what is not are the sides of a right triangle.
        let left = f64::from(self.misfit);
        if left < 1.0 { (1.0 - left * left).sqrt() } else { 0.0 }
    }
}

/// What [`Standings`] tells.
#[derive(Debug, Clone, Default)]
pub struct Stood {
    /// Of each point, in order.
    pub points: Vec<Standing>,
    /// `mᵀu` of the wanted points with every direction, one after the other.
    pub scores: Vec<f64>,
}
bytes_of!(Stood { points, scores });

impl Part for Stood {
    fn merge(&mut self, after: Self) {
        append(&mut self.points, after.points);
        self.scores.extend(after.scores);
    }
}

impl Pass for Standings {
    const NAME: &'static str = "standings";
    type Part = Stood;

    fn empty(&self) -> Stood {
        Stood::default()
    }

    fn slots(&self) -> Vec<Use> {
        self.of.slots()
    }

    fn scored(&self) -> &[Mat] {
        &self.u
    }

    fn cost(&self, shape: &Shape) -> usize {
        shape.nonzeros.saturating_mul(self.u[0].cols + 2)
    }

    fn strip(&self, strip: &mut Strip, arrays: &mut [ArrayMut], told: &mut Stood) -> Result<()> {
        let (k, labels) = (self.u[0].cols, arrays[0].labels());
        let mut scores = vec![0.0; strip.most() * k];
        let mut shown = self.shown.partition_point(|&point| point < strip.first);
        for tile in strip.tiles() {
            let scores = &mut scores[..tile.len() * k];
            strip.scores(0, tile.clone(), None, scores);
            for (p, scores) in tile.zip(scores.chunks_exact(k)) {
                if self.shown.get(shown) == Some(&(strip.first + p)) {
                    told.scores.extend_from_slice(scores);
                    shown += 1;
                }
                told.points.push(self.standing(strip, p, labels[p], scores));
            }
        }
        Ok(())
    }
}

impl Standings {
    fn standing(&self, strip: &Strip, p: usize, label: i32, scores: &[f64]) -> Standing {
        const NONE: Standing = Standing { second: -1, margin: f32::NAN, misfit: f32::NAN };
        let (Residual { directions, norms2, .. }, own) = (&self.of, column(label, 0) as usize);
        let Some(&score) = scores.get(own) else { return NONE };
        let mut second = None;
        for (i, &other) in scores.iter().enumerate().filter(|(i, _)| *i != own) {
            if second.is_none_or(|at: usize| other > scores[at]) {
                second = Some(i);
            }
        }
        let margin = second.map_or(f64::NAN, |second| {
            let most = score.abs().max(scores[second].abs());
            if most > 0.0 { (score - scores[second]) / most } else { f64::NAN }
        });
        let (norm2, direction) = (strip.norm2(p), directions.row(own));
        let left = || strip.residual2(p, direction, norms2[own], strip.dot(p, direction).max(0.0));
        let misfit = if norm2 > 0.0 { (left() / norm2).max(0.0).sqrt() } else { f64::NAN };
        let second = second.map_or(-1, |second| second as i32);
        Standing { second, margin: margin as f32, misfit: misfit as f32 }
    }
}
