//! `Σ_{j in πᵢ} w(mⱼᵀuᵢ)mⱼ` with the labels as they are: the Gram matrix of every cluster times a vector.

use super::column;
use crate::bytes::bytes_of;
use crate::error::Result;
use crate::matrix::Mat;
use crate::matrix::engine::{ArrayMut, Strip};
use crate::matrix::seam::{Adds, Pass, Use};

/// The pass. Several vectors for the clusters of one run are the same run several times.
#[derive(Debug, Clone)]
pub struct Power {
    /// features × (k columns for each run).
    u: Mat,
    /// Different runs, whose labels are read.
    runs: Vec<usize>,
    /// Which of them each k columns are for.
    which: Vec<usize>,
}
bytes_of!(Power { u, runs, which });

impl Power {
    /// `u` has k columns for each of `runs`, in which a run may be named more than once.
    pub fn new(u: Mat, runs: &[usize]) -> Self {
        let mut different = runs.to_vec();
        different.sort_unstable();
        different.dedup();
        let which = runs.iter().map(|run| different.binary_search(run).unwrap_or(0)).collect();
        Power { u, runs: different, which }
    }
}

impl Pass for Power {
    const NAME: &'static str = "power";
    type Part = ();

    fn empty(&self) {}

    fn slots(&self) -> Vec<Use> {
        self.runs.iter().map(|&run| Use::Labels(run)).collect()
    }

    fn own(&self) -> Option<&Mat> {
        Some(&self.u)
    }

    fn adds(&self) -> Adds {
        Adds::Few { entries: self.which.len(), width: self.u.cols }
    }

    fn strip(&self, strip: &mut Strip, arrays: &mut [ArrayMut], _: &mut ()) -> Result<()> {
        let count = self.which.len();
        let k = self.u.cols / count.max(1);
        let most = strip.most();
        let (mut to, mut factor) = (vec![0; most * count], vec![0.0; most * count]);
        let (mut columns, mut scores) = (vec![0; most], vec![0.0; most]);
        for tile in strip.tiles() {
            let size = tile.len();
            // One direction for each point, not k.
            for (r, &which) in self.which.iter().enumerate() {
                let labels = &arrays[which].labels()[tile.clone()];
                columns.iter_mut().zip(labels).for_each(|(c, &label)| *c = column(label, r * k));
                strip.dots(tile.clone(), &columns[..size], &mut scores[..size]);
                for (at, p) in tile.clone().enumerate() {
                    to[at * count + r] = columns[at];
                    factor[at * count + r] = strip.weight(p) * scores[at];
                }
            }
            strip.add_few(tile, &to[..size * count], &factor[..size * count]);
        }
        Ok(())
    }
}
