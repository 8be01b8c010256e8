//! Runs passes: over points in memory (`held`), read from their source a few blocks at a time (`streamed`), or held by
//! others (`shards`). They differ in where a block comes from; the way through it is here.
//!
//! A pass goes down the tree of [`Cut`]: nodes above blocks on as many threads as there are, the strips of a block in
//! turn while their sums are made in the cache, or side by side where sums are taken over a transposed copy afterwards.

mod beside;
mod facts;
mod held;
mod lanes;
mod rough;
mod shards;
mod streamed;
mod strip;

use std::collections::BTreeMap;
use std::ops::Range;

pub use beside::Budget;
pub use held::{open, open_with};
pub(crate) use rough::Scaled;
pub use shards::{Handle, Holder, Load, Sending, Spec, Transport, shards};
pub use streamed::{pick, stream, stream_within};
pub use strip::{ArrayMut, Strip};

use super::cut::{Cut, middle};
use super::kernels::lanes::NONE;
use super::points::{Points, Sums, Turned};
use super::seam::{Adds, AnyPart, AnyPass, Array, Slot, Use};
use super::{Mat, Shape, room, threads};
use crate::error::Result;
use rough::RunsAdd;
use strip::{Ready, Sink, split};

/// Runs of a pass for which a transposed copy is made.
const MANY: usize = 8;

/// What passes need to know of the points here, which may be some of a larger whole.
pub(crate) struct Engine {
    /// Of the whole data.
    pub(crate) shape: Shape,
    pub(crate) cut: Cut,
    /// Which of the points are here: whole blocks.
    pub(crate) rows: Range<usize>,
    /// The power of two that entries are multiplied by.
    pub(crate) scale: f64,
    /// Of the points here, where they have any.
    pub(crate) weights: Option<Vec<f64>>,
    /// `‖mⱼ‖²` of the points here, scaled.
    pub(crate) norms2: Vec<f64>,
}

/// A block in memory.
#[derive(Clone, Copy)]
pub(crate) struct Piece<'p> {
    pub(crate) points: &'p dyn Points,
    /// The number of its first point in the whole data.
    pub(crate) first: usize,
    /// A transposed copy of the block.
    pub(crate) turned: Option<&'p dyn Turned>,
}

/// What a node of the tree tells, and the sums of its points as its kind of points has them.
pub(crate) type Told = (Box<dyn AnyPart>, Vec<f64>);

/// Joins a node with its right neighbour.
pub(crate) fn join(left: &mut Told, right: Told) {
    left.0.merge(right.0);
    left.1.iter_mut().zip(&right.1).for_each(|(a, b)| *a += b);
    room::give(right.1);
}

/// Sums as points of this shape have them, as features × width.
fn sums_of(shape: &Shape, sums: Vec<f64>, width: usize) -> Mat {
    match (width, shape.sparse) {
        (0, _) => Mat::zeros(0, 0),
        (_, true) => Mat { rows: shape.features, cols: width, data: sums },
        (_, false) => Mat { rows: width, cols: shape.features, data: sums }.transpose(),
    }
}

/// A pass under way.
struct Sweep<'a> {
    engine: &'a Engine,
    pass: &'a dyn AnyPass,
    adds: Adds,
    ready: &'a Ready<'a>,
    /// Whether it is worth more than one thread, and may have them.
    parallel: bool,
    /// The block with this number.
    piece: &'a (dyn Fn(usize) -> Result<Piece<'a>> + Sync),
}

impl Engine {
    /// What some nodes of the tree tell. `arrays` are those that the pass uses, for the points of these strips.
    pub(crate) fn sweep<'a>(
        &'a self,
        ready: &'a Ready<'a>,
        strips: Range<usize>,
        arrays: Vec<ArrayMut>,
        piece: &'a (dyn Fn(usize) -> Result<Piece<'a>> + Sync),
    ) -> Result<Told> {
        let pass = ready.pass;
        let small = match pass.adds() {
            _ if !pass.reads_points() => threads::SMALL,
            _ if !self.shape.sparse => threads::SMALL_DENSE,
            Adds::Few { .. } => threads::SMALL_FEW,
            _ => threads::SMALL,
        };
        let parallel = !threads::alone() && pass.cost(&self.shape) >= small;
        let sweep = Sweep { engine: self, pass, adds: pass.adds(), ready, parallel, piece };
        if strips.is_empty() {
            return Ok((pass.empty(), room::zeros(self.shape.features * sweep.adds.width())));
        }
        sweep.node(strips, arrays)
    }
}

