//! CLUTO: a line "rows columns entries" and then, for every row, its pairs of a column (from 1) and
//! a value; or "rows columns" and all values of every row. An empty line is an empty row. Beside
//! NAME.mat there may be NAME.mat.rclass (classes of the rows), .rlabel and .clabel (their names
//! and those of the columns), also as NAME.rclass and so on.

use std::io::Write;
use std::path::Path;

use super::convert::{Listed, Names, Pour, Poured, PouredRows};
use super::cursor::{Cursor, Fault, quoted};
use super::output::{nonzeros, put_number, single, visit_rows};
use super::rows::{Rows, assemble, room};
use super::source::{Source, bare_name, strip_ending};
use super::text::{Text, find_line, head_lines};
use super::triples::sort_row;
use super::values::{Order, dense_text};
use super::{Companion, Loaded, Options, Precision, lists};
use crate::error::{Place, Result};
use crate::matrix::Matrix;

/// The name in the table of formats.
pub(super) const NAME: &str = "cluto";
/// What lies beside the file.
pub(super) const COMPANIONS: &[Companion] = &[
    (".rclass", |loaded| loaded.truth.as_ref()),
    (".clabel", |loaded| loaded.vocabulary.as_ref()),
    (".rlabel", |loaded| loaded.names.as_ref()),
];

/// A first line of two or three whole numbers that the following lines confirm. What could be a
/// plain table too is CLUTO only if it is called .mat.
pub(super) fn recognise(head: &[u8], path: &Path) -> bool {
    let lines = head_lines(head);
    let Some(Ok(sizes)) = lines.first().map(|line| read_sizes(line)) else { return false };
    if strip_ending(bare_name(path), ".mat").is_some() {
        return true;
    }
    let rows = &lines[1..];
    let mut counts = rows.iter().take(100).map(|line| words(line).count());
    match sizes {
        Sizes { columns, entries: None, .. } => {
            columns != 2 && !rows.is_empty() && counts.all(|count| count as u64 == columns)
        }
        _ => {
            counts.any(|count| count > 0) && rows.iter().take(100).all(|line| are_pairs(line, sizes.columns))
        }
    }
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|b| b.is_ascii_whitespace()).filter(|word| !word.is_empty())
}

fn are_pairs(line: &[u8], columns: u64) -> bool {
    let indices = words(line).step_by(2);
    let number = |word: &[u8]| std::str::from_utf8(word).ok()?.parse::<u64>().ok();
    words(line).count().is_multiple_of(2)
        && indices.map(number).all(|index| index.is_some_and(|index| (1..=columns).contains(&index)))
}

#[derive(Debug, Clone, Copy)]
struct Sizes {
    rows: u64,
    columns: u64,
    entries: Option<u64>,
}

fn read_sizes(line: &[u8]) -> std::result::Result<Sizes, String> {
    let wrong = || {
        format!("the first line should be \"rows columns entries\" or \"rows columns\", not {}", quoted(line))
    };
    let number = |word: &[u8]| std::str::from_utf8(word).ok()?.parse::<u64>().ok();
    let sizes: Option<Vec<u64>> = words(line).map(number).collect();
    match sizes.as_deref() {
        Some(&[rows, columns]) => Ok(Sizes { rows, columns, entries: None }),
        Some(&[rows, columns, entries]) => Ok(Sizes { rows, columns, entries: Some(entries) }),
        _ => Err(wrong()),
    }
}

fn begin<'a>(source: &'a Source) -> Result<(Text<'a>, Sizes)> {
    let mut text = Text::new(source)?;
    let line = text.next_line()?.unwrap_or_default();
    let sizes = read_sizes(line).map_err(|problem| source.fault(Place::Line(1), problem))?;
    if sizes.columns > i32::MAX as u64 {
        let problem = format!("{} columns are more than the {} that fit", sizes.columns, i32::MAX);
        return Err(source.fault(Place::Line(1), problem));
    }
    Ok((text, sizes))
}

/// The rows of the file, piece by piece.
pub(super) struct Pouring<'a> {
    source: &'a Source<'a>,
    text: Text<'a>,
    sizes: Sizes,
}

pub(super) fn pour<'a>(source: &'a Source) -> Result<Pouring<'a>> {
    let (text, sizes) = begin(source)?;
    Ok(Pouring { source, text, sizes })
}

