//! CHNMF: multiplicative updates along the Stiefel manifold (Choi, IJCNN 2008).
//!
//! Problem: `min ‖M − UV‖²` over U, V ≥ 0, with VVᵀ = I reached only in the limit.
//! Updates: `U ← U ∘ MVᵀ / (U·VVᵀ)`; `V ← V ∘ UᵀM / (V·MᵀU·V)`; entries stay above a floor.
//! Cost of an iteration: one pass over M, as `MVᵀ` of the new V is summed in the pass that updates it.

use super::multiplicative::{Limits, begin, conclude};
use super::{Algorithm, Setting};
use crate::error::Result;
use crate::matrix::passes::{Multiply, Products};
use crate::matrix::{Mat, Slot, Slots};
use crate::prepare::Problem;
use crate::random::uniform;
use crate::run::{Conclusion, Progress, State};
use crate::saved::Saved;
use crate::start::{Start, Stream};

/// CHNMF with its parameters.
#[derive(Debug, Clone, Copy)]
pub struct Chnmf {
    limits: Limits,
}

impl Chnmf {
    pub(super) fn from_setting(s: &Setting) -> Self {
        Chnmf { limits: Limits::from_setting(s) }
    }
}

struct ChState<'a> {
    limits: Limits,
    problem: &'a Problem<'a>,
    slots: Box<dyn Slots + 'a>,
    u: Mat,
    mvt: Mat,
    vvt: Mat,
    error: f64,
}

impl Algorithm for Chnmf {
    fn begin<'a>(
        &self,
        problem: &'a Problem<'a>,
        start: &Start,
        streams: &[Stream],
    ) -> Result<Box<dyn State + 'a>> {
        let (mut slots, own) = begin(problem, start, streams)?;
        let (vvt, mvt) = slots.sweep(&Products { k: problem.k })?;
        let u = own.unwrap_or_else(|| {
            if *start == Start::Random {
                let mut generator = streams[0].generator();
                // V took the first numbers of the stream.
                generator.set_stream(streams[0].run | 1 << 63);
                Mat::from_fn(mvt.rows, mvt.cols, |_, _| uniform(&mut generator))
            } else {
                mvt.clone()
            }
        });
        Ok(Box::new(ChState { limits: self.limits, problem, slots, u, mvt, vvt, error: f64::INFINITY }))
    }

    fn max_iterations(&self, start: &Start) -> usize {
        self.limits.max_iterations(start)
    }
}

impl ChState<'_> {
    /// `‖M − UV‖²` from the products at hand.
    fn error2(&self) -> f64 {
        let fit = self.u.transpose_times(&self.u).dot(&self.vvt) - 2.0 * self.u.dot(&self.mvt);
        (self.problem.facts().norm2 + fit).max(0.0)
    }
}

impl State for ChState<'_> {
    fn step(&mut self, _runs: &[usize]) -> Result<Vec<Progress>> {
        let floor = self.limits.floor;
        // U ← U ∘ MVᵀ / (U·VVᵀ)
        let uvvt = self.u.times(&self.vvt);
        for ((u, mvt), uvvt) in self.u.data.iter_mut().zip(&self.mvt.data).zip(&uvvt.data) {
            let new = if *uvvt > 0.0 { *u * (mvt / uvvt) } else { *u };
            *u = if new > floor { new } else { floor };
        }
        // The objective is taken here, where U fits V. The V step swaps the scale of V for its inverse and
        // the next U step mends that: after the V step the error swings between two values.
        let objective = self.error2();
        // V ← V ∘ UᵀM / (V·MᵀU·V), with the k × k matrix V·MᵀU = (MVᵀ)ᵀU of the old V.
        let q = self.mvt.transpose_times(&self.u);
        let (new, mvt) = self.slots.sweep(&Multiply::new(self.u.clone(), &q, 1.0, floor))?;
        (self.mvt, self.vvt) = (mvt, new.vvt);
        // |‖M − UV‖ − ‖M − UV‖ before| / ‖M‖ < 1e-7 after both steps [P, Sec. 4]; because of the swing it
        // is rarely met before the limit of iterations.
        let error = (self.error2() / self.problem.facts().norm2).sqrt();
        let residual = (self.error - error).abs();
        self.error = error;
        Ok(vec![Progress { objective, residual, converged: residual < self.limits.tolerance }])
    }

    fn conclude(&mut self, _run: usize) -> Result<Conclusion> {
        conclude(self.problem, &mut *self.slots)
    }

    fn save(&mut self) -> Result<Saved> {
        let mut saved = Saved::default();
        saved.put_slot(&mut *self.slots, Slot::V)?;
        for (name, mat) in [("u", &self.u), ("mvt", &self.mvt), ("vvt", &self.vvt)] {
            saved.put(name, mat);
        }
        saved.put("error", &self.error);
        Ok(saved)
    }

    fn restore(&mut self, mut saved: Saved) -> Result<()> {
        let (points, k) = (self.problem.data.shape().points, self.problem.k);
        saved.take_slot(&mut *self.slots, Slot::V, points, k)?;
        for (name, mat) in [("u", &mut self.u), ("mvt", &mut self.mvt), ("vvt", &mut self.vvt)] {
            *mat = saved.take_mat(name, mat.rows, mat.cols)?;
        }
        self.error = saved.take("error")?;
        Ok(())
    }
}
