//! The kinds of points, and what the engine asks of a block of them: products with skinny matrices, and sums.

mod dense;
mod sparse;

use std::any::Any;
use std::borrow::Cow;
use std::ops::Range;

pub use dense::Dense;
pub use sparse::{Csr, Index};

use super::kernels::{lanes, with_room};
use super::seam::Entry;
use super::{Mat, Matrix, Real};
use crate::error::{Error, Result};

/// How large data are, and of which kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Number of points, zero points included.
    pub points: usize,
    /// Number of features.
    pub features: usize,
    /// Stored entries: for dense data all of them.
    pub nonzeros: usize,
    /// Format of the entries.
    pub format: Format,
    /// Whether only some entries are stored.
    pub sparse: bool,
}

/// Floating-point format of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// 32 bits.
    F32,
    /// 64 bits.
    F64,
}

impl Format {
    /// Scores closer than this (relative) are ties.
    pub fn tie(self) -> f64 {
        match self {
            Format::F32 => f32::TIE,
            Format::F64 => f64::TIE,
        }
    }

    /// Points whose norm is less than this share of the largest entry are refused: products with them, and squares of
    /// such products, would leave the range of the format.
    pub fn faint(self) -> f64 {
        match self {
            Format::F32 => 1e-25,
            Format::F64 => 1e-70,
        }
    }
}

/// A skinny matrix, laid out as a kind of points wants to be multiplied with it.
pub(crate) type Packed = Box<dyn Any + Send + Sync>;

/// Sums in the making, as a kind of points adds to them.
pub(crate) type Sums = Box<dyn Any + Send>;

/// Where points go on to add themselves, times their weight and score, to the sum of their nearest column.
pub(crate) struct PowerStep<'s> {
    pub(crate) sums: &'s mut Sums,
    pub(crate) scale: f64,
    /// One for each point; none where all are 1.
    pub(crate) weight: Option<&'s [f64]>,
}

/// Points in memory, all of them or a block. `scale` multiplies every entry; `to` and `factor` are points × entries.
pub(crate) trait Points: Send + Sync {
    fn shape(&self) -> Shape;
    /// A copy of some of them.
    fn select(&self, points: &[usize]) -> AnyPoints<'static>;
    /// How many points fit into the cache together.
    fn tile(&self) -> usize;
    /// Scores closer than this (relative) are ties.
    fn tie(&self) -> f64;
    /// Half the distance from 1 to the next number.
    fn rounding(&self) -> f64;

    /// For `scores` and `nearest`, in the memory of an older one where that pays.
    fn pack(&self, old: Option<Packed>, u: &Mat, scale: f64) -> Packed;
    /// The products of points with all columns: of `rows`, or of those that `list` names, counted from the first.
    fn scores(&self, rows: Range<usize>, list: Option<&[u32]>, u: &Packed, out: &mut [f64]);
    /// For each of `rows` the column with the largest score and that score; of those that are ties, the first. False
    /// where it takes `scores` to tell; then nothing was added either.
    fn nearest(
        &self,
        _rows: Range<usize>,
        _u: &Packed,
        _to: &mut [u32],
        _strength: &mut [f64],
        _step: Option<PowerStep>,
    ) -> bool {
        false
    }

    /// For `rough_scores`; none where `scores` is as fast.
    fn pack_rough(&self, _u: &Mat, _scale: f64) -> Option<Packed> {
        None
    }
    /// `scores` in float32, for points that `roughness` allows it for.
    fn rough_scores(&self, _rows: Range<usize>, _list: Option<&[u32]>, _u: &Packed, _out: &mut [f32]) {
        unreachable!("only where there is a rough matrix")
    }
    /// How wrong a rough score may be, relative to the norms of point and column.
    fn roughness(&self, _row: usize) -> f64 {
        0.0
    }

    /// Scaled copies of some of them, for rough iterations.
    fn in_lanes(&self, _rows: Range<usize>, _scale: f64) -> lanes::Rows {
        unreachable!("rough iterations are for sparse points")
    }

