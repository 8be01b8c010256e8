//! CHNMF: multiplicative updates along the Stiefel manifold (Choi, IJCNN 2008).
//!
//! Problem: `min ‖M − UV‖²` over U, V ≥ 0, with VVᵀ = I reached only in the limit.
//! Updates: `V ← V ∘ UᵀM / (V·MᵀU·V)`; every row of V is divided by its sum; `U ← U ∘ MVᵀ / (U·VVᵀ)`; entries
//! stay above a floor. The label of point j is `argmaxᵢ V_ij·‖uᵢ‖₁`, whichever way U and V share their scale.
//! Cost of an iteration: one pass over M, as `MVᵀ` of the new V is summed in the pass that updates it, and the
//! division is left to the next one.
//!
//! Neither the division nor that label is in the papers of Choi or of Pompili et al.: both were chosen by the accuracies
//! that the latter prints for the SVD start (docs/learned.md). `rows = plain` leaves the division out; V then has its scale inverted by
//! every V step, and U makes up for it.

use super::multiplicative::{begin, conclude, most};
use super::parameters::{Field, declare, named, real, whole};
use super::{Algorithm, ONMF};
use crate::error::Result;
use crate::matrix::passes::{Multiply, Products};
use crate::matrix::{Mat, Slot, Slots};
use crate::prepare::Problem;
use crate::random::uniform;
use crate::run::{Conclusion, Progress, State};
use crate::saved::Saved;
use crate::start::{Start, Stream};

/// The least `‖M − UV‖²/‖M‖²` that is told from rounding, as a difference of sums of the size of `‖M‖²`.
const LEAST: f64 = 1e-14;

declare! {
    name: "chnmf",
    title: "CHNMF",
    summary: "multiplicative updates along the Stiefel manifold (Choi 2008); labels by V_ij·‖uᵢ‖₁",
    starts: &["random", "nndsvd"],
    ..ONMF;

    /// CHNMF with its parameters.
    pub struct Chnmf {
        /// stop when the error changes by less, relative to what it was
        tolerance: f64 = real(2e-9, 0.0, 1.0),
        /// stop after this many iterations (5000; 20000 from an SVD start)
        max_iterations: Option<usize> = whole(f64::NAN, 1.0),
        /// entries do not fall below this
        floor: f64 = real(1e-16, 0.0, 1.0),
        /// divide every row of V by its sum in each iteration, or leave it plain
        rows: Rows = named(Rows::Sum as usize, Rows::NAMES),
    }
}

/// What becomes of the rows of V in every iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rows {
    /// They are divided by their sums.
    Sum,
    /// Nothing.
    Plain,
}

impl Rows {
    const NAMES: &[&str] = &["sum", "plain"];
}

impl Field for Rows {
    fn from_number(number: f64) -> Self {
        [Rows::Sum, Rows::Plain][number as usize]
    }
    fn number(self) -> f64 {
        self as usize as f64
    }
}

struct ChState<'a> {
    method: Chnmf,
    problem: &'a Problem<'a>,
    slots: Box<dyn Slots + 'a>,
    u: Mat,
    /// What the rows of V in its slot are still to be multiplied by;
    factors: Vec<f64>,
    /// `MVᵀ` and `VVᵀ` of V as it is after that.
    mvt: Mat,
    vvt: Mat,
    /// `‖M − UV‖/‖M‖`; 0 before the first iteration.
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
        let factors = vec![1.0; problem.k];
        Ok(Box::new(ChState { method: *self, problem, slots, u, factors, mvt, vvt, error: 0.0 }))
    }

    fn max_iterations(&self, start: &Start) -> usize {
        most(self.max_iterations, start)
    }

    fn arrays(&self) -> usize {
        1
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
        let floor = self.method.floor;
        // V ← V ∘ UᵀM / (V·MᵀU·V), with the k × k matrix V·MᵀU = (MVᵀ)ᵀU of the old V.
        let q = self.mvt.transpose_times(&self.u);
        let pass = Multiply::new(self.u.clone(), &q, self.factors.clone(), floor);
        let (new, mvt) = self.slots.sweep(&pass)?;
        (self.mvt, self.vvt) = (mvt, new.vvt);
        if self.method.rows == Rows::Sum {
            // V itself is divided in the next pass.
            self.factors =
                new.row_sums.0.iter().map(|&sum| if sum > 0.0 { 1.0 / sum } else { 1.0 }).collect();
            self.mvt.scale_columns(&self.factors);
            let factors = &self.factors;
            self.vvt =
                Mat::from_fn(factors.len(), factors.len(), |i, j| self.vvt[(i, j)] * factors[i] * factors[j]);
        }
        // U ← U ∘ MVᵀ / (U·VVᵀ)
        let uvvt = self.u.times(&self.vvt);
        for ((u, mvt), uvvt) in self.u.data.iter_mut().zip(&self.mvt.data).zip(&uvvt.data) {
            let new = if *uvvt > 0.0 { *u * (mvt / uvvt) } else { *u };
            *u = if new > floor { new } else { floor };
        }
        // The error is taken here, where U fits V: after the V step it means nothing, as that changes the scale
        // of V and leaves it to U to make up for it. The change is relative to the error before.
        let objective = self.error2();
        let error = (objective / self.problem.facts().norm2).max(LEAST).sqrt();
        let residual = (error / self.error - 1.0).abs();
        self.error = error;
        Ok(vec![Progress { objective, residual, converged: residual < self.method.tolerance }])
    }

    fn conclude(&mut self, _run: usize) -> Result<Conclusion> {
        let mut sizes = vec![0.0; self.u.cols];
        for row in self.u.data.chunks_exact(self.u.cols) {
            sizes.iter_mut().zip(row).for_each(|(size, x)| *size += x);
        }
        let factors = self.factors.iter().zip(sizes).map(|(factor, size)| factor * size).collect();
        conclude(self.problem, &mut *self.slots, factors)
    }

    fn save(&mut self) -> Result<Saved> {
        let mut saved = Saved::default();
        saved.put_slot(&mut *self.slots, Slot::V)?;
        for (name, mat) in [("u", &self.u), ("mvt", &self.mvt), ("vvt", &self.vvt)] {
            saved.put(name, mat);
        }
        saved.put("factors", &self.factors);
        saved.put("error", &self.error);
        Ok(saved)
    }

    fn restore(&mut self, mut saved: Saved) -> Result<()> {
        let (points, k) = (self.problem.data.shape().points, self.problem.k);
        saved.take_slot(&mut *self.slots, Slot::V, points, k)?;
        for (name, mat) in [("u", &mut self.u), ("mvt", &mut self.mvt), ("vvt", &mut self.vvt)] {
            *mat = saved.take_mat(name, mat.rows, mat.cols)?;
        }
        self.factors = saved
            .take_if("factors", |f: &Vec<f64>| f.len() == k && f.iter().all(|x| x.is_finite() && *x > 0.0))?;
        self.error = saved.take_finite("error")?;
        Ok(())
    }
}
