//! Matrix Market: a banner, comments, a size line, then one entry a line (coordinate, counted from
//! 1) or one value a line, column after column (array).
//!
//! An entry given twice is refused, naming the line: the format forbids it, and adding the two up
//! would be a guess. In a symmetric file an off-diagonal entry stands for its mirror image too, so
//! giving both counts as twice.

use std::io::Write;

use super::cursor::{Cursor, Fault, quoted};
use super::output::{put_number, single, visit_rows};
use super::source::Source;
use super::text::{Text, count_lines, find_line};
use super::triples::{Bands, Triples, assemble, plausible};
use super::values::{Order, dense_text};
use super::{Loaded, Options, Precision};
use crate::error::{Place, Result};
use crate::matrix::Matrix;

/// The name in the table of formats.
pub(super) const NAME: &str = "matrix-market";

pub(super) fn recognise(head: &[u8], _path: &std::path::Path) -> bool {
    let start = head.strip_prefix(b"%").unwrap_or(head);
    start.len() >= 13 && start[..13].eq_ignore_ascii_case(b"%MatrixMarket")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Symmetry {
    General,
    Symmetric,
    Skew,
}

#[derive(Debug, Clone, Copy)]
struct Banner {
    coordinate: bool,
    pattern: bool,
    symmetry: Symmetry,
}

pub(super) fn read(source: &Source, options: &Options) -> Result<Loaded> {
    let mut text = Text::new(source)?;
    let banner = read_banner(text.next_line()?.unwrap_or_default())
        .map_err(|problem| source.fault(Place::Line(1), problem))?;
    let sizes = loop {
        match text.next_line()? {
            None => return Err(source.fault(Place::Line(text.lines()), "the file ends before its size line")),
            Some(line) if line.starts_with(b"%") || line.trim_ascii().is_empty() => {}
            Some(line) => break read_sizes(line, banner.coordinate),
        }
    };
    let line = Place::Line(text.lines());
    let [rows, columns, entries] = sizes.map_err(|problem| source.fault(line, problem))?;
    if banner.symmetry != Symmetry::General && rows != columns {
        let problem = format!("a symmetric matrix is square, this one is {rows} x {columns}");
        return Err(source.fault(line, problem));
    }
    if banner.coordinate {
        coordinate(source, text, banner, [rows, columns, entries], options)
    } else {
        array(source, text, banner.symmetry, [rows, columns], options)
    }
}

fn read_banner(line: &[u8]) -> std::result::Result<Banner, String> {
    let line = String::from_utf8_lossy(line).to_ascii_lowercase();
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let form = "%%MatrixMarket matrix coordinate|array real|integer|pattern general|symmetric|skew-symmetric";
    let &[_, object, format, field, symmetry] = &words[..] else {
        return Err(format!("the banner should read \"{form}\""));
    };
    if object != "matrix" {
        return Err(format!("the banner announces a {object:?}, only a matrix can be read"));
    }
    let coordinate = match format {
        "coordinate" => true,
        "array" => false,
        _ => return Err(format!("format {format:?} is neither coordinate nor array")),
    };
    let pattern = match field {
        "real" | "double" | "integer" | "unsigned-integer" => false,
        "pattern" if coordinate => true,
        "pattern" => return Err("an array needs values, it cannot be a pattern: write coordinates".into()),
        "complex" => {
            return Err("complex numbers cannot be clustered: write their moduli as real numbers".into());
        }
        _ => {
            return Err(format!("values of kind {field:?} are not known here: real, integer or pattern are"));
        }
    };
    let symmetry = match symmetry {
        "general" => Symmetry::General,
        "symmetric" => Symmetry::Symmetric,
        "skew-symmetric" if !pattern => Symmetry::Skew,
        _ => return Err(format!("symmetry {symmetry:?} is not known here: general or symmetric are")),
    };
    Ok(Banner { coordinate, pattern, symmetry })
}

fn read_sizes(line: &[u8], coordinate: bool) -> std::result::Result<[u64; 3], String> {
    let mut cursor = Cursor::new(line);
    let mut sizes = [0; 3];
    let (count, form) = if coordinate { (3, "\"rows columns entries\"") } else { (2, "\"rows columns\"") };
    for size in &mut sizes[..count] {
        cursor.skip_blanks();
        match cursor.unsigned() {
            Some(value) if cursor.at_break() => *size = value,
            _ => return Err(format!("the size line should be {form}, not {}", quoted(line))),
        }
    }
    if !cursor.end_of_line() {
        return Err(format!("the size line should be {form}, not {}", quoted(line)));
    }
    Ok(sizes)
}

fn coordinate(
    source: &Source,
    text: Text,
    banner: Banner,
    [rows, columns, entries]: [u64; 3],
    options: &Options,
) -> Result<Loaded> {
    let header = text.lines();
    let refuse = |problem: String| Err(source.fault(Place::Line(header), problem));
    if columns > i32::MAX as u64 {
        return refuse(format!("{columns} columns are more than the {} that fit", i32::MAX));
    }
    if u128::from(entries) > u128::from(rows) * u128::from(columns) {
        return refuse(format!("{entries} entries cannot lie in {rows} x {columns} places"));
    }
    // Not even "1 1" lines would suffice.
    if source.plain_size().is_some_and(|size| entries > size / 4 + 1) {
        return refuse(format!("promises {entries} entries, more than the file can hold: it is truncated"));
    }
    if !plausible(rows, entries) {
        return refuse(format!(
            "so many rows ({rows}) for so few entries ({entries}) are hardly meant: check the size line"
        ));
    }
    let bands = Bands::new(rows as usize);
    let (pieces, lines) = text.parse(|piece| {
        let (given, entries) = parse_entries(piece, banner, rows, columns)?;
        Ok((given, entries.into_bands(bands)))
    })?;
    let found: u64 = pieces.iter().map(|(given, _)| given).sum();
    if found < entries {
        let problem = format!(
            "the file ends after {found} of {entries} entries: it is truncated, or its size line is wrong"
        );
        return Err(source.fault(Place::Line(lines), problem));
    }
    if found > entries {
        let mut seen = 0;
        let place = find_line(source, header, |line| {
            seen += u64::from(!line.trim_ascii().is_empty());
            seen > entries
        })?;
        return Err(source.fault(place, format!("more entries than the size line promises ({entries})")));
    }
    let pieces: Vec<Triples> = pieces.into_iter().map(|(_, piece)| piece).collect();
    let precision = options.precision.unwrap_or(Precision::F64);
    let matrix = match assemble(rows as usize, columns as usize, &pieces, precision) {
        Ok(matrix) => matrix,
        Err(twice) => {
            let (row, column) = (twice.row as u64 + 1, twice.column as u64 + 1);
            let mirrored = banner.symmetry != Symmetry::General;
            let mut seen = false;
            let place = find_line(source, header, |line| {
                let mut cursor = Cursor::new(line);
                cursor.skip_blanks();
                let i = cursor.unsigned();
                cursor.skip_blanks();
                let at = (i.unwrap_or(0), cursor.unsigned().unwrap_or(0));
                let hit = at == (row, column) || mirrored && at == (column, row);
                hit && std::mem::replace(&mut seen, true)
            })?;
            let problem = format!(
                "row {row}, column {column} is given for the second time: sum or drop one of the two"
            );
            return Err(source.fault(place, problem));
        }
    };
    Ok(Loaded::new(matrix, NAME))
}

/// How many entries the text gives, and what they stand for: their mirror images too.
fn parse_entries(
    text: &[u8],
    banner: Banner,
    rows: u64,
    columns: u64,
) -> std::result::Result<(u64, Triples), Fault> {
    let mirrored = banner.symmetry != Symmetry::General;
    let lines = count_lines(text) as usize;
    let mut entries = Triples::with_capacity(if mirrored { 2 * lines } else { lines });
    let mut given = 0;
    let mut cursor = Cursor::new(text);
    while !cursor.done() {
        if cursor.end_of_line() {
            continue;
        }
        let row = cursor.index(rows, "row")?;
        cursor.skip_blanks();
        let column = cursor.index(columns, "column")?;
        let mut value = 1.0;
        if !banner.pattern {
            cursor.skip_blanks();
            match cursor.number() {
                Some(number) if cursor.at_break() => value = number,
                _ => return Err(cursor.expected("a number")),
            }
        }
        if !cursor.end_of_line() {
            return Err(cursor.expected("the end of the line"));
        }
        given += 1;
        entries.push(row, column, value);
        if mirrored && row != column {
            let mirror = if banner.symmetry == Symmetry::Skew { -value } else { value };
            entries.push(column, row, mirror);
        }
    }
    Ok((given, entries))
}

fn array(
    source: &Source,
    text: Text,
    symmetry: Symmetry,
    [rows, columns]: [u64; 2],
    options: &Options,
) -> Result<Loaded> {
    let line = Place::Line(text.lines());
    let stored = match symmetry {
        Symmetry::General => u128::from(rows) * u128::from(columns),
        Symmetry::Symmetric => u128::from(rows) * (u128::from(rows) + 1) / 2,
        Symmetry::Skew => u128::from(rows) * u128::from(rows.saturating_sub(1)) / 2,
    };
    if source.plain_size().is_some_and(|size| stored > u128::from(size / 2 + 1)) {
        let problem = format!("promises {stored} values, more than the file can hold: it is truncated");
        return Err(source.fault(line, problem));
    }
    let (pieces, lines) = text.parse(|piece| {
        let mut values = Vec::with_capacity(count_lines(piece) as usize);
        let mut cursor = Cursor::new(piece);
        cursor.skip_white();
        while !cursor.done() {
            match cursor.number() {
                Some(number) if cursor.at_break() => values.push(number),
                _ => return Err(cursor.expected("a number")),
            }
            cursor.skip_white();
        }
        Ok(values)
    })?;
    let found: usize = pieces.iter().map(Vec::len).sum();
    if found as u128 > stored {
        let problem = format!("more values ({found}) than the size line promises ({stored})");
        return Err(source.fault(Place::Line(lines), problem));
    }
    if (found as u128) < stored {
        let problem = format!(
            "the file holds {found} of the promised {stored} values: it is truncated, or its size line is wrong"
        );
        return Err(source.fault(Place::Line(lines), problem));
    }
    let (n, m) = (rows as usize, columns as usize);
    let mut given = pieces.into_iter().flatten();
    if symmetry == Symmetry::General {
        let matrix = dense_text(n, m, given.collect(), Order::Columns, options);
        return Ok(Loaded::new(matrix, NAME));
    }
    // About twice as many as were found.
    let mut values = vec![0.0; n * n];
    let skip = usize::from(symmetry == Symmetry::Skew);
    for column in 0..n {
        for row in column + skip..n {
            let value = given.next().expect("counted above");
            values[row * n + column] = value;
            values[column * n + row] = if skip == 1 { -value } else { value };
        }
    }
    Ok(Loaded::new(dense_text(n, m, values, Order::Rows, options), NAME))
}

/// Sparse as coordinates, dense as an array; whole numbers as integers.
pub(super) fn write(loaded: &Loaded, out: &mut dyn Write) -> std::io::Result<()> {
    let matrix = &loaded.matrix;
    let (n, m, single) = (matrix.points(), matrix.features(), single(matrix));
    let mut whole = true;
    let mut entries = 0;
    visit_rows(matrix, false, |_, row| {
        whole &= row.iter().all(|(_, x)| x.fract() == 0.0);
        entries += row.len();
        Ok(())
    })?;
    let field = if whole { "integer" } else { "real" };
    match matrix {
        Matrix::DenseF32(_) | Matrix::DenseF64(_) => {
            writeln!(out, "%%MatrixMarket matrix array {field} general\n{n} {m}")?;
            visit_rows(&matrix.transposed(), true, |_, column| {
                column.iter().try_for_each(|&(_, x)| {
                    put_number(out, x, single)?;
                    out.write_all(b"\n")
                })
            })
        }
        Matrix::SparseF32(_) | Matrix::SparseF64(_) => {
            writeln!(out, "%%MatrixMarket matrix coordinate {field} general\n{n} {m} {entries}")?;
            visit_rows(matrix, false, |j, row| {
                row.iter().try_for_each(|&(column, x)| {
                    write!(out, "{} {} ", j + 1, column + 1)?;
                    put_number(out, x, single)?;
                    out.write_all(b"\n")
                })
            })
        }
    }
}
