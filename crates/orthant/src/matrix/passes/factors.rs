//! What starts and finishes do to V alone, and `V ← UᵀM`.

use std::ops::Range;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::assign::largest;
use crate::bytes::bytes_of;
use crate::error::Result;
use crate::matrix::engine::{ArrayMut, Strip};
use crate::matrix::seam::{Pass, Slot, Sum, Use};
use crate::matrix::{Mat, Shape};

/// `V ← UᵀM`.
#[derive(Debug, Clone)]
pub struct Scores {
    /// features × k.
    u: Vec<Mat>,
}
bytes_of!(Scores { u });

impl Scores {
    /// With U, features × k.
    pub fn new(u: Mat) -> Self {
        Scores { u: vec![u] }
    }
}

impl Pass for Scores {
    const NAME: &'static str = "scores";
    type Part = ();

    fn empty(&self) {}

    fn slots(&self) -> Vec<Use> {
        vec![Use::Numbers(Slot::V, self.u[0].cols)]
    }

    fn scored(&self) -> &[Mat] {
        &self.u
    }

    fn strip(&self, strip: &mut Strip, arrays: &mut [ArrayMut], _: &mut ()) -> Result<()> {
        let (k, v) = (self.u[0].cols, arrays[0].numbers());
        for tile in strip.tiles() {
            let v = &mut v[tile.start * k..tile.end * k];
            strip.scores(0, tile.clone(), None, v);
            strip.times_root_weights(&tile, k, v);
        }
        Ok(())
    }
}

/// A pass over V alone: `f` of the strip, a position and its row, which it changes.
macro_rules! over_v {
    ($pass:ident, $name:literal, |$self:ident| $k:expr, |$strip:ident, $p:ident, $row:ident| $body:expr) => {
        impl Pass for $pass {
            const NAME: &'static str = $name;
            type Part = ();

            fn empty(&self) {}

            fn slots(&self) -> Vec<Use> {
                let $self = self;
                vec![Use::Numbers(Slot::V, $k)]
            }

            fn reads_points(&self) -> bool {
                false
            }

            fn cost(&self, shape: &Shape) -> usize {
                let $self = self;
                shape.points.saturating_mul($k * $k)
            }

            fn strip(&self, $strip: &mut Strip, arrays: &mut [ArrayMut], _: &mut ()) -> Result<()> {
                let $self = self;
                for ($p, $row) in arrays[0].numbers().chunks_exact_mut($k.max(1)).enumerate() {
                    $body
                }
                Ok(())
            }
        }
    };
}

/// `V ← A·V`, for square A.
#[derive(Debug, Clone)]
pub struct Transform {
    /// k × k.
    pub a: Mat,
}
bytes_of!(Transform { a });

over_v!(Transform, "transform", |pass| pass.a.rows, |_strip, _p, row| {
    let old = row.to_vec();
    for (i, new) in row.iter_mut().enumerate() {
        *new = pass.a.row(i).iter().zip(&old).map(|(a, v)| a * v).sum();
    }
});

/// Row i of V becomes `max(factorᵢ·vᵢ, 0)`, and entries that are 0 become `fill`.
#[derive(Debug, Clone)]
pub struct TakePositive {
    /// One for each row.
    pub factors: Vec<f64>,
    /// In place of zeros.
    pub fill: f64,
}
bytes_of!(TakePositive { factors, fill });

over_v!(TakePositive, "take positive", |pass| pass.factors.len(), |strip, p, row| {
    for (v, factor) in row.iter_mut().zip(&pass.factors) {
        let part = (factor * *v).max(0.0);
        *v = if part > 0.0 { part } else { pass.fill * strip.root_weight(p) };
    }
});

/// Fills some of the k rows of V with uniform random numbers that depend on (seed, stream) and the
/// point alone; zero points get 0.
#[derive(Debug, Clone)]
pub struct FillRandom {
    /// Which rows.
    pub rows: Range<usize>,
    /// Of how many.
    pub k: usize,
    /// The seed.
    pub seed: u64,
    /// Its stream.
    pub stream: u64,
}
bytes_of!(FillRandom { rows, k, seed, stream });

over_v!(FillRandom, "fill random", |pass| pass.k, |strip, p, row| {
    // A generator for each point, by its number in the whole data, so that no cut shows in the numbers.
    let mut random = ChaCha8Rng::seed_from_u64(pass.seed);
    random.set_stream(pass.stream);
    random.set_word_pos((strip.first + p) as u128 * 2 * pass.k as u128);
    let w = if strip.norm2(p) > 0.0 { strip.root_weight(p) } else { 0.0 };
    for (i, v) in row.iter_mut().enumerate() {
        if pass.rows.contains(&i) {
            *v = crate::random::uniform(&mut random) * w;
        }
    }
});

