//! The most promising moves of single points between clusters.

use super::column;
use crate::bytes::bytes_of;
use crate::error::Result;
use crate::matrix::Mat;
use crate::matrix::engine::{ArrayMut, Strip};
use crate::matrix::seam::{Part, Pass, Use};

/// By how much σ₁² of a cluster changes at least when a point x comes (`sign` 1) or goes (−1).
///
/// With u the dominant vector, `p = uᵀx`, `x = pu + re` and `g = eᵀGe`, the new Gram matrix is
/// `[[λ ± p², ±pr], [±pr, g ± r²]]` in the plane of u and e, where `uᵀGe = 0`; its larger eigenvalue is
/// at most the new σ₁². Anything below the true g gives a lower bound as well: 0 for a point that comes,
/// r² for one that goes, as G contains it.
pub fn change(sigma2: f64, sign: f64, p2: f64, r2: f64, g: f64) -> f64 {
    let ahead = sigma2 + sign * p2 - g - sign * r2;
    let root = (ahead * ahead + 4.0 * p2 * r2).sqrt();
    // The larger eigenvalue less the first diagonal entry, without cancellation.
    let beyond = if ahead > 0.0 { 2.0 * p2 * r2 / (ahead + root) } else { (root - ahead) / 2.0 };
    sign * p2 + beyond
}

/// A point that may change its cluster.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Move {
    /// The point.
    pub point: usize,
    /// Its cluster.
    pub from: usize,
    /// Another one.
    pub to: usize,
    /// Its weight.
    pub weight: f64,
    /// By how much Σσ₁² would grow at least.
    pub gain: f64,
}
bytes_of!(Move { point, from, to, weight, gain });

/// The best moves, whether they gain or not.
#[derive(Debug, Clone)]
pub struct Moves {
    u: Vec<Mat>,
    sigma2: Vec<f64>,
    run: usize,
    most: usize,
}
bytes_of!(Moves { u, sigma2, run, most });

impl Moves {
    /// Between the clusters of a run with these dominant vectors (features × k) and σ₁²: no more than so many.
    pub fn new(u: Mat, sigma2: Vec<f64>, run: usize, most: usize) -> Self {
        Moves { u: vec![u], sigma2, run, most }
    }
}

/// The best so far, the best first; equal gains in the order of the points.
#[derive(Debug, Clone)]
pub struct Best {
    /// The moves.
    pub moves: Vec<Move>,
    most: usize,
}
bytes_of!(Best { moves, most });

impl Best {
    fn sort(&mut self) {
        self.moves.sort_by(|a, b| b.gain.total_cmp(&a.gain).then(a.point.cmp(&b.point)));
        self.moves.truncate(self.most);
    }
}

impl Part for Best {
    fn merge(&mut self, after: Self) {
        self.moves.extend(after.moves);
        self.sort();
    }
}

impl Pass for Moves {
    const NAME: &'static str = "moves";
    type Part = Best;

    fn empty(&self) -> Best {
        Best { moves: vec![], most: self.most }
    }

    fn slots(&self) -> Vec<Use> {
        vec![Use::Labels(self.run)]
    }

    fn scored(&self) -> &[Mat] {
        &self.u
    }

    fn strip(&self, strip: &mut Strip, arrays: &mut [ArrayMut], best: &mut Best) -> Result<()> {
        let (k, labels) = (self.u[0].cols, arrays[0].labels());
        let mut room = vec![0.0; strip.most() * k];
        for tile in strip.tiles() {
            let scores = &mut room[..tile.len() * k];
            strip.scores(0, tile.clone(), None, scores);
            for (s, p) in scores.chunks_exact(k).zip(tile) {
                let (w, norm2, from) = (strip.weight(p), strip.norm2(p), column(labels[p], 0) as usize);
                if w == 0.0 || norm2 == 0.0 || from >= k {
                    continue;
                }
                let parts = |i: usize| {
                    let p2 = w * s[i] * s[i];
                    (p2, (w * norm2 - p2).max(0.0))
                };
                let (p2, r2) = parts(from);
                let gone = change(self.sigma2[from], -1.0, p2, r2, r2);
                let found = (0..k).filter(|&to| to != from).fold(None, |best: Option<Move>, to| {
                    let (p2, r2) = parts(to);
                    let gain = gone + change(self.sigma2[to], 1.0, p2, r2, 0.0);
                    let better = best.is_none_or(|best| gain > best.gain);
                    if better { Some(Move { point: strip.first + p, from, to, weight: w, gain }) } else { best }
                });
                best.moves.extend(found);
            }
        }
        best.sort();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::change;
    use crate::matrix::Mat;

    /// The bound against the largest eigenvalue of the whole Gram matrix, for random points.
    #[test]
    fn the_change_is_a_lower_bound_and_no_worse_than_reassigning() {
        let mut state = 7u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 40) as f64 / (1u64 << 24) as f64
        };
        for _ in 0..200 {
            let (features, points) = (4, 5);
            let m = Mat::from_fn(features, points, |_, _| next());
            let gram = |columns: std::ops::Range<usize>| {
                let part = m.columns(columns).transpose();
                part.transpose_times(&part)
            };
            let top = |g: &Mat| g.symmetric_eigen().0[0];
            let x = m.columns(0..1);
            for (sign, before, after) in
                [(1.0, gram(1..points), gram(0..points)), (-1.0, gram(0..points), gram(1..points))]
            {
                let (values, vectors) = before.symmetric_eigen();
                let u = vectors.columns(0..1);
                let (p2, norm2) = (u.dot(&x).powi(2), x.norm2());
                let r2 = norm2 - p2;
                let exact = before.times(&x).dot(&x);
                let g = (exact - p2 * values[0]) / r2;
                let truth = top(&after) - values[0];
                let cheap = change(values[0], sign, p2, r2, if sign > 0.0 { 0.0 } else { r2 });
                let sharp = change(values[0], sign, p2, r2, g);
                assert!(cheap <= sharp + 1e-12 && sharp <= truth + 1e-12, "{cheap} {sharp} {truth}");
                assert!(cheap >= sign * p2 - 1e-12, "a plain reassignment brings {}", sign * p2);
            }
        }
    }
}
