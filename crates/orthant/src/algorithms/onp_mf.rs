//! ONP-MF: orthogonal at every step, nonnegative in the limit. [P, Sec. 3, Alg. 2]
//!
//! Problem: `min ½‖M − UV‖² + ⟨Λ, −V⟩ + ρ/2·‖min(V, 0)‖²` over U ≥ 0 and VVᵀ = I, with ρ growing. [P, eq. (lag)]
//! Updates: `U = max(0, MVᵀ)`; one projected gradient step on V with a line search; `Λ ← max(0, Λ − α₀/t·V)`.
//! Cost of an iteration: one pass over M (2·nnz·k multiplications), and about two passes over V and D.
//!
//! What the paper leaves out is as its authors ran it: ρ grows before the V step, β is kept from one
//! iteration to the next, and the line search takes any decrease.
//!
//! Departures, none of which changes what is computed beyond rounding:
//! - VVᵀ = I makes the nonnegative least squares problem of the U step separable: `U = max(0, MVᵀ)`.
//! - The line search needs no data: with T = UᵀM + Λ the Lagrangian is `const − ⟨T, V⟩ + ρ/2‖min(V, 0)‖²`,
//!   and a trial `V = (YYᵀ)^(−1/2)·Y`, `Y = V + βD`, has `⟨T, V⟩` and `YYᵀ` from k × k matrices.
//! - One pass: `M·Vᵀ` of the new V is `(MVᵀ + β·MDᵀ)(YYᵀ)^(−1/2)`, whatever β the search chooses. It is
//!   recomputed from the data every 50 iterations, with which the drift stays below 2e-15.
//! - A line search that has not found a decrease when the step is below rounding (β‖D‖ < 1e-15‖V‖) gives up for
//!   this iteration and resets β to 1. The published code stops at β < 1e-15, whatever the size of D, and goes on
//!   with that β: on images in raw integers the right β is smaller, and it spins in place until the limit. After a
//!   search that failed the next one shrinks by 10 instead of 1.1.

use super::parameters::{declare, real, whole};
use super::{Algorithm, ONMF};
use crate::error::{Error, Result};
use crate::matrix::passes::{Accept, Products, Step, Trial};
use crate::matrix::{Mat, Slot, Slots};
use crate::prepare::Problem;
use crate::run::{Conclusion, Progress, State, Trace};
use crate::saved::Saved;
use crate::singular::orthonormalize_rows;
use crate::start::{self, Start, Stream};

declare! {
    name: "onp-mf",
    title: "ONP-MF",
    summary: "augmented Lagrangian: orthogonal at every step, nonnegative in the limit (Alg. 2 of the paper)",
    starts: &["svd"],
    ..ONMF;

    /// ONP-MF with its parameters; the defaults are the paper's.
    pub struct OnpMf {
        /// stop when ‖min(V, 0)‖/‖V‖ is at most this
        tolerance: f64 = real(1e-3, 0.0, 1.0),
        /// stop after this many iterations
        max_iterations: usize = whole(20000.0, 1.0),
        /// α₀, the step of the multipliers in the first iteration
        alpha: f64 = real(100.0, 0.0, 1e300),
        /// ρ₀, the penalty to begin with
        rho: f64 = real(0.01, 1e-300, 1e300),
        /// C, what the penalty is multiplied by in each iteration
        growth: f64 = real(1.01, 1.0, 1e6),
        /// as if the data had this Frobenius norm (unless set: its own)
        ///
        /// The paper's schedule depends on the scale of the data; with a fixed norm it does not.
        scale: Option<f64> = real(f64::NAN, 1e-300, 1e300),
    }
}

/// How often MVᵀ is recomputed from the data instead of carried on.
const RECOMPUTE: usize = 50;
/// A step that is shorter than this, relative to V, changes nothing.
const SHORTEST: f64 = 1e-15;
/// Of a step that is longer than this, relative to V, only the direction counts.
const LONGEST: f64 = 1e12;

