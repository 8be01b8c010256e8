//! Entries (row, column, value) in any order → compressed rows.
//!
//! Every parsed piece sorts its own entries into 256 or fewer bands of rows; then the bands are
//! independent: each gathers its entries from all pieces in the order of the file and sorts them
//! by counting, in cache and without atomics, so the result does not depend on the threads.

use rayon::prelude::*;

use super::Precision;
use super::values::Number;
use crate::matrix::{Csr, Matrix};

const BANDS: usize = 256;

#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    row: u32,
    column: u32,
    value: f64,
}

/// Entries of one piece of a file.
#[derive(Debug, Default)]
pub(crate) struct Triples {
    entries: Vec<Entry>,
    zeros: usize,
    /// Where the entries of each band begin, once they are sorted into bands.
    starts: Vec<usize>,
}

/// The same place was given twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Duplicate {
    pub row: usize,
    pub column: usize,
}

/// Rows `band << shift ..` belong together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bands {
    shift: u32,
    count: usize,
}

impl Bands {
    pub fn new(points: usize) -> Self {
        let mut shift = 0;
        while points.saturating_sub(1) >> shift >= BANDS {
            shift += 1;
        }
        Bands { shift, count: (points.saturating_sub(1) >> shift) + 1 }
    }

    fn of(self, row: u32) -> usize {
        (row >> self.shift) as usize
    }
}

impl Triples {
    pub fn with_capacity(count: usize) -> Self {
        Triples { entries: Vec::with_capacity(count), ..Triples::default() }
    }

    #[inline(always)]
    pub fn push(&mut self, row: u32, column: u32, value: f64) {
        self.entries.push(Entry { row, column, value });
        self.zeros += usize::from(value == 0.0);
    }

    /// As they are sorted on disk.
    pub fn plain(&self) -> Vec<super::convert::Entry> {
        let plain = |&Entry { row, column, value }: &Entry| super::convert::Entry { row, column, value };
        self.entries.iter().map(plain).collect()
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Sorts into bands, stably. Files are mostly sorted by rows already, then nothing moves.
    pub fn into_bands(mut self, bands: Bands) -> Self {
        if self.entries.is_sorted_by_key(|entry| entry.row) {
            let begin = |band| self.entries.partition_point(|entry| bands.of(entry.row) < band);
            self.starts = (0..=bands.count).map(begin).collect();
            return self;
        }
        let mut starts = vec![0; bands.count + 1];
        for entry in &self.entries {
            starts[bands.of(entry.row) + 1] += 1;
        }
        for band in 0..bands.count {
            starts[band + 1] += starts[band];
        }
        let mut next = starts.clone();
        let mut sorted = vec![Entry::default(); self.entries.len()];
        for entry in &self.entries {
            let at = &mut next[bands.of(entry.row)];
            sorted[*at] = *entry;
            *at += 1;
        }
        Triples { entries: sorted, zeros: self.zeros, starts }
    }

    fn band(&self, band: usize) -> &[Entry] {
        &self.entries[self.starts[band]..self.starts[band + 1]]
    }
}

/// Rows (or columns) that a file may claim for so many entries: empty ones are fine, an absurd number is
/// a broken header that must not cost memory.
pub(crate) fn plausible(lines: u64, entries: u64) -> bool {
    lines <= (1 << 20) + entries.saturating_mul(64) && lines <= u64::from(u32::MAX)
}

/// Bytes that so many entries take while they are put together: as they were read, and as they will be.
pub(crate) fn room(points: u64, entries: u64) -> u128 {
    let entry = size_of::<Entry>() + size_of::<i32>() + size_of::<f32>();
    u128::from(entries) * entry as u128 + u128::from(points) * size_of::<usize>() as u128
}

/// Puts the pieces together; explicit zeros are dropped, the same place twice is refused.
/// All rows must be below `points` (checked by [`plausible`]), all columns below `features`.
pub(crate) fn assemble(
    points: usize,
    features: usize,
    pieces: &[Triples],
    precision: Precision,
) -> Result<Matrix, Duplicate> {
    Ok(match precision {
        Precision::F32 => Matrix::SparseF32(compress(points, features, pieces)?),
        Precision::F64 => Matrix::SparseF64(compress(points, features, pieces)?),
    })
}

fn compress<T: Number>(
    points: usize,
    features: usize,
    pieces: &[Triples],
) -> Result<Csr<'static, T, i32>, Duplicate> {
    let bands = Bands::new(points);
    let entries = pieces.iter().map(Triples::len).sum();
    let mut offsets = vec![0usize; points + 1];
    let mut columns = vec![0i32; entries];
    let mut values = vec![T::default(); entries];

    let mut work = Vec::with_capacity(bands.count);
    let (mut ends, mut column_rest, mut value_rest) = (&mut offsets[1..], &mut columns[..], &mut values[..]);
    let mut begin = 0;
    for band in 0..bands.count {
        let rows = ends.len().min(1 << bands.shift);
        let count = pieces.iter().map(|piece| piece.band(band).len()).sum();
        let (own_ends, own_columns, own_values);
        (own_ends, ends) = ends.split_at_mut(rows);
        (own_columns, column_rest) = column_rest.split_at_mut(count);
        (own_values, value_rest) = value_rest.split_at_mut(count);
        work.push((band, begin, own_ends, own_columns, own_values));
        begin += count;
    }
    let duplicate = work
        .into_par_iter()
        .map(|(band, begin, ends, columns, values)| {
            let first_row = band << bands.shift;
            sort_band(pieces, band, first_row, ends, columns, values)?;
            ends.iter_mut().for_each(|end| *end += begin);
            Ok(())
        })
        .find_map_first(Result::err);
    if let Some(duplicate) = duplicate {
        return Err(duplicate);
    }
    if pieces.iter().any(|piece| piece.zeros > 0) {
        drop_zeros(&mut offsets, &mut columns, &mut values);
    }
    Ok(Csr::new(features, offsets, columns, values).expect("rows were sorted and checked above"))
}

