//! Vectors of one number for each point of a cluster, all clusters of a run together: the side on which singular vectors of
//! clusters are short where points are few and features many.

use super::column;
use crate::bytes::bytes_of;
use crate::error::Result;
use crate::matrix::Mat;
use crate::matrix::engine::{ArrayMut, Strip};
use crate::matrix::seam::{Adds, Each, Pass, Use};

/// Sums `Σⱼ √w·xⱼ·mⱼ` over each cluster, features × k.
#[derive(Debug, Clone)]
pub struct Directions {
    /// One number for each point: fewer than the features × k that come back.
    pub x: Vec<f64>,
    /// Number of clusters.
    pub k: usize,
    /// The run.
    pub run: usize,
}
bytes_of!(Directions { x, k, run });

impl Pass for Directions {
    const NAME: &'static str = "directions";
    type Part = ();

    fn empty(&self) {}

    fn slots(&self) -> Vec<Use> {
        vec![Use::Labels(self.run)]
    }

    fn adds(&self) -> Adds {
        Adds::Few { entries: 1, width: self.k }
    }

    fn strip(&self, strip: &mut Strip, arrays: &mut [ArrayMut], _: &mut ()) -> Result<()> {
        let labels = arrays[0].labels();
        let (mut to, mut factor) = (vec![], vec![]);
        for tile in strip.tiles() {
            to.clear();
            factor.clear();
            to.extend(labels[tile.clone()].iter().map(|&label| column(label, 0)));
            factor.extend(tile.clone().map(|p| self.x[strip.first + p] * strip.root_weight(p)));
            strip.add_few(tile, &to, &factor);
        }
        Ok(())
    }
}

/// Tells `√w·mⱼᵀu` with the column of each point's own cluster; 0 without one.
#[derive(Debug, Clone)]
pub struct Own {
    /// features × k.
    pub u: Mat,
    /// The run.
    pub run: usize,
}
bytes_of!(Own { u, run });

impl Pass for Own {
    const NAME: &'static str = "own";
    type Part = Each<f64>;

    fn empty(&self) -> Each<f64> {
        Each(vec![])
    }

    fn slots(&self) -> Vec<Use> {
        vec![Use::Labels(self.run)]
    }

    fn own(&self) -> &[Mat] {
        std::slice::from_ref(&self.u)
    }

    fn strip(&self, strip: &mut Strip, arrays: &mut [ArrayMut], told: &mut Each<f64>) -> Result<()> {
        let labels = arrays[0].labels();
        told.0.resize(strip.len(), 0.0);
        for tile in strip.tiles() {
            let to: Vec<u32> = labels[tile.clone()].iter().map(|&label| column(label, 0)).collect();
            let out = &mut told.0[tile.clone()];
            strip.dots(0, tile.clone(), &to, out);
            strip.times_root_weights(&tile, 1, out);
        }
        Ok(())
    }
}
