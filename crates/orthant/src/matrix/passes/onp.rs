//! The passes of ONP-MF: one fused pass over the data, and trials that touch V and D alone.

use crate::bytes::bytes_of;
use crate::error::Result;
use crate::matrix::engine::{ArrayMut, Strip};
use crate::matrix::kernels::tall::{self, add_gram};
use crate::matrix::kernels::{Kernel, Real, run};
use crate::matrix::seam::{Adds, Part, Pass, Slot, Sum, Use};
use crate::matrix::{Mat, Shape};

/// The V step that was chosen: `V ← root·(V + beta·D)`, then `Λ ← max(0, Λ − alpha·V)`. As a pass it makes it without
/// going on.
#[derive(Debug, Clone)]
pub struct Accept {
    /// Step length.
    pub beta: f64,
    /// `(YYᵀ)^(−1/2)`, k × k.
    pub root: Mat,
    /// Step of the multipliers.
    pub alpha: f64,
}
bytes_of!(Accept { beta, root, alpha });

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

/// Accepts the last step if there was one, then `D ← UᵀM − UᵀU·V + Λ + rho·max(−V, 0)`; sums `MDᵀ` and tells all that the
/// next line search and U step need.
#[derive(Debug, Clone)]
pub struct Step {
    u: Vec<Mat>,
    utu: Mat,
    rho: f64,
    accept: Option<Accept>,
}
bytes_of!(Step { u, utu, rho, accept });

impl Step {
    /// With U (features × k), `UᵀU` and ρ.
    pub fn new(u: Mat, utu: Mat, rho: f64, accept: Option<Accept>) -> Self {
        Step { u: vec![u], utu, rho, accept }
    }
}

/// What [`Step`] tells; T is `UᵀM + Λ`.
#[derive(Debug, Clone)]
pub struct Stepped {
    /// `VVᵀ`.
    pub vvt: Mat,
    /// `VDᵀ`.
    pub vdt: Mat,
    /// `DDᵀ`.
    pub ddt: Mat,
    /// `TVᵀ`.
    pub tvt: Mat,
    /// `TDᵀ`.
    pub tdt: Mat,
    /// `‖min(V, 0)‖²`.
    pub negative2: f64,
}
bytes_of!(Stepped { vvt, vdt, ddt, tvt, tdt, negative2 });

impl Part for Stepped {
    fn merge(&mut self, after: Self) {
        self.vvt.merge(after.vvt);
        self.vdt.merge(after.vdt);
        self.ddt.merge(after.ddt);
        self.tvt.merge(after.tvt);
        self.tdt.merge(after.tdt);
        self.negative2 += after.negative2;
    }
}

impl Pass for Step {
    const NAME: &'static str = "step";
    type Part = Stepped;

    fn empty(&self) -> Stepped {
        let zero = || Mat::zeros(self.utu.rows, self.utu.rows);
        Stepped { vvt: zero(), vdt: zero(), ddt: zero(), tvt: zero(), tdt: zero(), negative2: 0.0 }
    }

    fn slots(&self) -> Vec<Use> {
        [Slot::V, Slot::D, Slot::Lambda].map(|slot| Use::Numbers(slot, self.utu.rows)).to_vec()
    }

    fn scored(&self) -> &[Mat] {
        &self.u
    }

    fn adds(&self) -> Adds {
        Adds::Many(self.utu.rows)
    }

