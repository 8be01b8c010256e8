//! The dual bound: what partitions explain at most, `Σσ₁²(Mᵢ) ≤ kμ + tr W` for any N ≥ 0, W ⪰ 0 and μ ≥ 0 with
//! `μI + W ⪰ MᵀM + N`. (docs/certificate.md)
//!
//! The best N belongs to the relaxed problem `max ⟨G, Z⟩, Z ≥ 0, 0 ⪯ Z ⪯ I, tr Z = k`, in which Z stands for VᵀV. It is
//! solved by the method of Douglas and Rachford between the two kinds of constraints. Its whole state is one matrix
//! T = Y − N/ρ, where Y = max(T, 0) ≥ 0 is the present Z and N = ρ·max(−T, 0) the present multiplier:
//!
//! ```text
//! Z ← the nearest matrix to |T| + G/ρ with 0 ⪯ Z ⪯ I, tr Z = k        (its leading eigenpairs, clipped)
//! T ← ωZ + (1 − ω)Y − N/ρ
//! ```
//!
//! A step costs about ten products of the matrix with a few more than k vectors. However rough, every N on the way
//! is nonnegative, so it gives a bound; that bound is proven afterwards by a Cholesky factorisation alone. So T may be
//! float32, and is where there are many points.

use rayon::prelude::*;

use super::positive::{ROUNDOFF, is_positive};
use super::reduced::Reduced;
use super::square::Square;
use crate::matrix::kernels::{dense, run};
use crate::matrix::{Mat, Real};
use crate::run::Go;
use crate::singular::Subspace;

/// Over-relaxation ω: 1 is the plain method, below 2 it converges.
const RELAX: f64 = 1.7;
/// ρ to begin with, for ‖M‖ = 1.
const RHO: f64 = 0.02;
/// ρ is adapted every so many steps, so often; then it stays, as convergence asks for.
const ADAPT: (usize, usize) = (5, 20);
/// Relative residuals below which nothing is gained any more; among many points, where a step takes a third of a second, below
/// which little is (samson: 3.99 % at 2e-4, 3.98 % after three times as many steps).
const SETTLED: f64 = 2e-5;
const SETTLED_OF_MANY: f64 = 2e-4;
/// Multiplications after which enough is enough: many clusters among many points make steps dear.
const MOST_WORK: usize = 4_000_000_000_000;
/// Groups of points: how often μ is looked for anew.
const SEARCH: usize = 20;

/// Points (or groups) up to which T is float64. More than that take seconds to prove: who stops the work does not wait for it.
const EXACT: usize = 3000;
/// Rows of T that are updated together.
const ROWS: usize = 16;

/// Maximises the bound in at most `steps` steps and returns what is proven: no partition into k clusters explains more
/// than this share of ‖M‖². `watch` hears of every step and what it seems to reach.
pub(super) fn explained_at_most(
    reduced: Reduced,
    k: usize,
    steps: usize,
    watch: &mut dyn FnMut(usize, f64) -> Go,
) -> Option<f64> {
    if k >= reduced.size() {
        None
    } else if reduced.size() <= EXACT {
        Dual::<f64>::new(reduced, k)?.maximise(steps, watch)
    } else {
        Dual::<f32>::new(reduced, k)?.maximise(steps, watch)
    }
}

/// Bytes that are held for so many points or groups: their Gram matrix, T and what they are multiplied to, or what is proven.
pub(super) fn bytes(size: usize) -> u128 {
    let each = if size <= EXACT { 24 } else { 16 };
    each * (size as u128).pow(2)
}

/// So many eigenpairs are held.
fn width(k: usize) -> usize {
    2 * k + 8
}

/// Multiplications of a step, about.
pub(super) fn work(size: usize, k: usize) -> usize {
    let width = width(k).min(size);
    10 * size * size * width + 30 * width * width * width
}

pub(super) struct Dual<T> {
    reduced: Reduced,
    k: usize,
    /// For groups what takes the place of their G with the present μ.
    at_mu: Option<Mat>,
    mu: f64,
    rho: f64,
    t: Square<T>,
    /// |T| + G/ρ.
    a: Square<T>,
    /// Its leading eigenpairs.
    leading: Subspace,
    /// Below this eigenvalue nothing of a matrix goes into Z; one above, all.
    level: f64,
    /// Whether |T| + G/ρ has changed by more than a step since its eigenpairs were found.
    fresh: bool,
    /// `⟨G, Z⟩`.
    primal: f64,
    /// `‖Z − Y‖` and the change of Y, relative.
    gap: f64,
    change: f64,
    residual: f64,
}

