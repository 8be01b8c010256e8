//! Tables of numbers in text: comma, semicolon, tab or blanks between the fields, perhaps a header,
//! perhaps names of the rows in the first column.
//!
//! The dialect is read off the first lines. Fields may be quoted, but a quoted field ends on its
//! line. An empty field, NA and the like are NaN. With semicolons a comma may be the decimal point.
//! Lines that begin with # are comments (numpy.savetxt writes them).

use std::io::Write;
use std::path::Path;

use super::cursor::{Cursor, Fault, quoted};
use super::output::{put_number, single, visit_rows};
use super::source::Source;
use super::text::{Text, count_lines, head_lines};
use super::values::{Order, dense_text};
use super::{Loaded, Options};
use crate::error::{Place, Result};
use crate::matrix::kernels::with_room;

/// The name in the table of formats.
pub(super) const NAME: &str = "csv";
/// Of equal claims the first wins: a comma may be a decimal point, a blank part of a name.
const DELIMITERS: [u8; 4] = *b"\t;, ";
const SAMPLE: usize = 50;

/// Text in which some line has nothing but numbers, names aside.
pub(super) fn recognise(head: &[u8], _path: &Path) -> bool {
    let printable = |&b: &u8| b >= b' ' || matches!(b, b'\t' | b'\r' | b'\n');
    let sample = sample(head);
    let Some(last) = sample.last() else { return false };
    head.iter().all(printable) && {
        let fields = split(last, delimiter(&sample));
        let numbers = fields.iter().filter(|field| !field.is_empty() && is_number(field)).count();
        numbers > 0 && numbers + 1 >= fields.len()
    }
}

#[derive(Debug)]
struct Dialect {
    delimiter: u8,
    header: bool,
    names: bool,
    /// Numbers in a row, names aside.
    columns: usize,
}

pub(super) fn read(source: &Source, options: &Options) -> Result<Loaded> {
    let head = source.head()?;
    let dialect = detect(&head, options.header);
    let mut text = Text::new(source)?;
    if dialect.columns == 0 {
        return Err(source.fault(Place::Whole, "the text holds no table of numbers"));
    }
    let mut vocabulary = None;
    if dialect.header {
        let line = loop {
            match text.next_line()? {
                Some(line) if is_content(line) => break line.to_vec(),
                Some(_) => {}
                None => return Err(source.fault(Place::Whole, "the text holds no table of numbers")),
            }
        };
        let mut fields = split(&line, dialect.delimiter);
        if fields.len() == dialect.columns + 1 && dialect.names {
            fields.remove(0);
        }
        if fields.len() != dialect.columns {
            let problem = format!(
                "the header has a different number of fields ({}) than the rows ({})",
                fields.len(),
                dialect.columns
            );
            return Err(source.fault(Place::Line(text.lines()), problem));
        }
        vocabulary = Some(fields.iter().map(|field| String::from_utf8_lossy(field).into_owned()).collect());
    }
    let (pieces, lines) = text.parse(|piece| parse_rows(piece, &dialect))?;
    let points = pieces.iter().map(|piece| piece.rows).sum();
    if points == 0 {
        return Err(source.fault(Place::Line(lines), "the table has no row of numbers"));
    }
    let mut names = Vec::new();
    let mut values = with_room(pieces.iter().map(|piece| piece.values.len()).sum());
    for piece in pieces {
        names.extend(piece.names);
        values.extend(piece.values);
    }
    let matrix = dense_text(points, dialect.columns, values, Order::Rows, options);
    Ok(Loaded { vocabulary, names: dialect.names.then_some(names), ..Loaded::new(matrix, NAME) })
}

fn is_content(line: &[u8]) -> bool {
    !line.trim_ascii().is_empty() && !line.starts_with(b"#")
}

/// The first lines that hold something.
fn sample(head: &[u8]) -> Vec<&[u8]> {
    head_lines(head).into_iter().filter(|line| is_content(line)).take(SAMPLE).collect()
}

/// The one that cuts all lines into the same number of fields (a header may lack one, as R writes
/// it); otherwise the one that cuts the first line most often.
fn delimiter(sample: &[&[u8]]) -> u8 {
    let even = |&delimiter: &u8| {
        let counts: Vec<usize> = sample.iter().map(|line| split(line, delimiter).len()).collect();
        let last = counts.last().copied().unwrap_or(0);
        last > 1
            && counts.iter().skip(1).all(|&count| count == last)
            && (counts[0] == last || counts[0] + 1 == last)
    };
    let first = |&&delimiter: &&u8| sample.first().map_or(0, |line| split(line, delimiter).len());
    let even = DELIMITERS.iter().find(|delimiter| even(delimiter));
    // Reversed, because the last of several maxima is taken.
    even.or_else(|| DELIMITERS.iter().rev().max_by_key(first)).copied().unwrap_or(b',')
}

