//! The seam of the data. An outsider brings data in by a [`Source`]; algorithms see [`Data`], keep what belongs to each
//! point in [`Slots`] beside it, and go over both by [`Pass`]es, whoever holds the points: this process's memory, a disk,
//! or other processes.
//!
//! Letters are the paper's: M is features × points, so a point is a column mⱼ; U is features × k and
//! V is k × points. Points have weights wⱼ ≥ 0 (1 unless given) and the objective is
//! `Σⱼ wⱼ‖mⱼ − Uvⱼ‖²`, which is ONMF of the points `√wⱼ·mⱼ`. Everything here is about the data
//! divided by a power of two near their largest entry ([`Facts::scale`]), which is exact.

use std::any::Any;
use std::ops::Range;

use super::engine::{ArrayMut, Strip};
use super::points::AnyPoints;
use super::rough::{RoughCourse, RoughRuns};
use super::{Mat, Shape};
use crate::bytes::{Bytes, bytes_of};
use crate::error::{Error, Result};

/// Points that can be had a range at a time. This is all that it takes to bring data in: see `examples/own_source.rs`.
pub trait Source: Send + Sync {
    /// How large the data are.
    fn shape(&self) -> Shape;
    /// The points of a range, borrowed from memory or just made or read. The same points every time.
    fn points(&self, rows: Range<usize>) -> Result<AnyPoints<'_>>;
    /// Weights of all points, where they have any.
    fn weights(&self) -> Option<Vec<f64>> {
        None
    }
    /// Whether points are borrowed from memory: then there is nothing to be read ahead.
    fn in_memory(&self) -> bool {
        false
    }
    /// Points that are no longer needed, whose memory the next ones may use.
    fn take_back(&self, _points: AnyPoints<'_>) {}
}

impl<S: Source + ?Sized> Source for &S {
    fn shape(&self) -> Shape {
        (**self).shape()
    }
    fn points(&self, rows: Range<usize>) -> Result<AnyPoints<'_>> {
        (**self).points(rows)
    }
    fn weights(&self) -> Option<Vec<f64>> {
        (**self).weights()
    }
    fn in_memory(&self) -> bool {
        (**self).in_memory()
    }
    fn take_back(&self, points: AnyPoints<'_>) {
        (**self).take_back(points);
    }
}

impl<S: Source + ?Sized> Source for Box<S> {
    fn shape(&self) -> Shape {
        (**self).shape()
    }
    fn points(&self, rows: Range<usize>) -> Result<AnyPoints<'_>> {
        (**self).points(rows)
    }
    fn weights(&self) -> Option<Vec<f64>> {
        (**self).weights()
    }
    fn in_memory(&self) -> bool {
        (**self).in_memory()
    }
    fn take_back(&self, points: AnyPoints<'_>) {
        (**self).take_back(points);
    }
}

/// An entry that some or all methods refuse. Row and column count from 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    /// Its point.
    pub row: usize,
    /// Its feature.
    pub column: usize,
    /// Its value.
    pub value: f64,
}
bytes_of!(Entry { row, column, value });

/// What one look at all of the data tells.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// The power of two that the data are multiplied by: 1/scale is near the largest entry.
    pub scale: f64,
    /// Largest absolute entry, as given.
    pub largest: f64,
    /// `Σⱼ wⱼ‖mⱼ‖²` of the scaled data.
    pub norm2: f64,
    /// `Σⱼ wⱼ` over the nonzero points.
    pub usable_weight: f64,
    /// Points that are zero, in increasing order.
    pub zero_points: Vec<usize>,
    /// Points whose weight is zero, in increasing order.
    pub weightless_points: Vec<usize>,
    /// Nonzero points with a positive weight.
    pub usable_points: usize,
    /// The first point that is not zero, but too small beside the largest entry to be computed with.
    pub faint: Option<usize>,
    /// The least `‖mⱼ‖²` of the nonzero points, scaled; infinite where there are none.
    pub least_norm2: f64,
    /// Features that are zero in every point.
    pub zero_features: usize,
    /// Features that are not zero in a single point; of dense data none are told.
    pub lone_features: usize,
    /// The first NaN or infinite entry.
    pub not_finite: Option<Entry>,
    /// The first negative entry.
    pub negative: Option<Entry>,
    /// Whether points have weights of their own.
    pub weighted: bool,
    /// Tells other data of the same shape from these: from every entry, its place, and the weights.
    pub digest: u64,
}

