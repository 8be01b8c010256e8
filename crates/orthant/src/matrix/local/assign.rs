//! Passes of the methods that assign points to clusters: EM-ONMF, k-means and their kin.

use std::ops::Range;

use super::{Local, LocalStore, Points, in_order, split};
use crate::matrix::Mat;
use crate::matrix::data::{Assigned, Residual, Rule};
use crate::matrix::kernels::Real;
use crate::matrix::kernels::dense::NOWHERE;

/// The lowest index whose score is the largest, up to `tie` (relative to `size`): on exactly collinear
/// data the last bit must not decide.
#[inline(always)]
pub(super) fn largest(scores: &[f64], tie: f64) -> usize {
    let mut best = f64::NEG_INFINITY;
    for &s in scores {
        best = if s > best { s } else { best };
    }
    let enough = best - tie * best.abs();
    scores.iter().position(|&s| s >= enough).unwrap_or(0)
}

/// As [`largest`] for k-means, whose scores are differences `mᵀc − ‖c‖²/2`: ties are relative to their terms.
#[inline(always)]
fn nearest(products: &[f64], half_norms2: &[f64], tie: f64) -> usize {
    let (mut best, mut size) = (f64::NEG_INFINITY, 0.0);
    for (&p, &h) in products.iter().zip(half_norms2) {
        if p - h > best {
            (best, size) = (p - h, p.abs() + h);
        }
    }
    let enough = best - tie * size;
    products.iter().zip(half_norms2).position(|(&p, &h)| p - h >= enough).unwrap_or(0)
}

/// Assigns every point for one or several starts in one pass; `labels` are their arrays, `u` is features × (starts·k).
///
/// With a transposed copy the sums are taken afterwards, from what each point adds and where; or, where this pass has
/// a thread of its own (`alone`), chunk after chunk while the points are in the cache: in the same order, to the same
/// bits.
fn assign<P: Points>(data: &Local<P>, u: &Mat, rule: Rule, labels: Vec<&mut [i32]>, alone: bool) -> Assigned {
    let count = labels.len();
    let (width, k) = (u.cols, u.cols / count.max(1));
    let packed = data.points.pack(u, data.facts.scale);
    let half_norms2: Vec<f64> = match rule {
        Rule::Euclid => u.column_norms2().iter().map(|n| n / 2.0).collect(),
        _ => vec![],
    };
    let chunks = data.chunks_with_sums(width);
    let points = data.points.shape().points;
    let transposed = data.points.has_transposed();
    let later = transposed && !alone;
    let mut to = vec![NOWHERE; if later { points * count } else { 0 }];
    let mut factor = vec![0.0; if later { points * count } else { 0 }];
    // labels[chunk][start]
    let mut pieces: Vec<Vec<&mut [i32]>> = (0..chunks.len()).map(|_| Vec::with_capacity(count)).collect();
    for array in labels {
        let cut = split(array, &chunks, 1);
        pieces.iter_mut().zip(cut).for_each(|(chunk, piece)| chunk.push(piece));
    }
    let stride = if later { count } else { 0 };
    let jobs: Vec<Chunk> = chunks
        .iter()
        .cloned()
        .zip(pieces)
        .zip(split(&mut to, &chunks, stride))
        .zip(split(&mut factor, &chunks, stride))
        .map(|(((rows, labels), to), factor)| Chunk { rows, labels, to, factor })
        .collect();
    let pass = Assigning { data, rule, packed, half_norms2, count, k };
    let mut sums = vec![];
    let parts: Vec<Part> = if transposed && alone {
        let mut all = data.points.sums(width);
        let parts = jobs.into_iter().map(|chunk| pass.chunk(chunk, Some(&mut all))).collect();
        sums.push(all);
        parts
    } else if later {
        in_order(jobs, |chunk| pass.chunk(chunk, None))
    } else {
        let parts = in_order(jobs, |chunk| {
            let mut own = data.points.sums(width);
            (pass.chunk(chunk, Some(&mut own)), own)
        });
        parts.into_iter().map(|(part, own)| (part, sums.push(own)).0).collect()
    };

    let mut assigned = Assigned {
        sums: Mat::zeros(0, 0),
        weight: vec![0.0; width],
        value: vec![0.0; width],
        changed: vec![0; count],
    };
    for part in parts {
        assigned.weight.iter_mut().zip(&part.weight).for_each(|(t, p)| *t += p);
        assigned.value.iter_mut().zip(&part.value).for_each(|(t, p)| *t += p);
        assigned.changed.iter_mut().zip(&part.changed).for_each(|(t, p)| *t += p);
    }
    assigned.sums = if later {
        data.points.transposed_sum_one(data.facts.scale, &to, &factor, count, width)
    } else {
        data.points.total(sums, width)
    };
    assigned
}