    /// As `pack` and `scores`, but all in float64 whatever the entries' format: what a proof rests on.
    fn pack_exact(&self, u: &Mat, scale: f64) -> Packed;
    fn scores_exact(&self, rows: Range<usize>, u: &Packed, out: &mut [f64]);

    /// A matrix as `dots_one` reads it.
    fn columns<'m>(&self, u: &'m Mat) -> Cow<'m, Mat>;
    /// `out_p = x_pᵀu[:, to_p]` in float64, for a matrix from `columns`.
    fn dots_one(&self, rows: Range<usize>, scale: f64, to: &[u32], u: &Mat, out: &mut [f64]);

    /// Sums of so many columns, zero at first.
    fn sums(&self, width: usize) -> Sums;
    /// `sums += Σ_p x_p ⊗ b_p`.
    fn add(&self, sums: &mut Sums, rows: Range<usize>, scale: f64, b: &[f64]);
    /// `sums[to_p] += factor_p · x_p`.
    fn add_few(
        &self,
        sums: &mut Sums,
        rows: Range<usize>,
        scale: f64,
        to: &[u32],
        factor: &[f64],
        width: usize,
    );
    /// As numbers that can be added to those of other blocks: of dense points width × features, of sparse ones features ×
    /// width.
    fn close(&self, sums: Sums) -> Vec<f64>;
    /// A transposed copy of some rows, where sums over it are faster.
    fn turned(&self, _rows: Range<usize>) -> Option<Box<dyn Turned>> {
        None
    }

    /// A first look at some points.
    fn look(&self, rows: Range<usize>) -> Seen;
    /// `‖scale·x‖²` in float64; zero for a point without entries only.
    fn norm2(&self, row: usize, scale: f64) -> f64;
    /// Calls `f` with every stored entry of a point.
    fn for_each(&self, row: usize, f: &mut dyn FnMut(usize, f64));
    /// `scale·xᵀu` in float64.
    fn dot(&self, row: usize, scale: f64, u: &[f64]) -> f64;
    /// `‖scale·x − v·u‖²`, without cancellation.
    fn residual2(&self, row: usize, scale: f64, u: &[f64], u_norm2: f64, v: f64) -> f64;
}

/// A transposed copy of a block. Its sums are those of [`Points::add`] and [`Points::add_few`], to the bit.
pub(crate) trait Turned: Send + Sync {
    /// `Σ_p x_p ⊗ b_p`, features × width.
    fn sum(&self, scale: f64, b: &[f64], width: usize) -> Vec<f64>;
    /// `Σ_p factor_p · x_p` into the columns `to_p`, features × width.
    fn sum_few(&self, scale: f64, to: &[u32], factor: &[f64], entries: usize, width: usize) -> Vec<f64>;
}

/// What a first look finds. Rows count from the first of the points that were asked.
pub(crate) struct Seen {
    pub(crate) largest: f64,
    pub(crate) not_finite: Option<Entry>,
    pub(crate) negative: Option<Entry>,
    /// How many points each feature is not zero in: none, one, or 2 for more.
    pub(crate) points_with: Vec<u8>,
    /// Of every entry and its place.
    pub(crate) digest: u64,
}

/// Looks at every entry by itself.
fn look_closely(points: &dyn Points, rows: Range<usize>, digest: u64) -> Seen {
    let points_with = vec![0; points.shape().features];
    let mut seen = Seen { largest: 0.0, not_finite: None, negative: None, points_with, digest };
    for row in rows {
        points.for_each(row, &mut |column, value| {
            if !value.is_finite() {
                seen.not_finite.get_or_insert(Entry { row, column, value });
                return;
            }
            if value < 0.0 && seen.negative.is_none() {
                seen.negative = Some(Entry { row, column, value });
            }
            seen.largest = seen.largest.max(value.abs());
            let with = &mut seen.points_with[column];
            *with = 2.min(*with + u8::from(value != 0.0));
        });
    }
    seen
}