fn detect(head: &[u8], header: Option<bool>) -> Dialect {
    let sample = sample(head);
    let delimiter = delimiter(&sample);
    let rows: Vec<Vec<Vec<u8>>> = sample.iter().map(|line| split(line, delimiter)).collect();
    let is_text = |field: &Vec<u8>| !is_number(field);
    let is_value = |field: &Vec<u8>| !field.is_empty() && is_number(field);
    let Some((first, body)) = rows.split_first().filter(|_| rows.iter().flatten().any(is_value)) else {
        return Dialect { delimiter, header: false, names: false, columns: 0 };
    };
    let width = width(first, body, first.iter().all(is_text));
    let starts_with_text = |row: &Vec<Vec<u8>>| row.first().is_some_and(is_text);
    // A header as R writes it; where all are numbers the line is just short.
    let words = first.iter().any(is_text) || body.iter().all(starts_with_text) || header == Some(true);
    let short = first.len() + 1 == width && words;
    let named = short || body.iter().any(starts_with_text) || (body.is_empty() && starts_with_text(first));
    let header = header.unwrap_or_else(|| {
        let skip = usize::from(named && !short);
        short || first.iter().skip(skip).any(is_text)
    });
    // pandas writes its index without a name.
    let names = named || (header && first.first().is_some_and(Vec::is_empty) && width > 1);
    Dialect { delimiter, header, names, columns: width - usize::from(names && width > 0) }
}

/// How many fields most of the first lines have, so that an error names the line that differs; of equally many lines,
/// those like the first are right. A line of nothing but words is a header, which may lack a field.
fn width(first: &[Vec<u8>], body: &[Vec<Vec<u8>>], words: bool) -> usize {
    let mut widths: Vec<usize> = body.iter().map(Vec::len).collect();
    if !words || widths.is_empty() {
        widths.insert(0, first.len());
    }
    let lines = |width: usize| widths.iter().filter(|w| **w == width).count();
    // Reversed, because the last of several maxima is taken.
    widths.iter().rev().copied().max_by_key(|&w| (lines(w), w == first.len())).unwrap_or(0)
}

/// The fields of a line, quotes removed.
fn split(line: &[u8], delimiter: u8) -> Vec<Vec<u8>> {
    let mut fields = Vec::new();
    let mut rest = line.trim_ascii_end();
    if delimiter == b'\t' {
        rest = line.strip_suffix(b"\r").unwrap_or(line);
    }
    loop {
        rest = skip_blanks(rest, delimiter);
        if rest.is_empty() && delimiter == b' ' {
            return fields;
        }
        let (field, after) = field(rest, delimiter);
        fields.push(field);
        match after {
            Some(after) => rest = after,
            None => return fields,
        }
    }
}

fn skip_blanks(text: &[u8], delimiter: u8) -> &[u8] {
    let blank = |b: &u8| *b == b' ' || (*b == b'\t' && delimiter != b'\t');
    &text[text.iter().position(|b| !blank(b)).unwrap_or(text.len())..]
}

fn is_delimiter(byte: u8, delimiter: u8) -> bool {
    byte == delimiter || (delimiter == b' ' && byte == b'\t')
}

/// One field without its quotes, and what follows its delimiter, if there is one.
fn field(text: &[u8], delimiter: u8) -> (Vec<u8>, Option<&[u8]>) {
    let mut content = Vec::new();
    let mut at = 0;
    if text.first() == Some(&b'"') {
        at = 1;
        while at < text.len() {
            if text[at] == b'"' {
                at += 1;
                // Twice stands for itself.
                if text.get(at) != Some(&b'"') {
                    break;
                }
            }
            content.push(text[at]);
            at += 1;
        }
    }
    let end = text[at..].iter().position(|&b| is_delimiter(b, delimiter)).map_or(text.len(), |end| at + end);
    content.extend_from_slice(text[at..end].trim_ascii_end());
    (content, text.get(end + 1..).filter(|_| end < text.len()))
}

/// A field's value if it is one; an absent one is NaN.
fn value(field: &[u8]) -> Option<f64> {
    let field = field.trim_ascii();
    if field.is_empty() || [&b"NA"[..], b"N/A", b"null", b"NULL", b"?"].contains(&field) {
        return Some(f64::NAN);
    }
    let mut cursor = Cursor::new(field);
    if let Some(number) = cursor.number().filter(|_| cursor.done()) {
        return Some(number);
    }
    let mut point = field.to_vec();
    *point.iter_mut().find(|b| **b == b',')? = b'.';
    fast_float2::parse(&point).ok()
}