impl Sweep<'_> {
    fn node(&self, strips: Range<usize>, arrays: Vec<ArrayMut>) -> Result<Told> {
        if strips.len() <= self.engine.cut.block {
            return self.block(strips, arrays);
        }
        let (left, right, arrays_left, arrays_right) = self.halves(strips, arrays);
        let (left, right) = self.both(|| self.node(left, arrays_left), || self.node(right, arrays_right));
        let mut told = left?;
        join(&mut told, right?);
        Ok(told)
    }

    fn halves<'s>(
        &self,
        strips: Range<usize>,
        arrays: Vec<ArrayMut<'s>>,
    ) -> (Range<usize>, Range<usize>, Vec<ArrayMut<'s>>, Vec<ArrayMut<'s>>) {
        let middle = middle(&strips);
        let (left, right) = (strips.start..middle, middle..strips.end);
        let count = self.engine.cut.points_of(&left).len();
        let (arrays_left, arrays_right) = arrays.into_iter().map(|array| array.split_at(count)).unzip();
        (left, right, arrays_left, arrays_right)
    }

    fn both<A: Send>(&self, left: impl FnOnce() -> A + Send, right: impl FnOnce() -> A + Send) -> (A, A) {
        if self.parallel { rayon::join(left, right) } else { (left(), right()) }
    }

    fn block(&self, strips: Range<usize>, arrays: Vec<ArrayMut>) -> Result<Told> {
        let Engine { cut, scale, .. } = *self.engine;
        if !self.pass.reads_points() {
            return Ok((self.strips(None, strips, arrays, Sink::Nothing)?, vec![]));
        }
        let piece = (self.piece)(strips.start / cut.block)?;
        let count = cut.points_of(&strips).len();
        let some = Some(piece);
        // Sums of many runs lie far apart: a copy for one pass costs less than going to each of them for every entry.
        let made = match self.adds {
            Adds::Few { entries, .. } if entries >= MANY && piece.turned.is_none() => {
                let from = cut.points_of(&strips).start - piece.first;
                piece.points.turned(from..from + count)
            }
            _ => None,
        };
        // On one thread points that add to few columns do so faster one by one, and to the same bits.
        let turned = match self.adds {
            Adds::Many(_) => piece.turned,
            _ => piece.turned.filter(|_| self.parallel).or(made.as_deref()),
        };
        match (self.adds, turned) {
            (Adds::Nothing, _) => Ok((self.strips(some, strips, arrays, Sink::Nothing)?, vec![])),
            (Adds::Many(width), Some(turned)) => {
                let mut b = room::zeros(count * width);
                let part = self.strips(some, strips, arrays, Sink::Many(&mut b, width))?;
                let sums = turned.sum(scale, &b, width);
                room::give(b);
                Ok((part, sums))
            }
            (Adds::Few { entries, width }, Some(turned)) => {
                let (mut to, mut factor) = (vec![0; count * entries], room::zeros(count * entries));
                let sink = Sink::Few { to: &mut to, factor: &mut factor, entries };
                let part = self.strips(some, strips, arrays, sink)?;
                let sums = turned.sum_few(scale, &to, &factor, entries, width);
                room::give(factor);
                Ok((part, sums))
            }
            (Adds::Roughly { runs, k }, _) => {
                let (mut label, mut factor) = (vec![NONE; count * runs], vec![0.0; count * runs]);
                let from = cut.points_of(&strips).start - piece.first;
                let sink = Sink::Roughly { label: &mut label, factor: &mut factor, runs };
                let part = self.strips(some, strips, arrays, sink)?;
                let turned = piece.points.in_lanes(from..from + count, scale).turned();
                let added = RunsAdd::ToOne { label: &label, factor: &factor };
                Ok((part, rough::sums(&turned, count, k, runs, added)))
            }
            (Adds::RoughlyMany { runs, k }, _) => {
                let mut shares = vec![0.0; count * runs * k];
                let from = cut.points_of(&strips).start - piece.first;
                let part = self.strips(some, strips, arrays, Sink::RoughlyMany(&mut shares, runs * k))?;
                let turned = piece.points.in_lanes(from..from + count, scale).turned();
                Ok((part, rough::sums(&turned, count, k, runs, RunsAdd::ToAll(&shares))))
            }
            (adds, _) => {
                let mut sums: Sums = piece.points.sums(adds.width());
                let part = self.strips(some, strips, arrays, Sink::Now(&mut sums, adds.width()))?;
                Ok((part, piece.points.close(sums)))
            }
        }
    }

    /// The strips of a block, joined as the tree says.
    fn strips(
        &self,
        piece: Option<Piece>,
        strips: Range<usize>,
        mut arrays: Vec<ArrayMut>,
        sink: Sink,
    ) -> Result<Box<dyn AnyPart>> {
        if strips.len() == 1 {
            let rows = self.engine.cut.points_of(&strips);
            let mut strip = Strip::new(self.engine, self.ready, piece, rows, sink);
            return self.pass.strip(&mut strip, &mut arrays);
        }
        let (left, right, arrays_left, arrays_right) = self.halves(strips, arrays);
        let (first, second) = match sink {
            Sink::Now(sums, width) => (
                self.strips(piece, left, arrays_left, Sink::Now(sums, width)),
                self.strips(piece, right, arrays_right, Sink::Now(sums, width)),
            ),
            later => {
                let (a, b) = split(later, self.engine.cut.points_of(&left).len());
                self.both(
                    || self.strips(piece, left, arrays_left, a),
                    || self.strips(piece, right, arrays_right, b),
                )
            }
        };
        let mut part = first?;
        part.merge(second?);
        Ok(part)
    }
}