impl<T: Real> Dual<T> {
    pub(super) fn new(reduced: Reduced, k: usize) -> Option<Self> {
        let size = reduced.size();
        let mut leading = Subspace::new(size, width(k));
        leading.meet(&reduced.gram);
        for _ in 0..4 {
            let ceiling = leading.values[k];
            leading.improve(&reduced.gram, ceiling, 1);
        }
        // For groups the best μ is some times the k-th eigenvalue; too small a one has no G at all.
        let mut mu = 2.0 * leading.values[k - 1];
        let mut at_mu = None;
        if reduced.is_grouped() {
            let tries = (0..40).find_map(|_| {
                mu *= 1.5;
                reduced.gram_at(mu)
            });
            at_mu = Some(tries?);
        }
        let (t, a) = (Square::zeros(size), Square::zeros(size));
        let rho = RHO * reduced.norm2;
        Some(Dual {
            reduced,
            k,
            at_mu,
            mu,
            rho,
            t,
            a,
            leading,
            level: 0.0,
            fresh: true,
            primal: 0.0,
            gap: 1.0,
            change: 1.0,
            residual: 1.0,
        })
    }

    pub(super) fn maximise(mut self, steps: usize, watch: &mut dyn FnMut(usize, f64) -> Go) -> Option<f64> {
        let size = self.reduced.size();
        let steps = steps.min(MOST_WORK / work(size, self.k)).max(ADAPT.0);
        let mut at = 0;
        for step in 1..=steps {
            at = step;
            self.step();
            if self.reduced.is_grouped() && (step % SEARCH == 0 || step == steps) {
                self.search();
            }
            if watch(step, self.estimate()) == Go::Stop {
                if size > EXACT {
                    return None;
                }
                break;
            }
            if self.residual < if size > EXACT { SETTLED_OF_MANY } else { SETTLED } {
                break;
            }
            if step % ADAPT.0 == 0 {
                self.fresh = true;
                if step <= ADAPT.0 * ADAPT.1 {
                    self.adapt();
                }
            }
        }
        let seems = self.estimate();
        self.prove(&mut || size > EXACT && watch(at, seems) == Go::Stop)
    }

    fn step(&mut self) {
        let (k, rho) = (self.k, self.rho);
        let gram = self.at_mu.as_ref().unwrap_or(&self.reduced.gram);
        let a = &mut self.a;
        a.make_of(gram, &self.t, |g, t| g / rho + t.abs());
        if self.fresh {
            self.leading.meet(a);
        }
        // All that lies one above the level counts in full: no need to tell it apart.
        let ceiling = if self.fresh { self.leading.values[k] } else { self.level + 1.0 };
        self.leading.improve(a, ceiling, 1);
        self.fresh = false;
        let shares;
        (self.level, shares) = clipped(&self.leading.values, k);
        let taken = shares.iter().take_while(|&&z| z > 0.0).count();
        let mut half = self.leading.vectors.columns(0..taken);
        half.scale_columns(&shares[..taken].iter().map(|z| z.sqrt()).collect::<Vec<_>>());
        let turned = &dense::Packed::new(&half.transpose(), 1.0);

        // Rows do not depend on each other; their sums are added in order.
        let n = self.t.size;
        let rows = self.t.data.par_chunks_mut(ROWS * n).zip(gram.data.par_chunks(ROWS * n));
        let sums: Vec<[f64; 4]> = rows
            .zip(half.data.par_chunks(ROWS * taken))
            .map(|((t, g), half)| {
                let mut z = vec![0.0; t.len()];
                run(dense::Scores { x: half, features: taken, list: None, u: turned, out: &mut z });
                let mut sums = [0.0; 4];
                for ((t, &z), &g) in t.iter_mut().zip(&z).zip(g) {
                    let old: f64 = (*t).into();
                    let y = old.max(0.0);
                    *t = T::of(RELAX * z + (1.0 - RELAX) * y + old.min(0.0));
                    let now: f64 = (*t).into();
                    let new = now.max(0.0);
                    sums[0] += (z - new) * (z - new);
                    sums[1] += (new - y) * (new - y);
                    sums[2] += now.min(0.0) * now.min(0.0);
                    sums[3] += g * z;
                }
                sums
            })
            .collect();
        let total = |i: usize| sums.iter().map(|s| s[i]).sum::<f64>();
        self.primal = total(3);
        self.gap = (total(0) / k as f64).sqrt();
        self.change = (total(1) / total(2).max(f64::MIN_POSITIVE)).sqrt();
        self.residual = self.gap.max(self.change);
        self.leading.resize(taken + (taken / 4).max(6));
    }

    /// What the step seems to have reached, as a lower bound of the squared relative error: Z is nearly the best.
    fn estimate(&self) -> f64 {
        1.0 - self.primal / self.reduced.norm2
    }

    /// A larger ρ presses on Z ≥ 0, a smaller one on ⟨G, Z⟩.
    fn adapt(&mut self) {
        let factor = if self.gap > self.change { 1.5 } else { 1.0 / 1.5 };
        self.rho *= factor;
        self.t.data.par_iter_mut().for_each(|t| {
            let x: f64 = (*t).into();
            if x < 0.0 {
                *t = T::of(x / factor);
            }
        });
        self.fresh = true;
    }

