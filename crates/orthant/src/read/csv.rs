//! Tables of numbers in text: comma, semicolon, tab or blanks between the fields, perhaps a header,
//! perhaps names of the rows in the first column.
//!
//! The dialect is read off the first lines. Fields may be quoted, but a quoted field ends on its
//! line. An empty field, NA and the like are NaN. With semicolons a comma may be the decimal point.
//! Lines that begin with # are comments (numpy.savetxt writes them).

use std::io::Write;
use std::path::Path;

use super::convert::{Pour, Poured, PouredRows};
use super::cursor::{Cursor, Fault, quoted};
use super::dialect::{
    Dialect, Role, delimiter, detect, field, is_content, is_delimiter, is_number, sample, skip_blanks, split,
    value,
};
use super::output::{put_number, single, visit_rows};
use super::source::Source;
use super::text::{Text, count_lines};
use super::values::{Order, dense_text};
use super::{Loaded, Options, documents};
use crate::error::{Error, Place, Result};
use crate::matrix::kernels::with_room;

/// The name in the table of formats.
pub(super) const NAME: &str = "csv";

/// Text in which some line has nothing but numbers, a name and a class aside.
pub(super) fn recognise(head: &[u8], _path: &Path) -> bool {
    let printable = |&b: &u8| b >= b' ' || matches!(b, b'\t' | b'\r' | b'\n');
    let sample = sample(head);
    let Some(last) = sample.last() else { return false };
    head.iter().all(printable) && {
        let fields = split(last, delimiter(&sample));
        let numbers = fields.iter().filter(|field| !field.is_empty() && is_number(field)).count();
        numbers > 0 && numbers + 2 >= fields.len()
    }
}

/// How the table is written, the names of its features, and the text behind its header.
struct Begun<'a> {
    text: Text<'a>,
    dialect: Dialect,
    vocabulary: Option<Vec<String>>,
}

fn dialect_of(source: &Source, options: &Options) -> Result<Dialect> {
    detect(&source.head()?, options).map_err(|error| match error {
        Error::Data(problem) => source.fault(Place::Whole, problem),
        other => other,
    })
}

fn begin<'a>(source: &'a Source, options: &Options) -> Result<Begun<'a>> {
    let dialect = dialect_of(source, options)?;
    let mut text = Text::new(source)?;
    let no_table = || {
        let problem = "the text holds no table of numbers: if it holds texts, name their column with --text, or \
                       say --format lines for one a line";
        source.fault(Place::Whole, problem)
    };
    if dialect.features == 0 {
        return Err(no_table());
    }
    let mut vocabulary = None;
    if dialect.header {
        let line = loop {
            match text.next_line()? {
                Some(line) if is_content(line) => break line.to_vec(),
                Some(_) => {}
                None => return Err(no_table()),
            }
        };
        let mut fields = split(&line, dialect.delimiter);
        if fields.len() + 1 == dialect.roles.len() && dialect.names() {
            fields.insert(0, Vec::new());
        }
        if fields.len() != dialect.roles.len() {
            let problem = format!(
                "the header has a different number of fields ({}) than the rows ({})",
                fields.len(),
                dialect.roles.len()
            );
            return Err(source.fault(Place::Line(text.lines()), problem));
        }
        let features = fields.iter().zip(&dialect.roles).filter(|(_, role)| **role == Role::Feature);
        vocabulary = Some(features.map(|(field, _)| String::from_utf8_lossy(field).into_owned()).collect());
    }
    Ok(Begun { text, dialect, vocabulary })
}

/// The rows of the table, piece by piece.
pub(super) struct Pouring<'a>(Begun<'a>);

/// A table of numbers; none if it holds texts.
pub(super) fn pour<'a>(source: &'a Source, options: &Options) -> Result<Option<Pouring<'a>>> {
    if options.columns.text.is_some() {
        return Ok(None);
    }
    Ok(Some(Pouring(begin(source, options)?)))
}

impl Pour for Pouring<'_> {
    fn sparse(&self) -> bool {
        false
    }

    fn features(&self) -> usize {
        self.0.dialect.features
    }

    fn vocabulary(&self) -> Option<Vec<String>> {
        self.0.vocabulary.clone()
    }

    fn notes(&self) -> Vec<String> {
        self.0.dialect.notes.clone()
    }

    fn pour(self: Box<Self>, take: &mut dyn FnMut(Poured) -> Result<()>) -> Result<()> {
        let Begun { text, dialect, .. } = self.0;
        text.parse_each(
            |piece| parse_rows(piece, &dialect),
            |piece, _| {
                take(Poured {
                    rows: PouredRows::Dense(piece.values),
                    truth: piece.classes,
                    names: piece.names,
                })
            },
        )?;
        Ok(())
    }
}

