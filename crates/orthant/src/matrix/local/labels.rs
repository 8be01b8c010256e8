//! Passes over points with the labels they have: sums of clusters, and what a partition leaves.

use super::{Local, LocalStore, Points, in_order, split};
use crate::matrix::Mat;
use crate::matrix::data::{Assigned, Remembered, Residual, Rule};
use crate::matrix::kernels::dense::NOWHERE;

/// What a point of a cluster adds to its sum, where that does not depend on the centroids.
pub(super) fn adds<P: Points>(data: &Local<P>, rule: Rule, j: usize) -> f64 {
    match rule {
        Rule::Cosine if data.norms2[j] > 0.0 => data.weight(j) / data.norms2[j].sqrt(),
        Rule::Cosine => 0.0,
        _ => data.weight(j),
    }
}

/// Each point's cluster as a column.
pub(super) fn columns_of(labels: &[i32]) -> Vec<u32> {
    labels.iter().map(|&l| u32::try_from(l).unwrap_or(NOWHERE)).collect()
}

/// `Σ factor·m` over the points of every column, features × width; `to` and `factor` are points × starts. With a
/// transposed copy feature by feature, or where the caller keeps to one thread (`alone`) point by point: in the same
/// order, to the same bits. `room` is memory that may be used.
pub(super) fn sum_columns<P: Points>(
    data: &Local<P>,
    to: &[u32],
    factor: &[f64],
    starts: usize,
    width: usize,
    alone: bool,
    room: Vec<f64>,
) -> Mat {
    let scale = data.facts.scale;
    let all = 0..data.points.shape().points;
    if data.points.has_transposed() {
        if !alone {
            return data.points.transposed_sum_one(scale, to, factor, starts, width);
        }
        let mut sums = data.points.sums_in(room, width);
        data.points.add_one(&mut sums, all, scale, to, factor);
        return data.points.total(vec![sums], width);
    }
    let parts = in_order(data.chunks_with_sums(width), |chunk| {
        let mut sums = data.points.sums(width);
        for rows in data.blocks(chunk) {
            let entries = rows.start * starts..rows.end * starts;
            data.points.add_one(&mut sums, rows, scale, &to[entries.clone()], &factor[entries]);
        }
        sums
    });
    data.points.total(parts, width)
}

/// The clusters' sums with the labels as they are, where they do not depend on centroids.
pub(super) fn sums_of_labels<P: Points>(
    data: &Local<P>,
    labels: &[i32],
    k: usize,
    rule: Rule,
    alone: bool,
    room: Vec<f64>,
) -> Mat {
    let factor: Vec<f64> = (0..labels.len()).map(|j| adds(data, rule, j)).collect();
    sum_columns(data, &columns_of(labels), &factor, 1, k, alone, room)
}

/// Brings sums up to date that only some points change: those with a new label, and their old one.
pub(super) fn follow<P: Points>(
    data: &Local<P>,
    rule: Rule,
    labels: &[i32],
    moved: &[(usize, i32)],
    sums: &mut Mat,
) {
    for &(j, from) in moved {
        let (amount, to) = (adds(data, rule, j) * data.facts.scale, labels[j] as usize);
        data.points.for_each(j, |f, x| {
            let row = sums.row_mut(f);
            row[to] += amount * x;
            usize::try_from(from).into_iter().for_each(|from| row[from] -= amount * x);
        });
    }
}

