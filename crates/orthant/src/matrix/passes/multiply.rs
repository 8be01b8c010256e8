//! The fused pass of the multiplicative updates.

use crate::bytes::bytes_of;
use crate::error::Result;
use crate::matrix::Mat;
use crate::matrix::engine::{ArrayMut, Strip};
use crate::matrix::kernels::tall::{self, add_gram};
use crate::matrix::kernels::{Kernel, run};
use crate::matrix::seam::{Adds, Part, Pass, Slot, Sum, Use};

/// `V ← max(floor·w, V ∘ w·T / QV)`, `T ← w·V`; returns ⟨V new, V old⟩ and ‖V old‖².
struct Update<'a> {
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

impl Kernel for Update<'_> {
    type T = f64;
    type Out = (f64, f64);

    #[inline(always)]
    fn run<const L: usize, const FMA: bool>(self) -> (f64, f64) {
        let Update { v, t, qv, w, floor } = self;
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

/// `V ← max(√w·floor, V ∘ UᵀM / (Q·V))`, with each row of V multiplied by its factor first; sums `MVᵀ` of the
/// new V.
#[derive(Debug, Clone)]
pub struct Multiply {
    u: Vec<Mat>,
    /// Transposed.
    qt: Mat,
    factors: Vec<f64>,
    floor: f64,
}
bytes_of!(Multiply { u, qt, factors, floor });

impl Multiply {
    /// With U (features × k), Q (k × k) and a factor for each of the k rows of V.
    pub fn new(u: Mat, q: &Mat, factors: Vec<f64>, floor: f64) -> Self {
        Multiply { u: vec![u], qt: q.transpose(), factors, floor }
    }
}

/// What [`Multiply`] tells.
#[derive(Debug, Clone)]
pub struct Multiplied {
    /// `VVᵀ` of the new V.
    pub vvt: Mat,
    /// `Σⱼ wⱼ·vᵢⱼ` of the new V.
    pub row_sums: Sum,
    /// `⟨V new, V old⟩`.
    pub cross: f64,
    /// `‖V old‖²`.
    pub old2: f64,
}
bytes_of!(Multiplied { vvt, row_sums, cross, old2 });

impl Part for Multiplied {
    fn merge(&mut self, after: Self) {
        self.vvt.merge(after.vvt);
        self.row_sums.merge(after.row_sums);
        self.cross += after.cross;
        self.old2 += after.old2;
    }
}

impl Pass for Multiply {
    const NAME: &'static str = "multiply";
    type Part = Multiplied;

    fn empty(&self) -> Multiplied {
        let k = self.qt.rows;
        Multiplied { vvt: Mat::zeros(k, k), row_sums: Sum(vec![0.0; k]), cross: 0.0, old2: 0.0 }
    }

    fn slots(&self) -> Vec<Use> {
        vec![Use::Numbers(Slot::V, self.qt.rows)]
    }

    fn scored(&self) -> &[Mat] {
        &self.u
    }

    fn adds(&self) -> Adds {
        Adds::Many(self.qt.rows)
    }

    fn strip(&self, strip: &mut Strip, arrays: &mut [ArrayMut], part: &mut Multiplied) -> Result<()> {
        let (k, floor, v) = (self.qt.rows, self.floor, arrays[0].numbers());
        let size = strip.most() * k;
        let (mut scores, mut qv) = (vec![0.0; size], vec![0.0; size]);
        for tile in strip.tiles() {
            let range = tile.start * k..tile.end * k;
            let (scores, qv) = (&mut scores[..range.len()], &mut qv[..range.len()]);
            let v = &mut v[range];
            strip.scores(0, tile.clone(), None, scores);
            for v in v.chunks_exact_mut(k) {
                v.iter_mut().zip(&self.factors).for_each(|(v, factor)| *v *= factor);
            }
            run(tall::Times { a: v, k, r: &self.qt.data, l: k, out: qv });
            let mut told = |(cross, old2): (f64, f64)| {
                part.cross += cross;
                part.old2 += old2;
            };
            if strip.weighted() {
                let each = v.chunks_exact_mut(k).zip(scores.chunks_exact_mut(k)).zip(qv.chunks_exact(k));
                for (((v, t), qv), p) in each.zip(tile.clone()) {
                    told(run(Update { v, t, qv, w: strip.root_weight(p), floor }));
                }
            } else {
                told(run(Update { v, t: scores, qv, w: 1.0, floor }));
            }
            add_gram(&mut part.vvt, v, v);
            // The update left w·V where the scores were.
            for t in scores.chunks_exact(k) {
                part.row_sums.0.iter_mut().zip(t).for_each(|(sum, t)| *sum += t);
            }
            strip.add(tile, scores);
        }
        Ok(())
    }
}
