//! Points that lie in files as arrays, one piece after the other, and are read a range at a time into memory that is used
//! again: a block folder is several pieces, an .npy file, an ENVI cube or an .npz that is not compressed is one.

use std::ops::Range;
use std::sync::Mutex;

use super::Precision;
use super::cube::zero_out;
use super::stored::Stored;
use super::triples::{drop_zeros, sort_row};
use super::values::Number;
use crate::error::{Error, Place, Result};
use crate::matrix::seam::Source;
use crate::matrix::{AnyPoints, Csr, Dense, Format, Shape};

/// Some points that follow each other, as they lie in files.
pub(crate) enum Piece {
    /// All entries, arranged in one way or another.
    Dense(Stored, Arrangement),
    /// Compressed rows: offsets (one more than rows), columns, values.
    Sparse { offsets: Stored, columns: Stored, values: Stored },
}

/// How the numbers of a dense matrix follow each other in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arrangement {
    /// Point after point (C order; BIP).
    Points,
    /// Feature after feature, each with so many points (Fortran order; BSQ).
    Features(usize),
    /// In lines of so many points, within them feature after feature (BIL).
    Lines(usize),
}

/// What is left out or replaced as pixels are read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mask {
    /// Numbers of a row in the file.
    pub width: usize,
    /// Those of them that are features.
    pub kept: Vec<usize>,
    /// The value that means "no data".
    pub ignore: Option<f64>,
}

/// Points in files.
pub(crate) struct Pieces {
    shape: Shape,
    pieces: Vec<Piece>,
    /// The first point of each piece, and how many there are in all.
    starts: Vec<usize>,
    weights: Option<Vec<f64>>,
    mask: Option<Mask>,
    /// Whether explicit zeros are stored, which are no entries.
    zeros: bool,
    single: Spare<f32>,
    double: Spare<f64>,
}

/// Memory of points that were given back.
#[derive(Default)]
struct Spare<T> {
    values: Mutex<Vec<Vec<T>>>,
    offsets: Mutex<Vec<Vec<usize>>>,
    columns: Mutex<Vec<Vec<i32>>>,
}

/// As many windows as are under way at once.
const KEPT: usize = 4;

fn take<X: Clone + Default>(from: &Mutex<Vec<Vec<X>>>, length: usize) -> Vec<X> {
    let mut spare = from.lock().expect("no panic while locked").pop().unwrap_or_default();
    if spare.capacity() < length {
        // Not grown in place: what it holds would be copied.
        spare = Vec::with_capacity(length);
    }
    spare.resize(length, X::default());
    spare
}

fn give<X>(to: &Mutex<Vec<Vec<X>>>, spare: Vec<X>) {
    let mut kept = to.lock().expect("no panic while locked");
    if kept.len() < KEPT {
        kept.push(spare);
    }
}

/// Features that are read before they are put beside each other.
const TOGETHER: usize = 16;

/// Columns become parts of rows, which are `width` apart.
fn turn<T: Copy>(columns: &[T], count: usize, rows: &mut [T], width: usize) {
    let length = rows.len().div_ceil(width);
    for (point, row) in rows.chunks_mut(width).enumerate() {
        for f in 0..count {
            row[f] = columns[f * length + point];
        }
    }
}

impl Pieces {
    /// Pieces of so many points each. `zeros`: whether there are explicit zeros, which `shape.nonzeros` does not count.
    pub fn new(shape: Shape, pieces: Vec<(usize, Piece)>, weights: Option<Vec<f64>>, zeros: bool) -> Pieces {
        let mut starts = vec![0];
        let mut all = Vec::with_capacity(pieces.len());
        for (points, piece) in pieces {
            starts.push(starts[starts.len() - 1] + points);
            all.push(piece);
        }
        let (single, double) = (Spare::default(), Spare::default());
        Pieces { shape, pieces: all, starts, weights, mask: None, zeros, single, double }
    }

    /// Where some numbers of a row are no features.
    pub fn with_mask(self, mask: Option<Mask>) -> Pieces {
        Pieces { mask, ..self }
    }

    /// The pieces that hold some points, and which of their points those are.
    fn within(&self, rows: &Range<usize>) -> impl Iterator<Item = (&Piece, Range<usize>)> {
        let first = self.starts.partition_point(|&start| start <= rows.start).saturating_sub(1);
        let rows = rows.clone();
        (first..self.pieces.len()).filter_map(move |at| {
            let (from, to) = (self.starts[at], self.starts[at + 1]);
            let own = rows.start.max(from)..rows.end.min(to);
            (!own.is_empty()).then(|| (&self.pieces[at], own.start - from..own.end - from))
        })
    }

