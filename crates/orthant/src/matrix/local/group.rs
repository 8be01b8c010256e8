//! The pass that makes one point of every group of points: what the certificate of many points rests on. float64
//! throughout, whatever the format of the entries.

use super::factors::{add_all, add_gram};
use super::{LocalStore, Points, in_order, split};
use crate::matrix::Mat;
use crate::matrix::data::Grouped;
use crate::matrix::kernels::axpy;

/// Chunks have sums of their own: not more of them than are worth this many bytes.
const SUMS: usize = 256 << 20;

/// Points whose share of nonzeros is below this are multiplied entry by entry.
const SPARSE: f64 = 0.2;

impl<P: Points> LocalStore<'_, P> {
    pub(super) fn group(&mut self, u: &Mat, start: usize) -> Grouped {
        let (features, groups) = (u.rows, u.cols);
        let labels = self.labels_of(start).clone();
        let data = self.data;
        let directions = u.transpose();
        let shape = data.points.shape();
        let bytes = size_of::<f64>() * features * (groups + features);
        let chunks = data.cut((SUMS / bytes.max(1)).clamp(1, 16));
        let group = |j: usize| usize::try_from(labels[j]).ok();

        // R: √w·max(0, mᵀu), each group's column divided by its norm.
        let mut r = vec![0.0; shape.points];
        in_order(chunks.iter().cloned().zip(split(&mut r, &chunks, 1)).collect(), |(chunk, r)| {
            for (r, j) in r.iter_mut().zip(chunk) {
                if let Some(g) = group(j) {
                    let (u, mut score) = (directions.row(g), 0.0);
                    data.points.for_each(j, |f, x| score += x * data.facts.scale * u[f]);
                    *r = data.root_weight(j) * score.max(0.0);
                }
            }
        });
        let mut norms2 = vec![0.0; groups];
        r.iter().enumerate().for_each(|(j, r)| group(j).into_iter().for_each(|g| norms2[g] += r * r));
        for (j, r) in r.iter_mut().enumerate() {
            if let Some(g) = group(j)
                && norms2[g] > 0.0
            {
                *r /= norms2[g].sqrt();
            }
        }

        let sparse = (shape.nonzeros as f64) < SPARSE * shape.points as f64 * features as f64;
        let parts = in_order(chunks, |chunk| {
            // groups × features, so that a point is added to one row.
            let mut mr = Mat::zeros(groups, features);
            let mut mmt = Mat::zeros(features, features);
            for rows in data.blocks(chunk) {
                let mut block = vec![0.0; if sparse { 0 } else { rows.len() * features }];
                for (at, j) in rows.enumerate() {
                    let (scale, root) = (data.facts.scale, data.root_weight(j));
                    if sparse {
                        let mut entries = vec![];
                        data.points.for_each(j, |f, x| entries.push((f, x * scale * root)));
                        for &(f, x) in &entries {
                            group(j).into_iter().for_each(|g| mr[(g, f)] += r[j] * x);
                            entries.iter().for_each(|&(g, y)| mmt[(f, g)] += x * y);
                        }
                    } else {
                        let point = &mut block[at * features..(at + 1) * features];
                        data.points.for_each(j, |f, x| point[f] = x * scale * root);
                        group(j).into_iter().for_each(|g| axpy(r[j], point, mr.row_mut(g)));
                    }
                }
                add_gram(&mut mmt, &block, &block);
            }
            (mr, mmt)
        });
        let (mr, mmt): (Vec<Mat>, Vec<Mat>) = parts.into_iter().unzip();
        Grouped { mr: add_all(mr, groups, features).transpose(), mmt: add_all(mmt, features, features) }
    }
}