/// Whether points of these numbers are there.
pub(super) fn check_points(points: &[usize], there: usize) -> Result<()> {
    match points.iter().find(|&&point| point >= there) {
        Some(point) => {
            Err(Error::parameter("points", format!("there is no point {point} (counted from 0) of {there}")))
        }
        None => Ok(()),
    }
}

/// Data to be clustered.
pub trait Data: Send + Sync {
    /// How large the data are.
    fn shape(&self) -> Shape;
    /// What one look at all of it told.
    fn facts(&self) -> &Facts;
    /// Weights of all points, where they have any.
    fn weights(&self) -> Option<&[f64]>;
    /// Whether every pass finds the points in this process's memory.
    fn in_memory(&self) -> bool;
    /// How many points a sample in memory may have, where not all of them fit.
    fn fits(&self) -> Option<usize> {
        None
    }
    /// Some points, in the given order, with their weights: a copy in memory, for samples and halves.
    fn select(&self, points: &[usize]) -> Result<Box<dyn Data>>;
    /// Calls `f` with the feature and the value (scaled) of every stored entry of a point.
    fn entries(&self, point: usize, f: &mut dyn FnMut(usize, f64)) -> Result<()>;
    /// Some points (scaled), as the columns of a features × count matrix.
    fn gather(&self, points: &[usize]) -> Result<Mat> {
        let mut columns = Mat::zeros(self.shape().features, points.len());
        for (i, &j) in points.iter().enumerate() {
            self.entries(j, &mut |f, x| columns[(f, i)] = x)?;
        }
        Ok(columns)
    }
    /// Room beside the points for what an algorithm keeps for each of them.
    fn slots(&self) -> Result<Box<dyn Slots + '_>>;
}

/// An array beside the data, with an entry or a row for each point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Slot {
    /// V, points × k; holds `√wⱼ·vⱼ`, so that `VVᵀ` is a plain sum.
    V,
    /// The direction of ONP-MF's step, points × k.
    D,
    /// ONP-MF's multipliers Λ, points × k.
    Lambda,
    /// `wⱼ` times what the settled directions leave of each point.
    Left,
    /// A point's share in its group (certificate).
    Share,
    /// `Σ_f m log(m/Σm)` of each point: its own part of the KL divergence.
    Information,
    /// The cluster of each point in a run; −1: none.
    Labels(usize),
    /// What each point adds to its cluster in a run's rough iterations, where that differs from one to the next.
    Adds(usize),
    /// By how much each point's cluster led over the others when it was last scored (see `passes/assign/bounds.rs`).
    Leads(usize),
}

impl Slot {
    /// Its name in a checkpoint.
    pub fn name(self) -> String {
        match self {
            Slot::V => "v".into(),
            Slot::D => "d".into(),
            Slot::Lambda => "lambda".into(),
            Slot::Left => "left".into(),
            Slot::Share => "share".into(),
            Slot::Information => "information".into(),
            Slot::Labels(run) => format!("labels {run}"),
            Slot::Leads(run) => format!("leads {run}"),
            Slot::Adds(run) => format!("adds {run}"),
        }
    }
}

impl Bytes for Slot {
    fn write(&self, to: &mut Vec<u8>) {
        let (kind, run) = match *self {
            Slot::V => (0u8, 0),
            Slot::D => (1, 0),
            Slot::Lambda => (2, 0),
            Slot::Left => (3, 0),
            Slot::Share => (4, 0),
            Slot::Information => (5, 0),
            Slot::Labels(run) => (6, run),
            Slot::Leads(run) => (7, run),
            Slot::Adds(run) => (8, run),
        };
        (kind, run).write(to);
    }
    fn read(from: &mut &[u8]) -> Option<Self> {
        let (kind, run): (u8, usize) = Bytes::read(from)?;
        let single = [Slot::V, Slot::D, Slot::Lambda, Slot::Left, Slot::Share, Slot::Information];
        match kind {
            6 => Some(Slot::Labels(run)),
            7 => Some(Slot::Leads(run)),
            8 => Some(Slot::Adds(run)),
            _ => single.get(usize::from(kind)).copied(),
        }
    }
}