/// Slots in this process's memory.
#[derive(Default)]
pub(crate) struct Arrays {
    arrays: BTreeMap<Slot, Array>,
}

impl Arrays {
    pub(crate) fn get(&self, slot: Slot) -> Option<&Array> {
        self.arrays.get(&slot)
    }

    pub(crate) fn set(&mut self, slot: Slot, array: Array) {
        self.arrays.insert(slot, array);
    }

    pub(crate) fn forget(&mut self, slot: Slot) {
        self.arrays.remove(&slot);
    }

    pub(crate) fn take(&mut self, slot: Slot) -> Option<Array> {
        self.arrays.remove(&slot)
    }

    /// Those that a pass uses, in its order, for so many points. No pass names a slot twice.
    pub(crate) fn used(&mut self, uses: &[Use], points: usize) -> Vec<ArrayMut<'_>> {
        let slot = |used: &Use| match *used {
            Use::Numbers(slot, _) => slot,
            Use::Labels(run) => Slot::Labels(run),
        };
        for used in uses {
            let known = self.arrays.get(&slot(used));
            let new = match (*used, known) {
                (Use::Numbers(_, each), Some(Array::Numbers(old, _))) if *old == each => continue,
                (Use::Labels(_), Some(Array::Labels(_))) => continue,
                (Use::Numbers(_, each), _) => Array::Numbers(each, vec![0.0; points * each]),
                (Use::Labels(_), _) => Array::Labels(vec![-2; points]),
            };
            self.arrays.insert(slot(used), new);
        }
        let mut found: Vec<(usize, ArrayMut)> = self
            .arrays
            .iter_mut()
            .filter_map(|(known, array)| {
                let at = uses.iter().position(|used| slot(used) == *known)?;
                Some((
                    at,
                    match array {
                        Array::Numbers(each, numbers) => ArrayMut::Numbers(numbers, *each),
                        Array::Labels(labels) => ArrayMut::Labels(labels),
                    },
                ))
            })
            .collect();
        found.sort_by_key(|(at, _)| *at);
        found.into_iter().map(|(_, array)| array).collect()
    }
}