    fn dense<T: Number>(&self, spare: &Spare<T>, rows: Range<usize>) -> Result<Dense<'static, T>> {
        let features = self.shape.features;
        let width = self.mask.as_ref().map_or(features, |mask| mask.width);
        let mut data: Vec<T> = take(&spare.values, rows.len() * width);
        let mut done = 0;
        for (piece, own) in self.within(&rows) {
            let Piece::Dense(stored, arrangement) = piece else { unreachable!("all pieces are of one kind") };
            let to = &mut data[done * width..(done + own.len()) * width];
            done += own.len();
            match *arrangement {
                Arrangement::Points => {
                    stored.read((own.start * width) as u64..(own.end * width) as u64, to)?;
                }
                Arrangement::Features(points) => {
                    let mut columns = take(&spare.values, own.len() * TOGETHER.min(width));
                    for first in (0..width).step_by(TOGETHER) {
                        let count = TOGETHER.min(width - first);
                        for (f, column) in columns.chunks_exact_mut(own.len()).take(count).enumerate() {
                            let at = ((first + f) * points + own.start) as u64;
                            stored.read(at..at + own.len() as u64, column)?;
                        }
                        turn(&columns, count, &mut to[first..], width);
                    }
                    give(&spare.values, columns);
                }
                Arrangement::Lines(samples) => {
                    let mut line = take(&spare.values, samples * width);
                    let mut to = to;
                    for number in own.start / samples..own.end.div_ceil(samples) {
                        stored.read(
                            (number * line.len()) as u64..((number + 1) * line.len()) as u64,
                            &mut line,
                        )?;
                        let (from, end) = (number * samples, ((number + 1) * samples).min(own.end));
                        for point in own.start.max(from)..end {
                            let (here, rest) = to.split_at_mut(width);
                            here.iter_mut()
                                .enumerate()
                                .for_each(|(f, x)| *x = line[f * samples + point - from]);
                            to = rest;
                        }
                    }
                    give(&spare.values, line);
                }
            }
        }
        if let Some(mask) = &self.mask {
            if mask.kept.len() < width {
                let mut to = 0;
                for row in 0..rows.len() {
                    for &from in &mask.kept {
                        data[to] = data[row * width + from];
                        to += 1;
                    }
                }
                data.truncate(to);
            }
            if let Some(ignore) = mask.ignore {
                zero_out(&mut data, features, T::from_f64(ignore));
            }
        }
        Dense::new(rows.len(), features, data)
    }

    fn sparse<T: Number>(&self, spare: &Spare<T>, rows: Range<usize>) -> Result<Csr<'static, T, i32>> {
        let mut offsets = take(&spare.offsets, 0);
        let mut columns = take(&spare.columns, 0);
        let mut values: Vec<T> = take(&spare.values, 0);
        offsets.push(0);
        for (piece, own) in self.within(&rows) {
            let Piece::Sparse { offsets: at, columns: places, values: numbers } = piece else {
                unreachable!("all pieces are of one kind")
            };
            let ends = at.integers(own.start as u64..own.end as u64 + 1)?;
            let entries = numbers.count();
            if !ends.is_sorted() || ends[0] < 0 || ends[ends.len() - 1] as u64 > entries.min(places.count()) {
                let problem = format!(
                    "where the rows {} to {} begin is not given in rising order up to {entries} entries",
                    own.start, own.end
                );
                return Err(Error::File { path: at.path().into(), place: Place::Whole, problem });
            }
            let (from, to) = (ends[0] as u64, ends[ends.len() - 1] as u64);
            let (before, count) = (values.len(), (to - from) as usize);
            values.resize(before + count, T::default());
            numbers.read(from..to, &mut values[before..])?;
            read_columns(places, from..to, self.shape.features, &mut columns)?;
            offsets.extend(ends[1..].iter().map(|&end| before + (end as u64 - from) as usize));
        }
        let mut scratch = Default::default();
        for row in 0..rows.len() {
            let own = offsets[row]..offsets[row + 1];
            if let Err(twice) = sort_row(&mut columns[own.clone()], &mut values[own], &mut scratch) {
                let row = rows.start + row;
                return Err(Error::Data(format!(
                    "row {row}, column {twice} (from 0) is given twice: sum the duplicates first"
                )));
            }
        }
        if self.zeros {
            drop_zeros(&mut offsets, &mut columns, &mut values);
        }
        Csr::new(self.shape.features, offsets, columns, values)
    }
}

/// Columns as they are needed in memory, all of them below `features`.
fn read_columns(from: &Stored, range: Range<u64>, features: usize, to: &mut Vec<i32>) -> Result<()> {
    for start in range.clone().step_by(1 << 20) {
        for column in from.integers(start..(start + (1 << 20)).min(range.end))? {
            if column < 0 || column as u64 >= features as u64 {
                let problem = format!("column {column} (from 0) does not exist: there are {features}");
                return Err(Error::File { path: from.path().into(), place: Place::Whole, problem });
            }
            to.push(column as i32);
        }
    }
    Ok(())
}

/// The shape of dense points.
pub(crate) fn dense_shape(points: usize, features: usize, precision: Precision) -> Shape {
    let format = if precision == Precision::F32 { Format::F32 } else { Format::F64 };
    Shape { points, features, nonzeros: points * features, format, sparse: false }
}

impl Source for Pieces {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn points(&self, rows: Range<usize>) -> Result<AnyPoints<'_>> {
        Ok(match (self.shape.sparse, self.shape.format) {
            (false, Format::F32) => self.dense(&self.single, rows)?.into(),
            (false, Format::F64) => self.dense(&self.double, rows)?.into(),
            (true, Format::F32) => self.sparse(&self.single, rows)?.into(),
            (true, Format::F64) => self.sparse(&self.double, rows)?.into(),
        })
    }

    fn weights(&self) -> Option<Vec<f64>> {
        self.weights.clone()
    }

    fn take_back(&self, points: AnyPoints<'_>) {
        fn sparse<T: Number>(spare: &Spare<T>, points: Csr<'_, T, i32>) {
            if let Some((mut offsets, mut columns, mut values)) = points.into_parts() {
                offsets.clear();
                columns.clear();
                values.clear();
                give(&spare.offsets, offsets);
                give(&spare.columns, columns);
                give(&spare.values, values);
            }
        }
        match points {
            AnyPoints::DenseF32(x) => x.into_data().into_iter().for_each(|x| give(&self.single.values, x)),
            AnyPoints::DenseF64(x) => x.into_data().into_iter().for_each(|x| give(&self.double.values, x)),
            AnyPoints::SparseF32(x) => sparse(&self.single, x),
            AnyPoints::SparseF64(x) => sparse(&self.double, x),
            _ => {}
        }
    }
}
