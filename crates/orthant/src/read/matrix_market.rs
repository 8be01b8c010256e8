//! Matrix Market: a banner, comments, a size line, then one entry a line (coordinate, counted from
//! 1) or one value a line, column after column (array).
//!
//! An entry given twice is refused, naming the line: the format forbids it, and adding the two up
//! would be a guess. In a symmetric file an off-diagonal entry stands for its mirror image too, so
//! giving both counts as twice.

use std::io::Write;

use super::convert::{Entries, Take};
use super::cursor::{Cursor, Fault, quoted};
use super::output::{put_number, single, visit_rows};
use super::source::Source;
use super::text::{Position, Text, count_lines, find_line};
use super::triples::{Bands, Triples, assemble, plausible, room};
use super::values::{Order, dense_text};
use super::{Loaded, Options, Precision};
use crate::error::{Error, Place, Result};
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

/// What the lines before the entries say, and the text behind them.
struct Begun<'a> {
    text: Text<'a>,
    banner: Banner,
    sizes: [u64; 3],
}

pub(super) fn read(source: &Source, options: &Options) -> Result<Loaded> {
    let Begun { text, banner, sizes } = begin(source)?;
    if banner.coordinate {
        coordinate(source, text, banner, sizes, options)
    } else {
        array(source, text, banner.symmetry, [sizes[0], sizes[1]], options)
    }
}

fn begin<'a>(source: &'a Source) -> Result<Begun<'a>> {
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
    Ok(Begun { text, banner, sizes: [rows, columns, entries] })
}

/// Rows, columns and entries of a file of coordinates, from its first lines.
pub(super) fn sizes(source: &Source) -> Result<Option<[u64; 3]>> {
    let Begun { banner, sizes, .. } = begin(source)?;
    let mirrored = u64::from(banner.symmetry != Symmetry::General) + 1;
    Ok(banner.coordinate.then_some([sizes[0], sizes[1], sizes[2].saturating_mul(mirrored)]))
}

/// The entries of the file, piece by piece.
pub(super) struct Pouring<'a> {
    source: &'a Source<'a>,
    begun: Begun<'a>,
}

/// A file of coordinates, ready to be poured; none for an array.
pub(super) fn pour<'a>(source: &'a Source) -> Result<Option<Pouring<'a>>> {
    let begun = begin(source)?;
    if !begun.banner.coordinate {
        return Ok(None);
    }
    check_sizes(source, begun.text.lines(), begun.sizes)?;
    Ok(Some(Pouring { source, begun }))
}

impl<'a> Entries<'a> for Pouring<'a> {
    fn shape(&self) -> (usize, usize) {
        (self.begun.sizes[0] as usize, self.begun.sizes[1] as usize)
    }

    fn pour(self: Box<Self>, from: Position, given: u64, take: &mut Take) -> Result<()> {
        let Begun { mut text, banner, sizes: [rows, columns, entries] } = self.begun;
        let header = text.lines();
        text.skip_to(from)?;
        let mut found = given;
        let lines = text.parse_each(
            |piece| parse_entries(piece, banner, rows, columns),
            |(given, triples), at| {
                found += given;
                take(&triples.plain(), given, at)
            },
        )?;
        check_count(self.source, header, lines, found, entries)
    }

    fn twice(&self) -> Box<dyn Fn(usize, usize) -> Error + 'a> {
        let (source, banner) = (self.source, self.begun.banner);
        Box::new(move |row, column| given_twice(source, banner, row as u64 + 1, column as u64 + 1))
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
    check_sizes(source, header, [rows, columns, entries])?;
    let copies = if banner.symmetry == Symmetry::General { 1 } else { 2 };
    // A symmetric matrix has its diagonal once.
    source.check_room(room(rows, (copies * entries).saturating_sub((copies - 1) * rows)), options)?;
    let bands = Bands::new(rows as usize);
    let (pieces, lines) = text.parse(|piece| {
        let (given, entries) = parse_entries(piece, banner, rows, columns)?;
        Ok((given, entries.into_bands(bands)))
    })?;
    let found: u64 = pieces.iter().map(|(given, _)| given).sum();
    check_count(source, header, lines, found, entries)?;
    let pieces: Vec<Triples> = pieces.into_iter().map(|(_, piece)| piece).collect();
    let precision = options.precision.unwrap_or(Precision::F64);
    match assemble(rows as usize, columns as usize, &pieces, precision) {
        Ok(matrix) => Ok(Loaded::new(matrix, NAME)),
        Err(twice) => Err(given_twice(source, banner, twice.row as u64 + 1, twice.column as u64 + 1)),
    }
}

/// No size line is believed that the file cannot keep.
fn check_sizes(source: &Source, header: u64, [rows, columns, entries]: [u64; 3]) -> Result<()> {
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
    Ok(())
}

/// As many entries as the size line promises.
fn check_count(source: &Source, header: u64, lines: u64, found: u64, entries: u64) -> Result<()> {
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
    Ok(())
}

/// The line that gives a place (from 1) for the second time.
fn given_twice(source: &Source, banner: Banner, row: u64, column: u64) -> Error {
    let mirrored = banner.symmetry != Symmetry::General;
    let mut seen = false;
    let header = match begin(source) {
        Ok(begun) => begun.text.lines(),
        Err(error) => return error,
    };
    let place = find_line(source, header, |line| {
        let mut cursor = Cursor::new(line);
        cursor.skip_blanks();
        let i = cursor.unsigned();
        cursor.skip_blanks();
        let at = (i.unwrap_or(0), cursor.unsigned().unwrap_or(0));
        let hit = at == (row, column) || mirrored && at == (column, row);
        hit && std::mem::replace(&mut seen, true)
    });
    let problem =
        format!("row {row}, column {column} is given for the second time: sum or drop one of the two");
    match place {
        Ok(place) => source.fault(place, problem),
        Err(error) => error,
    }
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
