//! What a pass sees: some points that follow each other, tile by tile, and where what they add goes.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Mutex, OnceLock};

use super::rough::SideBySide;
use super::{Engine, Piece};
use crate::matrix::kernels::lanes::Rows;
use crate::matrix::points::{Packed, PowerStep, Sums};
use crate::matrix::seam::AnyPass;
use crate::matrix::{Mat, Shape};

/// The part of an array beside the data that belongs to some points.
#[derive(Debug)]
pub enum ArrayMut<'a> {
    /// So many numbers for each.
    Numbers(&'a mut [f64], usize),
    /// A label for each.
    Labels(&'a mut [i32]),
}

impl<'a> ArrayMut<'a> {
    /// Those of the first so many points, and the others.
    pub(super) fn split_at(self, points: usize) -> (Self, Self) {
        match self {
            ArrayMut::Numbers(numbers, each) => {
                let (left, right) = numbers.split_at_mut(points * each);
                (ArrayMut::Numbers(left, each), ArrayMut::Numbers(right, each))
            }
            ArrayMut::Labels(labels) => {
                let (left, right) = labels.split_at_mut(points);
                (ArrayMut::Labels(left), ArrayMut::Labels(right))
            }
        }
    }

    /// The numbers of an array that was declared as such.
    pub fn numbers(&mut self) -> &mut [f64] {
        match self {
            ArrayMut::Numbers(numbers, _) => numbers,
            ArrayMut::Labels(_) => panic!("the pass has declared labels here"),
        }
    }

    /// The labels of an array that was declared as such.
    pub fn labels(&mut self) -> &mut [i32] {
        match self {
            ArrayMut::Labels(labels) => labels,
            ArrayMut::Numbers(..) => panic!("the pass has declared numbers here"),
        }
    }
}

/// A pass, and what all points share that it is run over, made when it is first needed.
pub(crate) struct Ready<'a> {
    pub(super) pass: &'a dyn AnyPass,
    groups: Vec<Group<'a>>,
    /// Matrices of earlier passes, whose memory may be used.
    old: Mutex<Vec<Packed>>,
    /// The pass's own columns of each run in another layout; none where they serve as they are.
    own: Vec<OnceLock<Option<Mat>>>,
    /// The columns of all runs, for rough iterations.
    side_by_side: OnceLock<SideBySide>,
}

/// Runs whose matrices are multiplied in one product.
struct Group<'a> {
    runs: Range<usize>,
    u: Cow<'a, Mat>,
    packed: OnceLock<Packed>,
    rough: OnceLock<Option<Packed>>,
    exact: OnceLock<Packed>,
}

impl<'a> Ready<'a> {
    pub(super) fn new(pass: &'a dyn AnyPass, shape: &Shape, old: Vec<Packed>) -> Self {
        let scored = pass.scored();
        let group = |runs: Range<usize>, u: Cow<'a, Mat>| Group {
            runs,
            u,
            packed: OnceLock::new(),
            rough: OnceLock::new(),
            exact: OnceLock::new(),
        };
        // The columns of one run fit the cache, those of all do not: sparse points, which fetch rows here and there, take
        // run after run. Dense points are multiplied with all of them while they are at hand.
        let groups = if shape.sparse || scored.len() < 2 {
            scored.iter().enumerate().map(|(run, u)| group(run..run + 1, Cow::Borrowed(u))).collect()
        } else {
            let all = Mat::beside(&scored.iter().collect::<Vec<_>>());
            vec![group(0..scored.len(), Cow::Owned(all))]
        };
        let own = pass.own().iter().map(|_| OnceLock::new()).collect();
        Ready { pass, groups, old: Mutex::new(old), own, side_by_side: OnceLock::new() }
    }

    /// The matrices of this pass, for their memory.
    pub(super) fn into_packed(self) -> Vec<Packed> {
        let unused = self.old.into_inner().unwrap_or_default();
        self.groups.into_iter().filter_map(|group| group.packed.into_inner()).chain(unused).take(8).collect()
    }
}

