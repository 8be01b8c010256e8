//! Passes of the residual start: what the directions settled so far leave of each point.

use super::{Local, LocalStore, Points, in_order, split};
use crate::matrix::Mat;
use crate::matrix::data::Rule;

impl<P: Points> Local<P> {
    /// What a point has before any direction is settled, times its weight. Zero points have nothing,
    /// except for k-means, where they are as far from a centre as any other.
    fn all_of(&self, j: usize, rule: Rule) -> f64 {
        match rule {
            Rule::Cosine => self.weight(j) * f64::from(u8::from(self.norms2[j] > 0.0)),
            Rule::Euclid | Rule::Kl => f64::INFINITY,
            Rule::Power => self.weight(j) * self.norms2[j],
        }
    }

    /// What a direction (or centre) with product `s = mⱼᵀu` and half squared norm `half` leaves of it.
    pub(super) fn left_of(&self, j: usize, rule: Rule, s: f64, half: f64) -> f64 {
        let (w, norm2) = (self.weight(j), self.norms2[j]);
        match rule {
            Rule::Power => w * (norm2 - s * s).max(0.0),
            Rule::Kl => w * (self.information()[j] - s).max(0.0),
            Rule::Cosine if norm2 > 0.0 => w * (1.0 - s / norm2.sqrt()).max(0.0),
            Rule::Cosine => 0.0,
            Rule::Euclid => w * (norm2 - 2.0 * (s - half)).max(0.0),
        }
    }
}

impl<P: Points> LocalStore<'_, P> {
    pub(super) fn unsettle(&mut self, rule: Rule) {
        self.unexplained = (0..self.points()).map(|j| self.data.all_of(j, rule)).collect();
    }

    pub(super) fn explain(&mut self, candidates: &Mat, rule: Rule) -> Vec<f64> {
        let (data, width, unexplained) = (self.data, candidates.cols, &self.unexplained);
        let packed = data.points.pack(candidates, data.facts.scale);
        let half: Vec<f64> = candidates.column_norms2().iter().map(|n| n / 2.0).collect();
        let parts = in_order(data.chunks(width), |chunk| {
            let mut totals = vec![0.0; width];
            let mut scores = vec![0.0; data.points.block() * width];
            for rows in data.blocks(chunk) {
                let scores = &mut scores[..rows.len() * width];
                data.points.scores(rows.clone(), None, &packed, scores);
                for (s, j) in scores.chunks_exact(width).zip(rows) {
                    for i in 0..width {
                        totals[i] += data.left_of(j, rule, s[i], half[i]).min(unexplained[j]);
                    }
                }
            }
            totals
        });
        let mut totals = vec![0.0; width];
        for part in parts {
            totals.iter_mut().zip(&part).for_each(|(t, p)| *t += p);
        }
        totals
    }

    pub(super) fn settle(&mut self, columns: &Mat, rule: Rule) {
        let (data, width) = (self.data, columns.cols);
        let packed = data.points.pack(columns, data.facts.scale);
        let half: Vec<f64> = columns.column_norms2().iter().map(|n| n / 2.0).collect();
        let chunks = data.chunks(width);
        let jobs = chunks.iter().cloned().zip(split(&mut self.unexplained, &chunks, 1)).collect();
        in_order(jobs, |(chunk, unexplained)| {
            let mut scores = vec![0.0; data.points.block() * width];
            for rows in data.blocks(chunk.clone()) {
                let scores = &mut scores[..rows.len() * width];
                data.points.scores(rows.clone(), None, &packed, scores);
                for (s, j) in scores.chunks_exact(width).zip(rows) {
                    let unexplained = &mut unexplained[j - chunk.start];
                    for (s, half) in s.iter().zip(&half) {
                        *unexplained = data.left_of(j, rule, *s, *half).min(*unexplained);
                    }
                }
            }
        });
    }

    pub(super) fn sample(&mut self, fractions: &[f64]) -> Vec<Option<usize>> {
        place(&self.unexplained, fractions)
    }
}

/// The places at the given fractions of a sum of nonnegative shares; none where all are zero.
pub(super) fn place(shares: &[f64], fractions: &[f64]) -> Vec<Option<usize>> {
    let mut sum = 0.0;
    let add = |&x: &f64| {
        sum += if x.is_finite() { x } else { 0.0 };
        sum
    };
    let sums: Vec<f64> = shares.iter().map(add).collect();
    // The first place whose running sum exceeds the target has itself a share.
    let place = |fraction: &f64| {
        let j = sums.partition_point(|&s| s <= fraction * sum);
        (j < sums.len()).then_some(j)
    };
    fractions.iter().map(place).collect()
}