impl Pour for Pouring<'_> {
    fn sparse(&self) -> bool {
        self.sizes.entries.is_some()
    }

    fn features(&self) -> usize {
        self.sizes.columns as usize
    }

    fn pour(self: Box<Self>, take: &mut dyn FnMut(Poured) -> Result<()>) -> Result<()> {
        let Pouring { source, text, sizes: Sizes { rows, columns, entries } } = *self;
        let (mut counted, mut found, mut left) = (vec![], 0, rows as usize);
        let pass = |rows| Poured { rows, truth: vec![], names: vec![] };
        let lines = match entries {
            Some(_) => text.parse_each(
                |piece| parse_rows(piece, columns),
                |Piece { mut content, rows, blank }, _| {
                    counted.push(Piece { content: (), rows, blank });
                    found += content.values.len() as u64;
                    // Blank lines after the last row are no rows.
                    content.ends.truncate(left);
                    left -= content.ends.len();
                    take(pass(Poured::sparse(content, 1)))
                },
            )?,
            None => text.parse_each(
                |piece| parse_dense(piece, columns),
                |Piece { content, rows, blank }, _| {
                    counted.push(Piece { content: (), rows, blank });
                    take(pass(PouredRows::Dense(content)))
                },
            )?,
        };
        check_rows(source, &counted, rows, lines)?;
        match entries {
            Some(entries) if entries != found => {
                let problem = format!("promised entries: {entries}, found: {found}");
                Err(source.fault(Place::Line(1), problem))
            }
            _ => Ok(()),
        }
    }
}

pub(super) fn read(source: &Source, options: &Options) -> Result<Loaded> {
    let (text, Sizes { rows, columns, entries }) = begin(source)?;
    let matrix = match entries {
        Some(entries) => sparse(source, text, rows, columns, entries, options)?,
        None => dense(source, text, rows, columns, options)?,
    };
    let mut loaded = Loaded::new(matrix, NAME);
    [loaded.truth, loaded.names, loaded.vocabulary] = beside(source, rows, columns)?;
    Ok(loaded)
}

/// Where the lists beside the file are; `truth` if there is no better.
pub(super) fn lists(source: &Source, truth: Option<std::path::PathBuf>) -> Names {
    let name = source.name();
    let short = strip_ending(name, ".mat").unwrap_or(name);
    let beside = |ending: &str| {
        source.beside(&format!("{name}{ending}")).or_else(|| source.beside(&format!("{short}{ending}")))
    };
    let vocabulary = beside(".clabel").and_then(|path| lists::lines(&path).ok());
    Names { truth: beside(".rclass").or(truth), names: beside(".rlabel").map(Listed::File), vocabulary }
}

/// Classes and names of the rows and names of the columns, where they lie beside the file.
fn beside(source: &Source, rows: u64, columns: u64) -> Result<[Option<Vec<String>>; 3]> {
    let beside = |ending: &str, count: u64, what: &str| {
        let name = source.name();
        let short = strip_ending(name, ".mat").unwrap_or(name);
        let path =
            source.beside(&format!("{name}{ending}")).or_else(|| source.beside(&format!("{short}{ending}")));
        path.map(|path| lists::counted(&path, count as usize, what)).transpose()
    };
    Ok([
        beside(".rclass", rows, "rows")?,
        beside(".rlabel", rows, "rows")?,
        beside(".clabel", columns, "columns")?,
    ])
}

/// The rows that a piece held, and how many blank lines it ends with: at the end of the file those
/// are no rows.
struct Piece<T> {
    content: T,
    rows: u64,
    blank: u64,
}

/// Blank lines after the last promised row are no rows; otherwise the counts must agree.
fn check_rows<T>(source: &Source, pieces: &[Piece<T>], rows: u64, lines: u64) -> Result<()> {
    let found: u64 = pieces.iter().map(|piece| piece.rows).sum();
    let mut blank = 0;
    for piece in pieces.iter().rev() {
        blank += piece.blank;
        if piece.blank < piece.rows {
            break;
        }
    }
    if found < rows {
        let problem = format!(
            "the file ends after {found} of {rows} rows: it is truncated, or its first line is wrong"
        );
        return Err(source.fault(Place::Line(lines), problem));
    }
    if found - blank > rows {
        let problem = format!("more rows than the first line promises ({rows})");
        return Err(source.fault(Place::Line(rows + 2), problem));
    }
    Ok(())
}