/// What a slot holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Array {
    /// So many numbers for each point.
    Numbers(usize, Vec<f64>),
    /// A label for each point.
    Labels(Vec<i32>),
}

impl Array {
    /// Its labels, if that is what it holds.
    pub fn into_labels(self) -> Option<Vec<i32>> {
        match self {
            Array::Labels(labels) => Some(labels),
            Array::Numbers(..) => None,
        }
    }

    /// Its numbers, if that is what it holds.
    pub fn into_numbers(self) -> Option<Vec<f64>> {
        match self {
            Array::Numbers(_, numbers) => Some(numbers),
            Array::Labels(_) => None,
        }
    }
}

impl Bytes for Array {
    fn write(&self, to: &mut Vec<u8>) {
        match self {
            Array::Numbers(each, numbers) => {
                (1u8, *each).write(to);
                numbers.write(to);
            }
            Array::Labels(labels) => {
                (0u8, 0usize).write(to);
                labels.write(to);
            }
        }
    }
    fn read(from: &mut &[u8]) -> Option<Self> {
        match Bytes::read(from)? {
            (0u8, 0usize) => Some(Array::Labels(Bytes::read(from)?)),
            (1, each) => Some(Array::Numbers(each, Bytes::read(from)?)),
            _ => None,
        }
    }
}

/// How a pass uses a slot. One that is not there yet, or has another shape, begins with zeros; labels begin as −2, which
/// no pass gives, so that a first pass changes all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// So many numbers for each point.
    Numbers(Slot, usize),
    /// A label for each point.
    Labels(usize),
}

/// What the points of a pass add to sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Adds {
    /// Nothing.
    Nothing,
    /// Every point adds itself to so many columns, times a number each.
    Many(usize),
    /// Every point adds itself to a few of `width` columns.
    Few {
        /// To how many.
        entries: usize,
        /// Of how many.
        width: usize,
    },
    /// Every point adds itself to one of k columns in each of some runs, in float32.
    Roughly {
        /// How many runs.
        runs: usize,
        /// Columns of each.
        k: usize,
    },
    /// The same to all columns, times a number each.
    RoughlyMany {
        /// How many runs.
        runs: usize,
        /// Columns of each.
        k: usize,
    },
}

impl Adds {
    /// Columns of the sums.
    pub fn width(self) -> usize {
        match self {
            Adds::Nothing => 0,
            Adds::Many(width) | Adds::Few { width, .. } => width,
            Adds::Roughly { runs, k } | Adds::RoughlyMany { runs, k } => runs * k,
        }
    }
}

/// What the points of a strip tell; parts of neighbouring strips are merged.
pub trait Part: Bytes + Send + 'static {
    /// Joins the part of the points that come after these.
    fn merge(&mut self, after: Self);
}

impl Part for () {
    fn merge(&mut self, _after: Self) {}
}

impl Part for f64 {
    fn merge(&mut self, after: Self) {
        *self += after;
    }
}

impl Part for Mat {
    fn merge(&mut self, after: Self) {
        self.data.iter_mut().zip(&after.data).for_each(|(a, b)| *a += b);
    }
}

impl<A: Part, B: Part> Part for (A, B) {
    fn merge(&mut self, after: Self) {
        self.0.merge(after.0);
        self.1.merge(after.1);
    }
}

/// Numbers that add up, one by one.
#[derive(Debug, Clone, PartialEq)]
pub struct Sum(pub Vec<f64>);
impl Part for Sum {
    fn merge(&mut self, after: Self) {
        self.0.iter_mut().zip(&after.0).for_each(|(a, b)| *a += b);
    }
}
impl Bytes for Sum {
    fn write(&self, to: &mut Vec<u8>) {
        self.0.write(to);
    }
    fn read(from: &mut &[u8]) -> Option<Self> {
        Some(Sum(Bytes::read(from)?))
    }
}

/// Something for each point, in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct Each<T>(pub Vec<T>);
impl<T: Bytes + Send + 'static> Part for Each<T> {
    fn merge(&mut self, after: Self) {
        append(&mut self.0, after.0);
    }
}