/// Counting sort of one band by rows; `ends` become the ends of its rows within the band.
fn sort_band<T: Number>(
    pieces: &[Triples],
    band: usize,
    first_row: usize,
    ends: &mut [usize],
    columns: &mut [i32],
    values: &mut [T],
) -> Result<(), Duplicate> {
    for piece in pieces {
        for entry in piece.band(band) {
            ends[entry.row as usize - first_row] += 1;
        }
    }
    let mut begin = 0;
    for end in ends.iter_mut() {
        // For now the place of the row's next entry; it arrives at the row's end.
        begin += std::mem::replace(end, begin);
    }
    for piece in pieces {
        for entry in piece.band(band) {
            let at = &mut ends[entry.row as usize - first_row];
            columns[*at] = entry.column as i32;
            values[*at] = T::from_f64(entry.value);
            *at += 1;
        }
    }
    let mut begin = 0;
    let mut scratch = Default::default();
    for (row, &end) in ends.iter().enumerate() {
        if let Err(column) = sort_row(&mut columns[begin..end], &mut values[begin..end], &mut scratch) {
            return Err(Duplicate { row: first_row + row, column: column as usize });
        }
        begin = end;
    }
    Ok(())
}

/// Sorts one row by columns; the error is a column that occurs twice.
pub(crate) fn sort_row<T: Copy>(
    columns: &mut [i32],
    values: &mut [T],
    scratch: &mut (Vec<u64>, Vec<T>),
) -> Result<(), i32> {
    if columns.windows(2).all(|pair| pair[0] < pair[1]) {
        return Ok(());
    }
    // Column and place in one number: sorts faster than pairs do.
    let (keys, unsorted) = scratch;
    keys.clear();
    keys.extend(columns.iter().enumerate().map(|(at, &column)| (column as u64) << 32 | at as u64));
    keys.sort_unstable();
    if let Some(pair) = keys.windows(2).find(|pair| pair[0] >> 32 == pair[1] >> 32) {
        return Err((pair[0] >> 32) as i32);
    }
    unsorted.clear();
    unsorted.extend_from_slice(values);
    for (i, &key) in keys.iter().enumerate() {
        columns[i] = (key >> 32) as i32;
        values[i] = unsorted[(key & u64::from(u32::MAX)) as usize];
    }
    Ok(())
}

/// Removes entries that are zero; `offsets` has one element more than there are rows.
pub(crate) fn drop_zeros<T: Number>(offsets: &mut [usize], columns: &mut Vec<i32>, values: &mut Vec<T>) {
    let (mut kept, mut begin) = (0, 0);
    for end in &mut offsets[1..] {
        for i in begin..*end {
            if values[i] != T::default() {
                columns[kept] = columns[i];
                values[kept] = values[i];
                kept += 1;
            }
        }
        begin = std::mem::replace(end, kept);
    }
    columns.truncate(kept);
    values.truncate(kept);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(points: usize, entries: &[(u32, u32, f64)]) -> Triples {
        let mut triples = Triples::default();
        entries.iter().for_each(|&(row, column, value)| triples.push(row, column, value));
        triples.into_bands(Bands::new(points))
    }

    #[test]
    fn entries_in_any_order_become_rows() {
        let pieces =
            [piece(3, &[(2, 1, 5.0), (0, 3, 1.0)]), piece(3, &[(0, 0, 2.0), (1, 2, 0.0), (2, 0, 4.0)])];
        let Ok(Matrix::SparseF64(x)) = assemble(3, 4, &pieces, Precision::F64) else { panic!() };
        assert_eq!(x.offsets(), [0, 2, 2, 4]);
        assert_eq!(x.columns(), [0, 3, 0, 1]);
        assert_eq!(x.values(), [2.0, 1.0, 4.0, 5.0]);
    }

    #[test]
    fn many_bands_agree_with_a_plain_sort() {
        let points = 5000;
        let mut state = 1u32;
        let mut entries = Vec::new();
        for row in 0..points {
            for column in 0..7 {
                entries.push((row * 2654435761u64 % points, column, (row + column) as f64 + 1.0));
            }
        }
        // A fixed shuffle.
        for i in (1..entries.len()).rev() {
            state = state.wrapping_mul(1664525).wrapping_add(1013904223);
            entries.swap(i, state as usize % (i + 1));
        }
        let entries: Vec<_> = entries.iter().map(|&(r, c, v)| (r as u32, c as u32, v)).collect();
        let pieces: Vec<_> = entries.chunks(999).map(|part| piece(points as usize, part)).collect();
        let Ok(Matrix::SparseF64(x)) = assemble(points as usize, 7, &pieces, Precision::F64) else {
            panic!()
        };
        let mut sorted = entries.clone();
        sorted.sort_by_key(|&(row, column, _)| (row, column));
        assert!(x.values().iter().zip(&sorted).all(|(a, b)| *a == b.2));
        assert!(x.columns().iter().zip(&sorted).all(|(a, b)| *a as u32 == b.1));
    }

    #[test]
    fn the_same_place_twice_is_found() {
        let pieces = [piece(9, &[(4, 1, 5.0)]), piece(9, &[(4, 0, 1.0), (4, 1, 0.0)])];
        assert_eq!(assemble(9, 2, &pieces, Precision::F64), Err(Duplicate { row: 4, column: 1 }));
    }
}