fn sparse(
    source: &Source,
    text: Text,
    rows: u64,
    columns: u64,
    entries: u64,
    options: &Options,
) -> Result<Matrix> {
    // What the file cannot hold costs nothing: its entries are counted as they come.
    if source.plain_size().is_none_or(|size| entries <= size / 4 + 1) {
        source.check_room(room(rows, entries), options)?;
    }
    let (mut pieces, lines) = text.parse(|piece| parse_rows(piece, columns))?;
    check_rows(source, &pieces, rows, lines)?;
    let found: usize = pieces.iter().map(|piece| piece.content.values.len()).sum();
    if found as u64 != entries {
        let problem = format!("promised entries: {entries}, found: {found}");
        return Err(source.fault(Place::Line(1), problem));
    }
    let mut left = rows as usize;
    for piece in &mut pieces {
        piece.content.ends.truncate(left);
        left -= piece.content.ends.len();
    }
    let pieces: Vec<Rows> = pieces.into_iter().map(|piece| piece.content).collect();
    Ok(assemble(columns as usize, 1, &pieces, options.precision.unwrap_or(Precision::F64)))
}

fn parse_rows(text: &[u8], columns: u64) -> std::result::Result<Piece<Rows>, Fault> {
    let mut rows = Rows::default();
    let mut blank = 0;
    let mut scratch = Default::default();
    let mut cursor = Cursor::new(text);
    while !cursor.done() {
        let (line, begin) = (cursor.clone(), rows.values.len());
        while !cursor.end_of_line() {
            let column = cursor.index(columns, "column")?;
            cursor.skip_blanks();
            match cursor.number() {
                Some(value) if cursor.at_break() => {
                    rows.columns.push(column as i32 + 1);
                    rows.values.push(value);
                }
                _ => return Err(cursor.expected("the value of the column")),
            }
        }
        if let Err(column) = sort_row(&mut rows.columns[begin..], &mut rows.values[begin..], &mut scratch) {
            return Err(
                line.fault(format!("column {column} occurs twice in the row: sum or drop one of the two"))
            );
        }
        blank = if rows.values.len() > begin { 0 } else { blank + 1 };
        rows.ends.push(rows.values.len());
    }
    Ok(Piece { rows: rows.ends.len() as u64, content: rows, blank })
}

fn parse_dense(text: &[u8], columns: u64) -> std::result::Result<Piece<Vec<f64>>, Fault> {
    let (mut values, mut cursor) = (Vec::new(), Cursor::new(text));
    let mut rows = 0;
    while !cursor.done() {
        let line = cursor.clone();
        let begin = values.len();
        while !cursor.end_of_line() {
            match cursor.number() {
                Some(value) if cursor.at_break() => values.push(value),
                _ => return Err(cursor.expected("a number")),
            }
        }
        let count = values.len() - begin;
        // Blank lines say nothing in a dense file.
        rows += u64::from(count > 0);
        if count > 0 && count as u64 != columns {
            return Err(line.fault(format!(
                "the row has a different number of values ({count}) than the first line promises ({columns})"
            )));
        }
    }
    Ok(Piece { content: values, rows, blank: 0 })
}

fn dense(source: &Source, text: Text, rows: u64, columns: u64, options: &Options) -> Result<Matrix> {
    let (pieces, lines) = text.parse(|piece| parse_dense(piece, columns))?;
    let found: u64 = pieces.iter().map(|piece| piece.rows).sum();
    if found > rows {
        let mut seen = 0;
        let place = find_line(source, 1, |line| {
            seen += u64::from(!line.trim_ascii().is_empty());
            seen > rows
        })?;
        return Err(source.fault(place, format!("more rows than the first line promises ({rows})")));
    }
    if columns > 0 {
        check_rows(source, &pieces, rows, lines)?;
    }
    let values: Vec<f64> = pieces.into_iter().flat_map(|piece| piece.content).collect();
    let points = if columns > 0 { rows as usize } else { 0 };
    Ok(dense_text(points, columns as usize, values, Order::Rows, options))
}

/// Sparse with its pairs, dense with all values.
pub(super) fn write(loaded: &Loaded, out: &mut dyn Write) -> std::io::Result<()> {
    let matrix = &loaded.matrix;
    let (n, m, single) = (matrix.points(), matrix.features(), single(matrix));
    let dense = matches!(matrix, Matrix::DenseF32(_) | Matrix::DenseF64(_));
    match dense {
        true => writeln!(out, "{n} {m}")?,
        false => writeln!(out, "{n} {m} {}", nonzeros(matrix))?,
    }
    visit_rows(matrix, dense, |_, row| {
        for (i, &(column, x)) in row.iter().enumerate() {
            if i > 0 {
                out.write_all(b" ")?;
            }
            if !dense {
                write!(out, "{} ", column + 1)?;
            }
            put_number(out, x, single)?;
        }
        out.write_all(b"\n")
    })
}