pub(super) fn read(source: &Source, options: &Options) -> Result<Loaded> {
    if let Some(text) = &options.columns.text {
        return documents::read_table(source, text, options);
    }
    // Columns that are asked about are not guessed.
    dialect_of(source, options)?;
    numbers(source, options).or_else(|error| match error {
        Error::File { .. } => documents::read_sentences(source, options)?.ok_or(error),
        other => Err(other),
    })
}

fn numbers(source: &Source, options: &Options) -> Result<Loaded> {
    let Begun { text, dialect, vocabulary } = begin(source, options)?;
    let (pieces, lines) = text.parse(|piece| parse_rows(piece, &dialect))?;
    let points = pieces.iter().map(|piece| piece.rows).sum();
    if points == 0 {
        return Err(source.fault(Place::Line(lines), "the table has no row of numbers"));
    }
    let (mut names, mut classes) = (Vec::new(), Vec::new());
    let count = pieces.iter().map(|piece| piece.values.len()).sum();
    source.check_room(count as u128 * size_of::<f64>() as u128, options)?;
    let mut values = with_room(count);
    for piece in pieces {
        names.extend(piece.names);
        classes.extend(piece.classes);
        values.extend(piece.values);
    }
    let matrix = dense_text(points, dialect.features, values, Order::Rows, options);
    let given = |list: Vec<String>| (!list.is_empty()).then_some(list);
    Ok(Loaded {
        vocabulary,
        names: given(names),
        truth: given(classes),
        notes: dialect.notes,
        ..Loaded::new(matrix, NAME)
    })
}

#[derive(Default)]
struct Piece {
    values: Vec<f64>,
    names: Vec<String>,
    classes: Vec<String>,
    rows: usize,
}

fn parse_rows(text: &[u8], dialect: &Dialect) -> std::result::Result<Piece, Fault> {
    let mut piece = Piece::default();
    // A number and its delimiter take two bytes at least, whatever the first lines suggest.
    let most = text.len() / 2 + 1;
    piece.values.reserve(most.min((count_lines(text) as usize).saturating_mul(dialect.features)));
    let plain = dialect.is_plain();
    let mut cursor = Cursor::new(text);
    while !cursor.done() {
        let line = cursor.clone();
        let row = line.line();
        if !is_content(row) {
            cursor.skip_line();
            continue;
        }
        let before = (piece.values.len(), piece.names.len());
        if plain && dialect.names() {
            let (name, after) = field(skip_blanks(row, dialect.delimiter), dialect.delimiter);
            piece.names.push(String::from_utf8_lossy(&name).into_owned());
            cursor.skip(row.len() - after.map_or(0, <[u8]>::len));
        }
        if !plain || !parse_plain(&mut cursor, dialect, &mut piece.values) {
            // Something other than plain numbers: classes, quotes, absent values, a decimal comma, an error.
            piece.values.truncate(before.0);
            piece.names.truncate(before.1);
            parse_slowly(&line, row, dialect, &mut piece)?;
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
    for column in 0..dialect.features {
        while cursor.peek() == b' ' {
            cursor.step();
        }
        let Some(number) = cursor.number() else { return false };
        values.push(number);
        while cursor.peek() == b' ' {
            cursor.step();
        }
        if column + 1 < dialect.features {
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
    piece: &mut Piece,
) -> std::result::Result<(), Fault> {
    let fields = split(row, dialect.delimiter);
    if fields.len() != dialect.roles.len() {
        let (found, expected) = (fields.len(), dialect.roles.len());
        return Err(line.fault(format!(
            "the line has a different number of fields ({found}) than most others ({expected})"
        )));
    }
    for (i, (field, role)) in fields.iter().zip(&dialect.roles).enumerate() {
        let word = || String::from_utf8_lossy(field).into_owned();
        match (role, value(field)) {
            (Role::Feature, Some(value)) => piece.values.push(value),
            (Role::Feature, None) => {
                return Err(line.fault(format!("field {} is no number: {}", i + 1, quoted(field))));
            }
            (Role::Name, _) => piece.names.push(word()),
            (Role::Class, _) => piece.classes.push(word()),
            (Role::Dropped, _) => {}
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