/// What belongs to later points, after what belongs to earlier ones. Without room to spare: there are as many as points, and what
/// is joined in a tree is copied no more often than what grows by doubling.
pub(super) fn append<T>(all: &mut Vec<T>, after: Vec<T>) {
    all.reserve_exact(after.len());
    all.extend(after);
}

impl<T: Bytes> Bytes for Each<T> {
    fn write(&self, to: &mut Vec<u8>) {
        self.0.write(to);
    }
    fn read(from: &mut &[u8]) -> Option<Self> {
        Some(Each(Bytes::read(from)?))
    }
}

/// One way over all points: a value that can be sent to whoever holds them. A pass is one file in `passes/`.
pub trait Pass: Bytes + Send + Sync + 'static {
    /// Its name in the table of passes.
    const NAME: &'static str;
    /// What a strip of points tells.
    type Part: Part;

    /// What nothing tells.
    fn empty(&self) -> Self::Part;
    /// The arrays beside the points that it reads or writes, in the order in which `strip` gets them.
    fn slots(&self) -> Vec<Use>;
    /// Matrices (features × k) with all of whose columns points are multiplied: one, or one for each run.
    fn scored(&self) -> &[Mat] {
        &[]
    }
    /// Matrices (features × k) with one of whose columns, its own, each point is multiplied: one, or one for each run.
    fn own(&self) -> &[Mat] {
        &[]
    }
    /// What the points add to sums.
    fn adds(&self) -> Adds {
        Adds::Nothing
    }
    /// Whether it looks at the points at all, or at the arrays beside them alone.
    fn reads_points(&self) -> bool {
        true
    }
    /// Multiplications, about: whether it is worth more than one thread.
    fn cost(&self, shape: &Shape) -> usize {
        let scored: usize = self.scored().iter().map(|u| u.cols).sum();
        let columns = scored + self.own().len() + self.adds().width();
        shape.nonzeros.saturating_mul(columns.max(1))
    }
    /// What one strip of points does and tells.
    fn strip(&self, strip: &mut Strip, arrays: &mut [ArrayMut], part: &mut Self::Part) -> Result<()>;
}

/// A [`Pass`] whose type is not known.
pub trait AnyPass: Send + Sync {
    /// [`Pass::slots`].
    fn slots(&self) -> Vec<Use>;
    /// [`Pass::scored`].
    fn scored(&self) -> &[Mat];
    /// [`Pass::own`].
    fn own(&self) -> &[Mat];
    /// [`Pass::adds`].
    fn adds(&self) -> Adds;
    /// [`Pass::reads_points`].
    fn reads_points(&self) -> bool;
    /// [`Pass::cost`].
    fn cost(&self, shape: &Shape) -> usize;
    /// [`Pass::empty`].
    fn empty(&self) -> Box<dyn AnyPart>;
    /// [`Pass::strip`], into a part of its own.
    fn strip(&self, strip: &mut Strip, arrays: &mut [ArrayMut]) -> Result<Box<dyn AnyPart>>;
    /// [`Pass::NAME`].
    fn name(&self) -> &'static str;
    /// Its name and itself.
    fn write(&self) -> Vec<u8>;
}

/// A [`Part`] whose type is not known.
pub trait AnyPart: Send {
    /// [`Part::merge`] with a part of the same type.
    fn merge(&mut self, after: Box<dyn AnyPart>);
    /// As bytes.
    fn write(&self, to: &mut Vec<u8>);
    /// For whoever knows the type.
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

impl<P: Pass> AnyPass for P {
    fn slots(&self) -> Vec<Use> {
        Pass::slots(self)
    }
    fn scored(&self) -> &[Mat] {
        Pass::scored(self)
    }
    fn own(&self) -> &[Mat] {
        Pass::own(self)
    }
    fn adds(&self) -> Adds {
        Pass::adds(self)
    }
    fn reads_points(&self) -> bool {
        Pass::reads_points(self)
    }
    fn cost(&self, shape: &Shape) -> usize {
        Pass::cost(self, shape)
    }
    fn empty(&self) -> Box<dyn AnyPart> {
        Box::new(Pass::empty(self))
    }
    fn strip(&self, strip: &mut Strip, arrays: &mut [ArrayMut]) -> Result<Box<dyn AnyPart>> {
        let mut part = Pass::empty(self);
        Pass::strip(self, strip, arrays, &mut part)?;
        Ok(Box::new(part))
    }
    fn name(&self) -> &'static str {
        P::NAME
    }
    fn write(&self) -> Vec<u8> {
        let mut bytes = P::NAME.to_string().to_bytes();
        Bytes::write(self, &mut bytes);
        bytes
    }
}