/// Where what points add goes.
pub(crate) enum Sink<'s> {
    /// Nowhere: the pass adds nothing.
    Nothing,
    /// Into sums (of so many columns), while the points are in the cache.
    Now(&'s mut Sums, usize),
    /// Beside the points (so many numbers each), for a transposed copy.
    Many(&'s mut [f64], usize),
    /// The same for points that add to few columns.
    Few { to: &'s mut [u32], factor: &'s mut [f64], entries: usize },
    /// The same in float32: the cluster of each point in every run.
    Roughly { label: &'s mut [u8], factor: &'s mut [f32], runs: usize },
    /// So many numbers of each point, for all clusters of all runs.
    RoughlyMany(&'s mut [f32], usize),
}

/// A sink for the first so many points, and one for the others.
pub(super) fn split(sink: Sink<'_>, points: usize) -> (Sink<'_>, Sink<'_>) {
    match sink {
        Sink::Nothing => (Sink::Nothing, Sink::Nothing),
        Sink::Now(..) => unreachable!("sums are made in turn"),
        Sink::Many(b, width) => {
            let (left, right) = b.split_at_mut(points * width);
            (Sink::Many(left, width), Sink::Many(right, width))
        }
        Sink::RoughlyMany(shares, width) => {
            let (left, right) = shares.split_at_mut(points * width);
            (Sink::RoughlyMany(left, width), Sink::RoughlyMany(right, width))
        }
        Sink::Few { to, factor, entries } => {
            let ((to, to_right), (factor, factor_right)) =
                (to.split_at_mut(points * entries), factor.split_at_mut(points * entries));
            (Sink::Few { to, factor, entries }, Sink::Few { to: to_right, factor: factor_right, entries })
        }
        Sink::Roughly { label, factor, runs } => {
            let ((label, label_right), (factor, factor_right)) =
                (label.split_at_mut(points * runs), factor.split_at_mut(points * runs));
            let right = Sink::Roughly { label: label_right, factor: factor_right, runs };
            (Sink::Roughly { label, factor, runs }, right)
        }
    }
}

/// Some points that follow each other. Positions count from its first point, tiles are ranges of positions.
pub struct Strip<'s> {
    /// The number of its first point in the whole data.
    pub first: usize,
    count: usize,
    piece: Option<Piece<'s>>,
    /// The position of its first point in the piece.
    at: usize,
    ready: &'s Ready<'s>,
    scale: f64,
    weights: Option<&'s [f64]>,
    norms2: &'s [f64],
    sink: Sink<'s>,
}

impl<'s> Strip<'s> {
    pub(super) fn new(
        engine: &'s Engine,
        ready: &'s Ready<'s>,
        piece: Option<Piece<'s>>,
        rows: Range<usize>,
        sink: Sink<'s>,
    ) -> Self {
        let here = rows.start - engine.rows.start..rows.end - engine.rows.start;
        Strip {
            first: rows.start,
            count: rows.len(),
            at: piece.map_or(0, |piece| rows.start - piece.first),
            piece,
            ready,
            scale: engine.scale,
            weights: engine.weights.as_ref().map(|weights| &weights[here.clone()]),
            // Not known yet on the first look.
            norms2: engine.norms2.get(here).unwrap_or(&[]),
            sink,
        }
    }

    fn piece(&self) -> &Piece<'s> {
        self.piece.as_ref().expect("the pass has said that it reads points")
    }

    fn rows(&self, tile: &Range<usize>) -> Range<usize> {
        self.at + tile.start..self.at + tile.end
    }

    /// How many points it has.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Runs of points that fit the cache.
    pub fn tiles(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let (count, tile) = (self.count, self.piece.map_or(64, |piece| piece.points.tile()));
        (0..count).step_by(tile).map(move |from| from..(from + tile).min(count))
    }

    /// Points of its largest tile.
    pub fn most(&self) -> usize {
        self.piece.map_or(64, |piece| piece.points.tile()).min(self.count)
    }

    /// The power of two that entries are multiplied by.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// Whether points have weights of their own.
    pub fn weighted(&self) -> bool {
        self.weights.is_some()
    }

    /// The weight of a point.
    #[inline(always)]
    pub fn weight(&self, p: usize) -> f64 {
        self.weights.map_or(1.0, |w| w[p])
    }

    /// Its square root.
    #[inline(always)]
    pub fn root_weight(&self, p: usize) -> f64 {
        self.weights.map_or(1.0, |w| w[p].sqrt())
    }

    /// `‖m‖²` of a point.
    #[inline(always)]
    pub fn norm2(&self, p: usize) -> f64 {
        self.norms2[p]
    }

    /// Rows of `width` numbers, one for each point of a tile, times the square roots of the weights.
    pub fn times_root_weights(&self, tile: &Range<usize>, width: usize, rows: &mut [f64]) {
        if self.weighted() && width > 0 {
            for (row, p) in rows.chunks_exact_mut(width).zip(tile.clone()) {
                let w = self.root_weight(p);
                row.iter_mut().for_each(|x| *x *= w);
            }
        }
    }

    /// Scores closer than this (relative) are ties.
    pub fn tie(&self) -> f64 {
        self.piece().points.tie()
    }

    /// Half the distance from 1 to the next number of the data's format.
    pub fn rounding(&self) -> f64 {
        self.piece().points.rounding()
    }

    /// How many products it takes to multiply a tile with the matrices of all runs.
    pub fn groups(&self) -> usize {
        self.ready.groups.len()
    }

    /// The runs of a product.
    pub fn runs(&self, group: usize) -> Range<usize> {
        self.ready.groups[group].runs.clone()
    }

    fn packed(&self, group: usize) -> &Packed {
        let group = &self.ready.groups[group];
        group.packed.get_or_init(|| {
            let old = self.ready.old.lock().ok().and_then(|mut old| old.pop());
            self.piece().points.pack(old, &group.u, self.scale)
        })
    }

    /// Products of a tile, or of those of its points that `list` names, with all columns of a group's runs.
    pub fn scores(&self, group: usize, tile: Range<usize>, list: Option<&[u32]>, out: &mut [f64]) {
        self.piece().points.scores(self.rows(&tile), list, self.packed(group), out);
    }

    /// For each point of a tile the column with the largest product, the first of ties, and that product; with `adds` the
    /// points add themselves times weight and product to it. False where it takes `scores` and `add_few` to do so.
    pub fn nearest(
        &mut self,
        group: usize,
        tile: Range<usize>,
        to: &mut [u32],
        strength: &mut [f64],
        adds: bool,
    ) -> bool {
        self.packed(group);
        let (rows, scale) = (self.rows(&tile), self.scale);
        let weight = self.weights.map(|weights| &weights[tile]);
        let step = match &mut self.sink {
            _ if !adds => None,
            Sink::Now(sums, _) => Some(PowerStep { sums, scale, weight }),
            _ => return false,
        };
        let (Some(piece), Some(u)) = (&self.piece, self.ready.groups[group].packed.get()) else {
            return false;
        };
        piece.points.nearest(rows, u, to, strength, step)
    }

    fn rough(&self, group: usize) -> Option<&Packed> {
        let group = &self.ready.groups[group];
        group.rough.get_or_init(|| self.piece().points.pack_rough(&group.u, self.scale)).as_ref()
    }

    /// Whether there are products in float32 that are faster.
    pub fn is_rough(&self, group: usize) -> bool {
        self.rough(group).is_some()
    }

    /// As `scores` in float32, where `is_rough` says that there is such a form.
    pub fn rough_scores(&self, group: usize, tile: Range<usize>, list: Option<&[u32]>, out: &mut [f32]) {
        let u = self.rough(group).expect("asked before");
        self.piece().points.rough_scores(self.rows(&tile), list, u, out);
    }

    /// How wrong a rough score may be, relative to the norms of point and column.
    pub fn roughness(&self, p: usize) -> f64 {
        self.piece().points.roughness(self.at + p)
    }

    /// As `scores` in float64, whatever the format of the data.
    pub fn scores_exact(&self, group: usize, tile: Range<usize>, out: &mut [f64]) {
        let group = &self.ready.groups[group];
        let u = group.exact.get_or_init(|| self.piece().points.pack_exact(&group.u, self.scale));
        self.piece().points.scores_exact(self.rows(&tile), u, out);
    }

    /// The product of each point of a tile with its own column `to` of one of [`crate::matrix::Pass::own`], in float64.
    pub fn dots(&self, which: usize, tile: Range<usize>, to: &[u32], out: &mut [f64]) {
        let points = self.piece().points;
        let given = &self.ready.pass.own()[which];
        let own = self.ready.own[which].get_or_init(|| match points.columns(given) {
            Cow::Owned(laid_out) => Some(laid_out),
            Cow::Borrowed(_) => None,
        });
        points.dots_one(self.rows(&tile), self.scale, to, own.as_ref().unwrap_or(given), out);
    }

    /// `mᵀu` of one point in float64.
    pub fn dot(&self, p: usize, u: &[f64]) -> f64 {
        self.piece().points.dot(self.at + p, self.scale, u)
    }

    /// `‖m − v·u‖²` of one point, without cancellation.
    pub fn residual2(&self, p: usize, u: &[f64], u_norm2: f64, v: f64) -> f64 {
        self.piece().points.residual2(self.at + p, self.scale, u, u_norm2, v)
    }

    /// Every stored entry of a point, scaled.
    pub fn entries(&self, p: usize, f: &mut dyn FnMut(usize, f64)) {
        let scale = self.scale;
        self.piece().points.for_each(self.at + p, &mut |feature, x| f(feature, x * scale));
    }

    /// The position of its first point in the piece of memory that holds it.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn look(&self) -> crate::matrix::points::Seen {
        self.piece().points.look(self.at..self.at + self.count)
    }

    /// The square of a norm below which a point is too small to be computed with.
    pub(crate) fn faint2(&self) -> f64 {
        self.piece().points.shape().format.faint().powi(2)
    }

    pub(crate) fn norm2_of(&self, p: usize) -> f64 {
        self.piece().points.norm2(self.at + p, self.scale)
    }

    /// The points of a tile add themselves times `b` (tile × width) to the sums.
    pub fn add(&mut self, tile: Range<usize>, b: &[f64]) {
        let (rows, scale) = (self.rows(&tile), self.scale);
        match &mut self.sink {
            Sink::Now(sums, _) => {
                let piece = self.piece.as_ref().expect("the pass has said that it reads points");
                piece.points.add(sums, rows, scale, b);
            }
            Sink::Many(all, width) => all[tile.start * *width..tile.end * *width].copy_from_slice(b),
            _ => unreachable!("the pass has said that its points add to all columns"),
        }
    }

    /// The points of a tile add themselves times `factor` to the columns `to` (both tile × entries) of the sums.
    pub fn add_few(&mut self, tile: Range<usize>, to: &[u32], factor: &[f64]) {
        let (rows, scale) = (self.rows(&tile), self.scale);
        match &mut self.sink {
            Sink::Now(sums, width) => {
                let piece = self.piece.as_ref().expect("the pass has said that it reads points");
                piece.points.add_few(sums, rows, scale, to, factor, *width);
            }
            Sink::Few { to: all_to, factor: all, entries } => {
                let range = tile.start * *entries..tile.end * *entries;
                all_to[range.clone()].copy_from_slice(to);
                all[range].copy_from_slice(factor);
            }
            _ => unreachable!("the pass has said that its points add to few columns"),
        }
    }

    /// All of its points, for [`SideBySide`].
    pub(crate) fn in_lanes(&self) -> Rows {
        self.piece().points.in_lanes(self.at..self.at + self.count, self.scale)
    }

    /// The columns of all runs, as rough passes multiply points with them.
    pub(crate) fn side_by_side(&self) -> &SideBySide {
        let scored = self.ready.pass.scored();
        self.ready.side_by_side.get_or_init(|| SideBySide::new(scored))
    }

    /// In each run a point adds itself times `factor` to the column of its cluster (points × runs), in float32.
    pub(crate) fn add_roughly(&mut self, label: &[u8], factor: &[f32]) {
        let Sink::Roughly { label: all, factor: factors, .. } = &mut self.sink else {
            unreachable!("the pass has said that its points add in float32")
        };
        all.copy_from_slice(label);
        factors.copy_from_slice(factor);
    }

    /// In each run a point adds itself to all clusters, times these (points × runs × k), in float32.
    pub(crate) fn share_roughly(&mut self, shares: &[f32]) {
        let Sink::RoughlyMany(all, _) = &mut self.sink else {
            unreachable!("the pass has said that its points add to all clusters in float32")
        };
        all.copy_from_slice(shares);
    }
}