/// What one chunk of the pass reads and writes.
struct Chunk<'a> {
    rows: Range<usize>,
    /// For each start.
    labels: Vec<&'a mut [i32]>,
    /// points × starts where the sums are taken later, else empty.
    to: &'a mut [u32],
    factor: &'a mut [f64],
}

/// What one chunk found.
struct Part {
    weight: Vec<f64>,
    value: Vec<f64>,
    changed: Vec<usize>,
}

/// What all chunks of a pass share.
struct Assigning<'a, P: Points> {
    data: &'a Local<P>,
    rule: Rule,
    packed: P::Packed,
    half_norms2: Vec<f64>,
    /// How many starts, of k columns each.
    count: usize,
    k: usize,
}

impl<P: Points> Assigning<'_, P> {
    fn chunk(&self, chunk: Chunk, mut sums: Option<&mut P::Sums>) -> Part {
        let Assigning { data, rule, count, k, .. } = *self;
        let width = count * k;
        let Chunk { rows: all, mut labels, to, factor } = chunk;
        let mut part = Part { weight: vec![0.0; width], value: vec![0.0; width], changed: vec![0; count] };
        let block = data.points.block().min(all.len());
        let mut scores = vec![0.0; block * width];
        let own = if sums.is_some() { block * count } else { 0 };
        let (mut own_to, mut own_factor) = (vec![NOWHERE; own], vec![0.0; own]);
        for rows in data.blocks(all.clone()) {
            let offset = rows.start - all.start;
            let scores = &mut scores[..rows.len() * width];
            data.points.scores(rows.clone(), &self.packed, scores);
            let (to, factor) = if sums.is_some() {
                (&mut own_to[..rows.len() * count], &mut own_factor[..rows.len() * count])
            } else {
                let range = offset * count..(offset + rows.len()) * count;
                (&mut to[range.clone()], &mut factor[range])
            };
            for (p, j) in rows.clone().enumerate() {
                let (w, norm2) = (data.weight(j), data.norms2[j]);
                let inverse = if rule == Rule::Cosine { norm2.sqrt().recip() } else { 0.0 };
                for r in 0..count {
                    let s = &scores[p * width + r * k..p * width + (r + 1) * k];
                    let label = &mut labels[r][offset + p];
                    if norm2 == 0.0 && rule != Rule::Euclid {
                        part.changed[r] += usize::from(*label != -1);
                        *label = -1;
                        to[p * count + r] = NOWHERE;
                        continue;
                    }
                    let (i, adds, value) = match rule {
                        Rule::Power => {
                            let i = largest(s, P::T::TIE);
                            (i, w * s[i], w * s[i] * s[i])
                        }
                        Rule::Cosine => {
                            let i = largest(s, P::T::TIE);
                            (i, w * inverse, w * s[i] * inverse)
                        }
                        Rule::Euclid => {
                            let half = &self.half_norms2[r * k..(r + 1) * k];
                            let i = nearest(s, half, P::T::TIE);
                            (i, w, w * (norm2 - 2.0 * (s[i] - half[i])).max(0.0))
                        }
                        Rule::Kl => {
                            let i = largest(s, P::T::TIE);
                            (i, w, w * s[i])
                        }
                    };
                    part.weight[r * k + i] += w;
                    part.value[r * k + i] += value;
                    part.changed[r] += usize::from(*label != i as i32);
                    *label = i as i32;
                    to[p * count + r] = (r * k + i) as u32;
                    factor[p * count + r] = adds;
                }
            }
            if let Some(sums) = &mut sums {
                data.points.add_one(sums, rows, data.facts.scale, to, factor);
            }
        }
        part
    }
}