impl<P: Part> AnyPart for P {
    fn merge(&mut self, after: Box<dyn AnyPart>) {
        let after = after.into_any().downcast::<P>().expect("parts of one pass have one type");
        Part::merge(self, *after);
    }
    fn write(&self, to: &mut Vec<u8>) {
        Bytes::write(self, to);
    }
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// Arrays beside the data, and the passes that read and write them.
pub trait Slots: Send {
    /// One pass over all points: the parts of all strips merged in one fixed tree, and the sums, features × width.
    fn sweep_any(&mut self, pass: &dyn AnyPass) -> Result<(Box<dyn AnyPart>, Mat)>;
    /// What a slot holds; `None` where nothing was written.
    fn read(&mut self, slot: Slot) -> Result<Option<Array>>;
    /// Fills a slot.
    fn write(&mut self, slot: Slot, array: Array) -> Result<()>;
    /// Empties a slot.
    fn forget(&mut self, slot: Slot) -> Result<()>;
    /// Rough iterations of several runs side by side, where that is faster than pass after pass; none where it is not.
    fn in_lanes(&mut self, _asked: &RoughRuns) -> Option<Result<Vec<RoughCourse>>> {
        None
    }
    /// The numbers of a slot, looked at where they are; empty where nothing was written.
    fn with_numbers(&mut self, slot: Slot, look: &mut dyn FnMut(&[f64])) -> Result<()> {
        if let Some(Array::Numbers(_, numbers)) = self.read(slot)? {
            look(&numbers);
        }
        Ok(())
    }
}

impl dyn Slots + '_ {
    /// One pass over all points: what they tell, and the sums (features × width).
    pub fn sweep<P: Pass>(&mut self, pass: &P) -> Result<(P::Part, Mat)> {
        let (part, sums) = self.sweep_any(pass)?;
        Ok((*part.into_any().downcast().expect("a pass tells parts of its own type"), sums))
    }

    /// What a pass tells, where it makes no sums.
    pub fn tell<P: Pass>(&mut self, pass: &P) -> Result<P::Part> {
        Ok(self.sweep(pass)?.0)
    }

    /// Labels of a run.
    pub fn labels(&mut self, run: usize) -> Result<Vec<i32>> {
        match self.read(Slot::Labels(run))? {
            Some(Array::Labels(labels)) => Ok(labels),
            _ => Err(Error::Computation(format!("run {run} has no labels yet"))),
        }
    }

    /// Labels of a run, as given.
    pub fn set_labels(&mut self, run: usize, labels: &[i32]) -> Result<()> {
        self.forget(Slot::Leads(run))?;
        self.write(Slot::Labels(run), Array::Labels(labels.to_vec()))
    }

    /// Gives some points of a run other labels.
    pub fn relabel(&mut self, run: usize, changes: impl Iterator<Item = (usize, usize)>) -> Result<()> {
        let mut labels = self.labels(run)?;
        changes.for_each(|(point, label)| labels[point] = label as i32);
        self.set_labels(run, &labels)
    }

    /// All numbers of a slot, points × k.
    pub fn numbers(&mut self, slot: Slot) -> Result<Vec<f64>> {
        match self.read(slot)? {
            Some(Array::Numbers(_, numbers)) => Ok(numbers),
            _ => Err(Error::Computation(format!("nothing was written to '{}' yet", slot.name()))),
        }
    }

    /// Numbers for a slot, points × k.
    pub fn set_numbers(&mut self, slot: Slot, k: usize, numbers: Vec<f64>) -> Result<()> {
        self.write(slot, Array::Numbers(k, numbers))
    }
}