struct OnpState<'a> {
    parameters: OnpMf,
    problem: &'a Problem<'a>,
    slots: Box<dyn Slots + 'a>,
    /// (α₀, ρ, β) in the units of the scaled data.
    alpha: f64,
    rho: f64,
    beta: f64,
    first_beta: f64,
    t: usize,
    /// MVᵀ and VVᵀ of the present V.
    mvt: Mat,
    vvt: Mat,
    /// The step that was chosen but not yet made: the next pass makes it.
    pending: Option<Accept>,
    negative2: f64,
    /// Whether the last line search found nothing: then the next one need not look as closely.
    lost: bool,
}

impl Algorithm for OnpMf {
    fn begin<'a>(
        &self,
        problem: &'a Problem<'a>,
        start: &Start,
        streams: &[Stream],
    ) -> Result<Box<dyn State + 'a>> {
        start.check(problem)?;
        assert_eq!(streams.len(), 1, "the table says that runs of ONP-MF are not batched");
        let mut slots = problem.data.slots()?;
        start::v(start, problem, &mut *slots, streams[0])?;
        // The others are not orthonormal, or not always: project.
        if !matches!(start, Start::Svd | Start::Labels(_)) {
            orthonormalize_rows(&mut *slots, problem.k)?;
        }
        let (vvt, mvt) = slots.sweep(&Products { k: problem.k })?;
        // M = c·M' for the scaled data M', and (α₀, ρ₀, β) on M are (α₀/c², ρ₀/c², βc²) on M'.
        let c = match self.scale {
            None => 1.0 / problem.facts().scale,
            Some(norm) => norm / problem.facts().norm2.sqrt(),
        };
        let state = OnpState {
            parameters: *self,
            problem,
            slots,
            alpha: within(self.alpha / c / c),
            rho: within(self.rho / c / c),
            beta: within(c * c),
            first_beta: within(c * c),
            t: 0,
            mvt,
            vvt,
            pending: None,
            negative2: 0.0,
            lost: false,
        };
        Ok(Box::new(state))
    }

    fn max_iterations(&self, _start: &Start) -> usize {
        self.max_iterations
    }

    fn arrays(&self) -> usize {
        3
    }
}

impl OnpMf {
    /// About how many iterations it takes: what is negative hardly shrinks before ρ is as large as ‖M‖², then as fast as ρ grows.
    pub(super) fn iterations(&self, norm2: f64) -> f64 {
        (norm2 / (self.rho * self.tolerance)).ln() / self.growth.ln()
    }
}

/// Kept where squares and products stay finite: beyond, the published schedule has long lost its meaning.
fn within(x: f64) -> f64 {
    x.clamp(1e-100, 1e100)
}

/// `(I + X)^(−1/2) − I`, without the cancellation that taking the difference would bring: close to the
/// end a step changes the Lagrangian by less than the rounding of its value.
fn inverse_root_minus_identity(x: &Mat) -> Mat {
    let e = x.symmetric_function(|x| {
        let root = (1.0 + x).max(f64::MIN_POSITIVE).sqrt();
        -x / (root * (1.0 + root))
    });
    // Exactly symmetric, which the passes rely on.
    Mat::from_fn(e.rows, e.cols, |i, j| 0.5 * (e[(i, j)] + e[(j, i)]))
}

