//! svmlight / libsvm: a line is `label index:value index:value ... # comment`, perhaps with `qid:n`
//! after the label. Indices count from 1, or from 0 if a 0 occurs; labels become the truth.

use std::io::Write;

use super::convert::{Pour, Poured};
use super::cursor::{Cursor, Fault, quoted};
use super::output::{put_number, single, visit_rows};
use super::rows::{Rows, assemble};
use super::source::Source;
use super::text::{Text, head_lines};
use super::triples::sort_row;
use super::{Loaded, Options, Precision};
use crate::error::{Place, Result};

/// The name in the table of formats.
pub(super) const NAME: &str = "svmlight";

/// Every whole line in the head is a label and pairs, and there is at least one pair.
pub(super) fn recognise(head: &[u8], _path: &std::path::Path) -> bool {
    let mut pairs = 0;
    for line in head_lines(head).into_iter().take(100) {
        let content = line.split(|&b| b == b'#').next().unwrap_or_default();
        let mut words = content.split(|b| b.is_ascii_whitespace()).filter(|word| !word.is_empty());
        let Some(label) = words.next() else { continue };
        if label.contains(&b':') || !label.iter().all(|b| b.is_ascii_graphic()) {
            return false;
        }
        for word in words {
            let Some(colon) = word.iter().position(|&b| b == b':') else { return false };
            let index = &word[..colon];
            if index != b"qid" && (index.is_empty() || !index.iter().all(u8::is_ascii_digit)) {
                return false;
            }
            pairs += 1;
        }
    }
    pairs > 0
}

struct Piece {
    rows: Rows,
    labels: Vec<String>,
    smallest: i32,
    largest: i32,
}

pub(super) fn read(source: &Source, options: &Options) -> Result<Loaded> {
    let (pieces, lines) = Text::new(source)?.parse(parse_lines)?;
    let smallest = pieces.iter().map(|piece| piece.smallest).min().unwrap_or(i32::MAX);
    let largest = pieces.iter().map(|piece| piece.largest).max().unwrap_or(-1);
    if largest < 0 {
        return Err(source.fault(Place::Line(lines), "no line has an index:value pair"));
    }
    let base = i32::from(smallest > 0);
    let mut truth = Vec::new();
    let mut rows = Vec::new();
    for piece in pieces {
        truth.extend(piece.labels);
        rows.push(piece.rows);
    }
    let features = (largest - base) as usize + 1;
    let matrix = assemble(features, base, &rows, options.precision.unwrap_or(Precision::F64));
    Ok(Loaded { truth: Some(truth), ..Loaded::new(matrix, NAME) })
}

/// The rows of the file, piece by piece. What indices count from is only known when all of them were seen.
pub(super) struct Pouring<'a> {
    source: &'a Source<'a>,
    base: i32,
    features: usize,
}

pub(super) fn pour<'a>(source: &'a Source) -> Result<Pouring<'a>> {
    let (mut smallest, mut largest) = (i32::MAX, -1);
    let lines = Text::new(source)?.parse_each(parse_lines, |piece, _| {
        (smallest, largest) = (smallest.min(piece.smallest), largest.max(piece.largest));
        Ok(())
    })?;
    if largest < 0 {
        return Err(source.fault(Place::Line(lines), "no line has an index:value pair"));
    }
    let base = i32::from(smallest > 0);
    Ok(Pouring { source, base, features: (largest - base) as usize + 1 })
}

impl Pour for Pouring<'_> {
    fn sparse(&self) -> bool {
        true
    }

    fn features(&self) -> usize {
        self.features
    }

    fn pour(self: Box<Self>, take: &mut dyn FnMut(Poured) -> Result<()>) -> Result<()> {
        Text::new(self.source)?.parse_each(parse_lines, |piece, _| {
            take(Poured { rows: Poured::sparse(piece.rows, self.base), truth: piece.labels, names: vec![] })
        })?;
        Ok(())
    }
}

fn parse_lines(text: &[u8]) -> std::result::Result<Piece, Fault> {
    let mut piece = Piece { rows: Rows::default(), labels: Vec::new(), smallest: i32::MAX, largest: -1 };
    let mut scratch = Default::default();
    let mut cursor = Cursor::new(text);
    while !cursor.done() {
        if cursor.end_of_line() {
            continue;
        }
        if cursor.peek() == b'#' {
            cursor.skip_line();
            continue;
        }
        let label = cursor.token();
        let Some(name) = std::str::from_utf8(label).ok().filter(|label| !label.contains(':')) else {
            return Err(cursor.fault(format!("a label is expected, not {}", quoted(label))));
        };
        piece.labels.push(name.to_owned());
        cursor.skip(label.len());
        let (line, begin) = (cursor.clone(), piece.rows.values.len());
        loop {
            if cursor.end_of_line() {
                break;
            }
            match cursor.peek() {
                b'#' => {
                    cursor.skip_line();
                    break;
                }
                b'q' if cursor.token().starts_with(b"qid:") => cursor.skip(cursor.token().len()),
                _ => {
                    let (index, value) = pair(&mut cursor)?;
                    piece.smallest = piece.smallest.min(index);
                    piece.largest = piece.largest.max(index);
                    piece.rows.columns.push(index);
                    piece.rows.values.push(value);
                }
            }
        }
        let (columns, values) = (&mut piece.rows.columns[begin..], &mut piece.rows.values[begin..]);
        if let Err(column) = sort_row(columns, values, &mut scratch) {
            return Err(
                line.fault(format!("index {column} occurs twice in the line: sum or drop one of the two"))
            );
        }
        piece.rows.ends.push(piece.rows.values.len());
    }
    Ok(piece)
}

#[inline(always)]
fn pair(cursor: &mut Cursor) -> std::result::Result<(i32, f64), Fault> {
    let start = cursor.clone();
    let Some(index) = cursor.unsigned().filter(|_| cursor.peek() == b':') else {
        return Err(start.expected("an index:value pair"));
    };
    if index >= i32::MAX as u64 {
        return Err(start.fault(format!("index {index} is above the {} that fit", i32::MAX - 1)));
    }
    cursor.step();
    match cursor.number() {
        Some(value) if cursor.at_break() || cursor.peek() == b'#' => Ok((index as i32, value)),
        _ => Err(start.expected("an index:value pair")),
    }
}

/// Indices from 1. The truth gives the labels: as they are if they are numbers, otherwise numbered
/// in the order in which they first occur; 0 without a truth.
pub(super) fn write(loaded: &Loaded, out: &mut dyn Write) -> std::io::Result<()> {
    let single = single(&loaded.matrix);
    let truth = loaded.truth.as_deref().unwrap_or_default();
    let are_numbers = truth.iter().all(|label| fast_float2::parse::<f64, _>(label).is_ok());
    let mut seen = std::collections::HashMap::new();
    visit_rows(&loaded.matrix, false, |j, row| {
        match truth.get(j) {
            None => out.write_all(b"0")?,
            Some(label) if are_numbers => out.write_all(label.as_bytes())?,
            Some(label) => {
                let next = seen.len();
                write!(out, "{}", seen.entry(label).or_insert(next))?;
            }
        }
        for &(column, x) in row {
            write!(out, " {}:", column + 1)?;
            put_number(out, x, single)?;
        }
        out.write_all(b"\n")
    })
}
