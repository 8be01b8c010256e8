//! The passes of ONP-MF: one fused pass over the data, and trials that touch V and D alone.

use super::factors::{add_all, add_gram};
use super::{LocalStore, Points, in_order, split};
use crate::matrix::Mat;
use crate::matrix::data::{Accept, Stepped};
use crate::matrix::kernels::{Kernel, Real, run, tall};

/// `Y ← V + beta·D`.
struct Along<'a> {
    v: &'a [f64],
    d: &'a [f64],
    beta: f64,
    y: &'a mut [f64],
}

impl Kernel for Along<'_> {
    type T = f64;
    type Out = ();

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) {
        let Along { v, d, beta, y } = self;
        for ((y, v), d) in y.iter_mut().zip(v).zip(d) {
            *y = v.plus::<FMA>(beta, *d);
        }
    }
}

/// `root·(V + beta·D)` for a block of points; `y` is room for as many numbers as V.
fn project(v: &[f64], d: &[f64], beta: f64, root: &Mat, y: &mut [f64], out: &mut [f64]) {
    run(Along { v, d, beta, y });
    // The root is symmetric, so that rows of V may be multiplied from the right.
    run(tall::Times { a: y, k: root.rows, r: &root.data, l: root.rows, out });
}

/// `Λ ← max(0, Λ − alpha·V)`.
struct Multipliers<'a> {
    lambda: &'a mut [f64],
    v: &'a [f64],
    alpha: f64,
}

impl Kernel for Multipliers<'_> {
    type T = f64;
    type Out = ();

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) {
        for (lambda, v) in self.lambda.iter_mut().zip(self.v) {
            *lambda = (*lambda - self.alpha * v).max(0.0);
        }
    }
}

/// V and Λ after an accepted step; `y` is room for as many numbers as V.
fn take(accept: &Accept, v: &mut [f64], d: &[f64], lambda: &mut [f64], y: &mut [f64]) {
    // A search that found nothing leaves V as it is: its root is the identity.
    if accept.beta != 0.0 {
        run(Along { v, d, beta: accept.beta, y });
        let Accept { root, .. } = accept;
        run(tall::Times { a: y, k: root.rows, r: &root.data, l: root.rows, out: v });
    }
    run(Multipliers { lambda, v, alpha: accept.alpha });
}

/// What a step sums besides MDᵀ.
struct Grams {
    vvt: Mat,
    vdt: Mat,
    ddt: Mat,
    tvt: Mat,
    tdt: Mat,
    negative2: f64,
}

/// The step on one block, given UᵀM (√w included) in `t`, which becomes T = UᵀM + Λ; `y` is room.
struct Step<'a> {
    utu: &'a Mat,
    rho: f64,
    accept: Option<&'a Accept>,
}

impl Step<'_> {
    fn block(
        &self,
        v: &mut [f64],
        d: &mut [f64],
        lambda: &mut [f64],
        t: &mut [f64],
        y: &mut [f64],
        grams: &mut Grams,
    ) {
        if let Some(accept) = self.accept {
            take(accept, v, d, lambda, y);
        }
        // D = T − UᵀU·V + ρ·max(−V, 0)  [P, eq. (lag): −∇_V L]
        let k = self.utu.rows;
        run(tall::Times { a: v, k, r: &self.utu.data, l: k, out: y });
        grams.negative2 += run(Direction { v, lambda, y, t, d, rho: self.rho });
        add_gram(&mut grams.vvt, v, v);
        add_gram(&mut grams.vdt, v, d);
        add_gram(&mut grams.ddt, d, d);
        add_gram(&mut grams.tvt, t, v);
        add_gram(&mut grams.tdt, t, d);
    }
}

/// `T ← T + Λ`, `D ← T − Y + ρ·max(−V, 0)`; returns `‖min(V, 0)‖²`.
struct Direction<'a> {
    v: &'a [f64],
    lambda: &'a [f64],
    y: &'a [f64],
    t: &'a mut [f64],
    d: &'a mut [f64],
    rho: f64,
}

impl Kernel for Direction<'_> {
    type T = f64;
    type Out = f64;

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) -> f64 {
        let Direction { v, lambda, y, t, d, rho } = self;
        for ((((t, d), v), lambda), y) in t.iter_mut().zip(d).zip(v).zip(lambda).zip(y) {
            *t += lambda;
            *d = *t - y + rho * (-v).max(0.0);
        }
        negative_norm2::<L>(v)
    }
}

/// `‖min(v, 0)‖²`, lane by lane so that it vectorises.
#[inline(always)]
fn negative_norm2<const L: usize>(v: &[f64]) -> f64 {
    let mut sums = [0.0f64; L];
    let chunks = v.chunks_exact(L);
    let rest: f64 = chunks.remainder().iter().map(|v| v.min(0.0) * v.min(0.0)).sum();
    for chunk in chunks {
        for l in 0..L {
            let negative = chunk[l].min(0.0);
            sums[l] += negative * negative;
        }
    }
    sums.iter().sum::<f64>() + rest
}

struct NegativeNorm2<'a>(&'a [f64]);

impl Kernel for NegativeNorm2<'_> {
    type T = f64;
    type Out = f64;

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) -> f64 {
        negative_norm2::<L>(self.0)
    }
}