/// A digest of 32-bit words, in lanes that vectors can hold: other words, or the same in another order, give another.
pub(crate) fn digest_words(words: impl Iterator<Item = u32>) -> u64 {
    const LANES: usize = 16;
    let mut lanes = [0x811c_9dc5u32; LANES];
    let mut words = words.peekable();
    while words.peek().is_some() {
        for lane in &mut lanes {
            *lane = (*lane ^ words.next().unwrap_or(0)).wrapping_mul(0x0100_0193).rotate_left(11);
        }
    }
    crate::bytes::digest(lanes.map(u64::from))
}

/// Points in memory of any kind that there is; owned, or borrowed from a numpy array or a memory map.
#[derive(Debug, Clone)]
pub enum AnyPoints<'a> {
    /// Dense float32.
    DenseF32(Dense<'a, f32>),
    /// Dense float64.
    DenseF64(Dense<'a, f64>),
    /// Sparse float32.
    SparseF32(Csr<'a, f32, i32>),
    /// Sparse float64.
    SparseF64(Csr<'a, f64, i32>),
    /// Sparse float32 with 64-bit columns.
    SparseF32I64(Csr<'a, f32, i64>),
    /// Sparse float64 with 64-bit columns.
    SparseF64I64(Csr<'a, f64, i64>),
}

macro_rules! any_points {
    ($($kind:ident($t:ty)),*) => {
        $(impl<'a> From<$t> for AnyPoints<'a> {
            fn from(points: $t) -> Self {
                AnyPoints::$kind(points)
            }
        })*
        impl<'a> AnyPoints<'a> {
            /// Some of them that follow each other, borrowed.
            pub fn range(&self, rows: Range<usize>) -> AnyPoints<'_> {
                match self {
                    $(AnyPoints::$kind(x) => AnyPoints::$kind(x.range(rows)),)*
                }
            }
            /// Never inlined: it would be compiled into every crate that streams points, and all kernels with it.
            #[inline(never)]
            pub(crate) fn as_points(&self) -> &(dyn Points + 'a) {
                match self {
                    $(AnyPoints::$kind(x) => x,)*
                }
            }
        }
    };
}
any_points!(
    DenseF32(Dense<'a, f32>),
    DenseF64(Dense<'a, f64>),
    SparseF32(Csr<'a, f32, i32>),
    SparseF64(Csr<'a, f64, i32>),
    SparseF32I64(Csr<'a, f32, i64>),
    SparseF64I64(Csr<'a, f64, i64>)
);

impl AnyPoints<'_> {
    /// How large they are.
    pub fn shape(&self) -> Shape {
        self.as_points().shape()
    }
}

impl<'a> From<&'a Matrix> for AnyPoints<'a> {
    fn from(matrix: &'a Matrix) -> Self {
        match matrix {
            Matrix::DenseF32(x) => x.borrowed().into(),
            Matrix::DenseF64(x) => x.borrowed().into(),
            Matrix::SparseF32(x) => x.borrowed().into(),
            Matrix::SparseF64(x) => x.borrowed().into(),
        }
    }
}

macro_rules! of_slices {
    ($($t:ty, $kind:ident);*) => { $(
        /// Points in rows, all of them as long as the first.
        impl<'a, const FEATURES: usize> From<&'a [[$t; FEATURES]]> for AnyPoints<'a> {
            fn from(rows: &'a [[$t; FEATURES]]) -> Self {
                let dense = Dense::new(rows.len(), FEATURES, rows.as_flattened());
                AnyPoints::$kind(dense.expect("so many numbers are there"))
            }
        }
        impl<'a, const POINTS: usize, const FEATURES: usize> From<&'a [[$t; FEATURES]; POINTS]> for AnyPoints<'a> {
            fn from(rows: &'a [[$t; FEATURES]; POINTS]) -> Self {
                rows.as_slice().into()
            }
        }
    )* };
}
of_slices!(f32, DenseF32; f64, DenseF64);

/// Points in memory are a source like any other.
impl super::seam::Source for AnyPoints<'_> {
    fn shape(&self) -> Shape {
        self.as_points().shape()
    }
    fn points(&self, rows: Range<usize>) -> Result<AnyPoints<'_>> {
        Ok(self.range(rows))
    }
}

impl AnyPoints<'static> {
    /// Points of a shape's kind, put together: the i-th is the one with number `order[i]` among all of the pieces.
    pub(crate) fn joined(
        pieces: Vec<AnyPoints>,
        shape: &Shape,
        order: &[usize],
    ) -> Result<AnyPoints<'static>> {
        let mut starts = vec![0];
        pieces.iter().for_each(|piece| starts.push(starts[starts.len() - 1] + piece.shape().points));
        let find = |number: usize| {
            let piece = starts.partition_point(|&start| start <= number) - 1;
            (piece, number - starts[piece])
        };
        let mixed = || Error::Data("the source gave points of several kinds".into());
        macro_rules! dense {
            ($kind:ident) => {{
                let mut data = with_room(order.len() * shape.features);
                for &number in order {
                    let (piece, row) = find(number);
                    let AnyPoints::$kind(x) = &pieces[piece] else { return Err(mixed()) };
                    data.extend_from_slice(x.point(row));
                }
                Ok(Dense::new(order.len(), shape.features, data)?.into())
            }};
        }
        macro_rules! sparse {
            ($narrow:ident, $wide:ident) => {{
                let (mut offsets, mut columns, mut values) = (vec![0], vec![], vec![]);
                for &number in order {
                    let (piece, row) = find(number);
                    match &pieces[piece] {
                        AnyPoints::$narrow(x) => {
                            let (own, entries) = x.point(row);
                            columns.extend_from_slice(own);
                            values.extend_from_slice(entries);
                        }
                        AnyPoints::$wide(x) => {
                            let (own, entries) = x.point(row);
                            columns.extend(own.iter().map(|&column| column as i32));
                            values.extend_from_slice(entries);
                        }
                        _ => return Err(mixed()),
                    }
                    offsets.push(values.len());
                }
                Ok(Csr::new(shape.features, offsets, columns, values)?.into())
            }};
        }
        match (shape.sparse, shape.format) {
            (false, Format::F32) => dense!(DenseF32),
            (false, Format::F64) => dense!(DenseF64),
            // Wide columns are kept where narrow ones cannot name all features.
            (true, _) if i32::try_from(shape.features).is_err() => {
                let entries = |&number: &usize| {
                    let (piece, row) = find(number);
                    let mut entries = vec![];
                    pieces[piece].as_points().for_each(row, &mut |f, x| entries.push((f, x)));
                    entries
                };
                AnyPoints::of_entries(order.iter().map(entries).collect(), shape)
            }
            (true, Format::F32) => sparse!(SparseF32, SparseF32I64),
            (true, Format::F64) => sparse!(SparseF64, SparseF64I64),
        }
    }

    /// Points of a shape's kind from their entries.
    pub(crate) fn of_entries(points: Vec<Vec<(usize, f64)>>, shape: &Shape) -> Result<AnyPoints<'static>> {
        let (count, features) = (points.len(), shape.features);
        if !shape.sparse {
            let mut data = vec![0.0; count * features];
            for (j, entries) in points.iter().enumerate() {
                entries.iter().for_each(|&(f, x)| data[j * features + f] = x);
            }
            return Ok(match shape.format {
                Format::F64 => Dense::new(count, features, data)?.into(),
                Format::F32 => {
                    Dense::new(count, features, data.into_iter().map(|x| x as f32).collect::<Vec<_>>())?
                        .into()
                }
            });
        }
        let mut offsets = vec![0];
        points.iter().for_each(|entries| offsets.push(offsets[offsets.len() - 1] + entries.len()));
        let columns: Vec<i64> = points.iter().flatten().map(|&(f, _)| f as i64).collect();
        let values: Vec<f64> = points.iter().flatten().map(|&(_, x)| x).collect();
        Ok(match shape.format {
            Format::F64 => Csr::new(features, offsets, columns, values)?.into(),
            Format::F32 => {
                let values: Vec<f32> = values.into_iter().map(|x| x as f32).collect();
                Csr::new(features, offsets, columns, values)?.into()
            }
        })
    }
}