impl<P: Points> LocalStore<'_, P> {
    /// The labels of the given starts, in their order.
    fn labels_of_all(&mut self, starts: &[usize]) -> Vec<&mut [i32]> {
        for &start in starts {
            self.labels_of(start);
        }
        let mut arrays: Vec<(usize, &mut [i32])> = self
            .labels
            .iter_mut()
            .enumerate()
            .filter_map(|(slot, array)| Some((starts.iter().position(|&s| s == slot)?, array.as_mut_slice())))
            .collect();
        arrays.sort_by_key(|(position, _)| *position);
        arrays.into_iter().map(|(_, array)| array).collect()
    }

    pub(super) fn assign_and_sum(&mut self, u: &[&Mat], rule: Rule, starts: &[usize]) -> Vec<Assigned> {
        let data = self.data;
        let labels = self.labels_of_all(starts);
        if data.points.has_transposed() {
            // Sparse data: the columns of one start fit the cache, those of all do not. A thread takes whole starts.
            let alone = starts.len() >= rayon::current_num_threads();
            let jobs = u.iter().zip(labels).collect();
            return in_order(jobs, |(u, labels)| assign(data, u, rule, vec![labels], alone));
        }
        let all = match u {
            [one] => return vec![assign(data, one, rule, labels, false)],
            _ => assign(data, &Mat::beside(u), rule, labels, false),
        };
        let mut from = 0;
        let own = |u: &&Mat| {
            let columns = from..from + u.cols;
            from += u.cols;
            (columns.clone(), all.sums.columns(columns))
        };
        u.iter()
            .map(own)
            .zip(&all.changed)
            .map(|((columns, sums), &changed)| Assigned {
                sums,
                weight: all.weight[columns.clone()].to_vec(),
                value: all.value[columns].to_vec(),
                changed: vec![changed],
            })
            .collect()
    }

    pub(super) fn sum_by_label(&mut self, u: &Mat, starts: &[usize]) -> Mat {
        let (data, count) = (self.data, starts.len());
        let (width, k) = (u.cols, u.cols / count.max(1));
        let chunks = data.chunks_with_sums(count);
        let points = self.points();
        let later = data.points.has_transposed();
        let mut to = vec![NOWHERE; points * count];
        let mut factor = vec![0.0; points * count];
        let labels: Vec<&[i32]> = starts.iter().map(|&s| self.labels[s].as_slice()).collect();
        let jobs: Vec<_> = chunks
            .iter()
            .cloned()
            .zip(split(&mut to, &chunks, count))
            .zip(split(&mut factor, &chunks, count))
            .collect();
        let parts = in_order(jobs, |((chunk, to), factor)| {
            let mut sums = (!later).then(|| data.points.sums(width));
            let (mut column, mut score) = (vec![], vec![]);
            for rows in data.blocks(chunk.clone()) {
                // One direction for each point, not k.
                for (r, labels) in labels.iter().enumerate() {
                    column.clear();
                    let columns = labels[rows.clone()].iter();
                    column
                        .extend(columns.map(|&l| usize::try_from(l).map_or(NOWHERE, |l| (r * k + l) as u32)));
                    score.resize(rows.len(), 0.0);
                    data.points.dots_one(rows.clone(), data.facts.scale, &column, u, &mut score);
                    for (p, j) in rows.clone().enumerate() {
                        let at = (j - chunk.start) * count + r;
                        to[at] = column[p];
                        factor[at] = data.weight(j) * score[p];
                    }
                }
                if let Some(sums) = &mut sums {
                    let range = (rows.start - chunk.start) * count..(rows.end - chunk.start) * count;
                    data.points.add_one(sums, rows, data.facts.scale, &to[range.clone()], &factor[range]);
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
        let (mut weight, mut to, mut factor) =
            (vec![0.0; k], vec![NOWHERE; labels.len()], vec![0.0; labels.len()]);
        for (j, &label) in labels.iter().enumerate() {
            if let Ok(i) = usize::try_from(label) {
                let norm = data.norms2[j].sqrt();
                let w = data.weight(j);
                weight[i] += w;
                to[j] = i as u32;
                factor[j] = if rule == Rule::Cosine { if norm > 0.0 { w / norm } else { 0.0 } } else { w };
            }
        }
        let sums = if data.points.has_transposed() {
            data.points.transposed_sum_one(data.facts.scale, &to, &factor, 1, k)
        } else {
            let parts = in_order(data.chunks_with_sums(k), |chunk| {
                let mut sums = data.points.sums(k);
                for rows in data.blocks(chunk) {
                    let (to, factor) = (&to[rows.clone()], &factor[rows.clone()]);
                    data.points.add_one(&mut sums, rows, data.facts.scale, to, factor);
                }
                sums
            });
            data.points.total(parts, k)
        };
        Assigned { sums, weight, value: vec![0.0; k], changed: vec![0] }
    }

    pub(super) fn set_labels(&mut self, start: usize, labels: &[i32]) {
        self.labels_of(start).copy_from_slice(labels);
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
                let mut v = 0.0;
                data.points.for_each(j, |f, x| v += (x * data.facts.scale) * direction[f]);
                let v = v.max(0.0);
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
                let direction = directions.row(i);
                let mut v = 0.0;
                data.points.for_each(j, |f, x| v += (x * data.facts.scale) * direction[f]);
                v.max(0.0)
            };
            chunk.map(strength).collect::<Vec<f64>>()
        });
        parts.concat()
    }
}
