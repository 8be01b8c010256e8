//! The two looks that tell the facts: entries first, then norms of the scaled points.

use crate::bytes::bytes_of;
use crate::error::Result;
use crate::matrix::engine::{ArrayMut, Strip};
use crate::matrix::seam::{Entry, Part, Pass, Use, append};

/// The largest entry, entries that are refused, and a digest of all.
#[derive(Debug, Clone)]
pub struct Look {
    /// How many features there are.
    pub features: usize,
}
bytes_of!(Look { features });

/// What [`Look`] tells.
#[derive(Debug, Clone)]
pub struct Looked {
    /// Largest absolute entry.
    pub largest: f64,
    /// The first entry that is no finite number.
    pub not_finite: Option<Entry>,
    /// The first negative entry.
    pub negative: Option<Entry>,
    /// How many points each feature is not zero in: none, one, or 2 for more (which dense points say of every one).
    pub points_with: Vec<u8>,
    /// Of every entry and its place.
    pub digest: u64,
}
bytes_of!(Looked { largest, not_finite, negative, points_with, digest });

impl Part for Looked {
    fn merge(&mut self, after: Self) {
        self.largest = self.largest.max(after.largest);
        self.not_finite = self.not_finite.or(after.not_finite);
        self.negative = self.negative.or(after.negative);
        self.points_with.iter_mut().zip(after.points_with).for_each(|(a, b)| *a = 2.min(*a + b));
        self.digest = crate::bytes::digest([self.digest, after.digest]);
    }
}

impl Pass for Look {
    const NAME: &'static str = "look";
    type Part = Looked;

    fn empty(&self) -> Looked {
        let points_with = vec![0; self.features];
        Looked { largest: 0.0, not_finite: None, negative: None, points_with, digest: 0 }
    }

    fn slots(&self) -> Vec<Use> {
        vec![]
    }

    fn strip(&self, strip: &mut Strip, _: &mut [ArrayMut], part: &mut Looked) -> Result<()> {
        let seen = strip.look();
        // Rows were counted from the first of the piece.
        let offset = strip.first - strip.at();
        let whole = |entry: Entry| Entry { row: entry.row + offset, ..entry };
        *part = Looked {
            largest: seen.largest,
            not_finite: seen.not_finite.map(whole),
            negative: seen.negative.map(whole),
            points_with: seen.points_with,
            digest: seen.digest,
        };
        Ok(())
    }
}

/// Norms of the scaled points.
#[derive(Debug, Clone)]
pub struct Norms;
bytes_of!(Norms {});

/// What [`Norms`] tells.
#[derive(Debug, Clone)]
pub struct Normed {
    /// `‖mⱼ‖²` of every point.
    pub norms2: Vec<f64>,
    /// Points that are zero.
    pub zero: Vec<usize>,
    /// `Σⱼ wⱼ‖mⱼ‖²`.
    pub norm2: f64,
    /// `Σⱼ wⱼ` over the nonzero points.
    pub weight: f64,
    /// The first point that is not zero, but too small to be computed with.
    pub faint: Option<usize>,
    /// The least `‖mⱼ‖²` of the points that are not zero.
    pub least: f64,
}
bytes_of!(Normed { norms2, zero, norm2, weight, faint, least });

impl Part for Normed {
    fn merge(&mut self, after: Self) {
        append(&mut self.norms2, after.norms2);
        self.zero.extend(after.zero);
        self.norm2 += after.norm2;
        self.weight += after.weight;
        self.faint = self.faint.or(after.faint);
        self.least = self.least.min(after.least);
    }
}

impl Pass for Norms {
    const NAME: &'static str = "norms";
    type Part = Normed;

    fn empty(&self) -> Normed {
        Normed { norms2: vec![], zero: vec![], norm2: 0.0, weight: 0.0, faint: None, least: f64::INFINITY }
    }

    fn slots(&self) -> Vec<Use> {
        vec![]
    }

    fn strip(&self, strip: &mut Strip, _: &mut [ArrayMut], part: &mut Normed) -> Result<()> {
        let faint2 = strip.faint2();
        for p in 0..strip.len() {
            let norm2 = strip.norm2_of(p);
            part.norms2.push(norm2);
            part.norm2 += strip.weight(p) * norm2;
            if norm2 > 0.0 {
                part.weight += strip.weight(p);
                part.least = part.least.min(norm2);
                if norm2 < faint2 {
                    part.faint = part.faint.or(Some(strip.first + p));
                }
            } else {
                part.zero.push(strip.first + p);
            }
        }
        Ok(())
    }
}