    fn strip(&self, strip: &mut Strip, arrays: &mut [ArrayMut], part: &mut Stepped) -> Result<()> {
        let [v, d, lambda] = arrays else { unreachable!("three slots are declared") };
        let (v, d, lambda) = (v.numbers(), d.numbers(), lambda.numbers());
        let k = self.utu.rows;
        let size = strip.most() * k;
        let (mut t, mut y) = (vec![0.0; size], vec![0.0; size]);
        for tile in strip.tiles() {
            let range = tile.start * k..tile.end * k;
            let (t, y) = (&mut t[..range.len()], &mut y[..range.len()]);
            let (v, d, lambda) = (&mut v[range.clone()], &mut d[range.clone()], &mut lambda[range]);
            strip.scores(0, tile.clone(), None, t);
            strip.times_root_weights(&tile, k, t);
            if let Some(accept) = &self.accept {
                take(accept, v, d, lambda, y);
            }
            // D = T − UᵀU·V + ρ·max(−V, 0)  [P, eq. (lag): −∇_V L]
            run(tall::Times { a: v, k, r: &self.utu.data, l: k, out: y });
            part.negative2 += run(Direction { v, lambda, y, t, d, rho: self.rho });
            add_gram(&mut part.vvt, v, v);
            add_gram(&mut part.vdt, v, d);
            add_gram(&mut part.ddt, d, d);
            add_gram(&mut part.tvt, t, v);
            add_gram(&mut part.tdt, t, d);
            if strip.weighted() {
                t.copy_from_slice(d);
                strip.times_root_weights(&tile, k, t);
                strip.add(tile, t);
            } else {
                strip.add(tile, d);
            }
        }
        Ok(())
    }
}

/// Points of V and D that a trial holds in the first-level cache.
const TILE: usize = 64;

/// Tells `‖min(root·(V + beta·D), 0)‖²` for each trial.
#[derive(Debug, Clone)]
pub struct Trial {
    /// Step lengths and their roots, k × k.
    pub trials: Vec<(f64, Mat)>,
}
bytes_of!(Trial { trials });

impl Pass for Trial {
    const NAME: &'static str = "trial";
    type Part = Sum;

    fn empty(&self) -> Sum {
        Sum(vec![0.0; self.trials.len()])
    }

    fn slots(&self) -> Vec<Use> {
        [Slot::V, Slot::D].map(|slot| Use::Numbers(slot, self.trials[0].1.rows)).to_vec()
    }

    fn reads_points(&self) -> bool {
        false
    }

    fn cost(&self, shape: &Shape) -> usize {
        // As quick as dense points.
        shape.points.saturating_mul(self.trials.len() * self.trials[0].1.data.len()) / 2
    }

    fn strip(&self, _: &mut Strip, arrays: &mut [ArrayMut], negative2: &mut Sum) -> Result<()> {
        let [v, d] = arrays else { unreachable!("two slots are declared") };
        let size = TILE * self.trials[0].1.rows;
        let (mut y, mut new) = (vec![0.0; size], vec![0.0; size]);
        for (v, d) in v.numbers().chunks(size).zip(d.numbers().chunks(size)) {
            let (y, new) = (&mut y[..v.len()], &mut new[..v.len()]);
            for ((beta, root), sum) in self.trials.iter().zip(&mut negative2.0) {
                project(v, d, *beta, root, y, new);
                *sum += run(NegativeNorm2(new));
            }
        }
        Ok(())
    }
}

impl Pass for Accept {
    const NAME: &'static str = "accept";
    type Part = ();

    fn empty(&self) {}

    fn slots(&self) -> Vec<Use> {
        [Slot::V, Slot::D, Slot::Lambda].map(|slot| Use::Numbers(slot, self.root.rows)).to_vec()
    }

    fn reads_points(&self) -> bool {
        false
    }

    fn cost(&self, shape: &Shape) -> usize {
        shape.points.saturating_mul(self.root.data.len()) / 2
    }

    fn strip(&self, _: &mut Strip, arrays: &mut [ArrayMut], _: &mut ()) -> Result<()> {
        let [v, d, lambda] = arrays else { unreachable!("three slots are declared") };
        let size = TILE * self.root.rows;
        let mut y = vec![0.0; size];
        let blocks = v.numbers().chunks_mut(size).zip(d.numbers().chunks(size));
        for ((v, d), lambda) in blocks.zip(lambda.numbers().chunks_mut(size)) {
            take(self, v, d, lambda, &mut y[..d.len()]);
        }
        Ok(())
    }
}
