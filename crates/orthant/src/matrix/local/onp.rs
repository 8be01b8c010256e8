//! The passes of ONP-MF: one fused pass over the data, and trials that touch V and D alone.

use super::factors::{add_all, add_outer};
use super::{LocalStore, Points, in_order, split};
use crate::matrix::Mat;
use crate::matrix::data::{Accept, Stepped};
use crate::matrix::kernels::{Kernel, run};

/// `v ← root·(v + beta·d)`; `y` is room for k numbers.
#[inline(always)]
fn project(v: &mut [f64], d: &[f64], beta: f64, root: &Mat, y: &mut [f64]) {
    let k = v.len();
    for i in 0..k {
        y[i] = v[i] + beta * d[i];
    }
    // The root is symmetric: column by column, so that the inner loop runs along memory.
    v.fill(0.0);
    for l in 0..k {
        for (v, r) in v.iter_mut().zip(root.row(l)) {
            *v += y[l] * r;
        }
    }
}

#[inline(always)]
fn step_multipliers(lambda: &mut [f64], v: &[f64], alpha: f64) {
    for (lambda, v) in lambda.iter_mut().zip(v) {
        *lambda = (*lambda - alpha * v).max(0.0);
    }
}

/// A block's share of the step, compiled for wide registers.
struct StepBlock<'a> {
    v: &'a mut [f64],
    d: &'a mut [f64],
    lambda: &'a mut [f64],
    /// UᵀM of the block's points, √w included; becomes T.
    t: &'a mut [f64],
    utu: &'a Mat,
    rho: f64,
    accept: Option<&'a Accept>,
    grams: &'a mut Grams,
}

struct Grams {
    vvt: Mat,
    vdt: Mat,
    ddt: Mat,
    tvt: Mat,
    tdt: Mat,
    negative2: f64,
}

impl Kernel for StepBlock<'_> {
    type T = f64;
    type Out = ();

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) {
        let StepBlock { v, d, lambda, t, utu, rho, accept, grams } = self;
        let k = utu.rows;
        let mut y = vec![0.0; k];
        let rows = v
            .chunks_exact_mut(k)
            .zip(d.chunks_exact_mut(k))
            .zip(lambda.chunks_exact_mut(k))
            .zip(t.chunks_exact_mut(k));
        for (((v, d), lambda), t) in rows {
            if let Some(Accept { beta, root, alpha }) = accept {
                project(v, d, *beta, root, &mut y);
                step_multipliers(lambda, v, *alpha);
            }
            // D = T − UᵀU·V + ρ·max(−V, 0), with T = UᵀM + Λ.  [P, eq. (lag): −∇_V L]
            y.fill(0.0);
            for l in 0..k {
                for (y, a) in y.iter_mut().zip(utu.row(l)) {
                    *y += v[l] * a;
                }
            }
            for i in 0..k {
                t[i] += lambda[i];
                let negative = (-v[i]).max(0.0);
                grams.negative2 += negative * negative;
                d[i] = t[i] - y[i] + rho * negative;
            }
            add_outer(&mut grams.vvt.data, v, v);
            add_outer(&mut grams.vdt.data, v, d);
            add_outer(&mut grams.ddt.data, d, d);
            add_outer(&mut grams.tvt.data, t, v);
            add_outer(&mut grams.tdt.data, t, d);
        }
    }
}

struct TrialBlock<'a> {
    v: &'a [f64],
    d: &'a [f64],
    trials: &'a [(f64, &'a Mat)],
    negative2: &'a mut [f64],
}

impl Kernel for TrialBlock<'_> {
    type T = f64;
    type Out = ();

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) {
        let TrialBlock { v, d, trials, negative2 } = self;
        let Some(k) = trials.first().map(|t| t.1.rows) else { return };
        let (mut new, mut y) = (vec![0.0; k], vec![0.0; k]);
        for (v, d) in v.chunks_exact(k).zip(d.chunks_exact(k)) {
            for ((beta, root), sum) in trials.iter().zip(&mut *negative2) {
                new.copy_from_slice(v);
                project(&mut new, d, *beta, root, &mut y);
                for v in &new {
                    let negative = v.min(0.0);
                    *sum += negative * negative;
                }
            }
        }
    }
}

impl<P: Points> LocalStore<'_, P> {
    pub(super) fn step_and_sum(&mut self, u: &Mat, utu: &Mat, rho: f64, accept: Option<&Accept>) -> Stepped {
        let (data, k) = (self.data, self.k);
        let points = self.points();
        self.d.resize(points * k, 0.0);
        self.lambda.resize(points * k, 0.0);
        let packed = data.points.pack(u);
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
            let mut t = vec![0.0; data.points.block().min(chunk.len()) * k];
            for rows in data.blocks(chunk.clone()) {
                let t = &mut t[..rows.len() * k];
                data.points.scores(rows.clone(), data.facts.scale, &packed, t);
                if data.weights.is_some() {
                    for (t, j) in t.chunks_exact_mut(k).zip(rows.clone()) {
                        t.iter_mut().for_each(|t| *t *= data.root_weight(j));
                    }
                }
                let range = (rows.start - chunk.start) * k..(rows.end - chunk.start) * k;
                let (v, d) = (&mut v[range.clone()], &mut d[range.clone()]);
                let lambda = &mut lambda[range];
                run(StepBlock { v, d, lambda, t, utu, rho, accept, grams: &mut grams });
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
        let count = if v.len() * k < super::SMALL { 1 } else { 64 };
        let parts = in_order(data.cut(count), |chunk| {
            let mut negative2 = vec![0.0; trials.len()];
            let range = chunk.start * k..chunk.end * k;
            run(TrialBlock { v: &v[range.clone()], d: &d[range], trials, negative2: &mut negative2 });
            negative2
        });
        let mut total = vec![0.0; trials.len()];
        for part in parts {
            total.iter_mut().zip(&part).for_each(|(t, p)| *t += p);
        }
        total
    }

    pub(super) fn accept(&mut self, accept: &Accept) {
        let k = self.k;
        let mut y = vec![0.0; k];
        for j in 0..self.points() {
            let range = j * k..(j + 1) * k;
            project(&mut self.v[range.clone()], &self.d[range.clone()], accept.beta, &accept.root, &mut y);
            step_multipliers(&mut self.lambda[range.clone()], &self.v[range], accept.alpha);
        }
    }
}
