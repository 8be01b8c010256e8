//! `xᵀGᵢx = Σ_{j in πᵢ} w(mⱼᵀx)²`: quadratic forms of every cluster's Gram matrix. No image of x is needed for them.

use super::{NOWHERE, column};
use crate::bytes::bytes_of;
use crate::error::Result;
use crate::matrix::Mat;
use crate::matrix::engine::{ArrayMut, Strip};
use crate::matrix::seam::{Pass, Sum, Use};

/// The pass; tells the forms of each vector with all clusters, vectors × k.
#[derive(Debug, Clone)]
pub struct Forms {
    /// features × vectors, one matrix.
    x: Vec<Mat>,
    k: usize,
    /// The run whose labels are read.
    run: usize,
}
bytes_of!(Forms { x, k, run });

impl Forms {
    /// Of the columns of `x`.
    pub fn new(x: Mat, k: usize, run: usize) -> Self {
        Forms { x: vec![x], k, run }
    }
}

impl Pass for Forms {
    const NAME: &'static str = "forms";
    type Part = Sum;

    fn empty(&self) -> Sum {
        Sum(vec![0.0; self.x[0].cols * self.k])
    }

    fn slots(&self) -> Vec<Use> {
        vec![Use::Labels(self.run)]
    }

    fn scored(&self) -> &[Mat] {
        &self.x
    }

    fn strip(&self, strip: &mut Strip, arrays: &mut [ArrayMut], forms: &mut Sum) -> Result<()> {
        let vectors = self.x[0].cols;
        let mut scores = vec![0.0; strip.most() * vectors];
        let labels = arrays[0].labels();
        for tile in strip.tiles() {
            strip.scores_exact(0, tile.clone(), &mut scores[..tile.len() * vectors]);
            for (p, scores) in tile.zip(scores.chunks_exact(vectors.max(1))) {
                let (to, w) = (column(labels[p], 0), strip.weight(p));
                if to != NOWHERE {
                    let own = forms.0.iter_mut().skip(to as usize).step_by(self.k);
                    own.zip(scores).for_each(|(form, s)| *form += w * s * s);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{Dense, open};

    #[test]
    fn forms_are_those_of_the_clusters_gram_matrices() {
        let (points, features, k) = (50, 6, 3);
        let m = Mat::from_fn(points, features, |j, f| ((j * 5 + f * 7) % 13) as f64 / 16.0);
        let weights: Vec<f64> = (0..points).map(|j| [1.0, 0.0, 0.5][j % 3]).collect();
        let labels: Vec<i32> = (0..points).map(|j| (j % (k + 1)) as i32 - 1).collect();
        let data = open(Dense::new(points, features, m.data.clone()).unwrap(), Some(weights.clone())).unwrap();
        let x = Mat::from_fn(features, 4, |f, c| ((f + 3 * c) % 5) as f64 - 1.0);
        let mut slots = data.slots().unwrap();
        slots.set_labels(0, &labels).unwrap();
        let forms = slots.tell(&Forms::new(x.clone(), k, 0)).unwrap().0;
        let scale = data.facts().scale;
        for (c, i) in (0..4).flat_map(|c| (0..k).map(move |i| (c, i))) {
            let own = (0..points).filter(|&j| labels[j] == i as i32);
            let expected: f64 = own
                .map(|j| {
                    let product: f64 = (0..features).map(|f| scale * m[(j, f)] * x[(f, c)]).sum();
                    weights[j] * product * product
                })
                .sum();
            assert!((forms[c * k + i] - expected).abs() <= 1e-12 * expected.abs().max(1.0), "{c}, {i}");
        }
    }
}
