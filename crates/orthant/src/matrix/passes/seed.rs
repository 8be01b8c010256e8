//! What the directions (or centres) settled so far leave of each point, and what others would: the passes of the residual
//! start and of swaps. For KL the slot [`Slot::Information`] must have been filled.

use crate::bytes::bytes_of;
use crate::error::Result;
use crate::matrix::engine::{ArrayMut, Strip};
use crate::matrix::seam::{Pass, Slot, Sum, Use};
use crate::matrix::{Mat, Rule, Shape};

/// Each point's own part of the divergence, where the rule needs it.
fn information(rule: Rule) -> Option<Use> {
    rule.information.then_some(Use::Numbers(Slot::Information, 1))
}

fn half_norms2(columns: &Mat) -> Vec<f64> {
    columns.column_norms2().iter().map(|n| n / 2.0).collect()
}

/// Forgets all settled directions.
#[derive(Debug, Clone)]
pub struct Unsettle {
    /// By which rule points choose.
    pub rule: Rule,
}
bytes_of!(Unsettle { rule });

impl Pass for Unsettle {
    const NAME: &'static str = "unsettle";
    type Part = ();

    fn empty(&self) {}

    fn slots(&self) -> Vec<Use> {
        vec![Use::Numbers(Slot::Left, 1)]
    }

    fn reads_points(&self) -> bool {
        false
    }

    fn cost(&self, shape: &Shape) -> usize {
        shape.points
    }

    fn strip(&self, strip: &mut Strip, arrays: &mut [ArrayMut], _: &mut ()) -> Result<()> {
        for (p, left) in arrays[0].numbers().iter_mut().enumerate() {
            *left = self.rule.all_of(strip.weight(p), strip.norm2(p));
        }
        Ok(())
    }
}

/// Columns and their rule, as the three passes below share them.
macro_rules! by_columns {
    ($pass:ident, $what:literal) => {
        #[doc = $what]
        #[derive(Debug, Clone)]
        pub struct $pass {
            columns: Vec<Mat>,
            half: Vec<f64>,
            rule: Rule,
        }
        bytes_of!($pass { columns, half, rule });

        impl $pass {
            /// Directions or centres, features × count.
            pub fn new(columns: Mat, rule: Rule) -> Self {
                $pass { half: half_norms2(&columns), columns: vec![columns], rule }
            }
        }
    };
}

by_columns!(Settle, "Settles directions (or centres).");
by_columns!(Explain, "Tells what would be left in total if each column were added to those settled so far.");

impl Pass for Settle {
    const NAME: &'static str = "settle";
    type Part = ();

    fn empty(&self) {}

    fn slots(&self) -> Vec<Use> {
        std::iter::once(Use::Numbers(Slot::Left, 1)).chain(information(self.rule)).collect()
    }

    fn scored(&self) -> &[Mat] {
        &self.columns
    }

    fn strip(&self, strip: &mut Strip, arrays: &mut [ArrayMut], _: &mut ()) -> Result<()> {
        each_score(strip, arrays, self.half.len(), |strip, p, information, scores, left| {
            for (s, half) in scores.iter().zip(&self.half) {
                let new = self.rule.left(strip.weight(p), strip.norm2(p), *s, *half, information);
                *left = new.min(*left);
            }
        });
        Ok(())
    }
}

impl Pass for Explain {
    const NAME: &'static str = "explain";
    type Part = Sum;

    fn empty(&self) -> Sum {
        Sum(vec![0.0; self.half.len()])
    }

    fn slots(&self) -> Vec<Use> {
        std::iter::once(Use::Numbers(Slot::Left, 1)).chain(information(self.rule)).collect()
    }

    fn scored(&self) -> &[Mat] {
        &self.columns
    }

