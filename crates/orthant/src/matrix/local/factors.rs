//! Passes over V: products with M from both sides, and the fused multiplicative update.

use std::ops::Range;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::assign::largest;
use super::{LocalStore, Points, in_order, split};
use crate::matrix::Mat;
use crate::matrix::data::Multiplied;
use crate::matrix::kernels::{Kernel, Real, run, tall};

/// `gram += Σ aᵢbⱼ` over rows a, b of k numbers.
pub(super) fn add_gram(gram: &mut Mat, a: &[f64], b: &[f64]) {
    run(tall::Gram { a, k: gram.rows, b, l: gram.cols, gram: &mut gram.data });
}

/// Matrices added in order.
pub(super) fn add_all(parts: impl IntoIterator<Item = Mat>, rows: usize, cols: usize) -> Mat {
    let mut total = Mat::zeros(rows, cols);
    for part in parts {
        total.data.iter_mut().zip(&part.data).for_each(|(t, p)| *t += p);
    }
    total
}

/// `V ← max(floor·w, V ∘ w·T / QV)`, `T ← w·V`; returns ⟨V new, V old⟩ and ‖V old‖².
struct Multiply<'a> {
    v: &'a mut [f64],
    t: &'a mut [f64],
    qv: &'a [f64],
    /// √ of the weight of these points.
    w: f64,
    floor: f64,
}

#[inline(always)]
fn multiplied(v: f64, t: f64, qv: f64, w: f64, floor: f64) -> f64 {
    // A row of V that is zero everywhere stays where it is instead of becoming NaN.
    let new = if qv > 0.0 { v * (w * t / qv) } else { v };
    new.max(floor * w)
}

impl Kernel for Multiply<'_> {
    type T = f64;
    type Out = (f64, f64);

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) -> (f64, f64) {
        let Multiply { v, t, qv, w, floor } = self;
        let (mut cross, mut old2) = ([0.0f64; L], [0.0f64; L]);
        let whole = v.len() / L * L;
        for from in (0..whole).step_by(L) {
            for l in 0..L {
                let old = v[from + l];
                let new = multiplied(old, t[from + l], qv[from + l], w, floor);
                (v[from + l], t[from + l]) = (new, new * w);
                cross[l] += new * old;
                old2[l] += old * old;
            }
        }
        for at in whole..v.len() {
            let old = v[at];
            let new = multiplied(old, t[at], qv[at], w, floor);
            (v[at], t[at]) = (new, new * w);
            cross[at - whole] += new * old;
            old2[at - whole] += old * old;
        }
        (cross.iter().sum(), old2.iter().sum())
    }
}

