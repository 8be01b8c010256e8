//! Passes that look for a better partition: what replacing a centroid or moving a point would bring.

use super::{Local, LocalStore, Points, in_order};
use crate::matrix::Mat;
use crate::matrix::data::{Move, Rule};

/// By how much σ₁² of a cluster changes at least when a point x comes (`sign` 1) or goes (−1).
///
/// With u the dominant vector, `p = uᵀx`, `x = pu + re` and `g = eᵀGe`, the new Gram matrix is
/// `[[λ ± p², ±pr], [±pr, g ± r²]]` in the plane of u and e, where `uᵀGe = 0`; its larger eigenvalue is
/// at most the new σ₁². Anything below the true g gives a lower bound as well: 0 for a point that comes,
/// r² for one that goes, as G contains it.
pub(crate) fn change(sigma2: f64, sign: f64, p2: f64, r2: f64, g: f64) -> f64 {
    let ahead = sigma2 + sign * p2 - g - sign * r2;
    let root = (ahead * ahead + 4.0 * p2 * r2).sqrt();
    // The larger eigenvalue less the first diagonal entry, without cancellation.
    let beyond = if ahead > 0.0 { 2.0 * p2 * r2 / (ahead + root) } else { (root - ahead) / 2.0 };
    sign * p2 + beyond
}

impl<P: Points> Local<P> {
    /// `Σ_f m log(m/Σm)` of every point: what its own distribution would say of it.
    pub(super) fn information(&self) -> &[f64] {
        // Found before the cell is entered: a thread that waited in it for others could be given a job that enters it too.
        if let Some(known) = self.information.get() {
            return known;
        }
        let log = |x: f64| if x > 0.0 { x * x.ln() } else { 0.0 };
        let parts = in_order(self.chunks(4), |chunk| {
            let own = |j: usize| {
                let (mut sum, mut logs) = (0.0, 0.0);
                self.points.for_each(j, |_, x| {
                    let x = x * self.facts.scale;
                    sum += x;
                    logs += log(x);
                });
                logs - log(sum)
            };
            chunk.map(own).collect::<Vec<f64>>()
        });
        self.information.get_or_init(|| parts.concat())
    }
}

impl<P: Points> LocalStore<'_, P> {
    pub(super) fn information(&mut self) -> f64 {
        self.data.information().iter().enumerate().map(|(j, x)| self.data.weight(j) * x).sum()
    }

    pub(super) fn relabel(&mut self, start: usize, labels: &[(usize, usize)]) {
        self.memory.remove(&start);
        let all = self.labels_of(start);
        labels.iter().for_each(|&(point, label)| all[point] = label as i32);
    }

    pub(super) fn replace(&mut self, u: &Mat, candidates: &Mat, rule: Rule) -> Mat {
        let (data, k, count) = (self.data, u.cols, candidates.cols);
        let both = Mat::beside(&[u, candidates]);
        let width = both.cols;
        let packed = data.points.pack(&both, data.facts.scale);
        let half: Vec<f64> = both.column_norms2().iter().map(|n| n / 2.0).collect();
        let parts = in_order(data.chunks(width), |chunk| {
            // With the candidate beside all of u, and what losing column i adds to that.
            let (mut beside, mut without) = (vec![0.0; count], Mat::zeros(count, k));
            let mut scores = vec![0.0; data.points.block() * width];
            for rows in data.blocks(chunk) {
                let scores = &mut scores[..rows.len() * width];
                data.points.scores(rows.clone(), None, &packed, scores);
                for (s, j) in scores.chunks_exact(width).zip(rows) {
                    if data.weight(j) == 0.0 || (data.norms2[j] == 0.0 && rule != Rule::Euclid) {
                        continue;
                    }
                    let (mut first, mut second, mut own) = (f64::INFINITY, f64::INFINITY, 0);
                    for i in 0..k {
                        let left = data.left_of(j, rule, s[i], half[i]);
                        if left < first {
                            (second, first, own) = (first, left, i);
                        } else if left < second {
                            second = left;
                        }
                    }
                    // With one cluster nothing would be left to choose from.
                    for c in 0..count {
                        let new = data.left_of(j, rule, s[k + c], half[k + c]);
                        beside[c] += first.min(new);
                        without[(c, own)] += second.min(new) - first.min(new);
                    }
                }
            }
            (beside, without)
        });
        let mut total = Mat::zeros(count, k);
        for (beside, without) in parts {
            for c in 0..count {
                for i in 0..k {
                    total[(c, i)] += beside[c] + without[(c, i)];
                }
            }
        }
        total
    }

    pub(super) fn moves(&mut self, u: &Mat, sigma2: &[f64], start: usize, most: usize) -> Vec<Move> {
        let (data, k) = (self.data, u.cols);
        let packed = data.points.pack(u, data.facts.scale);
        let labels = self.labels_of(start).as_slice();
        // Equal gains in the order of the points, so that the list does not depend on the chunks.
        let keep_best = |moves: &mut Vec<Move>| {
            moves.sort_by(|a, b| b.gain.total_cmp(&a.gain).then(a.point.cmp(&b.point)));
            moves.truncate(most);
        };
        let parts = in_order(data.chunks(k), |chunk| {
            let mut moves: Vec<Move> = vec![];
            let mut scores = vec![0.0; data.points.block() * k];
            for rows in data.blocks(chunk) {
                let scores = &mut scores[..rows.len() * k];
                data.points.scores(rows.clone(), None, &packed, scores);
                for (s, j) in scores.chunks_exact(k).zip(rows) {
                    let (w, Ok(from)) = (data.weight(j), usize::try_from(labels[j])) else { continue };
                    if w == 0.0 || data.norms2[j] == 0.0 {
                        continue;
                    }
                    let parts = |i: usize| {
                        let p2 = w * s[i] * s[i];
                        (p2, (w * data.norms2[j] - p2).max(0.0))
                    };
                    let (p2, r2) = parts(from);
                    let gone = change(sigma2[from], -1.0, p2, r2, r2);
                    let best = (0..k).filter(|&to| to != from).fold(None, |best: Option<Move>, to| {
                        let (p2, r2) = parts(to);
                        let gain = gone + change(sigma2[to], 1.0, p2, r2, 0.0);
                        let better = best.is_none_or(|best| gain > best.gain);
                        if better { Some(Move { point: j, from, to, weight: w, gain }) } else { best }
                    });
                    moves.extend(best);
                }
                if moves.len() > 8 * most {
                    keep_best(&mut moves);
                }
            }
            keep_best(&mut moves);
            moves
        });
        let mut moves = parts.concat();
        keep_best(&mut moves);
        moves
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
