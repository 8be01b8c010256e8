//! O-PNMF: orthogonal projective NMF (Yang and Oja, IEEE Trans. Neural Networks 2010), Euclidean variant.
//!
//! Problem: `min ‖M − MVᵀV‖²` over V ≥ 0. With W = Vᵀ and X = Mᵀ the update is
//! `W ← W ∘ XXᵀW / (W·WᵀXXᵀW)`, then W is divided by its spectral norm.
//! Cost of an iteration: one pass over M. `S = XᵀW = MVᵀ` makes XXᵀW = X·S and WᵀXXᵀW = SᵀS, so it is
//! CHNMF's V step with U = MVᵀ; the published codes form XXᵀ (points × points) instead.

use super::multiplicative::{Limits, conclude};
use super::{Algorithm, Setting};
use crate::error::Result;
use crate::matrix::{Mat, Store};
use crate::prepare::Problem;
use crate::run::{Conclusion, Progress, State};
use crate::start::{self, Start, Stream};

/// O-PNMF with its parameters.
#[derive(Debug, Clone, Copy)]
pub struct OPnmf {
    limits: Limits,
}

impl OPnmf {
    pub(super) fn from_setting(s: &Setting) -> Self {
        OPnmf { limits: Limits::from_setting(s) }
    }
}

struct OpState<'a> {
    limits: Limits,
    problem: &'a Problem<'a>,
    store: Box<dyn Store + 'a>,
    /// `MVᵀ` and `VVᵀ` of the V in the store, which is still to be multiplied by `shrink`.
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
        start.check(problem)?;
        assert_eq!(streams.len(), 1, "the table says that runs of O-PNMF are not batched");
        let mut store = problem.data.store()?;
        start::v(start, problem, &mut *store, streams[0])?;
        if !matches!(start, Start::Random | Start::Nndsvd) {
            // Zeros never change under multiplication.
            store.take_positive(&vec![1.0; problem.k], 1e-10)?;
        }
        let (mvt, vvt) = store.sum()?;
        Ok(Box::new(OpState { limits: self.limits, problem, store, mvt, vvt, shrink: 1.0 }))
    }

    fn max_iterations(&self, start: &Start) -> usize {
        self.limits.max_iterations(start)
    }
}

impl State for OpState<'_> {
    fn step(&mut self, _runs: &[usize]) -> Result<Vec<Progress>> {
        // S = MVᵀ of V as it is after shrinking.
        let s = self.mvt.clone().map(|x| x * self.shrink);
        let q = s.transpose_times(&s);
        let new = self.store.multiply_and_sum(&s, &q, self.shrink, self.limits.floor)?;
        (self.mvt, self.vvt) = (new.mvt, new.vvt);
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
            converged: residual < self.limits.tolerance,
        }])
    }

    fn conclude(&mut self, run: usize) -> Result<Conclusion> {
        conclude(&mut *self.store, run)
    }

    fn store(&mut self) -> &mut dyn Store {
        &mut *self.store
    }
}