fn is_number(field: &[u8]) -> bool {
    value(field).is_some()
}

#[derive(Default)]
struct Piece {
    values: Vec<f64>,
    names: Vec<String>,
    rows: usize,
}

fn parse_rows(text: &[u8], dialect: &Dialect) -> std::result::Result<Piece, Fault> {
    let mut piece = Piece::default();
    // A number and its delimiter take two bytes at least, whatever the first lines suggest.
    let most = text.len() / 2 + 1;
    piece.values.reserve(most.min((count_lines(text) as usize).saturating_mul(dialect.columns)));
    let mut cursor = Cursor::new(text);
    while !cursor.done() {
        let line = cursor.clone();
        let row = line.line();
        if !is_content(row) {
            cursor.skip_line();
            continue;
        }
        if dialect.names {
            let (name, after) = field(skip_blanks(row, dialect.delimiter), dialect.delimiter);
            piece.names.push(String::from_utf8_lossy(&name).into_owned());
            cursor.skip(row.len() - after.map_or(0, <[u8]>::len));
        }
        let before = piece.values.len();
        if !parse_plain(&mut cursor, dialect, &mut piece.values) {
            // Something other than plain numbers: quotes, absent values, a decimal comma, an error.
            piece.values.truncate(before);
            parse_slowly(&line, row, dialect, &mut piece.values)?;
            cursor = line;
            cursor.skip_line();
        }
        piece.rows += 1;
    }
    Ok(piece)
}

/// A line of plain numbers; false if it is not.
#[inline(always)]
fn parse_plain(cursor: &mut Cursor, dialect: &Dialect, values: &mut Vec<f64>) -> bool {
    for column in 0..dialect.columns {
        while cursor.peek() == b' ' {
            cursor.step();
        }
        let Some(number) = cursor.number() else { return false };
        values.push(number);
        while cursor.peek() == b' ' {
            cursor.step();
        }
        if column + 1 < dialect.columns {
            match cursor.peek() {
                b'\n' => return false,
                byte if is_delimiter(byte, dialect.delimiter) => cursor.step(),
                // Blanks between the numbers were skipped already.
                _ if dialect.delimiter == b' ' && cursor.after_blank() => {}
                _ => return false,
            }
        }
    }
    cursor.end_of_line()
}

fn parse_slowly(
    line: &Cursor,
    row: &[u8],
    dialect: &Dialect,
    values: &mut Vec<f64>,
) -> std::result::Result<(), Fault> {
    let fields = split(row, dialect.delimiter);
    let names = usize::from(dialect.names);
    if fields.len() != dialect.columns + names {
        let (found, expected) = (fields.len(), dialect.columns + names);
        return Err(line.fault(format!(
            "the line has a different number of fields ({found}) than most others ({expected})"
        )));
    }
    for (i, field) in fields.iter().enumerate().skip(names) {
        match value(field) {
            Some(value) => values.push(value),
            None => return Err(line.fault(format!("field {} is no number: {}", i + 1, quoted(field)))),
        }
    }
    Ok(())
}

/// With commas; a header if the features have names, a first column if the points have.
pub(super) fn write(loaded: &Loaded, out: &mut dyn Write) -> std::io::Result<()> {
    put_table(loaded, out, ",")
}

/// With tabs.
pub(super) fn write_tabs(loaded: &Loaded, out: &mut dyn Write) -> std::io::Result<()> {
    put_table(loaded, out, "\t")
}

fn put_table(loaded: &Loaded, out: &mut dyn Write, delimiter: &str) -> std::io::Result<()> {
    let single = single(&loaded.matrix);
    // Always in quotes: a name may hold anything, and one that looks like a number stays a name.
    let name = |name: &String| format!("\"{}\"", name.replace('"', "\"\"").replace(['\n', '\r'], " "));
    if let Some(vocabulary) = &loaded.vocabulary {
        let corner = loaded.names.iter().map(|_| String::from("\"\""));
        let line: Vec<String> = corner.chain(vocabulary.iter().map(name)).collect();
        writeln!(out, "{}", line.join(delimiter))?;
    }
    visit_rows(&loaded.matrix, true, |j, row| {
        if let Some(names) = &loaded.names {
            write!(out, "{}{delimiter}", names.get(j).map(name).unwrap_or_default())?;
        }
        for &(column, x) in row {
            if column > 0 {
                out.write_all(delimiter.as_bytes())?;
            }
            put_number(out, x, single)?;
        }
        out.write_all(b"\n")
    })
}