impl OnpState<'_> {
    /// One iteration. Where it is given up, V is what it was before.
    fn iterate(&mut self) -> Result<Progress> {
        self.t += 1;
        if self.t.is_multiple_of(RECOMPUTE) {
            if let Some(pending) = self.pending.take() {
                self.slots.tell(&pending)?;
            }
            (self.vvt, self.mvt) = self.slots.sweep(&Products { k: self.problem.k })?;
        }
        // U = argmin_{X ≥ 0} ‖M − XV‖² = max(0, MVᵀ), as VVᵀ = I.  [P, Alg. 2, line 3]
        let u = self.mvt.clone().map(|x| x.max(0.0));
        let utu = u.transpose_times(&u);
        // ‖M − UV‖² of this V and its optimal U, for which ⟨U, MVᵀ⟩ = ‖U‖².
        let objective = (self.problem.facts().norm2 - 2.0 * u.norm2() + utu.dot(&self.vvt)).max(0.0);
        // ρ grows before the V step.  [P, Alg. 2, line 6; the order is the authors']
        self.rho = within(self.rho * self.parameters.growth);
        let rho = self.rho;
        let (s, mdt) = self.slots.sweep(&Step::new(u, utu, rho, self.pending.take()))?;

        // Line search for V ← Proj_St(V + βD).  [P, Alg. 2, line 4]
        let dvt = s.vdt.transpose();
        let identity = Mat::identity(self.problem.k);
        // YYᵀ − I with the computed VVᵀ: with I in its place orthogonality would drift away.
        let off = |beta: f64| {
            s.vvt.plus(-1.0, &identity).plus(beta, &s.vdt).plus(beta, &dvt).plus(beta * beta, &s.ddt)
        };
        // The Lagrangian less what no V changes: −⟨T, (root − I)·V + β·root·D⟩ + ρ/2·‖min(V, 0)‖².
        let value = |beta: f64, e: &Mat, root: &Mat, negative2: f64| {
            -s.tvt.dot(e) - beta * s.tdt.dot(root) + 0.5 * rho * negative2
        };
        let here = inverse_root_minus_identity(&off(0.0));
        let now = value(0.0, &here, &identity, s.negative2);
        // Where points are elsewhere a round costs more than a trial: lengths that may be next are tried along with it. In
        // memory only the first is, unless the last search was lost: β mostly helps again, and it remains to be seen
        // whether a longer step does not. V and D are then fetched once for both.
        let together = !self.problem.data.in_memory();
        let mut tried: Vec<(f64, (f64, f64, Mat))> = vec![];
        let mut trial = |slots: &mut dyn Slots, beta: f64, next: [f64; 2]| -> Result<(f64, f64, Mat)> {
            let known = tried.iter().position(|(length, _)| *length == beta);
            let at = known.unwrap_or(tried.len());
            if known.is_none() {
                self.problem.go_on()?;
                let along = if together { 2 } else { usize::from(tried.is_empty() && !self.lost) };
                let lengths = std::iter::once(beta).chain(next.into_iter().take(along));
                let (e, trials): (Vec<Mat>, _) = lengths
                    .map(|beta| {
                        let e = inverse_root_minus_identity(&off(beta));
                        let root = e.plus(1.0, &identity);
                        (e, (beta, root))
                    })
                    .unzip();
                let told = Trial { trials };
                let negative2 = slots.tell(&told)?.0;
                for (((beta, root), e), negative2) in told.trials.into_iter().zip(e).zip(negative2) {
                    tried.push((beta, (value(beta, &e, &root, negative2), negative2, root)));
                }
            }
            Ok(tried.swap_remove(at).1)
        };
        // ‖D‖/‖V‖
        let length = ((0..self.problem.k).map(|i| s.ddt[(i, i)]).sum::<f64>() / self.problem.k as f64).sqrt();
        let mut beta = self.beta;
        // Steps this long all end at the same point, and their squares overflow: pass over them.
        // (A length that is not finite, from a damaged checkpoint, would keep the loops busy for ever.)
        while beta * length > LONGEST && beta > f64::MIN_POSITIVE {
            beta /= 1.1;
        }
        let shrink = if self.lost { 10.0 } else { 1.1 };
        let mut best = trial(&mut *self.slots, beta, [beta * 1.1, beta / shrink])?;
        let mut found = best.0 < now;
        if found {
            loop {
                let next = [beta * 1.1 * 1.1, beta * 1.1 * 1.1 * 1.1];
                let longer = trial(&mut *self.slots, beta * 1.1, next)?;
                // Not so for NaN either, when β has left the range of numbers.
                let improves = longer.0 < best.0;
                if !improves {
                    break;
                }
                beta *= 1.1;
                best = longer;
            }
        } else {
            while beta * length >= SHORTEST && beta > f64::MIN_POSITIVE {
                beta /= shrink;
                best = trial(&mut *self.slots, beta, [beta / shrink, beta / shrink / shrink])?;
                if best.0 < now {
                    found = true;
                    break;
                }
            }
        }
        // Λ ← max(0, Λ − α₀/t·V) comes with the accepted step.  [P, Alg. 2, line 5]
        let alpha = self.alpha / self.t as f64;
        self.lost = !found;
        if found {
            self.beta = beta;
            self.negative2 = best.1;
            let root = best.2;
            self.vvt = root.times(&off(beta).plus(1.0, &identity)).times(&root);
            self.mvt = self.mvt.plus(beta, &mdt).times(&root);
            self.pending = Some(Accept { beta, root, alpha });
        } else {
            self.beta = self.first_beta;
            self.negative2 = s.negative2;
            self.vvt = s.vvt;
            self.pending = Some(Accept { beta: 0.0, root: Mat::identity(self.problem.k), alpha });
        }
        let residual = (self.negative2 / self.problem.k as f64).sqrt();
        Ok(Progress { objective, residual, converged: residual <= self.parameters.tolerance })
    }
}

