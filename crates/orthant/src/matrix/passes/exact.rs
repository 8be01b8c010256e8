//! Products with a few columns in float64, whatever the format of the entries: what proofs rest on.

use crate::bytes::bytes_of;
use crate::error::Result;
use crate::matrix::Mat;
use crate::matrix::engine::{ArrayMut, Strip};
use crate::matrix::seam::{Each, Pass, Use};

/// Tells `√w·mⱼᵀu` with all columns, points × width, of the points from one on.
#[derive(Debug, Clone)]
pub struct ExactScores {
    u: Vec<Mat>,
    from: usize,
}
bytes_of!(ExactScores { u, from });

impl ExactScores {
    /// With the columns of U, features × width, for the points from the given one on.
    pub fn new(u: Mat, from: usize) -> Self {
        ExactScores { u: vec![u], from }
    }
}

impl Pass for ExactScores {
    const NAME: &'static str = "exact scores";
    type Part = Each<f64>;

    fn empty(&self) -> Each<f64> {
        Each(vec![])
    }

    fn slots(&self) -> Vec<Use> {
        vec![]
    }

    fn scored(&self) -> &[Mat] {
        &self.u
    }

    fn strip(&self, strip: &mut Strip, _: &mut [ArrayMut], told: &mut Each<f64>) -> Result<()> {
        let width = self.u[0].cols;
        let first = self.from.saturating_sub(strip.first).min(strip.len());
        told.0.resize((strip.len() - first) * width, 0.0);
        for tile in strip.tiles() {
            let tile = tile.start.max(first)..tile.end.max(first);
            let out = &mut told.0[(tile.start - first) * width..(tile.end - first) * width];
            strip.scores_exact(0, tile.clone(), out);
            strip.times_root_weights(&tile, width, out);
        }
        Ok(())
    }
}
