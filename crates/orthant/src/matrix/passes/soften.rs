//! Soft memberships: a point belongs to all clusters, to each with a share that falls with what the cluster leaves of it. The
//! points add their shares to all sums: a step of deterministic annealing (Rose, 1998).

use crate::bytes::bytes_of;
use crate::error::Result;
use crate::matrix::engine::{ArrayMut, Strip};
use crate::matrix::rule::{Formulas, by};
use crate::matrix::seam::{Adds, Pass, Sum, Use};
use crate::matrix::{Mat, Rule};

/// The pass, for one run or several.
#[derive(Debug, Clone)]
pub struct Soften {
    rule: Rule,
    k: usize,
    /// What points are multiplied with in each run: its centroids, and where what is left of a point counts from its own
    /// information a column of ones, which tells how large the point is.
    u: Vec<Mat>,
    /// Half the squared norms of the centroids of all runs.
    half: Vec<f64>,
    /// Shares are proportional to `exp(−sharpness·left)`; of points with information to `exp(−sharpness·left/Σm)`.
    sharpness: f64,
}
bytes_of!(Soften { rule, k, u, half, sharpness });

impl Soften {
    /// With centroids of each run as points are multiplied with them, features × k.
    pub fn new(rule: Rule, u: &[&Mat], sharpness: f64) -> Self {
        // Distances alone ask for them.
        let half = |u: &&Mat| match rule.distance {
            true => u.column_norms2().iter().map(|norm2| norm2 / 2.0).collect(),
            false => vec![0.0; u.cols],
        };
        let half = u.iter().flat_map(half).collect();
        let scored = |u: &&Mat| match rule.information {
            true => Mat::beside(&[u, &Mat::from_fn(u.rows, 1, |_, _| 1.0)]),
            false => (*u).clone(),
        };
        Soften { rule, k: u.first().map_or(0, |u| u.cols), u: u.iter().map(scored).collect(), half, sharpness }
    }

    /// Scores of a point in one run → what it adds to each of the run's columns. Gives back what is left of it.
    #[inline(always)]
    fn share(
        &self,
        rule: impl Formulas,
        (w, norm2): (f64, f64),
        (scores, half): (&[f64], &[f64]),
        weight: &mut [f64],
        adds: &mut [f64],
    ) -> f64 {
        let sharpness = scores.get(self.k).map_or(self.sharpness, |total| self.sharpness / total);
        let mut least = f64::INFINITY;
        for ((left, s), half) in adds.iter_mut().zip(scores).zip(half) {
            *left = rule.left(1.0, norm2, *s, *half, 0.0);
            least = left.min(least);
        }
        let mut whole = 0.0;
        for share in adds.iter_mut() {
            *share = ((least - *share) * sharpness).exp();
            whole += *share;
        }
        for ((share, s), weight) in adds.iter_mut().zip(scores).zip(weight) {
            let own = *share / whole;
            *weight += w * own;
            *share = own * rule.gives(w, *s, || norm2).0;
        }
        w * least
    }
}

impl Pass for Soften {
    const NAME: &'static str = "soften";
    /// `Σw` of each column by shares, and what the nearest centroids of each run leave.
    type Part = (Sum, Sum);

    fn empty(&self) -> (Sum, Sum) {
        (Sum(vec![0.0; self.half.len()]), Sum(vec![0.0; self.u.len()]))
    }

    fn slots(&self) -> Vec<Use> {
        vec![]
    }

    fn scored(&self) -> &[Mat] {
        &self.u
    }

    fn adds(&self) -> Adds {
        Adds::Many(self.half.len())
    }