impl<P: Points> LocalStore<'_, P> {
    pub(super) fn normal(&mut self, b: &Mat) -> Mat {
        let (data, width) = (self.data, b.cols);
        let packed = data.points.pack(b, data.facts.scale);
        let chunks = data.chunks_with_sums(2 * width);
        let later = data.points.has_transposed();
        let mut all = vec![0.0; if later { self.points() * width } else { 0 }];
        let jobs =
            chunks.iter().cloned().zip(split(&mut all, &chunks, if later { width } else { 0 })).collect();
        let parts = in_order(jobs, |(chunk, all)| {
            let mut sums = (!later).then(|| data.points.sums(width));
            let mut own = vec![0.0; if later { 0 } else { data.points.block() * width }];
            for rows in data.blocks(chunk.clone()) {
                let scores = if later {
                    &mut all[(rows.start - chunk.start) * width..(rows.end - chunk.start) * width]
                } else {
                    &mut own[..rows.len() * width]
                };
                data.points.scores(rows.clone(), None, &packed, scores);
                if data.weights.is_some() && width > 0 {
                    for (scores, j) in scores.chunks_exact_mut(width).zip(rows.clone()) {
                        scores.iter_mut().for_each(|s| *s *= data.weight(j));
                    }
                }
                if let Some(sums) = &mut sums {
                    data.points.add(sums, rows, data.facts.scale, scores);
                }
            }
            sums
        });
        if later {
            data.points.transposed_sum(data.facts.scale, &all, width)
        } else {
            data.points.total(parts.into_iter().flatten().collect(), width)
        }
    }

    pub(super) fn scores(&mut self, u: &Mat) {
        self.resize(u.cols);
        let (data, k) = (self.data, u.cols);
        let packed = data.points.pack(u, data.facts.scale);
        let chunks = data.chunks(k);
        let jobs = chunks.iter().cloned().zip(split(&mut self.v, &chunks, k)).collect();
        in_order(jobs, |(chunk, v)| {
            for rows in data.blocks(chunk.clone()) {
                let v = &mut v[(rows.start - chunk.start) * k..(rows.end - chunk.start) * k];
                data.points.scores(rows.clone(), None, &packed, v);
                for (v, j) in v.chunks_exact_mut(k).zip(rows) {
                    let w = data.root_weight(j);
                    v.iter_mut().for_each(|v| *v *= w);
                }
            }
        });
    }

    /// `M·Bᵀ` for a points × k array that is already complete: the second half of every fused pass
    /// over data with a transposed copy.
    pub(super) fn sum_of(&self, b: &[f64], k: usize) -> Mat {
        let data = self.data;
        match &data.weights {
            None => data.points.transposed_sum(data.facts.scale, b, k),
            Some(weights) => {
                let weighted: Vec<f64> = b
                    .chunks_exact(k)
                    .zip(weights)
                    .flat_map(|(b, w)| b.iter().map(|b| b * w.sqrt()))
                    .collect();
                data.points.transposed_sum(data.facts.scale, &weighted, k)
            }
        }
    }

    pub(super) fn sum(&mut self) -> (Mat, Mat) {
        let (data, k) = (self.data, self.k);
        let later = data.points.has_transposed();
        let v = &self.v;
        let parts = in_order(data.chunks_with_sums(k), |chunk| {
            let mut sums = (!later).then(|| data.points.sums(k));
            let mut gram = Mat::zeros(k, k);
            let mut weighted = vec![];
            for rows in data.blocks(chunk) {
                let v = &v[rows.start * k..rows.end * k];
                add_gram(&mut gram, v, v);
                if let Some(sums) = &mut sums {
                    weighted.clear();
                    let each = v.chunks_exact(k).zip(rows.clone());
                    weighted.extend(each.flat_map(|(v, j)| {
                        let w = data.root_weight(j);
                        v.iter().map(move |v| v * w)
                    }));
                    data.points.add(sums, rows, data.facts.scale, &weighted);
                }
            }
            (sums, gram)
        });
        let (sums, grams): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        let mvt = if later {
            self.sum_of(&self.v, k)
        } else {
            data.points.total(sums.into_iter().flatten().collect(), k)
        };
        (mvt, add_all(grams, k, k))
    }

    pub(super) fn multiply_and_sum(&mut self, u: &Mat, q: &Mat, shrink: f64, floor: f64) -> Multiplied {
        let (data, k) = (self.data, self.k);
        let packed = data.points.pack(u, data.facts.scale);
        let qt = q.transpose();
        let later = data.points.has_transposed();
        let chunks = data.chunks_with_sums(2 * k);
        let jobs = chunks.iter().cloned().zip(split(&mut self.v, &chunks, k)).collect();
        let parts = in_order(jobs, |(chunk, v)| {
            let mut sums = (!later).then(|| data.points.sums(k));
            let mut gram = Mat::zeros(k, k);
            let (mut cross, mut old2) = (0.0, 0.0);
            let mut scores = vec![0.0; data.points.block() * k];
            let mut qv = vec![0.0; data.points.block() * k];
            for rows in data.blocks(chunk.clone()) {
                let scores = &mut scores[..rows.len() * k];
                data.points.scores(rows.clone(), None, &packed, scores);
                let v = &mut v[(rows.start - chunk.start) * k..(rows.end - chunk.start) * k];
                v.iter_mut().for_each(|v| *v *= shrink);
                let qv = &mut qv[..rows.len() * k];
                run(tall::Times { a: v, k, r: &qt.data, l: k, out: qv });
                if data.weights.is_none() {
                    let (more, squares) = run(Multiply { v, t: scores, qv, w: 1.0, floor });
                    (cross, old2) = (cross + more, old2 + squares);
                } else {
                    let each = v.chunks_exact_mut(k).zip(scores.chunks_exact_mut(k)).zip(qv.chunks_exact(k));
                    for (((v, t), qv), j) in each.zip(rows.clone()) {
                        let (more, squares) = run(Multiply { v, t, qv, w: data.root_weight(j), floor });
                        (cross, old2) = (cross + more, old2 + squares);
                    }
                }
                add_gram(&mut gram, v, v);
                if let Some(sums) = &mut sums {
                    data.points.add(sums, rows, data.facts.scale, scores);
                }
            }
            (sums, gram, cross, old2)
        });
        let (mut sums, mut grams, mut cross, mut old2) = (vec![], vec![], 0.0, 0.0);
        for (part, gram, c, o) in parts {
            sums.extend(part);
            grams.push(gram);
            cross += c;
            old2 += o;
        }
        let mvt = if later { self.sum_of(&self.v, k) } else { data.points.total(sums, k) };
        Multiplied { mvt, vvt: add_all(grams, k, k), cross, old2 }
    }

    /// Every point's row of V through `f`, which writes into zeros and may change the length of the row to `k`.
    fn map_rows(&mut self, k: usize, f: impl Fn(usize, &[f64], &mut [f64]) + Sync + Send) {
        let (data, old_k) = (self.data, self.k);
        if k == old_k && !self.v.is_empty() {
            let chunks = data.chunks(k);
            let jobs = chunks.iter().cloned().zip(split(&mut self.v, &chunks, k)).collect();
            in_order(jobs, |(chunk, rows)| {
                let mut old = vec![0.0; k];
                for (row, j) in rows.chunks_exact_mut(k.max(1)).zip(chunk) {
                    old.copy_from_slice(row);
                    row.fill(0.0);
                    f(j, &old, row);
                }
            });
            return;
        }
        let old = std::mem::take(&mut self.v);
        let mut new = vec![0.0; self.points() * k];
        let chunks = data.chunks(k);
        let jobs = chunks.iter().cloned().zip(split(&mut new, &chunks, k)).collect();
        in_order(jobs, |(chunk, new)| {
            for (new, j) in new.chunks_exact_mut(k.max(1)).zip(chunk) {
                f(j, if old.is_empty() { &[] } else { &old[j * old_k..(j + 1) * old_k] }, new);
            }
        });
        self.v = new;
        if k != old_k {
            self.k = k;
            self.d = vec![];
            self.lambda = vec![];
        }
    }

    pub(super) fn transform(&mut self, a: &Mat) {
        self.map_rows(a.rows, |_, old, new| {
            for (i, new) in new.iter_mut().enumerate() {
                *new = a.row(i).iter().zip(old).map(|(a, v)| a * v).sum();
            }
        });
    }

    pub(super) fn take_positive(&mut self, factors: &[f64], fill: f64) {
        let data = self.data;
        self.map_rows(factors.len(), |j, old, new| {
            for ((new, old), factor) in new.iter_mut().zip(old).zip(factors) {
                let part = (factor * old).max(0.0);
                *new = if part > 0.0 { part } else { fill * data.root_weight(j) };
            }
        });
    }

    pub(super) fn signs(&mut self) -> Vec<(f64, f64)> {
        let (data, k, v) = (self.data, self.k, &self.v);
        let parts = in_order(data.chunks(k), |chunk| {
            let mut part = vec![(0.0, 0.0); k];
            for v in v[chunk.start * k..chunk.end * k].chunks_exact(k.max(1)) {
                for (part, v) in part.iter_mut().zip(v) {
                    part.0 += v.max(0.0) * v.max(0.0);
                    part.1 += v.min(0.0) * v.min(0.0);
                }
            }
            part
        });
        let mut total = vec![(0.0, 0.0); k];
        for part in parts {
            total.iter_mut().zip(&part).for_each(|(t, p)| *t = (t.0 + p.0, t.1 + p.1));
        }
        total
    }

    pub(super) fn fill_random(&mut self, rows: Range<usize>, k: usize, seed: u64, stream: u64) {
        let data = self.data;
        self.map_rows(k, |j, old, new| {
            // A generator for each point, so that no cut of the data shows in the numbers.
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            random.set_stream(stream);
            random.set_word_pos(j as u128 * 2 * k as u128);
            let w = if data.norms2[j] > 0.0 { data.root_weight(j) } else { 0.0 };
            for (i, new) in new.iter_mut().enumerate() {
                *new = if rows.contains(&i) { random.random::<f64>() * w } else { old[i] };
            }
        });
    }

    pub(super) fn indicate(&mut self, k: usize, start: usize) {
        let data = self.data;
        let labels = self.labels(start);
        self.map_rows(k, |j, _, new| {
            if let Ok(i) = usize::try_from(labels[j]) {
                new[i] = data.norms2[j].sqrt() * data.root_weight(j);
            }
        });
    }

    pub(super) fn label_by_v(&mut self, start: usize) {
        let (data, k) = (self.data, self.k);
        let parts = in_order(data.chunks(1), |chunk| {
            let label = |j: usize| {
                if data.norms2[j] == 0.0 {
                    -1
                } else {
                    largest(&self.v[j * k..(j + 1) * k], P::T::TIE) as i32
                }
            };
            chunk.map(label).collect::<Vec<i32>>()
        });
        self.memory.remove(&start);
        *self.labels_of(start) = parts.concat();
    }

    pub(super) fn set_v(&mut self, k: usize, v: &[f64]) {
        self.resize(k);
        self.v.copy_from_slice(v);
    }

    pub(super) fn v(&mut self) -> Vec<f64> {
        self.v.clone()
    }
}