    /// The multiplier N added to another matrix.
    fn add_multiplier(&self, to: &mut Mat) {
        let rho = self.rho;
        to.data.par_iter_mut().zip(&self.t.data).for_each(|(x, &t)| *x += rho * (-t.into()).max(0.0));
    }

    /// `kμ + Σ(λᵢ − μ)₊` over the leading eigenvalues of a matrix, and these.
    fn value(&self, mu: f64, a: &Mat, from: &Subspace, rounds: usize) -> (f64, Subspace) {
        let mut pairs = from.clone();
        pairs.meet(a);
        for _ in 0..rounds {
            let ceiling = pairs.values[self.k.min(pairs.values.len()) - 1];
            pairs.improve(a, ceiling, 1);
        }
        let above: f64 = pairs.values.iter().map(|v| (v - mu).max(0.0)).sum();
        (self.k as f64 * mu + above, pairs)
    }

    /// The same for `G_μ + N` of groups.
    fn value_at(&self, mu: f64, from: &Subspace, rounds: usize) -> Option<(f64, Subspace)> {
        let mut a = self.reduced.gram_at(mu)?;
        self.add_multiplier(&mut a);
        Some(self.value(mu, &a, from, rounds))
    }

    /// Looks for a better μ, which changes G.
    fn search(&mut self) {
        let value = |mu: f64, from: &Subspace| self.value_at(mu, from, 2);
        let Some((mut best, pairs)) = value(self.mu, &self.leading) else { return };
        let mut mu = self.mu;
        for factor in [1.25, 0.8] {
            while let Some((v, _)) = value(mu * factor, &pairs) {
                if v >= best {
                    break;
                }
                (best, mu) = (v, mu * factor);
            }
        }
        if mu != self.mu
            && let Some(gram) = self.reduced.gram_at(mu)
        {
            (self.mu, self.at_mu, self.fresh) = (mu, Some(gram), true);
        }
    }

    /// What is proven with the present N; `None` where that fails, or is to stop.
    fn prove(mut self, is_to_stop: &mut dyn FnMut() -> bool) -> Option<f64> {
        let (less, pairs);
        self.a = Square::zeros(0);
        if !self.reduced.is_grouped() {
            // Not needed any more, and large: they become what is proven.
            let mut a = std::mem::replace(&mut self.reduced.gram, Mat::zeros(0, 0));
            self.add_multiplier(&mut a);
            self.t = Square::zeros(0);
            pairs = self.value(self.mu, &a, &self.leading, 6).1;
            // Any μ between the k-th eigenvalue and the next has the same value: room on both sides.
            self.mu = 0.5 * (pairs.values[self.k - 1] + pairs.values[self.k]).max(0.0);
            less = a;
        } else {
            let (_, at_first) = self.value_at(self.mu, &self.leading, 6)?;
            let (middle, mut best) = (self.mu, f64::INFINITY);
            let mut chosen = at_first.clone();
            for mu in [0.9, 0.95, 1.0, 1.05, 1.1].map(|factor| factor * middle) {
                let Some((v, at)) = self.value_at(mu, &chosen, 3) else { continue };
                if v < best {
                    (best, chosen, self.mu) = (v, at, mu);
                }
            }
            let mut n = Mat::zeros(self.t.size, self.t.size);
            self.add_multiplier(&mut n);
            (less, pairs) = (n, chosen);
        }
        // The eigenvalues may have been missed by a little, or not found at all: enlarge μ until the proof succeeds.
        let excess: Vec<f64> = pairs.values.iter().map(|v| v - self.mu).take_while(|&e| e > 0.0).collect();
        let q = pairs.vectors.columns(0..excess.len());
        for slack in [1e-9, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0] {
            let mu = self.mu + slack * self.mu.max(1e-6 * self.reduced.norm2);
            let (matrix, error) = self.reduced.inequality(mu, &q, &excess, &less);
            if is_positive(matrix, error, is_to_stop) {
                let trace: f64 = q.column_norms2().iter().zip(&excess).map(|(n, e)| n * e).sum();
                let explained = self.k as f64 * mu + trace;
                let rounding = ROUNDOFF * (less.rows + 50) as f64 * (explained + 1.0);
                return Some((explained + rounding) / self.reduced.norm2);
            }
            if is_to_stop() {
                return None;
            }
        }
        None
    }
}

/// The level l with `Σ clip(λᵢ − l, 0, 1) = k`, and these shares.
fn clipped(values: &[f64], k: usize) -> (f64, Vec<f64>) {
    let shares = |level: f64| values.iter().map(move |v| (v - level).clamp(0.0, 1.0));
    let (mut low, mut high) = (values[values.len() - 1] - 1.0, values[0]);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if shares(middle).sum::<f64>() > k as f64 { low = middle } else { high = middle }
    }
    (high, shares(high).collect())
}
