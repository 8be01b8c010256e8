//! Sparse rows that a file gives one after the other → compressed rows.

use rayon::prelude::*;

use super::Precision;
use super::triples::drop_zeros;
use super::values::Number;
use crate::matrix::{Csr, Matrix};

/// The rows of one piece of a file.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    /// Where each row ends.
    pub ends: Vec<usize>,
    /// Strictly increasing in every row.
    pub columns: Vec<i32>,
    pub values: Vec<f64>,
}

/// Bytes that so many entries take while they are put together: as they were read, and as they will be.
pub(crate) fn room(points: u64, entries: u64) -> u128 {
    let entry = 2 * size_of::<i32>() + size_of::<f64>() + size_of::<f32>();
    u128::from(entries) * entry as u128 + u128::from(points) * size_of::<usize>() as u128
}

/// Puts the pieces together; columns count from `base` in the pieces and from 0 in the matrix.
pub(crate) fn assemble(features: usize, base: i32, pieces: &[Rows], precision: Precision) -> Matrix {
    match precision {
        Precision::F32 => Matrix::SparseF32(concatenate(features, base, pieces)),
        Precision::F64 => Matrix::SparseF64(concatenate(features, base, pieces)),
    }
}

fn concatenate<T: Number>(features: usize, base: i32, pieces: &[Rows]) -> Csr<'static, T, i32> {
    let points: usize = pieces.iter().map(|piece| piece.ends.len()).sum();
    let entries: usize = pieces.iter().map(|piece| piece.values.len()).sum();
    let mut offsets = vec![0usize; points + 1];
    let mut columns = vec![0i32; entries];
    let mut values = vec![T::default(); entries];
    let mut work = Vec::with_capacity(pieces.len());
    let (mut ends, mut column_rest, mut value_rest) = (&mut offsets[1..], &mut columns[..], &mut values[..]);
    let mut begin = 0;
    for piece in pieces {
        let (own_ends, own_columns, own_values);
        (own_ends, ends) = ends.split_at_mut(piece.ends.len());
        (own_columns, column_rest) = column_rest.split_at_mut(piece.values.len());
        (own_values, value_rest) = value_rest.split_at_mut(piece.values.len());
        work.push((piece, begin, own_ends, own_columns, own_values));
        begin += piece.values.len();
    }
    let zeros = work
        .into_par_iter()
        .map(|(piece, begin, ends, columns, values)| {
            ends.iter_mut().zip(&piece.ends).for_each(|(to, end)| *to = begin + end);
            columns.iter_mut().zip(&piece.columns).for_each(|(to, column)| *to = column - base);
            values.iter_mut().zip(&piece.values).for_each(|(to, &value)| *to = T::from_f64(value));
            piece.values.contains(&0.0)
        })
        .reduce(|| false, |a, b| a | b);
    if zeros {
        drop_zeros(&mut offsets, &mut columns, &mut values);
    }
    Csr::new(features, offsets, columns, values).expect("rows were sorted and checked when parsed")
}
