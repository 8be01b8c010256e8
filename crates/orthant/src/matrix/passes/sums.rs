//! Sums of points with the labels or the V they have, and `MMᵀB`.

use super::column;
use crate::bytes::bytes_of;
use crate::error::Result;
use crate::matrix::engine::{ArrayMut, Strip};
use crate::matrix::kernels::tall::add_gram;
use crate::matrix::seam::{Adds, Pass, Slot, Sum, Use};
use crate::matrix::{Mat, Rule};

/// What the points of each cluster add by a rule, with the labels of a run as they are; tells the weight of each cluster.
/// (For [`rule::Power`](crate::matrix::rule::Power), whose sums need directions, see [`super::Power`].)
#[derive(Debug, Clone)]
pub struct SumOfLabels {
    /// Number of clusters.
    pub k: usize,
    /// The rule.
    pub rule: Rule,
    /// The run.
    pub run: usize,
}
bytes_of!(SumOfLabels { k, rule, run });

impl Pass for SumOfLabels {
    const NAME: &'static str = "sum of labels";
    type Part = Sum;

    fn empty(&self) -> Sum {
        Sum(vec![0.0; self.k])
    }

    fn slots(&self) -> Vec<Use> {
        vec![Use::Labels(self.run)]
    }

    fn adds(&self) -> Adds {
        Adds::Few { entries: 1, width: self.k }
    }

    fn strip(&self, strip: &mut Strip, arrays: &mut [ArrayMut], weight: &mut Sum) -> Result<()> {
        let labels = arrays[0].labels();
        let (mut to, mut factor) = (vec![], vec![]);
        for tile in strip.tiles() {
            to.clear();
            factor.clear();
            for p in tile.clone() {
                to.push(column(labels[p], 0));
                factor.push(self.rule.adds(strip.weight(p), strip.norm2(p)));
                if let Some(total) = usize::try_from(labels[p]).ok().and_then(|i| weight.0.get_mut(i)) {
                    *total += strip.weight(p);
                }
            }
            strip.add_few(tile, &to, &factor);
        }
        Ok(())
    }
}

/// `MMᵀB`.
#[derive(Debug, Clone)]
pub struct Normal {
    /// features × width.
    b: Vec<Mat>,
}
bytes_of!(Normal { b });

impl Normal {
    /// Of B, features × width.
    pub fn new(b: Mat) -> Self {
        Normal { b: vec![b] }
    }
}

impl Pass for Normal {
    const NAME: &'static str = "normal";
    type Part = ();

    fn empty(&self) {}

    fn slots(&self) -> Vec<Use> {
        vec![]
    }

    fn scored(&self) -> &[Mat] {
        &self.b
    }

    fn adds(&self) -> Adds {
        Adds::Many(self.b[0].cols)
    }

    fn strip(&self, strip: &mut Strip, _: &mut [ArrayMut], _: &mut ()) -> Result<()> {
        let width = self.b[0].cols;
        let mut room = vec![0.0; strip.most() * width];
        for tile in strip.tiles() {
            let scores = &mut room[..tile.len() * width];
            strip.scores(0, tile.clone(), None, scores);
            if strip.weighted() && width > 0 {
                for (scores, p) in scores.chunks_exact_mut(width).zip(tile.clone()) {
                    let w = strip.weight(p);
                    scores.iter_mut().for_each(|s| *s *= w);
                }
            }
            strip.add(tile, scores);
        }
        Ok(())
    }
}

/// `MVᵀ` as sums; tells `VVᵀ`.
#[derive(Debug, Clone)]
pub struct Products {
    /// Rows of V.
    pub k: usize,
}
bytes_of!(Products { k });

impl Pass for Products {
    const NAME: &'static str = "products";
    type Part = Mat;

    fn empty(&self) -> Mat {
        Mat::zeros(self.k, self.k)
    }

    fn slots(&self) -> Vec<Use> {
        vec![Use::Numbers(Slot::V, self.k)]
    }

    fn adds(&self) -> Adds {
        Adds::Many(self.k)
    }

    fn strip(&self, strip: &mut Strip, arrays: &mut [ArrayMut], vvt: &mut Mat) -> Result<()> {
        let (k, v) = (self.k, arrays[0].numbers());
        let mut weighted = vec![];
        for tile in strip.tiles() {
            let v = &v[tile.start * k..tile.end * k];
            add_gram(vvt, v, v);
            if strip.weighted() {
                weighted.clear();
                weighted.extend_from_slice(v);
                strip.times_root_weights(&tile, k, &mut weighted);
                strip.add(tile, &weighted);
            } else {
                strip.add(tile, v);
            }
        }
        Ok(())
    }
}