impl State for OnpState<'_> {
    fn step(&mut self, _runs: &[usize]) -> Result<Vec<Progress>> {
        let (t, rho) = (self.t, self.rho);
        let progress = self.iterate();
        if matches!(progress, Err(Error::Stopped(_))) {
            (self.t, self.rho) = (t, rho);
        }
        Ok(vec![progress?])
    }

    fn share(&self, traces: &[Trace]) -> Option<f64> {
        // ‖M‖² of the data as they are, or as they were scaled for the schedule.
        let norm2 = self.problem.facts().norm2 * self.first_beta;
        let share = self.t as f64 / self.parameters.iterations(norm2);
        let ended = traces.iter().all(|trace| trace.stop.is_some());
        // There may be some more than were expected.
        if ended { Some(1.0) } else { share.is_finite().then_some(share.clamp(0.0, 0.98)) }
    }

    fn conclude(&mut self, _run: usize) -> Result<Conclusion> {
        if let Some(pending) = self.pending.take() {
            self.slots.tell(&pending)?;
        }
        let k = self.problem.k;
        let labels = self.problem.label_by_v(&mut *self.slots, vec![1.0; k])?;
        let (vvt, mvt) = self.slots.sweep(&Products { k })?;
        let u = mvt.map(|x| x.max(0.0));
        // That of the last V, where an iteration reports the one that it began with.
        let objective = self.problem.facts().norm2 - 2.0 * u.norm2() + u.transpose_times(&u).dot(&vvt);
        Ok(Conclusion {
            labels,
            directions: u,
            explained: None,
            objective: Some(objective.max(0.0)),
            negativity: (self.negative2 / self.problem.k as f64).sqrt(),
            orthogonality: vvt.plus(-1.0, &Mat::identity(self.problem.k)).norm2().sqrt(),
        })
    }

    fn save(&mut self) -> Result<Saved> {
        // The pending step makes the same V here as in the next pass.
        if let Some(pending) = self.pending.take() {
            self.slots.tell(&pending)?;
        }
        let mut saved = Saved::default();
        saved.put_slot(&mut *self.slots, Slot::V)?;
        saved.put_slot(&mut *self.slots, Slot::Lambda)?;
        saved.put("mvt", &self.mvt);
        saved.put("vvt", &self.vvt);
        saved.put("t", &self.t);
        saved.put("lost", &self.lost);
        for (name, x) in [("rho", self.rho), ("beta", self.beta), ("negative2", self.negative2)] {
            saved.put(name, &x);
        }
        Ok(saved)
    }

    fn restore(&mut self, mut saved: Saved) -> Result<()> {
        let (points, k) = (self.problem.data.shape().points, self.problem.k);
        saved.take_slot(&mut *self.slots, Slot::V, points, k)?;
        saved.take_slot(&mut *self.slots, Slot::Lambda, points, k)?;
        self.mvt = saved.take_mat("mvt", self.mvt.rows, k)?;
        self.vvt = saved.take_mat("vvt", k, k)?;
        self.t = saved.take("t")?;
        self.lost = saved.take("lost")?;
        for (name, x) in
            [("rho", &mut self.rho), ("beta", &mut self.beta), ("negative2", &mut self.negative2)]
        {
            *x = saved.take_finite(name)?;
        }
        self.pending = None;
        Ok(())
    }
}
