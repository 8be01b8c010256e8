//! O-PNMF: orthogonal projective NMF (Yang and Oja, IEEE Trans. Neural Networks 2010), Euclidean variant.
//!
//! Problem: `min ‖M − MVᵀV‖²` over V ≥ 0. With W = Vᵀ and X = Mᵀ the update is
//! `W ← W ∘ XXᵀW / (W·WᵀXXᵀW)`, then W is divided by its spectral norm.
//! Cost of an iteration: one pass over M. `S = XᵀW = MVᵀ` makes XXᵀW = X·S and WᵀXXᵀW = SᵀS, so it is
//! CHNMF's V step with U = MVᵀ. The published codes always form XXᵀ (points × points); here that is done
//! only where it is smaller than the data, and then an iteration is one product with it.

use super::multiplicative::{begin, conclude, most};
use super::parameters::{declare, real, whole};
use super::{Algorithm, ONMF};
use crate::error::Result;
use crate::matrix::passes::{Multiply, Products};
use crate::matrix::{Mat, Slot, Slots};
use crate::prepare::Problem;
use crate::run::{Conclusion, Progress, State};
use crate::saved::Saved;
use crate::singular::gram;
use crate::start::{Start, Stream};

declare! {
    name: "o-pnmf",
    title: "O-PNMF",
    summary: "orthogonal projective NMF by multiplicative updates (Yang and Oja 2010)",
    starts: &["random", "nndsvd"],
    objective: "‖M − MVᵀV‖²",
    ..ONMF;

    /// O-PNMF with its parameters.
    pub struct OPnmf {
        /// stop when V changes by less, relative to ‖V‖
        tolerance: f64 = real(1e-5, 0.0, 1.0),
        /// stop after this many iterations (5000; 20000 from an SVD start)
        max_iterations: Option<usize> = whole(f64::NAN, 1.0),
        /// entries do not fall below this
        floor: f64 = real(1e-16, 0.0, 1.0),
    }
}

struct OpState<'a> {
    method: OPnmf,
    problem: &'a Problem<'a>,
    slots: Box<dyn Slots + 'a>,
    /// `MVᵀ` and `VVᵀ` of the V in its slot, which is still to be multiplied by `shrink`.
    mvt: Mat,
    vvt: Mat,
    shrink: f64,
}

impl Algorithm for OPnmf {
    fn begin<'a>(
        &self,
        problem: &'a Problem<'a>,
        start: &Start,
        streams: &[Stream],
    ) -> Result<Box<dyn State + 'a>> {
        let (mut slots, _) = begin(problem, start, streams)?;
        let shape = problem.data.shape();
        if shape.points.saturating_mul(shape.points) < shape.nonzeros {
            let w = Mat { rows: shape.points, cols: problem.k, data: slots.numbers(Slot::V)? };
            let gram = gram(problem.data)?;
            return Ok(Box::new(GramState { method: *self, problem, slots, gram, w }));
        }
        let (vvt, mvt) = slots.sweep(&Products { k: problem.k })?;
        Ok(Box::new(OpState { method: *self, problem, slots, mvt, vvt, shrink: 1.0 }))
    }

    fn max_iterations(&self, start: &Start) -> usize {
        most(self.max_iterations, start)
    }

    fn arrays(&self) -> usize {
        1
    }
}