    fn strip(&self, strip: &mut Strip, _: &mut [ArrayMut], (weight, left): &mut (Sum, Sum)) -> Result<()> {
        let (k, width, runs) = (self.k, self.half.len(), self.u.len());
        let each = self.u.first().map_or(0, |u| u.cols);
        let mut scores = vec![0.0; strip.most() * runs * each];
        let mut adds = vec![0.0; strip.most() * width];
        for tile in strip.tiles() {
            for group in 0..strip.groups() {
                let of = strip.runs(group);
                let size = of.len() * each;
                let scores = &mut scores[..tile.len() * size];
                strip.scores(group, tile.clone(), None, scores);
                for (at, p) in tile.clone().enumerate() {
                    let point = (strip.weight(p), strip.norm2(p));
                    for (r, run) in of.clone().enumerate() {
                        let columns = run * k..(run + 1) * k;
                        let adds = &mut adds[at * width..][columns.clone()];
                        if point.0 == 0.0 || (point.1 == 0.0 && !self.rule.distance) {
                            adds.fill(0.0);
                            continue;
                        }
                        let known = (&scores[at * size + r * each..][..each], &self.half[columns.clone()]);
                        left.0[run] += by!(self.rule, rule => {
                            self.share(rule, point, known, &mut weight.0[columns], adds)
                        });
                    }
                }
            }
            strip.add(tile.clone(), &adds[..tile.len() * width]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::rule::RULES;
    use crate::matrix::{Dense, open};

    /// Shares, sums and what is left by plain loops, for every rule, with weights and two runs.
    #[test]
    fn shares_fall_with_what_is_left() {
        let (points, features, k, sharpness) = (40, 5, 3, 1.7);
        let x = Mat::from_fn(points, features, |j, f| ((j * 7 + f * 3) % 11) as f64 / 16.0);
        let weights: Vec<f64> = (0..points).map(|j| [1.0, 0.0, 2.5][j % 3]).collect();
        let data = open(Dense::new(points, features, x.data.clone()).unwrap(), Some(weights.clone())).unwrap();
        let scale = data.facts().scale;
        for &rule in RULES {
            let centroids = |run: usize| {
                let sums = Mat::from_fn(features, k, |f, i| ((f + 2 * i + run) % 4 + 1) as f64 / 8.0);
                rule.scored(rule.centroids(sums, &[1.0; 3]))
            };
            let (a, b) = (centroids(0), centroids(1));
            let ((weight, left), sums) =
                data.slots().unwrap().sweep(&Soften::new(rule, &[&a, &b], sharpness)).unwrap();
            for (run, u) in [a, b].iter().enumerate() {
                let (mut total, mut of, mut plain) = (0.0, vec![0.0; k], Mat::zeros(features, k));
                for j in 0..points {
                    let m: Vec<f64> = (0..features).map(|f| x[(j, f)] * scale).collect();
                    let norm2: f64 = m.iter().map(|x| x * x).sum();
                    let s = |i: usize| (0..features).map(|f| m[f] * u[(f, i)]).sum::<f64>();
                    let half = |i: usize| u.column(i).iter().map(|x| x * x).sum::<f64>() / 2.0;
                    let lefts: Vec<f64> = (0..k).map(|i| rule.left(1.0, norm2, s(i), half(i), 0.0)).collect();
                    let size = if rule.information { m.iter().sum() } else { 1.0 };
                    let shares: Vec<f64> = lefts.iter().map(|x| (-sharpness * x / size).exp()).collect();
                    total += weights[j] * lefts.iter().copied().fold(f64::INFINITY, f64::min);
                    for i in 0..k {
                        let share = weights[j] * shares[i] / shares.iter().sum::<f64>();
                        of[i] += share;
                        let factor = match rule {
                            Rule::Power(_) => share * s(i),
                            Rule::Cosine(_) => share / norm2.sqrt(),
                            _ => share,
                        };
                        (0..features).for_each(|f| plain[(f, i)] += factor * m[f]);
                    }
                }
                assert!((left.0[run] - total).abs() < 1e-12 * total.abs().max(1.0), "{rule:?}");
                for i in 0..k {
                    assert!((weight.0[run * k + i] - of[i]).abs() < 1e-11, "{rule:?}");
                    for f in 0..features {
                        assert!((sums[(f, run * k + i)] - plain[(f, i)]).abs() < 1e-11, "{rule:?}");
                    }
                }
            }
        }
    }
}
