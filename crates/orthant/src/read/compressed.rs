//! Compressed rows or columns as binary files store them (scipy.sparse, MATLAB) → compressed rows.

use super::triples::{drop_zeros, plausible, sort_row};
use super::values::Number;
use crate::matrix::{Csr, Matrix};

/// What a file holds: the entries of line `i` (a row, or a column) are `offsets[i]..offsets[i + 1]`.
pub(super) struct Compressed<T> {
    pub offsets: Vec<i64>,
    pub indices: Vec<i64>,
    pub values: Vec<T>,
}

/// Compressed rows of a matrix with so many columns.
pub(super) fn from_rows<T: Number>(given: Compressed<T>, columns: u64) -> Result<Matrix, String> {
    Ok(T::sparse(check(given, columns, ("row", "column"))?))
}

/// Compressed columns of a matrix with so many rows.
pub(super) fn from_columns<T: Number>(given: Compressed<T>, rows: u64) -> Result<Matrix, String> {
    if !plausible(rows, given.values.len() as u64) {
        return Err(format!(
            "so many rows ({rows}) for so few entries ({}) are hardly meant",
            given.values.len()
        ));
    }
    Ok(T::sparse(check(given, rows, ("column", "row"))?.transposed()))
}

fn check<T: Number>(
    given: Compressed<T>,
    width: u64,
    (line, place): (&str, &str),
) -> Result<Csr<'static, T, i32>, String> {
    let Compressed { offsets, indices, mut values } = given;
    if width > i32::MAX as u64 {
        return Err(format!("{width} {place}s are more than the {} that fit", i32::MAX));
    }
    let entries = offsets.last().copied().unwrap_or(0);
    if offsets.first() != Some(&0) || !offsets.is_sorted() {
        return Err(format!("where the {line}s begin is not given in rising order from 0"));
    }
    // MATLAB may reserve more places than it uses.
    if entries as u64 > values.len() as u64 || entries as u64 > indices.len() as u64 {
        let (indices, values) = (indices.len(), values.len());
        return Err(format!(
            "{entries} entries are promised, but there are {indices} indices and {values} values"
        ));
    }
    values.truncate(entries as usize);
    let mut columns = Vec::with_capacity(values.len());
    for &index in &indices[..entries as usize] {
        if index < 0 || index as u64 >= width {
            return Err(format!("{place} {index} (from 0) does not exist: there are {width}"));
        }
        columns.push(index as i32);
    }
    let mut offsets: Vec<usize> = offsets.into_iter().map(|at| at as usize).collect();
    let mut scratch = Default::default();
    for i in 1..offsets.len() {
        let own = offsets[i - 1]..offsets[i];
        if let Err(twice) = sort_row(&mut columns[own.clone()], &mut values[own], &mut scratch) {
            return Err(format!(
                "{line} {}, {place} {twice} (from 0) is given twice: sum the duplicates first",
                i - 1
            ));
        }
    }
    if values.contains(&T::default()) {
        drop_zeros(&mut offsets, &mut columns, &mut values);
    }
    Ok(Csr::new(width as usize, offsets, columns, values).expect("checked above"))
}