/// Multiplications of a trial that is not worth a second thread.
const TRIAL_SMALL: usize = 1 << 21;

/// Points of V and D that a trial holds in the first-level cache.
const TRIAL_BLOCK: usize = 64;

impl<P: Points> LocalStore<'_, P> {
    pub(super) fn step_and_sum(&mut self, u: &Mat, utu: &Mat, rho: f64, accept: Option<&Accept>) -> Stepped {
        let (data, k) = (self.data, self.k);
        let points = self.points();
        self.d.resize(points * k, 0.0);
        self.lambda.resize(points * k, 0.0);
        let packed = data.points.pack(u, data.facts.scale);
        let later = data.points.has_transposed();
        let chunks = data.chunks_with_sums(2 * k);
        let jobs = chunks
            .iter()
            .cloned()
            .zip(split(&mut self.v, &chunks, k))
            .zip(split(&mut self.d, &chunks, k))
            .zip(split(&mut self.lambda, &chunks, k))
            .collect();
        let parts = in_order(jobs, |(((chunk, v), d), lambda)| {
            let mut sums = (!later).then(|| data.points.sums(k));
            let zero = || Mat::zeros(k, k);
            let mut grams =
                Grams { vvt: zero(), vdt: zero(), ddt: zero(), tvt: zero(), tdt: zero(), negative2: 0.0 };
            let room = data.points.block().min(chunk.len()) * k;
            let (mut t, mut y) = (vec![0.0; room], vec![0.0; room]);
            for rows in data.blocks(chunk.clone()) {
                let t = &mut t[..rows.len() * k];
                data.points.scores(rows.clone(), None, &packed, t);
                if data.weights.is_some() {
                    for (t, j) in t.chunks_exact_mut(k).zip(rows.clone()) {
                        t.iter_mut().for_each(|t| *t *= data.root_weight(j));
                    }
                }
                let range = (rows.start - chunk.start) * k..(rows.end - chunk.start) * k;
                let (v, d) = (&mut v[range.clone()], &mut d[range.clone()]);
                let lambda = &mut lambda[range];
                Step { utu, rho, accept }.block(v, d, lambda, t, &mut y[..rows.len() * k], &mut grams);
                if let Some(sums) = &mut sums {
                    t.copy_from_slice(d);
                    if data.weights.is_some() {
                        for (t, j) in t.chunks_exact_mut(k).zip(rows.clone()) {
                            t.iter_mut().for_each(|t| *t *= data.root_weight(j));
                        }
                    }
                    data.points.add(sums, rows, data.facts.scale, t);
                }
            }
            (sums, grams)
        });
        let (sums, grams): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        let mdt = if later {
            self.sum_of(&self.d, k)
        } else {
            data.points.total(sums.into_iter().flatten().collect(), k)
        };
        let negative2 = grams.iter().map(|g| g.negative2).sum();
        let add = |of: fn(&Grams) -> &Mat| add_all(grams.iter().map(|g| of(g).clone()), k, k);
        Stepped {
            mdt,
            vvt: add(|g| &g.vvt),
            vdt: add(|g| &g.vdt),
            ddt: add(|g| &g.ddt),
            tvt: add(|g| &g.tvt),
            tdt: add(|g| &g.tdt),
            negative2,
        }
    }

    pub(super) fn trial(&mut self, trials: &[(f64, &Mat)]) -> Vec<f64> {
        let (data, k, v, d) = (self.data, self.k, &self.v, &self.d);
        let count = if v.len() * k < TRIAL_SMALL { 1 } else { 64 };
        let parts = in_order(data.cut(count), |chunk| {
            let mut negative2 = vec![0.0; trials.len()];
            let (mut y, mut new) = (vec![0.0; TRIAL_BLOCK * k], vec![0.0; TRIAL_BLOCK * k]);
            let blocks = v[chunk.start * k..chunk.end * k].chunks(TRIAL_BLOCK * k);
            for (v, d) in blocks.zip(d[chunk.start * k..chunk.end * k].chunks(TRIAL_BLOCK * k)) {
                let (y, new) = (&mut y[..v.len()], &mut new[..v.len()]);
                for ((beta, root), sum) in trials.iter().zip(&mut negative2) {
                    project(v, d, *beta, root, y, new);
                    *sum += run(NegativeNorm2(new));
                }
            }
            negative2
        });
        let mut total = vec![0.0; trials.len()];
        for part in parts {
            total.iter_mut().zip(&part).for_each(|(t, p)| *t += p);
        }
        total
    }

    pub(super) fn multipliers(&mut self) -> Vec<f64> {
        self.lambda.resize(self.v.len(), 0.0);
        self.lambda.clone()
    }

    pub(super) fn set_multipliers(&mut self, lambda: &[f64]) {
        self.lambda = lambda.to_vec();
    }

    pub(super) fn accept(&mut self, accept: &Accept) {
        let size = TRIAL_BLOCK * self.k;
        let mut y = vec![0.0; size];
        let blocks = self.v.chunks_mut(size).zip(self.d.chunks(size)).zip(self.lambda.chunks_mut(size));
        for ((v, d), lambda) in blocks {
            let y = &mut y[..v.len()];
            take(accept, v, d, lambda, y);
        }
    }
}