    fn strip(&self, strip: &mut Strip, arrays: &mut [ArrayMut], totals: &mut Sum) -> Result<()> {
        each_score(strip, arrays, self.half.len(), |strip, p, information, scores, left| {
            for ((s, half), total) in scores.iter().zip(&self.half).zip(&mut totals.0) {
                *total += self.rule.left(strip.weight(p), strip.norm2(p), *s, *half, information).min(*left);
            }
        });
        Ok(())
    }
}

/// Calls `f` with every point, its own information, its scores, and what is left of it.
fn each_score(
    strip: &Strip,
    arrays: &mut [ArrayMut],
    width: usize,
    mut f: impl FnMut(&Strip, usize, f64, &[f64], &mut f64),
) {
    let (left, information) = arrays.split_first_mut().expect("a slot is declared");
    let (left, information) = (left.numbers(), information.first_mut().map(|i| &*i.numbers()));
    let mut room = vec![0.0; strip.most() * width];
    for tile in strip.tiles() {
        let scores = &mut room[..tile.len() * width];
        strip.scores(0, tile.clone(), None, scores);
        for (scores, p) in scores.chunks_exact(width.max(1)).zip(tile) {
            f(strip, p, information.map_or(0.0, |i| i[p]), scores, &mut left[p]);
        }
    }
}

/// Tells what would be left in total if column i of `u` gave way to a candidate: candidates × k.
#[derive(Debug, Clone)]
pub struct Replace {
    both: Vec<Mat>,
    k: usize,
    half: Vec<f64>,
    rule: Rule,
}
bytes_of!(Replace { both, k, half, rule });

impl Replace {
    /// Candidates for columns of `u`, features × count and features × k.
    pub fn new(u: &Mat, candidates: &Mat, rule: Rule) -> Self {
        let both = Mat::beside(&[u, candidates]);
        Replace { half: half_norms2(&both), both: vec![both], k: u.cols, rule }
    }

    /// What the part says.
    pub fn left((beside, without): &(Sum, Mat)) -> Mat {
        Mat::from_fn(without.rows, without.cols, |c, i| beside.0[c] + without[(c, i)])
    }
}

impl Pass for Replace {
    const NAME: &'static str = "replace";
    /// With the candidate beside all of u, and what losing column i adds to that.
    type Part = (Sum, Mat);

    fn empty(&self) -> (Sum, Mat) {
        let count = self.half.len() - self.k;
        (Sum(vec![0.0; count]), Mat::zeros(count, self.k))
    }

    fn slots(&self) -> Vec<Use> {
        information(self.rule).into_iter().collect()
    }

    fn scored(&self) -> &[Mat] {
        &self.both
    }

    fn strip(&self, strip: &mut Strip, arrays: &mut [ArrayMut], part: &mut (Sum, Mat)) -> Result<()> {
        let (k, width, rule) = (self.k, self.half.len(), self.rule);
        let information = arrays.first_mut().map(|i| &*i.numbers());
        let (beside, without) = part;
        let mut room = vec![0.0; strip.most() * width];
        for tile in strip.tiles() {
            let scores = &mut room[..tile.len() * width];
            strip.scores(0, tile.clone(), None, scores);
            for (s, p) in scores.chunks_exact(width).zip(tile) {
                let (w, norm2) = (strip.weight(p), strip.norm2(p));
                if w == 0.0 || (norm2 == 0.0 && !rule.distance) {
                    continue;
                }
                let left_of = |i: usize| rule.left(w, norm2, s[i], self.half[i], information.map_or(0.0, |x| x[p]));
                let (mut first, mut second, mut own) = (f64::INFINITY, f64::INFINITY, 0);
                for i in 0..k {
                    let left = left_of(i);
                    if left < first {
                        (second, first, own) = (first, left, i);
                    } else if left < second {
                        second = left;
                    }
                }
                // With one cluster nothing would be left to choose from.
                for c in 0..width - k {
                    let new = left_of(k + c);
                    beside.0[c] += first.min(new);
                    without[(c, own)] += second.min(new) - first.min(new);
                }
            }
        }
        Ok(())
    }
}