/// `V(i, j) ← ‖mⱼ‖` where point j has label i in a run, 0 elsewhere.
#[derive(Debug, Clone)]
pub struct Indicate {
    /// Rows of V.
    pub k: usize,
    /// The run.
    pub run: usize,
}
bytes_of!(Indicate { k, run });

impl Pass for Indicate {
    const NAME: &'static str = "indicate";
    type Part = ();

    fn empty(&self) {}

    fn slots(&self) -> Vec<Use> {
        vec![Use::Numbers(Slot::V, self.k), Use::Labels(self.run)]
    }

    fn reads_points(&self) -> bool {
        false
    }

    fn cost(&self, shape: &Shape) -> usize {
        shape.points.saturating_mul(self.k)
    }

    fn strip(&self, strip: &mut Strip, arrays: &mut [ArrayMut], _: &mut ()) -> Result<()> {
        let [v, labels] = arrays else { unreachable!("two slots are declared") };
        for (p, (row, &label)) in v.numbers().chunks_exact_mut(self.k.max(1)).zip(&*labels.labels()).enumerate() {
            row.fill(0.0);
            if let Some(v) = usize::try_from(label).ok().and_then(|i| row.get_mut(i)) {
                *v = strip.norm2(p).sqrt() * strip.root_weight(p);
            }
        }
        Ok(())
    }
}

/// Labels of a run ← the largest entry of each column of V, each row times a factor; −1 for a zero point.
#[derive(Debug, Clone)]
pub struct LabelByV {
    /// One for each row of V.
    pub factors: Vec<f64>,
    /// The run.
    pub run: usize,
    /// Entries closer than this (relative) are ties.
    pub tie: f64,
}
bytes_of!(LabelByV { factors, run, tie });

impl Pass for LabelByV {
    const NAME: &'static str = "label by V";
    type Part = ();

    fn empty(&self) {}

    fn slots(&self) -> Vec<Use> {
        vec![Use::Numbers(Slot::V, self.factors.len()), Use::Labels(self.run)]
    }

    fn reads_points(&self) -> bool {
        false
    }

    fn cost(&self, shape: &Shape) -> usize {
        shape.points.saturating_mul(self.factors.len())
    }

    fn strip(&self, strip: &mut Strip, arrays: &mut [ArrayMut], _: &mut ()) -> Result<()> {
        let [v, labels] = arrays else { unreachable!("two slots are declared") };
        let k = self.factors.len();
        let mut row = vec![0.0; k];
        for (p, (v, label)) in v.numbers().chunks_exact(k.max(1)).zip(labels.labels()).enumerate() {
            row.iter_mut().zip(v).zip(&self.factors).for_each(|((x, v), factor)| *x = v * factor);
            *label = if strip.norm2(p) == 0.0 { -1 } else { largest(&row, self.tie) as i32 };
        }
        Ok(())
    }
}

/// `‖max(vᵢ, 0)‖²` for every row of V, then `‖min(vᵢ, 0)‖²`.
#[derive(Debug, Clone)]
pub struct Signs {
    /// Rows of V.
    pub k: usize,
}
bytes_of!(Signs { k });

impl Pass for Signs {
    const NAME: &'static str = "signs";
    type Part = Sum;

    fn empty(&self) -> Sum {
        Sum(vec![0.0; 2 * self.k])
    }

    fn slots(&self) -> Vec<Use> {
        vec![Use::Numbers(Slot::V, self.k)]
    }

    fn reads_points(&self) -> bool {
        false
    }

    fn cost(&self, shape: &Shape) -> usize {
        shape.points.saturating_mul(self.k)
    }

    fn strip(&self, _: &mut Strip, arrays: &mut [ArrayMut], signs: &mut Sum) -> Result<()> {
        let (positive, negative) = signs.0.split_at_mut(self.k);
        for v in arrays[0].numbers().chunks_exact(self.k.max(1)) {
            for ((positive, negative), v) in positive.iter_mut().zip(&mut *negative).zip(v) {
                *positive += v.max(0.0) * v.max(0.0);
                *negative += v.min(0.0) * v.min(0.0);
            }
        }
        Ok(())
    }
}