impl<P: Points> LocalStore<'_, P> {
    pub(super) fn sum_by_label(&mut self, u: &Mat, starts: &[usize]) -> Mat {
        let (data, count) = (self.data, starts.len());
        let (width, k) = (u.cols, u.cols / count.max(1));
        let chunks = data.chunks_with_sums(width);
        let points = self.points();
        let later = data.points.has_transposed();
        // For all points only where they are summed after the pass: otherwise a block's are enough.
        let stride = if later { count } else { 0 };
        let mut to = vec![NOWHERE; points * stride];
        let mut factor = vec![0.0; points * stride];
        let labels: Vec<&[i32]> = starts.iter().map(|&s| self.labels[s].as_slice()).collect();
        let directions = data.points.columns(u);
        let jobs: Vec<_> = chunks
            .iter()
            .cloned()
            .zip(split(&mut to, &chunks, stride))
            .zip(split(&mut factor, &chunks, stride))
            .collect();
        let parts = in_order(jobs, |((chunk, to), factor)| {
            let mut sums = (!later).then(|| data.points.sums(width));
            let (mut column, mut score) = (vec![], vec![]);
            let own = if later { 0 } else { data.points.block() * count };
            let (mut own_to, mut own_factor) = (vec![NOWHERE; own], vec![0.0; own]);
            for rows in data.blocks(chunk.clone()) {
                let range = (rows.start - chunk.start) * stride..(rows.end - chunk.start) * stride;
                let (to, factor) = if later {
                    (&mut to[range.clone()], &mut factor[range])
                } else {
                    (&mut own_to[..rows.len() * count], &mut own_factor[..rows.len() * count])
                };
                // One direction for each point, not k.
                for (r, labels) in labels.iter().enumerate() {
                    column.clear();
                    let columns = labels[rows.clone()].iter();
                    column
                        .extend(columns.map(|&l| usize::try_from(l).map_or(NOWHERE, |l| (r * k + l) as u32)));
                    score.resize(rows.len(), 0.0);
                    data.points.dots_one(rows.clone(), data.facts.scale, &column, &directions, &mut score);
                    for (p, j) in rows.clone().enumerate() {
                        to[p * count + r] = column[p];
                        factor[p * count + r] = data.weight(j) * score[p];
                    }
                }
                if let Some(sums) = &mut sums {
                    data.points.add_one(sums, rows, data.facts.scale, to, factor);
                }
            }
            sums
        });
        if later {
            data.points.transposed_sum_one(data.facts.scale, &to, &factor, count, width)
        } else {
            data.points.total(parts.into_iter().flatten().collect(), width)
        }
    }

    pub(super) fn sum_of_labels(&mut self, k: usize, rule: Rule, start: usize) -> Assigned {
        let data = self.data;
        let labels = self.labels_of(start).as_slice();
        let mut weight = vec![0.0; k];
        for (j, &label) in labels.iter().enumerate() {
            usize::try_from(label).into_iter().for_each(|i| weight[i] += data.weight(j));
        }
        let sums = sums_of_labels(data, labels, k, rule, false, vec![]);
        Assigned { sums, weight, value: vec![0.0; k], changed: vec![0] }
    }

    pub(super) fn set_labels(&mut self, start: usize, labels: &[i32]) {
        self.memory.remove(&start);
        self.rooms.remove(&start);
        self.labels_of(start).copy_from_slice(labels);
    }

    pub(super) fn remembered(&mut self, start: usize) -> Option<Remembered> {
        self.memory.get(&start).cloned()
    }

    pub(super) fn remember(&mut self, start: usize, remembered: Remembered) {
        self.memory.insert(start, remembered);
    }

    pub(super) fn labels(&mut self, start: usize) -> Vec<i32> {
        self.labels_of(start).clone()
    }

    pub(super) fn residual(&mut self, u: &Mat, start: usize) -> Residual {
        let (data, k) = (self.data, u.cols);
        let directions = u.transpose();
        // In the order in which a point's own share of it is summed, so that what is explained whole leaves nothing.
        let norms2: Vec<f64> = (0..k).map(|i| directions.row(i).iter().map(|u| u * u).sum()).collect();
        let labels = self.labels_of(start).as_slice();
        let mut sizes = vec![0usize; k];
        labels.iter().filter(|&&l| l >= 0).for_each(|&l| sizes[l as usize] += 1);
        let parts = in_order(data.chunks(2), |chunk| {
            let mut part = (vec![0.0; k], vec![0.0; k], 0.0, (0.0f64, None));
            for j in chunk {
                let (w, Ok(i)) = (data.weight(j), usize::try_from(labels[j])) else {
                    part.2 += data.weight(j) * data.norms2[j];
                    continue;
                };
                let direction = directions.row(i);
                let v = data.points.dot(j, data.facts.scale, direction).max(0.0);
                let left = w * data.points.residual2(j, data.facts.scale, direction, norms2[i], v);
                part.0[i] += left;
                part.1[i] += w * v * v;
                if sizes[i] > 1 && w > 0.0 && data.norms2[j] > 0.0 && (left > part.3.0 || part.3.1.is_none())
                {
                    part.3 = (left, Some(j));
                }
            }
            part
        });
        let mut clusters = vec![0.0; k];
        let mut energy = vec![0.0; k];
        let (mut outside, mut worst) = (0.0, (0.0f64, None));
        for (left, explained, without, candidate) in parts {
            clusters.iter_mut().zip(&left).for_each(|(t, p)| *t += p);
            energy.iter_mut().zip(&explained).for_each(|(t, p)| *t += p);
            outside += without;
            if candidate.1.is_some() && (candidate.0 > worst.0 || worst.1.is_none()) {
                worst = candidate;
            }
        }
        Residual { total: clusters.iter().sum::<f64>() + outside, clusters, worst: worst.1, energy, sizes }
    }

    pub(super) fn weighted_squares(&mut self, v: &[f64], k: usize, start: usize) -> Vec<f64> {
        let mut squares = vec![0.0; k];
        let data = self.data;
        for (j, &label) in self.labels_of(start).iter().enumerate() {
            if let Ok(i) = usize::try_from(label) {
                squares[i] += data.weight(j) * v[j] * v[j];
            }
        }
        squares
    }

    pub(super) fn strengths(&mut self, u: &Mat, start: usize) -> Vec<f64> {
        let data = self.data;
        let directions = u.transpose();
        let labels = self.labels_of(start).as_slice();
        let parts = in_order(data.chunks(1), |chunk| {
            let strength = |j: usize| {
                let Ok(i) = usize::try_from(labels[j]) else { return 0.0 };
                data.points.dot(j, data.facts.scale, directions.row(i)).max(0.0)
            };
            chunk.map(strength).collect::<Vec<f64>>()
        });
        parts.concat()
    }
}
