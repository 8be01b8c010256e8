//! `MᵀM` of few points.

use crate::error::Result;
use crate::matrix::passes::ExactScores;
use crate::matrix::{Data, Mat};

/// Bytes of a skinny matrix that stay in the cache while all points go by.
const CACHED: usize = 512 << 10;

/// Columns that the products of points with many columns take at a time, in every form.
const TILE: usize = 24;

/// `MᵀM` in float64, points × points, weights included: for few points only.
pub fn gram(data: &dyn Data) -> Result<Mat> {
    let (n, features) = (data.shape().points, data.shape().features);
    let root = |i: usize| data.weights().map_or(1.0, |w| w[i].sqrt());
    let mut gram = Mat::zeros(n, n);
    let mut slots = data.slots()?;
    // A group of points at a time is the skinny matrix that those from there on are multiplied with: as many as fit the cache, in whole
    // tiles of the kernel.
    let most = (CACHED / (8 * features.max(1)) / TILE * TILE).clamp(TILE, 3 * TILE);
    for from in (0..n).step_by(most) {
        let group: Vec<usize> = (from..(from + most).min(n)).collect();
        let scores = slots.tell(&ExactScores::new(data.gather(&group)?, from))?.0;
        for (j, scores) in scores.chunks_exact(group.len()).enumerate() {
            let j = from + j;
            for (score, &i) in scores.iter().zip(&group) {
                let entry = score * root(i);
                (gram[(j, i)], gram[(i, j)]) = (entry, entry);
            }
        }
    }
    Ok(gram)
}