impl State for OpState<'_> {
    fn step(&mut self, _runs: &[usize]) -> Result<Vec<Progress>> {
        // S = MVᵀ of V as it is after shrinking.
        let s = self.mvt.clone().map(|x| x * self.shrink);
        let q = s.transpose_times(&s);
        let shrink = vec![self.shrink; q.rows];
        let (new, mvt) = self.slots.sweep(&Multiply::new(s, &q, shrink, self.method.floor))?;
        (self.mvt, self.vvt) = (mvt, new.vvt);
        // W ← W/‖W‖₂, made in the next pass.
        let spectral = self.vvt.symmetric_eigen().0[0].max(0.0).sqrt();
        let c = if spectral > 0.0 { 1.0 / spectral } else { 1.0 };
        self.shrink = c;
        // ‖V before − V‖/‖V before‖ < 1e-5.  [P, Sec. 4]
        let new2: f64 = (0..self.vvt.rows).map(|i| self.vvt[(i, i)]).sum::<f64>() * c * c;
        let change = (new2 - 2.0 * c * new.cross + new.old2).max(0.0);
        let residual = if new.old2 > 0.0 { (change / new.old2).sqrt() } else { 0.0 };
        // ‖M − MVᵀV‖² = ‖M‖² − 2‖S‖² + ⟨SᵀS, VVᵀ⟩
        let s = self.mvt.clone().map(|x| x * c);
        let vvt = self.vvt.clone().map(|x| x * c * c);
        let objective = self.problem.facts().norm2 - 2.0 * s.norm2() + s.transpose_times(&s).dot(&vvt);
        Ok(vec![Progress {
            objective: objective.max(0.0),
            residual,
            converged: residual < self.method.tolerance,
        }])
    }

    fn conclude(&mut self, _run: usize) -> Result<Conclusion> {
        conclude(self.problem, &mut *self.slots, vec![1.0; self.problem.k])
    }

    fn save(&mut self) -> Result<Saved> {
        let mut saved = Saved::default();
        saved.put_slot(&mut *self.slots, Slot::V)?;
        saved.put("mvt", &self.mvt);
        saved.put("vvt", &self.vvt);
        saved.put("shrink", &self.shrink);
        Ok(saved)
    }

    fn restore(&mut self, mut saved: Saved) -> Result<()> {
        let (points, k) = (self.problem.data.shape().points, self.problem.k);
        saved.take_slot(&mut *self.slots, Slot::V, points, k)?;
        self.mvt = saved.take_mat("mvt", self.mvt.rows, k)?;
        self.vvt = saved.take_mat("vvt", k, k)?;
        self.shrink = saved.take_finite("shrink")?;
        Ok(())
    }
}

/// The same on the Gram matrix XXᵀ of few points.
struct GramState<'a> {
    method: OPnmf,
    problem: &'a Problem<'a>,
    slots: Box<dyn Slots + 'a>,
    /// XXᵀ, points × points.
    gram: Mat,
    /// Vᵀ, points × k.
    w: Mat,
}

impl State for GramState<'_> {
    fn step(&mut self, _runs: &[usize]) -> Result<Vec<Progress>> {
        let floor = self.method.floor;
        let xxtw = self.gram.times(&self.w);
        let q = self.w.transpose_times(&xxtw);
        // ‖M − MVᵀV‖² = ‖M‖² − 2·tr(WᵀXXᵀW) + ⟨WᵀXXᵀW, WᵀW⟩, of the W before this step.
        let trace: f64 = (0..q.rows).map(|i| q[(i, i)]).sum();
        let objective = self.problem.facts().norm2 - 2.0 * trace + q.dot(&self.w.transpose_times(&self.w));
        let mut new = self.w.times(&q);
        for ((new, w), t) in new.data.iter_mut().zip(&self.w.data).zip(&xxtw.data) {
            let updated = if *new > 0.0 { w * (t / *new) } else { *w };
            *new = if updated > floor { updated } else { floor };
        }
        let spectral = new.transpose_times(&new).symmetric_eigen().0[0].max(0.0).sqrt();
        let new = new.map(|x| if spectral > 0.0 { x / spectral } else { x });
        let (change, old2) = (new.plus(-1.0, &self.w).norm2(), self.w.norm2());
        let residual = if old2 > 0.0 { (change / old2).sqrt() } else { 0.0 };
        self.w = new;
        Ok(vec![Progress {
            objective: objective.max(0.0),
            residual,
            converged: residual < self.method.tolerance,
        }])
    }

    fn conclude(&mut self, _run: usize) -> Result<Conclusion> {
        self.slots.set_numbers(Slot::V, self.w.cols, self.w.data.clone())?;
        // That of the last W, where an iteration reports the one that it began with.
        let (vvt, s) = self.slots.sweep(&Products { k: self.w.cols })?;
        let objective = self.problem.facts().norm2 - 2.0 * s.norm2() + s.transpose_times(&s).dot(&vvt);
        Ok(Conclusion {
            objective: Some(objective.max(0.0)),
            ..conclude(self.problem, &mut *self.slots, vec![1.0; self.problem.k])?
        })
    }

    fn save(&mut self) -> Result<Saved> {
        let mut saved = Saved::default();
        saved.put("w", &self.w);
        Ok(saved)
    }

    fn restore(&mut self, mut saved: Saved) -> Result<()> {
        self.w = saved.take_mat("w", self.w.rows, self.w.cols)?;
        Ok(())
    }
}
