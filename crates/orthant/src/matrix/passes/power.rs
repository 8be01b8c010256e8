//! `Σ_{j in πᵢ} w(mⱼᵀuᵢ)mⱼ` with the labels as they are: the Gram matrix of every cluster times a vector.

use super::{NOWHERE, column};
use crate::bytes::bytes_of;
use crate::error::Result;
use crate::matrix::Mat;
use crate::matrix::engine::{ArrayMut, Strip};
use crate::matrix::seam::{Adds, Pass, Use};

/// The pass. Several vectors for the clusters of one run are the same run several times.
#[derive(Debug, Clone)]
pub struct Power {
    /// features × k each.
    u: Vec<Mat>,
    /// Columns that are zero, of all of them: there is nothing to multiply.
    zero: Vec<bool>,
    /// Different runs, whose labels are read.
    runs: Vec<usize>,
    /// Which of them each matrix is for.
    which: Vec<usize>,
}
bytes_of!(Power { u, zero, runs, which });

impl Power {
    /// A matrix for each of `runs`, in which a run may be named more than once.
    pub fn new(u: Vec<Mat>, runs: &[usize]) -> Self {
        let mut different = runs.to_vec();
        different.sort_unstable();
        different.dedup();
        let which = runs.iter().map(|run| different.binary_search(run).unwrap_or(0)).collect();
        let zero = u.iter().flat_map(Mat::zero_columns).collect();
        Power { u, zero, runs: different, which }
    }
}

impl Pass for Power {
    const NAME: &'static str = "power";
    type Part = ();

    fn empty(&self) {}

    fn slots(&self) -> Vec<Use> {
        self.runs.iter().map(|&run| Use::Labels(run)).collect()
    }

    fn own(&self) -> &[Mat] {
        &self.u
    }

    fn adds(&self) -> Adds {
        Adds::Few { entries: self.which.len(), width: self.zero.len() }
    }

    fn strip(&self, strip: &mut Strip, arrays: &mut [ArrayMut], _: &mut ()) -> Result<()> {
        let count = self.which.len();
        let k = self.zero.len() / count.max(1);
        let most = strip.most();
        let (mut to, mut factor) = (vec![NOWHERE; most * count], vec![0.0; most * count]);
        let (mut columns, mut scores) = (vec![0; most], vec![0.0; most]);
        for tile in strip.tiles() {
            let size = tile.len();
            // One direction for each point, not k.
            for (r, &which) in self.which.iter().enumerate() {
                let zero = &self.zero[r * k..(r + 1) * k];
                let labels = &arrays[which].labels()[tile.clone()];
                for (own, &label) in columns.iter_mut().zip(labels) {
                    *own = column(label, 0);
                    if zero.get(*own as usize) == Some(&true) {
                        *own = NOWHERE;
                    }
                }
                strip.dots(r, tile.clone(), &columns[..size], &mut scores[..size]);
                for (at, p) in tile.clone().enumerate() {
                    let own = columns[at];
                    to[at * count + r] = if own == NOWHERE { NOWHERE } else { (r * k) as u32 + own };
                    factor[at * count + r] = strip.weight(p) * scores[at];
                }
            }
            strip.add_few(tile, &to[..size * count], &factor[..size * count]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{Csr, Dense, open};

    /// What a vector gives does not hang on those beside it, in many runs (with a copy made for the pass) or few.
    #[test]
    fn columns_that_are_zero_are_left_out_and_change_no_other() {
        let (points, features, k) = (300, 40, 3);
        let dense: Vec<f64> = (0..points * features)
            .map(|i| if i % 7 < 2 { 1.0 + (i * 31 % 17) as f64 / 3.0 } else { 0.0 })
            .collect();
        let (mut offsets, mut columns, mut values) = (vec![0], vec![], vec![]);
        for row in dense.chunks(features) {
            for (f, &x) in row.iter().enumerate().filter(|(_, x)| **x > 0.0) {
                columns.push(f as i32);
                values.push(x);
            }
            offsets.push(values.len());
        }
        let sparse = Csr::new(features, offsets, columns, values).unwrap();
        for data in [
            open(Dense::new(points, features, dense.clone()).unwrap(), None).unwrap(),
            crate::matrix::open_with(sparse.clone().into(), None, Some(false)).unwrap(),
            crate::matrix::open_with(sparse.into(), None, Some(true)).unwrap(),
        ] {
            let mut slots = data.slots().unwrap();
            for runs in [1, 2, 9] {
                for run in 0..runs {
                    let labels: Vec<i32> = (0..points).map(|p| ((p * (run + 2)) % 5) as i32 - 1).collect();
                    let labels: Vec<i32> = labels.into_iter().map(|l| if l < k as i32 { l } else { -1 }).collect();
                    slots.set_labels(run, &labels).unwrap();
                }
                let u = |run: usize| Mat::from_fn(features, k, |f, i| ((f + i * 5 + run) % 4) as f64);
                let some = |run: usize| Mat::from_fn(features, k, |f, i| if i == run % k { 0.0 } else { u(run)[(f, i)] });
                let all: Vec<usize> = (0..runs).collect();
                let whole = slots.sweep(&Power::new(all.iter().map(|&r| u(r)).collect(), &all)).unwrap().1;
                let part = slots.sweep(&Power::new(all.iter().map(|&r| some(r)).collect(), &all)).unwrap().1;
                for (f, run, i) in (0..features).flat_map(|f| (0..runs * k).map(move |c| (f, c / k, c % k))) {
                    let (left_out, own) = (i == run % k, whole[(f, run * k + i)]);
                    assert_eq!(part[(f, run * k + i)], if left_out { 0.0 } else { own });
                }
            }
        }
    }
}
