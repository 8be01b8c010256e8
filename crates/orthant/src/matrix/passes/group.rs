//! One point of every group of points: what the certificate of many points rests on. float64 throughout, whatever the
//! format of the entries.

use super::column;
use crate::bytes::bytes_of;
use crate::error::Result;
use crate::matrix::engine::{ArrayMut, Strip};
use crate::matrix::kernels::axpy;
use crate::matrix::kernels::tall::add_gram;
use crate::matrix::seam::{Pass, Slot, Sum, Use};
use crate::matrix::{Mat, Shape};

/// R before its columns are divided by their norms: `√w·max(0, mᵀu)` of each point's own group (the labels of run 0), into
/// a slot; tells the squared norms.
#[derive(Debug, Clone)]
pub struct Shares {
    /// groups × features.
    directions: Mat,
}
bytes_of!(Shares { directions });

impl Shares {
    /// With the groups' directions, features × groups.
    pub fn new(u: &Mat) -> Self {
        Shares { directions: u.transpose() }
    }
}

impl Pass for Shares {
    const NAME: &'static str = "shares";
    type Part = Sum;

    fn empty(&self) -> Sum {
        Sum(vec![0.0; self.directions.rows])
    }

    fn slots(&self) -> Vec<Use> {
        vec![Use::Labels(0), Use::Numbers(Slot::Share, 1)]
    }

    fn strip(&self, strip: &mut Strip, arrays: &mut [ArrayMut], norms2: &mut Sum) -> Result<()> {
        let [labels, shares] = arrays else { unreachable!("two slots are declared") };
        for (p, (&label, share)) in labels.labels().iter().zip(shares.numbers()).enumerate() {
            let g = column(label, 0) as usize;
            *share = 0.0;
            if g < self.directions.rows {
                let (u, mut score) = (self.directions.row(g), 0.0);
                strip.entries(p, &mut |f, x| score += x * u[f]);
                *share = strip.root_weight(p) * score.max(0.0);
                norms2.0[g] += *share * *share;
            }
        }
        Ok(())
    }
}

/// Points whose share of nonzeros is below this are multiplied entry by entry.
const SPARSE: f64 = 0.2;

/// Tells `(MR)ᵀ`, groups × features, and `MMᵀ`, features × features. R is points × groups with nonnegative unit columns,
/// each nonzero on its own group only; M has its weights.
#[derive(Debug, Clone)]
pub struct Group {
    norms: Vec<f64>,
    features: usize,
    sparse: bool,
}
bytes_of!(Group { norms, features, sparse });

impl Group {
    /// After [`Shares`], with what it told.
    pub fn new(norms2: &Sum, shape: &Shape) -> Self {
        let all = shape.points as f64 * shape.features as f64;
        Group {
            norms: norms2.0.iter().map(|n| n.sqrt()).collect(),
            features: shape.features,
            sparse: (shape.nonzeros as f64) < SPARSE * all,
        }
    }
}

impl Pass for Group {
    const NAME: &'static str = "group";
    type Part = (Mat, Mat);

    fn empty(&self) -> (Mat, Mat) {
        (Mat::zeros(self.norms.len(), self.features), Mat::zeros(self.features, self.features))
    }

    fn slots(&self) -> Vec<Use> {
        vec![Use::Labels(0), Use::Numbers(Slot::Share, 1)]
    }

    fn cost(&self, shape: &Shape) -> usize {
        shape.nonzeros.saturating_mul(self.features)
    }

    fn strip(&self, strip: &mut Strip, arrays: &mut [ArrayMut], (mr, mmt): &mut (Mat, Mat)) -> Result<()> {
        let [labels, shares] = arrays else { unreachable!("two slots are declared") };
        let (labels, shares, features) = (labels.labels(), shares.numbers(), self.features);
        for tile in strip.tiles() {
            let mut block = vec![0.0; if self.sparse { 0 } else { tile.len() * features }];
            for (at, p) in tile.enumerate() {
                let root = strip.root_weight(p);
                let group = Some(column(labels[p], 0) as usize).filter(|&g| g < self.norms.len());
                let share = |g: usize| if self.norms[g] > 0.0 { shares[p] / self.norms[g] } else { 0.0 };
                if self.sparse {
                    let mut entries = vec![];
                    strip.entries(p, &mut |f, x| entries.push((f, x * root)));
                    for &(f, x) in &entries {
                        group.into_iter().for_each(|g| mr[(g, f)] += share(g) * x);
                        entries.iter().for_each(|&(g, y)| mmt[(f, g)] += x * y);
                    }
                } else {
                    let point = &mut block[at * features..(at + 1) * features];
                    strip.entries(p, &mut |f, x| point[f] = x * root);
                    group.into_iter().for_each(|g| axpy(share(g), point, mr.row_mut(g)));
                }
            }
            add_gram(mmt, &block, &block);
        }
        Ok(())
    }
}
